// Matrix products over packed weights. Each output is one chain of fma over ascending k; the caller's epilogue stores it.
//
//   matmul_f32, matmul_f16, matmul_bf16   x: f32 rows; weights in panels [n/16][k][16]
//   matmul_q8_0, _q4_k ...                x: q8_block rows; weights in panels of blocks (blocks.h): exact sums of integers
//   matmul_q8_0_floats, matmul_nf4_64 ... x: f32 rows; each weight as the float that it stands for
//   ..._glu                               panels of gate and up alternate; the epilogue gets both sums
//
// All fields of matmul_args that are extents are literals at the call; the epilogue is a static inline function.
#ifndef BURIN_MATMUL_H
#define BURIN_MATMUL_H
#include "fault.h"
#include "group_sums.h"

typedef struct matmul_args {
    int panels, k, x_stride;  // literals. panels: of 16 result columns; x_stride: elements (floats, or q8_blocks) between rows
    bool streamed;            // literal. The weights come from memory, not from a cache
    bool floats;              // literal. Rows of floats, although the weights are in blocks
    int rows, x_slots;        // x_slots: literal, entries that share a row of x
    const int32_t *entry;     // rows are these entries of products by experts (experts.h); NULL: rows of x
    const void *x, *w;
    int first, last;  // of matmul_units(panels, rows): the share of this thread
} matmul_args;

// Column is a multiple of 16; lanes beyond the last column hold the sums of the padding (0) and must not be stored.
typedef void (*matmul_epilogue)(const void *context, vf sum, int row, int column);
typedef void (*glu_epilogue)(const void *context, vf gate, vf up, int row, int column);

// Rows of results without an epilogue
typedef struct result_rows {
    float *y;
    int stride, columns;  // literals
} result_rows;

static inline void store_rows(const void *context, vf sum, int row, int column) {
    const result_rows *to = context;
    float *y = to->y + (size_t)row * (size_t)to->stride + column;
    if (to->columns % LANES)
        vf_store_n(y, sum, to->columns - column);
    else
        vf_store(y, sum);
}

typedef struct matmul_sink {
    matmul_epilogue plain;
    glu_epilogue glu;
    const void *context;
    const int32_t *entry;  // NULL, or what the results' rows are
} matmul_sink;

// Where a row of x begins, in elements
INLINE size_t x_row(const matmul_args *m, int row) {
    if (m->entry) row = m->entry[row] / m->x_slots;
    return (size_t)row * (size_t)m->x_stride;
}

// Rows of a panel ahead, into the second level: panels often lie a multiple of 4 KB apart, in one set of the first.
enum { PREFETCH_STEPS = 32, BLOCKS_AHEAD = 2048 };

// 16 weights of one k. Those of bf16 may come with their columns mixed up, as the target likes; matmul_store puts them right.
INLINE vf panel_load(weight_format format, const void *w) {
    if (format == WEIGHT_F32) return vf_load(w);
    return format == WEIGHT_F16 ? vf_load_f16(w) : vf_load_bf16_mixed(w);
}

INLINE size_t panel_bytes(weight_format format, int k) { return (size_t)k * LANES * (format == WEIGHT_F32 ? 4 : 2); }

// Sums of `panels` panels of one row, from memory: so the epilogue is there once, not for each number of panels.
INLINE void matmul_store(weight_format format, matmul_sink sink, int panels, const vf *sums, int row, int panel) {
    bool mixed = format == WEIGHT_BF16;
    if (sink.entry) row = sink.entry[row];
    NO_UNROLL
    for (int p = 0; p < panels; p += sink.glu ? 2 : 1) {
        vf sum = mixed ? vf_unmix(sums[p]) : sums[p];
        if (sink.glu)
            sink.glu(sink.context, sum, mixed ? vf_unmix(sums[p + 1]) : sums[p + 1], row, (panel + p) / 2 * LANES);
        else
            sink.plain(sink.context, sum, row, (panel + p) * LANES);
    }
}

// One or two steps of k (extent[1]) of one row by extent[0] panels: weights at w[0], to be asked for ahead at w[1]
INLINE void gemv_step(weight_format format, const int extent[2], const float *x, const unsigned char *const w[2], size_t panel,
                      vf *sum) {
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
            pair[0] = panel_load(format, at), pair[1] = panel_load(format, at + (size_t)(steps - 1) * panel_bytes(format, 1));
        sum[p] = vf_fma(a, pair[0], sum[p]);
        if (steps == 2) sum[p] = vf_fma(b, pair[1], sum[p]);
    }
}

