// Norms and softmax over one row of n floats. Sums: element i to lane i mod 16 by fma or addition,
// then the tree of vf_sum.
#ifndef BURIN_NORM_H
#define BURIN_NORM_H
#include "fault.h"
#include "vec.h"

INLINE int chunk_of(int n, int i) { return n - i < LANES ? n - i : LANES; }

INLINE float row_sum(int n, const float *x) {
    vf s = vf_zero();
    for (int i = 0; i < n; i += LANES) s = vf_add(s, vf_load_n(x + i, chunk_of(n, i)));
    return vf_sum(s);
}

INLINE float row_sum_of_squares(int n, const float *x) {
    vf s = vf_zero();
    for (int i = 0; i < n; i += LANES) {
        vf v = vf_load_n(x + i, chunk_of(n, i));
        s = vf_fma(v, v, s);
    }
    return vf_sum(s);
}

// y = (x * scale) * weight, scale = 1 / sqrt(sum(x^2) / n + epsilon). y may be x.
INLINE void rms_norm(int n, float epsilon, const float *x, const float *weight, float *y) {
    vf scale = vf_set1(1.0f / sqrtf(row_sum_of_squares(n, x) / (float)n + epsilon + FAULT_EPSILON));
    for (int i = 0; i < n; i += LANES) {
        int m = chunk_of(n, i);
        vf_store_n(y + i, vf_mul(vf_mul(vf_load_n(x + i, m), scale), vf_load_n(weight + i, m)), m);
    }
}

// y = fma((x - mean) * scale, weight, bias), scale = 1 / sqrt(sum((x - mean)^2) / n + epsilon);
// without bias: a product. y may be x.
INLINE void layer_norm(int n, float epsilon, const float *x, const float *const weight_bias[2],
                       float *y) {
    vf mean = vf_set1(row_sum(n, x) / (float)n), s = vf_zero();
    for (int i = 0; i < n; i += LANES) {
        int m = chunk_of(n, i);
        vf v = vf_sub(vf_load_n(x + i, m), mean);
        if (m < LANES) v = vf_where(vm_first(m), v, vf_zero());
        s = vf_fma(v, v, s);
    }
    vf scale = vf_set1(1.0f / sqrtf(vf_sum(s) / (float)n + epsilon + FAULT_EPSILON));
    for (int i = 0; i < n; i += LANES) {
        int m = chunk_of(n, i);
        vf v = vf_mul(vf_sub(vf_load_n(x + i, m), mean), scale),
           w = vf_load_n(weight_bias[0] + i, m);
        vf_store_n(y + i,
                   weight_bias[1] ? vf_fma(v, w, vf_load_n(weight_bias[1] + i, m)) : vf_mul(v, w),
                   m);
    }
}

// sum = x + residual. `sum` may be x or residual. The skip norms are this and then the norm of
// `sum`.
INLINE void add_row(int n, const float *x, const float *residual, float *sum) {
    for (int i = 0; i < n; i += LANES) {
        int m = chunk_of(n, i);
        vf_store_n(sum + i, vf_add(vf_load_n(x + i, m), vf_load_n(residual + i, m)), m);
    }
}

// y = e^(x - max x) / sum. y may be x. A row of -infinity gives zeros.
INLINE void softmax_row(int n, const float *x, float *y) {
    vf top = vf_set1(-INFINITY), s = vf_zero();
    for (int i = 0; i < n; i += LANES) {
        int m = chunk_of(n, i);
        vf v = vf_load_n(x + i, m);
        if (m < LANES) v = vf_where(vm_first(m), v, vf_set1(-INFINITY));
        top = vf_max(v, top);
    }
    float highest = vf_reduce_max(top);
    vf shift = vf_set1(highest > -INFINITY ? highest : 0);
    for (int i = 0; i < n; i += LANES) {
        int m = chunk_of(n, i);
        vf e = vf_exp(vf_sub(vf_load_n(x + i, m), shift));
        if (m < LANES) e = vf_where(vm_first(m), e, vf_zero());
        s = vf_add(s, e);
        vf_store_n(y + i, e, m);
    }
    float total = vf_sum(s);
    vf whole = vf_set1(total > 0 ? total : 1);
    for (int i = 0; i < n; i += LANES) {
        int m = chunk_of(n, i);
        vf_store_n(y + i, vf_div(vf_load_n(y + i, m), whole), m);
    }
}

// The same over an axis that is not the last one: the sum is one chain.
INLINE void softmax_chain(int n, const float *x, float *y) {
    float top = -INFINITY, total = 0;
    for (int i = 0; i < n; i++) top = sf_max(x[i], top);
    for (int i = 0; i < n; i++) {
        y[i] = sf_exp(x[i] - (top > -INFINITY ? top : 0));
        total = total + y[i];
    }
    for (int i = 0; i < n; i++) y[i] = y[i] / (total > 0 ? total : 1);
}
#endif
