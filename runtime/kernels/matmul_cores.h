// The inner loops along k: sums of some rows by some panels. A format's cores, tiles of several
// rows, are functions that all its products of a file share: a program has dozens of products, and
// most of their compile time would go into these. One-row sums exist for each product, whose
// literals make them 5 % faster.
#ifndef BURIN_MATMUL_CORES_H
#define BURIN_MATMUL_CORES_H
#include "fault.h"
#include "group_sums.h"
#include "range.h"

// Zeros around x along the two innermost axes of rows and taps, which x does not hold: the
// innermost axis first, in positions along it. x begins `origin` elements after the first tap.
typedef struct matmul_border {
    int size[2], low[2], stride[2], dilation[2];
    ptrdiff_t origin;
} matmul_border;

// Rows of a convolution, as they are in memory: axes from the innermost on, unused ones of extent
// 0. A row is `adjacent` elements for each tap.
typedef struct matmul_windows {
    int rows[4];
    ptrdiff_t row_steps[4];  // elements between neighbours along an axis
    int taps[4];
    ptrdiff_t tap_steps[4];
    int adjacent;
    matmul_border border;
} matmul_windows;

// As many zeros take the place of a tap outside x.
enum { BORDER_ZEROS = 1024 };
__attribute__((unused)) static const float border_zeros[BORDER_ZEROS];

typedef struct matmul_args {
    int panels, k, x_stride;  // literals. panels: of 16 result columns; x_stride: elements (floats,
                              // or q8_blocks) between rows
    bool streamed;            // literal. The weights come from memory, not from a cache
    int rows, x_slots;        // x_slots: literal, entries that share a row of x
    const int32_t
        *entry;  // rows are these entries of products by experts (experts.h); NULL: rows of x
    const void *x, *w;
    const matmul_windows *windows;  // of a convolution: x_stride is unused
    union {
        burin_range units;  // of matmul_units(panels, rows): the share of this thread
        struct {
            int first, last;
        };
    };
} matmul_args;

// Prefetches the next panels, `stride` bytes in each step, while tiles of all rows reuse these.
typedef struct tile_ahead {
    const unsigned char *w;
    size_t stride;
} tile_ahead;

// The position of a tile: rows from `row` (beyond the last they repeat it), panels from `panel`,
// steps [from, to): of one k, or of a block of integers.
typedef struct tile_place {
    int row, panel, from, to;
    bool goes_on;  // with the sums that are there
    tile_ahead ahead;
} tile_place;

// Sums of R rows by P panels into sums[row * PANELS_MOST + panel]. R and P are literals.
typedef void (*matmul_core)(int R, int P, const matmul_args *m, const tile_place *at, vf *sums);
// Sums of one row by panels [panel, panel + P). P is a literal.
typedef void (*matmul_row)(weight_format format, int P, const matmul_args *m, int panel, vf *sums);

enum { ROWS_floats = true, ROWS_integers = false, ROWS_values = true };

// Sums of rows [rows[0], rows[1]) by P panels from `panel`, by tiles of 16 rows: the output has
// room for whole tiles
typedef void (*matmul_tiles)(int P, const matmul_args *m, const int *rows, int panel, vf *sums);

typedef struct matmul_kind {
    weight_format format;
    bool floats;  // rows of floats
    matmul_core core;
    const matmul_args *operands;  // for the core: a copy, so that only it sees the literals
    matmul_tiles tiles;           // of many rows, or NULL
} matmul_kind;

// Where a row of x begins, in elements
INLINE size_t x_row(const matmul_args *m, int row) {
    if (m->entry) row = m->entry[row] / m->x_slots;
    return (size_t)row * (size_t)m->x_stride;
}

// Rows of a panel ahead, into the second level: panels are often a multiple of 4 KB apart, in one
// set of the first.
enum { PREFETCH_STEPS = 32, BLOCKS_AHEAD = 2048 };

// 16 weights of one k. Those of bf16 may come with their columns mixed up, as the target likes;
// matmul_store puts them right.
INLINE vf panel_load(weight_format format, const void *w) {
    if (format == WEIGHT_F32) return vf_load(w);
    return format == WEIGHT_F16 ? vf_load_f16(w) : vf_load_bf16_mixed(w);
}

