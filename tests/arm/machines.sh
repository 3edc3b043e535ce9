#!/bin/sh
# 32-bit ARM and RISC-V (plain and with vectors of 128 and 256 bits) under qemu: the text and the bits of here. slow-machines.sh has
# more models.
. tests/lib.sh
unsanitized "machines"
. tests/lib_machines.sh
data=$SHARED/data/stories260k
text_says() { "$@" -n 64 --temp 0 -t 2 --logits-hash < /dev/null; }
digits_says() { "$@" --random --hash; }
[ ! -e "$data/stories260K.bin" ] || on_machines text "$data/stories260K.bin" --tokenizer "$data/tok512.bin"
on_machines digits examples/digits/digits.onnx
for triple in $machines; do
    has_machine "$triple" || continue
    check "machines: a library for $triple" "$BURIN" build examples/digits/digits.onnx --target="$triple" -o "$WORK/digits.a"
    says "machines: burin run --target=$triple" 0 "$("$WORK/here" --random --hash)" "$BURIN" run examples/digits/digits.onnx --target="$triple" -- --random --hash
done
if has_machine arm-linux-gnueabihf; then
    "$BURIN" build examples/digits/digits.onnx --target=arm-linux-gnueabihf -o "$WORK/digits" > "$WORK/log" 2>&1
    says "machines: a CPU without FMA" 1 "this machine's CPU is too old: the program needs VFPv4" qemu-arm-static -cpu cortex-a8 "$WORK/digits" --random
fi
