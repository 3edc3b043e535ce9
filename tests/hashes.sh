#!/bin/sh
# Compares a change's models with those of a commit, bit for bit. From the top folder:
#
#   sh tests/hashes.sh COMMIT              the graph of every model after the last pass, here and at COMMIT
#   sh tests/hashes.sh COMMIT --programs   and the results of every family's program, of examples/austen's, and of MODELS'
#   sh tests/hashes.sh COMMIT --cases      and the graph of every conformance case
#   ONLY=gguf sh tests/hashes.sh COMMIT    only names that match a pattern of grep -E
#   sh tests/hashes.sh COMMIT --code       and the size of the emitted C of examples/austen and MODELS, and how long it compiles
#
# Models are those of `make test`: tests/families and published, examples, and ../shared; MODELS
# names further folders. COMMIT is built in build/at-COMMIT, which keeps its results. A graph's text
# has the hash of each of its constants; names and locations of values do not count. GRAPHS= leaves
# the graphs out.
. tests/lib.sh
. tests/lib_families.sh
commit=$(git rev-parse --short "$1") || exit 2
before=$PWD/build/at-$commit
[ -e "$before/Makefile" ] || { mkdir -p "$before" && git archive "$commit" | tar -x -C "$before"; }
make -s -C "$before" -j2 build/burin && make -s -j2 "$BURIN" || exit 2

# The compilations, one a line: a name, then the words of its command.
for _folder in "$models"/*; do echo "${_folder##*/} $_folder"; done > "$WORK/list"
for _folder in examples/*/ $FIXTURES/published/*/ "$SHARED"/data/found/*/ "$SHARED"/data/found/real/*/; do
    [ -e "$_folder/config.json" ] && ls "$_folder" | grep -qE 'safetensors$|gguf$|\.bin$' && echo "$_folder $_folder"
done >> "$WORK/list"
find "$SHARED/data" -name '*.onnx' -o -name '*.gguf' 2> /dev/null | sort | sed 's/.*/& &/' >> "$WORK/list"
find examples -name '*.onnx' | sort | sed 's/.*/& &/' >> "$WORK/list"
for _family in t5 bart whisper; do
    _of=$SHARED/data/onnx/exports/$_family-optimum-s2s
    [ ! -e "$_of-decoder" ] || echo "$_of $_of-encoder/model.onnx $_of-decoder/model.onnx"
done >> "$WORK/list"
case " $* " in *" --cases "*)
    mkdir "$WORK/cases"
    for _archive in "$SHARED"/data/onnx/*.tar.xz tests/conformance/*.tar.xz; do tar -xJf "$_archive" -C "$WORK/cases"; done
    find "$WORK/cases" -name '*.onnx' | sort | sed 's/.*/& &/' >> "$WORK/list"
    ;;
esac

[ -z "${ONLY-}" ] || { grep -E -- "$ONLY" "$WORK/list" > "$WORK/only" && mv "$WORK/only" "$WORK/list"; }

# Names of values become numbers, in their order; axes of softmax and top_k count from the front.
numbered() {
    awk 'match($0, /axis=-1/) {
        head = substr($0, 1, RSTART - 1); rest = substr($0, RSTART + RLENGTH)
        match(rest, /: [(]?[a-z0-9]+[[][^]]*[]]/); shape = substr(rest, RSTART, RLENGTH)
        $0 = head "axis=" gsub(/,/, ",", shape) rest
    }
    {
        line = $0
        while (match(line, /%[^ ,()=:{}]+/)) {
            name = substr(line, RSTART, RLENGTH)
            if (!(name in number)) number[name] = ++n
            printf "%s#%d", substr(line, 1, RSTART - 1), number[name]
            line = substr(line, RSTART + RLENGTH)
        }
        print line
    }'
}

# graph BURIN MODEL...
graph() {
    _burin=$1
    shift
    "$_burin" inspect "$@" --stop-after=layout 2>&1 | sed 's/ @[^,)]*:[0-9]*:[0-9]*//g; s/ @"[^"]*"$//; s/ "[^"]*"$//' | numbered | md5sum | cut -c 1-16
}