INLINE size_t panel_bytes(weight_format format, int k) {
    return (size_t)k * LANES * (format == WEIGHT_F32 ? 4 : 2);
}

// One or two steps of k (extent[1]) of one row by extent[0] panels: weights at w[0], to be asked
// for ahead at w[1]
INLINE void gemv_step(weight_format format, const int extent[2], const float *x,
                      const unsigned char *const w[2], size_t panel, vf *sum) {
    const int P = extent[0], steps = extent[1];
    vf a = vf_set1(x[0]), b = vf_set1(x[steps - 1]);
    UNROLL
    for (int p = 0; p < P; p++) {
        const unsigned char *at = w[0] + (size_t)p * panel, *ahead = w[1] + (size_t)p * panel;
        vf pair[2];
        PREFETCH_FAR(ahead);
        if (format == WEIGHT_F32 && steps == 2) PREFETCH_FAR(ahead + 64);
        if (format == WEIGHT_BF16 && steps == 2)
            vf_load_bf16_pair((const uint16_t *)at, pair);
        else
            pair[0] = panel_load(format, at),
            pair[1] = panel_load(format, at + (size_t)(steps - 1) * panel_bytes(format, 1));
        sum[p] = vf_fma(a, pair[0], sum[p]);
        if (steps == 2) sum[p] = vf_fma(b, pair[1], sum[p]);
    }
}

// sums of one row by panels [panel, panel + P), P chains in flight; every line of weights is asked
// for PREFETCH_STEPS ahead, at the end of these panels from the P that follow.
CALLED void floats_row(weight_format format, int P, const matmul_args *m, int panel, vf *sums) {
    vf sum[8];
    UNROLL
    for (int p = 0; p < P; p++) sum[p] = vf_zero();
    size_t row = panel_bytes(format, 1), one = panel_bytes(format, m->k);
    const unsigned char *w = (const unsigned char *)m->w + (size_t)panel * one;
    const float *x = (const float *)m->x + x_row(m, 0);
    NO_UNROLL
    for (int k = 0; k + 2 <= m->k; k += 2) {
        size_t ahead = (PREFETCH_STEPS + (size_t)k) * row,
               wrapped = k + PREFETCH_STEPS < m->k ? 0 : (size_t)(P - 1) * one;
        gemv_step(format, (const int[]){P, 2}, x + k,
                  (const unsigned char *[]){w + (size_t)k * row, w + ahead + wrapped}, one, sum);
    }
    if (m->k % 2) {
        const unsigned char *last = w + (size_t)(m->k - 1) * row;
        gemv_step(format, (const int[]){P, 1}, x + m->k - 1, (const unsigned char *[]){last, last},
                  one, sum);
    }
    UNROLL
    for (int p = 0; p < P; p++) sums[p] = sum[p];
}

// ---- more rows: tiles, whose sums go through memory to the epilogue ----

// The lines to prefetch in `steps` steps from `step` on
INLINE void ask_ahead(const tile_ahead *ahead, int step, int steps) {
    const unsigned char *at = ahead->w + (size_t)step * ahead->stride,
                        *end = at + (size_t)steps * ahead->stride;
    do PREFETCH_FAR(at);
    while ((at += 64) < end);
}

INLINE size_t tile_row(const matmul_args *m, const tile_place *at, int i) {
    return x_row(m, at->row + i < m->rows ? at->row + i : m->rows - 1);
}

INLINE void tile_begin(int R, int P, const tile_place *at, const vf *sums, vf (*sum)[PANELS_MOST]) {
    UNROLL
    for (int i = 0; i < R; i++) {
        UNROLL
        for (int p = 0; p < P; p++) sum[i][p] = at->goes_on ? sums[i * PANELS_MOST + p] : vf_zero();
    }
}

INLINE void tile_end(int R, int P, vf (*sum)[PANELS_MOST], vf *sums) {
    UNROLL
    for (int i = 0; i < R; i++) {
        UNROLL
        for (int p = 0; p < P; p++) sums[i * PANELS_MOST + p] = sum[i][p];
    }
}

