#!/bin/sh
# tests/x86/clang: what it compiles for AVX-512 does what AVX2 does, and what AVX-512 does where this CPU has it; a mistake in
# the vectors of AVX-512 is seen, and an instruction that nobody has defined yet is named.
. tests/lib.sh
unsanitized "emulation"
grep -qw avx2 /proc/cpuinfo || { skip "emulation" "this CPU has no AVX2" && exit 0; }
cc="-std=gnu17 -O1 -Wall -Wextra -Werror -ffp-contract=off -fno-math-errno"

cat > "$WORK/vectors.c" << 'END'
#include <stdio.h>
#include "kernels/vec.h"
static uint32_t seed = 7;
static uint32_t draw(void) { return seed = seed * 1664525 + 1013904223; }
static void show(vi a) {
    int32_t lanes[LANES];
    vi_store(lanes, a);
    for (int i = 0; i < LANES; i++) printf("%08x ", (unsigned)lanes[i]);
    puts("");
}
int main(void) {
    static const uint8_t bytes[16] = {0, 250, 3, 77, 128, 127, 9, 1, 2, 40, 50, 60, 70, 80, 90, 255};
    static float floats[16] = {-0.0f, 0.5f, 1.5f, 2.5f, -3.5f, 1e9f, -1e9f, 65504.0f, 1e-8f, 6e-8f, -7.25f, 0.49999997f, 3, 4, 5, 100};
    for (int round = 0; round < 50; round++) {
        int32_t drawn[2][LANES];
        int8_t x[32];
        uint16_t halves[2 * LANES];
        for (int i = 0; i < LANES; i++) drawn[0][i] = (int32_t)draw(), drawn[1][i] = (int32_t)draw();
        for (int i = 0; i < 32; i++) x[i] = (int8_t)(draw() >> 24 | 1), halves[i] = (uint16_t)(draw() >> 18);
        vi a = vi_load(drawn[0]), b = vi_load(drawn[1]), nibbles = vi_and(a, vi_set1(0x0f0f0f0f));
        vf f = vf_mul(vf_from_int(a), vf_set1(1e-5f)), g = vf_load_n(floats, round % 17);
        show(vi_bits(vf_min(f, g))), show(vi_bits(vf_max(f, g))), show(vi_truncate(f)), show(vi_shift_right(a, round % 32));
        show(vi_round(f)), show(vi_round(vf_load(floats))), show(vi_bits(vf_fma(f, g, f))), show(vi_bits(vf_sqrt(f)));
        show(vi_where(vf_less(f, g), a, b)), show(vi_where(vf_not(vi_equal(a, b)), b, a)), show(vi_max(a, b));
        show(vi_lookup(nibbles, bytes)), show(vi_bits(vf_lookup(vi_and(a, vi_set1(15)), floats)));
        show(vi_dot4_small(b, nibbles, x, round % 8)), show(vi_bits(vf_swap_pairs(f))), show(vi_bits(vf_set1(vf_sum(f))));
        vf_store_f16(halves, f), show(vi_load_u16(halves)), show(vi_bits(vf_load_f16(halves)));
        vi_store_u16(halves, a), vi_store_u8((uint8_t *)(halves + LANES), b);
        show(vi_bits(vf_load_bf16(halves))), show(vi_load_i8((int8_t *)halves)), show(vi_load_u8((uint8_t *)halves));
    }
    return puts("end") < 0;
}
END
# vectors NAME ENVIRONMENT... COMMAND...: what it prints, with and without VNNI
vectors() {
    _of=$1
    shift
    # shellcheck disable=SC2086 # flags are words
    { "$@" $cc ${home:+-I"$home"} -Iruntime "$WORK/vectors.c" -lm -o "$WORK/vectors" && "$WORK/vectors" > "$WORK/$_of"; } > "$WORK/log" 2>&1 ||
        cat "$WORK/log" > "$WORK/$_of"
}
home=
vectors avx2 clang-19 -march=x86-64-v3
check "emulation: AVX2 computes" grep -q end "$WORK/avx2"
vectors avx512 env EMULATE=all tests/x86/clang -march=x86-64-v4
same "emulation: AVX-512" "$WORK/avx2" "$WORK/avx512"
vectors vnni env EMULATE=all tests/x86/clang -march=x86-64-v4 -mavx512vnni
same "emulation: AVX-512 with VNNI" "$WORK/avx2" "$WORK/vnni"
vectors avxvnni env EMULATE=all tests/x86/clang -march=x86-64-v3 -mavxvnni
same "emulation: AVX-VNNI" "$WORK/avx2" "$WORK/avxvnni"
vectors here tests/x86/clang -march=x86-64-v4 -mavx512vnni
same "emulation: of what this CPU lacks alone" "$WORK/avx2" "$WORK/here"

# Products of bf16, in which sums round: the bits are those of this CPU, where it has the instructions.
kernels="-O1 -Wall -ffp-contract=off -D_GNU_SOURCE -Iruntime -march=x86-64-v4 -mavx512bf16 -DBURIN_ROUNDED_ROWS -DROUNDED_ALONE tests/kernels/rounded.c tests/kernels/check.c -lm"
# rounded NAME FEATURE FLAGS...
rounded() {
    _of=$1 _feature=$2
    shift 2
    # shellcheck disable=SC2086 # words
    { EMULATE=all tests/x86/clang "$@" $kernels -o "$WORK/rounded" && "$WORK/rounded"; } > "$WORK/$_of" 2>&1
    check "emulation: $_of computes" grep -q ' ok$' "$WORK/$_of"
    grep -qw "$_feature" /proc/cpuinfo || { skip "emulation: $_of as here" "this CPU has no $_feature" && return; }
    # shellcheck disable=SC2086 # words
    { clang-19 "$@" $kernels -o "$WORK/rounded" && "$WORK/rounded"; } > "$WORK/here" 2>&1
    same "emulation: $_of as here" "$WORK/here" "$WORK/$_of"
}
rounded bf16 amx_bf16 # Intel's: how AMD's rounds is not known here
rounded amx-bf16 amx_bf16 -mamx-tile -mamx-int8 -mamx-bf16 -DASK_FOR_TILES

home=$WORK/home
mkdir "$home"
cp -R runtime/kernels "$home"
for mistake in _mm512_min_ps/_mm512_max_ps/ _mm512_cvtph_ps/_mm512_cvtepi16_epi32/ '_mm512_dpbusd_epi32(c,/_mm512_dpbusd_epi32(w,/' _MM_FROUND_TO_NEAREST_INT/_MM_FROUND_TO_ZERO/; do
    sed "s/$mistake" runtime/kernels/vec_avx512.h > "$home/kernels/vec_avx512.h"
    vectors wrong env EMULATE=all tests/x86/clang -march=x86-64-v4 -mavx512vnni
    check "emulation: a mistake is seen: ${mistake%/}" sh -c "! cmp -s '$WORK/avx2' '$WORK/wrong'"
done

printf '#include <immintrin.h>\nint main(void) {\n    volatile __m512 a = _mm512_set1_ps(3);\n    a = _mm512_getexp_ps(a);\n    return 0;\n}\n' > "$WORK/unknown.c"
says "emulation: an instruction without a definition is named" 1 \
    "tests/x86/emulated.h has no emulated_avx512_mask_getexp_ps_512, for llvm.x86.avx512.mask.getexp.ps.512" \
    env EMULATE=all tests/x86/clang -O1 -march=x86-64-v4 "$WORK/unknown.c" -o "$WORK/unknown"
check "emulation: and nothing is left" [ ! -e "$WORK/unknown" ]
