// a^b in double precision: 2^(b log2 a), within 0.51 ulp. Only additions, multiplications and
// divisions, so the same everywhere.
#ifndef BURIN_POW_H
#define BURIN_POW_H
#include "scalar.h"

// log2 of a positive, normal double: 2 atanh((m - 1) / (m + 1)) / ln 2 + exponent, sqrt(1/2) <= m <
// sqrt(2)
INLINE double log2_double(double a) {
    int64_t bits;
    memcpy(&bits, &a, 8);
    int64_t exponent = (bits - 0x3fe6a09e667f3bcd) >> 52;
    bits -= (int64_t)((uint64_t)exponent << 52);
    double m;
    memcpy(&m, &bits, 8);
    double s = (m - 1) / (m + 1), z = s * s, sum = 0;
    for (int i = 21; i >= 1; i -= 2) sum = sum * z + 1.0 / i;
    return (double)exponent + 2 * s * sum * 0x1.71547652b82fep+0;
}

// 2^x as a float, -160 < x < 130: the series of e^(r ln 2), |r| <= 1/2
INLINE float exp2_double(double x) {
    double k = floor(x + 0.5), r = (x - k) * 0x1.62e42fefa39efp-1, sum = 1;
    for (int i = 13; i >= 1; i--) sum = sum * r / i + 1;
    int64_t bits = ((int64_t)k + 1023) * ((int64_t)1 << 52);
    double power;
    memcpy(&power, &bits, 8);
    return (float)(sum * power);
}

// IEEE's rules: x^0 is 1, 1^y is 1, a negative base needs an integer exponent
INLINE float sf_pow(float a, float b) {
    if (b == 0 || a == 1) return 1;
    if (a != a || b != b) return NAN;
    float half = b * 0.5f;
    bool whole = floorf(b) == b, odd = whole && floorf(half) != half && fabsf(b) < 0x1p24f;
    float size = fabsf(a), sign = (si_bits(a) < 0 && odd) ? -1.0f : 1.0f;
    if (a < 0 && !whole && !isinf(a)) return isinf(b) ? (size < 1) == (b < 0) ? INFINITY : 0 : NAN;
    if (isinf(b)) return size == 1 ? 1 : (size > 1) == (b > 0) ? INFINITY : 0;
    if (size == 0 || isinf(size)) return sign * ((size == 0) == (b > 0) ? 0 : INFINITY);
    double x = b * log2_double(size);
    if (x >= 129) return sign * INFINITY;
    if (x <= -152) return sign * 0.0f;
    return sign * exp2_double(x);
}
#endif