// Steps [step, step + steps) of a tile: extent is rows, panels, steps. A row's term of `step` is at
// x[row][term].
INLINE void floats_steps(weight_format format, const int extent[3], const matmul_args *m,
                         const tile_place *at, int step, const float *const *x, int term,
                         vf (*sum)[PANELS_MOST]) {
    const int R = extent[0], P = extent[1];
    const unsigned char *panels =
        (const unsigned char *)m->w + (size_t)at->panel * panel_bytes(format, m->k);
    ask_ahead(&at->ahead, step, extent[2]);
    UNROLL
    for (int j = 0; j < extent[2]; j++) {
        int k = FAULT_K_DESCENDING ? at->from + at->to - 1 - (step + j) : step + j;
        vf w[PANELS_MOST];
        UNROLL
        for (int p = 0; p < P; p++)
            w[p] = panel_load(format, panels + (size_t)p * panel_bytes(format, m->k) +
                                          (size_t)k * panel_bytes(format, 1));
        UNROLL
        for (int i = 0; i < R; i++) {
            vf a = vf_set1(x[i][term - step + k]);
            UNROLL
            for (int p = 0; p < P; p++) sum[i][p] = vf_fma(a, w[p], sum[i][p]);
        }
    }
}

INLINE void floats_tile(weight_format format, int R, int P, const matmul_args *m,
                        const tile_place *at, vf *sums) {
    vf sum[ROWS_MOST][PANELS_MOST];
    const float *x[ROWS_MOST];
    UNROLL
    for (int i = 0; i < R; i++) x[i] = (const float *)m->x + tile_row(m, at, i);
    tile_begin(R, P, at, sums, sum);
    int step = at->from;
    NO_UNROLL
    for (; TILE_STEPS > 1 && step + TILE_STEPS <= at->to; step += TILE_STEPS)
        floats_steps(format, (const int[]){R, P, TILE_STEPS}, m, at, step, x, step, sum);
    NO_UNROLL
    for (; step < at->to; step++)
        floats_steps(format, (const int[]){R, P, 1}, m, at, step, x, step, sum);
    tile_end(R, P, sum, sums);
}

// ---- convolutions: a row is some elements of x for each tap ----

// The offset of an index that counts these axes, the innermost fastest
INLINE ptrdiff_t axes_offset(const int *extent, const ptrdiff_t *steps, int index) {
    ptrdiff_t offset = 0;
    NO_UNROLL
    for (int i = 0; i < 4 && extent[i]; i++) {
        offset += index % extent[i] * steps[i];
        index /= extent[i];
    }
    return offset;
}

// Rows of a tile: where each begins in x, and the positions of its first tap along the axes with a
// border
typedef struct tile_windows {
    ptrdiff_t row[ROWS_MOST];
    int at[ROWS_MOST][2];
} tile_windows;

INLINE void find_rows(bool bordered, int R, const matmul_args *m, int first, tile_windows *t) {
    const matmul_windows *w = m->windows;
    const matmul_border *b = &w->border;
    UNROLL
    for (int i = 0; i < R; i++) {
        int r = first + i < m->rows ? first + i : m->rows - 1;
        t->row[i] = axes_offset(w->rows, w->row_steps, r) - (bordered ? b->origin : 0);
        if (!bordered) continue;
        t->at[i][0] = r % w->rows[0] * b->stride[0] - b->low[0];
        t->at[i][1] = r / w->rows[0] % w->rows[1] * b->stride[1] - b->low[1];
    }
}

// The rows' terms of a tap: in x, or zeros
INLINE void find_tap(bool bordered, int R, const matmul_args *m, const tile_windows *t, int tap,
                     const float **x) {
    const matmul_windows *w = m->windows;
    const matmul_border *b = &w->border;
    const ptrdiff_t offset = axes_offset(w->taps, w->tap_steps, tap);
    int across = 0, down = 0;
    if (bordered)
        across = tap % w->taps[0] * b->dilation[0], down = tap / w->taps[0] * b->dilation[1];
    UNROLL
    for (int i = 0; i < R; i++) {
        bool inside = !bordered || ((unsigned)(t->at[i][0] + across) < (unsigned)b->size[0] &&
                                    (unsigned)(t->at[i][1] + down) < (unsigned)b->size[1]);
        x[i] = inside ? (const float *)m->x + (t->row[i] + offset) : border_zeros;
    }
}

