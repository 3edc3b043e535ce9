#!/bin/sh
# Every file made to crash or hang a reader, under AddressSanitizer and UBSan: by the compiler, and by programs that were built with it.
# Each ends with one message or an answer, within 2 seconds of a CPU (6 with sanitizers) and 1 GB.
# usage: slow-hostile.sh; SANITIZED=FOLDER has burin with sanitizers, else build/san is made.
. tests/lib.sh
. tests/lib_sanitize.sh
hostile=$SHARED/data/found2/hostile
need "hostile: files" "$hostile/m.json"
[ -f "$hostile/m.json" ] || exit 0
san=${SANITIZED:-build/san}
[ "$SANITIZED" ] || check "hostile: burin with sanitizers" make -s -j2 SAN=1 build/san/burin
export UBSAN_OPTIONS=halt_on_error=1
seen=

# within SECONDS NAME COMMAND...: ends with status 0 or 1 and at most one error, in time and memory, without a finding
within() {
    _seconds=$1 _name=$2
    shift 2
    "$BUILD/tools/peak" 1000 sh -c "ulimit -t $_seconds; exec \"\$@\"" sh "$@" > "$WORK/within" 2>&1 < "${text-/dev/null}"
    _status=$?
    _errors=$(grep -c 'error: ' "$WORK/within")
    if [ $_status -le 1 ] && [ "$_errors" -le 1 ] && ! grep -q 'Sanitizer\|runtime error\|not found\|has no option\|not near' "$WORK/within"; then
        ok "hostile: $_name: $(head -n 1 "$WORK/within" | tr -d '\000' | cut -c 1-120 | tr -cd '[:print:]')"
    else
        not_ok "hostile: $_name: status $_status, $_errors errors"
        head -c 3000 "$WORK/within" | sed 's/^/# /'
    fi
}
# both FILE COMMAND...: by burin as it is built, and with sanitizers
both() {
    _file=$1
    shift
    seen="$seen ${_file%%:*} "
    within 2 "$_file" "$BURIN" "$@"
    within 6 "$_file, with sanitizers" "$san/burin" "$@"
}

# folder NAME MODEL OPTIONS...: a folder of C, compiled with sanitizers but for the kernels
folder() {
    _folder=$1
    shift
    rm -rf "$WORK/$_folder.c"
    "$san/burin" build "$@" --mcpu=x86-64-v3 -o "$WORK/$_folder.c" > "$WORK/built" 2>&1 || return 1
    # shellcheck disable=SC2046 # names
    { make CC=clang-19 -s -C "$WORK/$_folder.c" CFLAGS=-O1 $(sed -n 's/^\([a-z0-9_]*_v3\.o\):.*/\1/p' "$WORK/$_folder.c/Makefile") &&
        make CC=clang-19 -s -C "$WORK/$_folder.c" CFLAGS="$SANITIZE" "$_folder"; } > "$WORK/built" 2>&1 ||
        { not_ok "hostile: $_folder compiles" && tail -n 5 "$WORK/built" | sed 's/^/# /'; return 1; }
}

# Networks: their programs run on random values.
for file in "$hostile"/*.onnx "$hostile"/onnx-enum/*.onnx; do
    name=$(basename "$file" .onnx)
    both "$name.onnx: inspect" inspect "$file"
    folder net "$file" && within 6 "$name.onnx: its program" "$WORK/net.c/net" --random -t 2
done

# Tokenizers and texts.
for name in charsmap-mini-build mini-runtime mini-nul wrap_70_60 decoder_grow regex_empty_nested; do
    file=$hostile/$name.json
    both "$name.json: ten letters" tokenize "$file" aaaaaaaaaa
    both "$name.json: 1,000 letters" tokenize "$file" "$(head -c 1000 /dev/zero | tr '\0' a)"
    text=$hostile/nul.txt both "$name.json: a zero byte" tokenize "$file"
    folder tokens examples/austen --tokenizer "$file" || { [ "$name" != mini-nul ] || not_ok "hostile: $name.json builds"; continue; }
    within 6 "$name.json: a program's prompt" "$WORK/tokens.c/tokens" --raw aaaaaaaaaa -n 2 --temp 0
    within 6 "$name.json: a program's prompt with a zero byte" "$WORK/tokens.c/tokens" --raw -f "$hostile/nul.txt" -n 2 --temp 0
    within 6 "$name.json: 76 letters" "$WORK/tokens.c/tokens" --tokenize "$(head -c 76 /dev/zero | tr '\0' a)"
done

# A program that talks, whose tokenizer makes texts longer.
mkdir "$WORK/model"
for file in config.json generation_config.json model.safetensors tokenizer_config.json; do ln -s "$PWD/examples/austen/$file" "$WORK/model/$file"; done
talking() {
    sed 's/"normalizer": *null/"normalizer": {"type": "NFC"}/' examples/austen/tokenizer.json > "$WORK/model/tokenizer.json"
    cp "$1" "$WORK/model/chat_template.jinja"
}
printf '%s' '{%- for m in messages %}{{- bos_token + m.content + eos_token }}{%- endfor %}{{ bos_token }}' > "$WORK/plain.jinja"
talking "$WORK/plain.jinja"
check "hostile: a tokenizer that normalizes" sh -c "! cmp -s '$WORK/model/tokenizer.json' examples/austen/tokenizer.json"
check "hostile: a program that talks" folder talk "$WORK/model"
talk=$WORK/talk.c/talk
for name in m nfc_grow_10 sessA sessB badnum; do
    seen="$seen $name.json "
    within 6 "$name.json: as messages" "$talk" --messages "$hostile/$name.json" -n 3 --temp 0
    within 6 "$name.json: as messages in a session" "$talk" --messages "$hostile/$name.json" -n 3 --temp 0 --session "$WORK/session"
    within 6 "$name.json: as a schema" "$talk" --raw It -n 3 --temp 0 --json-schema "$hostile/$name.json"
done
for name in badnum pattern_empty_nested; do
    seen="$seen $name.json "
    within 6 "$name.json: an answer by a schema" "$talk" It -n 8 --temp 0 --json-schema "$hostile/$name.json"
done
seen="$seen empty2.gbnf nul.txt "
within 6 "empty2.gbnf" "$talk" It -n 8 --temp 0 --grammar "$hostile/empty2.gbnf"
within 6 "nul.txt: in a conversation" sh -c "'$talk' --chat -n 3 --temp 0 < '$hostile/nul.txt'"

# Templates, by burin and by a program that has them.
for file in "$hostile"/*.jinja; do
    name=$(basename "$file")
    both "$name" template "$file" --messages "$hostile/m.json"
    talking "$file"
    folder asked "$WORK/model" && within 6 "$name: a program" "$WORK/asked.c/asked" --messages "$hostile/m.json" -n 3 --temp 0
done
for file in $(cd "$hostile" && find . -type f | sed 's|.*/||'); do
    case $seen in *" $file "*) ;; *) not_ok "hostile: $file was tried" ;; esac
done