// sums of one row by panels [panel, panel + P), P chains in flight; every line of weights is asked for PREFETCH_STEPS ahead, at
// the end of these panels from the P that follow.
INLINE void gemv_panels(weight_format format, int P, const matmul_args *m, int panel, vf *sums) {
    vf sum[8];
    UNROLL
    for (int p = 0; p < P; p++) sum[p] = vf_zero();
    size_t row = panel_bytes(format, 1), one = panel_bytes(format, m->k);
    const unsigned char *w = (const unsigned char *)m->w + (size_t)panel * one;
    const float *x = (const float *)m->x + x_row(m, 0);
    NO_UNROLL
    for (int k = 0; k + 2 <= m->k; k += 2) {
        size_t ahead = (PREFETCH_STEPS + (size_t)k) * row, wrapped = k + PREFETCH_STEPS < m->k ? 0 : (size_t)(P - 1) * one;
        gemv_step(format, (const int[]){P, 2}, x + k, (const unsigned char *[]){w + (size_t)k * row, w + ahead + wrapped}, one,
                  sum);
    }
    if (m->k % 2) {
        const unsigned char *last = w + (size_t)(m->k - 1) * row;
        gemv_step(format, (const int[]){P, 1}, x + m->k - 1, (const unsigned char *[]){last, last}, one, sum);
    }
    UNROLL
    for (int p = 0; p < P; p++) sums[p] = sum[p];
}

// How many of the panels that are left go together: few different numbers, since each is an instance of its own, and no panel
// alone. Even where `left` is.
INLINE int gemv_width(int left) {
    int P = left == GEMV_PANELS || left >= GEMV_PANELS + 2 ? GEMV_PANELS : left == 5 ? 3 : left > 4 ? 4 : left;
    return P < GEMV_PANELS ? P : GEMV_PANELS;
}

INLINE void gemv(weight_format format, const matmul_args *m, matmul_sink sink, int panel, int end) {
    vf sums[8];
    for (int P; panel < end; panel += P) {
        P = gemv_width(end - panel);
#define WIDTH(n)                                                      \
    case n:                                                           \
        if (n <= GEMV_PANELS) gemv_panels(format, n, m, panel, sums); \
        break;
        switch (P) { WIDTH(1) WIDTH(2) WIDTH(3) WIDTH(4) WIDTH(8) }
#undef WIDTH
        matmul_store(format, sink, P, sums, 0, panel);
    }
}

// ---- more rows: tiles, whose sums go through memory to the epilogue ----

// Weights to come, `stride` bytes of them to be asked for in each step: while tiles of all rows go over some panels, the next
// panels come nearer.
typedef struct tile_ahead {
    const unsigned char *w;
    size_t stride;
} tile_ahead;

INLINE void ask_ahead(const tile_ahead *ahead, int step) {
    const unsigned char *at = ahead->w + (size_t)step * ahead->stride, *end = at + ahead->stride;
    do PREFETCH_FAR(at);
    while ((at += 64) < end);
}

// Where a tile stands: rows from `row` (beyond the last they repeat it), panels from `panel`, steps [from, to): of one k, or of
// a block of integers. Beyond step 0 it goes on with the sums that are there.
typedef struct tile_place {
    int row, panel, from, to;
    tile_ahead ahead;
} tile_place;

INLINE size_t tile_row(const matmul_args *m, const tile_place *at, int i) {
    return x_row(m, at->row + i < m->rows ? at->row + i : m->rows - 1);
}

INLINE void tile_begin(int R, int P, const tile_place *at, const vf *sums, vf (*sum)[PANELS_MOST]) {
    UNROLL
    for (int i = 0; i < R; i++) {
        UNROLL
        for (int p = 0; p < P; p++) sum[i][p] = at->from ? sums[i * PANELS_MOST + p] : vf_zero();
    }
}

INLINE void tile_end(int R, int P, vf (*sum)[PANELS_MOST], vf *sums) {
    UNROLL
    for (int i = 0; i < R; i++) {
        UNROLL
        for (int p = 0; p < P; p++) sums[i * PANELS_MOST + p] = sum[i][p];
    }
}

