// texts: emitted by burin from llama.burin. Compiled once for each CPU, with -DBURIN_CPU=x86_64_v3 or the like.
//
//   kernels  : 25 distinct, 37 in a step; kernels 10 to 18 are a loop over 2 layers
//   barriers : 16 in a step of one row, 23 in a step of more
//   arena    : 172032 bytes for 128 rows; at least 172032 bytes live at once
//   local    : 768 bytes a thread
//   state    : 0 bytes a slot, of which KV cache 0 bytes
//   weights  : 200960 bytes, packed
#include "texts_plan.h"

#define JOINED(name, cpu) name##cpu
#define JOIN(name, cpu) JOINED(name, cpu)
#define FORWARD JOIN(texts_forward_, BURIN_CPU)
#define EXP JOIN(texts_exp_, BURIN_CPU)
#define THREAD_RANGE(count) burin_thread_range(s, thread, count)
#define ROW_RANGE(count) burin_row_range(s, thread, count)
#define FOR_EACH_SLICE(...) \
    for (burin_slices slices = burin_matmul_slices(s, thread, __VA_ARGS__); burin_next_slice(s, thread, &slices);)
#define FOR_EACH_ATTENTION_SLICE(...) \
    for (burin_slices slices = burin_attention_slices(s, thread, __VA_ARGS__); burin_next_slice(s, thread, &slices);)
#define ALL(count) (burin_range){0, count}
#define FOR_EACH_SEQUENCE \
    for (burin_sequence sequence = {.index = -1}; burin_next_sequence(s, thread, &sequence);)
#define SEQUENCE_RANGE(count) burin_sequence_range(s, thread, &sequence, count)
#define SEQUENCE_ROW_RANGE(count) burin_sequence_row_range(s, thread, &sequence, count)
#define STATE(offset) ((void *)(s->state + (offset)))
#define BARRIER() burin_step_barrier(s, thread)
#define DONE(kernel) burin_mark(s, thread, kernel)
#define RECORD(...) BURIN_RECORD(s, thread, __VA_ARGS__)

void FORWARD(const burin_step *s, int thread);
void EXP(float *values, size_t n);

void EXP(float *values, size_t n) { burin_exp_values(values, n); }

// %x: f16[320, 64], i32[T] -> f32[T, 64]
KERNEL void embed_f16_320x64(burin_range range, const int32_t *index, const uint16_t *table, float *y) {
    for (int r = range.first; r < range.last; r++)
        gather_row_f16(64, table, burin_index(index[r], 320), y + r * 64);
}

// %cast: f16[50, 64], i32[T] -> f32[T, 64]
KERNEL void embed_f16_50x64(burin_range range, const int32_t *index, const uint16_t *table, float *y) {
    for (int r = range.first; r < range.last; r++)
        gather_row_f16(64, table, burin_index(index[r], 50), y + r * 64);
}

// %x.1: f32[T, 64], f32[T, 64] -> f32[T, 64]
KERNEL void add_64(burin_range range, const float *a0, const float *a1, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        const float *p0 = a0 + (ptrdiff_t)i0 * 64;
        const float *p1 = a1 + (ptrdiff_t)i0 * 64;
        float *q = y + (ptrdiff_t)i0 * 64;
        for (int j = 0; j < 64; j += LANES) {
            vf_store(q + j, vf_add(vf_load(p0 + j), vf_load(p1 + j)));
        }
    }
}

// %iota:  -> i32[T]
KERNEL void nest_iota(burin_range range, int32_t *y) {
    for (int j = range.first; j < range.last; j += LANES) {
        int n = range.last - j;
        vi_store_n(y + j, vi_iota(j), n);
    }
}

// %gather.2: f16[128, 64], i32[T] -> f16[T, 64]
KERNEL void gather_64(burin_range range, const uint16_t *a0, const int32_t *a1, uint16_t *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        int chosen = burin_index((int)a1[i0], 128);
        for (int i1 = 0; i1 < 64; i1++) {
            y[(ptrdiff_t)i0 * 64 + i1] = a0[(ptrdiff_t)chosen * 64 + i1];
        }
    }
}

