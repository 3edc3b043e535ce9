#!/bin/sh
# Exports of 16-bit floats: fused and text programs like those of f32, the interpreter's bits with any threads, chunks and CPU, and
# ONNX Runtime's numbers within what f16 explains.
. tests/lib.sh
cases=$SHARED/data/onnx/found
need "16-bit floats" "$cases" "$BUILD/tools/case_tensor" "$BUILD/tools/npy_near"

text_of() {
    name=$1 model=$cases/$1/model.onnx data=$cases/$1/test_data_set_0
    [ -e "$model" ] || { skip "16-bit floats: $name" "not here"; return; }
    check "16-bit floats: $name builds, all of it fused" emulated "$BURIN" build "$model" --as=text --require-fusion -o "$WORK/$name"
    tokens=$("$BUILD/tools/case_tensor" "$data/input_0.pb")
    "$WORK/$name" --tokens "$tokens" -n 0 --logits "$WORK/all.npy" > "$WORK/log" 2>&1
    "$BUILD/tools/case_tensor" "$data/output_0.pb" "$WORK/want.npy"
    check "16-bit floats: $name, recorded logits" "$BUILD/tools/npy_near" "$WORK/all.npy" "$WORK/want.npy" 3e-3 largest units
    hash=$("$BURIN" run "$model" --interpret --tokens "$tokens" -n 0 --logits-hash)
    one_hash "16-bit floats: $name" "$hash" "1 2 3:1 1:5" "$WORK/$name" --tokens "$tokens" -n 0 --logits-hash
}
for name in fp16-llama-dyn fp16conv-gpt_neox-optimum-nocache-io32 fp16conv-llama-optimum-nocache-io32; do text_of $name; done
