// Adapters of PEFT, merged into the weights of a checkpoint: W + s B A, where s is lora_alpha / r
// (or / sqrt(r), rank-stabilised).
//
//   base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight [r, inputs], ...lora_B.weight [outputs, r]
//   -> model.layers.0.self_attn.q_proj.weight, when somebody asks for it
//
// With DoRA each row of the sum has the length that lora_magnitude_vector says. Of a table of words
// the parts are lora_embedding_A [r, words] and lora_embedding_B [width, r]. Whole tensors
// (modules_to_save, biases) take the place of the model's. An option or a tensor of the adapter
// that none of this is ends the run, by name.
#include "frontend/checkpoint/lora.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/checkpoint/reader.h"
#include "ir/convert.h"
#include "ir/format.h"
#include "util/text.h"

struct LoraMerge {
    const Tensor *a, *b, *magnitude;  // magnitude: of DoRA, or NULL
    const Tensor *bias;               // of a bias: what is added to it, and nothing else
    float scale;
    bool embedding, transposed;  // stored as [inputs, outputs]
    LoraMerge *next;
};

typedef struct Adapter {
    Checkpoint *base;
    const Checkpoint *own;
    const json_t *config;
    const Source *config_source;
    double factor;
    Map used;  // tensors of the adapter, by name
} Adapter;

// ------------------------------------------------------------------------------------------ values
static float *floats_of(Arena *arena, const Tensor *t) {
    const Format *f = format_of(t->dtype);
    int64_t n = tensor_count(t);
    float *values = ARENA_ARRAY(arena, float, n);
    if (f)
        format_read(f, t->data, 0, 1, n, values);
    else
        convert_elements(DT_f32, values, t->dtype, t->data, n);
    return values;
}

// delta [rows, columns] of a row: scale * B[row] A
static void add_row(float *row, const float *b, const float *a, int64_t r, int64_t columns,
                    int64_t a_step, float scale) {
    for (int64_t k = 0; k < r; k++) {
        float factor = b[k] * scale;
        for (int64_t j = 0; j < columns; j++) row[j] += factor * a[k * a_step + j];
    }
}

// Rows become as long as the vector says.
static void set_lengths(float *w, const float *lengths, int64_t rows, int64_t columns,
                        bool by_column) {
    for (int64_t i = 0; i < (by_column ? columns : rows); i++) {
        int64_t n = by_column ? rows : columns, step = by_column ? columns : 1;
        float *at = by_column ? w + i : w + i * columns;
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += (double)at[j * step] * at[j * step];
        double factor = sum > 0 ? lengths[i] / sqrt(sum) : 0;
        for (int64_t j = 0; j < n; j++) at[j * step] = (float)(at[j * step] * factor);
    }
}

static void merge_matrix(Arena *arena, float *w, const Tensor *t, const LoraMerge *m) {
    const float *a = floats_of(arena, m->a), *b = floats_of(arena, m->b);
    int64_t rows = t->dim[0], columns = t->dim[1], r = m->a->dim[0];
    if (m->embedding || m->transposed) {  // W^T + s B A: row i takes column i of A, and all of B
        const float *left = a, *right = b;
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++) {
                float sum = 0;
                for (int64_t k = 0; k < r; k++) sum += left[k * rows + i] * right[j * r + k];
                w[i * columns + j] += m->scale * sum;
            }
    } else {
        for (int64_t i = 0; i < rows; i++)
            add_row(w + i * columns, b + i * r, a, r, columns, columns, m->scale);
    }
    if (m->magnitude)
        set_lengths(w, floats_of(arena, m->magnitude), rows, columns,
                    m->embedding || m->transposed);
}

static void merge_bias(Arena *arena, float *w, const LoraMerge *m) {
    const float *bias = floats_of(arena, m->bias);
    for (int64_t i = 0; i < tensor_count(m->bias); i++) w[i] += m->scale * bias[i];
}

