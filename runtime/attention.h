// Attention over cached keys and values. Keys: [slot][kv head][key / 16][d][16]; values: [slot][kv head][key][e padded to 16].
// Segments of 256 keys at absolute positions: in each, all scores, their maximum, exp, sum and weighted values; the segments
// fold in ascending order with online softmax. Decoding and prefill give the same bits: only which queries share a tile differs.
#ifndef BURIN_ATTENTION_H
#define BURIN_ATTENTION_H
#include "norm.h"

enum { SEGMENT = 256, MAX_HEAD_DIM = 512 };

INLINE int padded(int n) { return (n + LANES - 1) / LANES * LANES; }

// A cache of keys or values of one layer. heads, head_dim, capacity are literals; capacity (keys of a slot) is a multiple of 16.
typedef struct kv_cache {
    int heads, head_dim, capacity;
    size_t slot_stride;  // floats from one slot to the next
    float *data;         // slot 0
} kv_cache;

INLINE float *key_cache_head(const kv_cache *c, int slot, int head) {
    return c->data + (size_t)slot * c->slot_stride + (size_t)head * (size_t)c->capacity * (size_t)c->head_dim;
}
INLINE float *value_cache_head(const kv_cache *c, int slot, int head) {
    return c->data + (size_t)slot * c->slot_stride + (size_t)head * (size_t)c->capacity * (size_t)padded(c->head_dim);
}

// Rows [R][heads * head_dim] with a stride; slot NULL: slot 0; position NULL: row r is at r.
typedef struct kv_rows {
    int rows, stride;
    const float *x;
    const int32_t *slot, *position;
} kv_rows;

// KV heads [first, last) of all rows: the share of this thread.
INLINE void cache_append_keys(kv_cache c, kv_rows in, int first, int last) {
    for (int h = first; h < last; h++)
        for (int r = 0; r < in.rows; r++) {
            int position = in.position ? in.position[r] : r;
            const float *x = in.x + (size_t)r * (size_t)in.stride + h * c.head_dim;
            float *keys = key_cache_head(&c, in.slot ? in.slot[r] : 0, h);
            float *to = keys + (size_t)(position / LANES) * (size_t)(c.head_dim * LANES) + position % LANES;
            for (int d = 0; d < c.head_dim; d++) to[d * LANES] = x[d];
        }
}

INLINE void cache_append_values(kv_cache c, kv_rows in, int first, int last) {
    for (int h = first; h < last; h++)
        for (int r = 0; r < in.rows; r++) {
            int position = in.position ? in.position[r] : r, width = padded(c.head_dim);
            const float *x = in.x + (size_t)r * (size_t)in.stride + h * c.head_dim;
            float *to = value_cache_head(&c, in.slot ? in.slot[r] : 0, h) + (size_t)position * (size_t)width;
            for (int d = 0; d < width; d += LANES) vf_store(to + d, vf_load_n(x + d, c.head_dim - d));
        }
}

// What is added to the 16 scores of keys [key, key + 16) of a row and head. Lanes beyond the row's keys are ignored.
typedef vf (*attention_bias)(const void *context, int row, int head, int key);

typedef struct attention_args {
    int heads;            // literal; a multiple of keys.heads (GQA: consecutive heads share one)
    float scale, softcap; // literals; score = scale q k, then tanh(score / softcap) * softcap unless softcap is 0, then the bias
    int window;           // literal; 0: all, else a row sees its last `window` keys
    bool causal;          // literal; a row sees keys 0 to its position; else all `count` of them
    int count;            // not causal: keys of every row ...
    const int32_t *counts;       // ... or of each row, unless NULL
    int rows;
    const float *q;       // [rows][heads * keys.head_dim]
    int q_stride, y_stride;
    float *y;             // [rows][heads * values.head_dim]
    const int32_t *slot, *position;  // of each row; slot NULL: 0; position NULL: row r is at r
    kv_cache keys, values;
    attention_bias bias;  // a static inline function, or NULL
    const void *bias_context;
} attention_args;

// Keys [from, to) that a row sees.
INLINE void attention_range(const attention_args *a, int row, int *from, int *to) {
    int position = a->position ? a->position[row] : row;
    *to = a->causal ? position + 1 : a->counts ? a->counts[row] : a->count;
    *from = a->window && position + 1 > a->window ? position + 1 - a->window : 0;
}

