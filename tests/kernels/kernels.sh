#!/bin/sh
# Every kernel on every instruction set (of x86 emulated where the CPU lacks it, of aarch64 under qemu): against the plain C
# reference of the same program, and by one hash of all results across targets. KERNELS=quick: plain C and AVX2 alone; all: also
# instruction sets that have a part of another's, and what gcc makes of all, which takes it minutes. See README.md.
. tests/lib.sh
unsanitized "kernels"
CLANG=${CLANG:-clang-19} KERNELS=${KERNELS:-} KERNEL_FLAGS=${KERNEL_FLAGS:-}
flags="$KERNEL_FLAGS -std=gnu17 -Wall -Wextra -Werror -ffp-contract=off -fno-math-errno -D_GNU_SOURCE -Iruntime"

# build NAME COMMAND...: compiles the harness, or its products of integers, or single parts
integers= alone=
build() {
    _out=$WORK/$1
    shift
    _sources=tests/kernels/*.c
    [ -z "$integers" ] || _sources="-DINTEGERS_ALONE tests/kernels/matmul.c tests/kernels/check.c"
    [ -z "$alone" ] || _sources=$alone
    # shellcheck disable=SC2086 # flags and sources are words
    "$@" $flags $_sources -o "$_out" -lm
}

# target NAME RUNNER COMMAND...: builds, runs, and compares every suite's hash with those of plain C ($integers: of these suites)
target() {
    _target=$1 _runner=$2
    shift 2
    if ! build "$_target" "$@" 2> "$WORK/build.log"; then
        not_ok "kernels: $_target builds"
        sed 's/^/# /' "$WORK/build.log" | head -n 20
        return
    fi
    # shellcheck disable=SC2086 # a runner is words
    $_runner "$WORK/$_target" > "$WORK/$_target.out" 2>&1 || echo "$_target: status $?" >> "$WORK/$_target.out"
    [ -e "$WORK/expected" ] || cut -d ' ' -f 1-3 "$WORK/$_target.out" > "$WORK/expected"
    grep -E "$integers" "$WORK/expected" > "$WORK/asked"
    while read -r suite hash cases; do
        if grep -qx "$suite $hash $cases ok" "$WORK/$_target.out"; then ok "kernels: $suite on $_target ($cases cases)"; else
            not_ok "kernels: $suite on $_target"
            echo "# expected $hash, got: $(grep "^$suite " "$WORK/$_target.out" || tail -n 1 "$WORK/$_target.out")"
        fi
    done < "$WORK/asked"
}

has() { grep -qw "$1" /proc/cpuinfo; }

# x86 NAME FEATURE COMMAND...: what clang makes runs on a CPU without the feature, too (tests/x86/clang)
x86() {
    _name=$1 _feature=$2
    shift 2
    if has "$_feature"; then
        target "$_name" "" "$@"
    elif has avx2 && [ "$1" = "$CLANG" ]; then
        shift
        target "$_name-emulated" "" env CLANG="$CLANG" tests/x86/clang "$@"
    else skip "kernels: $_name" "this CPU has no $_feature"; fi
}

arm() {
    _name=$1 _cpu=$2
    shift 2
    if command -v qemu-aarch64-static > /dev/null && command -v "$1" > /dev/null; then
        target "$_name" "qemu-aarch64-static -cpu $_cpu" "$@"
    else skip "kernels: $_name" "no qemu-aarch64-static or $1"; fi
}

# A level's own vectors are a file and a flag.
mkdir "$WORK/own"
echo '#include "vec_c.h"' > "$WORK/own/vec_own.h"
printf '#include <stdio.h>\n#include "kernels/vec.h"\nint main(void) { return puts(VEC_TARGET) < 0; }\n' > "$WORK/own/main.c"
"$CLANG" -Iruntime -Iruntime/kernels -I"$WORK/own" -DBURIN_VECTORS=own "$WORK/own/main.c" -lm -o "$WORK/own/main"
check "kernels: vectors by their name" [ "$("$WORK/own/main")" = own ]

# gcc's warnings about kernels for other machines, without their code
for level in "aarch64-linux-gnu-gcc -march=armv8-a" "aarch64-linux-gnu-gcc -march=armv8.2-a+dotprod+i8mm" \
    "gcc -march=x86-64-v4 -mavx512vnni"; do
    command -v "${level%% *}" > /dev/null || { skip "kernels: $level" "no ${level%% *}" && continue; }
    # shellcheck disable=SC2086 # words
    check "kernels: no warning by $level" $level -fsyntax-only $flags tests/kernels/*.c
done

target plain-c "" "$CLANG" -O1
optimized=-O1 # the same bits, in two thirds of the time
[ "$KERNELS" != all ] || optimized=-O3
x86 avx2 avx2 "$CLANG" "$optimized" -march=x86-64-v3
[ "$KERNELS" != quick ] || exit 0
x86 avx512-vnni avx512_vnni "$CLANG" "$optimized" -march=x86-64-v4 -mavx512vnni
if [ "$KERNELS" = all ] || { has avx512bw && ! has avx512_vnni; }; then x86 avx512 avx512bw "$CLANG" "$optimized" -march=x86-64-v4; fi
if [ "$KERNELS" = all ]; then
    arm neon cortex-a72 "$CLANG" --target=aarch64-linux-gnu -static -O3 -march=armv8-a
    target plain-c-gcc "" gcc -O2
    x86 avx2-gcc avx2 gcc -O2 -march=x86-64-v3
    arm neon-gcc cortex-a72 aarch64-linux-gnu-gcc -static -O2
fi

# Parts that differ only in products of integers: on aarch64 products of floats by blocks belong
# here, too (nf4 and fp4 are floats).
integers='^(expert_)?matmul_(q8_0|i[89]_32|(blocks|floats)_(nv|f[0-9]|[^nf ])[^ ]*) '
[ "$KERNELS" != all ] || arm neon-dotprod cortex-a76 "$CLANG" --target=aarch64-linux-gnu -static -O1 -march=armv8.2-a+dotprod
arm neon-i8mm max "$CLANG" --target=aarch64-linux-gnu -static -O1 -march=armv8.2-a+dotprod+i8mm
[ "$KERNELS" != all ] || x86 avx-vnni avx_vnni "$CLANG" -O1 -march=x86-64-v3 -mavxvnni
integers='^(expert_)?matmul_(q8_0|i[89]_32|blocks_(nv|f[0-9]|[^nf ])[^ ]*) '
x86 amx amx_int8 "$CLANG" -DWITHOUT_FLOATS -O1 -march=x86-64-v4 -mavx512vnni -mamx-tile -mamx-int8 -DASK_FOR_TILES
if [ "$KERNELS" = all ]; then
    x86 avx-vnni-gcc avx_vnni gcc -O1 -march=x86-64-v3 -mavxvnni
    arm neon-i8mm-gcc max aarch64-linux-gnu-gcc -static -O1 -march=armv8.2-a+dotprod+i8mm
fi

# Products for --math=fast: they have the bits of their instructions, and are held to a bound.
alone="-DROUNDED_ALONE tests/kernels/rounded.c tests/kernels/check.c" integers=.
echo 'matmul_rounded [0-9a-f]* 75' > "$WORK/expected"
x86 bf16 avx512_bf16 "$CLANG" -O1 -march=x86-64-v4 -mavx512bf16 -DBURIN_ROUNDED_ROWS
x86 amx-bf16 amx_bf16 "$CLANG" -O1 -march=x86-64-v4 -mavx512bf16 -mamx-tile -mamx-int8 -mamx-bf16 -DBURIN_ROUNDED_ROWS -DASK_FOR_TILES

best=plain-c
has avx2 && best=avx2
"$WORK/$best" --accuracy > "$WORK/accuracy" 2>&1
while read -r line; do
    case $line in
    *" ok") ok "kernels: ${line% ok}" ;;
    *) not_ok "kernels: $line" ;;
    esac
done < "$WORK/accuracy"
