// ranks: emitted by burin from llama.burin. Compiled once for each CPU, with -DBURIN_CPU=x86_64_v3 or the like.
//
//   kernels  : 16 distinct, 44 in a step; kernels 2 to 14 are a loop over 3 layers
//   barriers : 12 in a step of one row, 23 in a step of more
//   arena    : 90112 bytes for 8 rows; at least 90112 bytes live at once
//   local    : 896 bytes a thread
//   state    : 61440 bytes a slot, of which KV cache 61440 bytes
//   weights  : 1313600 bytes (1.3 MB), packed
#define BURIN_MPI 1
#include "ranks_plan.h"

#define JOINED(name, cpu) name##cpu
#define JOIN(name, cpu) JOINED(name, cpu)
#define FORWARD JOIN(ranks_forward_, BURIN_CPU)
#define EXP JOIN(ranks_exp_, BURIN_CPU)
#define THREAD_RANGE(count) burin_thread_range(s, thread, count)
#define ROW_RANGE(count) burin_row_range(s, thread, count)
#define FOR_EACH_SLICE(...) \
    for (burin_slices slices = burin_matmul_slices(s, thread, __VA_ARGS__); burin_next_slice(s, thread, &slices);)
#define FOR_EACH_ATTENTION_SLICE(...) \
    for (burin_slices slices = burin_attention_slices(s, thread, __VA_ARGS__); burin_next_slice(s, thread, &slices);)
#define ALL(count) (burin_range){0, count}
#define STATE(offset) ((void *)(s->state + (offset)))
#define BARRIER() burin_step_barrier(s, thread)
#define DONE(kernel) burin_mark(s, thread, kernel)
#define PANELS(count, each, rows) burin_panels_of(s, thread, count, each, rows)
#define NEXT(weights, count, bytes) burin_own_bytes(s, weights, count, bytes)
#define BLOCKS(count, each) burin_own_range(s, thread, count, each)
#define HEADS(heads, shared) burin_heads_of(s, thread, heads, shared)
#define HEADS_PANELS(...) burin_panels_of_heads(s, thread, &(burin_head_columns){__VA_ARGS__})
#define TILES(heads, shared, rows) burin_tiles_of(s, thread, heads, shared, rows)
#define GATHER(y, ...) burin_gather(s, thread, &(burin_columns){(unsigned char *)(y), sizeof *(y), __VA_ARGS__})
#define RECORD(...) BURIN_RECORD(s, thread, __VA_ARGS__)
#define FLOATS(name) JOIN(name, BURIN_FLOATS)
#define embed_q8_0_200x64(...) FLOATS(ranks_embed_q8_0_200x64_)(__VA_ARGS__)
#define rms_normalization_q8_0_64(...) FLOATS(ranks_rms_normalization_q8_0_64_)(__VA_ARGS__)
#define rotary_16(...) FLOATS(ranks_rotary_16_)(__VA_ARGS__)
#define cache_append_key_2x16(...) FLOATS(ranks_cache_append_key_2x16_)(__VA_ARGS__)
#define cache_append_value_2x16(...) FLOATS(ranks_cache_append_value_2x16_)(__VA_ARGS__)
#define attention_4x2x16(...) FLOATS(ranks_attention_4x2x16_)(__VA_ARGS__)
#define quantize_q8_0_64(...) FLOATS(ranks_quantize_q8_0_64_)(__VA_ARGS__)
#define skip_rms_normalization_q8_0_64(...) FLOATS(ranks_skip_rms_normalization_q8_0_64_)(__VA_ARGS__)
#define quantize_q8_0_2048(...) FLOATS(ranks_quantize_q8_0_2048_)(__VA_ARGS__)
#define gather_rows_64(...) FLOATS(ranks_gather_rows_64_)(__VA_ARGS__)
#define skip_rms_normalization_q8_0_64_2(...) FLOATS(ranks_skip_rms_normalization_q8_0_64_2_)(__VA_ARGS__)

void FORWARD(const burin_step *s, int thread);
void EXP(float *values, size_t n);

void EXP(float *values, size_t n) { burin_exp_values(values, n); }

