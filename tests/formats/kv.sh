#!/bin/sh
# --kv: caches of f16 and q8_0. One hash over CPUs, threads, chunks, the interpreter and ARM; what rounding costs; the bytes that were
# promised; latent attention, encoder-decoders, saved slots.
. tests/lib.sh
unsanitized "kv"
model=examples/austen
need "kv" $model/model.safetensors
ids=1,5,9,100,44,7,300,23,180,2,10,65,13,17,200,31,6,77,8,150,64,3,12,91,99
cost() { sed -n 's/.*of which KV cache //p' "$WORK/built"; }

# kv FORMAT CPUS BYTES: the interpreter's bits, and a cache of this size
kv() {
    check "kv: $1: builds" emulated sh -c "'$BURIN' build -v $model --kv=$1 --ctx 512 --mcpu=$2 -o '$WORK/$1' > '$WORK/built' 2>&1"
    check "kv: $1: the cache takes $3" test "$(cost)" = "$3"
    _hash=$("$BURIN" run $model --kv="$1" --ctx 512 --interpret --tokens $ids -n 0 --logits-hash 2> "$WORK/said")
    one_hash "kv: $1" "$_hash" "1:64 2:1 3:7" "$WORK/$1" --tokens $ids -n 0 --logits-hash
    "$WORK/$1" --tokens $ids -n 0 --logits "$WORK/$1.npy"
}
kv f32 x86-64-v3 "1536.0 KB"
kv f16 x86-64-v3 "768.0 KB"
kv q8_0 x86-64,x86-64-v4 "408.0 KB"
for format in f16 q8_0; do as_promised "kv: $format: memory of a full context" "$WORK/$format" --tokens $ids --ignore-eos -n 480 -t 2; done
check "kv: f16 costs little" "$BUILD/tools/npy_near" "$WORK/f16.npy" "$WORK/f32.npy" 1e-3 largest
check "kv: q8_0 costs more" "$BUILD/tools/npy_near" "$WORK/q8_0.npy" "$WORK/f32.npy" 2e-2 largest
check "kv: f16 is rounded" sh -c "! cmp -s '$WORK/f32.npy' '$WORK/f16.npy'"
check "kv: q8_0 is rounded, and otherwise" sh -c "! '$BUILD/tools/npy_near' '$WORK/q8_0.npy' '$WORK/f16.npy' 1e-4 largest"
"$WORK/q8_0" --tokens $ids -n 0 --logits-hash > "$WORK/hash"
check "kv: builds for ARM" "$BURIN" build $model --kv=q8_0 --ctx 512 --target=aarch64-linux-gnu --mcpu=armv8-a -o "$WORK/arm"
qemu-aarch64-static -cpu cortex-a72 "$WORK/arm" --tokens $ids -n 0 -t 2 --logits-hash > "$WORK/got" 2>&1
same "kv: the same bits on ARM" "$WORK/hash" "$WORK/got"
check "kv: check" "$BURIN" check $model --kv=q8_0 --mcpu=native

# family NAME KIND OPTIONS...: the interpreter's bits
family() {
    "$BUILD/tools/family_weights" "$FIXTURES/families/$1" "$WORK/family"
    check "kv: $2 builds" "$BURIN" build "$WORK/family" --kv=q8_0 --mcpu=x86-64-v3 -o "$WORK/program"
    _kind=$2
    shift 2
    "$BURIN" run "$WORK/family" --kv=q8_0 --interpret "$@" > "$WORK/expected" 2>&1
    "$WORK/program" "$@" > "$WORK/got" 2>&1
    same "kv: $_kind" "$WORK/expected" "$WORK/got"
    "$WORK/program" "$@" --chunk 1 -t 3 > "$WORK/got" 2>&1
    same "kv: $_kind row by row" "$WORK/expected" "$WORK/got"
}
family deepseek_v2 "latent attention" --tokens 5,9,17,20,31,6,7,8 -n 0 --logits-hash
family pegasus "an encoder-decoder" --tokens 5,9,17,20,31,6,7,8 --decoder-tokens 0,7,9,12 -n 0 --logits-hash

# Layers with a window keep a ring of their last rows: the bits of the interpreter, which keeps all.
"$BUILD/tools/family_weights" $FIXTURES/families/gemma3_text "$WORK/family"
ring=$WORK/ring
check "kv: rings build" sh -c "'$BURIN' build -v '$WORK/family' --kv=q8_0 --ctx 700 --mcpu=x86-64-v3 -o '$ring' > '$WORK/built' 2>&1"
check "kv: rings: $(cost)" test "$(cost)" = "139.5 KB (10 of 12 caches keep their last 256 rows)"
long=$(awk 'BEGIN { for (i = 0; i < 600; i++) printf "%s%d", i ? "," : "", 3 + (i * i * 7 + i * 5) % 93 }')
other=$(echo "$long" | cut -d, -f 1-300),$(echo "$long" | cut -d, -f 7-90)
near=$(echo "$long" | cut -d, -f 1-570),$(echo "$long" | cut -d, -f 7-16)
_hash=$("$BURIN" run "$WORK/family" --kv=q8_0 --ctx 700 --interpret --tokens "$long" -n 0 --logits-hash 2> "$WORK/said")
one_hash "kv: rings" "$_hash" "1:64 2:1 3:7" "$ring" --tokens "$long" -n 0 --logits-hash
# continued NAME TOKENS SAID: as read from the beginning, after a slot that was saved after 600
# tokens
continued() {
    rm -f "$WORK/slot"
    "$ring" --tokens "$long" -n 1 --temp 0 --session "$WORK/slot" > "$WORK/got" 2>&1
    "$ring" --tokens "$2" -n 20 --temp 0 > "$WORK/expected" 2> "$WORK/said"
    "$ring" --tokens "$2" -n 20 --temp 0 -v --session "$WORK/slot" > "$WORK/got" 2> "$WORK/said"
    same "kv: rings: $1" "$WORK/expected" "$WORK/got"
    check "kv: rings: $1: $(head -n 1 "$WORK/said")" grep -q "the session has $3 tokens" "$WORK/said"
}
continued "on" "$long,5,7" "600 of 602"
continued "a few tokens back" "$near" "570 of 580"
continued "from where the ring no longer reaches" "$other" "0 of 384"

flags="-std=gnu11 -O1 -Wall -Wextra -Werror -I$WORK"
check "kv: builds a library" "$BURIN" build $model --kv=q8_0 --mcpu=x86-64-v3 -o "$WORK/story.a"
# shellcheck disable=SC2086 # a list of flags
check "kv: a host links it" gcc $flags tests/e2e/text_host.c "$WORK/story.a" -lm -lpthread -o "$WORK/host"
"$WORK/host" save "It was a truth" "$WORK/slot" 50 > "$WORK/expected" 2>&1
"$WORK/host" load "$WORK/slot" 50 > "$WORK/got" 2>&1
same "kv: a saved slot goes on with the same bits" "$WORK/expected" "$WORK/got"
"$WORK/host" save "It was a truth" "$WORK/again" 50 > "$WORK/got" 2>&1
check "kv: the same text is saved as the same bytes" cmp "$WORK/slot" "$WORK/again"
says "kv: nothing is cached in a network" 0 "--kv=f16 has no effect: nothing is cached in this model" \
    "$BURIN" run examples/digits/digits.onnx --kv=f16 --interpret -- --random --dim batch=1 --hash
says "kv: an unknown format" 2 "There are f32, f16, q8_0" "$BURIN" build $model --kv=q4_0 -o "$WORK/none"