// Terms [at->from, at->to) of a tile: of each tap those that are adjacent
INLINE void convolve_tile(bool bordered, weight_format format, int R, int P, const matmul_args *m,
                          const tile_place *at, vf *sums) {
    const matmul_windows *w = m->windows;
    vf sum[ROWS_MOST][PANELS_MOST];
    const float *x[ROWS_MOST];
    tile_windows t;
    find_rows(bordered, R, m, at->row, &t);
    tile_begin(R, P, at, sums, sum);
    NO_UNROLL
    for (int step = at->from; step < at->to;) {
        const int term = step % w->adjacent, left = w->adjacent - term;
        const int end = left < at->to - step ? step + left : at->to, first = step - term;
        find_tap(bordered, R, m, &t, step / w->adjacent, x);
        NO_UNROLL
        for (; TILE_STEPS > 1 && step + TILE_STEPS <= end; step += TILE_STEPS)
            floats_steps(format, (const int[]){R, P, TILE_STEPS}, m, at, step, x, step - first,
                         sum);
        NO_UNROLL
        for (; step < end; step++)
            floats_steps(format, (const int[]){R, P, 1}, m, at, step, x, step - first, sum);
    }
    tile_end(R, P, sum, sums);
}

INLINE void windows_tile(weight_format format, int R, int P, const matmul_args *m,
                         const tile_place *at, vf *sums) {
    convolve_tile(false, format, R, P, m, at, sums);
}
INLINE void bordered_tile(weight_format format, int R, int P, const matmul_args *m,
                          const tile_place *at, vf *sums) {
    convolve_tile(true, format, R, P, m, at, sums);
}

// The sums of integers, kept in the bits of `sum`
INLINE void add_exactly(weight_format format, const int extent[2], const block_operands *o,
                        unsigned group, vf (*sum)[PANELS_MOST]) {
    vi c[ROWS_MOST][PANELS_MOST];
#if defined(VEC_PAIRS_FIT)
    bool fits = uses_fits(format);
    for (int p = 0; p < extent[1]; p++) fits = fits && *o->fits[p];
    if (fits) {
        add_fitting(extent, o, sum);
        return;
    }
#endif
    UNROLL
    for (int i = 0; i < extent[0]; i++) {
        UNROLL
        for (int p = 0; p < extent[1]; p++) c[i][p] = vi_bits(sum[i][p]);
    }
    group_sums(format, extent, o, group, c);
    UNROLL
    for (int i = 0; i < extent[0]; i++) {
        UNROLL
        for (int p = 0; p < extent[1]; p++) sum[i][p] = vf_bits(c[i][p]);
    }
}

// sum = fma((float)integer sum of a group, (d * scale) * row scale, sum), then with a minimum
// sum = fma(m * minimum, row scale * sum of the row's integers, sum); groups ascending
INLINE void add_group(weight_format format, const int extent[2], const block_operands *o,
                      vf (*ends)[PANELS_MOST], unsigned group, vf (*sum)[PANELS_MOST]) {
    const int R = extent[0], P = extent[1];
    const bool minimum = has_minimum(format);
    vi c[ROWS_MOST][PANELS_MOST];
    group_sums(format, extent, o, group, c);
    UNROLL
    for (int p = 0; p < P; p++) {
        const vf of_block[] = {ends[0][p], minimum ? ends[1][p] : vf_zero()};
        vf scale = group_scale(format, o->w[p], of_block[0], (int)group), least = vf_zero();
        if (minimum) least = group_minimum(format, o->w[p], of_block, (int)group);
        UNROLL
        for (int i = 0; i < R; i++) {
            group_row x = group_of_row(format, (const q8_block *)o->x[i], group);
            sum[i][p] = vf_fma(vf_from_int(c[i][p]), vf_mul(scale, vf_set1(x.scale)), sum[i][p]);
            if (minimum) sum[i][p] = vf_fma(least, vf_set1(x.scale * (float)x.sum), sum[i][p]);
        }
    }
}

INLINE void add_integers(weight_format format, const int extent[2], const block_operands *o,
                         vf (*ends)[PANELS_MOST], vf (*sum)[PANELS_MOST]) {
    const unsigned together = (unsigned)(QUANT_BLOCK / block_formats[format].group),
                   groups = (unsigned)block_groups(format);
    NO_UNROLL
    for (unsigned from = 0; from < groups; from += together) {
        UNROLL
        for (unsigned g = from; g < from + together; g++) {
            if (is_exact(format))
                add_exactly(format, extent, o, g, sum);
            else
                add_group(format, extent, o, ends, g, sum);
        }
    }
}

