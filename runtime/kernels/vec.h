// The vector of burin's numeric contract: 16 float lanes on every target, so that kernels are
// written once and every target does the same arithmetic, lane by lane. vf: floats, vi: 32-bit
// integers, vm: bools; sf_NAME is one lane of vf_NAME. The compiler's flags choose the target;
// runtime/kernels/README.md lists the vocabulary and explains how to add a CPU.
#ifndef BURIN_VEC_H
#define BURIN_VEC_H
#include <float.h>

#include "convert.h"
#include "scalar.h"

enum { LANES = 16 };

INLINE int32_t four_bytes(const int8_t *p) {
    int32_t four;
    memcpy(&four, p, 4);
    return four;
}

#if FLT_EVAL_METHOD < 0 || FLT_EVAL_METHOD == 1 || FLT_EVAL_METHOD == 2
#error \
    "burin's numbers need floats that are computed as floats: on 32-bit x86 build with -msse2 -mfpmath=sse"
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "burin stores weights in the order of little-endian machines, and this one is not"
#endif
#if defined(__FAST_MATH__)
#error "burin's numbers need IEEE arithmetic: build without -ffast-math"
#endif

#define F(name) sf_##name
#define I(name) si_##name
#define V       float
#define W       int32_t
#define M       bool
#include "vec_math.h"

// The primitives are those of vec_NAME.h. A CPU level with its own has -DBURIN_VECTORS=NAME
// (compiler/target/target.c).
#if defined(BURIN_VECTORS)
#elif defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && \
    defined(__AVX512VL__)
#define BURIN_VECTORS avx512
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define BURIN_VECTORS avx2
#elif defined(__aarch64__)
#define BURIN_VECTORS neon
#else
#define BURIN_VECTORS c
#endif
#define VEC_STRING(text)  #text
#define VEC_FILE_OF(name) VEC_STRING(vec_##name.h)
#define VEC_FILE(name)    VEC_FILE_OF(name)
#define VEC_NAME_OF(name) VEC_STRING(name)
#define VEC_TARGET        VEC_NAME_OF(BURIN_VECTORS)
#include VEC_FILE(BURIN_VECTORS)
#include "atan.h"
#include "pow.h"

// Loops over registers are unrolled; where a vector is an array they stay loops.
#if defined(VEC_IS_ARRAY)
#define UNROLL
#define NO_UNROLL
#elif defined(__clang__)
#define UNROLL    _Pragma("unroll")
#define NO_UNROLL _Pragma("nounroll")
#elif defined(__GNUC__)
#define UNROLL    _Pragma("GCC unroll 32")
#define NO_UNROLL _Pragma("GCC unroll 1")
#else
#define UNROLL
#define NO_UNROLL
#endif

#define PRIMITIVE(name)
#if defined(VEC_IS_ARRAY)
// Whole functions lane by lane: better than sixteen lanes after each step where a vector is an
// array.
#define BY_LANE(name)
#define FORMULA(name) \
    INLINE vf vf_##name(vf x) { LANEWISE(vf, sf_##name(x.v[i])); }
#define UNARY(how, name, exact, off) how(name)
#include "functions.h"
#undef FORMULA
#undef BY_LANE
INLINE vf vf_copysign(vf x, vf y) { LANEWISE(vf, sf_copysign(x.v[i], y.v[i])); }
INLINE vm vf_greater(vf x, vf y) { LANEWISE(vm, sf_greater(x.v[i], y.v[i])); }
INLINE vm vf_greater_or_equal(vf x, vf y) { LANEWISE(vm, sf_greater_or_equal(x.v[i], y.v[i])); }
#else
#define F(name) vf_##name
#define I(name) vi_##name
#define V       vf
#define W       vi
#define M       vm
#include "vec_math.h"
#endif

INLINE vf vf_zero(void) { return vf_set1(0); }

// Lane by lane: double precision, remainders, integer division.
#define EACH_LANE(element, prefix, function)                     \
    element x[LANES], y[LANES];                                  \
    prefix##_store(x, a);                                        \
    prefix##_store(y, b);                                        \
    for (int i = 0; i < LANES; i++) x[i] = function(x[i], y[i]); \
    return prefix##_load(x)
INLINE vi vi_div(vi a, vi b) { EACH_LANE(int32_t, vi, si_div); }
INLINE vi vi_mod(vi a, vi b) { EACH_LANE(int32_t, vi, si_mod); }
#define FORMULA(name)
#define BY_LANE(name) \
    INLINE vf vf_##name(vf a, vf b) { EACH_LANE(float, vf, sf_##name); }
#define BINARY(how, name, exact, off) how(name)
#include "functions.h"
#undef BY_LANE
#undef EACH_LANE
#define BY_LANE(name)                                           \
    INLINE vf vf_##name(vf a) {                                 \
        float x[LANES];                                         \
        vf_store(x, a);                                         \
        for (int i = 0; i < LANES; i++) x[i] = sf_##name(x[i]); \
        return vf_load(x);                                      \
    }
