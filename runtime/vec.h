// The vector of burin's numeric contract: 16 float lanes on every target, so that kernels are written once and every target
// does the same arithmetic, lane by lane. vf: floats, vi: 32-bit integers, vm: truth; sf_NAME is one lane of vf_NAME. The
// target is chosen by the compiler's flags; runtime/README.md lists the vocabulary and says how to add a CPU.
#ifndef BURIN_VEC_H
#define BURIN_VEC_H
#include "convert.h"
#include "scalar.h"

enum { LANES = 16 };

INLINE int32_t four_bytes(const int8_t *p) {
    int32_t four;
    memcpy(&four, p, 4);
    return four;
}

#if defined(__FAST_MATH__)
#error "burin's numbers need IEEE arithmetic: build without -ffast-math"
#endif

#define F(name) sf_##name
#define I(name) si_##name
#define V       float
#define W       int32_t
#define M       bool
#include "vec_math.h"
#undef F
#undef I
#undef V
#undef W
#undef M
#include "atan.h"
#include "pow.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include "vec_avx512.h"
#define VEC_TARGET "avx512"
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#include "vec_avx2.h"
#define VEC_TARGET "avx2"
#elif defined(__aarch64__)
#include "vec_neon.h"
#define VEC_TARGET "neon"
#else
#include "vec_c.h"
#define VEC_TARGET   "c"
#define VEC_IS_ARRAY 1
#endif

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

#if defined(VEC_IS_ARRAY)
// Whole functions lane by lane: better than sixteen lanes after each step where a vector is an array.
LANES1(vf, vf_neg, sf_neg, vf)
LANES1(vf, vf_abs, sf_abs, vf)
LANES2(vf, vf_copysign, sf_copysign, vf, vf)
LANES1(vf, vf_reciprocal, sf_reciprocal, vf)
LANES1(vf, vf_relu, sf_relu, vf)
LANES2(vm, vf_greater, sf_greater, vf, vf)
LANES2(vm, vf_greater_or_equal, sf_greater_or_equal, vf, vf)
LANES1(vf, vf_round, sf_round, vf)
LANES1(vf, vf_floor, sf_floor, vf)
LANES1(vf, vf_ceil, sf_ceil, vf)
LANES1(vf, vf_exp, sf_exp, vf)
LANES1(vf, vf_log, sf_log, vf)
LANES1(vf, vf_sin, sf_sin, vf)
LANES1(vf, vf_cos, sf_cos, vf)
LANES1(vf, vf_tanh, sf_tanh, vf)
LANES1(vf, vf_erf, sf_erf, vf)
LANES1(vf, vf_sigmoid, sf_sigmoid, vf)
LANES1(vf, vf_silu, sf_silu, vf)
LANES1(vf, vf_gelu, sf_gelu, vf)
LANES1(vf, vf_gelu_tanh, sf_gelu_tanh, vf)
#else
#define F(name) vf_##name
#define I(name) vi_##name
#define V       vf
#define W       vi
#define M       vm
#include "vec_math.h"
#undef F
#undef I
#undef V
#undef W
#undef M
#endif

INLINE vf vf_zero(void) { return vf_set1(0); }

// Lane by lane: exact functions of the C library, and double precision.
INLINE vf vf_pow(vf a, vf b) {
    float x[LANES], y[LANES];
    vf_store(x, a);
    vf_store(y, b);
    for (int i = 0; i < LANES; i++) x[i] = sf_pow(x[i], y[i]);
    return vf_load(x);
}
INLINE vf vf_mod(vf a, vf b) {
    float x[LANES], y[LANES];
    vf_store(x, a);
    vf_store(y, b);
    for (int i = 0; i < LANES; i++) x[i] = sf_mod(x[i], y[i]);
    return vf_load(x);
}

INLINE vf vf_fmod(vf a, vf b) {
    float x[LANES], y[LANES];
    vf_store(x, a);
    vf_store(y, b);
    for (int i = 0; i < LANES; i++) x[i] = fmodf(x[i], y[i]);
    return vf_load(x);
}
INLINE vf vf_atan(vf a) {
    float x[LANES];
    vf_store(x, a);
    for (int i = 0; i < LANES; i++) x[i] = sf_atan(x[i]);
    return vf_load(x);
}

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
INLINE vi vi_div(vi a, vi b) {
    int32_t x[LANES], y[LANES];
    vi_store(x, a);
    vi_store(y, b);
    for (int i = 0; i < LANES; i++) x[i] = si_div(x[i], y[i]);
    return vi_load(x);
}
INLINE vi vi_mod(vi a, vi b) {
    int32_t x[LANES], y[LANES];
    vi_store(x, a);
    vi_store(y, b);
    for (int i = 0; i < LANES; i++) x[i] = si_mod(x[i], y[i]);
    return vi_load(x);
}
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
    vi_store_u16(p, vi_where(vf_equal(a, a), rounded, vi_or(vi_shift_right(bits, 16), vi_set1(64))));
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

// The first n < 16 elements of narrower types; the others read as zero and are not written.
#define PARTIAL(vector, name, element)                  \
    INLINE vector name##_n(const element *p, int n) {   \
        element t[LANES] = {0};                         \
        if (n >= LANES) return name(p);                 \
        if (n > 0) memcpy(t, p, (size_t)n * sizeof *t); \
        return name(t);                                 \
    }
PARTIAL(vf, vf_load_f16, uint16_t)
PARTIAL(vf, vf_load_bf16, uint16_t)
PARTIAL(vf, vf_load_i64, int64_t)
PARTIAL(vi, vi_load_i64, int64_t)
PARTIAL(vi, vi_load_u8, uint8_t)
PARTIAL(vi, vi_load_i8, int8_t)
PARTIAL(vi, vi_load_u16, uint16_t)
PARTIAL(vm, vm_load, uint8_t)
#undef PARTIAL
#define PARTIAL(vector, name, element)                                        \
    INLINE void name##_n(element *p, vector a, int n) {                       \
        element t[LANES];                                                     \
        name(t, a);                                                           \
        if (n > 0) memcpy(p, t, (size_t)(n < LANES ? n : LANES) * sizeof *t); \
    }
PARTIAL(vf, vf_store_f16, uint16_t)
PARTIAL(vf, vf_store_bf16, uint16_t)
PARTIAL(vi, vi_store_u8, uint8_t)
PARTIAL(vi, vi_store_u16, uint16_t)
PARTIAL(vm, vm_store, uint8_t)
#undef PARTIAL

// Sixteen elements `stride` apart, the first n of them read.
INLINE vf vf_load_strided(const float *p, ptrdiff_t stride, int n) {
    float t[LANES] = {0};
    for (int i = 0; i < LANES && i < n; i++) t[i] = p[i * stride];
    return vf_load(t);
}

#if defined(__GNUC__)
#define PREFETCH_FAR(p) __builtin_prefetch(p, 0, 2)  // into the second level
#else
#define PREFETCH_FAR(p) ((void)0)
#endif
#endif
