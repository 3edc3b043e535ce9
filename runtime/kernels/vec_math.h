// The functions of the vocabulary as formulas over its primitives: one text for one lane and for
// sixteen. The includer defines  F(name) and I(name): prefix vf_, vi_ (or sf_, si_);  V, W, M: the
// types of floats, integers, truth; they are undefined at the end. Largest errors, measured over
// all floats by tests/kernels: exp 1.0 ulp, log 0.8, sin and cos 1.5 to |x| = 1e5, tanh 1.3,
// erf 1.2, sigmoid and silu 2.3 ulp.

#define C(x) F(set1)(x)
// p = p x + c, from the highest coefficient down
#define HORNER(p, x, c) p = F(fma)(p, x, C(c))

INLINE V F(neg)(V x) { return F(bits)(I(xor)(I(bits)(x), I(set1)(INT32_MIN))); }
INLINE V F(abs)(V x) { return F(bits)(I(and)(I(bits)(x), I(set1)(INT32_MAX))); }
INLINE V F(copysign)(V size, V sign) {
    return F(bits)(I(or)(I(bits)(F(abs)(size)), I(and)(I(bits)(sign), I(set1)(INT32_MIN))));
}
INLINE V F(reciprocal)(V x) { return F(div)(C(1), x); }
INLINE V F(relu)(V x) { return F(max)(x, C(0)); }
INLINE M F(greater)(V a, V b) { return F(less)(b, a); }
INLINE M F(greater_or_equal)(V a, V b) { return F(less_or_equal)(b, a); }

// To nearest, ties to even: adding 2^23 leaves no room for a fraction. The sign of x stays, also on
// zero.
INLINE V F(round)(V x) {
    V size = F(abs)(x), r = F(sub)(F(add)(size, C(0x1p23f)), C(0x1p23f));
    return F(where)(F(less)(size, C(0x1p23f)), F(copysign)(r, x), x);
}
INLINE V F(floor)(V x) {
    V r = F(round)(x);
    return F(where)(F(less)(x, r), F(sub)(r, C(1)), r);
}
INLINE V F(ceil)(V x) {
    V r = F(round)(x);
    return F(where)(F(less)(r, x), F(copysign)(F(add)(r, C(1)), x), r);
}

// e^x = 2^n e^r, n = round(x / ln 2) by the magic number, |r| <= ln(2) / 2. Below -86.99: +0.
INLINE V F(exp)(V x) {
    V top = F(min)(C(89), x), n = F(fma)(top, C(0x1.715476p+0f), C(0x1.8p23f)),
      k = F(sub)(n, C(0x1.8p23f));
    V r = F(fma)(k, C(-0x1.62e43p-1f), top);
    r = F(fma)(k, C(0x1.05c61p-29f), r);
    V p = C(0x1.a1b50cp-13f);
    HORNER(p, r, 0x1.6d969ap-10f);
    HORNER(p, r, 0x1.11108p-7f);
    HORNER(p, r, 0x1.55548p-5f);
    HORNER(p, r, 0x1.555556p-3f);
    HORNER(p, r, 0.5f);
    p = F(add)(F(fma)(F(mul)(r, r), p, r), C(1));
    V power =
        F(bits)(I(shift_left)(I(add)(I(bits)(n), I(set1)(126)), 23));  // 2^(n - 1): n may be 128
    return F(where)(F(less)(x, C(-86.99f)), C(0), F(mul)(F(add)(p, p), power));
}

// ln x = e ln 2 + ln(1 + f), x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2)
INLINE V F(log)(V x) {
    M tiny = F(less)(x, C(0x1p-126f));
    W bits = I(bits)(F(where)(tiny, F(mul)(x, C(0x1p23f)), x));
    W above = I(sub)(bits, I(set1)(0x3f3504f3));  // exponent and mantissa relative to sqrt(1/2)
    W exponent = I(and)(above, I(set1)((int32_t)0xff800000u));
    V f = F(sub)(F(bits)(I(sub)(bits, exponent)), C(1));
    V e = F(sub)(F(mul)(F(from_int)(exponent), C(0x1p-23f)), F(where)(tiny, C(23), C(0)));
    V p = C(0x1.14573ep-4f);
    HORNER(p, f, -0x1.de3bf8p-4f);
    HORNER(p, f, 0x1.e6f08cp-4f);
    HORNER(p, f, -0x1.fc220ep-4f);
    HORNER(p, f, 0x1.23374p-3f);
    HORNER(p, f, -0x1.555c4ep-3f);
    HORNER(p, f, 0x1.99a4b6p-3f);
    HORNER(p, f, -0x1.000006p-2f);
    HORNER(p, f, 0x1.555548p-2f);
    V square = F(mul)(f, f), low = F(fma)(F(mul)(square, f), p, F(mul)(e, C(-0x1.05c61p-29f)));
    V r = F(fma)(e, C(0x1.62e43p-1f), F(add)(f, F(fma)(C(-0.5f), square, low)));
    r = F(where)(F(less)(x, C(INFINITY)), r, x);  // infinity and NaN stay
    r = F(where)(F(equal)(x, C(0)), C(-INFINITY), r);
    return F(where)(F(less)(x, C(0)), C(NAN), r);
}