// sum = fma(x, value, sum) over four k from `k` on, whose group has these scales and minima
INLINE void add_float_step(weight_format format, const int extent[2], const block_operands *o,
                           vf (*ends)[2], int k, vf (*sum)[PANELS_MOST]) {
    const int R = extent[0], P = extent[1];
    vi step[PANELS_MOST];
    UNROLL
    for (int p = 0; p < P; p++) step[p] = block_step(format, o->w[p], (unsigned)k / 4);
    UNROLL
    for (int j = 0; j < 4; j++) {
        UNROLL
        for (int p = 0; p < P; p++) {
            vf w = step_values(format, o->w[p], step[p], j, ends[p]);
            UNROLL
            for (int i = 0; i < R; i++)
                sum[i][p] = vf_fma(vf_set1(((const float *)o->x[i])[k + j]), w, sum[i][p]);
        }
    }
}

// One block, k ascending: the values as floats
INLINE void add_floats(weight_format format, const int extent[2], const block_operands *o,
                       vf (*block_ends)[PANELS_MOST], vf (*sum)[PANELS_MOST]) {
    const int size = block_formats[format].group;
    vf ends[PANELS_MOST][2];
    NO_UNROLL
    for (int g = 0; g < block_groups(format); g++) {
        UNROLL
        for (int p = 0; p < extent[1]; p++) {
            const vf of_block[] = {block_ends[0][p],
                                   has_minimum(format) ? block_ends[1][p] : vf_zero()};
            ends[p][0] = number_scale(format, o->w[p], of_block[0], g);
            ends[p][1] = number_minimum(format, o->w[p], of_block, g);
        }
        NO_UNROLL
        for (int k = g * size; k < (g + 1) * size; k += 4)
            add_float_step(format, extent, o, ends, k, sum);
    }
}

// A tile on its way along k: where its rows and panels are, the block's d and m, the sums
typedef struct block_walk {
    block_operands o;
    vf sum[ROWS_MOST][PANELS_MOST], ends[2][PANELS_MOST];
    size_t step;  // bytes of a row that a block takes
} block_walk;

// extent: rows, panels. `element` bytes of a row hold `each` values.
INLINE void walk_begin(weight_format format, const int extent[2], const matmul_args *m,
                       const tile_place *at, const vf *sums, size_t element, size_t each,
                       block_walk *b) {
    const int R = extent[0], P = extent[1];
    b->step = element * ((size_t)block_formats[format].block / each);
    UNROLL
    for (int i = 0; i < R; i++)
        b->o.x[i] =
            (const uint8_t *)m->x + tile_row(m, at, i) * element + (size_t)at->from * b->step;
    UNROLL
    for (int p = 0; p < P; p++) {
        const uint8_t *panel =
            (const uint8_t *)m->w + (size_t)(at->panel + p) * block_panel_bytes(format, m->k);
        b->o.w[p] = panel + (size_t)at->from * block_bytes(format);
        if (uses_fits(format)) b->o.fits[p] = panel + panel_fits_at(format, m->k) + at->from;
        if (has_panel_d(format)) b->ends[0][p] = panel_d(format, panel, m->k);
    }
    tile_begin(R, P, at, sums, b->sum);
}

INLINE void walk_block(weight_format format, int P, const tile_place *at, int step, block_walk *b) {
    ask_ahead(&at->ahead, step, 1);
    UNROLL
    for (int p = 0; p < P; p++) {
        NEAR_ADDRESS(b->o.w[p]);
        if (!has_panel_d(format)) b->ends[0][p] = block_d(format, b->o.w[p]);
        if (has_minimum(format)) b->ends[1][p] = block_m(format, b->o.w[p]);
    }
}

INLINE void walk_on(weight_format format, const int extent[2], block_walk *b) {
    UNROLL
    for (int p = 0; p < extent[1]; p++) {
        b->o.w[p] += block_bytes(format);
        if (uses_fits(format)) b->o.fits[p]++;
    }
    UNROLL
    for (int i = 0; i < extent[0]; i++) b->o.x[i] += b->step;
}

