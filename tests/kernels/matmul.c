// Products: every format, plain and glu, odd extents, every number of rows to 9, and shares of
// threads.
#include "engine/cpu.h"
#include "reference.h"

// The formats that are instantiated: each takes seconds to compile. slow-kernels.sh takes them all.
// INTEGERS_ALONE: a program of the products by weights in blocks, for instruction sets that differ
// in those whose rows are int8; WITHOUT_FLOATS: of these alone.
#ifdef ALL_FORMATS
#define TESTED_FORMATS "kernels/format_rows.h"
#else
#define TESTED_FORMATS "some_formats.def"
#endif

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
    vf_store_n(o->y + (size_t)row * (size_t)o->stride + column, vf_mul(vf_silu(gate), up),
               o->n - column);
}

typedef struct Case {
    weight_format format;
    bool glu;
    int rows, k, n;
    int split;  // units of the first of two threads
    bool streamed, floats;
} Case;

// Each product once, plain and glu, as a function of its own: instances, or all in one function,
// take clang far longer.
#define PRODUCT(name)                                                                          \
    __attribute__((noinline)) static void run_##name(const matmul_args *m, matmul_sink sink) { \
        product_##name(m, sink);                                                               \
    }
#ifndef INTEGERS_ALONE
PRODUCT(f32)
PRODUCT(f16)
PRODUCT(bf16)
#endif
#ifdef WITHOUT_FLOATS
#define FORMAT(name, ...) PRODUCT(name)
#define run_of(c, name)   run_##name
#else
#define FORMAT(name, ...) PRODUCT(name) PRODUCT(name##_floats)
#define run_of(c, name)   (c)->floats ? run_##name##_floats : run_##name
#endif
#include TESTED_FORMATS
#undef FORMAT

typedef void (*Multiply)(const matmul_args *m, matmul_sink sink);

static Multiply product_of(const Case *c) {
    switch (c->format) {
#ifndef INTEGERS_ALONE
        case WEIGHT_F32:
            return run_f32;
        case WEIGHT_F16:
            return run_f16;
        case WEIGHT_BF16:
            return run_bf16;
#endif
#define FORMAT(name, ...) \
    case WEIGHT_##name:   \
        return run_of(c, name);
#include TESTED_FORMATS
#undef FORMAT
        default:
            abort();
    }
}

static matmul_sink sink_of(const Case *c, const Output *o) {
    return c->glu ? (matmul_sink){.glu = store_glu, .context = o}
                  : (matmul_sink){.plain = store_plain, .context = o};
}

static void multiply(const Case *c, const matmul_args *m, const Output *o) {
    product_of(c)(m, sink_of(c, o));
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
            uint16_t half =
                format == WEIGHT_F16 ? f16_from_float(w[c * k + i]) : bf16_from_float(w[c * k + i]);
            if (format == WEIGHT_F32)
                memcpy(packed + 4 * at, &w[c * k + i], 4);
            else
                memcpy(packed + 2 * at, &half, 2);
        }
    return packed;
}

// ---- weights in blocks: the layout of blocks.h read byte by byte ----

// A finite f16 that is not large: subnormals, zeros and both signs are among them.
static void random_halves(uint8_t *at, int n) {
    for (int i = 0; i < n; i++) {
        uint16_t half = (uint16_t)(random_bits() % 0x3400 | (random_bits() & 1) << 15);
        memcpy(at + 2 * i, &half, sizeof half);
    }
}

static bool has_float_scale(weight_format f) {
    return block_formats[f].scales == SCALES_FLOAT || block_formats[f].scales == SCALES_127TH;
}

// Exact products: padding adds nothing, and after the blocks come the sums of columns, those of
// blocks that fit, and flags of those.
static int reference_integer(weight_format f, const uint8_t *block, int column, int k);
static bool block_fits(weight_format f, const uint8_t *block) {
    for (int i = 0; i < 16 * 32; i += 2)
        if (abs(reference_integer(f, block, i / 32, i % 32)) +
                abs(reference_integer(f, block, i / 32, i % 32 + 1)) >
            128)
            return false;
    return true;
}

