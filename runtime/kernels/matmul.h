// Matrix products over packed weights. Each output is one chain of fma over ascending k; the
// caller's epilogue stores it.
//
//   matmul_f32, _f16, _bf16      x: f32 rows; weights in panels [n/16][k][16]
//   matmul_q8_0, _q4_k ...       x: q8_block rows; weights in panels of blocks (blocks.h): exact
//                                sums of integers
//   matmul_i8_32, _i9_32         x: q8_block rows of integers (quantize_row_integers): the exact
//                                sum, rounded once
//   matmul_q8_0_floats ...       x: f32 rows; each weight as a float
//   convolve_f32, _f16, _bf16    x: windows of a tensor, as they are in memory (matmul_windows)
//   convolve_bordered_f32 ...    the windows reach beyond x, into zeros (matmul_border)
//   ..._glu                      panels of gate and up alternate; the epilogue gets both sums
//
// All fields of matmul_args that are extents are literals at the call; the epilogue is a static
// inline function.
#ifndef BURIN_MATMUL_H
#define BURIN_MATMUL_H
#include "matmul_cores.h"
#include "matmul_tiles.h"
#if defined(VEC_BF16)
#include "matmul_rounded.h"
#endif

// Column is a multiple of 16; lanes beyond the last column hold the sums of the padding (0) and
// must not be stored.
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
    const int32_t *entry;  // NULL, or the results' rows
} matmul_sink;

// The sum of a row by a panel for the epilogue: for integers without the part of the row's zero
// point, or of the kernel's
INLINE vf finished_sum(matmul_kind kind, vf sum, int row, int panel) {
    if (kind.format == WEIGHT_BF16) return vf_unmix(sum);
    if (!is_exact(kind.format) || kind.floats) return sum;
    const matmul_args *m = kind.operands;
    const q8_block *x = (const q8_block *)m->x + x_row(m, row);
    const uint8_t *w = (const uint8_t *)m->w + (size_t)panel * block_panel_bytes(kind.format, m->k);
    vi columns =
        vi_load((const int32_t *)(const void *)(w + panel_blocks_bytes(kind.format, m->k)));
    vi exact = vi_sub(vi_bits(sum), vi_mul(columns, vi_set1((int)x->scale)));
#if defined(VEC_PAIRS_FIT)
    if (uses_fits(kind.format)) {
        vi fitting =
            vi_load((const int32_t *)(const void *)(w + panel_fit_sums_at(kind.format, m->k)));
        exact = vi_sub(exact, vi_mul(fitting, vi_set1(FIT_BIAS)));
    }
#endif
    return vf_from_int(exact);
}

// Sums of `panels` panels of one row, from memory: so the epilogue is there once, not for each
// number of panels.
INLINE void matmul_store(matmul_kind kind, matmul_sink sink, int panels, const vf *sums, int row,
                         int panel) {
    const int to = sink.entry ? sink.entry[row] : row;
    NO_UNROLL
    for (int p = 0; p < panels; p += sink.glu ? 2 : 1) {
        vf sum = finished_sum(kind, sums[p], row, panel + p);
        if (sink.glu)
            sink.glu(sink.context, sum, finished_sum(kind, sums[p + 1], row, panel + p + 1), to,
                     (panel + p) / 2 * LANES);
        else
            sink.plain(sink.context, sum, to, (panel + p) * LANES);
    }
}

// ---- one row ----

// How many of the panels that are left go together: few different numbers, since each is an
// instance of its own, and no panel alone. Even where `left` is.
INLINE int gemv_width(int left) {
    int P = left == GEMV_PANELS || left >= GEMV_PANELS + 2 ? GEMV_PANELS
            : left == 5                                    ? 3
            : left > 4                                     ? 4
                                                           : left;
    return P < GEMV_PANELS ? P : GEMV_PANELS;
}

INLINE void gemv(matmul_kind kind, const matmul_args *m, matmul_sink sink, int panel, int end) {
    vf sums[8];
    for (int P; panel < end; panel += P) {
        P = gemv_width(end - panel);
#define WIDTH(n)                                                          \
    case n:                                                               \
        if (n <= GEMV_PANELS) floats_row(kind.format, n, m, panel, sums); \
        break;
        switch (P) { WIDTH(1) WIDTH(2) WIDTH(3) WIDTH(4) WIDTH(8) }
#undef WIDTH
        matmul_store(kind, sink, P, sums, 0, panel);
    }
}

