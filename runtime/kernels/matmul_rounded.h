// Products of many rows by weights of bf16 for --math=fast: rows are rounded to bf16 as well, and
// dot products of pairs are added up in f32, by AMX or by vdpbf16ps (vec_bf16.h).
//
// Panels stay [k][16]. Instructions that take two k at once get [k / 2][16][2] from a small buffer,
// filled once for all rows of an area. An output is one chain over ascending k wherever its area
// begins: its bits do not depend on the number of threads.
#ifndef BURIN_MATMUL_ROUNDED_H
#define BURIN_MATMUL_ROUNDED_H
#include "matmul_cores.h"

enum { ROUNDED_ABOVE = 12 };  // rows: fewer stay exact, as steps that write are

// A tile of rows is [16][32], one of paired weights [16][16][2].
enum { ROUNDED_TILE = 16, ROUNDED_STEP = 32, ROUNDED_ELEMENTS = ROUNDED_TILE * ROUNDED_STEP };
// What buffers hold at once, 650 KB: paired weights, and as many rows of a pass, stay in the first
// level, rows in the second.
enum { ROUNDED_ROWS = 128, ROUNDED_K = 2048, ROUNDED_PANELS = 16, PAIRED_K = 192 };

typedef struct rounded_buffers {
    _Alignas(64) uint16_t rows[ROUNDED_ROWS * ROUNDED_K];  // [row / 16][k / 32][16][32]
    uint16_t weights[2 * PAIRED_K * LANES];                // [panel][k / 2][16][2]
    vf sums[ROUNDED_PANELS / 2][ROUNDED_ROWS][2];          // [pair of panels][row][panel]
} rounded_buffers;

// Rows [row, end) by panels [panel, last) of the weights
typedef struct rounded_area {
    int row, end, panel, last;
} rounded_area;

// Steps [from, to) of k, of `all` whose rows are in the buffer. While passes of rows go over them,
// the weights that come next in each panel are asked for, `ahead` bytes a pass and step.
typedef struct rounded_part {
    int from, to, all;
    bool goes_on;
    const uint16_t *next[2];
    size_t ahead;
} rounded_part;

INLINE int rounded_steps(int k) { return (k + ROUNDED_STEP - 1) / ROUNDED_STEP; }
INLINE int rounded_tiles(const rounded_area *a) {
    return (a->end - a->row + ROUNDED_TILE - 1) / ROUNDED_TILE;
}

// `k` floats of each row, from k = `from`; zero beyond k, the last row beyond the rows.
CORE_FUNCTION round_rows(const matmul_args *m, const rounded_area *a, int from, int k,
                         uint16_t *to) {
    const int steps = rounded_steps(k);
    for (int i = 0; i < rounded_tiles(a) * ROUNDED_TILE; i++) {
        const float *x =
            (const float *)m->x + x_row(m, a->row + i < a->end ? a->row + i : a->end - 1) + from;
        uint16_t *at = to + (size_t)(i / ROUNDED_TILE * steps * ROUNDED_TILE + i % ROUNDED_TILE) *
                                ROUNDED_STEP;
        for (int left = k; left > 0;
             left -= ROUNDED_STEP, x += ROUNDED_STEP, at += ROUNDED_ELEMENTS) {
            if (left >= ROUNDED_STEP)
                vf_store_bf16_fast(at, vf_load(x), vf_load(x + LANES));
            else
                vf_store_bf16_fast(at, vf_load_n(x, left), vf_load_n(x + LANES, left - LANES));
        }
    }
}

// `k` rows of a panel; zero beyond k.
INLINE void pair_weights(const uint16_t *panel, int k, uint16_t *to) {
    const int whole = k / 2, all = rounded_steps(k) * ROUNDED_TILE;
    for (int i = 0; i < whole; i++) vi_store_pairs(to + i * 2 * LANES, panel + i * 2 * LANES, 2);
    for (int i = whole; i < all; i++)
        vi_store_pairs(to + i * 2 * LANES, panel + i * 2 * LANES, k - 2 * i);
}

INLINE void ask_for_next(int P, const rounded_part *part, int pass, int step) {
    const size_t at =
        (size_t)step * ROUNDED_ELEMENTS * sizeof(uint16_t) + (size_t)pass * part->ahead;
    for (int p = 0; p < P; p++)
        for (size_t i = 0; i < part->ahead; i += 64)
            PREFETCH_FAR((const unsigned char *)part->next[p] + at + i);
}

// A pass: sums of PASS_ROWS rows, with AMX also half of them, by P panels
#if defined(VEC_BF16_TILES)
enum { PASS_ROWS = 2 * ROUNDED_TILE };