// In the type that the weight has, once for all adapters; blocks and what a library quantized
// become floats.
void lora_present(const Checkpoint *c, StoredTensor *stored) {
    Tensor *t = &stored->tensor;
    Arena *scratch = arena_new();
    float *w = floats_of(scratch, t);
    int64_t n = tensor_count(t);
    for (const LoraMerge *m = stored->merges; m; m = m->next) {
        if (m->bias)
            merge_bias(scratch, w, m);
        else
            merge_matrix(scratch, w, t, m);
    }
    DType dtype = t->dtype == DT_f16 || t->dtype == DT_bf16 ? t->dtype : DT_f32;
    uint64_t bytes = dtype_bytes(dtype, n);
    void *merged = arena_alloc(c->arena, bytes);
    convert_elements(dtype, merged, DT_f32, w, n);
    arena_free(scratch);
    t->dtype = dtype, t->data = merged, t->bytes = bytes;
    stored->merges = NULL;
}

// ----------------------------------------------------------------------------------- configuration
_Noreturn static void refuse_option(const Adapter *a, const char *name, const char *why) {
    diag_fatal(loc_file(a->config_source),
               "\"%s\" %s, which burin does not merge\nhint: merge it with PEFT: "
               "model.merge_and_unload().save_pretrained(OUT)",
               name, why);
}

static bool is_off(const json_t *j) {
    return !j || json_is_null(j) || json_is_false(j) || (json_is_array(j) && !json_array_size(j)) ||
           (json_is_object(j) && !json_object_size(j));
}

static void check_options(const Adapter *a) {
    static const char *const others[] = {"use_qalora",
                                         "layer_replication",
                                         "trainable_token_indices",
                                         "alora_invocation_tokens",
                                         "velora_config",
                                         "monteclora_config",
                                         "kasa_config",
                                         "arrow_config",
                                         "use_bdlora",
                                         "megatron_config"};
    static const char *const changing[] = {"pissa", "olora", "corda", "loftq"};
    const char *type = json_string_value(json_object_get(a->config, "peft_type")),
               *start = json_string_value(json_object_get(a->config, "init_lora_weights"));
    if (!type || strcmp(type, "LORA"))
        refuse_option(a, "peft_type",
                      type ? arena_printf(a->base->arena, "is %s", type) : "is missing");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!is_off(json_object_get(a->config, others[i]))) refuse_option(a, others[i], "is set");
    for (size_t i = 0; start && i < sizeof changing / sizeof *changing; i++)
        if (!strncmp(start, changing[i], strlen(changing[i])))
            refuse_option(a, "init_lora_weights", "changes the model's own weights");
}

// Returns the value of the first pattern ("q_proj", "layers.0.mlp.up_proj") that fits a module,
// else the usual value.
static double pattern_value(const Adapter *a, const char *patterns, const char *module,
                            double usual) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json_object_get(a->config, patterns), key, value) {
        if (strpbrk(key, "*[]()|\\^$+?{}")) refuse_option(a, patterns, "has a regular expression");
        size_t n = strlen(module), end = strlen(key);
        bool fits = text_ends_with(module, key) && (n == end || module[n - end - 1] == '.');
        if (fits && json_is_number(value)) return json_number_value(value);
    }
    return usual;
}

static float scale_of(const Adapter *a, const char *module, int64_t rank) {
    const json_t *alpha = json_object_get(a->config, "lora_alpha");
    if (!json_is_number(alpha)) refuse_option(a, "lora_alpha", "is no number");
    double r = (double)rank,
           value = pattern_value(a, "alpha_pattern", module, json_number_value(alpha));
    return (float)(a->factor * value /
                   (json_is_true(json_object_get(a->config, "use_rslora")) ? sqrt(r) : r));
}

// ------------------------------------------------------------------------------------------- names
static StoredTensor *named(const Checkpoint *c, const char *name) {
    StoredTensor *t = map_get(&c->by_name, name);
    return t && !t->hidden ? t : NULL;
}

static StoredTensor *ending(const Checkpoint *c, const char *name) {
    StoredTensor *found = NULL;
    int n = 0;
    for (int i = 0; i < c->n_tensors; i++) {
        const char *own = c->tensors[i]->name;
        size_t length = strlen(own), end = strlen(name);
        if (text_ends_with(own, name) && length > end && own[length - end - 1] == '.')
            found = (StoredTensor *)c->tensors[i], n++;
    }
    return n == 1 ? found : NULL;
}

