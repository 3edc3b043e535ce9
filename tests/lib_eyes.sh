# Words for scripts of models of texts and pictures: `. tests/lib_eyes.sh` after tests/lib.sh. $WORK/FAMILY has transformers' answers
# (tests/e2e/eyes.py), $WORK/FAMILY.p is the program.

# need_images NAME: skips the whole script where no libraries for pictures are installed.
need_images() {
    "$BURIN" build examples/austen --with=images -o "$WORK/x" > "$WORK/out" 2>&1
    ! grep -q -e "--with=images: there is no static" "$WORK/out" || { skip "$1" "a library for pictures is missing" && exit 0; }
}

# last_rows GOT EXPECTED TO: the last rows of GOT, as many as EXPECTED has
last_rows() {
    { head -c 128 "$2" && tail -c $(($(wc -c < "$2") - 128)) "$1"; } > "$3"
}

# case FAMILY NUMBER QUESTION PICTURE...
case_of() {
    _family=$1 _number=$2 _question=$3
    shift 3
    for _picture; do
        shift
        set -- "$@" --image "$WORK/$_picture"
    done
    "$WORK/$_family.p" "$@" "$_question" -n 0 --logits "$WORK/all.npy" > "$WORK/out" 2>&1 || cat "$WORK/out"
    last_rows "$WORK/all.npy" "$WORK/$_family/logits$_number.npy" "$WORK/last.npy"
    check "$room: $_family $_number: transformers' logits" "$BUILD/tools/npy_near" "$WORK/last.npy" "$WORK/$_family/logits$_number.npy" 1e-4
    _rows=$(head -c 128 "$WORK/all.npy" | grep -ao '([0-9]*, [0-9]*)' | tr -cd '0-9,' | cut -d , -f 1)
    check "$room: $_family $_number: the prompt's tokens: $_rows" [ "$_rows" = "$(cat "$WORK/$_family/tokens$_number")" ]
    "$WORK/$_family.p" "$@" "$_question" --temp 0 -n 12 --ignore-eos > "$WORK/answer" 2>&1
    same "$room: $_family $_number: transformers' greedy text" "$WORK/$_family/answer$_number.txt" "$WORK/answer"
}