// %cast.1: f16[T, 64] -> f32[T, 64]
KERNEL void cast_f32_64(burin_range range, const uint16_t *a0, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        const uint16_t *p0 = a0 + (ptrdiff_t)i0 * 64;
        float *q = y + (ptrdiff_t)i0 * 64;
        for (int j = 0; j < 64; j += LANES) {
            vf_store(q + j, vf_load_f16(p0 + j));
        }
    }
}

// %x.3: f32[T, 64], f32[T, 64], f32[64], f32[64] -> f32[T, 64]
KERNEL void skip_layer_normalization_64(burin_range range, const float *x, const float *residual, const float *weight,
                                        const float *bias, float *y) {
    for (int r = range.first; r < range.last; r++) {
        add_row(64, x + r * 64, residual + r * 64, y + r * 64);
        layer_norm(64, 0x1.197998p-40f, y + r * 64, (const float *const[2]){weight, bias}, y + r * 64);
    }
}

// %matmul_packed.12: f32[T, 64], f16[192, 64], f32[192] -> f32[T, 192]
// add($0, $1)
typedef struct result_rows_b1 {
    float *y;
    const float *b1;
} result_rows_b1;

static inline void store_add_192(const void *context, vf a0, int row, int column) {
    const result_rows_b1 *c = context;
    vf_store(c->y + (size_t)row * 192 + column, vf_add(a0, vf_load(c->b1 + column)));
}

KERNEL void matmul_f16_64x192_add(burin_range units, int rows, const float *x, const uint16_t *w, const float *b1,
                                  float *y) {
    matmul_args m = {.panels = 12, .k = 64, .x_stride = 64, .rows = rows, .x = x, .w = w, .units = units};
    matmul_f16(m, store_add_192, &(result_rows_b1){y, b1});
}

// %equal.2: i32[1, T] -> bool[1, T]
KERNEL void equal_1(burin_range range, int rows, const int32_t *a0, uint8_t *y) {
    if (range.first == range.last) return;
    for (int j = 0; j < rows; j += LANES) {
        int n = rows - j;
        vm_store_n(y + j, vi_equal(vi_load_n(a0 + j, n), vi_set1(0)), n);
    }
}

// %where.5: bool[1, T] -> f32[1, T]
KERNEL void where_1(burin_range range, int rows, const uint8_t *a0, float *y) {
    if (range.first == range.last) return;
    for (int j = 0; j < rows; j += LANES) {
        int n = rows - j;
        vf_store_n(y + j, vf_where(vm_load_n(a0 + j, n), vf_set1(-INFINITY), vf_set1(0)), n);
    }
}

// %attention: f32[T, 64] -> f32[1, 4, 128, 16]
KERNEL void cache_append_key_4x16(burin_range heads, int rows, const float *x, void *cache) {
    kv_rows in = {.rows = rows, .stride = 192, .x = x};
    cache_append_keys((kv_cache){4, 16, 128, CACHE_F32, 32768, cache, false}, in, heads.first, heads.last);
}

// %attention: f32[T, 64] -> f32[1, 4, 128, 16]
KERNEL void cache_append_value_4x16(burin_range heads, int rows, const float *x, void *cache) {
    kv_rows in = {.rows = rows, .stride = 192, .x = x};
    cache_append_values((kv_cache){4, 16, 128, CACHE_F32, 32768, cache, false}, in, heads.first, heads.last);
}

// %attention: f32[T, 64], f32[1, 4, 128, 16], f32[1, 4, 128, 16], f32[1, T] -> f32[T, 64]
KERNEL void attention_4x4x16(burin_range units, const burin_step *s, int thread, int rows, int count, const float *q,
                             void *keys, void *values, const float *mask, float *y) {
    attention_args a = {.heads = 4, .scale = 0x1p-2f};
    a.rows = rows, a.q = q, a.q_stride = 192, a.y = y, a.y_stride = 64;
    a.count = count, a.sequence = 0;
    a.mask = mask;
    a.keys = (kv_cache){4, 16, 128, CACHE_F32, 32768, keys, false};
    a.values = (kv_cache){4, 16, 128, CACHE_F32, 32768, values, false};
    burin_attention(s, thread, a, units, NULL);
}

// %matmul_packed.3: f32[T, 64], f16[64, 64], f32[64] -> f32[T, 64]
// add($0, $1)
static inline void store_add_64(const void *context, vf a0, int row, int column) {
    const result_rows_b1 *c = context;
    vf_store(c->y + (size_t)row * 64 + column, vf_add(a0, vf_load(c->b1 + column)));
}