// %x0: q8_0[200, 64], i32[R] -> f32[R, 64]     llama.burin:30:7 model
FLOAT_KERNEL void embed_q8_0_200x64(burin_range range, const int32_t *index, const uint8_t *panels, float *y) {
    for (int r = range.first; r < range.last; r++)
        gather_column_q8_0(64, panels, burin_index(index[r], 200), y + r * 64);
}

// %n.0: f32[R, 64], f32[64] -> f32[R, 64]     llama.burin:24:9 model.layers.0
FLOAT_KERNEL void rms_normalization_q8_0_64(burin_range range, const float *x, const float *weight,
                                            q8_block *quantized, float *y) {
    for (int r = range.first; r < range.last; r++) {
        rms_norm(64, 0x1.4f8b58p-17f, x + r * 64, weight, y + r * 64);
        quantize_row_q8_0(64, y + r * 64, quantized + r * 2);
    }
}

// %qkv.0: q8_rows[R, 64], q8_0[128, 64] -> f32[R, 128]     llama.burin:24:9 model.layers.*.self_attn
KERNEL void matmul_q8_0_64x128(burin_range units, int rows, const q8_block *x, const uint8_t *w, float *y) {
    matmul_args m = {.panels = 8, .k = 64, .x_stride = 2, .rows = rows, .x = x, .w = w, .units = units};
    matmul_q8_0(m, store_rows, &(result_rows){y, 128, 128});
}

// %qr.0: f32[R, 64], f32[R, 8], f32[R, 8] -> f32[R, 64]     llama.burin:24:9 model.layers.*.self_attn
FLOAT_KERNEL void rotary_16(burin_range heads, int rows, const float *x, const float *cosine, const float *sine,
                            const int32_t *at, float *y) {
    rotary_shape shape = {heads.last - heads.first, 16, 16};
    x += heads.first * 16, y += heads.first * 16;
    for (int r = 0; r < rows; r++)
        rotary_half(shape, x + r * 128, cosine + at[r] * 8, sine + at[r] * 8, y + r * 128);
}

// %kc1.0: f32[R, 32], i32[R], i32[R] -> f32[S, 2, 80, 16]     llama.burin:24:9 model.layers.*.self_attn
FLOAT_KERNEL void cache_append_key_2x16(burin_range heads, int rows, const float *x, const int32_t *slot,
                                        const int32_t *position, void *cache) {
    kv_rows in = {.rows = rows, .stride = 128, .x = x, .slot = slot, .position = position};
    cache_append_keys((kv_cache){2, 16, 80, CACHE_F32, 61440, cache, false}, in, heads.first, heads.last);
}

// %vc1.0: f32[R, 32], i32[R], i32[R] -> f32[S, 2, 80, 16]     llama.burin:24:9 model.layers.*.self_attn
FLOAT_KERNEL void cache_append_value_2x16(burin_range heads, int rows, const float *x, const int32_t *slot,
                                          const int32_t *position, void *cache) {
    kv_rows in = {.rows = rows, .stride = 128, .x = x, .slot = slot, .position = position};
    cache_append_values((kv_cache){2, 16, 80, CACHE_F32, 61440, cache, false}, in, heads.first, heads.last);
}

// %a.0: f32[R, 64], f32[S, 2, 80, 16], f32[S, 2, 80, 16], i32[R], i32[R] -> f32[R, 64]     llama.burin:24:9
//   model.layers.*.self_attn
FLOAT_KERNEL void attention_4x2x16(burin_range units, const burin_step *s, int thread, int rows, const int32_t *slot,
                                   const int32_t *position, const float *q, void *keys, void *values, float *y) {
    attention_args a = {.heads = 4, .scale = 0x1.6a09e6p-3f, .causal = true};
    a.rows = rows, a.q = q, a.q_stride = 128, a.y = y, a.y_stride = 64;
    a.slot = slot, a.position = position;
    a.keys = (kv_cache){2, 16, 80, CACHE_F32, 61440, keys, false};
    a.values = (kv_cache){2, 16, 80, CACHE_F32, 61440, values, false};
    burin_attention(s, thread, a, units, NULL);
}

