// GGUF as a checkpoint: its tensors and metadata in Hugging Face's words, by the table of its
// architecture.
//
//   blk.0.attn_q.weight      -> model.layers.0.self_attn.q_proj.weight
//   llama.embedding_length   -> hidden_size
#include "frontend/checkpoint/gguf/gguf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "frontend/checkpoint/gguf/reading.h"
#include "frontend/checkpoint/reader.h"
#include "ir/format.h"
#include "util/text.h"

typedef GgufReading Reading;

// ----------------------------------------------------------------------------------------- tensors
static DType dtype_of(const GgufTensor *t) {
    switch (t->type) {
        case GGUF_TENSOR_F32:
            return DT_f32;
        case GGUF_TENSOR_F16:
            return DT_f16;
        case GGUF_TENSOR_BF16:
            return DT_bf16;
        case GGUF_TENSOR_NVFP4:
            return DT_nvfp4;
    }
    const Format *f = t->type < INT32_MAX ? format_of_ggml((int)t->type) : NULL;
    if (f) return f->dtype;
    const char *name = gguf_type_name(t->type);
    if (!name)
        file_fatal(t->part->file,
                   "tensor \"%s\" has type %" PRIu32
                   ", which GGUF does not define, or no longer does"
                   "\nhint: convert the model anew with a converter of today",
                   t->name, t->type);
    file_fatal(
        t->part->file,
        "tensor \"%s\" is %s, which burin does not read"
        "\nhint: take the model's file in another type; `burin formats` lists those that are read",
        t->name, name);
}

const char *gguf_key_of(const Reading *r, const char *end) {
    return arena_printf(r->checkpoint->arena, "%s.%s", r->name, end);
}

static bool is_each(const Reading *, const char *key);

// Norms of one head are in its order.
static bool is_norm_of_head(const Reading *r, const Tensor *t) {
    return (strstr(t->name, ".query_layernorm.") || strstr(t->name, ".key_layernorm.")) &&
           t->rank == 1 && t->dim[0] == gguf_head_dim(r) && t->dim[0] % 2 == 0;
}

static int rotary_heads(const Reading *r, const StoredTensor *stored) {
    const Tensor *t = &stored->tensor;
    if (is_norm_of_head(r, t)) return 1;
    const char *head_key = strstr(t->name, ".q_proj.")   ? "num_attention_heads"
                           : strstr(t->name, ".k_proj.") ? "num_key_value_heads"
                                                         : NULL;
    if (!head_key) return 0;
    json_int_t heads = json_integer_value(json_object_get(r->config, head_key));
    int64_t d = gguf_head_dim(r);
    if (is_each(r, gguf_key_of(r, "attention.head_count_kv")) && d)
        heads = t->dim[0] / d;  // their number differs from layer to layer
    if (heads < 1 || heads > INT32_MAX || t->dim[0] % (2 * heads))
        file_fatal(r->gguf->file,
                   "tensor \"%s\" has %" PRId64 " rows, which %s = %" JSON_INTEGER_FORMAT
                   " does not divide into pairs",
                   stored->name_in_file, t->dim[0], checkpoint_field(r->checkpoint, head_key),
                   heads);
    return (int)heads;
}

static int64_t config_int(const Reading *r, const char *a, const char *b) {
    const json_t *v = json_object_get(r->config, a);
    return json_integer_value(v ? v : json_object_get(r->config, b));
}

// BLOOM, GPT-NeoX, Falcon: Hugging Face has, for each group, the rows of its queries, then of its
// key and its value.
static void set_groups(const Reading *r, StoredTensor *stored) {
    int64_t heads = config_int(r, "num_attention_heads", "n_head"),
            groups = config_int(r, "num_kv_heads", NULL);
    if (groups < 1) groups = heads;
    if (heads < 1 || groups > heads || heads > INT32_MAX || heads % groups ||
        stored->tensor.dim[0] % (heads + 2 * groups))
        file_fatal(r->gguf->file,
                   "tensor \"%s\" has %" PRId64 " rows, which are not %" PRId64
                   " heads of queries and %" PRId64 " of keys and values",
                   stored->name_in_file, stored->tensor.dim[0], heads, groups);
    stored->query_heads = (int)heads, stored->groups = (int)groups;
}