static void end_panel(weight_format f, int k, uint8_t *panel) {
    int32_t sums[2][16] = {{0}};
    for (int i = 0; i < (k + 31) / 32; i++) {
        uint8_t *block = panel + (size_t)i * block_bytes(f);
        for (int c = 0; c < 16; c++) {
            int zero = has_zero_point(f) ? (int8_t)block[block_minima_at(f) + (size_t)c] : 0;
            for (int j = k - 32 * i; j < 32; j++)
                if (j >= 0) block[j / 4 * 64 + c * 4 + j % 4] = (uint8_t)(128 + zero);
        }
        bool fits = has_fits(f) && block_fits(f, block);
        for (int j = 0; j < 16 * 32; j++)
            for (int n = 0; n < 1 + fits; n++)
                sums[n][j / 32] += reference_integer(f, block, j / 32, j % 32);
        if (has_fits(f)) panel[panel_fits_at(f, k) + (size_t)i] = fits;
    }
    memcpy(panel + panel_blocks_bytes(f, k), sums, has_fits(f) ? sizeof sums : sizeof *sums);
}

static void end_panels(weight_format f, int columns, int k, uint8_t *w) {
    for (; columns > 0; columns -= 16, w += block_panel_bytes(f, k)) end_panel(f, k, w);
}

// Integers that make their block fit
static void make_blocks_fit(size_t n, uint8_t *w) {
    for (size_t i = 0; i < n; i++) w[i] = (uint8_t)(w[i] / 2 + 64);
}

static uint8_t *random_blocks(weight_format f, int columns, int k) {
    size_t n = (size_t)(columns + 15) / 16 *
               (size_t)((k + block_formats[f].block - 1) / block_formats[f].block),
           size = block_bytes(f);
    bool exponent = block_formats[f].scales == SCALES_EXPONENT, whole = has_float_scale(f);
    const int floats = has_float_minimum(f) ? 32 : 16;
    size_t bytes = (size_t)(columns + 15) / 16 * block_panel_bytes(f, k);
    uint8_t *w = buffer_bytes(bytes);
    for (size_t i = 0; i < bytes; i++) w[i] = (uint8_t)(random_bits() % 9 ? random_bits() >> 8 : 0);
    if (is_exact(f) && random_bits() % 3 == 0) memset(w, 255, bytes);  // sums that f32 rounds
    for (size_t i = 0; has_fits(f) && i < bytes / 512; i++)
        if (random_bits() % 2) make_blocks_fit(512, w + i * 512);
    if (is_exact(f)) end_panels(f, columns, k, w);
    for (uint8_t *block = w; !is_exact(f) && block < w + n * size; block += size) {
        uint8_t *d = block + block_d_at(f);
        for (int c = 0; exponent && c < 16; c++)
            d[c] = (uint8_t)(random_bits() % 4 ? 110 + random_bits() % 20 : random_bits() % 3);
        for (int c = 0; whole && c < floats; c++) {
            float end = random_float();
            memcpy(d + 4 * c, &end, sizeof end);
        }
        if (!exponent && !whole && !has_panel_d(f)) random_halves(d, (int)(block + size - d) / 2);
    }
    for (uint8_t *panel = w; has_panel_d(f) && panel < w + bytes; panel += block_panel_bytes(f, k))
        for (int c = 0; c < 16; c++) {
            float fraction = random_float();
            float d = ldexpf(fraction, (int)(random_bits() % 40) - 20);
            d = d == 0 ? 1 : d;
            memcpy(panel + panel_blocks_bytes(f, k) + 4 * c, &d, sizeof d);
        }
    return w;
}

static int bits_at(const uint8_t *plane, int bits, int column, int k) {
    int together = 8 / bits, step = k / 4;
    return plane[step / together * 64 + column * 4 + k % 4] >> step % together * bits &
           ((1 << bits) - 1);
}

