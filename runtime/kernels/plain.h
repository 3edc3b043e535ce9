// One element at a time, of types without vectors: integers of any width as int64_t (u64: its
// bits), f64 as double. The numbers are those of the interpreter
// (compiler/ir/eval/eval_elementwise.c, convert.c); f64 uses the C library and is outside of the
// numeric contract.
#ifndef BURIN_PLAIN_H
#define BURIN_PLAIN_H
#include "convert.h"

// ---- integers: sl_ signed, su_ where u64's sign bit is part of the number ----
INLINE int64_t sl_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
INLINE int64_t sl_sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
INLINE int64_t sl_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
INLINE int64_t sl_neg(int64_t a) { return sl_sub(0, a); }
INLINE int64_t sl_abs(int64_t a) { return a < 0 ? sl_neg(a) : a; }
INLINE int64_t sl_relu(int64_t a) { return a > 0 ? a : 0; }
INLINE int64_t sl_min(int64_t a, int64_t b) { return a < b ? a : b; }
INLINE int64_t sl_max(int64_t a, int64_t b) { return a > b ? a : b; }
INLINE int64_t sl_div(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? sl_neg(a) : a / b; }
INLINE int64_t sl_fmod(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
INLINE int64_t sl_mod(int64_t a, int64_t b) {
    int64_t r = sl_fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
INLINE int64_t sl_pow(int64_t a, int64_t b) {
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    uint64_t r = 1, base = (uint64_t)a;
    for (; b; b >>= 1, base *= base)
        if (b & 1) r *= base;
    return (int64_t)r;
}
INLINE int64_t sl_bit_and(int64_t a, int64_t b) { return a & b; }
INLINE int64_t sl_bit_or(int64_t a, int64_t b) { return a | b; }
INLINE int64_t sl_bit_xor(int64_t a, int64_t b) { return a ^ b; }
INLINE int64_t sl_shift_left(int64_t a, int64_t b) {
    return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b);
}
INLINE int64_t sl_shift_right(int64_t a, int64_t b) { return b < 0 || b > 63 ? 0 : a >> b; }
INLINE int64_t sl_floor(int64_t a) { return a; }
INLINE int64_t sl_ceil(int64_t a) { return a; }
INLINE int64_t sl_round(int64_t a) { return a; }

INLINE int64_t su_div(int64_t a, int64_t b) { return b ? (int64_t)((uint64_t)a / (uint64_t)b) : 0; }
INLINE int64_t su_mod(int64_t a, int64_t b) { return b ? (int64_t)((uint64_t)a % (uint64_t)b) : 0; }
INLINE int64_t su_fmod(int64_t a, int64_t b) { return su_mod(a, b); }
INLINE int64_t su_min(int64_t a, int64_t b) { return (uint64_t)a < (uint64_t)b ? a : b; }
INLINE int64_t su_max(int64_t a, int64_t b) { return (uint64_t)a > (uint64_t)b ? a : b; }
INLINE int64_t su_shift_right(int64_t a, int64_t b) {
    return (uint64_t)b > 63 ? 0 : (int64_t)((uint64_t)a >> b);
}
INLINE int64_t su_relu(int64_t a) { return a; }
INLINE int64_t su_abs(int64_t a) { return a; }

// ---- conversions ----
// Truncates, to an integer of that many bits; beyond its range the nearest end; NaN: 0.
INLINE int64_t sl_from_real(double x, int bits, bool is_unsigned) {
    double low = is_unsigned ? 0 : -ldexp(1, bits - 1),
           above = ldexp(1, is_unsigned ? bits : bits - 1);
    if (x != x) return 0;
    if (x < low) x = low;
    if (x >= above) return (int64_t)(UINT64_MAX >> (is_unsigned ? 64 - bits : 65 - bits));
    return is_unsigned ? (int64_t)(uint64_t)x : (int64_t)x;
}

INLINE double sd_from_u64(int64_t a) { return (double)(uint64_t)a; }
INLINE uint16_t f16_from_real(double x) { return f16_from_float(sf_rounded_to_odd(x)); }
INLINE uint16_t bf16_from_real(double x) { return bf16_from_float(sf_rounded_to_odd(x)); }

INLINE float sf_round_f16(float x) { return sf_from_f16(f16_from_float(x)); }
INLINE float sf_round_bf16(float x) { return sf_from_bf16(bf16_from_float(x)); }

// ---- doubles ----
// A remainder with the sign of the divisor
INLINE double sd_wrapped(double r, double y) { return r != 0 && (r < 0) != (y < 0) ? r + y : r; }
#define UNARY(how, name, exact, off) \
    CALLED double sd_##name(double x) { return exact; }
#define BINARY(how, name, exact, off) \
    CALLED double sd_##name(double x, double y) { return exact; }
#include "functions.h"

// ---- floats of 8 bits ----
// Exponent and fraction bits, bias, the largest finite pattern, NaN, and what too large numbers
// become when they do not saturate.
typedef struct burin_small {
    int exponent, fraction, bias;
    uint32_t top, nan, overflow;
} burin_small;
static const burin_small burin_f8e4m3fn = {4, 3, 7, 0x7e, 0x7f, 0x7f};
static const burin_small burin_f8e4m3fnuz = {4, 3, 8, 0x7f, 0x80, 0x80};
static const burin_small burin_f8e5m2 = {5, 2, 15, 0x7b, 0x7f, 0x7c};
static const burin_small burin_f8e5m2fnuz = {5, 2, 16, 0x7f, 0x80, 0x80};
static const burin_small burin_f4e2m1 = {2, 1, 1, 0x7, 0x8, 0x7};

INLINE float sf_from_small(burin_small f, uint32_t bits) {
    int width = f.exponent + f.fraction;
    uint32_t magnitude = bits & ((1u << width) - 1),
             fraction = magnitude & ((1u << f.fraction) - 1);
    int exponent = (int)(magnitude >> f.fraction);
    if (f.nan == 0x80 && bits == 0x80) return NAN;
    float sign = bits >> width & 1 ? -1.0f : 1.0f;
    if (magnitude > f.top) return f.exponent == 5 && magnitude == f.top + 1 ? sign * INFINITY : NAN;
    if (exponent) fraction |= 1u << f.fraction;
    return sign * ldexpf((float)fraction, (exponent ? exponent : 1) - f.bias - f.fraction);
}

INLINE uint8_t small_from_float(burin_small f, float x, bool overflows) {
    int exponent;
    uint32_t sign = signbit(x) ? 1u << (f.exponent + f.fraction) : 0,
             most = overflows ? f.overflow : f.top;
    if (x != x) return (uint8_t)f.nan;
    if (isinf(x)) return (uint8_t)(sign | most);
    frexpf(x, &exponent);
    bool subnormal = x == 0 || exponent - 1 < 1 - f.bias;
    exponent = subnormal ? 1 - f.bias : exponent - 1;
    if (exponent > 2 * f.bias + 2) return (uint8_t)(sign | most);
    uint32_t whole = (uint32_t)nearbyintf(ldexpf(fabsf(x), f.fraction - exponent));
    uint32_t bits = subnormal ? whole : whole + ((uint32_t)(exponent + f.bias - 1) << f.fraction);
    if (bits > f.top) bits = most;
    return (uint8_t)(!bits && f.nan == 0x80 ? 0 : sign | bits);
}

INLINE float sf_from_f8e4m3fn(uint8_t bits) { return sf_from_small(burin_f8e4m3fn, bits); }
INLINE uint8_t f8e4m3fn_from_float(float x) { return small_from_float(burin_f8e4m3fn, x, false); }
INLINE uint8_t f8e4m3fn_overflowing(float x) { return small_from_float(burin_f8e4m3fn, x, true); }
INLINE float sf_from_f8e4m3fnuz(uint8_t bits) { return sf_from_small(burin_f8e4m3fnuz, bits); }
INLINE uint8_t f8e4m3fnuz_from_float(float x) {
    return small_from_float(burin_f8e4m3fnuz, x, false);
}
INLINE uint8_t f8e4m3fnuz_overflowing(float x) {
    return small_from_float(burin_f8e4m3fnuz, x, true);
}
INLINE float sf_from_f8e5m2(uint8_t bits) { return sf_from_small(burin_f8e5m2, bits); }
INLINE uint8_t f8e5m2_from_float(float x) { return small_from_float(burin_f8e5m2, x, false); }
INLINE uint8_t f8e5m2_overflowing(float x) { return small_from_float(burin_f8e5m2, x, true); }
INLINE float sf_from_f8e5m2fnuz(uint8_t bits) { return sf_from_small(burin_f8e5m2fnuz, bits); }
INLINE uint8_t f8e5m2fnuz_from_float(float x) {
    return small_from_float(burin_f8e5m2fnuz, x, false);
}
INLINE uint8_t f8e5m2fnuz_overflowing(float x) {
    return small_from_float(burin_f8e5m2fnuz, x, true);
}
INLINE float sf_from_f4e2m1(uint8_t bits) { return sf_from_small(burin_f4e2m1, bits); }
INLINE uint8_t f4e2m1_from_float(float x) { return small_from_float(burin_f4e2m1, x, false); }

// ---- elements narrower than a byte, from its low bits on ----
INLINE int bits_load(const uint8_t *p, ptrdiff_t i, int bits) {
    return p[i * bits / 8] >> (i * bits % 8) & ((1 << bits) - 1);
}
INLINE void bits_store(uint8_t *p, ptrdiff_t i, int bits, int64_t value) {
    int shift = (int)(i * bits % 8), mask = ((1 << bits) - 1) << shift;
    p[i * bits / 8] =
        (uint8_t)((p[i * bits / 8] & ~mask) | ((int)(value & ((1 << bits) - 1)) << shift));
}
// Clears the bits of the last byte after n elements.
INLINE void bits_clear_rest(uint8_t *p, ptrdiff_t n, int bits) {
    int used = (int)(n * bits % 8);
    if (used) p[n * bits / 8] &= (uint8_t)((1 << used) - 1);
}
INLINE int64_t signed_load(const uint8_t *p, ptrdiff_t i, int bits) {
    int v = bits_load(p, i, bits);
    return v >> (bits - 1) ? v - (1 << bits) : v;
}

// ---- rows of doubles ----
// e^(x - max) / sum, summed in the order of all reductions
INLINE void softmax_row_d(int n, const double *x, double *y) {
    enum { SUMS = 16 };
    double lane[SUMS] = {0}, top = -INFINITY;
    for (int i = 0; i < n; i++) top = x[i] > top ? x[i] : top;
    if (top == -INFINITY) top = 0;
    for (int i = 0; i < n; i++) y[i] = exp(x[i] - top), lane[i % SUMS] += y[i];
    for (int w = SUMS / 2; w; w /= 2)
        for (int i = 0; i < w; i++) lane[i] += lane[i + w];
    for (int i = 0; i < n; i++) y[i] = y[i] / (lane[0] > 0 ? lane[0] : 1);
}
#endif