static bool is_transposed(const Tensor *t) {
    return t->rank == 2 &&
           (text_ends_with(t->name, ".c_attn.weight") || text_ends_with(t->name, ".c_fc.weight") ||
            text_ends_with(t->name, ".c_proj.weight") || strstr(t->name, ".k_b."));
}

static void undo_changes(const Reading *r, StoredTensor *stored) {
    Tensor *t = &stored->tensor;
    unsigned changes = r->table->changes;
    if (changes & GGUF_ROTARY) stored->rotary_heads = rotary_heads(r, stored);
    stored->minus_one =
        ((changes & GGUF_NORMS) && text_ends_with(t->name, "norm.weight")) ||
        ((changes & GGUF_EMBEDDING_NORM) && text_ends_with(t->name, "emb_norm.weight"));
    bool transposed = (changes & GGUF_MATRICES) && is_transposed(t);
    t->swapped = transposed && dtype_is_block(t->dtype);
    stored->transposed = transposed && !t->swapped;
    if (stored->transposed) {
        int64_t rows = t->dim[0];
        t->dim[0] = t->dim[1], t->dim[1] = rows;
    }
    if ((changes & GGUF_GROUPS) && strstr(t->name, "query_key_value")) set_groups(r, stored);
}

// A tensor of the file, or a part of one; `factor`: of NVFP4, or NULL
static void add_one(const Reading *r, const GgufTensor *from, const Tensor *t,
                    const float *factor) {
    const char *both = t->rank == 2 && t->dim[0] % 2 == 0 ? strstr(t->name, ".G_") : NULL;
    for (int i = 0; both && i < 2; i++) {  // rows of a gate, then rows of the up projection
        Tensor half = *t;
        half.name = arena_printf(r->checkpoint->arena, "%.*s.%s%s", (int)(both - t->name), t->name,
                                 i ? "up" : "gate", both + 2);
        half.dim[0] /= 2, half.bytes /= 2;
        half.data = (const char *)t->data + (uint64_t)i * half.bytes;
        add_one(r, from, &half, factor);
    }
    if (both) return;
    StoredTensor *stored = checkpoint_add(r->checkpoint, from->part->file, t);
    stored->factor = factor, stored->name_in_file = from->name;
    undo_changes(r, stored);
}

// The matrices or biases of all experts in one tensor: "mlp.experts.E.up_proj.weight" with E for an
// expert's number
static bool add_experts(const Reading *r, const GgufTensor *stored, const Tensor *t,
                        const float *factors) {
    const char *e = strstr(t->name, ".E.");
    if (!e || t->rank < 2) return false;
    Tensor one = *t;
    one.rank--;
    for (int i = 0; i < one.rank; i++) one.dim[i] = t->dim[i + 1];
    one.bytes = t->bytes / (uint64_t)t->dim[0];
    for (int64_t i = 0; i < t->dim[0]; i++) {
        one.name = arena_printf(r->checkpoint->arena, "%.*s.%" PRId64 ".%s", (int)(e - t->name),
                                t->name, i, e + 3);
        one.data = (const char *)t->data + (uint64_t)i * one.bytes;
        add_one(r, stored, &one, factors ? &factors[i] : NULL);
    }
    return true;
}

// The queries, keys and values of a layer in one tensor, one after the other:
// "self_attn.Q_proj.weight" with q, k, v
static bool add_queries_keys_values(const Reading *r, const GgufTensor *stored, const Tensor *t,
                                    const float *factor) {
    const MappedFile *file = stored->part->file;
    const char *q = strstr(t->name, ".Q_");
    if (!q || !t->rank) return false;
    int64_t heads = config_int(r, "num_attention_heads", NULL),
            groups = config_int(r, "num_key_value_heads", NULL);
    int64_t d = gguf_head_dim(r);
    if (heads < 1 || groups < 1 || heads > INT32_MAX / 4 || groups > heads || d < 1 ||
        t->dim[0] != (heads + 2 * groups) * d)
        file_fatal(file,
                   "tensor \"%s\" has %" PRId64 " rows, expected those of %" PRId64
                   " heads of queries and %" PRId64 " of keys and values, %" PRId64 " each",
                   stored->name, t->dim[0], heads, groups, d);
    const int64_t rows[] = {heads * d, groups * d, groups * d};
    Tensor one = *t;
    for (int i = 0; i < 3; i++) {
        one.name = arena_printf(r->checkpoint->arena, "%.*s.%c%s", (int)(q - t->name), t->name,
                                "qkv"[i], q + 2);
        one.dim[0] = rows[i];
        one.bytes = t->bytes / (uint64_t)t->dim[0] * (uint64_t)rows[i];
        add_one(r, stored, &one, factor);
        one.data = (const char *)one.data + one.bytes;
    }
    return true;
}

