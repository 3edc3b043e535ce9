#!/bin/sh
# examples/boards: digits, austen in q8_0 and stories260K without an operating system on a
# Cortex-M4, M7 and M55, in qemu: the text and the bits of here; and the external symbols of a
# library. slow-boards.sh (ALL=1) has all three boards, stories260K, an
# encoder-decoder and an encoder.
. tests/lib.sh
unsanitized "boards"
. tests/lib_machines.sh
boards=mps2-an500 texts=mps2-an500
[ -z "${ALL-}" ] || { boards="mps2-an386 mps2-an500 mps3-an547" && texts="mps2-an500 mps3-an547"; }
target=thumbv7em-none-eabihf
says "boards: no program" 2 "/x: there is no operating system on $target" "$BURIN" build examples/digits/digits.onnx --target=$target -o "$WORK/x"
says "boards: nothing runs by itself" 1 "there is no operating system on $target that could run a program" \
    "$BURIN" run examples/digits/digits.onnx --target=$target
says "boards: one CPU a library" 2 "--mcpu: a library for $target has the code of one CPU" \
    "$BURIN" build examples/digits/digits.onnx --target=$target --mcpu=cortex-m4,cortex-m7 -o "$WORK/x.a"
for tool in qemu-system-arm arm-none-eabi-gcc; do
    command -v $tool > "$WORK/log" || { skip "boards: in qemu" "no $tool (apt-get install qemu-system-arm gcc-arm-none-eabi libnewlib-arm-none-eabi)" && exit 0; }
done
images=
for board in $boards; do images="$images $WORK/boards/$board.elf"; done
for board in $texts; do images="$images $WORK/boards/text-$board.elf"; done
# shellcheck disable=SC2086 # images
check "boards: build" make -s -C examples/boards BURIN="$PWD/$BURIN" OUT="$WORK/boards" $images
says "boards: an image is built and run by one command" 0 "hash " make -s -C examples/boards BURIN="$PWD/$BURIN" OUT="$WORK/boards" mps2-an500
says "boards: the code is in flash, too" 1 "--max-flash allows 0.33 MB (327680 bytes)" "$BURIN" build examples/digits/digits.onnx --target=$target \
    --mcpu=cortex-m7 --dim batch=1 --max-flash 320K -o "$WORK/digits.a"
hash=$("$BURIN" run examples/digits/digits.onnx --mcpu=native -- --input examples/digits/images.npy --hash)
# is_bounded BOARD NAME MODEL OPTIONS...: compares the image's last stack figure (painted) with the
# build's bound (of the library of this name, whose objects are in the cache). main and its start-up
# add some hundred bytes of stack.
mkdir "$WORK/bounded"
is_bounded() {
    _board=$1 _library=$WORK/bounded/$2.a _used=$(sed -n 's/.*stack \([0-9]*\) bytes.*/\1/p' "$WORK/says")
    case $1 in
        *386) _cpu="--target=$target --mcpu=cortex-m4" ;;
        *500) _cpu="--target=$target --mcpu=cortex-m7" ;;
        *547) _cpu="--target=thumbv8.1m.main-none-eabihf --mcpu=cortex-m55" ;;
    esac
    shift 2
    # shellcheck disable=SC2086 # words
    "$BURIN" build "$@" $_cpu -o "$_library" > "$WORK/table"
    _bound=$(sed -n '/^stack/,$s/.* \([0-9]*\) bytes$/\1/p' "$WORK/table" | sort -n | tail -n 1)
    check "boards: $1 on $_board: the stack it used, $_used bytes, is what the build has printed, ${_bound:-0}, and main's" \
        [ "$_used" -le $((_bound + 512)) -a "$_used" -ge $((_bound / 2)) ]
}
for board in $boards; do
    on_board $board "$WORK/boards/$board.elf" digits "$hash"
    is_bounded $board digits examples/digits/digits.onnx --dim batch=1 --max-flash 400K
done

# text_on BOARD IMAGE NAME: the text and the hash of $WORK/text, which burin wrote here
text_on() {
    on_board "$1" "$2" "$3" "$(tail -n 1 "$WORK/text")"
    sed '/^state /,$d' "$WORK/says" > "$WORK/written"
    head -n -1 "$WORK/text" > "$WORK/expected"
    same "boards: $3 on $1: the text" "$WORK/expected" "$WORK/written"
}
$BURIN run examples/austen --quant q8_0 --ctx 128 --mcpu=native -- "It is a truth" -n 64 --temp 0 --logits-hash > "$WORK/text" 2> "$WORK/said"
for board in $texts; do
    text_on $board "$WORK/boards/text-$board.elf" austen
    is_bounded $board text examples/austen --quant q8_0 --ctx 128 --chunk 8
done
check "boards: an image of wrong calls" make -s -f "$PWD/tests/arm/sentence_board.mk" -C examples/boards BURIN="$PWD/$BURIN" OUT="$WORK/boards" \
    "$WORK/boards/misuse-mps2-an500.elf" HOST="$PWD/tests/arm/misuse_board.c"
run_board mps2-an500 "$WORK/boards/misuse-mps2-an500.elf" > "$WORK/says" 2>&1
check "boards: wrong calls are refused, and change nothing: $(head -n 1 "$WORK/says")" grep -qx "all refused" "$WORK/says"

# Code for the Cortex-M4 runs on the M7 as well, and that board has memory at the same places.
stories=$SHARED/data/stories260k
if [ -z "${ALL-}" ]; then :; elif [ -e "$stories" ]; then
    options="--tokenizer $(realpath "$stories")/tok512.bin"
    text_image mps2-an386 "$WORK/stories" "$stories/stories260K.bin" "$options" "" 256
    text_image mps3-an547 "$WORK/stories" "$stories/stories260K.bin" "$options" "" 256
    # shellcheck disable=SC2086 # words
    $BURIN run "$stories/stories260K.bin" $options --mcpu=native -- -n 256 --temp 0 --logits-hash > "$WORK/text" 2> "$WORK/said" < /dev/null
    for board in mps2-an386 mps2-an500; do text_on $board "$WORK/stories/text-mps2-an386.elf" stories260K; done
    text_on mps3-an547 "$WORK/stories/text-mps3-an547.elf" stories260K
else
    skip "boards: stories260K" "$stories is missing"
fi
arm-none-eabi-nm -u "$WORK/boards/mps2-an500/digits.a" | sed -n 's/^ *U //p' | grep -vE '^(__aeabi_|mem|str|digits_)' > "$WORK/needs"
check "boards: a library needs memory and string functions alone" [ ! -s "$WORK/needs" ]
arm-none-eabi-nm -u "$WORK/boards/mps2-an500/text.a" | sed -n 's/^ *U //p' | grep -vE '^(__aeabi_|mem|str|text_)' | sort -u | tr '\n' ' ' > "$WORK/needs"
check "boards: that of a decoder also floor: $(cat "$WORK/needs")" [ "$(cat "$WORK/needs")" = "__fpclassifyf floor floorf " ]
# What footprint.c allows for it (LIBRARY_CALL)
arm-none-eabi-nm -u "$WORK/boards/mps2-an500/text.a" | sed -n 's/^ *U \(.*\)/ \1$/p' | grep -v ' text_' | sort -u > "$WORK/needs"
deepest=$(arm-none-eabi-objdump -d "$WORK/boards/text-mps2-an500.elf" | awk -f tests/arm/frames.awk | grep -f "$WORK/needs" | sort -rn | head -n 1)
check "boards: 128 bytes of stack are enough for functions of other libraries: $deepest" [ "${deepest%% *}" -gt 0 -a "${deepest%% *}" -le 128 ]
