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
says "boards: an image is built and run by one command" 0 "hash " make -s -C examples/boards BURIN="$PWD/$BURIN" OUT="$WORK/boards" mps2-an500
hash=$("$BURIN" run examples/digits/digits.onnx -- --input examples/digits/images.npy --hash)
for board in mps2-an386 mps2-an500 mps3-an547; do
    says "boards: $board" 0 "hash $hash" timeout 120 qemu-system-arm -M $board -nographic -semihosting-config enable=on,target=native \
        -kernel "$WORK/boards/$board.elf"
done
$BURIN run examples/austen --quant q8_0 --ctx 128 -- "It is a truth" -n 64 --temp 0 --logits-hash > "$WORK/text" 2> "$WORK/said"
for board in mps2-an500 mps3-an547; do
    timeout 120 qemu-system-arm -M $board -nographic -semihosting-config enable=on,target=native \
        -kernel "$WORK/boards/austen-$board.elf" > "$WORK/says" 2>&1
    sed '/^state /,$d' "$WORK/says" > "$WORK/written"
    head -n -1 "$WORK/text" > "$WORK/expected"
    same "boards: austen on $board writes the same 64 tokens" "$WORK/expected" "$WORK/written"
    check "boards: austen on $board has the same hash" [ "$(sed -n 's/^hash //p' "$WORK/says")" = "$(tail -n 1 "$WORK/text")" ]
    stack=$(sed -n 's/.*stack \([0-9]*\) bytes.*/\1/p' "$WORK/says")
    check "boards: austen on $board: a stack of 64 KB holds it: $stack" [ "${stack:-65536}" -lt 65000 ]
done
arm-none-eabi-nm -u "$WORK/boards/mps2-an500/digits.a" | sed -n 's/^ *U //p' | grep -vE '^(__aeabi_|mem|str|digits_)' > "$WORK/needs"
check "boards: a library needs memory and string functions alone" [ ! -s "$WORK/needs" ]
arm-none-eabi-nm -u "$WORK/boards/mps2-an500/austen.a" | sed -n 's/^ *U //p' | grep -vE '^(__aeabi_|mem|str|austen_)' | sort -u | tr '\n' ' ' > "$WORK/needs"
check "boards: that of a decoder also floor: $(cat "$WORK/needs")" [ "$(cat "$WORK/needs")" = "__fpclassifyf floor floorf " ]
