// Products: every format, plain and glu, odd extents, every number of rows to 9, and shares of threads.
#include "reference.h"

typedef struct Output {
    float *y;
    int n, stride;
} Output;

static inline void store_plain(const void *context, vf sum, int row, int column) {
    const Output *o = context;
    vf_store_n(o->y + (size_t)row * (size_t)o->stride + column, sum, o->n - column);
}
static inline void store_glu(const void *context, vf gate, vf up, int row, int column) {
    const Output *o = context;
    vf_store_n(o->y + (size_t)row * (size_t)o->stride + column, vf_mul(vf_silu(gate), up), o->n - column);
}

typedef struct Case {
    weight_format format;
    bool glu;
    int rows, k, n;
    int split;  // units of the first of two threads
    bool streamed;
} Case;

static void multiply(const Case *c, const matmul_args *m, const Output *o) {
    switch (c->format) {
        case WEIGHT_F32:
            c->glu ? matmul_f32_glu(*m, store_glu, o) : matmul_f32(*m, store_plain, o);
            break;
        case WEIGHT_F16:
            c->glu ? matmul_f16_glu(*m, store_glu, o) : matmul_f16(*m, store_plain, o);
            break;
        case WEIGHT_BF16:
            c->glu ? matmul_bf16_glu(*m, store_glu, o) : matmul_bf16(*m, store_plain, o);
            break;
        case WEIGHT_Q8_0:
            c->glu ? matmul_q8_0_glu(*m, store_glu, o) : matmul_q8_0(*m, store_plain, o);
            break;
    }
}

static float rounded(weight_format format, float w) {
    if (format == WEIGHT_F16) return sf_from_f16(f16_from_float(w));
    return format == WEIGHT_BF16 ? sf_from_bf16(bf16_from_float(w)) : w;
}

// [columns][k] to panels; column c of w is column c of the panels
static void *pack_floats(weight_format format, int columns, int k, const float *w) {
    size_t element = format == WEIGHT_F32 ? 4 : 2, panels = (size_t)(columns + 15) / 16;
    unsigned char *packed = buffer_bytes(panels * (size_t)k * 16 * element);
    memset(packed, 0, panels * (size_t)k * 16 * element);
    for (int c = 0; c < columns; c++)
        for (int i = 0; i < k; i++) {
            size_t at = ((size_t)(c / 16) * (size_t)k + (size_t)i) * 16 + (size_t)(c % 16);
            uint16_t half = format == WEIGHT_F16 ? f16_from_float(w[c * k + i]) : bf16_from_float(w[c * k + i]);
            if (format == WEIGHT_F32)
                memcpy(packed + 4 * at, &w[c * k + i], 4);
            else
                memcpy(packed + 2 * at, &half, 2);
        }
    return packed;
}

static q8_panel *random_q8(int columns, int k) {
    size_t n = (size_t)(columns + 15) / 16 * (size_t)blocks_of(k);
    q8_panel *w = buffer_bytes(n * sizeof *w);
    for (size_t i = 0; i < n; i++) {
        for (int c = 0; c < 16; c++) w[i].scale[c] = (uint16_t)(random_bits() % 0x3c00);  // subnormals included
        for (int j = 0; j < 512; j++)
            ((uint8_t *)w[i].q)[j] = (uint8_t)(random_bits() % 5 ? random_bits() >> 8 : 0);  // 0 is -128
    }
    return w;
}

static float reference_q8(const q8_panel *w, const q8_block *x, int k, int column) {
    float sum = 0;
    for (int b = 0; b < blocks_of(k); b++) {
        const q8_panel *panel = w + (size_t)(column / 16) * (size_t)blocks_of(k) + b;
        int32_t block = 0;
        for (int i = 0; i < 32; i++) block += (panel->q[i / 4][column % 16][i % 4] - 128) * x[b].q[i];
        sum = sf_fma((float)block, sf_from_f16(panel->scale[column % 16]) * x[b].scale, sum);
    }
    return sum;
}

// Column of the panels that holds result column c: with glu, panels of gate and up alternate.
static int packed_column(const Case *c, int column, int up) {
    return c->glu ? (column / 16 * 2 + up) * 16 + column % 16 : column;
}

typedef struct Operands {
    float *x, *w;  // w: [columns][k], rounded to the format
    void *packed;
    q8_block *quantized;
    int columns;  // of the panels
} Operands;

static Operands operands(const Case *c) {
    Operands o = {.columns = c->glu ? (c->n + 15) / 16 * 32 : c->n};
    o.x = random_floats((size_t)(c->rows * c->k));
    if (c->format == WEIGHT_Q8_0) {
        o.packed = random_q8(o.columns, c->k);
        o.quantized = buffer_bytes((size_t)(c->rows * blocks_of(c->k)) * sizeof(q8_block));
        for (int r = 0; r < c->rows; r++) quantize_row_q8_0(c->k, o.x + r * c->k, o.quantized + r * blocks_of(c->k));
    } else {
        o.w = random_floats((size_t)(o.columns * c->k));
        for (int i = 0; i < o.columns * c->k; i++) o.w[i] = rounded(c->format, o.w[i]);
        o.packed = pack_floats(c->format, o.columns, c->k, o.w);
    }
    return o;
}