// The model's tensor that an adapter calls so: by its own name, by an older one, without the prefix
// of a model of images and texts, or with or without the name of the model in front.
static StoredTensor *find_target(const Checkpoint *c, const char *name) {
    static const char *const prefixes[][2] = {{"model.language_model.", "model."},
                                              {"language_model.model.", "model."},
                                              {"language_model.", ""}};
    StoredTensor *t = named(c, name);
    if (!t) t = named(c, checkpoint_older_name(c, name));
    for (size_t i = 0; !t && i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t n = strlen(prefixes[i][0]);
        if (!strncmp(name, prefixes[i][0], n))
            t = named(c, arena_printf(c->arena, "%s%s", prefixes[i][1], name + n));
    }
    const char *dot = strchr(name, '.');
    if (!t && dot) t = named(c, dot + 1);
    return t ? t : ending(c, name);
}

static bool is_tied(const Checkpoint *c) {
    return json_is_true(json_object_get(c->config, "tie_word_embeddings"));
}

// A head that shares the table of words becomes one of its own.
static StoredTensor *untie(Adapter *a) {
    static const char *const tables[] = {"model.embed_tokens.weight", "transformer.wte.weight",
                                         "gpt_neox.embed_in.weight"};
    Checkpoint *c = a->base;
    StoredTensor *head = named(c, "lm_head.weight"), *table = NULL;
    if (head) return head;
    for (size_t i = 0; !table && i < sizeof tables / sizeof *tables; i++)
        table = named(c, tables[i]);
    if (!table) return NULL;
    Tensor copy = *checkpoint_find(c, table->tensor.name);
    copy.name = "lm_head.weight";
    head = checkpoint_add(c, table->file, &copy);
    head->presented = true;
    json_object_set_new((json_t *)(uintptr_t)c->config, "tie_word_embeddings", json_false());
    return head;
}

// "model.layers.0.q_proj" of "base_model.model.model.layers.0.q_proj.lora_A.weight"; *part:
// "lora_A". NULL: a whole tensor.
static const char *module_of(Arena *arena, const char *name, const char **part) {
    static const char *const parts[] = {"lora_A", "lora_B", "lora_embedding_A", "lora_embedding_B",
                                        "lora_magnitude_vector"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *at = strstr(name, arena_printf(arena, ".%s", parts[i]));
        const char *end = at ? at + 1 + strlen(parts[i]) : NULL;
        if (!at || (*end && *end != '.')) continue;
        *part = parts[i];
        return arena_strndup(arena, name, (size_t)(at - name));
    }
    return NULL;
}

static const char *without_prefix(const char *name) {
    static const char start[] = "base_model.model.";
    return strncmp(name, start, sizeof start - 1) ? name : name + sizeof start - 1;
}

// A part of a module, by the names of PEFT's versions.
static const Tensor *part_of(Adapter *a, const char *module, const char *part) {
    static const char *const ends[] = {".weight", "", ".default.weight", ".default"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const Tensor *t =
            checkpoint_find(a->own, arena_printf(a->base->arena, "%s.%s%s", module, part, ends[i]));
        if (!t) continue;
        map_put(&a->used, t->name, (void *)t);
        return t;
    }
    return NULL;
}

// ----------------------------------------------------------------------------------------- merging
static void append_merge(StoredTensor *t, LoraMerge *m) {
    LoraMerge **end = &t->merges;
    while (*end) end = &(*end)->next;
    *end = m;
}

static LoraMerge *new_merge(Adapter *a, float scale) {
    LoraMerge *m = ARENA_NEW(a->base->arena, LoraMerge);
    m->scale = scale;
    return m;
}

_Noreturn static void refuse_shape(const Adapter *a, const char *module, const Tensor *w) {
    diag_fatal(NO_LOC,
               "%s: the matrices of \"%s\" do not fit a weight of %" PRId64 " by %" PRId64
               "\nhint: is it an adapter of another model?",
               a->own->path, module, w->rank > 0 ? w->dim[0] : 0, w->rank > 1 ? w->dim[1] : 0);
}

