#!/bin/sh
# More emitted programs under AddressSanitizer and UBSan than sanitized.sh: decoders in each format, encoders, a network of images,
# graphs of odd shapes with both compilers; and under ThreadSanitizer, in plain C, because it does not see wide vectors.
# usage: slow-sanitized.sh [decoders] [networks] [graphs] [threads]
. tests/lib.sh
unsanitized "sanitized"
. tests/lib_sanitize.sh
. tests/lib_emit.sh
[ "$(uname -m)" = x86_64 ] || { skip "sanitized" "not x86-64" && exit 0; }
families=$SHARED/data/families
text="Once upon a time there was a little girl, who had a box; and in the box there was"

decoders() {
    for format in f32 f16 bf16 q8_0; do
        check "sanitized: $format builds" sanitized_build $format "$SANITIZE" "$SANITIZE" examples/austen --mcpu=x86-64-v3 \
            --quant $format --ctx 300 --chunk 37
        for cell in 1:1 2:7 3:37 7:16; do
            same_output "$format, threads:chunk $cell" $format "$text" -t "${cell%:*}" --chunk "${cell#*:}" -n 20 --temp 0 --logits-hash
        done
        same_output "$format, more than the context holds" $format "$text" -n 400 --temp 0 --shift --ctx 40
        rm -rf "$WORK/$format" "$WORK/$format.c"
    done
}

networks() {
    for family in bert vit t5; do
        [ -d "$families/$family" ] || { skip "sanitized: $family" "not here" && continue; }
        check "sanitized: $family builds" sanitized_build $family "$SANITIZE" "$SANITIZE" "$families/$family" --mcpu=x86-64-v3
    done
    for threads in 1 3 7; do
        same_output "bert of 1, $threads threads" bert --random --dim T=1 --hash -t $threads
        same_output "bert of 37, $threads threads" bert --random --dim T=37 --hash -t $threads
        same_output "vit, $threads threads" vit --random --hash -t $threads
        same_output "t5, $threads threads" t5 --tokens 5,6,7,8,9,10,11 --decoder-tokens 0,4,3 -n 9 --temp 0 --logits-hash -t $threads
    done
    check "sanitized: digits builds" sanitized_build digits "$SANITIZE" "$SANITIZE" examples/digits/digits.onnx --mcpu=x86-64-v3
    same_output "digits, written and printed" digits --input examples/digits/images.npy --output "$WORK/out"
    same_output "digits, of something else" digits --input examples/digits/labels.npy
}

# graphs of tests/golden/emit, two by both compilers, for several sizes: the interpreter's bits
graphs() {
    for ir in tests/golden/emit/*.ir; do
        name=$(basename "$ir" .ir) compilers=clang-19
        case $name in llama | nests) compilers="clang-19 gcc" ;; esac
        for cc in $compilers; do
            check "sanitized: graph $name by $cc" emitted_build "$WORK/$name" "$name" "$cc $SANITIZE" x86-64-v3:x86_64_v3:-march=x86-64-v3
            if is_decoder "$name"; then
                hash=$("$BUILD/tools/eval_ir" "$ir")
                for cell in 1:1 2:7 7:40; do
                    emitted_cell "sanitized: graph $name by $cc, threads:chunk $cell" "$hash" \
                        "$WORK/$name/run" x86-64-v3 "${cell%:*}" "${cell#*:}"
                done
            else
                for length in 1 7 40; do
                    emitted_cell "sanitized: graph $name by $cc, length $length" "$("$BUILD/tools/eval_network" "$ir" T=$length)" \
                        "$WORK/$name/run" x86-64-v3 3 $length
                done
            fi
            rm -rf "${WORK:?}/$name"
        done
    done
}

threads() {
    races="-O1 -g -fsanitize=thread"
    check "sanitized: programs build for races" eval 'sanitized_build decoder "$races" "$races" examples/austen --mcpu=x86-64 &&
        sanitized_build pair "$races" "$races" examples/numbers --mcpu=x86-64'
    for threads in 2 3 7; do
        same_output "no race, $threads threads" decoder "$text" -t $threads --chunk 5 -n 3 --temp 0 --logits-hash
        same_output "no race in a pair, $threads threads" pair einhundertacht -t $threads --chunk 3
    done
}

# Messages and sessions of texts that become longer by normalization.
conversations() {
    mkdir "$WORK/grown" && cp examples/austen/*.json examples/austen/model.safetensors "$WORK/grown"
    sed 's/"normalizer": null/"normalizer": {"type": "NFKC"}/' examples/austen/tokenizer.json > "$WORK/grown/tokenizer.json"
    echo '{% for m in messages %}{{ bos_token + m.content + eos_token }}{% endfor %}{{ bos_token }}' > "$WORK/grown/chat_template.jinja"
    check "sanitized: a conversation builds" sanitized_build talk "$SANITIZE" "$SANITIZE" "$WORK/grown" --mcpu=x86-64
    many=$(awk 'BEGIN { for (i = 0; i < 10; i++) printf "\\ud834\\udd60\\ufdfa" }')
    printf '[{"role": "user", "content": "%s"}]' "$many" > "$WORK/grown/m.json"
    printf '[{"role": "user", "content": "%s <s>"}, {"role": "assistant", "content": "%s"}]' "$many" "$many" > "$WORK/grown/more.json"
    for file in m more; do
        same_output "messages that grow: $file" talk --messages "$WORK/grown/$file.json" -n 4 --temp 0
    done
    same_output "a prompt that grows" talk --raw "$(printf "$(printf '%s' "$many" | sed 's/\\ud834\\udd60/\\360\\235\\205\\240/g; s/\\ufdfa/\\357\\267\\272/g')")" -n 4 --temp 0
    for turn in 1 2; do  # the second goes on from the first one's file
        rm -f "$WORK/one" && cp "$WORK/kept" "$WORK/one" 2> "$WORK/err"
        "$WORK/talk" --messages "$WORK/grown/more.json" --session "$WORK/one" -n 4 --temp 0 > "$WORK/expected" 2>&1
        sanitized "$WORK/talk.c/talk" --messages "$WORK/grown/more.json" --session "$WORK/kept" -n 4 --temp 0 > "$WORK/got" 2>&1
        same "sanitized: a session of texts that grow, turn $turn" "$WORK/expected" "$WORK/got"
    done
}

for part in ${*:-decoders networks graphs threads conversations}; do $part; done