// Values as floats are slower to make than memory gives them: several panels, so that several
// chains of fma go at once
INLINE void block_gemv_floats(matmul_kind kind, const matmul_args *m, matmul_sink sink, int panel,
                              int end) {
    vf sums[PANELS_MOST];
    for (int P; panel < end; panel += P) {
        P = end - panel >= 4 ? 4 : end - panel >= 2 ? 2 : 1;
        if (P == 4)
            values_row(kind.format, 4, m, panel, sums);
        else if (P == 2)
            values_row(kind.format, 2, m, panel, sums);
        else
            values_row(kind.format, 1, m, panel, sums);
        matmul_store(kind, sink, P, sums, 0, panel);
    }
}

// One row, a panel after the other: the weights are read in memory order, since memory delivers one
// stream far faster than several.
INLINE void gemv_streamed(matmul_kind kind, matmul_row alone, const matmul_args *m,
                          matmul_sink sink, int panel, int end) {
    const int P = sink.glu ? 2 : 1;
    for (; panel < end; panel += P) {
        vf sums[2];
        NO_UNROLL
        for (int p = 0; p < P; p++) alone(kind.format, 1, m, panel + p, sums + p);
        matmul_store(kind, sink, P, sums, 0, panel);
    }
}

// Rows [row, end) by some panels from `panel`: a thread's unit of work
typedef struct matmul_area {
    int row, end, panel;
} matmul_area;

// Tiles of R rows (half as many where no more are left) by W panels, P at once, over steps
// [at.from, at.to) of rows [at.row, end); sums of 16 columns: [row][PANELS_MOST]
INLINE void area_tiles(matmul_kind kind, const int tile[3], const matmul_args *m,
                       const matmul_area *a, tile_place at, int end, vf *sums) {
    const int R = tile[0], P = tile[1], W = tile[2], steps = steps_of(kind.format, m->k);
    size_t bytes = (size_t)W * step_bytes(kind.format),
           runs = (size_t)((a->end - a->row + R - 1) / R * (W / P));
    const unsigned char *next = (const unsigned char *)m->w +
                                (size_t)(a->panel + W) * (size_t)steps * step_bytes(kind.format);
    at.ahead.stride = (bytes + runs - 1) / runs;
    for (; at.row < end; at.row += R, sums += R * PANELS_MOST) {
        NO_UNROLL
        for (int p = 0; p < W; p += P) {
            size_t run = (size_t)((at.row - a->row) / R * (W / P) + p / P);
            at.panel = a->panel + p;
            at.ahead.w = next + run * (size_t)steps * at.ahead.stride;
            if (end - at.row > R / 2)
                kind.core(R, P, kind.operands, &at, sums + p);
            else
                kind.core(R / 2, P, kind.operands, &at, sums + p);
        }
    }
}

// Where k is long, some tiles of rows go over a part of it before the next part, so that the
// weights stay in the second level.
enum {
    DEEP = 1024,
    DEEP_TILES = 8,
    DEEP_ROWS = 48,
    MOST_TILE_ROWS = INT_ROWS > TILE_ROWS ? INT_ROWS : TILE_ROWS
};
enum {
    AREA_ROWS = DEEP_TILES * MOST_TILE_ROWS < DEEP_ROWS ? DEEP_TILES * MOST_TILE_ROWS : DEEP_ROWS
};

INLINE void area_panels(matmul_kind kind, int W, const matmul_args *m, matmul_sink sink,
                        const matmul_area *a) {
    const bool deep = m->k >= 4 * DEEP;
    const int R = tile_rows_of(kind.format), most = tile_panels_of(kind.format),
              P = W < most ? W : most;
    const int steps = steps_of(kind.format, m->k),
              part = deep ? steps_of(kind.format, DEEP) : steps;
    const int tiles = DEEP_TILES * R < DEEP_ROWS ? DEEP_TILES : DEEP_ROWS / R,
              rows = deep ? tiles * R : R;
    vf sums[AREA_ROWS * PANELS_MOST];
    for (int row = a->row; row < a->end; row += rows) {
        int end = row + rows < a->end ? row + rows : a->end;
        for (int from = 0; from < steps; from += part) {
            tile_place at = {.row = row,
                             .from = from,
                             .to = from + part < steps ? from + part : steps,
                             .goes_on = from > 0};
            area_tiles(kind, (const int[]){R, P, W}, m, a, at, end, sums);
        }
        NO_UNROLL
        for (int i = row; i < end; i++)
            matmul_store(kind, sink, W, sums + (i - row) * PANELS_MOST, i, a->panel);
    }
}

