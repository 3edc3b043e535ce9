// Broken GGUF files: their metadata, their tensors, models that they describe wrongly.
#ifndef BURIN_TEST_BROKEN_GGUF_H
#define BURIN_TEST_BROKEN_GGUF_H
#include "broken.h"

enum { MODEL_VALUES = 7 };

static void model_values(void) {
    put_string("general.architecture", "llama");
    put_u32("llama.embedding_length", 4);
    put_u32("llama.feed_forward_length", 4);
    put_u32("llama.block_count", 1);
    put_u32("llama.attention.head_count", 1);
    put_u32("llama.context_length", 8);
    key("llama.attention.layer_norm_rms_epsilon", F32);
    f32(1e-5f);
}

static void begin_model(uint64_t tensors, uint64_t more_values) {
    begin(3, tensors, MODEL_VALUES + more_values);
    model_values();
}

static void open_gguf(size_t data) {
    zeros(-out.length & 31);
    zeros(data);
    write_out("model.gguf");
    open_checkpoint("model.gguf");
}

static void open_tensor(Described t, size_t data) {
    begin_model(1, 0);
    describe(t);
    open_gguf(data);
}

static void gguf_version(void) {
    begin(1, 0, 0);
    open_gguf(0);
}

static void gguf_many_tensors(void) {
    begin(3, UINT64_C(1) << 63, 0);
    open_gguf(0);
}

static void gguf_many_values(void) {
    begin(3, 0, UINT64_C(1) << 63);
    open_gguf(0);
}

static void gguf_long_string(void) {
    begin(3, 0, 1);
    u64(UINT64_MAX);
    open_gguf(64);
}

static void gguf_empty_name(void) {
    begin(3, 0, 1);
    u64(0);
    open_gguf(64);
}

static void gguf_unknown_type(void) {
    begin(3, 0, 1);
    key("x", 77);
    open_gguf(64);
}

static void gguf_nested_array(void) {
    begin(3, 0, 1);
    key("x", ARRAY);
    u32(ARRAY);
    u64(1);
    open_gguf(64);
}

static void gguf_long_array(void) {
    begin(3, 0, 1);
    key("x", ARRAY);
    u32(U32);
    u64(UINT64_C(1) << 62);
    open_gguf(64);
}

static void gguf_duplicate_key(void) {
    begin(3, 0, 2);
    put_u32("x", 1);
    put_u32("x", 1);
    open_gguf(0);
}

static void gguf_alignment_0(void) {
    begin_model(0, 1);
    put_u32("general.alignment", 0);
    open_gguf(0);
}

static void gguf_alignment_24(void) {
    begin_model(0, 1);
    put_u32("general.alignment", 24);
    open_gguf(0);
}

static void gguf_no_architecture(void) {
    begin(3, 0, 1);
    put_u32("x", 1);
    open_gguf(0);
}

static void gguf_architecture(void) {
    begin(3, 0, 1);
    put_string("general.architecture", "rwkv5");
    open_gguf(0);
}

static void gguf_unread_scale(void) {
    begin_model(1, 1);
    key("llama.attention.scale", F32);
    f32(0.5f);
    describe((Described){"blk.0.attn_q.weight", 4, 4, 0, 0});
    open_gguf(64);
}

static void gguf_unread_gating(void) {
    begin_model(1, 1);
    put_u32("llama.expert_gating_func", 2);
    describe((Described){"blk.0.attn_q.weight", 4, 4, 0, 0});
    open_gguf(64);
}

static void gguf_unread_clamps(void) {
    begin_model(1, 1);
    key("llama.swiglu_clamp_exp", ARRAY);
    u32(F32);
    u64(2);
    f32(0);
    f32(7);
    describe((Described){"blk.0.attn_q.weight", 4, 4, 0, 0});
    open_gguf(64);
}

