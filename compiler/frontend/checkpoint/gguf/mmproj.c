// mmproj files: the encoder of pictures of a GGUF model, as a checkpoint in Hugging Face's words.
//
//   v.blk.0.attn_q.weight         -> vision_tower.vision_model.encoder.layers.0.self_attn.q_proj.weight
//   clip.vision.embedding_length  -> vision_config.hidden_size
//   clip.vision.image_mean        -> processor.image_mean
//
// dsl/gguf/eyes has a table for each clip.projector_type.
#include <string.h>

#include "frontend/checkpoint/gguf/reading.h"
#include "frontend/checkpoint/reader.h"
#include "util/text.h"

typedef GgufReading Reading;

static bool starts_with(const char *text, const char *start) {
    return !strncmp(text, start, strlen(start));
}

// ------------------------------------------------------------------------------------------ values
static json_t *list_of(const Gguf *g, const GgufValue *v) {
    json_t *list = json_array();
    uint64_t n;
    const float *reals = v->type == GGUF_F32 ? gguf_floats(g, v->key, &n) : NULL;
    const int32_t *whole =
        v->type != GGUF_F32 && v->type != GGUF_BOOL ? gguf_ints(g, v->key, &n) : NULL;
    for (uint64_t i = 0; i < v->n; i++)
        json_array_append_new(list, reals   ? json_real((double)reals[i])
                                    : whole ? json_integer(whole[i])
                                            : json_boolean(v->data[i]));
    return list;
}

static json_t *value_of(const Gguf *g, const char *key) {
    const GgufValue *v = gguf_find(g, key);
    const char *word;
    int64_t whole;
    double real;
    bool truth;
    if (!v) return NULL;
    if (v->is_array) return list_of(g, v);
    if (v->type == GGUF_STRING) return gguf_string(g, key, &word) ? json_string(word) : NULL;
    if (v->type == GGUF_BOOL) return gguf_bool(g, key, &truth) ? json_boolean(truth) : NULL;
    if (v->type == GGUF_F32 || v->type == GGUF_F64)
        return gguf_float(g, key, &real) ? json_real(real) : NULL;
    return gguf_int(g, key, &whole) ? json_integer(whole) : NULL;
}

static void set_keys(const Reading *r, GgufPairs keys, bool required) {
    for (int i = 0; i < keys.n; i++) {
        const char *key = gguf_key_of(r, keys.items[i].gguf), *field = keys.items[i].name;
        json_t *value = value_of(r->gguf, key);
        gguf_note_key(r, field, key);
        if (value)
            gguf_set_field(r, field, value);
        else if (required)
            file_fatal(r->gguf->file, "metadata \"%s\" is missing\nhint: without it %s is unknown",
                       key, field);
    }
}

// ----------------------------------------------------------------------------------- configuration
static bool is_of_table(const Reading *r, GgufPairs keys, const char *key) {
    for (int i = 0; i < keys.n; i++)
        if (!strcmp(key, gguf_key_of(r, keys.items[i].gguf))) return true;
    return false;
}

// Ends the run at metadata of the encoder that the table does not read.
static void check_keys(const Reading *r) {
    static const char *const known[] = {
        "clip.has_vision_encoder",
        "clip.has_text_encoder",
        "clip.has_llava_projector",
        "clip.has_audio_encoder",
        "clip.projector_type",
        "clip.vision.projector_type",
        "clip.use_gelu",
        "clip.use_silu",
        "clip.vision.projection_dim",
        "clip.minicpmv_version",
        "clip.has_gen_audio_encoder",
    };
    const Map *values = &r->gguf->values;
    for (int i = 0; i < values->n; i++) {
        const char *key = values->entries[i].key;
        bool is_read = !starts_with(key, "clip.") || starts_with(key, "clip.audio.") ||
                       is_of_table(r, r->table->needed, key) ||
                       is_of_table(r, r->table->further, key) ||
                       is_of_table(r, r->table->only, key);
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            is_read = is_read || !strcmp(key, known[k]);
        if (!is_read)
            file_fatal(r->gguf->file,
                       "metadata \"%s\" of the encoder of pictures is not supported"
                       "\nhint: take the model's safetensors",
                       key);
    }
}

// The activation of the layers' products: quick_gelu where the file has no flag.
static void set_activation(const Reading *r) {
    bool gelu = false, silu = false;
    gguf_bool(r->gguf, "clip.use_gelu", &gelu);
    gguf_bool(r->gguf, "clip.use_silu", &silu);
    bool exact = json_is_true(json_object_get(r->config, "exact_gelu"));
    const json_t *vision = json_object_get(r->config, "vision_config");
    if (!json_object_get(vision, "hidden_act"))
        gguf_set_field(r, "vision_config.hidden_act",
                       json_string(silu            ? "silu"
                                   : gelu && exact ? "gelu"
                                   : gelu          ? "gelu_pytorch_tanh"
                                                   : "quick_gelu"));
}