// ---- values: weights in blocks become floats, some k of the panels at a time, which all rows of
// an area read ----

enum { VALUES_AT_ONCE = 128 };  // k of one panel, 8 KB

// Floats [k][16] of one group of a panel's block
INLINE void group_values(weight_format format, const uint8_t *block, vf d, int group, float *out) {
    const int size = block_formats[format].group;
    const vf of_block[] = {d, has_minimum(format) ? block_m(format, block) : vf_zero()};
    const vf ends[] = {number_scale(format, block, d, group),
                       number_minimum(format, block, of_block, group)};
    NO_UNROLL
    for (int k = 0; k < size; k += 4) {
        vi step = block_step(format, block, (unsigned)(group * size + k) / 4);
        UNROLL
        for (int j = 0; j < 4; j++)
            vf_store(out + (k + j) * LANES, step_values(format, block, step, j, ends));
    }
}

// Floats [n][16] of a panel, from k = `from`
INLINE void panel_values(weight_format format, const matmul_args *m, int panel, const int extent[2],
                         float *out) {
    const int size = block_formats[format].group, block = block_formats[format].block,
              from = extent[0], end = from + extent[1];
    const uint8_t *w = (const uint8_t *)m->w + (size_t)panel * block_panel_bytes(format, m->k);
    const vf whole = has_panel_d(format) ? panel_d(format, w, m->k) : vf_zero();
    NO_UNROLL
    for (int k = from; k < end; k += size, out += size * LANES) {
        const uint8_t *at = w + (size_t)(k / block) * block_bytes(format);
        PREFETCH_FAR(at + block_bytes(format));
        group_values(format, at, has_panel_d(format) ? whole : block_d(format, at),
                     k % block / size, out);
    }
}

INLINE void values_panels(matmul_kind kind, int W, const matmul_args *m, matmul_sink sink,
                          const matmul_area *a) {
    const int R = TILE_ROWS, P = W < TILE_PANELS ? W : TILE_PANELS,
              part = VALUES_AT_ONCE / W / QUANT_BLOCK * QUANT_BLOCK;
    const int rows = DEEP_ROWS / R < DEEP_TILES ? DEEP_ROWS / R * R : DEEP_TILES * R;
    _Alignas(64) float values[VALUES_AT_ONCE * LANES];
    vf sums[AREA_ROWS * PANELS_MOST];
    matmul_args unpacked = *m;
    unpacked.w = values;
    matmul_kind floats = {WEIGHT_F32, true, kind.core, &unpacked, NULL};
    for (int row = a->row; row < a->end; row += rows) {
        const int end = row + rows < a->end ? row + rows : a->end;
        for (int from = 0; from < m->k; from += part) {
            unpacked.k = from + part < m->k ? part : m->k - from;
            unpacked.x = (const float *)m->x + from;
            for (int p = 0; p < W; p++)
                panel_values(kind.format, m, a->panel + p, (const int[]){from, unpacked.k},
                             values + p * unpacked.k * LANES);
            const matmul_area area = {row, end, 0};
            area_tiles(floats, (const int[]){R, P, W}, &unpacked, &area,
                       (tile_place){.row = row, .to = unpacked.k, .goes_on = from > 0}, end, sums);
        }
        NO_UNROLL
        for (int i = row; i < end; i++)
            matmul_store(kind, sink, W, sums + (i - row) * PANELS_MOST, i, a->panel);
    }
}

// Result panels are taken in even groups of at most GROUP.
enum { GROUP = 4 };
INLINE int groups_of(int panels) { return (panels + GROUP - 1) / GROUP; }

// Returns true if an even group of all panels leaves `rest` after tiles of W. Known at compile
// time: no other tiles are made.
INLINE bool leaves(const matmul_args *m, int W, int rest) {
    int groups = groups_of(m->panels), narrow = groups ? m->panels / groups : 0;
    return narrow % W == rest || (m->panels % (groups ? groups : 1) && (narrow + 1) % W == rest);
}