// A vector in blocks, as floats: its parts, and their elements in another order, are no whole
// blocks.
static void make_floats(const Reading *r, const GgufTensor *stored, Tensor *t) {
    const Format *f = format_of(t->dtype);
    int64_t n = t->dim[0];
    tensor_check_blocks(stored->part->file, t, stored->name);
    float *values = ARENA_ARRAY(r->checkpoint->arena, float, n);
    format_read(f, t->data, 0, 1, n, values);
    t->dtype = DT_f32, t->data = values, t->bytes = dtype_bytes(DT_f32, n);
}

void gguf_add_tensor(const Reading *r, const GgufTensor *stored) {
    const Gguf *part = stored->part;
    const MappedFile *file = part->file;
    Tensor t = {.name = stored->name, .dtype = dtype_of(stored)};
    uint64_t dims[MAX_RANK], end;
    int rank = stored->rank;
    if (rank == 4)  // convolutions, in some files with axes of 1 in front
        while (rank > 2 && stored->dims[rank - 1] == 1) rank--;
    for (int i = 0; i < rank; i++) dims[i] = stored->dims[rank - 1 - i];
    bool vector =
        rank == 2 && dims[0] == 1 && text_ends_with(stored->name, ".bias");  // in some files a row
    tensor_set_shape(file, &t, rank - vector, dims + vector);
    const float *factors =
        stored->type == GGUF_TENSOR_NVFP4 ? gguf_nvfp4_factors(r->gguf, stored) : NULL;
    if (factors) t.bytes = gguf_nvfp4_stored_bytes(t.bytes);
    if (__builtin_add_overflow(part->data, stored->offset, &end) ||
        __builtin_add_overflow(end, t.bytes, &end) || end > file->size)
        file_fatal(file,
                   "tensor \"%s\" takes %" PRIu64 " bytes at %" PRIu64
                   " of the data, past the file's end at byte %" PRIu64
                   "\nhint: a truncated download? Compare the size with the publisher's",
                   stored->name, t.bytes, stored->offset, file->size);
    t.data = file->data + part->data + stored->offset;
    if (t.rank == 1 && dtype_is_block(t.dtype) && !factors) make_floats(r, stored, &t);
    t.name = gguf_name_of(r->gguf, r->table, stored->name);
    if (!add_experts(r, stored, &t, factors) && !add_queries_keys_values(r, stored, &t, factors))
        add_one(r, stored, &t, factors);
}

// ----------------------------------------------------------------------------------- configuration
// Of keys that give the same field, the one that the file has
void gguf_note_key(const Reading *r, const char *field, const char *key) {
    if (gguf_find(r->gguf, key) || !map_get(&r->checkpoint->keys, field))
        map_put(&r->checkpoint->keys, field, (void *)key);
}

// "attn_config.clip_qkv" is a field of an object.
static void set_nested(Arena *arena, json_t *object, const char *name, json_t *value) {
    const char *dot = strchr(name, '.');
    if (!dot) {
        json_object_set_new(object, name, value);
        return;
    }
    const char *outer = arena_strndup(arena, name, (size_t)(dot - name));
    json_t *inner = json_object_get(object, outer);
    if (!inner) json_object_set_new(object, outer, inner = json_object());
    set_nested(arena, inner, dot + 1, value);
}

void gguf_set_field(const Reading *r, const char *name, json_t *value) {
    set_nested(r->checkpoint->arena, r->config, name, value);
}

