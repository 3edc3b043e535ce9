// The vocabulary: sixteen lanes equal one lane, conversions over all 16-bit values, and the error
// of each function in ulp.
#include "check.h"

typedef struct Function {
    const char *name;
    vf (*wide)(vf);
    float (*one)(float);
    double (*exact)(double);
} Function;

#define UNARY(how, name, exact, off)                     \
    static vf wide_##name(vf x) { return vf_##name(x); } \
    static float one_##name(float x) { return sf_##name(x); }
#include "kernels/functions.h"
#define UNARY(how, name, exact, off) {#name, wide_##name, one_##name, sd_##name},
static const Function functions[] = {
#include "kernels/functions.h"
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

// The largest error in ulp where |x| is at most `to`.
static const struct {
    const char *name;
    float to;
    double ulps;
} promises[] = {
    {"abs", INFINITY, 0},     {"floor", INFINITY, 0},  {"ceil", INFINITY, 0},
    {"round", INFINITY, 0},   {"sqrt", INFINITY, 0.5}, {"exp", 86.9f, 1.0},
    {"log", INFINITY, 0.8},   {"sin", 1e5f, 1.5},      {"cos", 1e5f, 1.5},
    {"atan", INFINITY, 0.51}, {"tanh", INFINITY, 1.3}, {"erf", INFINITY, 1.2},
    {"sigmoid", 86, 2.3},     {"silu", 86, 2.3},
};

static const float special[] = {0,
                                -0.0f,
                                1,
                                -1,
                                INFINITY,
                                -INFINITY,
                                NAN,
                                0x1p-149f,
                                -0x1p-130f,
                                0x1p-126f,
                                0x1.fffffep127f,
                                0.5f,
                                1.5f,
                                2.5f,
                                -2.5f,
                                -0.3f,
                                0x1p23f,
                                0x1.000002p23f,
                                88.72283f,
                                88.73f,
                                -86.99f,
                                -87,
                                -104,
                                1e5f};

static void fill(float v[16], int round) {
    for (int i = 0; i < 16; i++) {
        int at = round * 16 + i;
        if (at < (int)(sizeof special / sizeof *special))
            v[i] = special[at];
        else
            v[i] = round % 2 ? random_float() * 100 : sf_bits((int32_t)random_bits());
        if (v[i] != v[i]) v[i] = NAN;  // signalling NaNs are outside the contract
    }
}

static void test_one(const Function *f) {
    Suite s = suite_begin(f->name);
    for (int round = 0; round < 400; round++) {
        float v[16], expected[16], got[16];
        fill(v, round);
        vf_store(got, f->wide(vf_load(v)));
        for (int i = 0; i < 16; i++) expected[i] = f->one(v[i]);
        check_floats(&s, "lanes", got, expected, 16);
    }
    suite_end(&s);
}

#define SAME_LANES(name)                                              \
    vf_store(got, vf_##name(vf_load(a), vf_load(b)));                 \
    for (int i = 0; i < 16; i++) expected[i] = sf_##name(a[i], b[i]); \
    check_floats(&s, #name, got, expected, 16)
#define COMPARISON(name)                                              \
    vf_store(got, vf_from_mask(vf_##name(vf_load(a), vf_load(b))));   \
    for (int i = 0; i < 16; i++) expected[i] = sf_##name(a[i], b[i]); \
    check_floats(&s, #name, got, expected, 16)
#define INTEGER(name)                                                      \
    vi_store(got_int, vi_##name(vi_load(x), vi_load(y)));                  \
    for (int i = 0; i < 16; i++) expected_int[i] = si_##name(x[i], y[i]);  \
    check_true(&s, #name, !memcmp(got_int, expected_int, sizeof got_int)); \
    s.hash = burin_hash_bytes(s.hash, got_int, sizeof got_int)

static void test_binary(void) {
    Suite s = suite_begin("binary");
    for (int round = 0; round < 300; round++) {
        float a[16], b[16], c[16], got[16], expected[16];
        fill(a, round);
        fill(b, round < 4 ? 3 - round : round);
        fill(c, round + 2);
#define BINARY(how, name, exact, off) SAME_LANES(name);
#include "kernels/functions.h"
        SAME_LANES(copysign);
        COMPARISON(less);
        COMPARISON(less_or_equal);
        COMPARISON(greater);
        COMPARISON(greater_or_equal);
        COMPARISON(equal);
        vf_store(got, vf_fma(vf_load(a), vf_load(b), vf_load(c)));
        for (int i = 0; i < 16; i++) expected[i] = fmaf(a[i], b[i], c[i]);
        check_floats(&s, "fma", got, expected, 16);
        for (int i = 0; i < 16; i++) got[i] = sf_fma(a[i], b[i], c[i]);
        check_floats(&s, "sf_fma", got, expected, 16);
        vf_store(got,
                 vf_where(vf_not(vf_and(vf_less(vf_load(a), vf_load(b)), vm_first(round % 20))),
                          vf_load(a), vf_load(c)));
        for (int i = 0; i < 16; i++) expected[i] = !(a[i] < b[i] && i < round % 20) ? a[i] : c[i];
        check_floats(&s, "where", got, expected, 16);
    }
    suite_end(&s);
}

static void test_integers(void) {
    Suite s = suite_begin("integers");
    for (int round = 0; round < 300; round++) {
        int32_t x[16], y[16], got_int[16], expected_int[16];
        float a[16];
        fill(a, round);
        for (int i = 0; i < 16; i++) {
            x[i] = (int32_t)random_bits();
            y[i] = (int32_t)random_bits() >> round % 32;
        }
        INTEGER(add);
        INTEGER(sub);
        INTEGER(mul);
        INTEGER(and);
        INTEGER(or);
        INTEGER(xor);
        INTEGER(min);
        INTEGER(max);
        INTEGER(div);
        INTEGER(mod);
        for (int i = 0; i < 16; i++) expected_int[i] = si_from_float(a[i]);
        vi_store(got_int, vi_from_float(vf_load(a)));
        check_true(&s, "from_float", !memcmp(got_int, expected_int, sizeof got_int));
        for (int i = 0; i < 16; i++)
            expected_int[i] = si_shift_right(si_shift_left(x[i], round % 20), round % 32);
        vi_store(got_int, vi_shift_right(vi_shift_left(vi_load(x), round % 20), round % 32));
        check_true(&s, "shift", !memcmp(got_int, expected_int, sizeof got_int));
        s.hash = burin_hash_bytes(s.hash, got_int, sizeof got_int);
    }
    suite_end(&s);
}

static void test_lanes(void) {
    Suite s = suite_begin("lanes");
    for (int n = -3; n <= 20; n++) {
        float *x = random_floats(16), *y = buffer_floats(16), expected[16];
        int m = n < 0 ? 0 : n > 16 ? 16 : n;
        float *part = buffer_floats((size_t)m), *tight = random_floats((size_t)m);
        vf_store_n(part, vf_load(x), n);
        check_floats(&s, "store_n", part, x, (size_t)m);
        for (int i = 0; i < 16; i++) expected[i] = i < m ? tight[i] : 0;
        vf_store(y, vf_load_n(tight, n));
        check_floats(&s, "load_n", y, expected, 16);
        float lane[16], sums[4] = {vf_sum(vf_load(x)), vf_product(vf_load(x)),
                                   vf_reduce_max(vf_load(x)), vf_reduce_min(vf_load(x))};
        memcpy(lane, x, sizeof lane);
        float top = lane[0], bottom = lane[0];
        for (int i = 0; i < 16; i++) {
            top = fmaxf(top, lane[i]);
            bottom = fminf(bottom, lane[i]);
        }
        for (int w = 8; w; w /= 2)
            for (int i = 0; i < w; i++) {
                lane[i] += lane[i + w];
                x[i] *= x[i + w];
            }
        check_floats(&s, "tree", sums, (float[]){lane[0], x[0], top, bottom}, 4);
        buffers_end(&s, "lanes");
    }
    suite_end(&s);
}

void test_functions(void) {
    for (int i = 0; i < FUNCTIONS; i++) test_one(&functions[i]);
    test_binary();
    test_integers();
    test_lanes();
}

static bool same_float(float a, float b) { return si_bits(a) == si_bits(b) || (a != a && b != b); }

void test_conversions(void) {
    Suite s = suite_begin("conversions");
    for (int base = 0; base < 65536; base += 16) {
        uint16_t h[16], back[16];
        float f[16];
        for (int i = 0; i < 16; i++) h[i] = (uint16_t)(base + i);
        vf_store(f, vf_load_f16(h));
        vf_store_f16(back, vf_load(f));
        for (int i = 0; i < 16; i++)
            check_true(&s, "f16",
                       same_float(f[i], sf_from_f16(h[i])) && (f[i] != f[i] || back[i] == h[i]));
        hash_floats(&s, f, 16);
        vf_store(f, vf_load_bf16(h));
        vf_store_bf16(back, vf_load(f));
        for (int i = 0; i < 16; i++)
            check_true(&s, "bf16",
                       same_float(f[i], sf_from_bf16(h[i])) && (f[i] != f[i] || back[i] == h[i]));
    }
    for (int round = 0; round < 40000; round++) {
        float f[16], again[16];
        uint16_t h[16];
        for (int i = 0; i < 16; i++)
            f[i] = round % 2 ? sf_bits((int32_t)random_bits()) : ldexpf(random_float(), i - 26);
        vf_store_f16(h, vf_load(f));
        for (int i = 0; i < 16; i++)
            check_true(&s, "to f16", f[i] != f[i] || h[i] == f16_from_float(f[i]));
        vf_store(again, vf_load_f16(h));
        hash_floats(&s, again, 16);
        vf_store_bf16(h, vf_load(f));
        for (int i = 0; i < 16; i++)
            check_true(&s, "to bf16", f[i] != f[i] || h[i] == bf16_from_float(f[i]));
    }
    suite_end(&s);
}

// Distance in units of the last place of the exact result, at least those of the smallest normal
// number
static double ulps(float got, double exact) {
    if (got != got || exact != exact) return (got != got) == (exact != exact) ? 0 : INFINITY;
    if ((double)got == exact || (isinf(got) && fabs(exact) > 0x1.ffffffp127)) return 0;
    int exponent;
    frexp(exact, &exponent);
    return fabs((double)got - exact) / ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
}

static void measure(const Function *f, float to, double promised) {
    double worst = 0;
    float at = 0;
    for (uint64_t bits = 0; bits < 1ull << 32; bits += 16 * 509) {
        float x[16], y[16];
        for (int i = 0; i < 16; i++) x[i] = sf_bits((int32_t)(uint32_t)(bits + (unsigned)i * 509));
        vf_store(y, f->wide(vf_load(x)));
        for (int i = 0; i < 16; i++) {
            if (!(fabsf(x[i]) <= to)) continue;
            double error = ulps(y[i], f->exact(x[i]));
            if (error > worst) {
                worst = error;
                at = x[i];
            }
        }
    }
    printf("accuracy %s: at most %.3f ulp, promised %.1f (worst at %a) %s\n", f->name, worst,
           promised, (double)at, worst <= promised ? "ok" : "differs");
    suites_failed += worst > promised;
}

static void measure_pow(void) {
    double worst = 0;
    for (int i = 0; i < 400000; i++) {
        float a = ldexpf(fabsf(random_float()), i % 40 - 20), b = random_float() * (i % 2 ? 3 : 40);
        double error = ulps(sf_pow(a, b), pow(a, b));
        if (error > worst) worst = error;
    }
    printf("accuracy pow: at most %.3f ulp, promised 0.51 %s\n", worst,
           worst <= 0.51 ? "ok" : "differs");
    suites_failed += worst > 0.51;
}

static void measure_values(void) {
    Suite s = suite_begin("values");
    check_true(&s, "exp(0)", sf_exp(0) == 1 && sf_exp(-0.0f) == 1);
    check_true(&s, "exp(-inf)",
               si_bits(sf_exp(-INFINITY)) == 0 && si_bits(sf_exp(-200)) == 0 &&
                   si_bits(sf_exp(-1e30f)) == 0);
    check_true(&s, "exp(inf)",
               isinf(sf_exp(INFINITY)) && isinf(sf_exp(89)) && isinf(sf_exp(1e30f)) &&
                   !isinf(sf_exp(88.72f)));
    check_true(&s, "log",
               isinf(sf_log(INFINITY)) && sf_log(0) == -INFINITY && isnan(sf_log(-1)) &&
                   si_bits(sf_log(1)) == 0);
    check_true(&s, "tanh",
               sf_tanh(INFINITY) == 1 && sf_tanh(-INFINITY) == -1 && sf_erf(INFINITY) == 1 &&
                   sf_erf(-50) == -1);
    check_true(&s, "nan",
               isnan(sf_exp(NAN)) && isnan(sf_tanh(NAN)) && isnan(sf_erf(NAN)) &&
                   isnan(sf_sin(NAN)) && isnan(sf_log(NAN)));
    check_true(&s, "sin",
               isnan(sf_sin(INFINITY)) && sf_sin(0) == 0 && sf_cos(0) == 1 && isnan(sf_silu(NAN)));
    check_true(&s, "zeros",
               si_bits(sf_tanh(-0.0f)) == INT32_MIN && si_bits(sf_erf(-0.0f)) == INT32_MIN &&
                   si_bits(sf_round(-0.3f)) == INT32_MIN);
    static const float cases[][2] = {{2, 3},
                                     {-2, 3},
                                     {-2, 2},
                                     {-2, 0.5f},
                                     {0, -1},
                                     {-0.0f, -3},
                                     {INFINITY, -1},
                                     {-INFINITY, 3},
                                     {1, NAN},
                                     {NAN, 0},
                                     {0.5f, INFINITY},
                                     {-1, INFINITY},
                                     {-0.5f, -INFINITY},
                                     {9, 0.5f},
                                     {2, 128},
                                     {2, -150}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_true(&s, "pow",
                   same_float(sf_pow(cases[i][0], cases[i][1]), powf(cases[i][0], cases[i][1])));
    suite_end(&s);
}

void test_accuracy(void) {
    for (size_t i = 0; i < sizeof promises / sizeof *promises; i++)
        for (int j = 0; j < FUNCTIONS; j++)
            if (!strcmp(functions[j].name, promises[i].name))
                measure(&functions[j], promises[i].to, promises[i].ulps);
    measure_pow();
    measure_values();
}
