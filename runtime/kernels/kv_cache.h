// Caches of keys and values: layout and appending of rows, in three formats.
//
//   keys    [kv head][key / 16][d][16]            F32 and F16: as they are, rounded to nearest even
//   values  [kv head][key][e padded to 16]        Q8_0: int8, followed by the scales of all heads
//   scales  [kv head][key / 16][blocks of 32 values][16], f16
//
// A ring buffer holds only the last rows: position p has the row p % capacity. Its capacity is
// whole segments of attention.h, so that 256 keys from a multiple of 256 on stay adjacent.
//
// A Q8_0 value is q * scale, exact in f32: q and scale are those of quantize.h, the scale then
// rounded to f16. Attention reads all rows as cached, including those of its own step.
#ifndef BURIN_KV_CACHE_H
#define BURIN_KV_CACHE_H
#include "norm.h"
#include "quantize.h"

INLINE int padded(int n) { return (n + LANES - 1) / LANES * LANES; }

typedef enum cache_format { CACHE_F32, CACHE_F16, CACHE_Q8_0 } cache_format;

// A cache of keys or values of one layer. heads, head_dim, capacity, format, ring are literals;
// capacity (keys of a slot) is a multiple of 16, of a ring of 256 or (no keys) one row.
typedef struct kv_cache {
    int heads, head_dim, capacity;
    cache_format format;
    size_t slot_stride;   // bytes from one slot to the next
    unsigned char *data;  // slot 0
    bool ring;
} kv_cache;

// The offset of a position's row
INLINE int place_in(const kv_cache *c, int position) {
    return c->ring ? position % c->capacity : position;
}

INLINE size_t cached_bytes(cache_format f) { return f == CACHE_F32 ? 4 : f == CACHE_F16 ? 2 : 1; }
INLINE size_t cache_scales_of_head(const kv_cache *c) {
    return (size_t)blocks_of(c->head_dim) * (size_t)c->capacity;
}

// Bytes of a slot's rows of `width` values: of keys d, of values e padded to 16
INLINE size_t cache_bytes(const kv_cache *c, int width) {
    size_t rows = (size_t)c->heads * (size_t)c->capacity * (size_t)width * cached_bytes(c->format);
    return rows + (c->format == CACHE_Q8_0
                       ? (size_t)c->heads * cache_scales_of_head(c) * sizeof(uint16_t)
                       : 0);
}

// Element `at` of a head, rows of `width` values
INLINE unsigned char *cache_head(const kv_cache *c, int slot, int head, int width) {
    return c->data + (size_t)slot * c->slot_stride +
           (size_t)head * (size_t)c->capacity * (size_t)width * cached_bytes(c->format);
}
INLINE unsigned char *key_cache_head(const kv_cache *c, int slot, int head) {
    return cache_head(c, slot, head, c->head_dim);
}
INLINE unsigned char *value_cache_head(const kv_cache *c, int slot, int head) {
    return cache_head(c, slot, head, padded(c->head_dim));
}
// The scales of a head of Q8_0; those of key k are 16 apart, from (k / 16) * blocks * 16 + k % 16
// on
INLINE uint16_t *cache_scales(const kv_cache *c, int slot, int head, int width) {
    uint16_t *scales = (uint16_t *)(void *)cache_head(c, slot, c->heads, width);
    return scales + (size_t)head * cache_scales_of_head(c);
}

INLINE vf cache_load(cache_format f, const unsigned char *head, size_t at) {
    if (f == CACHE_F32) return vf_load((const float *)(const void *)head + at);
    if (f == CACHE_F16) return vf_load_f16((const uint16_t *)(const void *)head + at);
    return vf_from_int(vi_load_i8((const int8_t *)head + at));
}

// A row's sequence: its slot, or in a batch of sequences of `sequence` rows each, one after the
// other, its number divided by it.
INLINE int slot_of_row(const int32_t *slot, int sequence, int row) {
    return slot ? slot[row] : sequence ? row / sequence : 0;
}
INLINE int position_of_row(const int32_t *position, int sequence, int row) {
    return position ? position[row] : sequence ? row % sequence : row;
}

