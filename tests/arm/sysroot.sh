#!/bin/sh
# --sysroot: a program for 64-bit ARM with the C library of another folder: the bits of here, under qemu. slow-musl.sh has musl.
. tests/lib.sh
unsanitized "sysroot"
. tests/lib_machines.sh
digits=examples/digits/digits.onnx root="$WORK/a root"
hash=$("$BURIN" run $digits -- --input examples/digits/images.npy --hash)
mkdir "$root"
if has_machine aarch64-linux-gnu; then
    cp -rs /usr/aarch64-linux-gnu/include /usr/aarch64-linux-gnu/lib "$root"
    says "sysroot: run" 0 "$hash" "$BURIN" run $digits --target=aarch64-linux-gnu --sysroot="$root" --mcpu=armv8-a -- --input examples/digits/images.npy --hash
    rm "$root/lib/libm.a"
    says "sysroot: nothing comes from this machine's" 1 "there is no static library libm.a" \
        "$BURIN" build $digits --target=aarch64-linux-gnu --sysroot="$root" --mcpu=armv8-a -o "$WORK/out"
else skip "sysroot: of 64-bit ARM" "no aarch64-linux-gnu-gcc or qemu-aarch64-static"; fi
