// Rows of a table as floats: token embeddings and position tables. A table that is also the weights
// of a product is packed in panels of 16 columns, and its rows are their columns.
#ifndef BURIN_GATHER_H
#define BURIN_GATHER_H
#include "blocks.h"
#include "norm.h"

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

// Panels in blocks: 16 columns are decoded for one.
#define FORMAT(name, ...)                                                                      \
    INLINE void gather_column_##name(int depth, const uint8_t *panels, int column, float *y) { \
        gather_block_column(                                                                   \
            WEIGHT_##name,                                                                     \
            panels + (size_t)(column / 16) * block_panel_bytes(WEIGHT_##name, depth),          \
            (const int[]){depth, column % 16}, y);                                             \
    }
INLINE void gather_block_column(weight_format f, const uint8_t *w, const int extent[2], float *y) {
    const int size = block_formats[f].block;
    float values[LANES];
    NO_UNROLL
    for (int k = 0; k < extent[0]; k++) {
        const uint8_t *block = w + (size_t)(k / size) * block_bytes(f);
        vf d = has_panel_d(f) ? panel_d(f, w, extent[0]) : block_d(f, block);
        vf_store(values, block_values(f, block, d, k % size));
        y[k] = values[extent[1]];
    }
}
#include "format_rows.h"
#undef FORMAT
#endif
