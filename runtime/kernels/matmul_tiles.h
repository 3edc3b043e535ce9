// Products of rows of int8 by tiles (VEC_TILES: AMX). For all rows of an area the weights of up to
// four panels become signed bytes, and their scales floats, some k at a time; tiles of 16 rows by
// two panels leave the integer sums of some groups in memory, then the float steps follow. The two
// are not interleaved: while tiles are multiplied a CPU has one of its two multipliers of 512 bits
// left (tests/bench/RESULTS.md).
//
// The sums are those of group_sums.h, since integers are exact: a zero point is taken away as a
// float, exactly, too.
#ifndef BURIN_MATMUL_TILES_H
#define BURIN_MATMUL_TILES_H
#include "matmul_cores.h"

#if defined(VEC_TILES)
enum {
    TILES_DEPTH = 256,  // k of a panel that are unpacked at once: a multiple of every block
    TILES_BLOCKS = TILES_DEPTH / QUANT_BLOCK,
    TILES_DEEP_GROUPS = TILES_DEPTH / 16,
    TILES_GROUPS = 4,  // sums in memory
    TILES_AREA = 128,  // rows that share unpacked weights
    TILES_REST = 12    // minimum rows: for fewer remaining rows the other cores are faster
};

// Exact products with zero points that differ by block would need exact integer sums of them.
INLINE bool uses_tiles(weight_format f) {
    return in_blocks(f) && !stands_for_floats(f) && !(is_exact(f) && has_zero_point(f));
}

// For fewer rows the other cores are faster: they unpack nothing if weights are bytes
INLINE int fewest_tile_rows(weight_format f) {
    return block_formats[f].low == 8 && !is_exact(f) ? 3 * TILE_MOST : TILE_MOST;
}

// TILES_DEPTH of k of a panel: signed bytes in steps of four k, and for each group what its sums
// are multiplied with
typedef struct tile_panel {
    _Alignas(64) uint8_t q[TILES_DEPTH * LANES];
    vf scale[TILES_DEEP_GROUPS], least[TILES_DEEP_GROUPS], zero[TILES_DEEP_GROUPS];
} tile_panel;

// 16 rows over as many k: at `q`, `stride` blocks apart; of each group their scales, sums, and
// these multiplied
typedef struct tile_rows {
    const q8_block *q;
    size_t stride;
    vf scale[TILES_DEEP_GROUPS], sum[TILES_DEEP_GROUPS],
        weighted[TILES_DEEP_GROUPS];  // a lane a row
    q8_block copy[TILE_MOST * TILES_BLOCKS];
} tile_rows;

// What tiles go over at a time: panels from `panel`, blocks of weights [from, to)
typedef struct tile_part {
    int panels, panel, from, to;
} tile_part;

typedef int32_t tile_integers[TILES_GROUPS][TILE_MOST * LANES];

INLINE int part_groups(weight_format f, const tile_part *t) {
    return (t->to - t->from) * block_groups(f);
}

// The bytes of a step less the offset: a signed byte each, whatever the format
INLINE vi signed_step(weight_format f, vi step) {
    return vi_sub_bytes(step, vi_set1(block_formats[f].offset * 0x01010101));
}

// Groups of one block, which become those from `group` on
INLINE void unpack_block(weight_format f, const uint8_t *w, vf d, int group, tile_panel *to) {
    const int groups = block_groups(f), steps = (int)group_steps(f);
    const vf of_block[] = {d, has_minimum(f) ? block_m(f, w) : vf_zero()};
    NO_UNROLL
    for (int g = 0; g < groups; g++) {
        UNROLL
        for (int t = 0; t < steps; t++) {
            vi step = signed_step(f, block_step(f, w, (unsigned)(g * steps + t)));
            vi_store((int32_t *)(void *)(to->q + ((group + g) * steps + t) * 64), step);
        }
        if (is_exact(f)) continue;
        to->scale[group + g] = group_scale(f, w, d, g);
        if (has_minimum(f)) to->least[group + g] = group_minimum(f, w, of_block, g);
        if (has_zero_point(f)) to->zero[group + g] = vf_neg(vf_from_int(block_zero(f, w)));
    }
}

INLINE void unpack_panel(weight_format f, const matmul_args *m, const tile_part *t, int panel,
                         tile_panel *to) {
    const uint8_t *w =
        (const uint8_t *)m->w + (size_t)(t->panel + panel) * block_panel_bytes(f, m->k);
    const vf whole = has_panel_d(f) ? panel_d(f, w, m->k) : vf_zero();
    w += (size_t)t->from * block_bytes(f);
    NO_UNROLL
    for (int i = 0; i < t->to - t->from; i++, w += block_bytes(f)) {
        PREFETCH_FAR(w + BLOCKS_AHEAD);
        unpack_block(f, w, has_panel_d(f) ? whole : block_d(f, w), i * block_groups(f), to);
    }
}

