// Every kernel once more, as plain loops over single floats: the reference of the templates, bit by
// bit.
#ifndef KERNELS_REFERENCE_H
#define KERNELS_REFERENCE_H
#include "check.h"

// w: [n][k] row-major, as in a checkpoint
typedef struct Product {
    int rows, k, n;
    const float *x, *w;
} Product;

static inline float reference_dot(const Product *p, int row, int column) {
    float sum = 0;
    for (int k = 0; k < p->k; k++) sum = sf_fma(p->x[row * p->k + k], p->w[column * p->k + k], sum);
    return sum;
}

static inline float reference_tree(float lane[16]) {
    for (int w = 8; w; w /= 2)
        for (int i = 0; i < w; i++) lane[i] += lane[i + w];
    return lane[0];
}

static inline float reference_sum(int n, const float *x) {
    float lane[16] = {0};
    for (int i = 0; i < n; i++) lane[i % 16] += x[i];
    return reference_tree(lane);
}

static inline float reference_squares(int n, const float *x) {
    float lane[16] = {0};
    for (int i = 0; i < n; i++) lane[i % 16] = sf_fma(x[i], x[i], lane[i % 16]);
    return reference_tree(lane);
}

static inline void reference_rms_norm(int n, float epsilon, const float *x, const float *weight,
                                      float *y) {
    float scale = 1.0f / sqrtf(reference_squares(n, x) / (float)n + epsilon);
    for (int i = 0; i < n; i++) y[i] = x[i] * scale * weight[i];
}

static inline void reference_layer_norm(int n, float epsilon, const float *x,
                                        const float *const weight_bias[2], float *y) {
    float mean = reference_sum(n, x) / (float)n;
    for (int i = 0; i < n; i++) y[i] = x[i] - mean;
    float scale = 1.0f / sqrtf(reference_squares(n, y) / (float)n + epsilon);
    for (int i = 0; i < n; i++) {
        float v = y[i] * scale;
        y[i] = weight_bias[1] ? sf_fma(v, weight_bias[0][i], weight_bias[1][i])
                              : v * weight_bias[0][i];
    }
}

static inline void reference_softmax(int n, const float *x, float *y) {
    float top = -INFINITY;
    for (int i = 0; i < n; i++) top = x[i] > top ? x[i] : top;
    for (int i = 0; i < n; i++) y[i] = sf_exp(x[i] - (top > -INFINITY ? top : 0));
    float sum = reference_sum(n, y);
    for (int i = 0; i < n; i++) y[i] /= sum > 0 ? sum : 1;
}

static inline void reference_rotary(rotary_shape s, bool pairs, const float *table[2], float *x) {
    for (int h = 0; h < s.heads; h++)
        for (int i = 0; i < s.turned / 2; i++) {
            float *a = x + h * s.head_dim + (pairs ? 2 * i : i),
                  *b = a + (pairs ? 1 : s.turned / 2), was = *a;
            *a = sf_fma(was, table[0][i], -(*b * table[1][i]));
            *b = sf_fma(*b, table[0][i], was * table[1][i]);
        }
}

// A row of n values as a cache of this format holds it
static inline void reference_cached(cache_format f, int n, const float *x, float *y) {
    for (int first = 0; first < n; first += 32) {
        int last = n - first < 32 ? n : first + 32;
        float top = 0;
        for (int i = first; i < last; i++) top = fabsf(x[i]) > top ? fabsf(x[i]) : top;
        float scale = sf_from_f16(f16_from_float(top / 127)), inverse = top > 0 ? 127 / top : 0;
        for (int i = first; i < last; i++)
            y[i] = f == CACHE_Q8_0  ? rintf(x[i] * inverse) * scale
                   : f == CACHE_F16 ? sf_from_f16(f16_from_float(x[i]))
                                    : x[i];
    }
}

// Attention of one row and head over keys[key][d] and values[key][e], keys [from, to)
typedef struct Attention {
    int d, e, from, to;
    float scale, softcap;
    const float *bias;  // [key] or NULL
    const float *q, *keys, *values;
    int key_stride, value_stride;
} Attention;

static inline float reference_score(const Attention *a, int key) {
    float s = 0;
    for (int d = 0; d < a->d; d++) s = sf_fma(a->q[d], a->keys[key * a->key_stride + d], s);
    s *= a->scale;
    if (a->softcap != 0) s = sf_tanh(s / a->softcap) * a->softcap;
    return a->bias ? s + a->bias[key] : s;
}

static inline void reference_attention(const Attention *a, float *y) {
    float M = -INFINITY, L = 0, score[256];
    for (int e = 0; e < a->e; e++) y[e] = 0;
    for (int first = a->from / 256 * 256; first < a->to; first += 256) {
        float m = -INFINITY, lane[16] = {0};
        int from = first > a->from ? first : a->from,
            to = first + 256 < a->to ? first + 256 : a->to;
        for (int j = from; j < to; j++) {
            score[j - first] = reference_score(a, j);
            m = score[j - first] > m ? score[j - first] : m;
        }
        if (m == -INFINITY) continue;
        for (int j = from; j < to; j++)
            lane[j % 16] += score[j - first] = sf_exp(score[j - first] - m);
        float l = reference_tree(lane), top = m > M ? m : M, old = sf_exp(M - top),
              new = sf_exp(m - top);
        L = sf_fma(L, old, l * new);
        for (int e = 0; e < a->e; e++) {
            float o = 0;
            for (int j = from; j < to; j++)
                o = sf_fma(score[j - first], a->values[j * a->value_stride + e], o);
            y[e] = sf_fma(y[e], old, o * new);
        }
        M = top;
    }
    for (int e = 0; e < a->e; e++) y[e] /= L > 0 ? L : 1;
}
#endif
