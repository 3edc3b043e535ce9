#!/bin/sh
# An encoder-decoder and an encoder without an operating system on a Cortex-M4, M7 and M55, in qemu: the text and the bits of here.
. tests/lib.sh
unsanitized "boards"
. tests/lib_machines.sh
ALL=1 sh tests/arm/boards.sh
has_boards || { skip "boards: in qemu" "no qemu-system-arm or arm-none-eabi-gcc" && exit 0; }
bert=$SHARED/data/families/bert
"$BURIN" run examples/numbers -- einhundertacht --logits-hash > "$WORK/text" 2> "$WORK/said"
hash=$("$BURIN" run "$bert" -- --input "$bert/input_ids.npy" --hash)
for board in mps2-an386 mps2-an500 mps3-an547; do
    text_image $board "$WORK/numbers" examples/numbers "" einhundertacht 64
    on_board $board "$WORK/numbers/text-$board.elf" numbers "$(tail -n 1 "$WORK/text")"
    check "boards: numbers on $board: the translation" [ "$(head -n 1 "$WORK/says")" = "$(head -n 1 "$WORK/text")" ]
    needs_only arm-none-eabi-nm "$WORK/numbers/$board/text.a"
    [ -e "$bert" ] || { skip "boards: bert" "$bert is missing" && continue; }
    sentence_image $board "$WORK/bert" "$bert" "$bert/input_ids.npy"
    on_board $board "$WORK/bert/sentence-$board.elf" bert "$hash"
    needs_only arm-none-eabi-nm "$WORK/bert/$board/sentence.a"
done
# Code for the Cortex-M33 on a CPU that runs it as well
hash=$("$BURIN" run examples/digits/digits.onnx -- --input examples/digits/images.npy --hash)
check "boards: digits for cortex-m33" make -s -C examples/boards BURIN="$PWD/$BURIN" OUT="$WORK/m33" "$WORK/m33/mps3-an547.elf" \
    mps3-an547="--target=thumbv8.1m.main-none-eabihf --mcpu=cortex-m33"
on_board mps3-an547 "$WORK/m33/mps3-an547.elf" "digits for cortex-m33" "$hash"