// 16 rows from rows[0] on; beyond rows[1] the last row repeats. Rows that are not evenly apart are
// copied.
INLINE void find_tile_rows(weight_format f, const matmul_args *m, const tile_part *t,
                           const int rows[2], tile_rows *x) {
    const int each = block_formats[f].block / QUANT_BLOCK, from = t->from * each,
              blocks = (t->to - t->from) * each;
    x->q = (const q8_block *)m->x + x_row(m, rows[0]) + from, x->stride = (size_t)m->x_stride;
    if (!m->entry && rows[0] + TILE_MOST <= m->rows) return;
    NO_UNROLL
    for (int i = 0; i < TILE_MOST; i++) {
        const int row = rows[0] + i < rows[1] ? rows[0] + i : rows[1] - 1;
        memcpy(x->copy + i * TILES_BLOCKS, (const q8_block *)m->x + x_row(m, row) + from,
               (size_t)blocks * sizeof(q8_block));
    }
    x->q = x->copy, x->stride = TILES_BLOCKS;
}

// A field of 16 blocks, one of each row
INLINE vf field_of_rows(const tile_rows *x, const void *field) {
    return vf_load_strided(field, (int)(x->stride * sizeof(q8_block) / sizeof(float)), TILE_MOST);
}

// Sums of integers of a group of each row
INLINE vf sums_of_rows(weight_format f, const tile_rows *x, int g) {
    const q8_block *block = x->q + g * block_formats[f].group / QUANT_BLOCK;
    vf all =
        vf_from_int(vi_sub(vi_set1(FAULT_ROW_SUM * 128), vi_bits(field_of_rows(x, &block->start))));
    all = vf_mul(all, vf_set1(1.0f / 128));
    if (block_formats[f].group == QUANT_BLOCK) return all;
    vf first =
        vf_from_int(vi_add(vi_bits(field_of_rows(x, &block->first)), vi_set1(FAULT_ROW_SUM)));
    return g % 2 ? vf_sub(all, first) : first;
}

INLINE void scale_tile_rows(weight_format f, int groups, tile_rows *x) {
    if (is_exact(f)) return;
    NO_UNROLL
    for (int g = 0; g < groups; g++) {
        x->scale[g] = field_of_rows(x, &(x->q + g * block_formats[f].group / QUANT_BLOCK)->scale);
        if (!has_zero_point(f) && !has_minimum(f)) continue;
        x->sum[g] = sums_of_rows(f, x, g), x->weighted[g] = vf_mul(x->scale[g], x->sum[g]);
    }
}

// One group of 16 rows by P panels, into the tiles of a set
INLINE void tile_group(weight_format f, int P, const tile_panel *w, tile_bytes x, int g, int set) {
    const size_t at = (size_t)g * group_steps(f) * 64;
    x.q = group_of_row(f, (const q8_block *)(const void *)x.q, (unsigned)g).q;
    vi_tiles_add(set, P, x, w[0].q + at, w[P - 1].q + at);
}

INLINE void store_tiles(int P, int set, tile_integers *sums, int group) {
    vi_tiles_store(set, P, sums[0][group], sums[P - 1][group]);
}

// sums[panel]: those of groups [from, to). A group is stored when the next one has begun.
INLINE void tile_sums(weight_format f, int P, const tile_panel *w, tile_bytes x,
                      const int groups[2], tile_integers *sums) {
    const int from = groups[0], n = groups[1] - from;
    NO_UNROLL
    for (int g = 0; g < n; g += 2) {
        vi_tiles_clear(0, P);
        tile_group(f, P, w, x, from + g, 0);
        if (g > 0) store_tiles(P, 1, sums, g - 1);
        if (g + 1 < n) {
            vi_tiles_clear(1, P);
            tile_group(f, P, w, x, from + g + 1, 1);
        }
        store_tiles(P, 0, sums, g);
    }
    if (n % 2 == 0) store_tiles(P, 1, sums, n - 1);
}

// Of exact products all groups are one.
INLINE void exact_tile_sums(weight_format f, int P, const tile_panel *w, tile_bytes x, int groups,
                            tile_integers *sums) {
    vi_tiles_clear(0, P);
    NO_UNROLL
    for (int g = 0; g < groups; g++) tile_group(f, P, w, x, g, 0);
    store_tiles(P, 0, sums, 0);
}

// As add_exactly: in the bits of `sum`
INLINE void add_tile_integers(const int32_t *sums, vf *sum) {
    UNROLL
    for (int i = 0; i < TILE_MOST; i++)
        sum[i] = vf_bits(vi_add(vi_bits(sum[i]), vi_load(sums + i * LANES)));
}