// Lists of a number for each layer, those that guess ahead included
static void check_length(const Reading *r, const GgufValue *v) {
    int64_t layers;
    if (!gguf_int(r->gguf, gguf_key_of(r, "block_count"), &layers) || v->n == (uint64_t)layers)
        return;
    file_fatal(r->gguf->file,
               "metadata \"%s\" has %" PRIu64 " elements, expected one for each of %" PRId64
               " layers",
               v->key, v->n, layers);
}

static bool is_each(const Reading *r, const char *key) {
    for (int i = 0; i < r->table->each.n; i++)
        if (!strcmp(key, gguf_key_of(r, r->table->each.items[i].gguf))) return true;
    return false;
}

static json_t *value_of_key(const Reading *r, const char *key) {
    const GgufValue *v = gguf_find(r->gguf, key);
    int64_t integer = 0;
    double number = 0;
    bool truth = false;
    if (!v) return NULL;
    const char *word;
    if (!v->is_array && text_ends_with(key, "_activation"))
        return gguf_string(r->gguf, key, &word) ? json_string(word) : NULL;
    if (v->is_array) check_length(r, v);
    if ((v->is_array && v->type == GGUF_BOOL) ||
        (!v->is_array && text_ends_with(key, ".sliding_window_pattern")))
        return gguf_kinds_of_layers(r->gguf, r->name, v, r->table->changes & GGUF_FULL_FIRST);
    if (v->is_array && v->type != GGUF_STRING) {
        if (gguf_number_of_layers(r->gguf, key, &integer)) return json_integer(integer);
        if (is_each(r, key)) return NULL;
        file_fatal(
            r->gguf->file,
            "metadata \"%s\" differs from layer to layer\nhint: take the model's safetensors", key);
    }
    if (v->type == GGUF_F32 || v->type == GGUF_F64)
        return gguf_float(r->gguf, key, &number) ? json_real(number) : NULL;
    if (v->type == GGUF_BOOL) return gguf_bool(r->gguf, key, &truth) ? json_boolean(truth) : NULL;
    return gguf_int(r->gguf, key, &integer) ? json_integer(integer) : NULL;
}

static bool has_tensor(const Reading *r, const char *pattern);

// Factors and bounds that are 0 where there is none
static bool is_none(const char *key, const json_t *value) {
    static const char *const none_is_0[] = {
        "sliding_window",         "attention.scale",         "logit_scale",
        "residual_scale",         "embedding_scale",         "expert_weights_scale",
        "attn_logit_softcapping", "final_logit_softcapping", "router_logit_softcapping",
        "attention.clamp_kqv",    "attention.max_alibi_bias"};
    bool listed = false;
    for (size_t i = 0; i < sizeof none_is_0 / sizeof *none_is_0; i++)
        listed = listed || text_ends_with(key, none_is_0[i]);
    return listed && json_number_value(value) == 0;
}

// A model of an architecture with experts may have none.
static bool is_of_no_expert(const Reading *r, const char *key) {
    static const char *const counts[] = {".expert_count", ".expert_used_count",
                                         ".expert_feed_forward_length"};
    bool listed = false;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        listed = listed || text_ends_with(key, counts[i]);
    return listed && !has_tensor(r, "blk.N.ffn_gate_inp.weight") &&
           !gguf_find(r->gguf, gguf_key_of(r, "expert_count"));
}

static void set_keys(const Reading *r, GgufPairs keys, bool required) {
    for (int i = 0; i < keys.n; i++) {
        const char *key = gguf_key_of(r, keys.items[i].gguf);
        json_t *value = value_of_key(r, key);
        gguf_note_key(r, keys.items[i].name, key);
        if (value && json_is_number(value) && is_none(key, value)) {
            if (required)
                file_fatal(r->gguf->file, "metadata \"%s\" is 0\nhint: without it %s is unknown",
                           key, keys.items[i].name);
            json_decref(value);
            value = json_null();
        }
        if (!value && required && is_of_no_expert(r, key)) value = json_integer(0);
        if (value)
            gguf_set_field(r, keys.items[i].name, value);
        else if (required)
            file_fatal(r->gguf->file, "metadata \"%s\" is missing\nhint: without it %s is unknown",
                       key, keys.items[i].name);
    }
}

