// Rows of a table as floats: token embeddings and position tables.
#ifndef BURIN_GATHER_H
#define BURIN_GATHER_H
#include "norm.h"

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
#endif