// sine of x + quarter pi / 2. |x| below 6.6e6 (2^22 quarter turns); the first step of the reduction
// is exact.
INLINE V F(sin_turned)(V x, int32_t quarter) {
    V n = F(fma)(x, C(0x1.45f306p-1f), C(0x1.8p23f)), k = F(neg)(F(sub)(n, C(0x1.8p23f)));
    V r = F(fma)(k, C(0x1.921fb6p+0f), x);
    r = F(fma)(k, C(-0x1.777a5cp-25f), r);
    r = F(fma)(k, C(-0x1.ee59dap-50f), r);
    V z = F(mul)(r, r), s = C(0x1.6cbecep-19f), c = C(-0x1.2417dep-22f);
    HORNER(s, z, -0x1.a00f32p-13f);
    HORNER(s, z, 0x1.111108p-7f);
    HORNER(s, z, -0x1.555556p-3f);
    s = F(fma)(F(mul)(r, z), s, r);
    HORNER(c, z, 0x1.a010c4p-16f);
    HORNER(c, z, -0x1.6c16b8p-10f);
    HORNER(c, z, 0x1.555556p-5f);
    HORNER(c, z, -0.5f);
    c = F(fma)(z, c, C(1));
    W turn = I(add)(I(bits)(n), I(set1)(quarter));
    V y = F(where)(I(equal)(I(and)(turn, I(set1)(1)), I(set1)(0)), s, c);
    return F(bits)(I(xor)(I(bits)(y), I(shift_left)(I(and)(turn, I(set1)(2)), 30)));
}
INLINE V F(sin)(V x) { return F(sin_turned)(x, 0); }
INLINE V F(cos)(V x) { return F(sin_turned)(x, 1); }

// An odd polynomial to 0.625, 1 - 2 / (e^2|x| + 1) above
INLINE V F(tanh)(V x) {
    V size = F(abs)(x), z = F(mul)(x, x), p = C(0x1.197b62p-9f);
    HORNER(p, z, -0x1.0c213ep-7f);
    HORNER(p, z, 0x1.6394d8p-6f);
    HORNER(p, z, -0x1.b9ef7cp-5f);
    HORNER(p, z, 0x1.11106cp-3f);
    HORNER(p, z, -0x1.555554p-2f);
    V small = F(fma)(F(mul)(x, z), p, x);
    V large = F(sub)(C(1), F(div)(C(2), F(add)(F(exp)(F(add)(size, size)), C(1))));
    return F(copysign)(F(where)(F(less)(size, C(0.625f)), small, large), x);
}

// x + x p(x^2) to 1, 1 - e^q(|x|) above, where q approximates ln(erfc)
INLINE V F(erf)(V x) {
    V size = F(min)(C(4), F(abs)(x)), z = F(mul)(x, x), p = C(-0x1.44cfc2p-17f),
      q = C(0x1.a07bd6p-20f);
    HORNER(p, z, 0x1.d8b89p-14f);
    HORNER(p, z, -0x1.bcd7dep-11f);
    HORNER(p, z, 0x1.562b1ap-8f);
    HORNER(p, z, -0x1.b829d8p-6f);
    HORNER(p, z, 0x1.ce2f0ap-4f);
    HORNER(p, z, -0x1.812746p-2f);
    HORNER(p, z, 0x1.06eba8p-3f);
    HORNER(q, size, -0x1.75229cp-15f);
    HORNER(q, size, 0x1.32726ap-11f);
    HORNER(q, size, -0x1.34729ap-8f);
    HORNER(q, size, 0x1.ae9ec8p-6f);
    HORNER(q, size, -0x1.c1fa1cp-4f);
    HORNER(q, size, -0x1.439b0ep-1f);
    HORNER(q, size, -0x1.214f5ap+0f);
    HORNER(q, size, 0x1.33df0ap-12f);
    V large = F(copysign)(F(sub)(C(1), F(exp)(q)), x);
    return F(where)(F(less)(size, C(1)), F(fma)(x, p, x), large);
}

INLINE V F(sigmoid)(V x) { return F(div)(C(1), F(add)(C(1), F(exp)(F(neg)(x)))); }
INLINE V F(silu)(V x) { return F(div)(x, F(add)(C(1), F(exp)(F(neg)(x)))); }
INLINE V F(gelu)(V x) {
    return F(mul)(F(mul)(x, C(0.5f)), F(add)(C(1), F(erf)(F(mul)(x, C(0x1.6a09e6p-1f)))));
}
INLINE V F(gelu_tanh)(V x) {
    V cubic = F(fma)(F(mul)(F(mul)(x, x), x), C(0.044715f), x);
    return F(mul)(F(mul)(x, C(0.5f)), F(add)(C(1), F(tanh)(F(mul)(cubic, C(0x1.988454p-1f)))));
}

#undef C
#undef HORNER
#undef F
#undef I
#undef V
#undef W
#undef M