// Rows [R][heads * head_dim] with a stride; slot and position NULL, and `sequence` 0: rows of one
// sequence.
typedef struct kv_rows {
    int rows, stride;
    const float *x;
    const int32_t *slot, *position;
    int sequence;
} kv_rows;

// Element d of one key's row in `keys`, a head: d * 16 apart
INLINE void store_key(const kv_cache *c, unsigned char *head, int position, int d, float x) {
    size_t at = ((size_t)(position / LANES) * (size_t)c->head_dim + (size_t)d) * LANES +
                (size_t)(position % LANES);
    if (c->format == CACHE_F32)
        ((float *)(void *)head)[at] = x;
    else
        ((uint16_t *)(void *)head)[at] = f16_from_float(x);
}

INLINE void store_value(const kv_cache *c, unsigned char *head, size_t at, vf x) {
    if (c->format == CACHE_F32)
        vf_store((float *)(void *)head + at, x);
    else
        vf_store_f16((uint16_t *)(void *)head + at, x);
}

// A row of Q8_0: elements `step` apart from `to` on, scales 16 apart
INLINE void store_blocks(const kv_cache *c, const float *x, int8_t *to, size_t step,
                         uint16_t *scale) {
    for (int d = 0; d < c->head_dim; d += QUANT_BLOCK) {
        int n = c->head_dim - d < QUANT_BLOCK ? c->head_dim - d : QUANT_BLOCK;
        q8_block block;
        quantize_row_q8_0(n, x + d, &block);
        for (int i = 0; i < n; i++) to[(size_t)(d + i) * step] = block.q[i];
        scale[d / QUANT_BLOCK * LANES] = f16_from_float(block.scale);
    }
}

INLINE uint16_t *scales_of_key(const kv_cache *c, uint16_t *scales, int position) {
    return scales + (size_t)(position / LANES) * (size_t)(blocks_of(c->head_dim) * LANES) +
           position % LANES;
}

// KV heads [first, last) of all rows: the share of this thread.
INLINE void cache_append_keys(kv_cache c, kv_rows in, int first, int last) {
    for (int h = first; h < last; h++)
        for (int r = 0; r < in.rows; r++) {
            int slot = slot_of_row(in.slot, in.sequence, r),
                position = place_in(&c, position_of_row(in.position, in.sequence, r));
            const float *x = in.x + (size_t)r * (size_t)in.stride + h * c.head_dim;
            unsigned char *head = key_cache_head(&c, slot, h);
            if (c.format == CACHE_Q8_0) {
                int8_t *to = (int8_t *)head +
                             (size_t)(position / LANES) * (size_t)(c.head_dim * LANES) +
                             position % LANES;
                uint16_t *scales = cache_scales(&c, slot, h, c.head_dim);
                store_blocks(&c, x, to, LANES, scales_of_key(&c, scales, position));
            } else {
                for (int d = 0; d < c.head_dim; d++) store_key(&c, head, position, d, x[d]);
            }
        }
}

INLINE void cache_append_values(kv_cache c, kv_rows in, int first, int last) {
    for (int h = first; h < last; h++)
        for (int r = 0; r < in.rows; r++) {
            int slot = slot_of_row(in.slot, in.sequence, r),
                position = place_in(&c, position_of_row(in.position, in.sequence, r));
            int width = padded(c.head_dim);
            const float *x = in.x + (size_t)r * (size_t)in.stride + h * c.head_dim;
            unsigned char *head = value_cache_head(&c, slot, h);
            size_t at = (size_t)position * (size_t)width;
            if (c.format == CACHE_Q8_0) {
                store_blocks(&c, x, (int8_t *)head + at, 1,
                             scales_of_key(&c, cache_scales(&c, slot, h, width), position));
                for (int d = c.head_dim; d < width; d++) head[at + (size_t)d] = 0;
            } else {
                for (int d = 0; d < width; d += LANES)
                    store_value(&c, head, at + (size_t)d, vf_load_n(x + d, c.head_dim - d));
            }
        }
}

