#!/bin/sh
# The same model as an aarch64 program, on a CPU without dot products and on one with them, under qemu.
. tests/lib.sh
unsanitized "arm: stories"
data=$SHARED/data/stories260k
need "arm: stories" $data/stories260K.bin
check "arm: stories builds" $BURIN build $data/stories260K.bin --tokenizer $data/tok512.bin --target=aarch64-linux-gnu -o "$WORK/story"
for cpu in cortex-a72 cortex-a76; do
    qemu-aarch64-static -cpu $cpu "$WORK/story" -n 256 --temp 0 -t 2 > "$WORK/text" 2>&1
    same "arm: stories on $cpu" $data/expected_greedy_256.txt "$WORK/text"
done
