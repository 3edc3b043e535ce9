// llama: emitted by burin from llama.burin. Compiled once for each CPU, with -DBURIN_CPU=x86_64_v3 or the like.
//
//   kernels  : 14 distinct, 38 in a step; kernels 2 to 12 are a loop over 3 layers
//   barriers : 15 in a step of one row, 23 in a step of more
//   arena    : 18432 bytes for 16 rows; at least 18432 bytes live at once
//   local    : 768 bytes a thread
//   state    : 61440 bytes a slot, of which KV cache 61440 bytes
//   weights  : 291584 bytes, packed
#include "llama_plan.h"

#define JOINED(name, cpu) name##cpu
#define JOIN(name, cpu) JOINED(name, cpu)
#define FORWARD JOIN(llama_forward_, BURIN_CPU)
#define EXP JOIN(llama_exp_, BURIN_CPU)
#define THREAD_RANGE(count) burin_thread_range(s, thread, count)
#define ROW_RANGE(count) burin_row_range(s, thread, count)
#define FOR_EACH_SLICE(...) \
    for (burin_slices slices = burin_matmul_slices(s, thread, __VA_ARGS__); burin_next_slice(s, thread, &slices);)
#define FOR_EACH_ATTENTION_SLICE(...) \
    for (burin_slices slices = burin_attention_slices(s, thread, __VA_ARGS__); burin_next_slice(s, thread, &slices);)
#define ALL(count) (burin_range){0, count}
#define FOR_EACH_FINISHED_TILE(...) \
    for (burin_tiles tiles = burin_finished_tiles(slices.range, __VA_ARGS__); burin_next_tile(s, &tiles);)
#define FOR_EACH_FINISHED_HEAD(...) \
    for (burin_tiles tiles = burin_finished_heads(slices.range, __VA_ARGS__); burin_next_tile(s, &tiles);)
#define TILE_IN(first, count) burin_tile_in(&tiles, first, count)
#define TILE_RANGE(first, each) burin_tile_range(&tiles, first, each)
#define LAP(kernel) burin_lap(s, thread, kernel)
#define STATE(offset) ((void *)(s->state + (offset)))
#define BARRIER() burin_step_barrier(s, thread)
#define DONE(kernel) burin_mark(s, thread, kernel)
#define RECORD(...) BURIN_RECORD(s, thread, __VA_ARGS__)

void FORWARD(const burin_step *s, int thread);
void EXP(float *values, size_t n);

void EXP(float *values, size_t n) { burin_exp_values(values, n); }

// %x0: bf16[200, 64], i32[R] -> f32[R, 64]     llama.burin:30:7 model
KERNEL void embed_bf16_200x64(burin_range range, const int32_t *index, const uint16_t *panels, float *y) {
    for (int r = range.first; r < range.last; r++)
        gather_column_bf16(64, panels, burin_index(index[r], 200), y + r * 64);
}

// %n.0: f32[R, 64], f32[64] -> f32[R, 64]     llama.burin:24:9 model.layers.0
KERNEL void rms_normalization_64(burin_range range, const float *x, const float *weight, float *y) {
    for (int r = range.first; r < range.last; r++)
        rms_norm(64, 0x1.4f8b58p-17f, x + r * 64, weight, y + r * 64);
}

// %qkv.0: f32[R, 64], bf16[128, 64] -> f32[R, 128]     llama.burin:24:9 model.layers.*.self_attn
KERNEL void matmul_bf16_64x128(burin_range units, int rows, const float *x, const uint16_t *w, float *y) {
    matmul_args m = {.panels = 8, .k = 64, .x_stride = 64, .rows = rows, .x = x, .w = w, .units = units};
    matmul_bf16(m, store_rows, &(result_rows){y, 128, 128});
}

// %qr.0: f32[R, 64], f32[R, 8], f32[R, 8] -> f32[R, 64]     llama.burin:24:9 model.layers.*.self_attn
KERNEL void rotary_16(burin_range heads, int rows, const float *x, const float *cosine, const float *sine,
                      const int32_t *at, float *y) {
    rotary_shape shape = {heads.last - heads.first, 16, 16};
    x += heads.first * 16, y += heads.first * 16;
    for (int r = 0; r < rows; r++)
        rotary_half(shape, x + r * 128, cosine + at[r] * 8, sine + at[r] * 8, y + r * 128);
}

