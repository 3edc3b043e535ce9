// One lane of the vector: each vf_ function for one of its sixteen lanes, for single values and for
// plain C. sf_ are floats, si_ 32-bit integers (wrapping), sm_ bools. See runtime/kernels/README.md
// for the vocabulary.
#ifndef BURIN_SCALAR_H
#define BURIN_SCALAR_H
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define CALLED static inline __attribute__((always_inline))  // through a pointer
#else
#define CALLED static inline
#endif
// Clang for x86 passes a vector of two registers in memory unless it is told otherwise: compiling
// would take a quarter longer.
#if defined(__clang__) && defined(__x86_64__)
#define INLINE CALLED __attribute__((regcall))
#else
#define INLINE CALLED
#endif

INLINE int32_t si_bits(float a) {
    int32_t i;
    memcpy(&i, &a, 4);
    return i;
}
INLINE float sf_bits(int32_t a) {
    float x;
    memcpy(&x, &a, 4);
    return x;
}

INLINE float sf_set1(float a) { return a; }
INLINE float sf_add(float a, float b) { return a + b; }
INLINE float sf_sub(float a, float b) { return a - b; }
INLINE float sf_mul(float a, float b) { return a * b; }
INLINE float sf_div(float a, float b) { return a / b; }
INLINE float sf_sqrt(float a) { return sqrtf(a); }
INLINE float sf_min(float a, float b) { return a < b ? a : b; }
INLINE float sf_max(float a, float b) { return a > b ? a : b; }

// a b + c, rounded once. Without the instruction: the product is exact in double; the sum is
// rounded to odd (its last bit tells that something was cut off), and so the second rounding, to
// float, is the only one that counts.
INLINE float sf_fma(float a, float b, float c) {
#if defined(__FMA__) || defined(__aarch64__) || defined(__ARM_FEATURE_FMA) || defined(__riscv_flen)
    return __builtin_fmaf(a, b, c);
#else
    double product = (double)a * b, sum = product + c, back = sum - product;
    double error = (product - (sum - back)) + (c - back);
    int64_t bits;
    memcpy(&bits, &sum, 8);
    int64_t inexact = (error > 0) | (error < 0), up = (error > 0) == (sum > 0);
    bits += inexact & ~bits & 1 ? 2 * up - 1 : 0;
    memcpy(&sum, &bits, 8);
    return (float)sum;
#endif
}

INLINE int32_t si_set1(int32_t a) { return a; }
INLINE int32_t si_add(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
INLINE int32_t si_sub(int32_t a, int32_t b) { return (int32_t)((uint32_t)a - (uint32_t)b); }
INLINE int32_t si_mul(int32_t a, int32_t b) { return (int32_t)((uint32_t)a * (uint32_t)b); }
INLINE int32_t si_and(int32_t a, int32_t b) { return a & b; }
INLINE int32_t si_or(int32_t a, int32_t b) { return a | b; }
INLINE int32_t si_xor(int32_t a, int32_t b) { return a ^ b; }
INLINE int32_t si_shift_left(int32_t a, int n) { return (int32_t)((uint32_t)a << n); }
INLINE int32_t si_shift_right(int32_t a, int n) { return (int32_t)((uint32_t)a >> n); }
INLINE int32_t si_min(int32_t a, int32_t b) { return a < b ? a : b; }
INLINE int32_t si_max(int32_t a, int32_t b) { return a > b ? a : b; }
INLINE int32_t si_neg(int32_t a) { return si_sub(0, a); }
INLINE int32_t si_abs(int32_t a) { return a < 0 ? si_neg(a) : a; }
INLINE int32_t si_div(int32_t a, int32_t b) {
    return b == 0 ? 0 : b == -1 ? si_neg(a) : a / b;
}                                              // truncates; by zero: 0
INLINE int32_t si_mod(int32_t a, int32_t b) {  // sign of b; by zero: 0
    if (b == 0 || b == -1) return 0;
    int32_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

INLINE bool sf_less(float a, float b) { return a < b; }
INLINE bool sf_less_or_equal(float a, float b) { return a <= b; }
INLINE bool sf_equal(float a, float b) { return a == b; }
INLINE bool si_less(int32_t a, int32_t b) { return a < b; }
INLINE bool si_equal(int32_t a, int32_t b) { return a == b; }
INLINE bool sf_and(bool a, bool b) { return a && b; }
INLINE bool sf_or(bool a, bool b) { return a || b; }
INLINE bool sf_not(bool a) { return !a; }
INLINE float sf_where(bool c, float a, float b) { return c ? a : b; }
INLINE int32_t si_where(bool c, int32_t a, int32_t b) { return c ? a : b; }

INLINE float sf_from_int(int32_t a) { return (float)a; }
INLINE int32_t si_from_float(float a) {  // truncates; beyond the range: the nearest end; NaN: 0
    if (!(a >= -2147483648.0f)) return a != a ? 0 : INT32_MIN;
    return a >= 2147483648.0f ? INT32_MAX : (int32_t)a;
}

// remainders of a / b with the sign of a, and of b; exact
INLINE float sf_fmod(float a, float b) { return fmodf(a, b); }
INLINE float sf_mod(float a, float b) {
    float r = fmodf(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
#endif