// The table does not say how heads turn where there is a window.
static void open_window(const char *name, uint32_t type) {
    begin_model(1, 2);
    put_u32("llama.attention.sliding_window", 4);
    key(name, type);
    if (type == F32)
        f32(50);
    else
        u32(2);
    describe((Described){"blk.0.attn_q.weight", 4, 4, 0, 0});
    open_gguf(64);
}

static void gguf_factor_of_none(void) {
    begin_model(1, 3);
    put_u32("llama.attention.sliding_window", 4);
    put_string("llama.rope.scaling.type", "none");
    key("llama.rope.scaling.factor", F32);
    f32(4);
    describe((Described){"blk.0.attn_q.weight", 4, 4, 0, 0});
    open_gguf(64);
}

// Ids beyond the vocabulary, which llama.cpp leaves out; they are named by their keys.
static void gguf_ids_beyond(void) {
    begin_model(1, 4);
    key("tokenizer.ggml.tokens", ARRAY);
    u32(STRING);
    u64(1);
    string("a");
    put_u32("tokenizer.ggml.eot_token_id", 7);
    put_u32("tokenizer.ggml.padding_token_id", 1);
    put_u32("tokenizer.ggml.mask_token_id", UINT32_MAX);
    describe((Described){"blk.0.attn_q.weight", 3, 3, 0, 0});
    open_gguf(64);
}

static void open_gemma(const char *architecture, const char *name, uint32_t value) {
    static const char *const keys[] = {"embedding_length", "block_count", "attention.head_count",
                                       "context_length"};
    char text[80];
    begin(3, 0, 7);
    put_string("general.architecture", architecture);
    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof text, "%s.%s", architecture, keys[i]);
        put_u32(text, 4);
    }
    snprintf(text, sizeof text, "%s.attention.layer_norm_rms_epsilon", architecture);
    key(text, F32);
    f32(1e-5f);
    snprintf(text, sizeof text, "%s.%s", architecture, name);
    key(text, I32);
    u32(value);
    open_gguf(0);
}
static void gguf_window_0(void) { open_gemma("gemma-embedding", "attention.sliding_window", 0); }
static void gguf_pattern_below_0(void) {
    open_gemma("gemma3", "attention.sliding_window_pattern", UINT32_MAX - 2);
}

static void gguf_unread_window_base(void) { open_window("llama.rope.freq_base_swa", F32); }
static void gguf_unread_window_turns(void) { open_window("llama.rope.dimension_count_swa", U32); }

static void gguf_unread_head(void) {
    begin_model(1, 0);
    describe((Described){"cls.weight", 4, 4, 0, 0});
    open_gguf(64);
}

static void open_kind(const char *type, const char *architecture) {
    begin(3, 0, 2);
    put_string("general.architecture", architecture);
    put_string("general.type", type);
    open_gguf(0);
}
static void gguf_adapter(void) { open_kind("adapter", "llama"); }
static void gguf_imatrix(void) { open_kind("imatrix", "llama"); }
static void gguf_projector(void) { open_kind("mmproj", "clip"); }
static void gguf_old_projector(void) { open_kind("model", "clip"); }
static void gguf_diffusion(void) { open_kind("model", "llada-moe"); }
static void gguf_draft(void) { open_kind("model", "eagle3"); }
static void gguf_voice(void) { open_kind("model", "wavtokenizer-dec"); }

static void gguf_vocabulary_alone(void) {
    begin(3, 0, 2);
    put_string("general.architecture", "llama");
    key("tokenizer.ggml.tokens", ARRAY);
    u32(STRING);
    u64(1);
    string("a");
    open_gguf(0);
}

static void gguf_big_endian(void) {
    begin(3 << 24, 0, 0);
    open_gguf(0);
}

static void gguf_long_integers(void) {
    begin_model(0, 1);
    key("llama.attention.head_count_kv", ARRAY);
    u32(I64);
    u64(1);
    u64(UINT64_C(1) << 40);
    open_gguf(0);
}