KERNEL void matmul_f16_64x64_add(burin_range units, int rows, const float *x, const uint16_t *w, const float *b1,
                                 float *y) {
    matmul_args m = {.panels = 4, .k = 64, .x_stride = 64, .rows = rows, .x = x, .w = w, .units = units};
    matmul_f16(m, store_add_64, &(result_rows_b1){y, b1});
}

// %matmul_packed.4: f32[T, 64], f16[128, 64], f32[128] -> f32[T, 128]
// gelu(add($0, $1))
static inline void store_add_gelu_128(const void *context, vf a0, int row, int column) {
    const result_rows_b1 *c = context;
    vf_store(c->y + (size_t)row * 128 + column, vf_gelu(vf_add(a0, vf_load(c->b1 + column))));
}

KERNEL void matmul_f16_64x128_add_gelu(burin_range units, int rows, const float *x, const uint16_t *w, const float *b1,
                                       float *y) {
    matmul_args m = {.panels = 8, .k = 64, .x_stride = 64, .rows = rows, .x = x, .w = w, .units = units};
    matmul_f16(m, store_add_gelu_128, &(result_rows_b1){y, b1});
}

// %matmul_packed.5: f32[T, 128], f16[64, 128], f32[64] -> f32[T, 64]
// add($0, $1)
KERNEL void matmul_f16_128x64_add(burin_range units, int rows, const float *x, const uint16_t *w, const float *b1,
                                  float *y) {
    matmul_args m = {.panels = 4, .k = 128, .x_stride = 128, .rows = rows, .x = x, .w = w, .units = units};
    matmul_f16(m, store_add_64, &(result_rows_b1){y, b1});
}

// %cast.39: i32[T] -> bool[T]
KERNEL void nest_cast_bool(burin_range range, const int32_t *a0, uint8_t *y) {
    for (int j = range.first; j < range.last; j += LANES) {
        int n = range.last - j;
        vm_store_n(y + j, vm_from_int(vi_load_n(a0 + j, n)), n);
    }
}

// %cast.40: bool[T] -> f32[T]
KERNEL void cast_f32(burin_range range, const uint8_t *a0, float *y) {
    for (int j = range.first; j < range.last; j += LANES) {
        int n = range.last - j;
        vf_store_n(y + j, vf_from_mask(vm_load_n(a0 + j, n)), n);
    }
}

// %matmul.13: f32[1, T], f32[T, 64] -> f32[1, 64]
KERNEL void matmul_1x64(burin_range range, int rows, const float *a0, const float *a1, float *y) {
    if (range.first == range.last) return;
    for (int j = 0; j < 64; j += LANES) {
        vf sum = vf_zero();
        for (int k = 0; k < rows; k++)
            sum = vf_fma(vf_set1(a0[k]), vf_load(a1 + k * (ptrdiff_t)64 + j), sum);
        vf_store(y + j, sum);
    }
}

// %reduce_sum: f32[1, T] -> f32[1, 1]
KERNEL void reduce_sum_1x1(burin_range range, int rows, const float *a0, float *y) {
    if (range.first == range.last) return;
    vf lanes = vf_set1(0);
    for (int j = 0; j < rows; j += LANES) {
        int n = rows - j;
        vf x = vf_load_n(a0 + j, n);
        lanes = n < LANES ? vf_where(vm_first(n), vf_add(x, lanes), lanes) : vf_add(x, lanes);
    }
    *y = vf_sum(lanes);
}

// %max: f32[1, 1] -> f32[1, 1]
KERNEL void max_1x1(burin_range range, const float *a0, float *y) {
    if (range.first == range.last) return;
    vf_store_n(y, vf_max(vf_set1(*a0), vf_set1(0x1.12e0bep-30f)), 1);
}

// %div.6: f32[1, 64], f32[1, 1] -> f32[1, 64]
KERNEL void div_1x64(burin_range range, const float *a0, const float *a1, float *y) {
    if (range.first == range.last) return;
    for (int j = 0; j < 64; j += LANES) {
        vf_store(y + j, vf_div(vf_load(a0 + j), vf_set1(*a1)));
    }
}

