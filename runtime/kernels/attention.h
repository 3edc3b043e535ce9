// Attention over cached keys and values (kv_cache.h). Segments of 256 keys at absolute positions:
// in each, all scores, their maximum, exp, sum and weighted values; the segments fold in ascending
// order with online softmax. Decoding and prefill give the same bits: only which queries share a
// tile differs.
#ifndef BURIN_ATTENTION_H
#define BURIN_ATTENTION_H
#include "kv_cache.h"

// The widest head of a model, set by emitted code.
#ifndef BURIN_HEAD_DIM
#define BURIN_HEAD_DIM 512
#endif
enum { MAX_HEAD_DIM = (BURIN_HEAD_DIM + QUANT_BLOCK - 1) / QUANT_BLOCK * QUANT_BLOCK };

// The bias of the 16 scores of keys [key, key + 16), for a row of a sequence and a head. Lanes
// beyond the row's keys are ignored.
typedef struct bias_place {
    int sequence, row, head;
} bias_place;
typedef vf (*attention_bias)(const void *context, bias_place at, int key);

// The first `n` of 16 values; n >= 16: all 16
INLINE vf load_up_to(const float *x, int n) { return n >= LANES ? vf_load(x) : vf_load_n(x, n); }

// A bias in memory: [sequences][heads][rows][count], a stride of 0 where there is one for all.
typedef struct bias_rows {
    const float *data;
    size_t sequence_stride, head_stride, row_stride;
    int count;
} bias_rows;
CALLED vf bias_of_rows(const void *context, bias_place at, int key) {
    const bias_rows *b = context;
    const float *x =
        b->data + (size_t)at.sequence * b->sequence_stride + (size_t)at.head * b->head_stride;
    return load_up_to(x + (size_t)at.row * b->row_stride + key, b->count - key);
}

typedef struct attention_args {
    int heads;  // literal; a multiple of keys.heads (GQA: consecutive heads share one)
    float scale,
        softcap;   // literals; score = scale q k, then tanh(score / softcap) * softcap unless
                   // softcap is 0, then the bias
    int window;    // literal; 0: all, else a row sees its last `window` keys
    bool causal;   // literal; a row sees keys 0 to its position; else all `count` keys
    int sequence;  // rows of each sequence of a batch, 0: there is one; see slot_of_row
    int count;     // not causal: keys of every row ...
    const int32_t *counts;  // ... or of each row, unless NULL
    int rows;
    const float *q;  // [rows][heads * keys.head_dim]
    int q_stride, y_stride;
    float *y;                        // [rows][heads * values.head_dim]
    const int32_t *slot, *position;  // of each row, or NULL
    kv_cache keys, values;
    attention_bias bias;  // a static inline function, or NULL
    const void *bias_context;
    // NULL, or the addend to all scores of a key, [sequences][count]: 0, or very negative for
    // padding
    const float *mask;
    const float
        *sinks;    // NULL, or of each head one more score, whose share of the softmax goes nowhere
    float *parts;  // NULL, or where results are left segment by segment: see attention_split_units
} attention_args;

// Keys [from, to) that a row sees.
INLINE void attention_range(const attention_args *a, int row, int *from, int *to) {
    int position = position_of_row(a->position, a->sequence, row);
    *to = a->causal ? position + 1 : a->counts ? a->counts[row] : a->count;
    *from = a->window && position + 1 > a->window ? position + 1 - a->window : 0;
}

enum { MAX_QUERIES = TILE_ROWS };  // of a tile

// Queries (a row and a head each) that share a slot and a KV head: their operands, and their
// results so far. Products take `width` queries at once; beyond n they repeat the last one.
typedef struct attention_tile {
    int n, width, row[MAX_QUERIES], head[MAX_QUERIES], from[MAX_QUERIES], to[MAX_QUERIES];
    const float *q[MAX_QUERIES];
    const unsigned char *keys, *values;
    const uint16_t *key_scales, *value_scales;  // of Q8_0
    const float *mask;
    int sequence, first_row, seen;  // of the batch; its first row; keys before its padding
    float top[MAX_QUERIES], sum[MAX_QUERIES];  // folded
    _Alignas(vf) float out[MAX_QUERIES][MAX_HEAD_DIM];
    // of one segment: the keys [lo, hi) each query sees, its scores (key - start of the segment),
    // and its part of the sums
    int lo[MAX_QUERIES], hi[MAX_QUERIES];
    _Alignas(vf) float scale[SEGMENT * MAX_HEAD_DIM /
                             QUANT_BLOCK];  // of Q8_0: of its keys, then of its values
    float part_top[MAX_QUERIES], part_sum[MAX_QUERIES];
    _Alignas(vf) float score[MAX_QUERIES][SEGMENT];
    _Alignas(vf) float part[MAX_QUERIES][MAX_HEAD_DIM];
} attention_tile;