static void gguf_no_heads(void) {
    begin(3, 0, 2);
    put_string("general.architecture", "llama");
    put_u32("llama.embedding_length", 4);
    open_gguf(0);
}

static void gguf_layers_differ(void) {
    begin(3, 0, 2);
    put_string("general.architecture", "llama");
    key("llama.embedding_length", ARRAY);
    u32(I32);
    u64(3);
    u32(4);
    u32(0);
    u32(8);
    open_gguf(0);
}

static void gguf_numbers_of_too_few_layers(void) {
    begin_model(0, 1);
    key("llama.attention.head_count_kv", ARRAY);
    u32(I32);
    u64(2);
    u32(1);
    u32(1);
    open_gguf(0);
}

static void gguf_string_for_integer(void) {
    begin(3, 0, 2);
    put_string("general.architecture", "llama");
    put_string("llama.embedding_length", "64");
    open_gguf(0);
}

static void gguf_integer_for_string(void) {
    begin(3, 0, 1);
    put_u32("general.architecture", 1);
    open_gguf(0);
}

static void gguf_epsilon(float epsilon, uint32_t type) {
    begin(3, 0, MODEL_VALUES);
    model_values();
    out.length -= 8;
    u32(type);
    f32(epsilon);
    open_gguf(0);
}

static void gguf_nan(void) { gguf_epsilon(0.0f / 0.0f, F32); }

static void gguf_scaling(void) {
    begin_model(0, 1);
    put_string("llama.rope.scaling.type", "dynamic");
    open_gguf(0);
}

static void gguf_partial_rotary(void) {
    begin_model(0, 1);
    put_u32("llama.rope.dimension_count", 2);
    open_gguf(0);
}

static void gguf_integer_for_float(void) {
    begin_model(0, 1);
    put_u32("llama.rope.scaling.factor", 2);
    open_gguf(0);
}

static void gguf_rows_of_groups(void) {
    begin(3, 1, 5);
    put_string("general.architecture", "bloom");
    put_u32("bloom.embedding_length", 4);
    put_u32("bloom.block_count", 1);
    put_u32("bloom.attention.head_count", 2);
    key("bloom.attention.layer_norm_epsilon", F32);
    f32(1e-5f);
    describe((Described){"blk.0.attn_qkv.weight", 4, 4, 0, 0});
    open_gguf(64);
}

static void gguf_rows_of_all_three(void) {
    begin(3, 1, 8);
    put_string("general.architecture", "chatglm");
    put_u32("chatglm.embedding_length", 4);
    put_u32("chatglm.feed_forward_length", 4);
    put_u32("chatglm.block_count", 1);
    put_u32("chatglm.attention.head_count", 2);
    put_u32("chatglm.attention.head_count_kv", 1);
    put_u32("chatglm.context_length", 8);
    key("chatglm.attention.layer_norm_rms_epsilon", F32);
    f32(1e-5f);
    describe((Described){"blk.0.attn_qkv.weight", 4, 4, 0, 0});
    open_gguf(64);
}

static void apertus(void) {
    put_string("general.architecture", "apertus");
    put_u32("apertus.embedding_length", 4);
    put_u32("apertus.feed_forward_length", 4);
    put_u32("apertus.block_count", 1);
    put_u32("apertus.attention.head_count", 1);
    put_u32("apertus.context_length", 8);
    key("apertus.attention.layer_norm_rms_epsilon", F32);
    f32(1e-5f);
}

static void gguf_list_missing(void) {
    begin(3, 0, 7);
    apertus();
    open_gguf(0);
}

static void gguf_list_length(void) {
    begin(3, 0, 8);
    apertus();
    key("xielu.alpha_n", ARRAY);
    u32(F32);
    u64(2);
    f32(1);
    f32(2);
    open_gguf(0);
}

static void gguf_list_of_no_tensors(void) {
    begin(3, 0, 8);
    apertus();
    key("xielu.alpha_n", F32);
    f32(1);
    open_gguf(0);
}

