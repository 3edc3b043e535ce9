// atan in double precision, rounded once: within 0.51 ulp. Only additions, multiplications,
// divisions and square roots, so the same everywhere.
#ifndef BURIN_ATAN_H
#define BURIN_ATAN_H
#include "scalar.h"

// |x| <= 1: two halvings of the angle, then the series
INLINE double atan_small(double x) {
    for (int i = 0; i < 2; i++) x = x / (1 + sqrt(1 + x * x));
    double z = x * x, sum = 0;
    for (int i = 25; i >= 1; i -= 2) sum = 1.0 / i - sum * z;
    return 4 * x * sum;
}

INLINE float sf_atan(float a) {
    if (a != a) return a;
    double x = fabs((double)a),
           angle = x <= 1 ? atan_small(x) : 0x1.921fb54442d18p+0 - atan_small(1 / x);
    return sf_copysign((float)angle, a);
}
#endif
