// Matrix products over packed weights. Each output is one chain of fma over ascending k; the caller's epilogue stores it.
//
//   matmul_f32, matmul_f16, matmul_bf16   x: f32 rows; weights in panels [n/16][k][16]
//   matmul_q8_0                           x: q8_block rows; weights in panels [n/16][k/32] of q8_panel
//   ..._glu                               panels of gate and up alternate; the epilogue gets both sums
//
// All fields of matmul_args that are extents are literals at the call; the epilogue is a static inline function.
#ifndef BURIN_MATMUL_H
#define BURIN_MATMUL_H
#include "quantize.h"

typedef struct matmul_args {
    int k, x_stride;  // literals. x_stride: elements (floats, or q8_blocks) from one row of x to the next
    int rows;
    const void *x, *w;
    int first, last;  // panels of 16 result columns: the share of this thread
} matmul_args;

// Column is a multiple of 16; lanes beyond the last column hold the sums of the padding (0) and must not be stored.
typedef void (*matmul_epilogue)(const void *context, vf sum, int row, int column);
typedef void (*glu_epilogue)(const void *context, vf gate, vf up, int row, int column);

typedef enum { WEIGHT_F32, WEIGHT_F16, WEIGHT_BF16, WEIGHT_Q8_0 } weight_format;
typedef struct matmul_sink {
    matmul_epilogue plain;
    glu_epilogue glu;
    const void *context;
} matmul_sink;

// Rows of a panel ahead, into the second level: panels often lie a multiple of 4 KB apart, in one set of the first.
enum { PREFETCH_STEPS = 32 };

// 16 weights of one k. Those of bf16 may come with their columns mixed up, as the target likes; matmul_store puts them right.
INLINE vf panel_load(weight_format format, const void *w) {
    if (format == WEIGHT_F32) return vf_load(w);
    return format == WEIGHT_F16 ? vf_load_f16(w) : vf_load_bf16_mixed(w);
}

INLINE size_t panel_bytes(weight_format format, int k) { return (size_t)k * LANES * (format == WEIGHT_F32 ? 4 : 2); }