static void gguf_head_huge(void) {
    begin_model(0, 1);
    put_u32("llama.attention.key_length", 3000000000);
    open_gguf(0);
}

// A table of one number for each of a head's two pairs.
static void open_table(const char *name, float factor) {
    begin_model(1, 0);
    string(name);
    u32(1);
    u64(2);
    u32(0);
    u64(0);
    zeros(-out.length & 31);
    f32(factor);
    f32(factor);
    open_gguf(0);
}
static void gguf_rope_zero(void) { open_table("rope_freqs.weight", 0); }
static void gguf_rope_half(void) { open_table("rope_factors_long.weight", 1); }

static void gguf_yarn(void) {
    begin_model(0, 3);
    put_string("llama.rope.scaling.type", "yarn");
    key("llama.rope.scaling.factor", F32);
    f32(4);
    key("llama.rope.scaling.yarn_log_multiplier", F32);
    f32(0.1f);
    open_gguf(0);
}

static void gguf_yarn_mixture(void) {
    begin_model(0, 3);
    put_string("llama.rope.scaling.type", "yarn");
    key("llama.rope.scaling.factor", F32);
    f32(4);
    key("llama.rope.scaling.yarn_ext_factor", F32);
    f32(0.5f);
    open_gguf(0);
}

// Architectures that are not scaled, or not without a number more
static void open_scaled(const char *architecture, const char *type) {
    static const char *const sizes[] = {
        "embedding_length",       "feed_forward_length",    "block_count",
        "context_length",         "attention.head_count",   "attention.key_length",
        "attention.value_length", "attention.kv_lora_rank", "rope.dimension_count",
        "expert_count",           "expert_used_count",      "expert_feed_forward_length"};
    static const char *const floats[] = {"attention.layer_norm_epsilon",
                                         "attention.layer_norm_rms_epsilon", "rope.scaling.factor"};
    enum { SIZES = sizeof sizes / sizeof *sizes, FLOATS = sizeof floats / sizeof *floats };
    begin(3, 1, 2 + SIZES + FLOATS);
    put_string("general.architecture", architecture);
    put_string(arena_printf(arena, "%s.rope.scaling.type", architecture), type);
    for (int i = 0; i < SIZES; i++)
        put_u32(arena_printf(arena, "%s.%s", architecture, sizes[i]), 4);
    for (int i = 0; i < FLOATS; i++) {
        key(arena_printf(arena, "%s.%s", architecture, floats[i]), F32);
        f32(2);
    }
    describe((Described){"token_embd.weight", 4, 4, 0, 0});
    open_gguf(64);
}

// Its convolutions would see later tokens, too.
static void gguf_undirected(void) {
    begin(3, 1, 2);
    put_string("general.architecture", "lfm2");
    key("lfm2.attention.causal", BOOL);
    zeros(1);
    describe((Described){"token_embd.weight", 4, 4, 0, 0});
    open_gguf(64);
}

static void gguf_unscaled(void) { open_scaled("nemotron", "linear"); }
static void gguf_unstretched(void) { open_scaled("deepseek2", "yarn"); }

static void gguf_rope_freqs(void) { open_tensor((Described){"rope_freqs.weight", 1, 2, 0, 0}, 8); }
static void gguf_quantized(void) {
    open_tensor((Described){"blk.0.attn_q.weight", 4, 4, 12, 0}, 64);
}
static void gguf_tensor_type(void) {
    open_tensor((Described){"token_embd.weight", 4, 4, 99, 0}, 64);
}
static void gguf_past_end(void) { open_tensor((Described){"token_embd.weight", 4, 4, 0, 32}, 64); }
static void gguf_offset_wraps(void) {
    open_tensor((Described){"token_embd.weight", 4, 4, 0, UINT64_MAX - 63}, 64);
}
static void gguf_zero_rows(void) { open_tensor((Described){"token_embd.weight", 0, 4, 0, 0}, 64); }
static void gguf_huge(void) {
    open_tensor((Described){"token_embd.weight", UINT64_C(1) << 62, 4, 0, 0}, 64);
}
static void gguf_odd_rows(void) { open_tensor((Described){"blk.0.attn_q.weight", 3, 4, 0, 0}, 64); }