INLINE void rounded_tiles_pass(int R, int P, const uint16_t *x, const rounded_part *part, int pass,
                               const uint16_t *w, vf (*sums)[2]) {
    if (part->goes_on)
        bf16_tiles_load(R, P, (const float *)sums);
    else
        bf16_tiles_zero();
    for (int step = 0; step < part->to - part->from;
         step++, x += ROUNDED_ELEMENTS, w += ROUNDED_ELEMENTS) {
        ask_for_next(P, part, pass, step);
        bf16_tiles_add(R, P, x, (size_t)part->all * ROUNDED_ELEMENTS, w, PAIRED_K * LANES);
    }
    bf16_tiles_store(R, P, (float *)sums);
}

INLINE void rounded_pass(int P, int rows, const uint16_t *x, const rounded_part *part, int pass,
                         const uint16_t *w, vf (*sums)[2]) {
    if (rows > ROUNDED_TILE)
        rounded_tiles_pass(2, P, x, part, pass, w, sums);
    else
        rounded_tiles_pass(1, P, x, part, pass, w, sums);
}
#else
enum { PASS_ROWS = ROUNDED_TILE / 2 };  // two panels: chains that hide the latency of vdpbf16ps

INLINE void rounded_pass(int P, int rows, const uint16_t *x, const rounded_part *part, int pass,
                         const uint16_t *w, vf (*sums)[2]) {
    vf sum[PASS_ROWS][2];
    (void)rows;
    UNROLL
    for (int i = 0; i < PASS_ROWS; i++) {
        UNROLL
        for (int p = 0; p < P; p++) sum[i][p] = part->goes_on ? sums[i][p] : vf_zero();
    }
    for (int step = 0; step < part->to - part->from; step++, x += ROUNDED_ELEMENTS) {
        ask_for_next(P, part, pass, step);
        NO_UNROLL
        for (int pair = 0; pair < ROUNDED_TILE; pair++, w += 2 * LANES) {
            UNROLL
            for (int i = 0; i < PASS_ROWS; i++) {
                UNROLL
                for (int p = 0; p < P; p++)
                    sum[i][p] = vf_dot2(sum[i][p], x + i * ROUNDED_STEP + 2 * pair,
                                        w + p * PAIRED_K * LANES);
            }
        }
    }
    UNROLL
    for (int i = 0; i < PASS_ROWS; i++) {
        UNROLL
        for (int p = 0; p < P; p++) sums[i][p] = sum[i][p];
    }
}
#endif

// All rows of the buffer
INLINE void rounded_passes(int P, int rows, const rounded_part *part, const rounded_buffers *b,
                           vf (*sums)[2]) {
    for (int pass = 0, row = 0; row < rows; pass++, row += PASS_ROWS) {
        const int tile = row / ROUNDED_TILE * part->all + part->from;
        const uint16_t *x =
            b->rows + (size_t)tile * ROUNDED_ELEMENTS + row % ROUNDED_TILE * ROUNDED_STEP;
        rounded_pass(P, rows - row, x, part, pass, b->weights, sums + row);
    }
}

// Sums of an area's rows by P panels over extent[1] of k from extent[0], whose rows are in the
// buffer
INLINE void rounded_panels(int P, const matmul_args *m, const rounded_area *a, int panel,
                           const int extent[2], rounded_buffers *b) {
    const int k = extent[1], rows = rounded_tiles(a) * ROUNDED_TILE,
              passes = (rows + PASS_ROWS - 1) / PASS_ROWS;
    const size_t one = (size_t)m->k * LANES;
    const uint16_t *first =
        (const uint16_t *)m->w + (size_t)panel * one + (size_t)extent[0] * LANES;
    for (int at = 0; at < k; at += PAIRED_K) {
        const int count = k - at < PAIRED_K ? k - at : PAIRED_K;
        rounded_part part = {
            .from = at / ROUNDED_STEP, .to = rounded_steps(at + count), .all = rounded_steps(k)};
        part.goes_on = extent[0] + at > 0;
        part.ahead = (ROUNDED_ELEMENTS * sizeof(uint16_t) / (size_t)passes + 63) / 64 * 64;
        for (int p = 0; p < P; p++) {
            const uint16_t *w = first + (size_t)p * one + at * LANES;
            pair_weights(w, count, b->weights + p * PAIRED_K * LANES);
            part.next[p] = at + count < k ? w + count * LANES : first + (size_t)(P + p) * one;
        }
        rounded_passes(P, rows, &part, b, b->sums[(panel - a->panel) / 2]);
    }
}

// Sums of an area that the buffers hold. `ready`: its rows are there already.
CORE_FUNCTION rounded_sums(const matmul_args *m, const rounded_area *a, bool ready,
                           rounded_buffers *b) {
    for (int from = 0; from < m->k; from += ROUNDED_K) {
        const int k = m->k - from < ROUNDED_K ? m->k - from : ROUNDED_K;
        if (!ready) round_rows(m, a, from, k, b->rows);
        for (int panel = a->panel; panel < a->last; panel += 2) {
            if (a->last - panel > 1)
                rounded_panels(2, m, a, panel, (const int[]){from, k}, b);
            else
                rounded_panels(1, m, a, panel, (const int[]){from, k}, b);
        }
    }
}
#endif