// The number of layers, counted by their tensors if no list has a number for each
static int64_t layers_of(const Reading *r, bool listed) {
    int64_t layers = json_integer_value(json_object_get(r->config, "num_hidden_layers"));
    if (!listed && layers > 0 && (uint64_t)layers > r->gguf->n_tensors)
        file_fatal(r->gguf->file, "%" PRId64 " layers are more than the file has tensors", layers);
    return layers;
}

// One number for all layers, or one for each
static void set_each(const Reading *r, GgufPair each) {
    const char *key = gguf_key_of(r, each.gguf);
    const GgufValue *v = gguf_find(r->gguf, key);
    int64_t one = 0, layers = layers_of(r, v && v->is_array);
    double real = 0;
    uint64_t n;
    if (!v) return;
    if (v->is_array) check_length(r, v);
    bool reals = v->type == GGUF_F32;
    const int32_t *of = v->is_array && !reals ? gguf_ints(r->gguf, key, &n) : NULL;
    const float *of_reals = v->is_array && reals ? gguf_floats(r->gguf, key, &n) : NULL;
    if (!v->is_array && reals) gguf_float(r->gguf, key, &real);
    if (!v->is_array && !reals) gguf_int(r->gguf, key, &one);
    json_t *numbers = json_array();
    for (int64_t i = 0; i < layers; i++)
        json_array_append_new(numbers, reals ? json_real(of_reals ? of_reals[i] : real)
                                             : json_integer(of ? of[i] : one));
    gguf_set_field(r, each.name, numbers);
    gguf_note_key(r, each.name, key);
}

static void set_choices(const Reading *r) {
    for (int i = 0; i < r->table->choices.n; i++) {
        const GgufPair *c = &r->table->choices.items[i];
        const char *key = gguf_key_of(r, c->gguf), *word = gguf_choice(r->gguf, key, c->needs);
        if (word) json_object_set_new(r->config, c->name, json_string(word));
        gguf_note_key(r, c->name, key);
    }
}

static void set_special(const Reading *r, const char *key, const char *name) {
    int64_t id;
    if (gguf_token_id(r->gguf, key, &id)) json_object_set_new(r->config, name, json_integer(id));
}

// A number for each layer, or one for all, as tensors
static void add_list(const Reading *r, GgufPair list) {
    const char *key = list.gguf, *vector = strstr(list.name, "[1]");
    const GgufValue *v = gguf_find(r->gguf, key);
    int64_t layers = layers_of(r, !v || v->is_array);
    uint64_t n = 1;
    double one = 0;
    if (!v) file_fatal(r->gguf->file, "metadata \"%s\" is missing", key);
    const float *values = v->is_array ? gguf_floats(r->gguf, key, &n) : NULL;
    if (!values) gguf_float(r->gguf, key, &one);
    if (values && n != (uint64_t)layers)
        file_fatal(r->gguf->file,
                   "metadata \"%s\" has %" PRIu64 " numbers, expected one for each of %" PRId64
                   " layers",
                   key, n, layers);
    for (int64_t i = 0; i < layers; i++) {
        float *value = ARENA_NEW(r->checkpoint->arena, float);
        *value = values ? values[i] : (float)one;
        const char *name =
            vector ? arena_strndup(r->checkpoint->arena, list.name, (size_t)(vector - list.name))
                   : list.name;
        Tensor t = {.name = gguf_with_layer(r->checkpoint->arena, name, (unsigned)i, ""),
                    .dtype = DT_f32,
                    .data = value};
        tensor_set_shape(r->gguf->file, &t, vector ? 1 : 0, (const uint64_t[]){1});
        checkpoint_add(r->checkpoint, r->gguf->file, &t);
    }
}

// The first model whose field the configuration has, neither 0 nor false; the last asks for none.
void gguf_set_class(const Reading *r) {
    const GgufPair *m = r->table->models.items;
    for (; m->needs; m++) {
        const json_t *field = json_object_get(r->config, m->needs);
        if (json_is_true(field) || json_number_value(field) != 0) break;
    }
    json_object_set_new(r->config, "model_type", json_string(m->gguf));
    json_object_set_new(r->config, "architectures", json_pack("[s]", m->name));
    r->checkpoint->architecture = m->gguf;
}

