#!/bin/sh
# Encoders and an ONNX model as aarch64 programs, on a CPU without dot products and on one with them, under qemu: the bits of here.
. tests/lib.sh
unsanitized "arm: networks"
bert=$SHARED/data/families/bert
need "arm: networks" "$bert"

# on_arm NAME MODEL INPUT
on_arm() {
    check "arm: $1 builds" "$BURIN" build "$2" --target=aarch64-linux-gnu -o "$WORK/$1"
    "$BURIN" run "$2" --interpret --input "$3" --hash > "$WORK/expected"
    for cpu in cortex-a72 cortex-a76; do
        qemu-aarch64-static -cpu $cpu "$WORK/$1" --input "$3" --hash -t 2 > "$WORK/got" 2>&1
        same "arm: $1 on $cpu" "$WORK/expected" "$WORK/got"
    done
}
on_arm bert "$bert" "$bert/input_ids.npy"
on_arm digits examples/digits/digits.onnx examples/digits/images.npy

# A batch of four texts over which attention runs at once: the ids of one, one after the other.
batch=$SHARED/data/onnx/exports/bert-optimum-enc/model.onnx
for _ in 1 2 3 4; do values "$bert/input_ids.npy"; done | npy '<i8' 4,21 > "$WORK/batch.npy"
[ ! -e "$batch" ] || on_arm batch "$batch" "input_ids=$WORK/batch.npy"