#if defined(VEC_TILES)
INLINE bool by_tiles(matmul_kind kind) { return !kind.floats && uses_tiles(kind.format); }
// The end of the rows that go by tiles: the remaining rows are too few for one
INLINE int tiles_end(weight_format format, const matmul_area *a) {
    const int rows = a->end - a->row, rest = rows % TILE_MOST;
    if (rows < fewest_tile_rows(format)) return a->row;
    return rest < TILES_REST ? a->end - rest : a->end;
}

INLINE void tiles_panels(matmul_kind kind, int W, const matmul_args *m, matmul_sink sink,
                         const matmul_area *a) {
    vf sums[TILES_AREA * PANELS_MOST];
    const int tiled = tiles_end(kind.format, a);
    for (int row = a->row; row < tiled; row += TILES_AREA) {
        const int rows[] = {row, row + TILES_AREA < tiled ? row + TILES_AREA : tiled};
        kind.tiles(W, kind.operands, rows, a->panel, sums);
        NO_UNROLL
        for (int i = row; i < rows[1]; i++)
            matmul_store(kind, sink, W, sums + (i - row) * PANELS_MOST, i, a->panel);
    }
    if (tiled == a->end) return;
    matmul_area few = {tiled, a->end, a->panel};
    NO_UNROLL
    for (; few.panel + 2 <= a->panel + W; few.panel += 2) area_panels(kind, 2, m, sink, &few);
    if (W % 2) area_panels(kind, 1, m, sink, &few);
}
#else
INLINE bool by_tiles(matmul_kind kind) { return (void)kind, false; }
INLINE void tiles_panels(matmul_kind kind, int W, const matmul_args *m, matmul_sink sink,
                         const matmul_area *a) {
    area_panels(kind, W, m, sink, a);
}
#endif

INLINE bool makes_values(matmul_kind kind) { return kind.floats && in_blocks(kind.format); }
INLINE void panels_of_kind(matmul_kind kind, int W, const matmul_args *m, matmul_sink sink,
                           const matmul_area *a) {
    if (makes_values(kind))
        values_panels(kind, W, m, sink, a);
    else
        area_panels(kind, W, m, sink, a);
}

// `panels` result panels from a.panel
INLINE void area_group(matmul_kind kind, const matmul_args *m, matmul_sink sink, matmul_area a,
                       int panels) {
    int most = makes_values(kind) ? TILE_PANELS
               : by_tiles(kind)   ? PANELS_MOST
                                  : tile_panels_of(kind.format);
    int step = sink.glu ? 2 : 1, W = most < step ? step : most, left = panels * step;
    if (by_tiles(kind)) {
        for (; left > 0; left -= W, a.panel += W)
            tiles_panels(kind, left < W ? left : W, m, sink, &a);
        return;
    }
    for (; left >= W; left -= W, a.panel += W) panels_of_kind(kind, W, m, sink, &a);
    if (W == 4 && step == 1 && left >= 2 && leaves(m, 4, left)) {
        if (left == 3)
            panels_of_kind(kind, 3, m, sink, &a);
        else
            panels_of_kind(kind, 2, m, sink, &a);
        return;
    }
    for (; left > 0; left -= step, a.panel += step) panels_of_kind(kind, step, m, sink, &a);
}

// ---- shares ----