// How many rows a table has: one, where llama.cpp's tools left out its axis. False: there is none.
static bool set_rows(const Reading *r, const char *name, const char *tensor) {
    const GgufTensor *t = gguf_tensor(r->gguf, tensor);
    uint64_t rows = t && t->rank == 2 ? t->dims[1] : 1;
    bool found = t && t->rank <= 2 && rows <= INT32_MAX;
    if (found) json_object_set_new(r->config, name, json_integer((json_int_t)rows));
    return found;
}

static bool has_tensor(const Reading *r, const char *pattern) {
    unsigned layer;
    for (uint64_t i = 0; i < r->gguf->n_tensors; i++) {
        const char *name = r->gguf->tensors[i].name;
        if (gguf_matches(pattern, name, strlen(name), &layer)) return true;
    }
    return false;
}

// Layers at the end that guess tokens further ahead take no part in the next one.
static void leave_out_guessing(const Reading *r) {
    int64_t guessing = 0, layers = (int64_t)gguf_config_number(r, "num_hidden_layers");
    gguf_int(r->gguf, gguf_key_of(r, "nextn_predict_layers"), &guessing);
    if (guessing > 0 && guessing < layers)
        json_object_set_new(r->config, "num_hidden_layers", json_integer(layers - guessing));
}

// The head for further tokens (--draft=mtp) is read where the architecture names its tensors.
static bool has_named_head(const Reading *r) {
    static const char joined[] = "blk.0.nextn.eh_proj.weight";
    return strcmp(gguf_name_of(r->gguf, r->table, joined), joined);
}

static bool takes_part(const Reading *r, const GgufTensor *t) {
    unsigned layer;
    bool guesses = gguf_find(r->gguf, gguf_key_of(r, "nextn_predict_layers")) &&
                   gguf_layer_of(t->name, &layer) &&
                   layer >= gguf_config_number(r, "num_hidden_layers");
    return !gguf_is_rotary_table(t) && !gguf_is_nvfp4_part(r->gguf, t) &&
           (!guesses || has_named_head(r));
}

// Decoders that became encoders, and the other way round
static void set_direction(const Reading *r) {
    bool causal;
    if (gguf_bool(r->gguf, gguf_key_of(r, "attention.causal"), &causal))
        json_object_set_new(r->config, "sees_later_tokens", json_boolean(!causal));
}

static bool is_number_at(const Reading *r, const char *name) {
    return json_is_number(json_object_get(r->config, name));
}

// What llama.cpp takes where a file of any architecture leaves a key out. NULL: nothing for all.
static json_t *usual_value(const Reading *r, GgufPair key) {
    double heads = gguf_config_number(r, "num_attention_heads"),
           width = gguf_config_number(r, "hidden_size"), base;
    bool counts = is_number_at(r, "num_attention_heads") && heads >= 1;
    if (!strcmp(key.gguf, "rope.freq_base")) return json_real(10000.0);
    if (!strcmp(key.gguf, "rope.freq_base_swa") && !strcmp(key.name, "local_rope_theta") &&
        is_number_at(r, "rope_theta")) {
        base = gguf_config_number(r, "rope_theta");
        return json_real(base);
    }
    if (!strcmp(key.gguf, "rope.dimension_count") &&
        (!strcmp(key.name, "partial_rotary_factor") || !strcmp(key.name, "rotary_pct")))
        return json_real(1.0);
    if (!strcmp(key.gguf, "attention.head_count_kv") && counts && strncmp(r->name, "rwkv", 4))
        return json_integer((json_int_t)heads);
    if (!strcmp(key.gguf, "attention.key_length") && !strcmp(key.name, "head_dim") && counts &&
        width >= heads)
        return json_integer((json_int_t)(width / heads));
    return NULL;
}

static void set_usual(const Reading *r) {
    for (int i = 0; i < r->table->further.n; i++) {
        GgufPair key = r->table->further.items[i];
        bool given = gguf_find(r->gguf, gguf_key_of(r, key.gguf)) ||
                     json_object_get(r->config, key.name) || strchr(key.name, '.');
        json_t *value = given ? NULL : usual_value(r, key);
        if (value) gguf_set_field(r, key.name, value);
    }
}

void gguf_set_fixed(const Reading *r) {
    for (int i = 0; i < r->table->fixed.n; i++) {
        const GgufPair *p = &r->table->fixed.items[i];
        if (!p->needs || gguf_tensor(r->gguf, p->needs))
            gguf_set_field(r, p->gguf, json_loads(p->name, JSON_DECODE_ANY, NULL));
    }
}

