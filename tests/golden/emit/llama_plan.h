// llama: sizes, and where the weights lie. Emitted by burin.
#ifndef LLAMA_PLAN_H
#define LLAMA_PLAN_H
#define BURIN_HEAD_DIM 16  // of attention, at most
#include "kernels/kernels.h"
#include "kernels/nest.h"
#include "engine/step.h"

#define LLAMA_MAX_ROWS 16                        // rows of one step
#define LLAMA_ROW_BYTES 1152                     // of the arena, for each row
#define LLAMA_ARENA_BYTES 18432                  // MAX_ROWS times ROW_BYTES
#define LLAMA_ARENA_LOWER_BOUND 18432            // largest sum of values any two of which live at once
#define LLAMA_LOCAL_BYTES 768                    // of each thread: row-wise values of a single row
#define LLAMA_SLOT_BYTES 61440                   // state of one sequence
#define LLAMA_CACHE_BYTES 61440                  // of SLOT_BYTES: KV caches
#define LLAMA_WEIGHT_BYTES 291584                // packed

struct llama_layer {
    _Alignas(64) uint16_t self_attn_q_k_v_proj[8192];                // [8 panels][64][16] bf16[128, 64]
    _Alignas(64) uint16_t self_attn_o_proj[4096];                    // [4 panels][64][16] bf16[64, 64]
    _Alignas(64) float post_attention_layernorm[64];                 // f32[64]
    _Alignas(64) uint16_t mlp_gate_up_proj[20480];                   // [20 panels][64][16] bf16[320, 64]
    _Alignas(64) uint16_t mlp_down_proj[10240];                      // [4 panels][160][16] bf16[64, 160]
};

struct llama_layer_end {
    _Alignas(64) float input_layernorm[64];                          // f32[64]
};

// Everything in the order of its use.
struct llama_weights {
    _Alignas(64) uint16_t embed_tokens[13312];                       // [13 panels][64][16] bf16[200, 64]
    _Alignas(64) float cos_table[640];                               // f32[80, 8]
    _Alignas(64) float sin_table[640];                               // f32[80, 8]
    _Alignas(64) float input_layernorm[64];                          // f32[64]
    struct llama_layer layer[3];
    struct llama_layer_end layer_end[2];
    _Alignas(64) float norm[64];                                     // f32[64]
};

_Static_assert(offsetof(struct llama_weights, embed_tokens) == 0, "embed_tokens");
_Static_assert(offsetof(struct llama_weights, cos_table) == 26624, "cos_table");
_Static_assert(offsetof(struct llama_weights, sin_table) == 29184, "sin_table");
_Static_assert(offsetof(struct llama_weights, input_layernorm) == 31744, "input_layernorm");
_Static_assert(offsetof(struct llama_weights, layer[0].self_attn_q_k_v_proj) == 32000, "self_attn_q_k_v_proj");
_Static_assert(offsetof(struct llama_weights, layer[0].self_attn_o_proj) == 48384, "self_attn_o_proj");
_Static_assert(offsetof(struct llama_weights, layer[0].post_attention_layernorm) == 56576, "post_attention_layernorm");
_Static_assert(offsetof(struct llama_weights, layer[0].mlp_gate_up_proj) == 56832, "mlp_gate_up_proj");
_Static_assert(offsetof(struct llama_weights, layer[0].mlp_down_proj) == 97792, "mlp_down_proj");
_Static_assert(offsetof(struct llama_weights, layer_end[0].input_layernorm) == 290816, "input_layernorm");
_Static_assert(offsetof(struct llama_weights, norm) == 291328, "norm");
_Static_assert(sizeof(struct llama_layer) == 86272, "layer");
_Static_assert(sizeof(struct llama_layer_end) == 256, "layer_end");
_Static_assert(sizeof(struct llama_weights) == 291584, "weights");
#endif
