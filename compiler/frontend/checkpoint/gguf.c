// GGUF as a checkpoint: its tensors and metadata in Hugging Face's words. One row an architecture.
//
//   blk.0.attn_q.weight      -> model.layers.0.self_attn.q_proj.weight
//   llama.embedding_length   -> hidden_size
#include "frontend/checkpoint/gguf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "frontend/checkpoint/reader.h"

enum { TYPE_F32 = 0, TYPE_F16 = 1, TYPE_BF16 = 30 };

typedef struct {
    const char *gguf, *name;
} Pair;

// A name is its head of "token_embd", or "blk.N." and a piece; then ".weight" or ".bias".
static const Pair llama_model[] = {
    {"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}, {NULL, NULL}};
static const Pair llama_layer[] = {{"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
                                   {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
                                   {"attn_q_norm", "self_attn.q_norm"}, {"attn_k_norm", "self_attn.k_norm"},
                                   {"attn_output", "self_attn.o_proj"}, {"ffn_norm", "post_attention_layernorm"},
                                   {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
                                   {"ffn_down", "mlp.down_proj"},       {NULL, NULL}};
static const Pair phi3_layer[] = {{"attn_norm", "input_layernorm"},
                                  {"attn_qkv", "self_attn.qkv_proj"},
                                  {"attn_output", "self_attn.o_proj"},
                                  {"ffn_norm", "post_attention_layernorm"},
                                  {"ffn_up", "mlp.gate_up_proj"},
                                  {"ffn_down", "mlp.down_proj"},
                                  {NULL, NULL}};
static const Pair gemma2_layer[] = {{"attn_norm", "input_layernorm"},
                                    {"attn_q", "self_attn.q_proj"},
                                    {"attn_k", "self_attn.k_proj"},
                                    {"attn_v", "self_attn.v_proj"},
                                    {"attn_output", "self_attn.o_proj"},
                                    {"post_attention_norm", "post_attention_layernorm"},
                                    {"ffn_norm", "pre_feedforward_layernorm"},
                                    {"ffn_gate", "mlp.gate_proj"},
                                    {"ffn_up", "mlp.up_proj"},
                                    {"ffn_down", "mlp.down_proj"},
                                    {"post_ffw_norm", "post_feedforward_layernorm"},
                                    {NULL, NULL}};
static const Pair gpt2_model[] = {{"token_embd", "transformer.wte"},
                                  {"position_embd", "transformer.wpe"},
                                  {"output_norm", "transformer.ln_f"},
                                  {"output", "lm_head"},
                                  {NULL, NULL}};
static const Pair gpt2_layer[] = {{"attn_norm", "ln_1"}, {"attn_qkv", "attn.c_attn"}, {"attn_output", "attn.c_proj"},
                                  {"ffn_norm", "ln_2"},  {"ffn_up", "mlp.c_fc"},      {"ffn_down", "mlp.c_proj"},
                                  {NULL, NULL}};

typedef struct {
    const char *gguf, *name;  // "ARCHITECTURE." stands in front of the first
    bool is_float, required;
} Key;

static const Key llama_keys[] = {{"embedding_length", "hidden_size", false, true},
                                 {"feed_forward_length", "intermediate_size", false, true},
                                 {"block_count", "num_hidden_layers", false, true},
                                 {"attention.head_count", "num_attention_heads", false, true},
                                 {"attention.head_count_kv", "num_key_value_heads", false, false},
                                 {"attention.key_length", "head_dim", false, false},
                                 {"context_length", "max_position_embeddings", false, true},
                                 {"attention.layer_norm_rms_epsilon", "rms_norm_eps", true, true},
                                 {"rope.freq_base", "rope_theta", true, false},
                                 {"attention.sliding_window", "sliding_window", false, false},
                                 {"attn_logit_softcapping", "attn_logit_softcapping", true, false},
                                 {"final_logit_softcapping", "final_logit_softcapping", true, false},
                                 {NULL, NULL, false, false}};
static const Key gpt2_keys[] = {{"embedding_length", "n_embd", false, true},
                                {"feed_forward_length", "n_inner", false, false},
                                {"block_count", "n_layer", false, true},
                                {"attention.head_count", "n_head", false, true},
                                {"context_length", "n_positions", false, true},
                                {"attention.layer_norm_epsilon", "layer_norm_epsilon", true, true},
                                {NULL, NULL, false, false}};

// Converters change some weights: rows of q and k into interleaved rotary order, 1 added to norms that Hugging Face's formula
// adds it to, GPT-2's matrices transposed. The reader undoes it.
typedef enum { CHANGED_NOTHING, CHANGED_ROTARY, CHANGED_NORMS, CHANGED_MATRICES } Change;

// What the metadata leaves out: whether there are biases, and what Gemma 2 divides scores by.
enum { MAY_HAVE_BIASES = 1, HAS_QUERY_SCALE = 2 };

typedef struct {
    const char *name;  // general.architecture, and Hugging Face's model_type
    const char *class_name;
    const Pair *model, *layer;
    const char *layers;  // what stands in front of a layer's number
    const Key *keys;
    Change change;
    unsigned traits;
} Architecture;

static const Architecture architectures[] = {
    {"llama", "LlamaForCausalLM", llama_model, llama_layer, "model.layers", llama_keys, CHANGED_ROTARY, MAY_HAVE_BIASES},
    {"qwen2", "Qwen2ForCausalLM", llama_model, llama_layer, "model.layers", llama_keys, CHANGED_NOTHING, 0},
    {"qwen3", "Qwen3ForCausalLM", llama_model, llama_layer, "model.layers", llama_keys, CHANGED_NOTHING, MAY_HAVE_BIASES},
    {"gemma", "GemmaForCausalLM", llama_model, llama_layer, "model.layers", llama_keys, CHANGED_NORMS, 0},
    {"gemma2", "Gemma2ForCausalLM", llama_model, gemma2_layer, "model.layers", llama_keys, CHANGED_NORMS, HAS_QUERY_SCALE},
    {"phi3", "Phi3ForCausalLM", llama_model, phi3_layer, "model.layers", llama_keys, CHANGED_NOTHING, 0},
    {"gpt2", "GPT2LMHeadModel", gpt2_model, gpt2_layer, "transformer.h", gpt2_keys, CHANGED_MATRICES, 0},
};

typedef struct {
    Checkpoint *checkpoint;
    const Gguf *gguf;
    const Architecture *architecture;
    json_t *config;
} Reading;

// --------------------------------------------------------------------------------------------------------------------- names
// "attn_q.weight" with {"attn_q", "self_attn.q_proj"}: "self_attn.q_proj.weight".
static const char *translate(Arena *arena, const Pair *pairs, const char *name) {
    for (; pairs->gguf; pairs++) {
        size_t n = strlen(pairs->gguf);
        if (!strncmp(name, pairs->gguf, n) && (!strcmp(name + n, ".weight") || !strcmp(name + n, ".bias")))
            return arena_printf(arena, "%s%s", pairs->name, name + n);
    }
    return NULL;
}

static const char *name_of(const Reading *r, const char *gguf) {
    Arena *arena = r->checkpoint->arena;
    unsigned layer;
    int used = 0;
    if (sscanf(gguf, "blk.%9u.%n", &layer, &used) == 1 && used) {
        const char *inner = translate(arena, r->architecture->layer, gguf + used);
        return inner ? arena_printf(arena, "%s.%u.%s", r->architecture->layers, layer, inner) : gguf;
    }
    const char *name = translate(arena, r->architecture->model, gguf);
    return name ? name : gguf;
}

// ------------------------------------------------------------------------------------------------------------------- tensors
static DType dtype_of(const Reading *r, const GgufTensor *t) {
    const char *name = gguf_type_name(t->type);
    switch (t->type) {
        case TYPE_F32:
            return DT_f32;
        case TYPE_F16:
            return DT_f16;
        case TYPE_BF16:
            return DT_bf16;
    }
    if (!name) file_fatal(r->gguf->file, "tensor \"%s\" has type %" PRIu32 ", which GGUF does not define", t->name, t->type);
    file_fatal(
        r->gguf->file,
        "tensor \"%s\" is %s: quantized and integer tensors are not supported yet\nhint: take the model's F32, F16 or BF16 "
        "file; burin quantizes with --quant",
        t->name, name);
}

static int rotary_heads(const Reading *r, const Tensor *t) {
    const char *head_key = strstr(t->name, ".q_proj.")   ? "num_attention_heads"
                           : strstr(t->name, ".k_proj.") ? "num_key_value_heads"
                                                         : NULL;
    if (!head_key) return 0;
    json_int_t heads = json_integer_value(json_object_get(r->config, head_key));
    if (heads < 1 || heads > INT32_MAX || t->dim[0] % (2 * heads))
        file_fatal(r->gguf->file,
                   "tensor \"%s\" has %" PRId64 " rows, which %s = %" JSON_INTEGER_FORMAT " does not divide into pairs",
                   t->name, t->dim[0], head_key, heads);
    return (int)heads;
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static bool is_transposed(const Tensor *t) {
    return t->rank == 2 &&
           (ends_with(t->name, ".c_attn.weight") || ends_with(t->name, ".c_fc.weight") || ends_with(t->name, ".c_proj.weight"));
}

static void undo_change(const Reading *r, StoredTensor *stored) {
    Tensor *t = &stored->tensor;
    switch (r->architecture->change) {
        case CHANGED_NOTHING:
            return;
        case CHANGED_ROTARY:
            stored->rotary_heads = rotary_heads(r, t);
            return;
        case CHANGED_NORMS:
            stored->minus_one = ends_with(t->name, "norm.weight");
            if (stored->minus_one && t->dtype != DT_f32)
                file_fatal(r->gguf->file, "tensor \"%s\" is %s, expected F32", t->name, dtype_name(t->dtype));
            return;
        case CHANGED_MATRICES:
            stored->transposed = is_transposed(t);
            if (!stored->transposed) return;
            int64_t rows = t->dim[0];
            t->dim[0] = t->dim[1], t->dim[1] = rows;
    }
}

static void add_tensor(const Reading *r, const GgufTensor *stored) {
    const MappedFile *file = r->gguf->file;
    Tensor t = {.name = stored->name, .dtype = dtype_of(r, stored)};
    uint64_t dims[MAX_RANK], end;
    for (int i = 0; i < stored->rank; i++) dims[i] = stored->dims[stored->rank - 1 - i];
    tensor_set_shape(file, &t, stored->rank, dims);
    if (__builtin_add_overflow(r->gguf->data, stored->offset, &end) || __builtin_add_overflow(end, t.bytes, &end) ||
        end > file->size)
        file_fatal(file,
                   "tensor \"%s\" takes %" PRIu64 " bytes at %" PRIu64 " of the data, past the file's end at byte %" PRIu64
                   "\nhint: a truncated download? Compare the size with the publisher's",
                   stored->name, t.bytes, stored->offset, file->size);
    t.data = file->data + r->gguf->data + stored->offset;
    t.name = name_of(r, stored->name);
    undo_change(r, checkpoint_add(r->checkpoint, file, &t));
}

// ------------------------------------------------------------------------------------------------------------- configuration
static void set_key(const Reading *r, const Key *k) {
    const char *key = arena_printf(r->checkpoint->arena, "%s.%s", r->architecture->name, k->gguf);
    int64_t integer;
    double number;
    if (k->is_float && gguf_float(r->gguf, key, &number))
        json_object_set_new(r->config, k->name, json_real(number));
    else if (!k->is_float && gguf_int(r->gguf, key, &integer))
        json_object_set_new(r->config, k->name, json_integer(integer));
    else if (k->required)
        file_fatal(r->gguf->file, "metadata \"%s\" is missing\nhint: without it %s is unknown", key, k->name);
}

static void set_default(json_t *config, const char *key, json_t *value) {
    if (json_object_get(config, key))
        json_decref(value);
    else
        json_object_set_new(config, key, value);
}

static void set_special(const Reading *r, const char *key, const char *name) {
    int64_t id;
    if (gguf_int(r->gguf, key, &id) && id != UINT32_MAX) json_object_set_new(r->config, name, json_integer(id));
}

static const GgufTensor *find_tensor(const Gguf *g, const char *name) {
    for (uint64_t i = 0; i < g->n_tensors; i++)
        if (!strcmp(g->tensors[i].name, name)) return &g->tensors[i];
    return NULL;
}

// ------------------------------------------------------------------------------------------------------------ rotary scaling
enum { LLAMA3_LOW = 1, LLAMA3_HIGH = 4, LLAMA3_CONTEXT = 8192 };

static bool is_rotary_table(const GgufTensor *t) { return !strncmp(t->name, "rope_f", 6); }

static double number_of(const Reading *r, const char *key) { return json_number_value(json_object_get(r->config, key)); }

static int64_t head_dim_of(const Reading *r) {
    double heads = number_of(r, "num_attention_heads"), stated = number_of(r, "head_dim");
    return (int64_t)(stated > 0 ? stated : heads > 0 ? number_of(r, "hidden_size") / heads : 0);
}

// What LLaMA 3 divides the i-th frequency by.
static double llama3_factor(double theta, double pair, double pairs, double factor) {
    double wavelength = 2 * M_PI * pow(theta, pair / pairs),
           smooth = (LLAMA3_CONTEXT / wavelength - LLAMA3_LOW) / (LLAMA3_HIGH - LLAMA3_LOW);
    if (smooth > 1) return 1;
    return smooth < 0 ? factor : 1 / ((1 - smooth) / factor + smooth);
}

// Converters write LLaMA 3's scaling as a table of what it divides by: finds the parameters again, and checks every entry.
static bool set_llama3_scaling(const Reading *r, const GgufTensor *t) {
    uint64_t at = r->gguf->data + t->offset, n = t->dims[0], size = r->gguf->file->size;
    float factors[1024], largest = 0;
    if (t->rank != 1 || t->type != TYPE_F32 || n > 1024 || (int64_t)n * 2 != head_dim_of(r) || at > size || n * 4 > size - at)
        return false;
    memcpy(factors, r->gguf->file->data + at, n * 4);
    for (uint64_t i = 0; i < n; i++) largest = factors[i] > largest ? factors[i] : largest;
    for (uint64_t i = 0; i < n; i++) {
        double expected = llama3_factor(number_of(r, "rope_theta"), (double)i, (double)n, largest);
        if (!(fabs(factors[i] - expected) <= 1e-4 * expected)) return false;
    }
    json_object_set_new(r->config, "rope_scaling",
                        json_pack("{s:s, s:f, s:f, s:f, s:i}", "rope_type", "llama3", "factor", (double)largest,
                                  "low_freq_factor", (double)LLAMA3_LOW, "high_freq_factor", (double)LLAMA3_HIGH,
                                  "original_max_position_embeddings", LLAMA3_CONTEXT));
    return true;
}

static void set_scaling(const Reading *r) {
    Arena *arena = r->checkpoint->arena;
    const char *name = r->architecture->name, *scaling = "none";
    int64_t rotary;
    double factor = 0;
    gguf_string(r->gguf, arena_printf(arena, "%s.rope.scaling.type", name), &scaling);
    gguf_float(r->gguf, arena_printf(arena, "%s.rope.scaling.factor", name), &factor);
    if (!strcmp(scaling, "linear") && factor > 0)
        json_object_set_new(r->config, "rope_scaling", json_pack("{s:s, s:f}", "rope_type", "linear", "factor", factor));
    else if (strcmp(scaling, "none"))
        file_fatal(r->gguf->file, "rotary scaling \"%s\" of a GGUF is not supported yet\nhint: take the model's safetensors",
                   scaling);
    for (uint64_t i = 0; i < r->gguf->n_tensors; i++)
        if (is_rotary_table(&r->gguf->tensors[i]) && !set_llama3_scaling(r, &r->gguf->tensors[i]))
            file_fatal(r->gguf->file, "rotary scaling by the table %s is not supported yet\nhint: take the model's safetensors",
                       r->gguf->tensors[i].name);
    const char *key = arena_printf(arena, "%s.rope.dimension_count", name);
    if (gguf_int(r->gguf, key, &rotary) && rotary != head_dim_of(r))
        file_fatal(r->gguf->file,
                   "metadata \"%s\" is %" PRId64 ", but a head has %" PRId64 ": partial rotary is not supported here", key,
                   rotary, head_dim_of(r));
}

// Gemma 2 divides scores by the root of the head's size, its largest model (46 layers) by that of hidden_size / heads.
static void set_query_scale(const Reading *r) {
    bool largest = number_of(r, "num_hidden_layers") == 46;
    double scalar = largest ? number_of(r, "hidden_size") / number_of(r, "num_attention_heads") : (double)head_dim_of(r);
    json_object_set_new(r->config, "query_pre_attn_scalar", json_integer((json_int_t)scalar));
}

static void set_class(const Reading *r, const char *model_type, const char *class_name) {
    json_object_set_new(r->config, "model_type", json_string(model_type));
    json_object_set_new(r->config, "architectures", json_pack("[s]", class_name));
    r->checkpoint->architecture = model_type;
}

static void set_configuration(Reading *r) {
    const GgufTensor *embedding = find_tensor(r->gguf, "token_embd.weight");
    const Architecture *a = r->architecture;
    r->config = json_own(r->checkpoint->arena, json_object());
    set_class(r, a->name, a->class_name);
    for (const Key *k = a->keys; k->gguf; k++) set_key(r, k);
    if (embedding && embedding->rank == 2 && embedding->dims[1] <= INT32_MAX)
        json_object_set_new(r->config, "vocab_size", json_integer((json_int_t)embedding->dims[1]));
    json_object_set_new(r->config, "tie_word_embeddings", json_boolean(!find_tensor(r->gguf, "output.weight")));
    set_special(r, "tokenizer.ggml.bos_token_id", "bos_token_id");
    set_special(r, "tokenizer.ggml.eos_token_id", "eos_token_id");
    if (a->keys == llama_keys) {
        set_default(r->config, "num_key_value_heads", json_integer((json_int_t)number_of(r, "num_attention_heads")));
        set_default(r->config, "rope_theta", json_real(1e4));
        set_scaling(r);
    }
    if (a->traits & HAS_QUERY_SCALE) set_query_scale(r);
    if (a->traits & MAY_HAVE_BIASES) {
        json_object_set_new(r->config, "attention_bias", json_boolean(find_tensor(r->gguf, "blk.0.attn_q.bias")));
        json_object_set_new(r->config, "mlp_bias", json_boolean(find_tensor(r->gguf, "blk.0.ffn_up.bias")));
    }
    if (a->change == CHANGED_ROTARY && json_object_get(r->config, "sliding_window"))
        set_class(r, "mistral", "MistralForCausalLM");
    r->checkpoint->config = r->config;
    r->checkpoint->config_source = &r->gguf->file->source;
}

static const Architecture *find_architecture(const Gguf *g) {
    const char *name;
    Text known = {0};
    if (!gguf_string(g, "general.architecture", &name)) file_fatal(g->file, "metadata \"general.architecture\" is missing");
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        if (!strcmp(architectures[i].name, name)) return &architectures[i];
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        text_add(&known, "%s%s", i ? ", " : "", architectures[i].name);
    const char *list = arena_strdup(g->arena, known.data);
    text_free(&known);
    file_fatal(g->file, "architecture \"%s\" is not read from GGUF, only: %s\nhint: take the model's safetensors", name, list);
}

void gguf_read(Checkpoint *c, const MappedFile *file) {
    Reading r = {.checkpoint = c, .gguf = gguf_parse(c->arena, file)};
    c->kind = CHECKPOINT_GGUF;
    r.architecture = find_architecture(r.gguf);
    set_configuration(&r);
    for (uint64_t i = 0; i < r.gguf->n_tensors; i++)
        if (!is_rotary_table(&r.gguf->tensors[i])) add_tensor(&r, &r.gguf->tensors[i]);
    checkpoint_check_overlaps(c, file);
    if (gguf_find(r.gguf, "tokenizer.ggml.tokens")) c->tokenizer = file->source.name;
}
