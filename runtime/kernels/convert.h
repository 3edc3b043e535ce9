// Single 16-bit floats to and from f32, rounding to nearest even, subnormals included, by integer
// operations.
#ifndef BURIN_CONVERT_H
#define BURIN_CONVERT_H
#include "scalar.h"

INLINE float sf_from_bf16(uint16_t h) { return sf_bits((int32_t)((uint32_t)h << 16)); }

INLINE uint16_t bf16_from_float(float a) {
    uint32_t bits = (uint32_t)si_bits(a);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 64);  // NaN stays NaN
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

INLINE float sf_from_f16(uint16_t h) {
    uint32_t sign = (uint32_t)(h >> 15) << 31, exponent = h >> 10 & 31, mantissa = h & 1023;
    if (exponent == 0)
        return sf_bits((int32_t)(sign | (uint32_t)si_bits((float)mantissa * 0x1p-24f)));
    if (exponent == 31) return sf_bits((int32_t)(sign | 0x7f800000 | mantissa << 13));
    return sf_bits((int32_t)(sign | (exponent + 112) << 23 | mantissa << 13));
}

INLINE uint16_t f16_from_float(float a) {
    uint32_t bits = (uint32_t)si_bits(a), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    if (rest > 0x7f800000) return (uint16_t)(sign | 0x7e00);
    if (rest >= 0x477ff000) return (uint16_t)(sign | 0x7c00);  // 65520 and above round to infinity
    if (rest < 0x38800000) {                                   // below 2^-14: a multiple of 2^-24
        if (rest < 0x33000000) return (uint16_t)sign;
        uint32_t mantissa = (rest & 0x7fffff) | 0x800000, shift = 126 - (rest >> 23);
        uint32_t kept = mantissa >> shift, cut = mantissa & ((1u << shift) - 1),
                 half = 1u << (shift - 1);
        return (uint16_t)(sign | (kept + (cut > half || (cut == half && (kept & 1)))));
    }
    rest -= 112u << 23;
    return (uint16_t)(sign | (rest + 0xfff + (rest >> 13 & 1)) >> 13);
}

// A double on its way to 16 bits: a float whose last bit tells that something was cut off, so that
// it is rounded only once.
INLINE float sf_rounded_to_odd(double value) {
    float f = (float)value;
    if ((double)f == value || f != f) return f;
    int32_t bits = si_bits(f);
    bool larger = f > 0 ? (double)f > value : (double)f < value;
    return sf_bits((bits - (larger && (bits & 0x7fffffff) ? 1 : 0)) | 1);
}
#endif