INLINE void float_tile(weight_format format, int R, int P, const matmul_args *m, const tile_place *at, vf *sums) {
    vf sum[ROWS_MOST][PANELS_MOST];
    const float *x[ROWS_MOST];
    UNROLL
    for (int i = 0; i < R; i++) x[i] = (const float *)m->x + tile_row(m, at, i);
    tile_begin(R, P, at, sums, sum);
    const unsigned char *panels = (const unsigned char *)m->w + (size_t)at->panel * panel_bytes(format, m->k);
    NO_UNROLL
    for (int step = at->from; step < at->to; step++) {
        int k = FAULT_K_DESCENDING ? at->from + at->to - 1 - step : step;
        vf w[PANELS_MOST];
        ask_ahead(&at->ahead, k);
        UNROLL
        for (int p = 0; p < P; p++)
            w[p] = panel_load(format, panels + (size_t)p * panel_bytes(format, m->k) + (size_t)k * panel_bytes(format, 1));
        UNROLL
        for (int i = 0; i < R; i++) {
            vf a = vf_set1(x[i][k]);
            UNROLL
            for (int p = 0; p < P; p++) sum[i][p] = vf_fma(a, w[p], sum[i][p]);
        }
    }
    tile_end(R, P, sum, sums);
}

// sum = fma((float)integer sum of a group, (d * scale) * row scale, sum), then with a minimum
// sum = fma(m * minimum, row scale * sum of the row's integers, sum); groups ascending
INLINE void add_group(weight_format format, const int extent[2], const block_operands *o, vf (*ends)[PANELS_MOST],
                      unsigned group, vf (*sum)[PANELS_MOST]) {
    const int R = extent[0], P = extent[1];
    const bool minimum = has_minimum(format);
    vi c[ROWS_MOST][PANELS_MOST];
    group_sums(format, extent, o, group, c);
    UNROLL
    for (int p = 0; p < P; p++) {
        vf scale = group_scale(format, o->w[p], ends[0][p], (int)group), least = vf_zero();
        if (minimum) least = group_minimum(format, o->w[p], ends[1][p], (int)group);
        UNROLL
        for (int i = 0; i < R; i++) {
            group_row x = group_of_row(format, (const q8_block *)o->x[i], group);
            sum[i][p] = vf_fma(vf_from_int(c[i][p]), vf_mul(scale, vf_set1(x.scale)), sum[i][p]);
            if (minimum) sum[i][p] = vf_fma(least, vf_set1(x.scale * (float)x.sum), sum[i][p]);
        }
    }
}

INLINE void add_integers(weight_format format, const int extent[2], const block_operands *o, vf (*ends)[PANELS_MOST],
                         vf (*sum)[PANELS_MOST]) {
    const unsigned together = (unsigned)(QUANT_BLOCK / block_formats[format].group), groups = (unsigned)block_groups(format);
    NO_UNROLL
    for (unsigned from = 0; from < groups; from += together) {
        UNROLL
        for (unsigned g = from; g < from + together; g++) add_group(format, extent, o, ends, g, sum);
    }
}

// sum = fma(x, value, sum) over four k from `k` on, whose group has these scales and minima
INLINE void add_float_step(weight_format format, const int extent[2], const block_operands *o, vf (*ends)[2], int k,
                           vf (*sum)[PANELS_MOST]) {
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
            for (int i = 0; i < R; i++) sum[i][p] = vf_fma(vf_set1(((const float *)o->x[i])[k + j]), w, sum[i][p]);
        }
    }
}

// One block, k ascending: the values as floats
INLINE void add_floats(weight_format format, const int extent[2], const block_operands *o, vf (*block_ends)[PANELS_MOST],
                       vf (*sum)[PANELS_MOST]) {
    const int size = block_formats[format].group;
    vf ends[PANELS_MOST][2];
    NO_UNROLL
    for (int g = 0; g < block_groups(format); g++) {
        UNROLL
        for (int p = 0; p < extent[1]; p++) {
            ends[p][0] = number_scale(format, o->w[p], block_ends[0][p], g);
            ends[p][1] = number_minimum(format, o->w[p], block_ends[1][p], g);
        }
        NO_UNROLL
        for (int k = g * size; k < (g + 1) * size; k += 4) add_float_step(format, extent, o, ends, k, sum);
    }
}

