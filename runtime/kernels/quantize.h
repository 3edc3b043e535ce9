// Activations of integer products: blocks of 32 along k. A row of k of them is blocks_of(k) blocks; what is beyond k is zero.
#ifndef BURIN_QUANTIZE_H
#define BURIN_QUANTIZE_H
#include "vec.h"

enum { QUANT_BLOCK = 32 };

typedef struct q8_block {
    float scale;
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
#endif
