// Products of a row with kept keys, and sums of kept values, for weights that no attention
// computes: caches of f32 as in kv_cache.h. A product is one chain of fma over the head's width, a
// sum one chain over ascending keys, so that rows together or alone have the same bits.
#ifndef BURIN_KEPT_KEYS_H
#define BURIN_KEPT_KEYS_H
#include "kv_cache.h"

// y[context]: the products of x with the first `seen` keys of a head, then zeros
INLINE void key_products(const kv_cache *c, int slot, int head, int seen, int context,
                         const float *x, float *y) {
    const float *keys = (const float *)(const void *)key_cache_head(c, slot, head);
    for (int key = 0; key < context; key += LANES) {
        vf sum = vf_zero();
        const float *panel = keys + (size_t)key * (size_t)c->head_dim;
        for (int d = 0; key < seen && d < c->head_dim; d++)
            sum = vf_fma(vf_set1(x[d]), vf_load(panel + (size_t)d * LANES), sum);
        if (key + LANES > seen && key < seen) sum = vf_where(vm_first(seen - key), sum, vf_zero());
        vf_store_n(y + key, sum, context - key);
    }
}

// y[head_dim]: the first `seen` values of a head, weighted by x
INLINE void key_sums(const kv_cache *c, int slot, int head, int seen, const float *x, float *y) {
    const float *values = (const float *)(const void *)value_cache_head(c, slot, head);
    size_t width = (size_t)padded(c->head_dim);
    for (int d = 0; d < c->head_dim; d += LANES) {
        vf sum = vf_zero();
        for (int key = 0; key < seen; key++)
            sum = vf_fma(vf_set1(x[key]), vf_load(values + (size_t)key * width + d), sum);
        vf_store_n(y + d, sum, c->head_dim - d);
    }
}
#endif