static int reference_integer(weight_format f, const uint8_t *block, int column, int k) {
    static const int iq4[] = {-127, -104, -83, -65, -49, -35, -22, -10,
                              1,    13,   25,  38,  53,  69,  89,  113};
    static const int e2m1[] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
    const block_format b = block_formats[f];
    int q;
    if (b.low == 5) {
        unsigned byte = block[k / 20 * 64 + column * 4 + k % 4];
        for (int n = k / 4 % 5; n > 0; n--) byte = byte * 3 & 255;
        q = (int)(byte * 3 >> 8);
    } else {
        q = bits_at(block, b.low, column, k);
    }
    if (b.high) q |= bits_at(block + block_high_at(f), b.high, column, k) << b.low;
    if (stands_for_floats(f)) return q;
    if (has_zero_point(f)) q -= (int8_t)block[block_minima_at(f) + (size_t)column];
    if (b.table == TABLE_SIGN) return q ? 1 : -1;
    if (b.table != TABLE_PLAIN) return (b.table == TABLE_IQ4 ? iq4 : e2m1)[q];
    return q - b.offset;
}

static int reference_scale(weight_format f, const uint8_t *block, int column, int g) {
    const uint8_t *s = block + block_scales_at(f) + column;
    switch (block_formats[f].scales) {
        case SCALES_BYTES:
            return s[g * 16];
        case SCALES_SIGNED:
            return (int8_t)s[g * 16];
        case SCALES_PAIRED:
            return s[g * 16] & 15;
        case SCALES_SIX:
            return (((s[g % 8 * 16] >> g / 8 * 4) & 15) | ((s[(8 + g % 4) * 16] >> g / 4 * 2) & 3)
                                                              << 4) -
                   32;
        default:
            return 1;
    }
}

static int reference_minimum(weight_format f, const uint8_t *block, int column, int g) {
    if (block_formats[f].minimum == MINIMUM_BYTES)
        return block[block_minima_at(f) + (size_t)(g * 16 + column)];
    return block_formats[f].minimum == MINIMUM_PAIRED
               ? block[block_scales_at(f) + (size_t)(g * 16 + column)] >> 4
               : 1;
}

static float half_at(const uint8_t *at) {
    uint16_t bits;
    memcpy(&bits, at, sizeof bits);
    return sf_from_f16(bits);
}

// d times the group's scale, m times its minimum, or the offset of the integers
typedef struct GroupEnds {
    float scale, minimum, fraction;
} GroupEnds;

typedef struct BlockProduct {
    weight_format format;
    const uint8_t *w;
    const q8_block *x;    // of the row
    const float *floats;  // or these
    int k;
    float d;  // of the panel's column, where it has one
} BlockProduct;

// A code of e4m3, including those that are NaN elsewhere
static float e4m3_of(int code) {
    int exponent = code >> 3 & 15;
    float value = ldexpf((float)((code & 7) + (exponent ? 8 : 0)), (exponent ? exponent : 1) - 10);
    return code & 128 ? -value : value;
}

static GroupEnds reference_ends(const BlockProduct *p, const uint8_t *block, int column, int g) {
    const weight_format f = p->format;
    if (has_panel_d(f)) {
        float u = e4m3_of(block[block_scales_at(f) + (size_t)(g * 16 + column)]);
        return (GroupEnds){block_formats[f].scales == SCALES_E4M3 ? p->d * u : u / p->d, 0, 0};
    }
    const uint8_t *d = block + block_d_at(f);
    bool exponent = block_formats[f].scales == SCALES_EXPONENT;
    float scale = is_exact(f) ? 1 : exponent ? ldexpf(1, d[column] - 128) : half_at(d + 2 * column);
    if (has_float_scale(f)) memcpy(&scale, d + 4 * column, sizeof scale);
    if (block_formats[f].scales == SCALES_127TH) return (GroupEnds){scale * one_127th, 0, 0};
    GroupEnds e = {scale * (float)reference_scale(f, block, column, g), 0, 0};
    if (has_float_minimum(f)) {
        bool fraction = block_formats[f].minimum == MINIMUM_FRACTION;
        memcpy(fraction ? &e.fraction : &e.minimum, block + block_bytes(f) - 64 + 4 * column, 4);
        if (fraction) e.minimum = -(e.scale * e.fraction);
    } else if (has_minimum(f))
        e.minimum = half_at(block + block_bytes(f) - 32 + 2 * column) *
                    (float)reference_minimum(f, block, column, g);
    return e;
}