// %kc1.0: f32[R, 32], i32[R], i32[R] -> f32[S, 2, 80, 16]     llama.burin:24:9 model.layers.*.self_attn
KERNEL void cache_append_key_2x16(burin_range heads, int rows, const float *x, const int32_t *slot,
                                  const int32_t *position, void *cache) {
    kv_rows in = {.rows = rows, .stride = 128, .x = x, .slot = slot, .position = position};
    cache_append_keys((kv_cache){2, 16, 80, CACHE_F32, 61440, cache, false}, in, heads.first, heads.last);
}

// %vc1.0: f32[R, 32], i32[R], i32[R] -> f32[S, 2, 80, 16]     llama.burin:24:9 model.layers.*.self_attn
KERNEL void cache_append_value_2x16(burin_range heads, int rows, const float *x, const int32_t *slot,
                                    const int32_t *position, void *cache) {
    kv_rows in = {.rows = rows, .stride = 128, .x = x, .slot = slot, .position = position};
    cache_append_values((kv_cache){2, 16, 80, CACHE_F32, 61440, cache, false}, in, heads.first, heads.last);
}

// %a.0: f32[R, 64], f32[S, 2, 80, 16], f32[S, 2, 80, 16], i32[R], i32[R] -> f32[R, 64]     llama.burin:24:9
//   model.layers.*.self_attn
KERNEL void attention_4x2x16(burin_range units, const burin_step *s, int thread, int rows, const int32_t *slot,
                             const int32_t *position, const float *q, void *keys, void *values, float *y) {
    attention_args a = {.heads = 4, .scale = 0x1.6a09e6p-3f, .causal = true};
    a.rows = rows, a.q = q, a.q_stride = 128, a.y = y, a.y_stride = 64;
    a.slot = slot, a.position = position;
    a.keys = (kv_cache){2, 16, 80, CACHE_F32, 61440, keys, false};
    a.values = (kv_cache){2, 16, 80, CACHE_F32, 61440, values, false};
    burin_attention(s, thread, a, units, NULL);
}

// %o.0: f32[R, 64], bf16[64, 64] -> f32[R, 64]     llama.burin:24:9 model.layers.*.self_attn
KERNEL void matmul_bf16_64x64(burin_range units, int rows, const float *x, const uint16_t *w, float *y) {
    matmul_args m = {.panels = 4, .k = 64, .x_stride = 64, .rows = rows, .x = x, .w = w, .units = units};
    matmul_bf16(m, store_rows, &(result_rows){y, 64, 64});
}

// %m.0: f32[R, 64], f32[R, 64], f32[64] -> f32[R, 64]     llama.burin:25:9 model.layers.*.mlp
KERNEL void skip_rms_normalization_64(burin_range range, const float *x, const float *residual, const float *weight,
                                      float *sum, float *y) {
    for (int r = range.first; r < range.last; r++) {
        add_row(64, x + r * 64, residual + r * 64, sum + r * 64);
        rms_norm(64, 0x1.4f8b58p-17f, sum + r * 64, weight, y + r * 64);
    }
}

// %h.0: f32[R, 64], bf16[320, 64] -> f32[R, 160]     llama.burin:25:9 model.layers.*.mlp
// mul(silu($0), $1)
static inline void store_silu_mul_160(const void *context, vf a0, vf a1, int row, int column) {
    const result_rows *c = context;
    vf_store(c->y + (size_t)row * 160 + column, vf_mul(vf_silu(a0), a1));
}

KERNEL void matmul_bf16_64x160_silu_mul(burin_range units, int rows, const float *x, const uint16_t *w, float *y) {
    matmul_args m = {.panels = 10, .k = 64, .x_stride = 64, .rows = rows, .x = x, .w = w, .units = units};
    matmul_bf16_glu(m, store_silu_mul_160, &(result_rows){.y = y});
}