// Panels whose accumulators fit the registers beside R rows.
INLINE int panels_beside(int R) {
    if (R == 1) return GEMV_PANELS;
    return TILE_PANELS;
}

// Scores, as bare products, of P times 16 keys from `key`; the segment starts at `start`
INLINE void score_panels(const attention_args *a, int R, int P, attention_tile *t, int key,
                         int start) {
    vf sum[MAX_QUERIES][8];
    UNROLL
    for (int i = 0; i < R; i++) {
        UNROLL
        for (int p = 0; p < P; p++) sum[i][p] = vf_zero();
    }
    size_t d = (size_t)a->keys.head_dim;
    int scales = blocks_of(a->keys.head_dim) * LANES;
    const unsigned char *keys =
        t->keys + (size_t)place_in(&a->keys, key) * d * cached_bytes(a->keys.format);
    chain c = {keys,
               d * LANES,
               LANES,
               a->keys.head_dim,
               a->keys.format,
               t->scale + (key - start) / LANES * scales,
               true,
               scales,
               0};
    chain_tile(R, P, t->q, &c, sum);
    UNROLL
    for (int i = 0; i < R; i++) {
        UNROLL
        for (int p = 0; p < P; p++) vf_store(t->score[i] + (key - start + p * LANES), sum[i][p]);
    }
}

// The keys that any query of the tile sees: [lo, hi)
INLINE void segment_range(const attention_tile *t, int *lo, int *hi) {
    *lo = t->lo[0], *hi = t->hi[0];
    for (int i = 1; i < t->n; i++)
        *lo = t->lo[i] < *lo ? t->lo[i] : *lo, *hi = t->hi[i] > *hi ? t->hi[i] : *hi;
}

INLINE void scores_of_width(const attention_args *a, int R, attention_tile *t, int start) {
    int P = panels_beside(R), lo, hi;
    segment_range(t, &lo, &hi);
    int key = lo / LANES * LANES;
    for (; key + P * LANES <= padded(hi); key += P * LANES) score_panels(a, R, P, t, key, start);
    for (; key < hi; key += LANES) score_panels(a, R, 1, t, key, start);
}

// Products come in three widths, an instance each; their common code exists once.
INLINE int tile_width(int queries) {
    return queries > TILE_ROWS / 2 ? TILE_ROWS : queries > 1 ? TILE_ROWS / 2 : 1;
}

// Scales of the segment's keys as floats: [key / 16][block][16]; of its values [block][key], so
// that one is beside the next key's
INLINE void load_scales(const kv_cache *c, attention_tile *t, bool keys, int start) {
    int blocks = blocks_of(c->head_dim), lo, hi;
    const uint16_t *from = keys ? t->key_scales : t->value_scales;
    if (c->format != CACHE_Q8_0) return;
    from += (place_in(c, start) - start) / LANES * blocks * LANES;
    segment_range(t, &lo, &hi);
    for (int key = lo / LANES * LANES; key < hi; key += LANES)
        for (int b = 0; b < blocks; b++) {
            vf scale = vf_load_f16(from + (size_t)(key / LANES * blocks + b) * LANES);
            vf_store(t->scale + (keys ? ((key - start) / LANES * blocks + b) * LANES
                                      : b * SEGMENT + key - start),
                     scale);
        }
}

INLINE void segment_scores(const attention_args *a, attention_tile *t, int start) {
    load_scales(&a->keys, t, true, start);
    if (t->width == TILE_ROWS)
        scores_of_width(a, TILE_ROWS, t, start);
    else if (t->width == TILE_ROWS / 2)
        scores_of_width(a, TILE_ROWS / 2, t, start);
    else
        scores_of_width(a, 1, t, start);
}

