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

INLINE vf panel_load(weight_format format, const void *w, size_t element) {
    if (format == WEIGHT_F32) return vf_load((const float *)w + element);
    if (format == WEIGHT_F16) return vf_load_f16((const uint16_t *)w + element);
    return vf_load_bf16((const uint16_t *)w + element);
}

INLINE void matmul_store(matmul_sink sink, int panels, const vf *sum, int row, int panel) {
    UNROLL
    for (int p = 0; p < panels; p++) {
        if (!sink.glu) sink.plain(sink.context, sum[p], row, (panel + p) * LANES);
        else if (p % 2) sink.glu(sink.context, sum[p - 1], sum[p], row, (panel + p) / 2 * LANES);
    }
}

// rows [row, row + R) by weight panels [panel, panel + P); rows beyond the last repeat it and are not stored
INLINE void matmul_tile(weight_format format, int R, int P, const matmul_args *m, matmul_sink sink, const int at[2]) {
    vf sum[8][8];
    const float *x[8];
    UNROLL
    for (int i = 0; i < R; i++) {
        int row = at[0] + i < m->rows ? at[0] + i : m->rows - 1;
        x[i] = (const float *)m->x + (size_t)row * (size_t)m->x_stride;
        UNROLL
        for (int p = 0; p < P; p++) sum[i][p] = vf_zero();
    }
    for (int k = 0; k < m->k; k++) {
        vf w[8];
        UNROLL
        for (int p = 0; p < P; p++) w[p] = panel_load(format, m->w, ((size_t)(at[1] + p) * (size_t)m->k + (size_t)k) * LANES);
        UNROLL
        for (int i = 0; i < R; i++) {
            vf a = vf_set1(x[i][k]);
            UNROLL
            for (int p = 0; p < P; p++) sum[i][p] = vf_fma(a, w[p], sum[i][p]);
        }
    }
    UNROLL
    for (int i = 0; i < R; i++)
        if (at[0] + i < m->rows) matmul_store(sink, P, sum[i], at[0] + i, at[1]);
}

// acc = acc + (integer sum of a block) * (weight scale * activation scale), one fma a block
INLINE vf q8_step(const q8_panel *w, const q8_block *x, vf acc) {
    vi c = vi_set1(DOT4_BIAS ? x->correction : 0);
    UNROLL
    for (int j = 0; j < 8; j++) {
        int32_t four;
        memcpy(&four, x->q + 4 * j, 4);
        c = vi_dot4(c, w->q[j][0], four);
    }
    return vf_fma(vf_from_int(c), vf_mul(vf_load_f16(w->scale), vf_set1(x->scale)), acc);
}

INLINE void q8_tile(int R, int P, const matmul_args *m, matmul_sink sink, const int at[2]) {
    vf sum[8][8];
    int blocks = blocks_of(m->k);
    for (int i = 0; i < R; i++) {
        if (at[0] + i >= m->rows) break;
        const q8_block *x = (const q8_block *)m->x + (size_t)(at[0] + i) * (size_t)m->x_stride;
        for (int p = 0; p < P; p++) {
            const q8_panel *w = (const q8_panel *)m->w + (size_t)(at[1] + p) * (size_t)blocks;
            sum[i][p] = vf_zero();
            for (int b = 0; b < blocks; b++) sum[i][p] = q8_step(w + b, x + b, sum[i][p]);
        }
        matmul_store(sink, P, sum[i], at[0] + i, at[1]);
    }
}

INLINE void matmul_span(weight_format format, int R, int P, const matmul_args *m, matmul_sink sink, int panel) {
    for (int row = 0; row < m->rows; row += R) {
        int at[2] = {row, panel};
        if (format == WEIGHT_Q8_0) q8_tile(R, P, m, sink, at);
        else matmul_tile(format, R, P, m, sink, at);
    }
}

INLINE void matmul(weight_format format, const matmul_args *m, matmul_sink sink) {
    int step = sink.glu ? 2 : 1, panel = m->first * step, end = m->last * step;
    if (m->rows == 1) {
        for (; panel + GEMV_PANELS <= end; panel += GEMV_PANELS) matmul_span(format, 1, GEMV_PANELS, m, sink, panel);
        for (; panel < end; panel += step) matmul_span(format, 1, step, m, sink, panel);
    } else {
        for (; panel + TILE_PANELS <= end; panel += TILE_PANELS) matmul_span(format, TILE_ROWS, TILE_PANELS, m, sink, panel);
        for (; panel < end; panel += step) matmul_span(format, TILE_ROWS, step, m, sink, panel);
    }
}

#define MATMUL(name, format)                                                                                  \
    INLINE void matmul_##name(matmul_args m, matmul_epilogue store, const void *context) {                    \
        matmul(format, &m, (matmul_sink){store, NULL, context});                                              \
    }                                                                                                         \
    INLINE void matmul_##name##_glu(matmul_args m, glu_epilogue store, const void *context) {                 \
        matmul(format, &m, (matmul_sink){NULL, store, context});                                              \
    }
MATMUL(f32, WEIGHT_F32)
MATMUL(f16, WEIGHT_F16)
MATMUL(bf16, WEIGHT_BF16)
MATMUL(q8_0, WEIGHT_Q8_0)
#undef MATMUL
#endif