static void set_rows(const Reading *r, GgufPair rows) {
    const GgufTensor *t = gguf_tensor(r->gguf, rows.gguf);
    uint64_t n = t && t->rank ? t->dims[t->rank > 1] : 0;
    if (n && n <= INT32_MAX) gguf_set_field(r, rows.name, json_integer((json_int_t)n));
}

static bool has_tensor(const Gguf *g, const char *pattern) {
    unsigned layer;
    for (uint64_t i = 0; i < g->n_tensors; i++)
        if (gguf_matches(pattern, g->tensors[i].name, strlen(g->tensors[i].name), &layer))
            return true;
    return false;
}

// A field where neither a key nor a line before gave it; the field is of an object in an object.
static void set_default(const Reading *r, GgufPair p) {
    json_t *object = r->config;
    const char *name = p.gguf;
    for (const char *dot; (dot = strchr(name, '.')); name = dot + 1)
        object = json_object_get(object,
                                 arena_strndup(r->checkpoint->arena, name, (size_t)(dot - name)));
    if (!json_object_get(object, name))
        gguf_set_field(r, p.gguf, json_loads(p.name, JSON_DECODE_ANY, NULL));
}

static void set_configuration(Reading *r) {
    const GgufTable *t = r->table;
    set_keys(r, t->needed, true);
    set_keys(r, t->further, false);
    for (int i = 0; i < t->rows.n; i++) set_rows(r, t->rows.items[i]);
    for (int i = 0; i < t->flags.n; i++)
        gguf_set_field(r, t->flags.items[i].name,
                       json_boolean(has_tensor(r->gguf, t->flags.items[i].gguf)));
    gguf_set_fixed(r);
    for (int i = 0; i < t->defaults.n; i++) set_default(r, t->defaults.items[i]);
    set_activation(r);
    gguf_set_class(r);
    r->checkpoint->config = r->config;
    r->checkpoint->config_source = &r->gguf->file->source;
}

// The fields of the text model that descriptions of eyes read; sections of its heads by axis
static json_t *text_config(const Checkpoint *text) {
    json_t *config = json_own(text->arena, json_deep_copy(text->config));
    Gguf *g = gguf_parse(text->arena, map_file(text->arena, text->config_source->name));
    const char *architecture = "";
    gguf_string(g, "general.architecture", &architecture);
    const char *key = arena_printf(text->arena, "%s.rope.dimension_sections", architecture);
    uint64_t n;
    const int32_t *of = gguf_ints(g, key, &n);
    if (of && n >= 3)
        json_object_set_new(config, "mrope_section",
                            json_pack("[iii]", (int)of[0], (int)of[1], (int)of[2]));
    return config;
}

static const char *projector_of(const Gguf *g) {
    const char *type = NULL;
    bool sees = true;
    gguf_bool(g, "clip.has_vision_encoder", &sees);
    if (!gguf_string(g, "clip.projector_type", &type))
        gguf_string(g, "clip.vision.projector_type", &type);
    return sees ? type : NULL;
}

Checkpoint *checkpoint_open_mmproj(Arena *arena, const Checkpoint *text, const char *path,
                                   const char **why) {
    Checkpoint *c = ARENA_NEW(arena, Checkpoint);
    *c = (Checkpoint){.arena = arena, .kind = CHECKPOINT_GGUF, .path = path};
    c->library = text->library, c->folder = text->folder;
    map_init(&c->by_name, arena);
    map_init(&c->keys, arena);
    const MappedFile *file = map_file(arena, path);
    if (file->size < 4 || memcmp(file->data, "GGUF", 4))
        file_fatal(file, "the file is no GGUF\nhint: --mmproj takes llama.cpp's mmproj-NAME.gguf");
    Reading r = {.checkpoint = c, .gguf = gguf_open(arena, file), .name = "clip.vision"};
    const char *known, *type = projector_of(r.gguf);
    r.table = type
                  ? gguf_table(arena, arena_printf(arena, "%s/gguf/eyes", c->library), type, &known)
                  : NULL;
    if (!r.table) {
        *why = type ? arena_printf(arena, "clip.projector_type \"%s\" is not read, only: %s", type,
                                   known)
                    : "it has no encoder of pictures (clip.projector_type)";
        return NULL;
    }
    r.config = json_own(arena, json_object());
    json_object_set(r.config, "text_config", text_config(text));
    check_keys(&r);
    set_configuration(&r);
    for (uint64_t i = 0; i < r.gguf->n_tensors; i++) {
        const char *name = r.gguf->tensors[i].name;
        if (!starts_with(name, "a.") && !starts_with(name, "mm.a."))
            gguf_add_tensor(&r, &r.gguf->tensors[i]);
    }
    checkpoint_check_overlaps(c, 0);
    return c;
}