static void set_configuration(Reading *r) {
    const GgufTable *t = r->table;
    r->config = json_own(r->checkpoint->arena, json_object());
    set_keys(r, t->needed, true);
    set_keys(r, t->further, false);
    set_rows(r, "vocab_size", "token_embd.weight");
    if (!set_rows(r, "type_vocab_size", "token_types.weight"))
        json_object_set_new(r->config, "type_vocab_size", json_integer(0));
    for (int i = 0; i < t->rows.n; i++) set_rows(r, t->rows.items[i].name, t->rows.items[i].gguf);
    json_object_set_new(r->config, "tie_word_embeddings",
                        json_boolean(!gguf_tensor(r->gguf, "output.weight")));
    gguf_check_token_ids(r->gguf);
    set_special(r, "tokenizer.ggml.bos_token_id", "bos_token_id");
    json_object_set_new(r->config, "eos_token_id", gguf_end_tokens(r->gguf));
    gguf_set_heads(r);
    set_direction(r);
    leave_out_guessing(r);
    for (int i = 0; i < t->each.n; i++) set_each(r, t->each.items[i]);
    set_choices(r);
    json_t *labels = gguf_labels(r->gguf, r->name);
    if (labels) json_object_set_new(r->config, "id2label", labels);
    for (int i = 0; i < t->flags.n; i++)
        if (has_tensor(r, t->flags.items[i].gguf))
            json_object_set_new(r->config, t->flags.items[i].name, json_true());
    for (int i = 0; i < t->flags.n; i++)
        gguf_set_default(r->config, t->flags.items[i].name, json_false());
    gguf_set_fixed(r);
    for (int i = 0; i < t->defaults.n; i++)
        if (!t->defaults.items[i].needs || has_tensor(r, t->defaults.items[i].needs))
            gguf_set_default(r->config, t->defaults.items[i].gguf,
                             json_loads(t->defaults.items[i].name, JSON_DECODE_ANY, NULL));
    set_usual(r);
    gguf_set_class(r);
    r->checkpoint->config = r->config;
    r->checkpoint->config_source = &r->gguf->file->source;
}

static void set_pooling(const Reading *r) {
    static const char *const names[] = {NULL, "mean", "cls", "lasttoken"};
    int64_t type = 0;
    gguf_int(r->gguf, gguf_key_of(r, "pooling_type"), &type);
    gguf_string(r->gguf, "tokenizer.chat_template.rerank", &r->checkpoint->pair_prompt);
    if (type > 0 && type < (int64_t)(sizeof names / sizeof *names))
        r->checkpoint->pooling = names[type];
}

static void find_table(Reading *r, const char *library) {
    const char *known;
    gguf_check_kind(r->gguf);
    if (!gguf_string(r->gguf, "general.architecture", &r->name))
        file_fatal(r->gguf->file, "metadata \"general.architecture\" is missing");
    const char *folder = arena_printf(r->checkpoint->arena, "%s/gguf", library);
    r->table = gguf_table(r->checkpoint->arena, folder, r->name, &known);
    if (!r->table)
        file_fatal(r->gguf->file,
                   "architecture \"%s\" is not read from GGUF, only: %s\nhint: take the model's "
                   "safetensors",
                   r->name, known);
}

void gguf_read(Checkpoint *c, const MappedFile *file) {
    Reading r = {.checkpoint = c, .gguf = gguf_open(c->arena, file)};
    c->kind = CHECKPOINT_GGUF;
    find_table(&r, c->library);
    gguf_check_unread(r.gguf, r.table, r.name);
    set_configuration(&r);
    set_pooling(&r);
    for (uint64_t i = 0; i < r.gguf->n_tensors; i++)
        if (takes_part(&r, &r.gguf->tensors[i])) gguf_add_tensor(&r, &r.gguf->tensors[i]);
    for (int i = 0; i < r.table->lists.n; i++) add_list(&r, r.table->lists.items[i]);
    checkpoint_check_overlaps(c, 0);
    if (gguf_find(r.gguf, "tokenizer.ggml.tokens")) c->tokenizer = file->source.name;
}