// %mul.14: f32[1, 64], f32[1, 64] -> f32[1, 64]
KERNEL void mul_1x64(burin_range range, const float *a0, const float *a1, float *y) {
    if (range.first == range.last) return;
    for (int j = 0; j < 64; j += LANES) {
        vf_store(y + j, vf_mul(vf_load(a0 + j), vf_load(a1 + j)));
    }
}

// %reduce_sum.1: f32[1, 64] -> f32[1, 1]
KERNEL void reduce_sum_1x1_2(burin_range range, const float *a0, float *y) {
    if (range.first == range.last) return;
    vf lanes = vf_set1(0);
    for (int j = 0; j < 64; j += LANES) {
        int n = 64 - j;
        vf x = vf_load_n(a0 + j, n);
        lanes = n < LANES ? vf_where(vm_first(n), vf_add(x, lanes), lanes) : vf_add(x, lanes);
    }
    *y = vf_sum(lanes);
}

// %elementwise: f32[1, 1] -> f32[1, 1]
// max(sqrt($0), 0x1.197998p-40)
KERNEL void sqrt_max_1x1(burin_range range, const float *a0, float *y) {
    if (range.first == range.last) return;
    vf_store_n(y, vf_max(vf_sqrt(vf_set1(*a0)), vf_set1(0x1.197998p-40f)), 1);
}