// The score of 16 keys from its product: scaled, capped, biased, and -infinity where the key is not
// seen
INLINE vf finish_score(const attention_args *a, const attention_tile *t, int i, int key, vf s) {
    s = vf_mul(s, vf_set1(a->scale));
    if (a->softcap != 0) s = vf_mul(vf_tanh(vf_div(s, vf_set1(a->softcap))), vf_set1(a->softcap));
    if (a->bias)
        s = vf_add(s,
                   a->bias(a->bias_context,
                           (bias_place){t->sequence, t->row[i] - t->first_row, t->head[i]}, key));
    if (a->mask) s = vf_add(s, load_up_to(t->mask + key, a->count - key));
    if (key >= t->lo[i] && key + LANES <= t->hi[i]) return s;
    vm seen = vf_and(vm_first(t->hi[i] - key), vf_not(vm_first(t->lo[i] - key)));
    return vf_where(seen, s, vf_set1(-INFINITY));
}

// Query i: its scores finished, and their maximum m. One that sees nothing here gets m = -infinity.
INLINE void finish_scores(const attention_args *a, attention_tile *t, int i, int start) {
    vf top = vf_set1(-INFINITY);
    float *score = t->score[i];
    for (int key = t->lo[i] / LANES * LANES; key < t->hi[i]; key += LANES) {
        vf s = finish_score(a, t, i, key, vf_load(score + (key - start)));
        vf_store(score + (key - start), s);
        top = vf_max(s, top);
    }
    t->part_top[i] = vf_reduce_max(top);
}

// Query i: scores to e^(score - m), and their sum
INLINE void exp_scores(attention_tile *t, int i, int start) {
    vf sum = vf_zero(), top = vf_set1(t->part_top[i]);
    float *score = t->score[i];
    if (!(t->part_top[i] > -INFINITY)) return;
    for (int key = t->lo[i] / LANES * LANES; key < t->hi[i]; key += LANES) {
        vf p = vf_exp(vf_sub(vf_load(score + (key - start)), top));
        vf_store(score + (key - start), p);
        sum = vf_add(sum, p);
    }
    t->part_sum[i] = vf_sum(sum);
}

// All maxima first: a CPU starts the next query while it waits for the steps of one.
INLINE void segment_softmax(const attention_args *a, attention_tile *t, int start) {
    NO_UNROLL
    for (int i = 0; i < t->n; i++) finish_scores(a, t, i, start);
    NO_UNROLL
    for (int i = 0; i < t->n; i++) exp_scores(t, i, start);
}

// part[r][at ...] += chains of x[r] and P vectors of values from vector at / 16
INLINE void add_value_vectors(int R, int P, const chain *values, const float *const *x,
                              float *const *part, int at) {
    vf sum[MAX_QUERIES][8];
    chain v = *values;
    v.w += (size_t)at * cached_bytes(v.format), v.vector = at / LANES;
    UNROLL
    for (int r = 0; r < R; r++) {
        UNROLL
        for (int p = 0; p < P; p++) sum[r][p] = vf_load(part[r] + at + p * LANES);
    }
    chain_tile(R, P, x, &v, sum);
    UNROLL
    for (int r = 0; r < R; r++) {
        UNROLL
        for (int p = 0; p < P; p++) vf_store(part[r] + at + p * LANES, sum[r][p]);
    }
}

// Vectors of values computed together if `left` remain, at most 8
INLINE int vectors_together(int left, int most) {
    return left >= 8 && most >= 8 ? 8 : left >= 4 && most >= 4 ? 4 : left >= 2 && most >= 2 ? 2 : 1;
}

// Returns true if P of `all` vectors are ever computed together. Known at compile time: no other
// instances are made.
INLINE bool ever_together(int P, int all, int most) {
    return P <= most && P <= all && (2 * P > most || 2 * P > 8 || all % (2 * P) >= P);
}