INLINE vf attention_score(const attention_args *a, vf s, int row, int head, int key) {
    s = vf_mul(s, vf_set1(a->scale));
    if (a->softcap != 0) s = vf_mul(vf_tanh(vf_div(s, vf_set1(a->softcap))), vf_set1(a->softcap));
    return a->bias ? vf_add(s, a->bias(a->bias_context, row, head, key)) : s;
}

// Keys [from, to), inside one segment: *m = their highest score, *l = sum of e^(score - m), o[d] = sum of e^(score - m) v[d]
INLINE void attend_segment(const attention_args *a, int row, int head, int from, int to, float *m, float *l, float *o) {
    int D = a->keys.head_dim, E = padded(a->values.head_dim), kv = head / (a->heads / a->keys.heads);
    int slot = a->slot ? a->slot[row] : 0, base = from / LANES * LANES;
    const float *q = a->q + (size_t)row * (size_t)a->q_stride + head * D;
    const float *keys = key_cache_head(&a->keys, slot, kv), *values = value_cache_head(&a->values, slot, kv);
    float score[SEGMENT];
    vf top = vf_set1(-INFINITY), sum = vf_zero();
    for (int j = base; j < to; j += LANES) {
        vf s = vf_zero();
        for (int d = 0; d < D; d++) s = vf_fma(vf_set1(q[d]), vf_load(keys + (size_t)j * (size_t)D + d * LANES), s);
        s = attention_score(a, s, row, head, j);
        vm seen = vf_and(vm_first(to - j), vf_not(vm_first(from - j)));
        s = vf_where(seen, s, vf_set1(-INFINITY));
        vf_store(score + j - base, s);
        top = vf_max(s, top);
    }
    *m = vf_top(top);
    if (!(*m > -INFINITY)) return;
    for (int j = base; j < to; j += LANES) {
        vf p = vf_exp(vf_sub(vf_load(score + j - base), vf_set1(*m)));
        vf_store(score + j - base, p);
        sum = vf_add(sum, p);
    }
    *l = vf_sum(sum);
    for (int d = 0; d < E; d += LANES) {
        vf out = vf_zero();
        for (int j = from; j < to; j++) out = vf_fma(vf_set1(score[j - base]), vf_load(values + (size_t)j * (size_t)E + d), out);
        vf_store(o + d, out);
    }
}

INLINE void attend(const attention_args *a, int row, int head) {
    int from, to, E = a->values.head_dim;
    float m = -INFINITY, l = 0, o[MAX_HEAD_DIM], ms, ls = 0, os[MAX_HEAD_DIM];
    for (int d = 0; d < padded(E); d++) o[d] = 0;
    attention_range(a, row, &from, &to);
    for (int s = from / SEGMENT * SEGMENT; s < to; s += SEGMENT) {
        attend_segment(a, row, head, s > from ? s : from, s + SEGMENT < to ? s + SEGMENT : to, &ms, &ls, os);
        if (!(ms > -INFINITY)) continue;
        float top = ms > m ? ms : m, old = sf_exp(m - top), new = sf_exp(ms - top);
        l = sf_fma(l, old, ls * new);
        for (int d = 0; d < padded(E); d += LANES)
            vf_store(o + d, vf_fma(vf_load(o + d), vf_set1(old), vf_mul(vf_load(os + d), vf_set1(new))));
        m = top;
    }
    float *y = a->y + (size_t)row * (size_t)a->y_stride + head * E;
    for (int d = 0; d < E; d += LANES) vf_store_n(y + d, vf_div(vf_load(o + d), vf_set1(l > 0 ? l : 1)), chunk_of(E, d));
}

enum { ATTENTION_ROWS = 16 };

// Units of work of one call, for sharing among threads: heads by blocks of rows.
INLINE int attention_units(int heads, int rows) { return heads * ((rows + ATTENTION_ROWS - 1) / ATTENTION_ROWS); }

INLINE void attention(attention_args a, int first, int last) {
    int blocks = (a.rows + ATTENTION_ROWS - 1) / ATTENTION_ROWS;
    for (int unit = first; unit < last; unit++) {
        int head = unit / blocks, row = unit % blocks * ATTENTION_ROWS;
        for (int r = row; r < row + ATTENTION_ROWS && r < a.rows; r++) attend(&a, r, head);
    }
}
#endif