// The inner loops exist for each family of products: floats (weights and rows), integers (weights
// in blocks, rows of int8), values (weights in blocks, one row of floats, each weight as a float;
// for more rows matmul.h makes them floats). A condition on the family would have clang read all
// three in each product.
INLINE void integers_tile(weight_format format, int R, int P, const matmul_args *m,
                          const tile_place *at, vf *sums) {
    const int extent[] = {R, P};
    block_walk b;
    walk_begin(format, extent, m, at, sums, sizeof(q8_block), QUANT_BLOCK, &b);
    NO_UNROLL
    for (int step = at->from; step < at->to; step++) {
        walk_block(format, P, at, step, &b);
        add_integers(format, extent, &b.o, b.ends, b.sum);
        walk_on(format, extent, &b);
    }
    tile_end(R, P, b.sum, sums);
}

INLINE int steps_of(weight_format format, int k) {
    return in_blocks(format) ? (k + block_formats[format].block - 1) / block_formats[format].block
                             : k;
}
INLINE size_t step_bytes(weight_format format) {
    return in_blocks(format) ? block_bytes(format) : panel_bytes(format, 1);
}

// ---- cores ----

INLINE int tile_rows_of(weight_format format) {
#if defined(VEC_WORDS)
    if (in_blocks(format) && in_words(format)) return WORDS_ROWS;
#endif
    return in_blocks(format) ? INT_ROWS : TILE_ROWS;
}
enum {
    PANELS_floats = TILE_PANELS,
    PANELS_windows = TILE_PANELS,
    PANELS_bordered = TILE_PANELS,
    PANELS_integers = INT_PANELS
};
INLINE int tile_panels_of(weight_format format) {
    return in_blocks(format) ? INT_PANELS : TILE_PANELS;
}

INLINE tile_place block_row(weight_format format, const matmul_args *m, int panel) {
    const uint8_t *w = (const uint8_t *)m->w + (size_t)panel * block_panel_bytes(format, m->k);
    return (tile_place){.panel = panel,
                        .to = steps_of(format, m->k),
                        .ahead = {w + BLOCKS_AHEAD, block_bytes(format)}};
}
CALLED void integers_row(weight_format format, int P, const matmul_args *m, int panel, vf *sums) {
    tile_place at = block_row(format, m, panel);
    integers_tile(format, 1, P, m, &at, sums);
}
INLINE void values_row(weight_format format, int P, const matmul_args *m, int panel, vf *sums) {
    const int extent[] = {1, P};
    const tile_place at = block_row(format, m, panel);
    block_walk b;
    walk_begin(format, extent, m, &at, sums, sizeof(float), 1, &b);
    NO_UNROLL
    for (int step = at.from; step < at.to; step++) {
        walk_block(format, P, &at, step, &b);
        add_floats(format, extent, &b.o, b.ends, b.sum);
        walk_on(format, extent, &b);
    }
    tile_end(1, P, b.sum, sums);
}

#define CORE_FUNCTION __attribute__((noinline, unused)) static void
// Of more panels than tiles have nothing is made.
#define CORE(name, rows, R, P, family, format)                                                \
    CORE_FUNCTION name##_##rows##_##P(const matmul_args *m, const tile_place *at, vf *sums) { \
        if (P <= PANELS_##family) family##_tile(format, R, P, m, at, sums);                   \
    }
#define CORES(name, rows, R, family, format) \
    CORE(name, rows, R, 1, family, format)   \
    CORE(name, rows, R, 2, family, format)   \
    CORE(name, rows, R, 3, family, format)   \
    CORE(name, rows, R, 4, family, format)
#define CALL(name, rows, n) \
    if (P == n) name##_##rows##_##n(m, at, sums);
#define CALLS(name, rows) \
    CALL(name, rows, 1) CALL(name, rows, 2) CALL(name, rows, 3) CALL(name, rows, 4)

#define KIND(name, family, format_)                                                               \
    CORES(name, full, tile_rows_of(format_), family, format_)                                     \
    CORES(name, half, tile_rows_of(format_) / 2, family, format_)                                 \
    CALLED void name##_core(int R, int P, const matmul_args *m, const tile_place *at, vf *sums) { \
        if (R == tile_rows_of(format_)) {                                                         \
            CALLS(name, full)                                                                     \
        } else {                                                                                  \
            CALLS(name, half)                                                                     \
        }                                                                                         \
    }
#endif