// Conv1D of GPT-2 has inputs in front of outputs.
static bool is_transposed(const Adapter *a, const Tensor *w, int64_t inputs, int64_t outputs) {
    static const char *const families[] = {"gpt2", "openai-gpt", "gpt-sw3"};
    if (inputs != outputs) return w->dim[0] == inputs;
    bool listed = json_is_true(json_object_get(a->config, "fan_in_fan_out"));
    for (size_t i = 0; a->base->architecture && i < sizeof families / sizeof *families; i++)
        listed |= !strcmp(families[i], a->base->architecture);
    return listed;
}

static void add_bias(Adapter *a, const char *module, float scale) {
    const Tensor *bias =
        checkpoint_find(a->own, arena_printf(a->base->arena, "%s.lora_B.bias", module));
    if (!bias) return;
    StoredTensor *t =
        find_target(a->base, arena_printf(a->base->arena, "%s.bias", without_prefix(module)));
    map_put(&a->used, bias->name, (void *)bias);
    if (!t || tensor_count(&t->tensor) != tensor_count(bias))
        diag_fatal(
            NO_LOC,
            "%s: \"%s\" does not fit a bias of the model\nhint: is it an adapter of another model?",
            a->own->path, bias->name);
    LoraMerge *m = new_merge(a, scale);
    m->bias = bias;
    append_merge(t, m);
}

static void merge_module(Adapter *a, const char *module, bool embedding) {
    const Tensor *down = part_of(a, module, embedding ? "lora_embedding_A" : "lora_A"),
                 *up = part_of(a, module, embedding ? "lora_embedding_B" : "lora_B");
    const char *name = arena_printf(a->base->arena, "%s.weight", without_prefix(module));
    StoredTensor *t = find_target(a->base, name);
    if (!down || !up)
        diag_fatal(NO_LOC,
                   "%s: \"%s\" lacks one of its two matrices\nhint: download the adapter again",
                   a->own->path, module);
    if (is_tied(a->base) && (embedding || !strcmp(name, "lm_head.weight"))) {
        StoredTensor *head = untie(a);
        if (!embedding) t = head;
    }
    if (!t)
        diag_fatal(NO_LOC,
                   "%s changes \"%s\", which the model does not have\nhint: is it an adapter of "
                   "another model?",
                   a->own->path, name);
    const Tensor *w = checkpoint_find(a->base, t->tensor.name);
    bool fits = down->rank == 2 && up->rank == 2 && w->rank == 2 && down->dim[0] == up->dim[1] &&
                down->dim[0] > 0;
    int64_t inputs = fits ? down->dim[1] : 0, outputs = fits ? up->dim[0] : 0;
    LoraMerge *m = new_merge(a, fits ? scale_of(a, without_prefix(module), down->dim[0]) : 0);
    *m = (LoraMerge){.a = down,
                     .b = up,
                     .scale = m->scale,
                     .embedding = embedding,
                     .magnitude = part_of(a, module, "lora_magnitude_vector")};
    m->transposed = fits && !embedding && is_transposed(a, w, inputs, outputs);
    bool turned = embedding || m->transposed;
    fits = fits && w->dim[0] == (turned ? inputs : outputs) &&
           w->dim[1] == (turned ? outputs : inputs);
    if (!fits || (m->magnitude && tensor_count(m->magnitude) != outputs))
        refuse_shape(a, module, w);
    append_merge(t, m);
    if (!embedding) add_bias(a, module, m->scale);
}

// "lm_head.weight" of "base_model.model.lm_head.modules_to_save.default.weight" and of
// "base_model.model.lm_head.base_layer.weight"
static const char *whole_name(Arena *arena, const char *name) {
    static const char *const inside[] = {".modules_to_save.default", ".modules_to_save",
                                         ".base_layer"};
    name = without_prefix(name);
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        const char *at = strstr(name, inside[i]), *end = at ? at + strlen(inside[i]) : NULL;
        if (at && *end == '.') return arena_printf(arena, "%.*s%s", (int)(at - name), name, end);
    }
    return name;
}