static void gguf_rank(void) {
    begin_model(1, 0);
    string("token_embd.weight");
    u32(9);
    open_gguf(64);
}

static void open_two(Described second) {
    begin_model(2, 0);
    describe((Described){"token_embd.weight", 4, 4, 0, 0});
    describe(second);
    open_gguf(128);
}

static void gguf_duplicate_tensor(void) { open_two((Described){"token_embd.weight", 4, 4, 0, 64}); }
static void gguf_overlap(void) { open_two((Described){"output.weight", 4, 4, 0, 32}); }

static const BrokenCase broken_gguf[] = {CASE(gguf_version),
                                         CASE(gguf_many_tensors),
                                         CASE(gguf_many_values),
                                         CASE(gguf_long_string),
                                         CASE(gguf_empty_name),
                                         CASE(gguf_unknown_type),
                                         CASE(gguf_nested_array),
                                         CASE(gguf_long_array),
                                         CASE(gguf_duplicate_key),
                                         CASE(gguf_alignment_0),
                                         CASE(gguf_alignment_24),
                                         CASE(gguf_no_architecture),
                                         CASE(gguf_architecture),
                                         CASE(gguf_unread_scale),
                                         CASE(gguf_unread_gating),
                                         CASE(gguf_unread_head),
                                         CASE(gguf_window_0),
                                         CASE(gguf_pattern_below_0),
                                         CASE(gguf_factor_of_none),
                                         CASE(gguf_ids_beyond),
                                         CASE(gguf_unread_window_base),
                                         CASE(gguf_unread_window_turns),
                                         CASE(gguf_unscaled),
                                         CASE(gguf_undirected),
                                         CASE(gguf_unstretched),
                                         CASE(gguf_adapter),
                                         CASE(gguf_imatrix),
                                         CASE(gguf_projector),
                                         CASE(gguf_old_projector),
                                         CASE(gguf_diffusion),
                                         CASE(gguf_draft),
                                         CASE(gguf_voice),
                                         CASE(gguf_vocabulary_alone),
                                         CASE(gguf_big_endian),
                                         CASE(gguf_long_integers),
                                         CASE(gguf_no_heads),
                                         CASE(gguf_layers_differ),
                                         CASE(gguf_numbers_of_too_few_layers),
                                         CASE(gguf_string_for_integer),
                                         CASE(gguf_integer_for_string),
                                         CASE(gguf_nan),
                                         CASE(gguf_rows_of_groups),
                                         CASE(gguf_rows_of_all_three),
                                         CASE(gguf_list_missing),
                                         CASE(gguf_list_length),
                                         CASE(gguf_list_of_no_tensors),
                                         CASE(gguf_head_huge),
                                         CASE(gguf_integer_for_float),
                                         CASE(gguf_scaling),
                                         CASE(gguf_partial_rotary),
                                         CASE(gguf_rope_freqs),
                                         CASE(gguf_rope_zero),
                                         CASE(gguf_rope_half),
                                         CASE(gguf_yarn),
                                         CASE(gguf_yarn_mixture),
                                         CASE(gguf_unread_clamps),
                                         CASE(gguf_quantized),
                                         CASE(gguf_tensor_type),
                                         CASE(gguf_past_end),
                                         CASE(gguf_offset_wraps),
                                         CASE(gguf_zero_rows),
                                         CASE(gguf_huge),
                                         CASE(gguf_odd_rows),
                                         CASE(gguf_rank),
                                         CASE(gguf_duplicate_tensor),
                                         CASE(gguf_overlap)};
#endif
