// GGUF as a checkpoint: its tensors and metadata in Hugging Face's words. One row an architecture.
//
//   blk.0.attn_q.weight      -> model.layers.0.self_attn.q_proj.weight
//   llama.embedding_length   -> hidden_size
#include "frontend/checkpoint/gguf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "frontend/checkpoint/reader.h"

enum { TYPE_F32 = 0, TYPE_F16 = 1, TYPE_BF16 = 30 };

typedef struct {
    const char *gguf, *name;
} Pair;

// "blk.N." and "model.layers.N." stand in front of the names in `layer`.
static const Pair llama_layer[] = {{"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
                                   {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
                                   {"attn_output", "self_attn.o_proj"}, {"ffn_norm", "post_attention_layernorm"},
                                   {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
                                   {"ffn_down", "mlp.down_proj"},       {NULL, NULL}};
static const Pair llama_model[] = {
    {"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}, {NULL, NULL}};

typedef struct {
    const char *gguf, *name;  // "architecture." stands in front of the first
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
                                 {NULL, NULL, false, false}};

typedef struct {
    const char *name;  // general.architecture
    const char *model_type;
    const Pair *model, *layer;
    const Key *keys;
    bool interleaved;  // rows of q and k are stored in interleaved rotary order
} Architecture;

static const Architecture architectures[] = {{"llama", "llama", llama_model, llama_layer, llama_keys, true}};

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
        return inner ? arena_printf(arena, "model.layers.%u.%s", layer, inner) : gguf;
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
    if (!r->architecture->interleaved || !head_key) return 0;
    json_int_t heads = json_integer_value(json_object_get(r->config, head_key));
    if (heads < 1 || heads > INT32_MAX || t->dim[0] % (2 * heads))
        file_fatal(r->gguf->file,
                   "tensor \"%s\" has %" PRId64 " rows, which %s = %" JSON_INTEGER_FORMAT " does not divide into pairs",
                   t->name, t->dim[0], head_key, heads);
    return (int)heads;
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
    checkpoint_add(r->checkpoint, file, &t)->rotary_heads = rotary_heads(r, &t);
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

// What changes the arithmetic and is not in the configuration that burin's descriptions read.
static void refuse_scaling(const Reading *r) {
    const char *scaling, *key = arena_printf(r->checkpoint->arena, "%s.rope.scaling.type", r->architecture->name);
    if (gguf_string(r->gguf, key, &scaling) && strcmp(scaling, "none"))
        file_fatal(r->gguf->file, "rotary scaling \"%s\" of a GGUF is not supported yet\nhint: take the model's safetensors",
                   scaling);
    for (uint64_t i = 0; i < r->gguf->n_tensors; i++)
        if (!strcmp(r->gguf->tensors[i].name, "rope_freqs.weight"))
            file_fatal(r->gguf->file,
                       "rotary scaling by a table (rope_freqs.weight) is not supported yet"
                       "\nhint: take the model's safetensors");
    int64_t rotary, hidden = json_integer_value(json_object_get(r->config, "hidden_size"));
    int64_t heads = json_integer_value(json_object_get(r->config, "num_attention_heads")),
            head = hidden / (heads > 0 ? heads : 1);
    const json_t *head_dim = json_object_get(r->config, "head_dim");
    if (head_dim) head = json_integer_value(head_dim);
    key = arena_printf(r->checkpoint->arena, "%s.rope.dimension_count", r->architecture->name);
    if (gguf_int(r->gguf, key, &rotary) && rotary != head)
        file_fatal(r->gguf->file,
                   "metadata \"%s\" is %" PRId64 ", but a head has %" PRId64 ": partial rotary is not supported here", key,
                   rotary, head);
}

static const GgufTensor *find_tensor(const Gguf *g, const char *name) {
    for (uint64_t i = 0; i < g->n_tensors; i++)
        if (!strcmp(g->tensors[i].name, name)) return &g->tensors[i];
    return NULL;
}

static void set_configuration(Reading *r) {
    const GgufTensor *embedding = find_tensor(r->gguf, "token_embd.weight");
    r->config = json_own(r->checkpoint->arena, json_object());
    json_object_set_new(r->config, "model_type", json_string(r->architecture->model_type));
    for (const Key *k = r->architecture->keys; k->gguf; k++) set_key(r, k);
    json_t *heads = json_object_get(r->config, "num_attention_heads");
    set_default(r->config, "num_key_value_heads", json_integer(json_integer_value(heads)));
    set_default(r->config, "rope_theta", json_real(1e4));
    if (embedding && embedding->rank == 2 && embedding->dims[1] <= INT32_MAX)
        json_object_set_new(r->config, "vocab_size", json_integer((json_int_t)embedding->dims[1]));
    json_object_set_new(r->config, "tie_word_embeddings", json_boolean(!find_tensor(r->gguf, "output.weight")));
    set_special(r, "tokenizer.ggml.bos_token_id", "bos_token_id");
    set_special(r, "tokenizer.ggml.eos_token_id", "eos_token_id");
    refuse_scaling(r);
    r->checkpoint->config = r->config;
    r->checkpoint->config_source = &r->gguf->file->source;
    r->checkpoint->architecture = r->architecture->model_type;
}

static const Architecture *find_architecture(const Gguf *g) {
    const char *name;
    Text known = {0};
    if (!gguf_string(g, "general.architecture", &name)) file_fatal(g->file, "metadata \"general.architecture\" is missing");
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
        if (!strcmp(architectures[i].name, name)) return &architectures[i];
        text_add(&known, "%s%s", i ? ", " : "", architectures[i].name);
    }
    const char *list = arena_strdup(g->arena, known.data);
    text_free(&known);
    file_fatal(g->file, "architecture \"%s\" is not read from GGUF, only: %s\nhint: take the model's safetensors", name, list);
}

void gguf_read(Checkpoint *c, const MappedFile *file) {
    Reading r = {.checkpoint = c, .gguf = gguf_parse(c->arena, file)};
    c->kind = CHECKPOINT_GGUF;
    r.architecture = find_architecture(r.gguf);
    set_configuration(&r);
    for (uint64_t i = 0; i < r.gguf->n_tensors; i++) add_tensor(&r, &r.gguf->tensors[i]);
    checkpoint_check_overlaps(c, file);
    if (gguf_find(r.gguf, "tokenizer.ggml.tokens")) c->tokenizer = file->source.name;
}
