#!/bin/sh
# examples/boards: the digits network without an operating system on a Cortex-M4, M7 and M55, in qemu: the bits of here; and what a
# library for them may need.
. tests/lib.sh
unsanitized "boards"
target=thumbv7em-none-eabihf
says "boards: no program" 2 "/x: there is no operating system on $target" "$BURIN" build examples/digits/digits.onnx --target=$target -o "$WORK/x"
says "boards: nothing runs by itself" 1 "there is no operating system on $target that could run a program" \
    "$BURIN" run examples/digits/digits.onnx --target=$target
says "boards: one CPU a library" 2 "--mcpu: a library for $target has the code of one CPU" \
    "$BURIN" build examples/digits/digits.onnx --target=$target --mcpu=cortex-m4,cortex-m7 -o "$WORK/x.a"
for tool in qemu-system-arm arm-none-eabi-gcc; do
    command -v $tool > "$WORK/log" || { skip "boards: in qemu" "no $tool (apt-get install qemu-system-arm gcc-arm-none-eabi libnewlib-arm-none-eabi)" && exit 0; }
done
check "boards: build" make -s -C examples/boards BURIN="$PWD/$BURIN" OUT="$WORK/boards"
hash=$("$BURIN" run examples/digits/digits.onnx -- --input examples/digits/images.npy --hash)
for board in mps2-an386 mps2-an500 mps3-an547; do
    says "boards: $board" 0 "hash $hash" timeout 120 qemu-system-arm -M $board -nographic -semihosting-config enable=on,target=native \
        -kernel "$WORK/boards/$board.elf"
done
arm-none-eabi-nm -u "$WORK/boards/mps2-an500/digits.a" | sed -n 's/^ *U //p' | grep -vE '^(__aeabi_|mem|str|digits_)' > "$WORK/needs"
check "boards: a library needs memory and string functions alone" [ ! -s "$WORK/needs" ]
