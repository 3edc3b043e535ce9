// Rows of a table as floats: token embeddings and position tables. A table that is also the weights of a product is packed in
// panels of 16 columns, and its rows are their columns.
#ifndef BURIN_GATHER_H
#define BURIN_GATHER_H
#include "norm.h"
#include "quantize.h"

// An index of a gather: negative counts from the end; beyond the ends is kept inside.
INLINE int burin_index(int i, int extent) {
    i = i < 0 ? i + extent : i;
    return i < 0 ? 0 : i >= extent ? extent - 1 : i;
}

INLINE void gather_row_f32(int n, const float *table, int index, float *y) {
    memcpy(y, table + (size_t)index * (size_t)n, (size_t)n * sizeof *y);
}

#define GATHER(name)                                                                   \
    INLINE void gather_row_##name(int n, const uint16_t *table, int index, float *y) { \
        const uint16_t *row = table + (size_t)index * (size_t)n;                       \
        for (int i = 0; i < n; i += LANES) {                                           \
            int m = chunk_of(n, i);                                                    \
            vf_store_n(y + i, vf_load_##name##_n(row + i, m), m);                      \
        }                                                                              \
    }
GATHER(f16)
GATHER(bf16)
#undef GATHER

// Element k of column n is [n / 16][k][n % 16].
#define GATHER_COLUMN(name, type, convert)                                                  \
    INLINE void gather_column_##name(int depth, const type *panels, int column, float *y) { \
        const type *x = panels + (size_t)(column / 16) * (size_t)depth * 16 + column % 16;  \
        for (int k = 0; k < depth; k++) y[k] = convert(x[k * 16]);                          \
    }
GATHER_COLUMN(f32, float, )
GATHER_COLUMN(f16, uint16_t, sf_from_f16)
GATHER_COLUMN(bf16, uint16_t, sf_from_bf16)
#undef GATHER_COLUMN

INLINE void gather_column_q8_0(int depth, const q8_panel *panels, int column, float *y) {
    const q8_panel *block = panels + (size_t)(column / 16) * (size_t)blocks_of(depth);
    for (int k = 0; k < depth; k++) {
        const q8_panel *b = block + k / QUANT_BLOCK;
        y[k] = sf_from_f16(b->scale[column % 16]) * (float)(b->q[k % QUANT_BLOCK / 4][column % 16][k % 4] - 128);
    }
}
#endif