// As add_group, for groups [from, to) of one panel
INLINE void add_tile_groups(weight_format f, const tile_panel *w, const tile_rows *x,
                            const int groups[2], const tile_integers *sums, vf *sum) {
    NO_UNROLL
    for (int g = groups[0]; g < groups[1]; g++) {
        const vf scale = w->scale[g];
        const float *row_scale = (const float *)&x->scale[g], *row_sum = (const float *)&x->sum[g];
        const float *weighted = (const float *)&x->weighted[g];
        UNROLL
        for (int i = 0; i < TILE_MOST; i++) {
            vf c = vf_from_int(vi_load((*sums)[g - groups[0]] + i * LANES));
            if (has_zero_point(f)) c = vf_fma(w->zero[g], vf_set1(row_sum[i]), c);
            sum[i] = vf_fma(c, vf_mul(scale, vf_set1(row_scale[i])), sum[i]);
            if (has_minimum(f)) sum[i] = vf_fma(w->least[g], vf_set1(weighted[i]), sum[i]);
        }
    }
}

// 16 rows by P panels (a literal) over some groups: sums[row * PANELS_MOST + panel] continue, or
// begin with the first group
INLINE void tile_groups(weight_format f, int P, const tile_panel *w, const tile_rows *x,
                        const int groups[2], bool begin, vf *sums) {
    _Alignas(64) tile_integers integers[2];
    const tile_bytes bytes = {(const int8_t *)x->q, x->stride * sizeof(q8_block)};
    if (is_exact(f))
        exact_tile_sums(f, P, w, bytes, groups[1], integers);
    else
        tile_sums(f, P, w, bytes, groups, integers);
    NO_UNROLL
    for (int p = 0; p < P; p++) {
        vf sum[TILE_MOST];
        UNROLL
        for (int i = 0; i < TILE_MOST; i++) sum[i] = begin ? vf_zero() : sums[i * PANELS_MOST + p];
        if (is_exact(f))
            add_tile_integers(integers[p][0], sum);
        else
            add_tile_groups(f, w + p, x, groups, &integers[p], sum);
        UNROLL
        for (int i = 0; i < TILE_MOST; i++) sums[i * PANELS_MOST + p] = sum[i];
    }
}

INLINE void tile_product(weight_format f, int P, const tile_part *t, const tile_panel *w,
                         const tile_rows *x, vf *sums) {
    const int all = part_groups(f, t), each = is_exact(f) ? all : TILES_GROUPS;
    NO_UNROLL
    for (int from = 0; from < all; from += each) {
        const int groups[] = {from, from + each < all ? from + each : all};
        tile_groups(f, P, w, x, groups, t->from + from == 0, sums);
    }
}

// All of a part: rows [rows[0], rows[1])
INLINE void tiles_part(weight_format f, const matmul_args *m, const tile_part *t, const int rows[2],
                       vf *sums) {
    tile_panel w[PANELS_MOST];
    tile_rows x;
    NO_UNROLL
    for (int p = 0; p < t->panels; p++) unpack_panel(f, m, t, p, w + p);
    NO_UNROLL
    for (int row = rows[0]; row < rows[1]; row += TILE_MOST, sums += TILE_MOST * PANELS_MOST) {
        find_tile_rows(f, m, t, (const int[]){row, rows[1]}, &x);
        scale_tile_rows(f, part_groups(f, t), &x);
        NO_UNROLL
        for (int p = 0; p + 2 <= t->panels; p += 2) tile_product(f, 2, t, w + p, &x, sums + p);
        if (t->panels % 2) tile_product(f, 1, t, w + t->panels - 1, &x, sums + t->panels - 1);
    }
}

INLINE void tiles_area(weight_format f, const matmul_args *m, tile_part t, const int rows[2],
                       vf *sums) {
    const int blocks = steps_of(f, m->k), most = TILES_DEPTH / block_formats[f].block,
              parts = (blocks + most - 1) / most;
    vi_tiles_begin((int)group_steps(f));
    NO_UNROLL
    for (int part = 0; part < parts; part++) {
        t.from = t.to, t.to = blocks * (part + 1) / parts;
        tiles_part(f, m, &t, rows, sums);
    }
    vi_tiles_end();
}

#define BY_TILES(name, format_)                                                                   \
    CORE_FUNCTION name##_tiles(int P, const matmul_args *m, const int *rows, int panel,           \
                               vf *sums) {                                                        \
        if (uses_tiles(format_)) tiles_area(format_, m, (tile_part){P, panel, 0, 0}, rows, sums); \
    }
#else
#define BY_TILES(name, format_)
#endif
#endif