INLINE bool takes_floats(weight_format format, const matmul_args *m) {
    return in_blocks(format) && (m->floats || stands_for_floats(format));
}

INLINE void block_tile(weight_format format, const int extent[2], const matmul_args *m, const tile_place *at, vf *sums) {
    const int R = extent[0], P = extent[1], size = block_formats[format].block;
    const bool floats = takes_floats(format, m);
    const size_t bytes = block_bytes(format), element = floats ? sizeof(float) : sizeof(q8_block);
    const size_t step = element * (size_t)(floats ? size : size / QUANT_BLOCK);
    vf sum[ROWS_MOST][PANELS_MOST], ends[2][PANELS_MOST];
    block_operands o = {.evenly = !m->entry && at->row + R <= m->rows};
    UNROLL
    for (int i = 0; i < R; i++) o.x[i] = (const uint8_t *)m->x + tile_row(m, at, i) * element + (size_t)at->from * step;
    UNROLL
    for (int p = 0; p < P; p++)
        o.w[p] = (const uint8_t *)m->w + (size_t)(at->panel + p) * block_panel_bytes(format, m->k) + (size_t)at->from * bytes;
    tile_begin(R, P, at, sums, sum);
    NO_UNROLL
    for (int b = at->from; b < at->to; b++) {
        ask_ahead(&at->ahead, b);
        UNROLL
        for (int p = 0; p < P; p++) {
            ends[0][p] = block_d(format, o.w[p]);
            if (has_minimum(format)) ends[1][p] = block_m(format, o.w[p]);
        }
        if (floats)
            add_floats(format, extent, &o, ends, sum);
        else
            add_integers(format, extent, &o, ends, sum);
        UNROLL
        for (int p = 0; p < P; p++) o.w[p] += bytes;
        UNROLL
        for (int i = 0; i < R; i++) o.x[i] += step;
    }
    tile_end(R, P, sum, sums);
}

INLINE void matmul_tile(weight_format format, int R, int P, const matmul_args *m, const tile_place *at, vf *sums) {
    if (in_blocks(format))
        block_tile(format, (const int[]){R, P}, m, at, sums);
    else
        float_tile(format, R, P, m, at, sums);
}

INLINE int steps_of(weight_format format, int k) {
    return in_blocks(format) ? (k + block_formats[format].block - 1) / block_formats[format].block : k;
}
INLINE size_t step_bytes(weight_format format) { return in_blocks(format) ? block_bytes(format) : panel_bytes(format, 1); }

INLINE void block_gemv_panels(weight_format format, int P, const matmul_args *m, int panel, vf *sum) {
    const uint8_t *w = (const uint8_t *)m->w + (size_t)panel * block_panel_bytes(format, m->k);
    tile_place at = {0, panel, 0, steps_of(format, m->k), {w + BLOCKS_AHEAD, block_bytes(format)}};
    block_tile(format, (const int[]){1, P}, m, &at, sum);
}

// Values as floats are slower to make than memory gives them: several panels, so that several chains of fma go at once
INLINE void block_gemv_floats(weight_format format, const matmul_args *m, matmul_sink sink, int panel, int end) {
    vf sums[PANELS_MOST];
    for (int P; panel < end; panel += P) {
        P = end - panel >= 4 ? 4 : end - panel >= 2 ? 2 : 1;
        if (P == 4)
            block_gemv_panels(format, 4, m, panel, sums);
        else if (P == 2)
            block_gemv_panels(format, 2, m, panel, sums);
        else
            block_gemv_panels(format, 1, m, panel, sums);
        matmul_store(format, sink, P, sums, 0, panel);
    }
}

// One row, a panel after the other: the weights are read in the order in which they lie in memory, which hands out one stream
// far faster than several.
INLINE void gemv_streamed(weight_format format, const matmul_args *m, matmul_sink sink, int panel, int end) {
    const int P = sink.glu ? 2 : 1;
    for (; panel < end; panel += P) {
        vf sums[2];
        NO_UNROLL
        for (int p = 0; p < P; p++) {
            if (in_blocks(format))
                block_gemv_panels(format, 1, m, panel + p, sums + p);
            else
                gemv_panels(format, 1, m, panel + p, sums + p);
        }
        matmul_store(format, sink, P, sums, 0, panel);
    }
}