// %d.0: f32[R, 160], bf16[64, 160] -> f32[R, 64]     llama.burin:25:9 model.layers.*.mlp
KERNEL void matmul_bf16_160x64(burin_range units, int rows, const float *x, const uint16_t *w, float *y) {
    matmul_args m = {.panels = 4, .k = 160, .x_stride = 160, .rows = rows, .x = x, .w = w, .units = units};
    matmul_bf16(m, store_rows, &(result_rows){y, 64, 64});
}

// %lw: f32[R, 64] -> f32[L, 64]
KERNEL void gather_rows_64(burin_range range, const int32_t *row, const float *x, float *y) {
    for (int r = range.first; r < range.last; r++) memcpy(y + r * 64, x + row[r] * 64, 64 * sizeof *y);
}

// %fx: f32[L, 64], f32[L, 64], f32[64] -> f32[L, 64]     llama.burin:32:5 model
KERNEL void skip_rms_normalization_64_2(burin_range range, const float *x, const float *residual, const float *weight,
                                        float *y) {
    for (int r = range.first; r < range.last; r++) {
        add_row(64, x + r * 64, residual + r * 64, y + r * 64);
        rms_norm(64, 0x1.4f8b58p-17f, y + r * 64, weight, y + r * 64);
    }
}

// %logits: f32[L, 64], bf16[200, 64] -> f32[L, 200]     llama.burin:33:5 lm_head
KERNEL void matmul_bf16_64x200(burin_range units, int own_rows, const float *x, const uint16_t *w, float *y) {
    matmul_args m = {.panels = 13, .k = 64, .x_stride = 64, .rows = own_rows, .x = x, .w = w, .units = units};
    matmul_bf16(m, store_rows, &(result_rows){y, 200, 200});
}