// part[i] += e^(score - m) v over keys [from, to), of queries [i, i + R). keys: from, to, start of
// the segment
INLINE void add_values(const attention_args *a, int R, attention_tile *t, int i,
                       const int keys[3]) {
    int E = padded(a->values.head_dim), most = panels_beside(R), all = E / LANES;
    const float *x[MAX_QUERIES];
    float *part[MAX_QUERIES];
    for (int r = 0; r < R; r++)
        x[r] = t->score[i + r] + (keys[0] - keys[2]), part[r] = t->part[i + r];
    const unsigned char *values = t->values + (size_t)place_in(&a->values, keys[0]) * (size_t)E *
                                                  cached_bytes(a->values.format);
    chain v = {values,
               LANES,
               (size_t)E,
               keys[1] - keys[0],
               a->values.format,
               t->scale + (keys[0] - keys[2]),
               false,
               0,
               0};
    for (int at = 0, P; at < E; at += P * LANES) {
        P = vectors_together((E - at) / LANES, most);
#define TOGETHER(n)                                                                \
    case n:                                                                        \
        if (ever_together(n, all, most)) add_value_vectors(R, n, &v, x, part, at); \
        break;
        switch (P) { TOGETHER(1) TOGETHER(2) TOGETHER(4) TOGETHER(8) }
#undef TOGETHER
    }
}

// Keys [from, to) of one query alone
INLINE void add_own_values(const attention_args *a, attention_tile *t, int i, const int keys[3]) {
    if (keys[0] < keys[1] && t->part_top[i] > -INFINITY) add_values(a, 1, t, i, keys);
}

// Keys that all queries see go by tile, all others (of a causal diagonal, of a window's start)
// query by query, in order.
INLINE void segment_values(const attention_args *a, attention_tile *t, int start) {
    int lo = start, hi = start + SEGMENT;
    for (int i = 0; i < t->n; i++) {
        bool any = t->part_top[i] > -INFINITY;
        lo = t->lo[i] > lo ? t->lo[i] : lo, hi = any ? t->hi[i] < hi ? t->hi[i] : hi : start;
    }
    for (int i = 0; i < t->width; i++)
        for (int e = 0; e < padded(a->values.head_dim); e += LANES)
            vf_store(t->part[i] + e, vf_zero());
    bool together = t->width > 1 && hi > lo;
    load_scales(&a->values, t, false, start);
    NO_UNROLL
    for (int after = 0; after < 1 + together; after++) {
        for (int i = 0; i < t->n; i++)
            add_own_values(
                a, t, i, (int[]){after ? hi : t->lo[i], after || !together ? t->hi[i] : lo, start});
        if (after || !together) continue;
        if (t->width == TILE_ROWS)
            add_values(a, TILE_ROWS, t, 0, (int[]){lo, hi, start});
        else
            add_values(a, TILE_ROWS / 2, t, 0, (int[]){lo, hi, start});
    }
}

// fold_segment where nothing was folded before: `old` is 0 and `new` is 1, so of its formulas + 0
// is left, which makes -0 +0.
INLINE void first_segment(const attention_args *a, attention_tile *t, int i) {
    t->top[i] = t->part_top[i], t->sum[i] = t->part_sum[i];
    for (int e = 0; e < padded(a->values.head_dim); e += LANES)
        vf_store(t->out[i] + e, vf_add(vf_load(t->part[i] + e), vf_zero()));
}

INLINE void fold_segment(const attention_args *a, attention_tile *t, int i) {
    if (!(t->part_top[i] > -INFINITY)) return;
    if (t->sum[i] == 0 && !(t->top[i] > -INFINITY) && t->part_top[i] < INFINITY) {
        first_segment(a, t, i);
        return;
    }
    float top = t->part_top[i] > t->top[i] ? t->part_top[i] : t->top[i];
    float old = sf_exp(t->top[i] - top), new = sf_exp(t->part_top[i] - top);
    t->sum[i] = sf_fma(t->sum[i], old, t->part_sum[i] * new);
    for (int e = 0; e < padded(a->values.head_dim); e += LANES) {
        vf part = vf_mul(vf_load(t->part[i] + e), vf_set1(new));
        vf_store(t->out[i] + e, vf_fma(vf_load(t->out[i] + e), vf_set1(old), part));
    }
    t->top[i] = top;
}

// ---- segments apart: a row that sees many keys, shared by KV heads and segments among threads
// ----