INLINE void row_or_zeros(int n, const float *x, float *y) {
    if (x)
        memcpy(y, x, (size_t)n * sizeof *y);
    else
        memset(y, 0, (size_t)n * sizeof *y);
}

// Row `position` of a slot in a cache of whole rows of floats (laid out like values of one head);
// zeros before the first.
INLINE void cache_earlier(kv_cache c, int slot, int position, float *y) {
    const float *rows = (const float *)(const void *)value_cache_head(&c, slot, 0);
    row_or_zeros(
        c.head_dim,
        position < 0 ? NULL : rows + (size_t)place_in(&c, position) * (size_t)padded(c.head_dim),
        y);
}

// ---- products with cached vectors ----

enum { SEGMENT = 256 };  // keys that attention.h takes together

// sum[i][p] = chain of fma over k ascending of x[i][k] and the vectors at element p * panel_stride
// + k * step of w. Vectors of Q8_0 have scales: of keys 16, for every 32 k; of values one for each
// k, of vectors `vector` + p in pairs.
typedef struct chain {
    const unsigned char *w;
    size_t panel_stride, step;
    int k;
    cache_format format;
    const float *scale;
    bool of_keys;     // literal
    int scale_panel;  // of keys: scales of a panel
    int vector;       // of values
} chain;
INLINE vf chain_vector(const chain *c, int p, int k) {
    vf q = cache_load(c->format, c->w, (size_t)p * c->panel_stride + (size_t)k * c->step);
    if (c->format != CACHE_Q8_0) return q;
    if (c->of_keys)
        return vf_mul(q, vf_load(c->scale + p * c->scale_panel + k / QUANT_BLOCK * LANES));
    return vf_mul(q, vf_set1(c->scale[(c->vector + p) / (QUANT_BLOCK / LANES) * SEGMENT + k]));
}
// Prefetches the vectors after those of step k: for keys the next panels, for values rows further
// on.
enum { VALUES_AHEAD = 16 };
INLINE void chain_ahead(int P, const chain *c, int k) {
    size_t vector = LANES * cached_bytes(c->format), step = (size_t)P * vector;
    size_t at = c->of_keys
                    ? (size_t)P * c->panel_stride * cached_bytes(c->format) + (size_t)k * step
                    : (size_t)(k + VALUES_AHEAD) * c->step * cached_bytes(c->format);
    UNROLL
    for (int p = 0; p < P; p++)
        if ((size_t)p * vector % 64 == 0) PREFETCH_FAR(c->w + at + (size_t)p * vector);
}
// Steps [k, k + steps) of a tile; extent: rows, vectors, steps
INLINE void chain_steps(const int extent[3], const float *const *x, const chain *c, int k,
                        vf (*sum)[8]) {
    const int R = extent[0], P = extent[1];
    UNROLL
    for (int j = 0; j < extent[2]; j++, k++) {
        vf w[8];
        if (R < TILE_ROWS) chain_ahead(P, c, k);
        UNROLL
        for (int p = 0; p < P; p++) w[p] = chain_vector(c, p, k);
        UNROLL
        for (int i = 0; i < R; i++) {
            vf x_k = vf_set1(x[i][k]);
            UNROLL
            for (int p = 0; p < P; p++) sum[i][p] = vf_fma(x_k, w[p], sum[i][p]);
        }
    }
}
INLINE void chain_tile(int R, int P, const float *const *x, const chain *c, vf (*sum)[8]) {
    int k = 0;
    if (TILE_STEPS > 1 && R == TILE_ROWS) {
        NO_UNROLL
        for (; k + TILE_STEPS <= c->k; k += TILE_STEPS)
            chain_steps((const int[]){R, P, TILE_STEPS}, x, c, k, sum);
    }
    NO_UNROLL
    for (; k < c->k; k++) chain_steps((const int[]){R, P, 1}, x, c, k, sum);
}
#endif