static float reference_value(const BlockProduct *p, const uint8_t *block, int column, int i) {
    const block_format b = block_formats[p->format];
    int q = reference_integer(p->format, block, column, i);
    GroupEnds e = reference_ends(p, block, column, i / b.group);
    float number = b.table == TABLE_NF4    ? nf4_table[q]
                   : b.table == TABLE_FP4  ? fp4_table[q]
                   : b.table == TABLE_E4M3 ? e4m3_of(q)
                                           : (float)q,
          d;
    if (b.scales == SCALES_127TH) {
        memcpy(&d, block + block_d_at(p->format) + 4 * column, sizeof d);
        return d * number * one_127th;
    }
    if (b.minimum == MINIMUM_FRACTION) return e.scale * (number - e.fraction);
    return has_minimum(p->format) ? e.scale * number + e.minimum : e.scale * number;
}

static float reference_group(const BlockProduct *p, const uint8_t *block, int column, int k,
                             float sum) {
    const block_format b = block_formats[p->format];
    int first = k % b.block, integer = 0, row = 0;
    GroupEnds e = reference_ends(p, block, column, first / b.group);
    const q8_block *x = p->x ? p->x + k / 32 : NULL;
    for (int i = 0; i < b.group && k + i < p->k; i++) {
        int q = reference_integer(p->format, block, column, first + i);
        if (p->x) {
            integer += q * x->q[(k + i) % 32];
            row += x->q[(k + i) % 32];
        } else
            sum = sf_fma(p->floats[k + i], reference_value(p, block, column, first + i), sum);
    }
    if (!p->x) return sum;
    sum = sf_fma((float)integer, e.scale * x->scale, sum);
    return !has_minimum(p->format) ? sum : sf_fma(e.minimum, x->scale * (float)row, sum);
}

static float reference_exact(const BlockProduct *p, const uint8_t *panel, int column) {
    int64_t sum = 0;
    for (int k = 0; k < p->k; k++)
        sum += (int64_t)reference_integer(
                   p->format, panel + (size_t)(k / 32) * block_bytes(p->format), column, k % 32) *
               (int64_t)p->floats[k];
    return (float)sum;
}

static float reference_blocks(const BlockProduct *p, int column) {
    const block_format b = block_formats[p->format];
    const uint8_t *panel = p->w + (size_t)(column / 16) * block_panel_bytes(p->format, p->k);
    if (is_exact(p->format)) return reference_exact(p, panel, column % 16);
    BlockProduct of = *p;
    float sum = 0;
    if (has_panel_d(p->format))
        memcpy(&of.d, panel + panel_blocks_bytes(p->format, p->k) + 4 * (column % 16), sizeof of.d);
    for (int k = 0; k < p->k; k += b.group)
        sum = reference_group(&of, panel + (size_t)(k / b.block) * block_bytes(p->format),
                              column % 16, k, sum);
    return sum;
}

// Column of the panels that holds result column c: with glu, panels of gate and up alternate.
static int packed_column(const Case *c, int column, int up) {
    return c->glu ? (column / 16 * 2 + up) * 16 + column % 16 : column;
}

// Rows of 127 and of -127, blocks of the least and of the largest integers: whatever adds in 16
// bits would overflow here first
static void make_extreme(const Case *c, float *x, uint8_t *w, int columns) {
    const size_t size = block_bytes(c->format), planes = block_scales_at(c->format),
                 panel = block_panel_bytes(c->format, c->k);
    const size_t blocks = panel_blocks_bytes(c->format, c->k) / size,
                 n = (size_t)(columns + 15) / 16 * blocks;
    const float ends[] = {is_exact(c->format) ? -128 : 1, is_exact(c->format) ? 127 : -1};
    for (int i = 0; i < c->rows * c->k; i++) x[i] = ends[i / c->k % 2];
    for (size_t i = 0; i < n; i++) {
        uint8_t *block = w + i / blocks * panel + i % blocks * size;
        memset(block, i % 2 ? 255 : 0, planes);
        if (!has_fits(c->format) || i % 4 < 2)
            continue;  // the largest that fit: -128 and 0, or 64 and 64
        for (size_t j = 0; j < planes; j++) block[j] = i % 4 == 3 ? 192 : (uint8_t)(j % 2 * 128);
    }
    if (is_exact(c->format)) end_panels(c->format, columns, c->k, w);
}

