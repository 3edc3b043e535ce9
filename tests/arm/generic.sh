#!/bin/sh
# --mcpu=generic -o NAME.c is C for any machine: built for 32-bit and for 64-bit ARM, it gives the bits that x86 gives. Arguments:
# models, of these and examples/austen.
. tests/lib.sh
unsanitized "arm: generic"
source=0,1114,306 words=einhundertacht

# NAME_says PROGRAM...: its output, with its hash
austen_says() { "$@" --tokens $source -n 12 --temp 0 --logits-hash -t 2; }
numbers_says() { "$@" $words --logits-hash -t 2; }
digits_says() { "$@" --random --hash; }

# made FOLDER PROGRAM CC: with make, the runtime in one unit and unoptimized
made() {
    flags=-Werror=implicit-function-declaration
    (cd "$1" && ls runtime/*/*.c) | sed 's/.*/#include "&"/' > "$1/whole.c"
    set -- "$@" RUNTIME=whole.o
    make -s -C "$1" clean && make -s -C "$1" CC="$3" CFLAGS="-O0 $flags" "$4" whole.o && make -s -C "$1" CC="$3" CFLAGS="-O1 $flags" "$4" "$2"
}

for model in ${*:-examples/digits/digits.onnx}; do
    name=$(basename "$model" .onnx)
    check "generic: $name as C" "$BURIN" build "$model" --mcpu=generic -o "$WORK/$name.c"
    check "generic: $name as a program" "$BURIN" build "$model" --mcpu=generic -o "$WORK/$name"
    "${name}_says" "$WORK/$name" > "$WORK/expected" 2>&1
    "$BURIN" build "$model" --mcpu=native -o "$WORK/native" > "$WORK/said" 2>&1
    "${name}_says" "$WORK/native" > "$WORK/got" 2>&1
    same "generic: $name gives the bits of this CPU's code" "$WORK/expected" "$WORK/got"
    for pair in arm-linux-gnueabihf-gcc:qemu-arm-static aarch64-linux-gnu-gcc:qemu-aarch64-static; do
        cc=${pair%:*} emulator=${pair#*:}
        # sampling.sh runs austen on aarch64.
        [ "$name-$cc" != austen-aarch64-linux-gnu-gcc ] || continue
        if ! command -v "$cc" > "$WORK/said" || ! command -v "$emulator" > "$WORK/said"; then
            skip "generic: $name by $cc" "$cc or $emulator is missing"
            continue
        fi
        by=$cc
        [ "$name-$cc" = digits-arm-linux-gnueabihf-gcc ] || by="clang-19 --target=${cc%-gcc}" # gcc takes four times as long
        check "generic: $name builds with $by" made "$WORK/$name.c" "$name" "$by -static"
        "${name}_says" "$emulator" "$WORK/$name.c/$name" > "$WORK/got" 2>&1
        same "generic: $name of $by: the same bits" "$WORK/expected" "$WORK/got"
    done
done
sed 's,//.*,,' "$WORK"/*.c/*.[ch] "$WORK"/*.c/Makefile | grep -E 'x86_64|aarch64|armv8' > "$WORK/machines"
check "generic: what is emitted names no machine" test ! -s "$WORK/machines"
says "generic: kernels that compute in other widths are refused" 1 "burin's numbers need floats that are computed as floats" \
    gcc -D__FLT_EVAL_METHOD__=2 -DBURIN_CPU=generic -I"$WORK/digits.c" -I"$WORK/digits.c/runtime" -fsyntax-only "$WORK/digits.c/digits.c"
says "generic: big-endian machines are refused" 1 "burin stores weights in the order of little-endian machines" \
    gcc -U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__ -DBURIN_CPU=generic -I"$WORK/digits.c" -I"$WORK/digits.c/runtime" -fsyntax-only \
    "$WORK/digits.c/digits.c"
# gcc knows other names of ARM's instructions for two integers at a time than clang does.
if command -v arm-linux-gnueabihf-gcc > "$WORK/said"; then
    check "generic: gcc takes the kernels for 32-bit ARM" arm-linux-gnueabihf-gcc -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror \
        -DBURIN_CPU=generic -I"$WORK/digits.c" -I"$WORK/digits.c/runtime" -fsyntax-only "$WORK/digits.c/digits.c"
else
    skip "generic: gcc takes the kernels for 32-bit ARM" "arm-linux-gnueabihf-gcc is missing"
fi
