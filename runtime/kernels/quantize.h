// Activations of integer products: blocks of 32 along k. A row of k of them is blocks_of(k) blocks; what is beyond k is zero.
#ifndef BURIN_QUANTIZE_H
#define BURIN_QUANTIZE_H
#include "vec.h"

enum { QUANT_BLOCK = 32 };

typedef struct q8_block {
    float scale;            // of rows of integers: the zero point, the same in all blocks
    int32_t sum[2];         // of the first and of the last 16 of q
    int8_t q[QUANT_BLOCK];  // -127..127
} q8_block;

INLINE int blocks_of(int k) { return (k + QUANT_BLOCK - 1) / QUANT_BLOCK; }

// scale = max |x| / 127, q = round(x * (127 / max |x|)), ties to even; a block of zeros has scale 0. NaN counts as 0;
// where there is an infinity all q are 0 and the scale is infinite, so that products are NaN.
INLINE void quantize_block(vf a, vf b, q8_block *q) {
    a = vf_where(vf_equal(a, a), a, vf_zero());
    b = vf_where(vf_equal(b, b), b, vf_zero());
    float top = vf_top(vf_max(vf_abs(a), vf_abs(b)));
    if (top == INFINITY) a = b = vf_zero();
    vf inverse = vf_set1(top >= 0x1p-100f ? 127.0f / top : 0);
    vi low = vi_truncate(vf_round(vf_mul(a, inverse))), high = vi_truncate(vf_round(vf_mul(b, inverse)));
    vi_store_u8((uint8_t *)q->q, low);
    vi_store_u8((uint8_t *)q->q + LANES, high);
    q->scale = top >= 0x1p-100f ? top / 127.0f : 0;
    q->sum[0] = (int32_t)vf_sum(vf_from_int(low)), q->sum[1] = (int32_t)vf_sum(vf_from_int(high));
}

// One row of k floats to blocks_of(k) blocks.
INLINE void quantize_row_q8_0(int k, const float *x, q8_block *q) {
    for (int i = 0; i + QUANT_BLOCK <= k; i += QUANT_BLOCK) quantize_block(vf_load(x + i), vf_load(x + i + LANES), q++);
    int rest = k % QUANT_BLOCK;
    if (rest) quantize_block(vf_load_n(x + k - rest, rest), vf_load_n(x + k - rest + LANES, rest - LANES), q);
}

// A row of integers, of which no two, nor one and 0, are more than 255 apart: x = q - zero
INLINE int zero_of_row(int k, const float *x) {
    vf low = vf_zero(), high = vf_zero();
    for (int i = 0; i < k; i += LANES) {
        vf v = k - i < LANES ? vf_load_n(x + i, k - i) : vf_load(x + i);
        low = vf_min(low, v), high = vf_max(high, v);
    }
    float least = -vf_top(vf_sub(vf_zero(), low)), most = vf_top(high);
    return least < -128 ? -128 - (int)least : most > 127 ? 127 - (int)most : 0;
}

INLINE void keep_integers(vf a, vf b, q8_block *q) {
    vi low = vi_truncate(a), high = vi_truncate(b);
    vi_store_u8((uint8_t *)q->q, low);
    vi_store_u8((uint8_t *)q->q + LANES, high);
    q->sum[0] = (int32_t)vf_sum(a), q->sum[1] = (int32_t)vf_sum(b);
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