// Rows [row, end) by some panels from `panel`: what a thread computes at a time
typedef struct matmul_area {
    int row, end, panel;
} matmul_area;

// Tiles of R rows (half or a quarter as many where no more are left) by W panels, P at once, over steps [at.from, at.to) of
// rows [at.row, end); sums of 16 columns: [row][PANELS_MOST]
INLINE void area_tiles(weight_format format, const int tile[3], const matmul_args *m, const matmul_area *a, tile_place at,
                       int end, vf *sums) {
    const int R = tile[0], P = tile[1], W = tile[2], steps = steps_of(format, m->k);
    size_t bytes = (size_t)W * step_bytes(format), runs = (size_t)((a->end - a->row + R - 1) / R * (W / P));
    const unsigned char *next = (const unsigned char *)m->w + (size_t)(a->panel + W) * (size_t)steps * step_bytes(format);
    at.ahead.stride = (bytes + runs - 1) / runs;
    for (; at.row < end; at.row += R, sums += R * PANELS_MOST) {
        NO_UNROLL
        for (int p = 0; p < W; p += P) {
            size_t run = (size_t)((at.row - a->row) / R * (W / P) + p / P);
            at.panel = a->panel + p;
            at.ahead.w = next + run * (size_t)steps * at.ahead.stride;
            if (end - at.row > R / 2)
                matmul_tile(format, R, P, m, &at, sums + p);
            else if (R < 16 || end - at.row > R / 4)
                matmul_tile(format, R / 2, P, m, &at, sums + p);
            else
                matmul_tile(format, R / 4, P, m, &at, sums + p);
        }
    }
}

// Where k is long, some tiles of rows go over a part of it before the next part, so that the weights stay in the second level.
enum { DEEP = 1024, DEEP_TILES = 8, DEEP_ROWS = 48, MOST_TILE_ROWS = INT_ROWS > TILE_ROWS ? INT_ROWS : TILE_ROWS };
enum { AREA_ROWS = DEEP_TILES * MOST_TILE_ROWS < DEEP_ROWS ? DEEP_TILES * MOST_TILE_ROWS : DEEP_ROWS };

INLINE void area_panels(weight_format format, int W, const matmul_args *m, matmul_sink sink, const matmul_area *a) {
    bool integers = in_blocks(format), deep = m->k >= 4 * DEEP;
    const int R = integers ? INT_ROWS : TILE_ROWS, most = integers ? INT_PANELS : TILE_PANELS, P = W < most ? W : most;
    const int steps = steps_of(format, m->k), part = deep ? steps_of(format, DEEP) : steps;
    const int tiles = DEEP_TILES * R < DEEP_ROWS ? DEEP_TILES : DEEP_ROWS / R, rows = deep ? tiles * R : R;
    vf sums[AREA_ROWS * PANELS_MOST];
    for (int row = a->row; row < a->end; row += rows) {
        int end = row + rows < a->end ? row + rows : a->end;
        for (int from = 0; from < steps; from += part) {
            tile_place at = {.row = row, .from = from, .to = from + part < steps ? from + part : steps};
            area_tiles(format, (const int[]){R, P, W}, m, a, at, end, sums);
        }
        NO_UNROLL
        for (int i = row; i < end; i++) matmul_store(format, sink, W, sums + (i - row) * PANELS_MOST, i, a->panel);
    }
}

// Result panels are taken in even groups of at most GROUP.
enum { GROUP = 4 };
INLINE int groups_of(int panels) { return (panels + GROUP - 1) / GROUP; }

// Does an even group of all panels leave `rest` after tiles of W? Known when compiled: no other tiles are made.
INLINE bool leaves(const matmul_args *m, int W, int rest) {
    int groups = groups_of(m->panels), narrow = groups ? m->panels / groups : 0;
    return narrow % W == rest || (m->panels % (groups ? groups : 1) && (narrow + 1) % W == rest);
}