// One thread's part of a step.
void FORWARD(const burin_step *s, int thread) {
    const struct texts_weights *w = (const void *)s->weights;
    const int rows = s->rows;
    const bool many = rows > 1;
    unsigned char *local = s->local + (size_t)thread * 768;
    float *x = burin_per_thread(s, local, 0);  // 256 bytes a row: %x
    float *cast = burin_per_thread(s, local + 256, 256);  // 256 bytes a row: %cast
    int32_t *iota = burin_per_thread(s, local + 256, 256);  // 64 bytes a row: %iota
    uint16_t *gather_2 = burin_per_thread(s, local + 512, 512);  // 128 bytes a row: %gather.2
    float *cast_1 = burin_per_thread(s, local + 256, 256);  // 256 bytes a row: %cast.1
    float *LayerNorm = burin_per_thread(s, local + 512, 768);  // 256 bytes a row: %x.3
    float *query_key_value = burin_shared(s, 0, 0);  // 768 bytes a row: %matmul_packed.12
    uint8_t *equal_2 = burin_shared(s, 768, 1024);  // 64 bytes a row: %equal.2
    float *where_5 = burin_shared(s, 1024, 1280);  // 64 bytes a row: %where.5
    float *attention_keys = (void *)(s->scratch);  // 32768 bytes: %attention
    float *attention_values = (void *)(s->scratch + 32768);  // 32768 bytes: %attention
    float *attention = burin_shared(s, 768, 1024);  // 256 bytes a row: %attention
    float *dense = burin_shared(s, 512, 0);  // 256 bytes a row: %matmul_packed.3
    float *LayerNorm_2 = burin_per_thread(s, local, 512);  // 256 bytes a row: %x.5
    float *dense_2 = burin_shared(s, 0, 0);  // 512 bytes a row: %matmul_packed.4
    float *dense_3 = burin_shared(s, 768, 1024);  // 256 bytes a row: %matmul_packed.5
    uint8_t *cast_39 = burin_per_thread(s, local, 0);  // 64 bytes a row: %cast.39
    float *cast_40 = burin_per_thread(s, local + 64, 256);  // 64 bytes a row: %cast.40
    float *matmul_13 = burin_shared(s, 0, 0);  // 256 bytes a row: %matmul.13
    float *reduce_sum = burin_shared(s, 256, 320);  // 64 bytes a row: %reduce_sum
    float *mul_14 = burin_shared(s, 256, 256);  // 256 bytes a row: %mul.14
    float *reduce_sum_1 = burin_shared(s, 512, 512);  // 64 bytes a row: %reduce_sum.1

    embed_f16_320x64(ROW_RANGE(rows), (const int32_t *)s->inputs[0], w->embeddings_word_embeddings, x);
    DONE(0); RECORD("x", -1, x, rows, 64, 64);
    embed_f16_50x64(ROW_RANGE(rows), (const int32_t *)s->inputs[1], w->embeddings_token_type_embeddings, cast);
    DONE(1); RECORD("cast", -1, cast, rows, 64, 64);
    add_64(ROW_RANGE(rows), x, cast, x);
    DONE(2); RECORD("x.1", -1, x, rows, 64, 64);
    if (many) BARRIER();
    FOR_EACH_SEQUENCE {
        const int rows = sequence.rows;
        nest_iota(SEQUENCE_ROW_RANGE(rows), iota + sequence.row);
    }
    DONE(3);
    if (many) BARRIER();
    gather_64(ROW_RANGE(rows), w->embeddings_position_embeddings, iota, gather_2);
    DONE(4);
    if (many) BARRIER();
    cast_f32_64(ROW_RANGE(rows), gather_2, cast_1);
    DONE(5); RECORD("cast.1", -1, cast_1, rows, 64, 64);
    skip_layer_normalization_64(ROW_RANGE(rows), cast_1, x, w->embeddings_LayerNorm, w->embeddings_LayerNorm_bias,
                                LayerNorm);
    DONE(6); RECORD("x.3", -1, LayerNorm, rows, 64, 64);
    if (many) BARRIER();
    FOR_EACH_SLICE(12, rows)
        matmul_f16_64x192_add(slices.range, rows, LayerNorm, w->attention_self_query_key_value, w->constant,
                              query_key_value);
    DONE(7); RECORD("matmul_packed.12", -1, query_key_value, rows, 192, 192);
    FOR_EACH_SEQUENCE {
        const int rows = sequence.rows;
        equal_1(SEQUENCE_RANGE(1), rows, (const int32_t *)s->inputs[2] + sequence.row, equal_2 + sequence.row);
    }
    DONE(8);
    FOR_EACH_SEQUENCE {
        const int rows = sequence.rows;
        where_1(SEQUENCE_RANGE(1), rows, equal_2 + sequence.row, where_5 + sequence.row);
    }
    DONE(9); RECORD("where.5", -1, where_5, 1, rows, rows);
    for (int layer = 0; layer < 2; layer++) {
        BARRIER();
        FOR_EACH_SEQUENCE {
            const int rows = sequence.rows;
            cache_append_key_4x16(SEQUENCE_RANGE(4), rows, query_key_value + 64 + sequence.row * 192, attention_keys
                                  + sequence.key * 16);
        }
        DONE(10);
        FOR_EACH_SEQUENCE {
            const int rows = sequence.rows;
            cache_append_value_4x16(SEQUENCE_RANGE(4), rows, query_key_value + 128 + sequence.row * 192,
                                    attention_values + sequence.key * 16);
        }
        DONE(11);
        BARRIER();
        FOR_EACH_SEQUENCE {
            const int rows = sequence.rows;
            attention_4x4x16(SEQUENCE_RANGE(attention_units(4, rows)), s, thread, rows, rows, query_key_value
                             + sequence.row * 192, attention_keys + sequence.key * 16, attention_values
                             + sequence.key * 16, where_5 + sequence.row, attention + sequence.row * 64);
        }
        DONE(12); RECORD("attention", layer, attention, rows, 64, 64);
        BARRIER();
        FOR_EACH_SLICE(4, rows)
            matmul_f16_64x64_add(slices.range, rows, attention, w->layer[layer].attention_output_dense,
                                 w->layer[layer].attention_output_dense_bias, dense);
        DONE(13); RECORD("matmul_packed.3", layer, dense, rows, 64, 64);
        BARRIER();
        skip_layer_normalization_64(ROW_RANGE(rows), dense, LayerNorm, w->layer[layer].attention_output_LayerNorm,
                                    w->layer[layer].attention_output_LayerNorm_bias, LayerNorm_2);
        DONE(14); RECORD("x.5", layer, LayerNorm_2, rows, 64, 64);
        if (many) BARRIER();
        FOR_EACH_SLICE(8, rows)
            matmul_f16_64x128_add_gelu(slices.range, rows, LayerNorm_2, w->layer[layer].intermediate_dense,
                                       w->layer[layer].intermediate_dense_bias, dense_2);
        DONE(15); RECORD("matmul_packed.4", layer, dense_2, rows, 128, 128);
        BARRIER();
        FOR_EACH_SLICE(4, rows)
            matmul_f16_128x64_add(slices.range, rows, dense_2, w->layer[layer].output_dense,
                                  w->layer[layer].output_dense_bias, dense_3);
        DONE(16); RECORD("matmul_packed.5", layer, dense_3, rows, 64, 64);
        if (layer == 1) break;
        BARRIER();
        skip_layer_normalization_64(ROW_RANGE(rows), dense_3, LayerNorm_2, w->output_LayerNorm,
                                    w->output_LayerNorm_bias, LayerNorm);
        DONE(17); RECORD("x.6", layer, LayerNorm, rows, 64, 64);
        if (many) BARRIER();
        FOR_EACH_SLICE(12, rows)
            matmul_f16_64x192_add(slices.range, rows, LayerNorm, w->attention_self_query_key_value_2, w->constant_90,
                                  query_key_value);
        DONE(18); RECORD("matmul_packed.13", layer, query_key_value, rows, 192, 192);
    }
    BARRIER();
    skip_layer_normalization_64(THREAD_RANGE(rows), dense_3, LayerNorm_2, w->output_LayerNorm_2,
                                w->output_LayerNorm_bias_2, (float *)s->outputs[1]);
    DONE(19); RECORD("x.10", -1, (float *)s->outputs[1], rows, 64, 64);
    nest_cast_bool(ROW_RANGE(rows), (const int32_t *)s->inputs[2], cast_39);
    DONE(20);
    cast_f32(ROW_RANGE(rows), cast_39, cast_40);
    DONE(21); RECORD("cast.40", -1, cast_40, 1, rows, 128);
    BARRIER();
    FOR_EACH_SEQUENCE {
        const int rows = sequence.rows;
        matmul_1x64(SEQUENCE_RANGE(1), rows, cast_40 + sequence.row, (float *)s->outputs[1] + sequence.row * 64,
                    matmul_13 + sequence.row * 64);
    }
    DONE(22); RECORD("matmul.13", -1, matmul_13, 1, 64, 64);
    FOR_EACH_SEQUENCE {
        const int rows = sequence.rows;
        reduce_sum_1x1(SEQUENCE_RANGE(1), rows, cast_40 + sequence.row, reduce_sum + sequence.row * 16);
    }
    DONE(23); RECORD("reduce_sum", -1, reduce_sum, 1, 1, 1);
    FOR_EACH_SEQUENCE {
        max_1x1(SEQUENCE_RANGE(1), reduce_sum + sequence.row * 16, reduce_sum + sequence.row * 16);
    }
    DONE(24); RECORD("max", -1, reduce_sum, 1, 1, 1);
    BARRIER();
    FOR_EACH_SEQUENCE {
        div_1x64(SEQUENCE_RANGE(1), matmul_13 + sequence.row * 64, reduce_sum + sequence.row * 16, matmul_13
                 + sequence.row * 64);
    }
    DONE(25); RECORD("div.6", -1, matmul_13, 1, 64, 64);
    BARRIER();
    FOR_EACH_SEQUENCE {
        mul_1x64(SEQUENCE_RANGE(1), matmul_13 + sequence.row * 64, matmul_13 + sequence.row * 64, mul_14
                 + sequence.row * 64);
    }
    DONE(26); RECORD("mul.14", -1, mul_14, 1, 64, 64);
    FOR_EACH_SEQUENCE {
        reduce_sum_1x1_2(SEQUENCE_RANGE(1), mul_14 + sequence.row * 64, reduce_sum_1 + sequence.row * 16);
    }
    DONE(27); RECORD("reduce_sum.1", -1, reduce_sum_1, 1, 1, 1);
    FOR_EACH_SEQUENCE {
        sqrt_max_1x1(SEQUENCE_RANGE(1), reduce_sum_1 + sequence.row * 16, reduce_sum_1 + sequence.row * 16);
    }
    DONE(28); RECORD("elementwise", -1, reduce_sum_1, 1, 1, 1);
    BARRIER();
    FOR_EACH_SEQUENCE {
        div_1x64(SEQUENCE_RANGE(1), matmul_13 + sequence.row * 64, reduce_sum_1 + sequence.row * 16,
                 (float *)s->outputs[0] + sequence.index * 64);
    }
    DONE(29); RECORD("div.7", -1, (float *)s->outputs[0], 1, 64, 64);
}