static bool extreme;

typedef struct Operands {
    float *x, *w;  // w: [columns][k], rounded to the format
    void *packed;
    q8_block *quantized;
    int columns;  // of the panels
} Operands;

// Bytes less a zero point of their type
static void random_integers(int k, float *x) {
    int zero = (int)(random_bits() % 256), same = random_bits() % 3 == 0;
    for (int i = 0; i < k; i++)
        x[i] = (float)((same ? 255 : (int)(random_bits() >> 8 & 255)) - zero);
}

static Operands operands(const Case *c) {
    Operands o = {.columns = c->glu ? (c->n + 15) / 16 * 32 : c->n};
    o.x = random_floats((size_t)(c->rows * c->k));
    if (in_blocks(c->format)) {
        o.packed = random_blocks(c->format, o.columns, c->k);
        if (extreme) make_extreme(c, o.x, o.packed, o.columns);
        o.quantized = buffer_bytes((size_t)(c->rows * blocks_of(c->k)) * sizeof(q8_block));
        for (int r = 0; r < c->rows; r++) {
            float *x = o.x + r * c->k;
            q8_block *to = o.quantized + r * blocks_of(c->k);
            if (is_exact(c->format) && !extreme) random_integers(c->k, x);
            if (is_exact(c->format))
                quantize_row_integers(c->k, x, to);
            else
                quantize_row_q8_0(c->k, x, to);
        }
    } else {
        o.w = random_floats((size_t)(o.columns * c->k));
        for (int i = 0; i < o.columns * c->k; i++) o.w[i] = rounded(c->format, o.w[i]);
        o.packed = pack_floats(c->format, o.columns, c->k, o.w);
    }
    return o;
}

static float expected_sum(const Case *c, const Operands *o, int row, int column) {
    const q8_block *x =
        c->floats || is_exact(c->format) ? NULL : o->quantized + row * blocks_of(c->k);
    if (in_blocks(c->format))
        return reference_blocks(
            &(BlockProduct){c->format, o->packed, x, o->x + row * c->k, c->k, 0}, column);
    return reference_dot(&(Product){c->rows, c->k, o->columns, o->x, o->w}, row, column);
}

