#!/bin/sh
# --target=all-linux: a program for each machine that can be built for, with one hash under qemu.
. tests/lib.sh
unsanitized "all-linux"
says "all-linux: builds" 0 "/x86_64-linux-gnu/digits: a program for" "$BURIN" build examples/digits/digits.onnx --target=all-linux -o "$WORK/all/"
hash=$("$BURIN" run examples/digits/digits.onnx -- --input examples/digits/images.npy --hash)
for machine in x86_64:x86_64-linux-gnu:max aarch64:aarch64-linux-gnu:max arm:arm-linux-gnueabihf:max riscv64:riscv64-linux-gnu:rv64,v=true,vext_spec=v1.0; do
    qemu=qemu-${machine%%:*}-static triple=${machine#*:} cpu=${machine##*:}
    program=$WORK/all/${triple%%:*}/digits
    [ -x "$program" ] && command -v "$qemu" > /dev/null || { skip "all-linux: ${triple%%:*}" "no C library, or no $qemu" && continue; }
    check "all-linux: ${triple%%:*} has the hash of here" [ "$("$qemu" -cpu "$cpu" "$program" --input examples/digits/images.npy --hash)" = "$hash" ]
done
