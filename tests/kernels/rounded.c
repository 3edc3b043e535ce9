// Products of --math=fast, whose rows are rounded to bf16: odd extents, every number of rows to 40
// and some more, shares of threads. Their bits are the CPU's own. So the sums are held to a bound:
// with x rounded as kernels/convert.h does, an output is a chain of K products added up in f32,
// each rounding at most 2^-24 of the sum, in any order of pairs; doubled for the higher orders.
// Subnormals may count as zero. Ranges change no bit, and neither do other rows of an expert.
#ifdef ROUNDED_ALONE
#include "check.h"
#include "engine/cpu.h"

enum { EXPERTS = 3 };

typedef struct Case {
    int rows, k, n;
    bool glu, experts;
    int split;  // units of the first of two threads
} Case;

typedef struct Output {
    float *y;
    int n;
} Output;

static void store(const void *context, vf sum, int row, int column) {
    const Output *o = context;
    vf_store_n(o->y + row * o->n + column, sum, o->n - column);
}
// Both sums: those of up after those of gate
static void store_both(const void *context, vf gate, vf up, int row, int column) {
    const Output *o = context;
    vf_store_n(o->y + row * o->n + column, gate, o->n / 2 - column);
    vf_store_n(o->y + row * o->n + o->n / 2 + column, up, o->n / 2 - column);
}

static float random_value(void) {
    float fraction = random_float();
    return random_bits() % 50 ? fraction : random_bits() % 2 ? 0 : ldexpf(fraction, -130);
}

// [panel][k][16], columns beyond n zero
static uint16_t *random_panels(int panels, int k, int n) {
    uint16_t *w = buffer_bytes((size_t)(panels * k * LANES) * sizeof *w);
    for (int i = 0; i < panels * k * LANES; i++)
        w[i] = i / (k * LANES) * LANES + i % LANES < n ? bf16_from_float(random_value()) : 0;
    return w;
}

// Returns true if `sum` is within the bound of a row by a column. Up to ROUNDED_ABOVE rows it is
// the exact chain.
static bool is_within(const float *x, const uint16_t *w, int k, bool rounded, float sum) {
    double exact = 0, sizes = 0;
    float chain = 0;
    for (int i = 0; i < k; i++) {
        float b = sf_from_bf16(w[i * LANES]),
              a = rounded ? sf_from_bf16(bf16_from_float(x[i])) : x[i];
        exact += (double)a * (double)b, sizes += fabs((double)a * (double)b);
        chain = sf_fma(x[i], b, chain);
    }
    return rounded ? fabs((double)sum - exact) <= 2 * 0x1p-24 * (k + 2) * sizes + k * 0x1p-120
                   : sum == chain;
}

// Column of the panels that holds result column c: with glu, panels of gate and up alternate.
static int packed_column(const Case *c, int column) {
    int half = c->glu ? c->n / 2 : c->n, up = column / half;
    return c->glu ? (column % half / LANES * 2 + up) * LANES + column % half % LANES : column;
}

static void multiply(const Case *c, matmul_args m, const experts_args *e, burin_range units,
                     const Output *o) {
    matmul_sink sink = {.context = o};
    m.units = units;
    if (c->glu)
        sink.glu = store_both;
    else
        sink.plain = store;
    if (c->experts)
        expert_matmul(product_bf16, m, e, sink);
    else
        product_bf16(&m, sink);
}

static void test(Suite *s, Case c) {
    const int result = ((c.glu ? c.n / 2 : c.n) + LANES - 1) / LANES, panels = result * (1 + c.glu);
    int32_t index[256], order[256], place[EXPERTS + 1] = {0}, met[EXPERTS] = {0};
    for (int i = 0; i < c.rows; i++)
        index[i] = c.experts ? (int32_t)(random_bits() % 4 / 2) : 0, met[index[i]]++;
    expert_order(EXPERTS, c.rows, index, place, order);
    float *x = buffer_floats((size_t)(c.rows * c.k));
    for (int i = 0; i < c.rows * c.k; i++) x[i] = random_value();
    const uint16_t *w =
        random_panels(panels * (c.experts ? EXPERTS : 1), c.k, c.experts || c.glu ? 1 << 20 : c.n);
    const experts_args e = {EXPERTS, 1,     (size_t)(panels * c.k * LANES) * sizeof *w,
                            c.rows,  index, order};
    const matmul_args m = {
        .panels = result, .k = c.k, .x_stride = c.k, .x_slots = 1, .rows = c.rows, .x = x, .w = w};
    const int units = c.experts ? expert_units(result, c.rows, 1) : matmul_units(result, c.rows);
    const int split = c.split * units / 7;
    Output all = {buffer_floats((size_t)(c.rows * c.n)), c.n},
           parts = {buffer_floats((size_t)(c.rows * c.n)), c.n};
    multiply(&c, m, &e, (burin_range){0, units}, &all);
    multiply(&c, m, &e, (burin_range){0, split}, &parts),
        multiply(&c, m, &e, (burin_range){split, units}, &parts);
    char label[96];
    snprintf(label, sizeof label, "%d rows, %dx%d%s%s, share %d", c.rows, c.n, c.k,
             c.glu ? ", glu" : "", c.experts ? ", experts" : "", c.split);
    bool within = true;
    for (int i = 0; i < c.rows * c.n; i++) {
        const int row = i / c.n, column = packed_column(&c, i % c.n) + index[row] * panels * LANES;
        within &= is_within(x + row * c.k, w + column / LANES * c.k * LANES + column % LANES, c.k,
                            met[index[row]] > ROUNDED_ABOVE, all.y[i]);
    }
    hash_floats(s, all.y, (size_t)(c.rows * c.n));
    check_true(s, label, within && !memcmp(all.y, parts.y, (size_t)(c.rows * c.n) * sizeof *all.y));
    buffers_end(s, label);
}

int main(void) {
    static const int ks[] = {1, 2, 31, 32, 33, 64, 97, 100, 255, 257, 512, 545, 1024, 1025, 1601},
                     ns[] = {16, 1, 40, 64, 72, 130, 31}, rows[] = {64, 127, 129, 150, 200};
#ifdef ASK_FOR_TILES
    if (!burin_cpu_x86_64_v4_amx_bf16()) return 2;
#endif
    Suite s = suite_begin("matmul_rounded");
    for (int i = 1; i <= 40; i++) test(&s, (Case){i, ks[i % 15], ns[i % 7], false, false, i % 7});
    for (int i = 0; i < 15; i++)
        test(&s, (Case){rows[i % 5], ks[i], ns[i % 7], false, false, i % 7});
    for (int i = 0; i < 10; i++)
        test(&s, (Case){rows[i % 5] - 50, ks[i + 5], 2 * ns[i % 7], true, false, i % 7});
    for (int i = 0; i < 10; i++)
        test(&s, (Case){rows[i % 5], ks[i + 4], 32 * (1 + i % 3), i % 2 == 1, true, i % 7});
    suite_end(&s);
    return suites_failed != 0;
}
#endif