#define UNARY(how, name, exact, off) how(name)
#include "functions.h"
#undef FORMULA
#undef BY_LANE
#undef PRIMITIVE

INLINE vi vi_load_n(const int32_t *p, int n) {
    int32_t t[LANES] = {0};
    if (n > 0) memcpy(t, p, (size_t)(n < LANES ? n : LANES) * sizeof *t);
    return vi_load(t);
}
INLINE void vi_store_n(int32_t *p, vi a, int n) {
    int32_t t[LANES];
    vi_store(t, a);
    if (n > 0) memcpy(p, t, (size_t)(n < LANES ? n : LANES) * sizeof *t);
}
INLINE vi vi_neg(vi a) { return vi_sub(vi_set1(0), a); }
INLINE vi vi_abs(vi a) { return vi_max(a, vi_neg(a)); }
INLINE vi vi_iota(int32_t first) {
    static const int32_t lane[LANES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return vi_add(vi_set1(first), vi_load(lane));
}
// Truncates; beyond the range: the nearest end; NaN: 0 (on every target).
INLINE vi vi_from_float(vf a) {
    vi i = vi_where(vf_less(a, vf_set1(0x1p31f)), vi_truncate(a), vi_set1(INT32_MAX));
    i = vi_where(vf_less(a, vf_set1(-0x1p31f)), vi_set1(INT32_MIN), i);
    return vi_where(vf_equal(a, a), i, vi_set1(0));
}

// Truth: 1 and 0 as a number, as an integer, and as bytes in memory.
INLINE vf vf_from_mask(vm a) { return vf_where(a, vf_set1(1), vf_zero()); }
INLINE vi vi_from_mask(vm a) { return vi_where(a, vi_set1(1), vi_set1(0)); }
INLINE vm vm_from_float(vf a) { return vf_not(vf_equal(a, vf_zero())); }
INLINE vm vm_from_int(vi a) { return vf_not(vi_equal(a, vi_set1(0))); }
INLINE vm vm_set1(bool a) { return vm_from_int(vi_set1(a)); }
INLINE vm vm_first(int n) { return vi_less(vi_iota(0), vi_set1(n)); }
INLINE vm vm_load(const uint8_t *p) { return vm_from_int(vi_load_u8(p)); }
INLINE void vm_store(uint8_t *p, vm a) { vi_store_u8(p, vi_from_mask(a)); }

// bf16: the upper half of an f32, rounded to nearest even; NaN stays NaN.
INLINE vf vf_load_bf16(const uint16_t *p) { return vf_bits(vi_shift_left(vi_load_u16(p), 16)); }
#if !defined(VEC_MIXES_BF16)
INLINE vf vf_load_bf16_mixed(const uint16_t *p) { return vf_load_bf16(p); }
INLINE vf vf_unmix(vf a) { return a; }
#endif
#if !defined(VEC_PAIRS_BF16)
INLINE void vf_load_bf16_pair(const uint16_t *p, vf *pair) {
    pair[0] = vf_load_bf16_mixed(p);
    pair[1] = vf_load_bf16_mixed(p + LANES);
}
#endif
INLINE void vf_store_bf16(uint16_t *p, vf a) {
    vi bits = vi_bits(a), odd = vi_and(vi_shift_right(bits, 16), vi_set1(1));
    vi rounded = vi_shift_right(vi_add(vi_add(bits, vi_set1(0x7fff)), odd), 16);
    vi_store_u16(p,
                 vi_where(vf_equal(a, a), rounded, vi_or(vi_shift_right(bits, 16), vi_set1(64))));
}

// The nearest f16 and bf16, as f32.
INLINE vf vf_round_f16(vf a) {
    uint16_t t[LANES];
    vf_store_f16(t, a);
    return vf_load_f16(t);
}
INLINE vf vf_round_bf16(vf a) {
    uint16_t t[LANES];
    vf_store_bf16(t, a);
    return vf_load_bf16(t);
}

// 64-bit integers as floats, rounded once; as 32-bit integers, of which they keep the low bits.
INLINE vi vi_load_i64(const int64_t *p) {
    int32_t t[LANES];
    for (int i = 0; i < LANES; i++) t[i] = (int32_t)(uint32_t)p[i];
    return vi_load(t);
}
INLINE vf vf_load_i64(const int64_t *p) {
    float t[LANES];
    for (int i = 0; i < LANES; i++) t[i] = (float)p[i];
    return vf_load(t);
}

// 64 bytes, four in each lane
INLINE vi vi_load_bytes(const uint8_t *p) {
    int32_t t[LANES];
    memcpy(t, p, sizeof t);
    return vi_load(t);
}

// The first n < 16 elements of narrower types; all others read as zero and are not written.
#define LOAD_N(element, load)                       \
    element t[LANES] = {0};                         \
    if (n >= LANES) return load(p);                 \
    if (n > 0) memcpy(t, p, (size_t)n * sizeof *t); \
    return load(t)
INLINE vf vf_load_f16_n(const uint16_t *p, int n) { LOAD_N(uint16_t, vf_load_f16); }
INLINE vf vf_load_bf16_n(const uint16_t *p, int n) { LOAD_N(uint16_t, vf_load_bf16); }
INLINE vf vf_load_i64_n(const int64_t *p, int n) { LOAD_N(int64_t, vf_load_i64); }
INLINE vi vi_load_i64_n(const int64_t *p, int n) { LOAD_N(int64_t, vi_load_i64); }
INLINE vi vi_load_u8_n(const uint8_t *p, int n) { LOAD_N(uint8_t, vi_load_u8); }
INLINE vi vi_load_i8_n(const int8_t *p, int n) { LOAD_N(int8_t, vi_load_i8); }
INLINE vi vi_load_u16_n(const uint16_t *p, int n) { LOAD_N(uint16_t, vi_load_u16); }
INLINE vm vm_load_n(const uint8_t *p, int n) { LOAD_N(uint8_t, vm_load); }
#undef LOAD_N
#define STORE_N(element, store) \
    element t[LANES];           \
    store(t, a);                \
    if (n > 0) memcpy(p, t, (size_t)(n < LANES ? n : LANES) * sizeof *t)
INLINE void vf_store_f16_n(uint16_t *p, vf a, int n) { STORE_N(uint16_t, vf_store_f16); }
INLINE void vf_store_bf16_n(uint16_t *p, vf a, int n) { STORE_N(uint16_t, vf_store_bf16); }
INLINE void vi_store_u8_n(uint8_t *p, vi a, int n) { STORE_N(uint8_t, vi_store_u8); }
INLINE void vi_store_u16_n(uint16_t *p, vi a, int n) { STORE_N(uint16_t, vi_store_u16); }
INLINE void vm_store_n(uint8_t *p, vm a, int n) { STORE_N(uint8_t, vm_store); }
#undef STORE_N

// The first n of sixteen elements `stride` apart; all others read as zero.
#define LOAD_STRIDED(element, load)                                \
    element t[LANES] = {0};                                        \
    for (int i = 0; i < LANES && i < n; i++) t[i] = p[i * stride]; \
    return load(t)
INLINE vf vf_load_strided(const float *p, ptrdiff_t stride, int n) { LOAD_STRIDED(float, vf_load); }
INLINE vf vf_load_f16_strided(const uint16_t *p, ptrdiff_t stride, int n) {
    LOAD_STRIDED(uint16_t, vf_load_f16);
}
INLINE vf vf_load_bf16_strided(const uint16_t *p, ptrdiff_t stride, int n) {
    LOAD_STRIDED(uint16_t, vf_load_bf16);
}
INLINE vf vf_load_i64_strided(const int64_t *p, ptrdiff_t stride, int n) {
    LOAD_STRIDED(int64_t, vf_load_i64);
}
INLINE vi vi_load_strided(const int32_t *p, ptrdiff_t stride, int n) {
    LOAD_STRIDED(int32_t, vi_load);
}
INLINE vi vi_load_i64_strided(const int64_t *p, ptrdiff_t stride, int n) {
    LOAD_STRIDED(int64_t, vi_load_i64);
}
INLINE vi vi_load_u8_strided(const uint8_t *p, ptrdiff_t stride, int n) {
    LOAD_STRIDED(uint8_t, vi_load_u8);
}
INLINE vi vi_load_i8_strided(const int8_t *p, ptrdiff_t stride, int n) {
    LOAD_STRIDED(int8_t, vi_load_i8);
}
INLINE vi vi_load_u16_strided(const uint16_t *p, ptrdiff_t stride, int n) {
    LOAD_STRIDED(uint16_t, vi_load_u16);
}
INLINE vm vm_load_strided(const uint8_t *p, ptrdiff_t stride, int n) {
    LOAD_STRIDED(uint8_t, vm_load);
}
#undef LOAD_STRIDED

// The nearest integer, ties to even
#if !defined(VEC_ROUND)
INLINE vi vi_round(vf a) { return vi_truncate(vf_round(a)); }
#endif

// The most of each of four vectors
#if !defined(VEC_TOPS)
INLINE void vf_reduce_max_4(const vf *a, float top[4]) {
    for (int i = 0; i < 4; i++) top[i] = vf_reduce_max(a[i]);
}
#endif

// The sum of 16 signed bytes
#if !defined(VEC_SUM_I8)
INLINE int32_t si_sum_i8(const int8_t *p) {
    int32_t sum = 0;
    for (int i = 0; i < LANES; i++) sum += p[i];
    return sum;
}
#endif

// An address that the compiler derives from no other: offsets from it stay small, so that ARM's
// loads of pairs reach them.
#if defined(__GNUC__) && defined(__aarch64__)
#define NEAR_ADDRESS(p) __asm__("" : "+r"(p))
#else
#define NEAR_ADDRESS(p) ((void)0)
#endif

#if defined(__GNUC__)
#define PREFETCH_FAR(p) __builtin_prefetch(p, 0, 2)  // into the second level
#else
#define PREFETCH_FAR(p) ((void)0)
#endif
#endif