// Units of work of one product, for sharing among threads. One row, or few: panels. More: panels
// times blocks of rows, group of panels by group, so that every thread gets an equal part in tiles
// that are not narrow. The same for all formats, and for all levels of an architecture: they share
// kernels of floats.
enum { BLOCK_ROWS = 6, FEW_ROWS = 2 * BLOCK_ROWS };
// In a program for several ranks ranges are panels of all rows: those of a rank are adjacent.
#ifdef BURIN_MPI
enum { SHARED_BY_PANELS = 1 };
#else
enum { SHARED_BY_PANELS = 0 };
#endif
INLINE int row_blocks(int rows) {
    return rows <= FEW_ROWS || SHARED_BY_PANELS ? 1 : (rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
}
INLINE int matmul_units(int panels, int rows) { return rows > 0 ? panels * row_blocks(rows) : 0; }

// How many blocks, each `width` units from `start`, begin before `unit`
INLINE int blocks_before(int unit, int start, int width, int blocks) {
    int n = unit > start ? (unit - start + width - 1) / width : 0;
    return n < blocks ? n : blocks;
}

// A range's part of `width` result panels from `panel`, those of a group
INLINE matmul_area share_of_group(const matmul_args *m, int blocks, int panel, int width) {
    const int start = panel * blocks,
              row = BLOCK_ROWS * blocks_before(m->first, start, width, blocks);
    const int rows =
        blocks > 1 ? BLOCK_ROWS * blocks_before(m->last, start, width, blocks) : m->rows;
    return (matmul_area){row, rows < m->rows ? rows : m->rows, panel};
}

INLINE void matmul_many(matmul_kind kind, const matmul_args *m, matmul_sink sink) {
    int blocks = m->entry ? 1 : row_blocks(m->rows), panel = blocks > 1 ? 0 : m->first,
        end = blocks > 1 ? m->panels : m->last;
    for (int groups = groups_of(end - panel); groups > 0; groups--) {
        int width = (end - panel + groups - 1) / groups;
        matmul_area a = share_of_group(m, blocks, panel, width);
        if (sink.glu) a.panel *= 2;
        if (a.row < a.end) area_group(kind, m, sink, a, width);
        panel += width;
    }
}

// ---- rows rounded to bf16 ----

#if defined(VEC_BF16)
INLINE void rounded_store(matmul_kind kind, matmul_sink sink, const rounded_area *a,
                          const rounded_buffers *b) {
    for (int panel = a->panel; panel < a->last; panel += 2) {
        NO_UNROLL
        for (int row = a->row; row < a->end; row++)
            matmul_store(kind, sink, a->last - panel > 1 ? 2 : 1,
                         b->sums[(panel - a->panel) / 2][row - a->row], row, panel);
    }
}

// Rows in even parts, whole tiles but for the last
INLINE void rounded_rectangle(matmul_kind kind, const matmul_args *m, matmul_sink sink,
                              const rounded_area *all, rounded_buffers *b) {
    const int tiles = rounded_tiles(all),
              parts = (tiles * ROUNDED_TILE + ROUNDED_ROWS - 1) / ROUNDED_ROWS;
    const int rows = parts ? (tiles + parts - 1) / parts * ROUNDED_TILE : 0;
    for (int row = all->row; row < all->end; row += rows)
        for (int panel = all->panel; panel < all->last; panel += ROUNDED_PANELS) {
            const rounded_area a = {
                row, row + rows < all->end ? row + rows : all->end, panel,
                panel + ROUNDED_PANELS < all->last ? panel + ROUNDED_PANELS : all->last};
            rounded_sums(kind.operands, &a, m->k <= ROUNDED_K && panel > all->panel, b);
            rounded_store(kind, sink, &a, b);
        }
}

// Groups of a share that have the same rows go together.
INLINE void rounded_product(matmul_kind kind, const matmul_args *m, matmul_sink sink) {
    const int blocks = m->entry ? 1 : row_blocks(m->rows), end = blocks > 1 ? m->panels : m->last,
              step = sink.glu ? 2 : 1;
    int panel = blocks > 1 ? 0 : m->first;
    rounded_buffers buffers;
    rounded_area all = {0, 0, panel * step, panel * step};
    bf16_tiles_begin();
    for (int groups = groups_of(end - panel); groups > 0; groups--) {
        const int width = (end - panel + groups - 1) / groups;
        const matmul_area a = share_of_group(m, blocks, panel, width);
        if (a.row != all.row || a.end != all.end) {
            rounded_rectangle(kind, m, sink, &all, &buffers);
            all = (rounded_area){a.row, a.end, panel * step, panel * step};
        }
        panel += width, all.last = panel * step;
    }
    rounded_rectangle(kind, m, sink, &all, &buffers);
    bf16_tiles_end();
}
#endif

INLINE void floats_product(matmul_kind kind, const matmul_args *m, matmul_sink sink) {
    const int step = sink.glu ? 2 : 1;
#if defined(VEC_BF16)
    if (kind.format == WEIGHT_BF16 && m->rows > ROUNDED_ABOVE) {
        rounded_product(kind, m, sink);
        return;
    }
#endif
    if (m->rows > 1)
        matmul_many(kind, m, sink);
    else if (m->streamed)
        gemv_streamed(kind, floats_row, m, sink, m->first * step, m->last * step);
    else
        gemv(kind, m, sink, m->first * step, m->last * step);
}

INLINE void integers_product(matmul_kind kind, const matmul_args *m, matmul_sink sink) {
    const int step = sink.glu ? 2 : 1;
    if (m->rows == 1) {
        gemv_streamed(kind, integers_row, m, sink, m->first * step, m->last * step);
        return;
    }
    matmul_many(kind, m, sink);
}

INLINE void values_product(matmul_kind kind, const matmul_args *m, matmul_sink sink) {
    const int step = sink.glu ? 2 : 1;
    if (m->rows > 1)
        matmul_many(kind, m, sink);
    else
        block_gemv_floats(kind, m, sink, m->first * step, m->last * step);
}

// BURIN_QUICK (-O1): one function for all products of a format, which compiles sooner than one for
// the literals of each.
#if defined(BURIN_QUICK)
#define PRODUCT_FUNCTION CORE_FUNCTION
#else
#define PRODUCT_FUNCTION CALLED void
#endif
// Values are multiplied by the core of f32.
#define KIND_floats(name, format) KIND(product_##name, floats, format)
#define KIND_integers(name, format) \
    KIND(product_##name, integers, format) BY_TILES(product_##name, format)
#define KIND_values(name, format)
#define CORE_floats(name)   product_##name##_core
#define CORE_integers(name) product_##name##_core
#define CORE_values(name)   product_f32_core
#if defined(VEC_TILES)
#define TILES_floats(name)   NULL
#define TILES_integers(name) product_##name##_tiles
#define TILES_values(name)   NULL
#else
#define TILES_floats(name)   NULL
#define TILES_integers(name) NULL
#define TILES_values(name)   NULL
#endif
#define MATMUL(name, family, format)                                                          \
    KIND_##family(name, format)                                                               \
        PRODUCT_FUNCTION product_##name(const matmul_args *m, matmul_sink sink) {             \
        const matmul_args seen = *m;                                                          \
        family##_product((matmul_kind){format, ROWS_##family, CORE_##family(name), &seen,     \
                                       TILES_##family(name)},                                 \
                         m, sink);                                                            \
    }                                                                                         \
    INLINE void matmul_##name(matmul_args m, matmul_epilogue store, const void *context) {    \
        product_##name(&m, (matmul_sink){store, NULL, context, NULL});                        \
    }                                                                                         \
    INLINE void matmul_##name##_glu(matmul_args m, glu_epilogue store, const void *context) { \
        product_##name(&m, (matmul_sink){NULL, store, context, NULL});                        \
    }