static void test_case(Suite *s, Case c) {
    Operands o = operands(&c);
    int stride = c.n + 3, panels = (c.n + 15) / 16, units = matmul_units(panels, c.rows);
    size_t size = (size_t)(c.rows * stride);
    float *got = buffer_floats(size), *expected = buffer_floats(size);
    bool quantized = in_blocks(c.format) && !c.floats;
    matmul_args m = {.panels = panels,
                     .k = c.k,
                     .x_stride = quantized ? blocks_of(c.k) : c.k,
                     .rows = c.rows,
                     .w = o.packed};
    m.streamed = c.streamed;
    m.x = quantized ? (const void *)o.quantized : o.x;
    int split = c.split < units ? c.split : units;
    m.first = split;
    m.last = units;
    multiply(&c, &m, &(Output){got, c.n, stride});
    m.first = 0;
    m.last = split;
    multiply(&c, &m, &(Output){got, c.n, stride});
    for (int r = 0; r < c.rows; r++)
        for (int n = 0; n < c.n; n++) {
            float gate = expected_sum(&c, &o, r, packed_column(&c, n, 0));
            expected[r * stride + n] =
                c.glu ? sf_silu(gate) * expected_sum(&c, &o, r, packed_column(&c, n, 1)) : gate;
        }
    char label[96];
    snprintf(label, sizeof label, "%dx%dx%d%s, share %d", c.rows, c.n, c.k,
             c.glu        ? " glu"
             : c.streamed ? " streamed"
             : c.floats   ? " floats"
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
            test_case(&s, (Case){format, i % 2 == 1, rows, ks[(i + rows) % 8], ns[i / 2],
                                 (i + rows) % 3, false, false});
    for (int i = 0; i < 14; i++)
        test_case(&s, (Case){format, i % 2 == 1, 1, ks[i % 8], ns[i / 2], i % 3, true, false});
    for (int split = 0; split < 60; split += 7)  // 13 blocks of rows, 5 panels in groups of 3 and 2
        test_case(&s, (Case){format, split % 2 == 1, 75, 45, 70, split, false, false});
    static const int many[] = {12, 13, 18, 20, 54};
    for (int i = 0; i < 5; i++)
        test_case(
            &s, (Case){format, i % 2 == 0, many[i], 40, 16 * (i + 5) - 3, 9 * i + 2, false, false});
    test_case(&s, (Case){format, true, 33, 1100, 40, 1, false, false});
    test_case(&s, (Case){format, false, 50, 4097, 5, 3, false, false});  // k in parts
    test_case(&s, (Case){format, true, 7, 4100, 3, 0, false, false});
    if (is_exact(format))
        test_case(&s, (Case){format, false, 3, 65601, 5, 0, false, false});  // sums near 2^31
    suite_end(&s);
}

// Whole blocks: one row, tiles of every size, and k in parts
static void test_blocks(weight_format format, bool floats, const char *name) {
    static const int rows[] = {1, 2, 3, 5, 8, 9}, ns[] = {16, 17, 40, 72, 100, 136};
    const int block = block_formats[format].block;
    Suite s = suite_begin(name);
    for (int i = 0; i < 24; i++) {
        int n = ns[(i + i / 6) % 6], k = block * (1 + i % 3);
        test_case(&s, (Case){format, i % 4 == 1, rows[i % 6], k, n, i % 3, i % 5 == 0, floats});
    }
    const int parts =
        floats && is_exact(format) ? 32 : 4096;  // k in parts, unless floats would round the sums
    test_case(&s, (Case){format, false, 50, parts, 5, 3, false, floats});
    test_case(&s, (Case){format, true, 75, 2 * block, 70, 21, false, floats});
    test_case(&s, (Case){format, false, 137, 3 * block, 40, 1, false,
                         floats});  // more than share unpacked weights
    extreme = true;
    static const int extreme_rows[] = {1, 2, 3, 49};
    for (int i = 0; i < 4; i++)
        test_case(&s,
                  (Case){format, false, extreme_rows[i], block * (i + 1), 40, 0, false, floats});
    extreme = false;
    suite_end(&s);
}

// ---- products by experts ----

enum { EXPERTS = 5, MOST_ENTRIES = 120 };

// Indices beyond the ends are kept inside; one expert has no rows.
static void random_index(int entries, int32_t *index, int32_t *order) {
    int32_t place[EXPERTS + 1] = {0};
    for (int i = 0; i < entries; i++) index[i] = (int32_t)(random_bits() % (EXPERTS + 2)) - 1;
    for (int i = 0; i < entries; i++) index[i] = index[i] == 2 ? 3 : index[i];
    expert_order(EXPERTS, entries, index, place, order);
}

// c.n columns of each expert, c.rows rows that meet `slots` experts each; shared: a row of x for
// all of its slots
static void test_experts(Suite *s, Case c, int slots, bool shared) {
    int panels = (c.n + 15) / 16, entries = c.rows * slots, of_one = panels * 16, stride = c.n + 3;
    Case all = c;
    all.n = EXPERTS * of_one;
    all.rows = shared ? c.rows : entries;
    Operands o = operands(&all);
    int32_t index[MOST_ENTRIES], order[MOST_ENTRIES];
    random_index(entries, index, order);
    bool integers = in_blocks(c.format);
    size_t panel = integers ? block_panel_bytes(c.format, c.k) : panel_bytes(c.format, c.k),
           size = (size_t)(entries * stride);
    experts_args e = {EXPERTS, slots, panel * (size_t)(panels * (1 + c.glu)),
                      entries, index, order};
    matmul_args m = {.panels = panels,
                     .k = c.k,
                     .x_stride = integers ? blocks_of(c.k) : c.k,
                     .rows = entries,
                     .w = o.packed};
    m.streamed = c.streamed;
    m.x_slots = shared ? slots : 1;
    m.x = integers ? (const void *)o.quantized : o.x;
    float *got = buffer_floats(size), *expected = buffer_floats(size);
    int units = expert_units(panels, entries, slots), split = c.split < units ? c.split : units;
    for (int part = 0; part < 2; part++) {
        m.first = part ? 0 : split;
        m.last = part ? split : units;
        expert_matmul(product_of(&c), m, &e, sink_of(&c, &(Output){got, c.n, stride}));
    }
    for (int i = 0; i < entries; i++)
        for (int n = 0; n < c.n; n++) {
            int first = expert_kept(index[i], EXPERTS) * of_one * (1 + c.glu), row = i / m.x_slots;
            float gate = expected_sum(&all, &o, row, first + packed_column(&c, n, 0));
            expected[i * stride + n] =
                c.glu ? sf_silu(gate) * expected_sum(&all, &o, row, first + packed_column(&c, n, 1))
                      : gate;
        }
    char label[96];
    snprintf(label, sizeof label, "%d rows of %d, %dx%d, share %d", c.rows, slots, c.n, c.k, split);
    check_floats(s, label, got, expected, size);
    buffers_end(s, label);
}

static void test_expert_format(weight_format format, const char *name) {
    static const int rows[] = {1, 2, 3, 9, 40}, ns[] = {1, 16, 40, 72};
    Suite s = suite_begin(name);
    for (int i = 0; i < 30; i++) {
        Case c = {format,      i % 3 == 1,
                  rows[i % 5], 32 * (1 + i % 4) - (format == WEIGHT_q8_0 ? 0 : i % 2),
                  ns[i % 4],   i % 7,
                  i % 2 == 0,  false};
        test_experts(&s, c, 1 + i % 3, i % 4 < 2);
    }
    suite_end(&s);
}

void test_matmul(void) {
    test_expert_format(WEIGHT_q8_0, "expert_matmul_q8_0");
    test_format(WEIGHT_q8_0, "matmul_q8_0");
    test_format(WEIGHT_i8_32, "matmul_i8_32");
    test_format(WEIGHT_i9_32, "matmul_i9_32");
#ifndef INTEGERS_ALONE
    test_expert_format(WEIGHT_F32, "expert_matmul_f32");
    test_expert_format(WEIGHT_BF16, "expert_matmul_bf16");
    test_format(WEIGHT_F32, "matmul_f32");
    test_format(WEIGHT_F16, "matmul_f16");
    test_format(WEIGHT_BF16, "matmul_bf16");
#endif
#ifdef WITHOUT_FLOATS
#define FORMAT(name, ...) test_blocks(WEIGHT_##name, false, "matmul_blocks_" #name);
#else
#define FORMAT(name, ...)                                          \
    if (!stands_for_floats(WEIGHT_##name))                         \
        test_blocks(WEIGHT_##name, false, "matmul_blocks_" #name); \
    test_blocks(WEIGHT_##name, true, "matmul_floats_" #name);
#endif
#include TESTED_FORMATS
#undef FORMAT
}

#ifdef INTEGERS_ALONE
int main(void) {
#ifdef ASK_FOR_TILES
    if (!burin_cpu_x86_64_v4_amx()) return 2;
#endif
    test_matmul();
    return suites_failed != 0;
}
#else
// The same products added in descending order of k must not give the same bits: the comparison can
// tell.
void test_mutation(void) {
    Suite s = suite_begin("mutation");
    Case c = {.format = WEIGHT_F32, .rows = 3, .k = 100, .n = 40};
    Operands o = operands(&c);
    float *forward = buffer_floats(120), *backward = buffer_floats(120);
    float *x = buffer_floats(300), *w = buffer_floats(4000);
    for (int i = 0; i < 300; i++) x[i] = o.x[i / 100 * 100 + 99 - i % 100];
    for (int i = 0; i < 4000; i++) w[i] = o.w[i / 100 * 100 + 99 - i % 100];
    matmul_args m = {.panels = 3,
                     .k = 100,
                     .x_stride = 100,
                     .rows = 3,
                     .x = o.x,
                     .w = o.packed,
                     .first = 0,
                     .last = 3};
    multiply(&c, &m, &(Output){forward, 40, 40});
    m.x = x;
    m.w = pack_floats(WEIGHT_F32, 40, 100, w);
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
#endif
