// Rotary position embedding of one row of heads: the first `turned` elements of each head rotate in
// pairs, all others stay. For a pair (a, b):  a' = fma(a, cos, -(b sin))   b' = fma(b, cos, a sin).
// y may be x.
#ifndef BURIN_ROTARY_H
#define BURIN_ROTARY_H
#include "norm.h"

typedef struct rotary_shape {
    int heads, head_dim, turned;
} rotary_shape;

// pairs (i, i + turned / 2); cosine and sine: [turned / 2]
INLINE void rotary_half(rotary_shape shape, const float *x, const float *cosine, const float *sine,
                        float *y) {
    int half = shape.turned / 2;
    for (int h = 0; h < shape.heads; h++, x += shape.head_dim, y += shape.head_dim) {
        for (int i = 0; i < half; i += LANES) {
            int m = chunk_of(half, i);
            vf c = vf_load_n(cosine + i, m), s = vf_load_n(sine + i, m);
            vf a = vf_load_n(x + i, m), b = vf_load_n(x + half + i, m);
            vf_store_n(y + i, vf_fma(a, c, vf_neg(vf_mul(b, s))), m);
            vf_store_n(y + half + i, vf_fma(b, c, vf_mul(a, s)), m);
        }
        if (y != x)
            memcpy(y + 2 * half, x + 2 * half, (size_t)(shape.head_dim - 2 * half) * sizeof *y);
    }
}

// pairs (2i, 2i + 1); cosine and sine: [turned / 2]
INLINE void rotary_pairs(rotary_shape shape, const float *x, const float *cosine, const float *sine,
                         float *y) {
    int turned = shape.turned / 2 * 2;
    for (int h = 0; h < shape.heads; h++, x += shape.head_dim, y += shape.head_dim) {
        for (int i = 0; i < turned; i += LANES) {
            int m = chunk_of(turned, i);
            float c[LANES] = {0}, s[LANES] = {0};
            for (int j = 0; j < m; j++)
                c[j] = cosine[(i + j) / 2], s[j] = j % 2 ? sine[(i + j) / 2] : -sine[(i + j) / 2];
            vf a = vf_load_n(x + i, m);
            vf_store_n(y + i, vf_fma(a, vf_load(c), vf_mul(vf_swap_pairs(a), vf_load(s))), m);
        }
        if (y != x) memcpy(y + turned, x + turned, (size_t)(shape.head_dim - turned) * sizeof *y);
    }
}
#endif