// A query's result for a segment, in memory: its maximum, its sum, and from PART_HEAD on its
// weighted values
enum { PART_HEAD = LANES };
INLINE int part_floats(const attention_args *a) { return PART_HEAD + padded(a->values.head_dim); }
INLINE int segments_of(int keys) { return (keys + SEGMENT - 1) / SEGMENT; }
// Segments that a row sees keys of: of a ring one more than it holds, where a window begins and
// ends inside of one
INLINE int segments_seen(const kv_cache *c) { return segments_of(c->capacity) + c->ring; }
INLINE size_t attention_part_bytes(int heads, int head_dim, int segments) {
    return (size_t)heads * (size_t)segments * (size_t)(PART_HEAD + padded(head_dim)) *
           sizeof(float);
}
INLINE float *part_of(const attention_args *a, int head, int segment) {
    int of_head = segments_seen(&a->keys);
    return a->parts + (size_t)(head * of_head + segment % of_head) * (size_t)part_floats(a);
}

INLINE void store_part(const attention_args *a, const attention_tile *t, int i, int segment) {
    float *part = part_of(a, t->head[i], segment);
    part[0] = t->part_top[i], part[1] = t->part_sum[i];
    for (int e = 0; e < padded(a->values.head_dim); e += LANES)
        vf_store(part + PART_HEAD + e, vf_load(t->part[i] + e));
}

INLINE void load_part(const attention_args *a, attention_tile *t, int i, int segment) {
    const float *part = part_of(a, t->head[i], segment);
    t->part_top[i] = part[0], t->part_sum[i] = part[1];
    for (int e = 0; e < padded(a->values.head_dim); e += LANES)
        vf_store(t->part[i] + e, vf_load(part + PART_HEAD + e));
}

// ---- tiles ----

INLINE void begin_query(const attention_args *a, attention_tile *t, int i) {
    t->top[i] = a->sinks && i < t->n ? a->sinks[t->head[i]] : -INFINITY,
    t->sum[i] = a->sinks ? 1 : 0;
    for (int e = 0; e < padded(a->values.head_dim); e += LANES) vf_store(t->out[i] + e, vf_zero());
}

INLINE void end_query(const attention_args *a, const attention_tile *t, int i) {
    int E = a->values.head_dim;
    float *y = a->y + (size_t)t->row[i] * (size_t)a->y_stride + t->head[i] * E;
    vf whole = vf_set1(t->sum[i] > 0 ? t->sum[i] : 1);
    for (int e = 0; e < E; e += LANES)
        vf_store_n(y + e, vf_div(vf_load(t->out[i] + e), whole), chunk_of(E, e));
}

// The keys of the segment at `start` that each query sees
INLINE void limit_to_segment(attention_tile *t, int start) {
    for (int i = 0; i < t->n; i++) {
        t->hi[i] = t->to[i] < start + SEGMENT ? t->to[i] : start + SEGMENT;
        t->hi[i] = t->hi[i] > start ? t->hi[i] : start;
        t->lo[i] = t->from[i] > start ? t->from[i] : start;
        t->lo[i] = t->lo[i] < t->hi[i] ? t->lo[i] : t->hi[i];
    }
}

// Rows [row, end) of one slot by heads [head, last) of one KV head; where there are parts, segments
// [segment, last_segment)
typedef struct attention_job {
    int row, end, head, last, segment, last_segment;
    int units;
} attention_job;

// Where its queries are, and the keys that they see
INLINE void begin_tile(const attention_args *a, attention_tile *t) {
    t->width = tile_width(t->n);
    for (int i = 0; i < t->width; i++) {
        int last = i < t->n ? i : t->n - 1;
        t->q[i] =
            a->q + (size_t)t->row[last] * (size_t)a->q_stride + t->head[last] * a->keys.head_dim;
    }
    for (int i = 0; i < t->n; i++) {
        attention_range(a, t->row[i], &t->from[i], &t->to[i]);
        if (a->mask && t->to[i] > t->seen) t->to[i] = t->seen;
    }
}