// One thread's part of a step.
void FORWARD(const burin_step *s, int thread) {
    const struct llama_weights *w = (const void *)s->weights;
    const int rows = s->rows, logit_rows = s->n_logit_rows;
    const bool many = rows > 1;
    unsigned char *local = s->local + (size_t)thread * 768;
    float *x0 = burin_per_thread(s, local, 0);  // 256 bytes a row: %x0
    float *input_layernorm = burin_per_thread(s, local + 256, 256);  // 256 bytes a row: %n.0
    float *q_k_v_proj = burin_shared(s, 0, 512);  // 512 bytes a row: %qkv.0
    float *a_0 = burin_shared(s, 512, 256);  // 256 bytes a row: %a.0
    float *o_proj = burin_shared(s, 768, 512);  // 256 bytes a row: %o.0
    float *post_attention_layernorm = burin_per_thread(s, local + 256, 896);  // 256 bytes a row: %m.0
    float *gate_up_proj = burin_shared(s, 0, 256);  // 640 bytes a row: %h.0
    float *down_proj = burin_shared(s, 640, 896);  // 256 bytes a row: %d.0
    float *lw = burin_per_thread(s, local + 256, 256);  // 256 bytes a row: %lw
    float *lx = burin_per_thread(s, local + 512, 512);  // 256 bytes a row: %lx
    float *norm = burin_per_thread(s, local, 0);  // 256 bytes a row: %fx

    // llama.burin:30:7 model
    embed_bf16_200x64(ROW_RANGE(rows), s->token, w->embed_tokens, x0);
    DONE(0); RECORD("x0", -1, x0, rows, 64, 64);
    // llama.burin:24:9 model.layers.0
    rms_normalization_64(ROW_RANGE(rows), x0, w->input_layernorm, input_layernorm);
    DONE(1); RECORD("n.0", -1, input_layernorm, rows, 64, 64);
    for (int layer = 0; layer < 3; layer++) {
        if (many) BARRIER();
        // llama.burin:24:9 model.layers.*.self_attn
        FOR_EACH_SLICE(8, rows) {
            matmul_bf16_64x128(slices.range, rows, input_layernorm, w->layer[layer].self_attn_q_k_v_proj, q_k_v_proj);
            LAP(2);
            FOR_EACH_FINISHED_TILE(8, 1, 0, rows) {
                if (TILE_IN(0, 4)) {
                    rotary_16(TILE_RANGE(0, 1), rows, q_k_v_proj, w->cos_table, w->sin_table, s->position, q_k_v_proj);
                    LAP(3);
                }
                if (TILE_IN(4, 2)) {
                    rotary_16(TILE_RANGE(4, 1), rows, q_k_v_proj + 64, w->cos_table, w->sin_table, s->position,
                              q_k_v_proj + 64);
                    LAP(4);
                    cache_append_key_2x16(TILE_RANGE(4, 1), rows, q_k_v_proj + 64, s->slot, s->position,
                                          STATE((size_t)layer * 20480));
                    LAP(5);
                }
                if (TILE_IN(6, 2)) {
                    cache_append_value_2x16(TILE_RANGE(6, 1), rows, q_k_v_proj + 96, s->slot, s->position,
                                            STATE(10240 + (size_t)layer * 20480));
                    LAP(6);
                }
            }
        }
        DONE(2);
        DONE(3); RECORD("qr.0", layer, q_k_v_proj, rows, 64, 128);
        DONE(4); RECORD("kr.0", layer, q_k_v_proj + 64, rows, 32, 128);
        DONE(5);
        DONE(6);
        BARRIER();
        FOR_EACH_ATTENTION_SLICE(4, rows)
            attention_4x2x16(slices.range, s, thread, rows, s->slot, s->position, q_k_v_proj,
                             STATE((size_t)layer * 20480), STATE(10240 + (size_t)layer * 20480), a_0);
        DONE(7); RECORD("a.0", layer, a_0, rows, 64, 64);
        BARRIER();
        FOR_EACH_SLICE(4, rows)
            matmul_bf16_64x64(slices.range, rows, a_0, w->layer[layer].self_attn_o_proj, o_proj);
        DONE(8); RECORD("o.0", layer, o_proj, rows, 64, 64);
        BARRIER();
        // llama.burin:25:9 model.layers.*.mlp
        skip_rms_normalization_64(ROW_RANGE(rows), o_proj, x0, w->layer[layer].post_attention_layernorm, x0,
                                  post_attention_layernorm);
        DONE(9); RECORD("x.0", layer, x0, rows, 64, 64); RECORD("m.0", layer, post_attention_layernorm, rows, 64, 64);
        if (many) BARRIER();
        FOR_EACH_SLICE(10, rows)
            matmul_bf16_64x160_silu_mul(slices.range, rows, post_attention_layernorm, w->layer[layer].mlp_gate_up_proj,
                                        gate_up_proj);
        DONE(10); RECORD("h.0", layer, gate_up_proj, rows, 160, 160);
        BARRIER();
        FOR_EACH_SLICE(4, rows)
            matmul_bf16_160x64(slices.range, rows, gate_up_proj, w->layer[layer].mlp_down_proj, down_proj);
        DONE(11); RECORD("d.0", layer, down_proj, rows, 64, 64);
        if (layer == 2) break;
        BARRIER();
        // llama.burin:24:9 model.layers.*.self_attn
        skip_rms_normalization_64(ROW_RANGE(rows), down_proj, x0, w->layer_end[layer].input_layernorm, x0,
                                  input_layernorm);
        DONE(12); RECORD("y.0", layer, x0, rows, 64, 64); RECORD("n.1", layer, input_layernorm, rows, 64, 64);
    }
    BARRIER();
    gather_rows_64(ROW_RANGE(logit_rows), s->logit_rows, down_proj, lw);
    DONE(13); RECORD("lw", -1, lw, logit_rows, 64, 64);
    gather_rows_64(ROW_RANGE(logit_rows), s->logit_rows, x0, lx);
    DONE(14); RECORD("lx", -1, lx, logit_rows, 64, 64);
    if (many) BARRIER();
    // llama.burin:32:5 model
    skip_rms_normalization_64_2(ROW_RANGE(logit_rows), lw, lx, w->norm, norm);
    DONE(15); RECORD("fx", -1, norm, logit_rows, 64, 64);
    if (many) BARRIER();
    // llama.burin:33:5 lm_head
    FOR_EACH_SLICE(13, logit_rows)
        matmul_bf16_64x200(slices.range, logit_rows, norm, w->embed_tokens, s->logits);
    DONE(16); RECORD("logits", -1, s->logits, logit_rows, 200, 200);
}