// A tensor in place of the model's: of modules_to_save, a bias that was trained, a table of words
// that goes with its adapter.
static void replace(Adapter *a, const Tensor *whole) {
    const char *name = whole_name(a->base->arena, whole->name);
    StoredTensor *t = find_target(a->base, name);
    if (!t && !strcmp(name, "lm_head.weight")) t = untie(a);
    if (!t)
        diag_fatal(NO_LOC,
                   "%s changes \"%s\", which the model does not have\nhint: is it an adapter of "
                   "another model?",
                   a->own->path, name);
    const Tensor *own = checkpoint_find(a->base, t->tensor.name);
    if (own->rank != whole->rank ||
        memcmp(own->dim, whole->dim, (size_t)own->rank * sizeof *own->dim))
        diag_fatal(NO_LOC,
                   "%s: \"%s\" is larger or smaller than in the model\nhint: an adapter that adds "
                   "tokens: merge it with PEFT, "
                   "model.merge_and_unload().save_pretrained(OUT)",
                   a->own->path, name);
    if (is_tied(a->base) && text_ends_with(name, "lm_head.weight")) t = untie(a);
    const StoredTensor *from = map_get(&a->own->by_name, whole->name);
    const char *own_name = t->tensor.name;
    *t = (StoredTensor){
        .tensor = *whole, .file = from->file, .name_in_file = whole->name, .presented = true};
    t->tensor.name = own_name;
}

static void merge_all(Adapter *a) {
    const char *part = NULL;
    for (int i = 0; i < a->own->n_tensors; i++) {
        const char *name = a->own->tensors[i]->name;
        if (!module_of(a->base->arena, name, &part)) replace(a, checkpoint_find(a->own, name));
    }
    for (int i = 0; i < a->own->n_tensors; i++) {
        const char *name = a->own->tensors[i]->name,
                   *module = module_of(a->base->arena, name, &part);
        bool first = module && (!strcmp(part, "lora_A") || !strcmp(part, "lora_embedding_A"));
        if (first && !map_get(&a->used, name)) merge_module(a, module, part[5] == 'e');
    }
    for (int i = 0; i < a->own->n_tensors; i++) {
        const char *name = a->own->tensors[i]->name;
        if (module_of(a->base->arena, name, &part) && !map_get(&a->used, name))
            diag_fatal(NO_LOC,
                       "%s: \"%s\" belongs to no matrices of the adapter\nhint: download the "
                       "adapter again",
                       a->own->path, name);
    }
}

void checkpoint_add_lora(Checkpoint *c, const char *folder, double factor) {
    static const char *const files[] = {"adapter_model.safetensors", "adapter_model.bin"};
    const char *path = NULL;
    checkpoint_read_quantized(c);
    for (size_t i = 0; !path && i < sizeof files / sizeof *files; i++) {
        path = arena_printf(c->arena, "%s/%s", folder, files[i]);
        if (access(path, F_OK)) path = NULL;
    }
    if (!path && access(folder, F_OK))
        diag_fatal(NO_LOC, "--lora %s: there is no such folder", folder);
    if (!path)
        diag_fatal(
            NO_LOC,
            "--lora %s: there is no adapter_model.safetensors\nhint: give a folder that PEFT wrote",
            folder);
    Adapter a = {.base = c, .own = checkpoint_open(c->arena, path, c->library), .factor = factor};
    a.config = checkpoint_object(a.own, "adapter_config.json", &a.config_source);
    if (!a.config)
        diag_fatal(NO_LOC,
                   "%s has no adapter_config.json, which has the adapter's scale\nhint: download "
                   "every file of the adapter",
                   folder);
    map_init(&a.used, c->arena);
    check_options(&a);
    merge_all(&a);
}

// "DIR,DIR=0.5": a folder, and what its part is multiplied by.
void checkpoint_add_loras(Checkpoint *c, const char *list) {
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ",");
        char *one = (char *)arena_strndup(c->arena, at, n), *equals = strrchr(one, '='), *end;
        double factor = 1;
        if (equals && equals[1]) {
            factor = strtod(equals + 1, &end);
            if (*end || !isfinite(factor))
                diag_fatal(NO_LOC,
                           "--lora %s: \"%s\" is no number\nhint: --lora DIR=0.5 merges the "
                           "adapter by half",
                           list, equals + 1);
            *equals = 0;
        }
        if (!*one)
            diag_fatal(NO_LOC, "--lora: expected DIR, or DIR=FACTOR, with commas between several");
        checkpoint_add_lora(c, one, factor);
        at += n + (at[n] == ',');
    }
}
