// Activations of integer products: blocks of 32 along k. A row of k of them is blocks_of(k) blocks;
// elements beyond k are zero.
#ifndef BURIN_QUANTIZE_H
#define BURIN_QUANTIZE_H
#include "vec.h"

enum { QUANT_BLOCK = 32 };

typedef struct q8_block {
    float scale;    // of rows of integers: the zero point, the same in all blocks
    int32_t start;  // -128 times the sum of q: what sums with weights + 128 start with, loaded into
                    // all lanes at once
    int32_t first;  // sum of the first 16 of q
    int8_t q[QUANT_BLOCK];  // -127..127
} q8_block;

INLINE int blocks_of(int k) { return (k + QUANT_BLOCK - 1) / QUANT_BLOCK; }
INLINE int sum_of_block(const q8_block *x) { return -(x->start >> 7); }

INLINE void store_integers(vi low, vi high, q8_block *q) {
    vi_store_u8((uint8_t *)q->q, low);
    vi_store_u8((uint8_t *)q->q + LANES, high);
    q->first = si_sum_i8(q->q);
    q->start = -128 * (q->first + si_sum_i8(q->q + LANES));
}

// `n` blocks, 1, 2 or BLOCKS_TOGETHER (a literal), of 32 values each: scale = max |x| / 127, q =
// round(x * (127 / max |x|)), ties to even; a block of zeros has scale 0. NaN counts as 0; where
// there is an infinity all q are 0 and the scale is infinite, so that products are NaN.
enum { BLOCKS_TOGETHER = 4 };
INLINE void quantize_blocks(int n, vf (*x)[2], q8_block *q) {
    vf most[BLOCKS_TOGETHER];
    float top[BLOCKS_TOGETHER], inverse[BLOCKS_TOGETHER], scale[BLOCKS_TOGETHER];
    UNROLL
    for (int i = 0; i < n; i++) {
        x[i][0] = vf_where(vf_equal(x[i][0], x[i][0]), x[i][0], vf_zero());
        x[i][1] = vf_where(vf_equal(x[i][1], x[i][1]), x[i][1], vf_zero());
        most[i] = vf_max(vf_abs(x[i][0]), vf_abs(x[i][1]));
    }
    if (n == 2) most[2] = most[0], most[3] = most[1];
    if (n > 1)
        vf_reduce_max_4(most, top);
    else
        top[0] = vf_reduce_max(most[0]);
    NO_UNROLL
    for (int i = 0; i < n; i++) {
        bool zeros = top[i] < 0x1p-100f;
        inverse[i] = zeros ? 0 : 127.0f / top[i], scale[i] = zeros ? 0 : top[i] / 127.0f;
    }
    UNROLL
    for (int i = 0; i < n; i++) {
        if (top[i] == INFINITY) x[i][0] = x[i][1] = vf_zero();
        vf by = vf_set1(inverse[i]);
        q[i].scale = scale[i];
        store_integers(vi_round(vf_mul(x[i][0], by)), vi_round(vf_mul(x[i][1], by)), q + i);
    }
}

// `n` whole blocks (a literal, as above)
INLINE void quantize_together(int n, const float *x, q8_block *q) {
    vf values[BLOCKS_TOGETHER][2];
    UNROLL
    for (int j = 0; j < n; j++)
        values[j][0] = vf_load(x + j * QUANT_BLOCK),
        values[j][1] = vf_load(x + j * QUANT_BLOCK + LANES);
    quantize_blocks(n, values, q);
}

// One row of k floats to blocks_of(k) blocks.
INLINE void quantize_row_q8_0(int k, const float *x, q8_block *q) {
    int i = 0;
    vf values[BLOCKS_TOGETHER][2];
    for (; i + BLOCKS_TOGETHER * QUANT_BLOCK <= k;
         i += BLOCKS_TOGETHER * QUANT_BLOCK, q += BLOCKS_TOGETHER)
        quantize_together(BLOCKS_TOGETHER, x + i, q);
    if (i + 2 * QUANT_BLOCK <= k) quantize_together(2, x + i, q), i += 2 * QUANT_BLOCK, q += 2;
    NO_UNROLL
    for (; i < k; i += QUANT_BLOCK) {
        values[0][0] = vf_load_n(x + i, k - i),
        values[0][1] = vf_load_n(x + i + LANES, k - i - LANES);
        quantize_blocks(1, values, q++);
    }
}

// A row of integers, of which no two, nor one and 0, are more than 255 apart: x = q - zero
INLINE int zero_of_row(int k, const float *x) {
    vf low = vf_zero(), high = vf_zero();
    for (int i = 0; i < k; i += LANES) {
        vf v = k - i < LANES ? vf_load_n(x + i, k - i) : vf_load(x + i);
        low = vf_min(low, v), high = vf_max(high, v);
    }
    float least = -vf_reduce_max(vf_sub(vf_zero(), low)), most = vf_reduce_max(high);
    return least < -128 ? -128 - (int)least : most > 127 ? 127 - (int)most : 0;
}

INLINE void keep_integers(vf a, vf b, q8_block *q) {
    store_integers(vi_truncate(a), vi_truncate(b), q);
}

INLINE vf shifted_n(const float *x, int n, float by) {
    float padded[LANES] = {0};
    for (int i = 0; i < n && i < LANES; i++) padded[i] = x[i] + by;
    return vf_load(padded);
}

// One row of k integers to blocks_of(k) blocks whose scale is the zero point
INLINE void quantize_row_integers(int k, const float *x, q8_block *q) {
    const float zero = (float)zero_of_row(k, x);
    const vf shift = vf_set1(zero);
    int i = 0;
    for (; i + QUANT_BLOCK <= k; i += QUANT_BLOCK, q++) {
        keep_integers(vf_add(vf_load(x + i), shift), vf_add(vf_load(x + i + LANES), shift), q);
        q->scale = zero;
    }
    if (i == k) return;
    keep_integers(shifted_n(x + i, k - i, zero), shifted_n(x + i + LANES, k - i - LANES, zero), q);
    q->scale = zero;
}
#endif