INLINE void attend_tile(const attention_args *a, attention_tile *t, const attention_job *job) {
    int from = INT32_MAX, to = 0;
    begin_tile(a, t);
    for (int i = 0; i < t->width; i++) begin_query(a, t, i);
    for (int i = 0; i < t->n; i++)
        from = t->from[i] < from ? t->from[i] : from, to = t->to[i] > to ? t->to[i] : to;
    if (a->parts) from = SEGMENT * job->segment, to = SEGMENT * job->last_segment;
    for (int start = from / SEGMENT * SEGMENT; start < to; start += SEGMENT) {
        limit_to_segment(t, start);
        segment_scores(a, t, start);
        segment_softmax(a, t, start);
        segment_values(a, t, start);
        for (int i = 0; i < t->n; i++) {
            if (a->parts)
                store_part(a, t, i, start / SEGMENT);
            else
                fold_segment(a, t, i);
        }
    }
    for (int i = 0; i < t->n && !a->parts; i++) end_query(a, t, i);
}

// An addend that makes the weight of its key 0: minus infinity, and what models write for it, from
// BERT's -10000 down.
enum { HIDING_ADDEND = -10000 };

// Returns the number of keys before padding: keys from one on that the mask hides, after keys to
// which it adds nothing. Padding is not read. Any other mask is added to all scores.
INLINE int keys_before_padding(const float *mask, int count) {
    int seen = 0;
    while (seen < count && mask[seen] == 0) seen++;
    for (int key = seen; key < count; key++)
        if (!(mask[key] <= HIDING_ADDEND)) return count;
    return seen ? seen : count;
}

INLINE void begin_sequence(const attention_args *a, attention_tile *t, int sequence) {
    t->sequence = sequence, t->first_row = sequence * a->sequence;
    if (!a->mask) return;
    t->mask = a->mask + (size_t)sequence * (size_t)a->count;
    t->seen = keys_before_padding(t->mask, a->count);
}

// Operands that the queries of a row's slot and a KV head share
INLINE void begin_job(const attention_args *a, attention_tile *t, int row, int head) {
    int slot = slot_of_row(a->slot, a->sequence, row), kv = head / (a->heads / a->keys.heads);
    begin_sequence(a, t, a->sequence ? slot : 0);
    t->keys = key_cache_head(&a->keys, slot, kv),
    t->values = value_cache_head(&a->values, slot, kv);
    if (a->keys.format == CACHE_Q8_0)
        t->key_scales = cache_scales(&a->keys, slot, kv, a->keys.head_dim);
    if (a->values.format == CACHE_Q8_0)
        t->value_scales = cache_scales(&a->values, slot, kv, padded(a->values.head_dim));
}

// A tile of queries at a time
INLINE void attend_queries(const attention_args *a, const attention_job *job) {
    attention_tile t;
    int many = job->last - job->head, all = (job->end - job->row) * many;
    begin_job(a, &t, job->row, job->head);
    for (int done = 0; done < all; done += t.n) {
        t.n = all - done < TILE_ROWS ? all - done : TILE_ROWS;
        for (int i = 0; i < t.n; i++)
            t.row[i] = job->row + (done + i) / many, t.head[i] = job->head + (done + i) % many;
        attend_tile(a, &t, job);
    }
}

// ---- shares ----

#ifndef BURIN_ATTENTION_ROWS
#define BURIN_ATTENTION_ROWS 24  // of a block; tests say 2
#endif
enum { ATTENTION_ROWS = BURIN_ATTENTION_ROWS };

// Units of work of one call, for sharing among threads: heads by blocks of rows.
INLINE int attention_units(int heads, int rows) {
    return heads * ((rows + ATTENTION_ROWS - 1) / ATTENTION_ROWS);
}

// From unit `first` on: one block of rows and, where there is but one, heads that share a KV head
INLINE attention_job block_job(const attention_args *a, int first, int last) {
    int blocks = (a->rows + ATTENTION_ROWS - 1) / ATTENTION_ROWS, group = a->heads / a->keys.heads,
        head = first / blocks;
    attention_job job = {.row = first % blocks * ATTENTION_ROWS, .head = head, .last = head + 1};
    if (blocks == 1)
        while (job.last < last && job.last % group) job.last++;
    job.end = job.row + ATTENTION_ROWS < a->rows ? job.row + ATTENTION_ROWS : a->rows;
    job.units = job.last - head;
    return job;
}