static float expected_sum(const Case *c, const Operands *o, int row, int column) {
    if (c->format == WEIGHT_Q8_0) return reference_q8(o->packed, o->quantized + row * blocks_of(c->k), c->k, column);
    return reference_dot(&(Product){c->rows, c->k, o->columns, o->x, o->w}, row, column);
}

static void test_case(Suite *s, Case c) {
    Operands o = operands(&c);
    int stride = c.n + 3, panels = (c.n + 15) / 16, units = matmul_units(panels, c.rows);
    size_t size = (size_t)(c.rows * stride);
    float *got = buffer_floats(size), *expected = buffer_floats(size);
    bool quantized = c.format == WEIGHT_Q8_0;
    matmul_args m = {.panels = panels, .k = c.k, .x_stride = quantized ? blocks_of(c.k) : c.k, .rows = c.rows, .w = o.packed};
    m.streamed = c.streamed, m.x = quantized ? (const void *)o.quantized : o.x;
    int split = c.split < units ? c.split : units;
    m.first = split, m.last = units;
    multiply(&c, &m, &(Output){got, c.n, stride});
    m.first = 0, m.last = split;
    multiply(&c, &m, &(Output){got, c.n, stride});
    for (int r = 0; r < c.rows; r++)
        for (int n = 0; n < c.n; n++) {
            float gate = expected_sum(&c, &o, r, packed_column(&c, n, 0));
            expected[r * stride + n] = c.glu ? sf_silu(gate) * expected_sum(&c, &o, r, packed_column(&c, n, 1)) : gate;
        }
    char label[96];
    snprintf(label, sizeof label, "%dx%dx%d%s, share %d", c.rows, c.n, c.k,
             c.glu        ? " glu"
             : c.streamed ? " streamed"
                          : "",
             split);
    check_floats(s, label, got, expected, size);
    buffers_end(s, label);
}

static void test_format(weight_format format, const char *name) {
    static const int ks[] = {1, 7, 31, 32, 33, 64, 100, 300}, ns[] = {1, 16, 17, 40, 72, 144, 200};
    Suite s = suite_begin(name);
    for (int rows = 1; rows <= 9; rows++)
        for (int i = 0; i < 14; i++)
            test_case(&s, (Case){format, i % 2 == 1, rows, ks[(i + rows) % 8], ns[i / 2], (i + rows) % 3, false});
    for (int i = 0; i < 14; i++) test_case(&s, (Case){format, i % 2 == 1, 1, ks[i % 8], ns[i / 2], i % 3, true});
    for (int split = 0; split < 60; split += 7)  // 13 blocks of rows, 5 panels in groups of 3 and 2
        test_case(&s, (Case){format, split % 2 == 1, 75, 45, 70, split, false});
    static const int many[] = {12, 13, 18, 20, 54};
    for (int i = 0; i < 5; i++) test_case(&s, (Case){format, i % 2 == 0, many[i], 40, 16 * (i + 5) - 3, 9 * i + 2, false});
    test_case(&s, (Case){format, true, 33, 1100, 40, 1, false});
    test_case(&s, (Case){format, false, 50, 4097, 5, 3, false});  // k in parts
    test_case(&s, (Case){format, true, 7, 4100, 3, 0, false});
    suite_end(&s);
}

void test_matmul(void) {
    test_format(WEIGHT_F32, "matmul_f32");
    test_format(WEIGHT_F16, "matmul_f16");
    test_format(WEIGHT_BF16, "matmul_bf16");
    test_format(WEIGHT_Q8_0, "matmul_q8_0");
}

// The same products added in descending order of k must not give the same bits: the comparison can tell.
void test_mutation(void) {
    Suite s = suite_begin("mutation");
    Case c = {.format = WEIGHT_F32, .rows = 3, .k = 100, .n = 40};
    Operands o = operands(&c);
    float *forward = buffer_floats(120), *backward = buffer_floats(120);
    float *x = buffer_floats(300), *w = buffer_floats(4000);
    for (int i = 0; i < 300; i++) x[i] = o.x[i / 100 * 100 + 99 - i % 100];
    for (int i = 0; i < 4000; i++) w[i] = o.w[i / 100 * 100 + 99 - i % 100];
    matmul_args m = {.panels = 3, .k = 100, .x_stride = 100, .rows = 3, .x = o.x, .w = o.packed, .first = 0, .last = 3};
    multiply(&c, &m, &(Output){forward, 40, 40});
    m.x = x, m.w = pack_floats(WEIGHT_F32, 40, 100, w);
    multiply(&c, &m, &(Output){backward, 40, 40});
    int differ = 0;
    float largest = 0;
    for (int i = 0; i < 120; i++) {
        differ += forward[i] != backward[i];
        largest = fmaxf(largest, fabsf(forward[i] - backward[i]));
    }
    check_true(&s, "the order of k does not show in the bits", differ > 20);
    check_true(&s, "the order of k changes more than the last bits", largest < 1e-4f);
    hash_floats(&s, forward, 120);
    buffers_end(&s, "mutation");
    suite_end(&s);
}
