// Sine, cosine and exponential in double precision from additions, multiplications and divisions
// alone: the same bits on every CPU, which libm does not promise.
#ifndef BURIN_SOUND_ELEMENTARY_H
#define BURIN_SOUND_ELEMENTARY_H
#include <stdint.h>

#include "kernels/pow.h"

#define BURIN_PI 0x1.921fb54442d18p+1

// Taylor series of sin (first = 1) or cos (first = 0) for |x| <= pi / 4.
static inline double burin_circle_series(double x, int first) {
    double square = x * x, sum = 1;
    for (int i = 22 + first; i > 1 + first; i -= 2) sum = 1 - sum * square / (double)(i * (i - 1));
    return first ? sum * x : sum;
}

// sin(2 pi k / n), 0 <= k, 0 < n: exact symmetries reduce the angle to an eighth of the circle.
static inline double burin_sine_of_turn(int64_t k, int64_t n) {
    int64_t eighth = 8 * (k % n) / n;
    int64_t rest = 8 * (k % n) - eighth * n;  // of n: the position inside the eighth
    double angle = (double)(eighth & 1 ? n - rest : rest) / (double)n * (BURIN_PI / 4);
    int first = eighth == 0 || eighth == 3 || eighth == 4 || eighth == 7;
    double value = burin_circle_series(angle, first);
    return eighth >= 4 ? -value : value;
}

static inline double burin_cosine_of_turn(int64_t k, int64_t n) {
    return burin_sine_of_turn(4 * (k % n) + n, 4 * n);
}

// sin(pi x): |x| below 2^31
static inline double burin_sine_of_pi(double x) {
    double whole = floor(x + 0.5), part = x - whole;
    double size = part < 0 ? -part : part;
    double value = size <= 0.25 ? burin_circle_series(size * BURIN_PI, 1)
                                : burin_circle_series((0.5 - size) * BURIN_PI, 0);
    return ((int64_t)whole & 1) != (part < 0) ? -value : value;
}

static inline double burin_natural_log(double x) { return log2_double(x) * 0x1.62e42fefa39efp-1; }

// e^x, |x| below 700
static inline double burin_exponential(double x) {
    double k = floor(x * 0x1.71547652b82fep+0 + 0.5), sum = 1;
    double rest = x - k * 0x1.62e42feep-1 - k * 0x1.a39ef35793c76p-33;  // ln 2 in two parts
    for (int i = 16; i >= 1; i--) sum = sum * rest / i + 1;
    int64_t bits = ((int64_t)k + 1023) * ((int64_t)1 << 52);
    double power;
    memcpy(&power, &bits, 8);
    return sum * power;
}
#endif