// The segments of a row's keys: [from, to)
INLINE void attention_segments(const attention_args *a, int *from, int *to) {
    attention_range(a, 0, from, to);
    *from = *from / SEGMENT, *to = segments_of(*to);
}

// From unit `first` on: segments of one KV head
INLINE attention_job segment_job(const attention_args *a, int first, int last) {
    int from, to, group = a->heads / a->keys.heads;
    attention_segments(a, &from, &to);
    int kv = first / (to - from), at = first % (to - from), left = to - from - at;
    attention_job job = {
        .end = 1, .head = kv * group, .last = (kv + 1) * group, .segment = from + at};
    job.units = left < last - first ? left : last - first;
    job.last_segment = job.segment + job.units;
    return job;
}

INLINE void attention(attention_args a, int first, int last) {
    while (first < last) {
        attention_job job = a.parts ? segment_job(&a, first, last) : block_job(&a, first, last);
        first += job.units;
        for (int end = job.end, next; job.row < end;
             job.row = next) {  // runs of rows of the same slot
            int slot = slot_of_row(a.slot, a.sequence, job.row);
            next = job.row + 1;
            while (next < end && slot_of_row(a.slot, a.sequence, next) == slot) next++;
            job.end = next;
            attend_queries(&a, &job);
        }
    }
}

// One row that sees many keys, where heads cannot be shared evenly, goes in two steps with a wait
// between them: attention() with `parts`, memory of attention_part_bytes, and shares of
// attention_split_units; then attention_fold with shares of heads. 0 units: it is not worth it.
INLINE int attention_split_units(const attention_args *a, int threads) {
    int from, to;
    if (a->rows != 1 || a->keys.heads % threads == 0) return 0;
    attention_segments(a, &from, &to);
    return to - from > 1 ? (to - from) * a->keys.heads : 0;
}

INLINE void attention_fold(const attention_args *a, int first, int last) {
    attention_tile t = {.n = 1};
    int from, to;
    attention_segments(a, &from, &to);
    for (t.head[0] = first; t.head[0] < last; t.head[0]++) {
        begin_query(a, &t, 0);
        for (int segment = from; segment < to; segment++)
            load_part(a, &t, 0, segment), fold_segment(a, &t, 0);
        end_query(a, &t, 0);
    }
}

// ---- shares, for who looks inside ----

// The scores of a query's keys [0, n); -infinity where it sees none. 16 keys at a time: one
// instance, quick to compile.
INLINE void attention_scores(const attention_args *a, attention_tile *t, int n, float *score) {
    for (int key = 0; key < n; key++) score[key] = -INFINITY;
    NO_UNROLL
    for (int key = t->from[0] / LANES * LANES; key < t->to[0]; key += LANES) {
        int start = key / SEGMENT * SEGMENT;
        limit_to_segment(t, start);
        if (key == start || key <= t->from[0]) load_scales(&a->keys, t, true, start);
        score_panels(a, 1, 1, t, key, start);
        vf_store_n(score + key, finish_score(a, t, 0, key, vf_load(t->score[0] + (key - start))),
                   n - key);
    }
}

// How much of its attention the query of a row and a head gives to each of the keys [0, n). There
// once and small: nothing of `a` is a literal.
__attribute__((noinline, cold, unused)) static void attention_shares(const attention_args *a,
                                                                     int row, int head, int n,
                                                                     float *share) {
    attention_tile t;
    t.n = 1, t.row[0] = row, t.head[0] = head;
    begin_job(a, &t, row, head);
    begin_tile(a, &t);
    attention_scores(a, &t, n, share);
    float top = a->sinks ? a->sinks[head] : -INFINITY, sum = a->sinks ? 1 : 0;
    for (int key = 0; key < n; key++) {
        if (a->sinks && share[key] > top) sum *= sf_exp(top - share[key]);
        top = share[key] > top ? share[key] : top;
    }
    for (int key = 0; key < n; key++)
        sum += share[key] = share[key] > -INFINITY ? sf_exp(share[key] - top) : 0;
    for (int key = 0; key < n; key++) share[key] = sum > 0 ? share[key] / sum : 0;
}
#endif
