#!/bin/sh
# A batch of four texts over which attention runs at once, as an aarch64 program, on a CPU without dot products and on one with them,
# under qemu: the bits of here. machines.sh has an encoder and an ONNX network.
. tests/lib.sh
unsanitized "arm: networks"
bert=$SHARED/data/families/bert batch=$SHARED/data/onnx/exports/bert-optimum-enc/model.onnx
need "arm: networks" "$bert" "$batch"
for _ in 1 2 3 4; do values "$bert/input_ids.npy"; done | npy '<i8' 4,21 > "$WORK/batch.npy"
check "arm: batch builds" "$BURIN" build "$batch" --target=aarch64-linux-gnu -o "$WORK/batch"
"$BURIN" run "$batch" --interpret --input "input_ids=$WORK/batch.npy" --hash > "$WORK/expected"
for cpu in cortex-a72 cortex-a76; do
    qemu-aarch64-static -cpu $cpu "$WORK/batch" --input "input_ids=$WORK/batch.npy" --hash -t 2 > "$WORK/got" 2>&1
    same "arm: batch on $cpu" "$WORK/expected" "$WORK/got"
done
