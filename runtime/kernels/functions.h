// The functions of floats that elementwise ops compute: a row each. The interpreter, plain C's
// vector, doubles and what `burin check` allows come from the rows. Included once for each use,
// with UNARY and BINARY defined; they are undefined at the end.
//
// UNARY(how, name, exact, off) and BINARY, by the number of operands:
//   how      FORMULA: over the vector's primitives, in vec_math.h; BY_LANE: on every target sf_NAME of each lane; PRIMITIVE: of
//            each target's own
//   exact    the function of doubles x and y
//   off      how far floats may be from that value, v, where operands are dx and dy off: the slope times dx, and the function's
//            own error, in units of U = 2^-24, half a last place
#ifndef UNARY
#define UNARY(how, name, exact, off)
#endif
#ifndef BINARY
#define BINARY(how, name, exact, off)
#endif

UNARY(FORMULA, neg, -x, dx)
UNARY(FORMULA, abs, fabs(x), dx)
UNARY(FORMULA, relu, x > 0 ? x : 0, dx)
UNARY(FORMULA, reciprocal, 1 / x, fabs(v) * (dx / fabs(x) + U))
UNARY(PRIMITIVE, sqrt, sqrt(x), (x > 0 ? dx / (2 * v) : sqrt(dx)) + U * v)
UNARY(FORMULA, exp, exp(x), (dx + 2 * U) * v)
UNARY(FORMULA, log, log(x), dx / fabs(x) + 2 * U * fabs(v))
UNARY(FORMULA, sin, sin(x), dx + 4 * U * fabs(v))
UNARY(FORMULA, cos, cos(x), dx + 4 * U * fabs(v))
UNARY(BY_LANE, atan, atan(x), dx + 2 * U * fabs(v))
UNARY(FORMULA, tanh, tanh(x), dx + 4 * U * fabs(v))
UNARY(FORMULA, erf, erf(x), 1.13 * dx + 4 * U * fabs(v))
UNARY(FORMULA, sigmoid, 1 / (1 + exp(-x)), dx / 4 + 5 * U * v + U * fabs(x) * v)
UNARY(FORMULA, silu, x / (1 + exp(-x)), 1.1 * dx + 6 * U * fabs(v))
// of |x|: 1 + erf cancels
UNARY(FORMULA, gelu, x / 2 * (1 + erf(x * 0.70710678118654752440)), 1.13 * dx + 4 * U * fabs(x))
UNARY(FORMULA, gelu_tanh,
      x / 2 * (1 + tanh(sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x))),
      1.13 * dx + 6 * U * fabs(x))
UNARY(FORMULA, floor, floor(x), dx ? 1 + dx : 0)
UNARY(FORMULA, ceil, ceil(x), dx ? 1 + dx : 0)
UNARY(FORMULA, round, nearbyint(x), dx ? 1 + dx : 0)
UNARY(PRIMITIVE, round_f16, sf_from_f16(f16_from_real(x)),
      fabs(x) < 0x1p16 - 32 ? dx + 0x1p-11 * fabs(x) + 0x1p-25 : INFINITY)
UNARY(PRIMITIVE, round_bf16, sf_from_bf16(bf16_from_real(x)), dx + 0x1p-8 * fabs(x) + FLT_MIN)

BINARY(PRIMITIVE, add, x + y, dx + dy + U * fabs(v))
BINARY(PRIMITIVE, sub, x - y, dx + dy + U * fabs(v))
BINARY(PRIMITIVE, mul, (x * y), fabs(x) * dy + fabs(y) * dx + U * fabs(v))
BINARY(PRIMITIVE, div, x / y, (dx + fabs(v) * dy) / fabs(y) + U * fabs(v))
BINARY(PRIMITIVE, min, x < y ? x : y, fmax(dx, dy))
BINARY(PRIMITIVE, max, x > y ? x : y, fmax(dx, dy))
BINARY(BY_LANE, mod, sd_wrapped(fmod(x, y), y), dx || dy ? fabs(y) : 0)
BINARY(BY_LANE, fmod, fmod(x, y), dx || dy ? fabs(y) : 0)
BINARY(BY_LANE, pow, pow(x, y),
       fabs(v) * (fabs(y) * (x ? dx / fabs(x) : 0) + (x ? fabs(log(fabs(x))) : 0) * dy + U))

#undef UNARY
#undef BINARY