// %o.0.q: f32[R, 64] -> q8_rows[R, 64]
FLOAT_KERNEL void quantize_q8_0_64(burin_range range, burin_range blocks, const float *x, q8_block *y) {
    int from = 32 * blocks.first, k = burin_min(32 * blocks.last, 64) - from;
    for (int r = range.first; r < range.last && k > 0; r++)
        quantize_row_q8_0(k, x + r * 64 + from, y + r * 2 + blocks.first);
}

// %o.0: q8_rows[R, 64], q8_0[64, 64] -> f32[R, 64]     llama.burin:24:9 model.layers.*.self_attn
KERNEL void matmul_q8_0_64x64(burin_range units, int rows, const q8_block *x, const uint8_t *w, float *y) {
    matmul_args m = {.panels = 4, .k = 64, .x_stride = 2, .rows = rows, .x = x, .w = w, .units = units};
    matmul_q8_0(m, store_rows, &(result_rows){y, 64, 64});
}

// %m.0: f32[R, 64], f32[R, 64], f32[64] -> f32[R, 64]     llama.burin:25:9 model.layers.*.mlp
FLOAT_KERNEL void skip_rms_normalization_q8_0_64(burin_range range, const float *x, const float *residual,
                                                 const float *weight, q8_block *quantized, float *sum, float *y) {
    for (int r = range.first; r < range.last; r++) {
        add_row(64, x + r * 64, residual + r * 64, sum + r * 64);
        rms_norm(64, 0x1.4f8b58p-17f, sum + r * 64, weight, y + r * 64);
        quantize_row_q8_0(64, y + r * 64, quantized + r * 2);
    }
}

// %h.0: q8_rows[R, 64], q8_0[4096, 64] -> f32[R, 2048]     llama.burin:25:9 model.layers.*.mlp
// mul(silu($0), $1)
static inline void store_silu_mul_2048(const void *context, vf a0, vf a1, int row, int column) {
    const result_rows *c = context;
    vf_store(c->y + (size_t)row * 2048 + column, vf_mul(vf_silu(a0), a1));
}

KERNEL void matmul_q8_0_64x2048_silu_mul(burin_range units, int rows, const q8_block *x, const uint8_t *w, float *y) {
    matmul_args m = {.panels = 128, .k = 64, .x_stride = 2, .rows = rows, .x = x, .w = w, .units = units};
    matmul_q8_0_glu(m, store_silu_mul_2048, &(result_rows){.y = y});
}

// %d.0.q: f32[R, 2048] -> q8_rows[R, 2048]
FLOAT_KERNEL void quantize_q8_0_2048(burin_range range, burin_range blocks, const float *x, q8_block *y) {
    int from = 32 * blocks.first, k = burin_min(32 * blocks.last, 2048) - from;
    for (int r = range.first; r < range.last && k > 0; r++)
        quantize_row_q8_0(k, x + r * 2048 + from, y + r * 64 + blocks.first);
}

// %d.0: q8_rows[R, 2048], q8_0[64, 2048] -> f32[R, 64]     llama.burin:25:9 model.layers.*.mlp
KERNEL void matmul_q8_0_2048x64(burin_range units, int rows, const q8_block *x, const uint8_t *w, float *y) {
    matmul_args m = {.panels = 4, .k = 2048, .x_stride = 64, .rows = rows, .x = x, .w = w, .units = units};
    matmul_q8_0(m, store_rows, &(result_rows){y, 64, 64});
}

// %lw: f32[R, 64] -> f32[L, 64]
FLOAT_KERNEL void gather_rows_64(burin_range range, const int32_t *row, const float *x, float *y) {
    for (int r = range.first; r < range.last; r++) memcpy(y + r * 64, x + row[r] * 64, 64 * sizeof *y);
}

// %fx: f32[L, 64], f32[L, 64], f32[64] -> f32[L, 64]     llama.burin:32:5 model
FLOAT_KERNEL void skip_rms_normalization_q8_0_64_2(burin_range range, const float *x, const float *residual,
                                                   const float *weight, q8_block *quantized, float *y) {
    for (int r = range.first; r < range.last; r++) {
        add_row(64, x + r * 64, residual + r * 64, y + r * 64);
        rms_norm(64, 0x1.4f8b58p-17f, y + r * 64, weight, y + r * 64);
        quantize_row_q8_0(64, y + r * 64, quantized + r * 2);
    }
}