INLINE void matmul_store(weight_format format, matmul_sink sink, int panels, const vf *sums, int row, int panel) {
    vf sum[8];
    UNROLL
    for (int p = 0; p < panels; p++) {
        sum[p] = format == WEIGHT_BF16 ? vf_unmix(sums[p]) : sums[p];
        if (!sink.glu)
            sink.plain(sink.context, sum[p], row, (panel + p) * LANES);
        else if (p % 2)
            sink.glu(sink.context, sum[p - 1], sum[p], row, (panel + p) / 2 * LANES);
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

// One row by panels [panel, panel + P), P chains in flight; every line of weights is asked for PREFETCH_STEPS ahead, at the end
// of these panels from the P that follow.
INLINE void gemv_panels(weight_format format, int P, const matmul_args *m, matmul_sink sink, int panel) {
    vf sum[8];
    UNROLL
    for (int p = 0; p < P; p++) sum[p] = vf_zero();
    size_t row = panel_bytes(format, 1), one = panel_bytes(format, m->k);
    const unsigned char *w = (const unsigned char *)m->w + (size_t)panel * one;
    const float *x = m->x;
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
    matmul_store(format, sink, P, sum, 0, panel);
}

// P panels, at most GEMV_PANELS, each number an instance of its own
INLINE void gemv_some(weight_format format, int P, const matmul_args *m, matmul_sink sink, int panel) {
#define SOME(n)                                                       \
    case n:                                                           \
        if (n <= GEMV_PANELS) gemv_panels(format, n, m, sink, panel); \
        break;
    switch (P) { SOME(1) SOME(2) SOME(3) SOME(4) SOME(5) SOME(6) SOME(7) SOME(8) }
#undef SOME
}

// Panels [panel, end): as many chains as possible, the last two groups about equal
INLINE void gemv(weight_format format, const matmul_args *m, matmul_sink sink, int panel, int end) {
    for (; end - panel >= 2 * GEMV_PANELS; panel += GEMV_PANELS) gemv_panels(format, GEMV_PANELS, m, sink, panel);
    while (panel < end) {
        int left = end - panel, P = left <= GEMV_PANELS ? left : (left / 2 + 1) / 2 * 2;
        gemv_some(format, P, m, sink, panel);
        panel += P;
    }
}

// Rows [tile[0], tile[0] + R) by weight panels [tile[1], tile[1] + P); rows beyond the last repeat it and are not stored.
INLINE void float_tile(weight_format format, int R, int P, const matmul_args *m, matmul_sink sink, const int tile[2]) {
    vf sum[8][8];
    const float *x[8];
    UNROLL
    for (int i = 0; i < R; i++) {
        int row = tile[0] + i < m->rows ? tile[0] + i : m->rows - 1;
        x[i] = (const float *)m->x + (size_t)row * (size_t)m->x_stride;
        UNROLL
        for (int p = 0; p < P; p++) sum[i][p] = vf_zero();
    }
    const unsigned char *panels = (const unsigned char *)m->w + (size_t)tile[1] * panel_bytes(format, m->k);
    NO_UNROLL
    for (int k = 0; k < m->k; k++) {
        vf w[8];
        UNROLL
        for (int p = 0; p < P; p++) {
            const unsigned char *at = panels + (size_t)p * panel_bytes(format, m->k) + (size_t)k * panel_bytes(format, 1);
            w[p] = panel_load(format, at);
        }
        UNROLL
        for (int i = 0; i < R; i++) {
            vf a = vf_set1(x[i][k]);
            UNROLL
            for (int p = 0; p < P; p++) sum[i][p] = vf_fma(a, w[p], sum[i][p]);
        }
    }
    UNROLL
    for (int i = 0; i < R; i++)
        if (tile[0] + i < m->rows) matmul_store(format, sink, P, sum[i], tile[0] + i, tile[1]);
}

// One block of 32 k: c = integer sums of R rows by P panels
INLINE void q8_block_sums(int R, int P, const q8_block *const *x, const q8_panel *const *w, vi (*c)[4]) {
    UNROLL
    for (int i = 0; i < R; i++) {
        UNROLL
        for (int p = 0; p < P; p++) c[i][p] = vi_set1(DOT4_BIAS ? x[i]->correction : 0);
    }
    INT_UNROLL
    for (int j = 0; j < QUANT_BLOCK / 4; j++) {
        weights4 four_weights[4];
        UNROLL
        for (int p = 0; p < P; p++) four_weights[p] = weights4_load(w[p]->q[j][0]);
        UNROLL
        for (int i = 0; i < R; i++) {
            int32_t four;
            memcpy(&four, x[i]->q + 4 * j, 4);
            UNROLL
            for (int p = 0; p < P; p++) c[i][p] = vi_dot4(c[i][p], four_weights[p], four);
        }
    }
}

// sum = fma((float)integer sum of a block, weight scale * activation scale, sum), blocks ascending
INLINE void q8_tile(int R, int P, const matmul_args *m, matmul_sink sink, const int at[2]) {
    vf sum[8][4];
    const q8_block *x[8];
    const q8_panel *w[4];
    UNROLL
    for (int i = 0; i < R; i++) {
        int row = at[0] + i < m->rows ? at[0] + i : m->rows - 1;
        x[i] = (const q8_block *)m->x + (size_t)row * (size_t)m->x_stride;
        UNROLL
        for (int p = 0; p < P; p++) sum[i][p] = vf_zero();
    }
    UNROLL
    for (int p = 0; p < P; p++) w[p] = (const q8_panel *)m->w + (size_t)(at[1] + p) * (size_t)blocks_of(m->k);
    for (int b = 0; b < blocks_of(m->k); b++) {
        vi c[8][4];
        q8_block_sums(R, P, x, w, c);
        UNROLL
        for (int p = 0; p < P; p++) {
            vf scale = vf_load_f16(w[p]++->scale);
            UNROLL
            for (int i = 0; i < R; i++)
                sum[i][p] = vf_fma(vf_from_int(c[i][p]), vf_mul(scale, vf_set1(x[i]->scale)), sum[i][p]);
        }
        UNROLL
        for (int i = 0; i < R; i++) x[i]++;
    }
    UNROLL
    for (int i = 0; i < R; i++)
        if (at[0] + i < m->rows) matmul_store(WEIGHT_Q8_0, sink, P, sum[i], at[0] + i, at[1]);
}

INLINE void matmul_tile(weight_format format, int R, int P, const matmul_args *m, matmul_sink sink, const int at[2]) {
    if (format == WEIGHT_Q8_0)
        q8_tile(R, P, m, sink, at);
    else
        float_tile(format, R, P, m, sink, at);
}

// All rows by P panels: tiles of R rows, and one of half as many where no more are left.
INLINE void matmul_rows(weight_format format, int R, int P, const matmul_args *m, matmul_sink sink, int panel) {
    int row = 0;
    for (; m->rows - row > R / 2; row += R) matmul_tile(format, R, P, m, sink, (int[]){row, panel});
    if (row < m->rows) matmul_tile(format, R / 2, P, m, sink, (int[]){row, panel});
}

INLINE void matmul(weight_format format, const matmul_args *m, matmul_sink sink) {
    bool integers = format == WEIGHT_Q8_0;
    int step = sink.glu ? 2 : 1, panel = m->first * step, end = m->last * step;
    int P = integers ? INT_PANELS : TILE_PANELS, R = integers ? INT_ROWS : TILE_ROWS;
    if (sink.glu) P = P < 2 ? 2 : P, R = integers ? INT_GLU_ROWS : TILE_GLU_ROWS;
    if (m->rows == 1) {
        if (!integers)
            gemv(format, m, sink, panel, end);
        else
            for (; panel < end; panel += step) q8_tile(1, step, m, sink, (int[]){0, panel});
        return;
    }
    for (; panel + P <= end; panel += P) matmul_rows(format, R, P, m, sink, panel);
    for (; panel < end; panel += step) matmul_rows(format, R, step, m, sink, panel);
}

#define MATMUL(name, format)                                                                  \
    INLINE void matmul_##name(matmul_args m, matmul_epilogue store, const void *context) {    \
        matmul(format, &m, (matmul_sink){store, NULL, context});                              \
    }                                                                                         \
    INLINE void matmul_##name##_glu(matmul_args m, glu_epilogue store, const void *context) { \
        matmul(format, &m, (matmul_sink){NULL, store, context});                              \
    }
MATMUL(f32, WEIGHT_F32)
MATMUL(f16, WEIGHT_F16)
MATMUL(bf16, WEIGHT_BF16)
MATMUL(q8_0, WEIGHT_Q8_0)
#undef MATMUL
#endif