// `panels` result panels from a.panel
INLINE void area_group(weight_format format, const matmul_args *m, matmul_sink sink, matmul_area a, int panels) {
    int most = in_blocks(format) ? INT_PANELS : TILE_PANELS, step = sink.glu ? 2 : 1, W = most < step ? step : most;
    int left = panels * step;
    for (; left >= W; left -= W, a.panel += W) area_panels(format, W, m, sink, &a);
    if (W == 4 && step == 1 && left >= 2 && leaves(m, 4, left)) {
        if (left == 3)
            area_panels(format, 3, m, sink, &a);
        else
            area_panels(format, 2, m, sink, &a);
        return;
    }
    for (; left > 0; left -= step, a.panel += step) area_panels(format, step, m, sink, &a);
}

// ---- shares ----

// Units of work of one product, for sharing among threads. One row, or few: panels. More: panels times blocks of rows, group of
// panels by group, so that every thread gets an equal part in tiles that are not narrow. The same for all formats.
enum { BLOCK_ROWS = 6, FEW_ROWS = 2 * BLOCK_ROWS };
// In a program for several ranks shares are panels of all rows, whatever the rows: those of a rank lie together.
#ifdef BURIN_MPI
enum { SHARED_BY_PANELS = 1 };
#else
enum { SHARED_BY_PANELS = 0 };
#endif
INLINE int row_blocks(int rows) { return rows <= FEW_ROWS || SHARED_BY_PANELS ? 1 : (rows + BLOCK_ROWS - 1) / BLOCK_ROWS; }
INLINE int matmul_units(int panels, int rows) { return rows > 0 ? panels * row_blocks(rows) : 0; }

// How many blocks, each `width` units from `start`, begin before `unit`
INLINE int blocks_before(int unit, int start, int width, int blocks) {
    int n = unit > start ? (unit - start + width - 1) / width : 0;
    return n < blocks ? n : blocks;
}

INLINE void matmul_many(weight_format format, const matmul_args *m, matmul_sink sink) {
    int blocks = m->entry ? 1 : row_blocks(m->rows), panel = blocks > 1 ? 0 : m->first, end = blocks > 1 ? m->panels : m->last;
    for (int groups = groups_of(end - panel); groups > 0; groups--) {
        int width = (end - panel + groups - 1) / groups, start = panel * blocks;
        int row = BLOCK_ROWS * blocks_before(m->first, start, width, blocks);
        int rows = blocks > 1 ? BLOCK_ROWS * blocks_before(m->last, start, width, blocks) : m->rows;
        matmul_area a = {row, rows < m->rows ? rows : m->rows, sink.glu ? 2 * panel : panel};
        if (a.row < a.end) area_group(format, m, sink, a, width);
        panel += width;
    }
}

INLINE void matmul_several(weight_format format, const matmul_args *m, matmul_sink sink) {
#if defined(VEC_TILES)
    if (in_blocks(format) && !takes_floats(format, m)) {
        vi_tiles_begin((int)group_steps(format));
        matmul_many(format, m, sink);
        vi_tiles_end();
        return;
    }
#endif
    matmul_many(format, m, sink);
}

INLINE void matmul(weight_format format, const matmul_args *m, matmul_sink sink) {
    int step = sink.glu ? 2 : 1;
    if (m->rows > 1)
        matmul_several(format, m, sink);
    else if (takes_floats(format, m))
        block_gemv_floats(format, m, sink, m->first * step, m->last * step);
    else if (in_blocks(format) || m->streamed)
        gemv_streamed(format, m, sink, m->first * step, m->last * step);
    else
        gemv(format, m, sink, m->first * step, m->last * step);
}

#define MATMUL(name, format)                                                                  \
    INLINE void matmul_##name(matmul_args m, matmul_epilogue store, const void *context) {    \
        matmul(format, &m, (matmul_sink){store, NULL, context, NULL});                        \
    }                                                                                         \
    INLINE void matmul_##name##_glu(matmul_args m, glu_epilogue store, const void *context) { \
        matmul(format, &m, (matmul_sink){NULL, store, context, NULL});                        \
    }
MATMUL(f32, WEIGHT_F32)
MATMUL(f16, WEIGHT_F16)
MATMUL(bf16, WEIGHT_BF16)
#define FORMAT(name, ...) MATMUL(name, WEIGHT_##name)
#include "format_rows.h"
#undef FORMAT
#undef MATMUL
#endif