// %logits: q8_rows[L, 64], q8_0[200, 64] -> f32[L, 200]     llama.burin:33:5 lm_head
KERNEL void matmul_q8_0_64x200(burin_range units, int own_rows, const q8_block *x, const uint8_t *w, float *y) {
    matmul_args m = {.panels = 13, .k = 64, .x_stride = 2, .rows = own_rows, .x = x, .w = w, .units = units};
    matmul_q8_0(m, store_rows, &(result_rows){y, 200, 200});
}

// One thread's part of a step.
void FORWARD(const burin_step *s, int thread) {
    const struct ranks_weights *w = (const void *)s->weights;
    const int rows = s->rows, logit_rows = s->n_logit_rows;
    const bool many = rows > 1;
    unsigned char *local = s->local + (size_t)thread * 896;
    float *x0 = burin_per_thread(s, local, 11008);  // 256 bytes a row: %x0
    float *input_layernorm = burin_per_thread(s, local + 256, 0);  // 256 bytes a row: %n.0
    q8_block *quantized = burin_per_thread(s, local + 512, 512);  // 128 bytes a row: %n.0
    float *q_k_v_proj = burin_shared(s, 0, 0);  // 512 bytes a row: %qkv.0
    float *a_0 = burin_shared(s, 512, 512);  // 256 bytes a row: %a.0
    q8_block *o_0_q = burin_per_thread(s, local + 256, 256);  // 128 bytes a row: %o.0.q
    float *o_proj = burin_shared(s, 8192, 0);  // 256 bytes a row: %o.0
    float *post_attention_layernorm = burin_per_thread(s, local + 256, 256);  // 256 bytes a row: %m.0
    q8_block *quantized_2 = burin_per_thread(s, local + 512, 8192);  // 128 bytes a row: %x.0
    float *gate_up_proj = burin_shared(s, 0, 0);  // 8192 bytes a row: %h.0
    q8_block *d_0_q = burin_shared(s, 8192, 8192);  // 2816 bytes a row: %d.0.q
    float *down_proj = burin_shared(s, 512, 0);  // 256 bytes a row: %d.0
    float *input_layernorm_2 = burin_per_thread(s, local + 256, 256);  // 256 bytes a row: %n.1
    float *lw = burin_per_thread(s, local + 256, 256);  // 256 bytes a row: %lw
    float *lx = burin_per_thread(s, local + 512, 0);  // 256 bytes a row: %lx
    float *norm = burin_per_thread(s, local, 512);  // 256 bytes a row: %fx
    q8_block *quantized_3 = burin_per_thread(s, local + 768, 768);  // 128 bytes a row: %f

    // llama.burin:30:7 model
    embed_q8_0_200x64(ROW_RANGE(rows), s->token, w->embed_tokens, x0);
    DONE(0); RECORD("x0", -1, x0, rows, 64, 64);
    // llama.burin:24:9 model.layers.0
    rms_normalization_q8_0_64(ROW_RANGE(rows), x0, w->input_layernorm, quantized, input_layernorm);
    DONE(1); RECORD("n.0", -1, input_layernorm, rows, 64, 64);
    for (int layer = 0; layer < 3; layer++) {
        if (many) BARRIER();
        // llama.burin:24:9 model.layers.*.self_attn
        matmul_q8_0_64x128(HEADS_PANELS(0, 16, 4, 4, rows), rows, quantized, w->layer[layer].self_attn_q_k_v_proj,
                           q_k_v_proj);
        matmul_q8_0_64x128(HEADS_PANELS(64, 16, 2, 4, rows), rows, quantized, w->layer[layer].self_attn_q_k_v_proj,
                           q_k_v_proj);
        matmul_q8_0_64x128(HEADS_PANELS(96, 16, 2, 4, rows), rows, quantized, w->layer[layer].self_attn_q_k_v_proj,
                           q_k_v_proj);
        DONE(2);
        BARRIER();
        rotary_16(HEADS(4, 4), rows, q_k_v_proj, w->cos_table, w->sin_table, s->position, q_k_v_proj);
        DONE(3);
        rotary_16(HEADS(2, 4), rows, q_k_v_proj + 64, w->cos_table, w->sin_table, s->position, q_k_v_proj + 64);
        DONE(4);
        cache_append_key_2x16(HEADS(2, 4), rows, q_k_v_proj + 64, s->slot, s->position, STATE((size_t)layer * 20480));
        DONE(5);
        cache_append_value_2x16(HEADS(2, 4), rows, q_k_v_proj + 96, s->slot, s->position,
                                STATE(10240 + (size_t)layer * 20480));
        DONE(6);
        BARRIER();
        attention_4x2x16(TILES(4, 4, rows), s, thread, rows, s->slot, s->position, q_k_v_proj,
                         STATE((size_t)layer * 20480), STATE(10240 + (size_t)layer * 20480), a_0);
        DONE(7);
        GATHER(a_0, rows, 64, 64, 4, 16, NEXT(w->layer[layer].self_attn_o_proj, 0, 4352));
        RECORD("a.0", layer, a_0, rows, 64, 64);
        quantize_q8_0_64(ROW_RANGE(rows), ALL(2), a_0, o_0_q);
        DONE(8);
        if (many) BARRIER();
        // llama.burin:24:9 model.layers.*.self_attn
        matmul_q8_0_64x64(THREAD_RANGE(matmul_units(4, rows)), rows, o_0_q, w->layer[layer].self_attn_o_proj, o_proj);
        DONE(9); RECORD("o.0", layer, o_proj, rows, 64, 64);
        BARRIER();
        // llama.burin:25:9 model.layers.*.mlp
        skip_rms_normalization_q8_0_64(ROW_RANGE(rows), o_proj, x0, w->layer[layer].post_attention_layernorm,
                                       quantized_2, x0, post_attention_layernorm);
        DONE(10); RECORD("x.0", layer, x0, rows, 64, 64); RECORD("m.0", layer, post_attention_layernorm, rows, 64, 64);
        if (many) BARRIER();
        matmul_q8_0_64x2048_silu_mul(PANELS(64, 2, rows), rows, quantized_2, w->layer[layer].mlp_gate_up_proj,
                                     gate_up_proj);
        DONE(11);
        BARRIER();
        quantize_q8_0_2048(ALL(rows), BLOCKS(64, 1), gate_up_proj, d_0_q);
        DONE(12);
        GATHER(d_0_q, rows, 64, 64, 64, 1, NEXT(w->layer[layer].mlp_down_proj, 4, 34816));
        // llama.burin:25:9 model.layers.*.mlp
        matmul_q8_0_2048x64(PANELS(4, 1, rows), rows, d_0_q, w->layer[layer].mlp_down_proj, down_proj);
        DONE(13);
        GATHER(down_proj, rows, 64, 64, 4, 16, NEXT(NULL, 0, 0)); RECORD("d.0", layer, down_proj, rows, 64, 64);
        if (layer == 2) break;
        // llama.burin:24:9 model.layers.*.self_attn
        skip_rms_normalization_q8_0_64(ROW_RANGE(rows), down_proj, x0, w->layer_end[layer].input_layernorm, quantized,
                                       x0, input_layernorm_2);
        DONE(14); RECORD("y.0", layer, x0, rows, 64, 64); RECORD("n.1", layer, input_layernorm_2, rows, 64, 64);
    }
    gather_rows_64(ROW_RANGE(logit_rows), s->logit_rows, down_proj, lw);
    DONE(15); RECORD("lw", -1, lw, logit_rows, 64, 64);
    if (many) BARRIER();
    gather_rows_64(ROW_RANGE(logit_rows), s->logit_rows, x0, lx);
    DONE(16); RECORD("lx", -1, lx, logit_rows, 64, 64);
    // llama.burin:32:5 model
    skip_rms_normalization_q8_0_64_2(ROW_RANGE(logit_rows), lw, lx, w->norm, quantized_3, norm);
    DONE(17); RECORD("fx", -1, norm, logit_rows, 64, 64);
    if (many) BARRIER();
    // llama.burin:33:5 lm_head
    matmul_q8_0_64x200(THREAD_RANGE(matmul_units(13, logit_rows)), logit_rows, quantized_3, w->embed_tokens, s->logits);
    DONE(18); RECORD("logits", -1, s->logits, logit_rows, 200, 200);
}
