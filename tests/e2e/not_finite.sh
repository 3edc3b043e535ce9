#!/bin/sh
# Weights that are NaN or infinite: warned of with their names, the same bits on every CPU, and found by `burin check`.
. tests/lib.sh
unsanitized "not finite"
need "weights that are no numbers" examples/austen/model.safetensors
nan='\300\177' infinity='\200\177' minus='\200\377'

# poisoned FOLDER TENSOR ELEMENT BYTES ...: FOLDER/austen, austen with these elements: of one name all are one C text, compiled once
poisoned() {
    _folder=$1/austen
    shift
    mkdir -p "$_folder" && cp examples/austen/*.json examples/austen/model.safetensors "$_folder" && chmod u+w "$_folder"/*
    while [ $# -gt 0 ]; do
        poison "$_folder/model.safetensors" "$1" "$2" "$3"
        shift 3
    done
}

poisoned "$WORK/nan" model.layers.1.self_attn.q_proj.weight 7 $nan model.layers.1.self_attn.q_proj.weight 900 $nan
poisoned "$WORK/up" model.layers.2.mlp.up_proj.weight 5 $infinity
poisoned "$WORK/norm" model.norm.weight 0 $infinity model.layers.5.mlp.down_proj.weight 9 $minus
for name in nan up--quant=q8_0 norm; do
    case=${name%%-*} quant=${name#"${name%%-*}"}
    # shellcheck disable=SC2086 # an option or none
    check "$name: builds" "$BURIN" build "$WORK/$case/austen" $quant --mcpu=x86-64,x86-64-v3 -o "$WORK/program"
    cp "$WORK/check.out" "$WORK/said-$case"
    # shellcheck disable=SC2086
    hash=$("$BURIN" run "$WORK/$case/austen" $quant --interpret --tokens 0,5,9,300 -n 0 --logits-hash 2> "$WORK/err")
    one_hash "$name" "$hash" "1 3:2" "$WORK/program" --tokens 0,5,9,300 -n 0 --logits-hash
    [ "$name" != norm ] && command -v qemu-aarch64-static > "$WORK/out" || continue
    # shellcheck disable=SC2086
    check "$name: builds for ARM" "$BURIN" build "$WORK/$case/austen" $quant --target=aarch64-linux-gnu --mcpu=armv8-a -o "$WORK/arm"
    check "$name: the same bits on ARM" test "$(qemu-aarch64-static "$WORK/arm" --tokens 0,5,9,300 -n 0 --logits-hash)" = "$hash"
done

# warns CASE TEXT
warns() { check "$1: warned of by name" grep -q "warning: $2: what they reach is no number" "$WORK/said-$1"; }
warns nan "2 of 36864 weights in model.layers.1.self_attn.q_proj.weight are NaN"
warns up "1 of 98304 weights in model.layers.2.mlp.up_proj.weight are infinite"
warns norm "1 of 192 weights in model.norm.weight are infinite"
warns norm "1 of 98304 weights in model.layers.5.mlp.down_proj.weight are infinite"
check "weights that are numbers: no warning" sh -c "'$BURIN' build examples/austen -o '$WORK/whole' 2>&1 | grep -c warning | grep -qx 0"
says "check names the first NaN" 1 "in model.layers.1.self_attn.q_proj is the first result with a NaN: element 0 is nan, in the interpreter nan" \
    "$BURIN" check "$WORK/nan/austen"

# A network's outputs as well: of infinite inputs.
{ printf '\000\000\200\177\000\000\200\377' && head -c 248 /dev/zero; } | npy '<f4' '1, 1, 8, 8' > "$WORK/image.npy"
check "a network: builds" "$BURIN" build examples/digits/digits.onnx --mcpu=x86-64,x86-64-v3 -o "$WORK/digits"
hash=$("$BURIN" run examples/digits/digits.onnx --interpret --input "$WORK/image.npy" --hash)
one_hash "a network" "$hash" "1 3" "$WORK/digits" --input "$WORK/image.npy" --hash
"$WORK/digits" --input "$WORK/image.npy" > "$WORK/values"
check "a network: its outputs are NaN" grep -q nan "$WORK/values"
if command -v qemu-aarch64-static > "$WORK/out"; then
    check "a network: builds for ARM" "$BURIN" build examples/digits/digits.onnx --target=aarch64-linux-gnu -o "$WORK/arm"
    check "a network: the same bits on ARM" test "$(qemu-aarch64-static "$WORK/arm" --input "$WORK/image.npy" --hash)" = "$hash"
fi