# results BURIN FOLDER: of its program over the inputs beside it
results() {
    set -- "$1" "$2" $(for _input in input_ids input_features input_values pixel_values; do
        [ ! -f "$2/$_input.npy" ] || echo --input $_input="$2/$_input.npy"
    done)
    _burin=$1 _folder=$2
    shift 2
    if [ -f "$_folder/decoder_input_ids.npy" ] && [ ! -f "$_folder/last_hidden_state.npy" ]; then
        set -- "$@" --decoder-tokens "$("$BUILD/tools/npy_ids" "$_folder/decoder_input_ids.npy")" -n 0 --logits-hash
    elif [ -f "$_folder/decoder_input_ids.npy" ]; then
        set -- "$@" --input decoder_input_ids="$_folder/decoder_input_ids.npy" --hash
    elif [ -f "$_folder/logits.npy" ] && ! grep -q '"pixel_values\|encoder' "$_folder/config.json"; then
        set -- --tokens "$("$BUILD/tools/npy_ids" "$_folder/input_ids.npy")" -n 0 --logits-hash
    else
        set -- "$@" --hash
    fi
    program "$_burin" "$_folder" "$@"
}

# program BURIN FOLDER WORDS...: what its program answers
program() {
    _burin=$1 _folder=$2
    shift 2
    rm -f "$WORK/program"
    "$_burin" build "$_folder" --mcpu=x86-64-v3 -o "$WORK/program" > "$WORK/said" 2>&1 || { head -n 1 "$WORK/said" && return; }
    "$WORK/program" "$@" 2>&1 | md5sum | cut -c 1-16
}

# text BURIN FOLDER: a few tokens of a decoder, one text of an encoder
text() {
    if [ -e "$2/1_Pooling" ]; then set -- "$@" "a text"; else set -- "$@" --tokens 5,6,7,8,9,10,11,12,13 -n 0 --logits-hash --chunk 4; fi
    program "$@"
}

# code BURIN FOLDER: bytes and lines of the emitted C, the longest line
code() {
    "$1" build "$2" --emit=c 2>&1 | awk '{ n += length($0) + 1; if (length($0) > most) most = length($0) }
        END { print n " bytes, " NR " lines, the longest of " most }'
}

# seconds BURIN FOLDER: of the processor, to compile it with AVX2, the least of three
seconds() {
    rm -rf "$WORK/folder" && "$1" build "$2" -o "$WORK/folder.c" --mcpu=x86-64-v3 > /dev/null 2>&1 || return
    _sources=$WORK/folder.c/folder.c
    for _round in 1 2 3; do
        { CCACHE_DISABLE=1 bash -c 'TIMEFORMAT=%U; time "$@"' - clang-19 -std=gnu17 -O3 -march=x86-64-v3 -ffp-contract=off -D_GNU_SOURCE \
            -DBURIN_CPU=x86_64_v3 -w -I"$WORK/folder.c" -I"$WORK/folder.c/runtime" -c "$_sources" -o "$WORK/code.o"; } 2>&1
    done | sort -n | head -n 1
}

# compare KIND NAME WORDS...
compare() {
    _kind=$1 _name=$2
    shift 2
    _kept=$before/kept/$(echo "$_kind $*" | sed "s,$WORK/,," | md5sum | cut -c 1-32)
    mkdir -p "$before/kept"
    [ -s "$_kept" ] || $_kind "$before/build/burin" "$@" > "$_kept"
    _before=$(cat "$_kept") _now=$($_kind "$BURIN" "$@")
    [ "$_before" = "$_now" ] && echo "same $_kind $_name $_now" || echo "DIFFERENT $_kind $_name: $_before, now $_now"
}

[ -n "${GRAPHS-1}" ] || : > "$WORK/list"
while read -r name words; do
    # shellcheck disable=SC2086 # words
    compare graph "$name" $words
done < "$WORK/list" > "$WORK/compared"
case " $* " in *" --programs "*)
    for folder in "$models"/*; do compare results "${folder##*/}" "$folder"; done >> "$WORK/compared"
    for folder in examples/austen ${MODELS-}; do compare text "$folder" "$folder"; done >> "$WORK/compared"
    ;;
esac
case " $* " in *" --code "*)
    for folder in examples/austen ${MODELS-}; do
        for kind in code seconds; do echo "$kind of $folder: $($kind "$before/build/burin" "$folder"), now $($kind "$BURIN" "$folder")"; done
    done
    ;;
esac
grep '^DIFFERENT' "$WORK/compared"
[ -z "${HASHES-}" ] || cp "$WORK/compared" "$HASHES"
echo "$(grep -c '^same' "$WORK/compared") the same, $(grep -c '^DIFFERENT' "$WORK/compared") different from $commit"
! grep -q '^DIFFERENT' "$WORK/compared"
