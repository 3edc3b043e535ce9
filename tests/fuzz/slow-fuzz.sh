#!/bin/sh
# libFuzzer on all readers of foreign files, FUZZ_SECONDS (60) each, under AddressSanitizer and
# UBSan, from valid and damaged files. usage: slow-fuzz.sh [TARGET...]. Executions and coverage are
# in the names of the tests. Findings are left in build/fuzz/found-*; replay: build/fuzz/fuzz/onnx FILE.
. tests/lib.sh
. tests/lib_conformance.sh
SECONDS_EACH=${FUZZ_SECONDS:-60}
fuzz=build/fuzz
need fuzz "$(clang-19 -print-file-name=libclang_rt.fuzzer-$(uname -m).a)"
[ $# -gt 0 ] || set -- $(basename -s .c tests/fuzz/*.c | grep -v "$([ -e /usr/include/event2/http.h ] && echo /// || echo server)")

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

# sessions: sizes of the parts, a header, then tokens, a text with its marks, turns and a slot
sessions() {
    turns='[{"role": "user", "content": "a"}]'
    { printf '\2\0\2\0\042\0\0\0' && head -c 120 /dev/zero && printf '\1\0\0\0\2\0\0\0ab\0\1%s' "$turns" && head -c 128 /dev/zero; } > "$corpus/turns"
    { printf '\1\0\0\0\0\0\0\0' && head -c 120 /dev/zero && printf '\1\0\0\0' && head -c 128 /dev/zero; } > "$corpus/tokens"
}

# requests: of every path, as server.c wants them, and one with its head
requests() {
    chat='{"messages": [{"role": "user", "content": "a"}], "max_tokens": 4, "seed": 1'
    tools='"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}}]'
    n=0
    while IFS= read -r line; do n=$((n + 1)) && printf '%s' "$line" > "$corpus/$n"; done << END
/infill {"input_prefix": "a", "input_suffix": "b", "input_extra": [{"text": "c"}], "n_predict": 3}
/v1/completions {"prompt": "a", "suffix": "b", "receipt": true, "max_tokens": 3}
/v1/chat/completions $chat, "receipt": true, "thinking_budget_tokens": 1, "chat_template_kwargs": {"enable_thinking": true}}
/v1/chat/completions $chat, "n": 2, "logprobs": true, "top_logprobs": 2, "temperature": 0.7, "top_p": 0.9}
/v1/chat/completions $chat, "stream": true, "stream_options": {"include_usage": true}, "stop": ["b", "cc"]}
/v1/chat/completions $chat, $tools, "tool_choice": "required", "stream": true}
/v1/chat/completions $chat, "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}}
/v1/completions {"prompt": ["It", [2, 3]], "max_tokens": 3, "echo": true, "logit_bias": {"5": 1}, "grammar": "root ::= [a-c]+"}
/v1/responses {"input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]}], "max_output_tokens": 3, "stream": true}
/v1/messages {"max_tokens": 3, "system": "s", "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}], "stream": true}
/v1/messages/count_tokens {"messages": [{"role": "user", "content": "x"}]}
/tokenize {"content": "ab", "with_pieces": true}
/detokenize {"tokens": [5, 6]}
/apply-template $chat}
/slots/0?action=save {"filename": "a"}
/slots/0?action=restore {"filename": "../a"}
END
    printf 'GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' > "$corpus/head"
    printf 'POST /tokenize HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nd\r\n{"content":"a\r\n2\r\n"}\r\n0\r\n\r\n' > "$corpus/chunked"
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
        wav) tar -C "$WORK" -xJf tests/e2e/whisper/tiny.tar.xz && named "$WORK"/tiny/*.wav tests/e2e/whisper/short.flac "$SHARED"/data/sound/*.wav ;;
        image) tar -C "$WORK" -xJf tests/e2e/pictures.tar.xz && named "$WORK"/pictures/* ;;
        pictures) for part in '"image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}' '"image", "picture": "0000000000000abc-3x4"' \
            '"image", "source": {"type": "base64", "data": "aGV\/sbG8="}' '"image_url", "image_url": "a/b.png"'; do
            printf '[{"role": "user", "content": [{"type": %s}, {"type": "text", "text": "What?"}]}]' "$part" > "$corpus/${#part}"
        done ;;
        session) sessions ;;
        server) requests ;;
        tokenizer) broken broken .json && broken broken .bin && named "$SHARED"/data/tokenizers/*/tokenizer.json ;;
    esac
}

home=$PWD
for target; do
    corpus=$WORK/$target
    mkdir "$corpus"
    fill_corpus "$target" > /dev/null 2>&1
    find "$corpus" -size +64k -delete
    log=$fuzz/$target.log
    "$fuzz/fuzz/$target" -max_total_time="$SECONDS_EACH" -print_final_stats=1 \
        -close_fd_mask=2 -detect_leaks=0 -timeout=60 -rss_limit_mb=2048 -max_len=65536 -artifact_prefix="$fuzz/found-$target-" "$corpus" > "$log" 2>&1
    status=$?
    done=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log") edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    check "fuzz: $target, from $(ls "$corpus" | wc -l) inputs in the end, $SECONDS_EACH seconds, $done executions, $edges edges" test $status = 0
    [ $status = 0 ] || tail -n 40 "$log" | sed 's/^/# /'
done
