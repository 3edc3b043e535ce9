#!/bin/sh
# libFuzzer on all readers of foreign files, FUZZ_SECONDS (60) each, under AddressSanitizer and
# UBSan, from valid and damaged files. usage: slow-fuzz.sh [TARGET...]. Findings are left in
# build/fuzz/found-*; replay: build/fuzz/fuzz/onnx FILE.
. tests/lib.sh
. tests/lib_conformance.sh
SECONDS_EACH=${FUZZ_SECONDS:-60}
fuzz=build/fuzz
need fuzz "$(clang-19 -print-file-name=libclang_rt.fuzzer-$(uname -m).a)"
[ $# -gt 0 ] || set -- $(basename -s .c tests/fuzz/*.c)

flags="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
# shellcheck disable=SC2046 # names
check "fuzz: the targets compile" \
    make -j2 BUILD=$fuzz CC=clang-19 CFLAGS="$flags -fsanitize=fuzzer-no-link" $(printf "$fuzz/fuzz/%s " "$@")

# broken TOOL SUFFIX: the files that this tool damages whose names have this suffix
broken() {
    for name in $("$BUILD/tools/$1" --list); do
        (mkdir "$WORK/one" && cd "$WORK/one" && LIBRARY=$home/dsl "$home/$BUILD/tools/$1" "$name" 2> /dev/null)
        for file in "$WORK"/one/*"$2"; do [ -f "$file" ] && mv "$file" "$corpus/$name-${file##*/}"; done
        rm -rf "$WORK/one"
    done
}

# named FILE...: each under the name of its folder too, for many have the same
named() {
    for file; do [ -f "$file" ] && cp "$file" "$corpus/$(basename "${file%/*}")-${file##*/}"; done
}

# vocabularies FOLDER...: as vocabularies.c wants them: a letter, tokenizer_config.json, a zero byte, the file
vocabularies() {
    for folder; do
        for pair in w=vocab.txt v=vocab.json s=tokenizer.model s=sentencepiece.bpe.model t=qwen.tiktoken k=tekken.json; do
            file=$folder/${pair#*=}
            [ -f "$file" ] || continue
            { printf %s "${pair%%=*}"; [ ! -f "$folder/tokenizer_config.json" ] || cat "$folder/tokenizer_config.json"; printf '\0'; cat "$file"; } > "$corpus/$(basename "$folder")"
            [ "${pair%%=*}" != v ] || { printf '\0' && cat "$folder/merges.txt"; } >> "$corpus/$(basename "$folder")"
        done
    done
}

# folders: as folders.c wants those that tests/tools/broken damages, and one in two files
header_bytes() { od -An -tu8 -N8 "$1" | tr -d ' '; }
folders() {
    for name in $("$BUILD/tools/broken" --list); do
        (mkdir "$WORK/one" && cd "$WORK/one" && LIBRARY=$home/dsl "$home/$BUILD/tools/broken" "$name" 2> /dev/null)
        weights=$WORK/one/model.safetensors
        if [ -f "$WORK/one/config.json" ] && [ -f "$weights" ]; then
            n=$(header_bytes "$weights")
            { printf 1 && cat "$WORK/one/config.json" && printf '\0' && tail -c +9 "$weights" | head -c "$n" && printf '\0' && tail -c +$((n + 9)) "$weights"; } > "$corpus/$name"
        fi
        rm -rf "$WORK/one"
    done
    printf '2{"model_type": "llama"}\0{"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}\0%s\0%s\0\1\2\3' \
        '{"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}' '{"b": {"dtype": "BF16", "shape": [4], "data_offsets": [0, 8]}}' > "$corpus/two"
}

fill_corpus() {
    case $1 in
        checkpoint) broken broken .safetensors && broken broken .gguf && broken broken .bin ;;
        folders) folders ;;
        config) named $FIXTURES/families/*/config.json "$SHARED"/data/families/*/config.json ;;
        grammar) named tests/grammar/gbnf/*.gbnf ;;
        schema) named tests/grammar/schemas/*.json ;;
        dsl) named dsl/*/*.burin tests/golden/*.burin $FIXTURES/errors/*.burin ;;
        ir) named tests/golden/*.ir tests/golden/*/*.ir ;;
        npy) named examples/*/*.npy "$SHARED"/data/families/*/*.npy ;;
        onnx) broken broken_onnx .onnx && named "$CASES"/node/*/model.onnx ;;
        calls) named tests/grammar/templates/*.jinja "$SHARED"/data/templates/*/template.jinja ;;
        template) named "$SHARED"/data/templates/*/template.jinja && "$BUILD/tools/templates" --write tests/templates/cases.json "$corpus" ;;
        vocabularies) tar -C "$WORK" -xJf tests/tokenizers/slow_classes.tar.xz && vocabularies "$WORK"/*/ ;;
        prompt) for n in 0 1 2 3 4 5 6 7; do
            case $n in [1357]) text='[{"role": "user", "content": "a \ud834\udd60 bb<s>"}]' ;; *) text="a $(printf '\360\235\205\240') bbb <s>" ;; esac
            printf '%s%s' $n "$text" > "$corpus/$n"
        done ;;
        wav) tar -C "$WORK" -xJf tests/e2e/whisper/tiny.tar.xz && named "$WORK"/tiny/*.wav "$SHARED"/data/sound/*.wav ;;
        tokenizer) broken broken .json && broken broken .bin && named "$SHARED"/data/tokenizers/*/tokenizer.json ;;
    esac
}

home=$PWD
for target; do
    corpus=$WORK/$target
    mkdir "$corpus"
    fill_corpus "$target" > /dev/null 2>&1
    find "$corpus" -size +64k -delete
    check "fuzz: $target, from $(ls "$corpus" | wc -l) files, $SECONDS_EACH seconds" "$fuzz/fuzz/$target" -max_total_time="$SECONDS_EACH" \
        -close_fd_mask=2 -detect_leaks=0 -timeout=10 -rss_limit_mb=2048 -max_len=65536 -artifact_prefix="$fuzz/found-$target-" "$corpus"
done