MATMUL(f32, floats, WEIGHT_F32)
MATMUL(f16, floats, WEIGHT_F16)
MATMUL(bf16, floats, WEIGHT_BF16)
#define FAMILY_PLAIN   integers
#define FAMILY_IQ4     integers
#define FAMILY_SIGN    integers
#define FAMILY_E2M1    integers
#define FAMILY_NF4     values
#define FAMILY_FP4     values
#define FAMILY_E4M3    values
#define MATMUL_BY(...) MATMUL(__VA_ARGS__)  // its arguments expanded
#define FORMAT(name, id, block, bytes, low, high, group, scales, minimum, offset, table, encode) \
    MATMUL_BY(name, FAMILY_##table, WEIGHT_##name)                                               \
    MATMUL(name##_floats, values, WEIGHT_##name)
#include "format_rows.h"
#undef FORMAT
#undef MATMUL

// Convolutions: any number of rows goes by tiles.
#define CONVOLVE(name, family, function, format)                                                \
    KIND(family##_##name, family, format)                                                       \
    PRODUCT_FUNCTION family##_##name(const matmul_args *m, matmul_sink sink) {                  \
        const matmul_args seen = *m;                                                            \
        matmul_many((matmul_kind){format, true, family##_##name##_core, &seen, NULL}, m, sink); \
    }                                                                                           \
    INLINE void function##_##name(matmul_args m, matmul_epilogue store, const void *context) {  \
        family##_##name(&m, (matmul_sink){store, NULL, context, NULL});                         \
    }
CONVOLVE(f32, windows, convolve, WEIGHT_F32)
CONVOLVE(f16, windows, convolve, WEIGHT_F16)
CONVOLVE(bf16, windows, convolve, WEIGHT_BF16)
CONVOLVE(f32, bordered, convolve_bordered, WEIGHT_F32)
CONVOLVE(f16, bordered, convolve_bordered, WEIGHT_F16)
CONVOLVE(bf16, bordered, convolve_bordered, WEIGHT_BF16)
#undef CONVOLVE
#endif
