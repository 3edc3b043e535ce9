// Models that take images or sounds beside texts. Their configuration describes the text model in
// an object of its own, and its tensors have a prefix; from here on the folder holds this model
// alone:
//   {"model_type": "mistral3", "text_config": {"model_type": "mistral", ..}, "vision_config": {..}, "quantization_config": {..}}
//   -> {"model_type": "mistral", .., "quantization_config": {..}}
//   language_model.model.layers.0.mlp.up_proj.weight (or model.language_model.layers.0...) -> model.layers.0.mlp.up_proj.weight
// Qwen2-VL's first files have one object for both, and tensors without a prefix beside those of
// "visual".
#include <string.h>

#include "frontend/checkpoint/reader.h"
#include "util/text.h"

static bool starts_with(const char *text, const char *start) {
    return !strncmp(text, start, strlen(start));
}

// Encoders of images and sounds of files whose text model has no prefix
static const char *const towers[] = {"visual.", "vit.", "audio_tower.", "mlp_AR."};

static bool is_of_tower(const char *name) {
    for (size_t i = 0; i < sizeof towers / sizeof *towers; i++)
        if (starts_with(name, towers[i])) return true;
    return false;
}

// The name of a tensor in the text model alone; NULL: it belongs to another part.
static const char *name_alone(Arena *arena, const char *name, const char *prefix) {
    if (!*prefix) return is_of_tower(name) ? NULL : name;
    if (starts_with(name, "lm_head.")) return name;
    if (!starts_with(name, prefix)) return NULL;
    const char *rest = name + strlen(prefix);
    bool within = starts_with(prefix, "model.");
    return within && !starts_with(rest, "lm_head.") ? arena_printf(arena, "model.%s", rest) : rest;
}

// NULL: no prefix matches, and no tensor is of images alone.
static const char *prefix_of(const Checkpoint *c) {
    static const char *const known[][2] = {{"language_model.", "language_model."},
                                           {"model.language_model.", "model.language_model."},
                                           {"model.text_model.", "model.text_model."}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (int t = 0; t < c->n_tensors; t++)
            if (starts_with(c->tensors[t]->name, known[i][0])) return known[i][1];
    for (int t = 0; t < c->n_tensors; t++)
        if (is_of_tower(c->tensors[t]->name)) return "";
    return NULL;
}

static int rename_tensors(Checkpoint *c, const char *prefix) {
    int others = 0;
    for (int i = 0; i < c->n_tensors; i++) {
        StoredTensor *t = (StoredTensor *)c->tensors[i];  // the tensor is its first member
        const char *file_name = t->tensor.name, *name = name_alone(c->arena, file_name, prefix);
        others += t->hidden = !name;
        if (!name || name == file_name) continue;
        const StoredTensor *other = map_get(&c->by_name, name);
        if (other && !other->hidden)
            file_fatal(t->file, "there is \"%s\" beside \"%s\"", name, file_name);
        checkpoint_rename(c, t, name);
    }
    checkpoint_list_again(c);
    return others;
}

typedef struct TextModel {
    const char *type, *same, *defaults, *fixed;
} TextModel;

static const TextModel *text_model(Arena *arena, const char *type) {
    static const TextModel known[] = {
#define TEXT(type, same, defaults, fixed) {type, same, defaults, fixed},
#define PLAIN_HEAD(class_name)
#include "frontend/checkpoint/text_models.def"
#undef TEXT
#undef PLAIN_HEAD
    };
    size_t n = strlen(type), end = strlen("_text");
    const char *bare = text_ends_with(type, "_text") ? arena_strndup(arena, type, n - end) : type;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].type, bare)) return &known[i];
    return NULL;
}

static bool has_plain_head(const char *class_name) {
    static const char *const known[] = {
#define TEXT(type, same, defaults, fixed)
#define PLAIN_HEAD(class_name) class_name,
#include "frontend/checkpoint/text_models.def"
#undef TEXT
#undef PLAIN_HEAD
    };
    for (size_t i = 0; class_name && i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i], class_name)) return true;
    return false;
}

static json_t *fields_of(Arena *arena, const char *text) {
    char *quoted = arena_strdup(arena, text);
    for (char *at = quoted; (at = strchr(at, '\''));) *at = '"';
    return json_own(arena, json_loads(quoted, 0, NULL));
}

static void take_type(Checkpoint *c, json_t *config, const TextModel *known) {
    json_t *defaults = fields_of(c->arena, known->defaults);
    json_object_set_new(config, "model_type", json_string(known->same));
    json_object_update_missing(config, defaults);
    json_object_update(config, fields_of(c->arena, known->fixed));
}

// Time, height and width of an image turn parts of a head; those of a text are its position, all
// three.
static void drop_sections(json_t *text, const char *name) {
    const json_t *rotary = json_object_get(text, name);
    if (!json_object_get(rotary, "mrope_section")) return;
    json_t *alone = json_deep_copy(rotary);
    const char *keys[] = {"type", "rope_type"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *type = json_string_value(json_object_get(alone, keys[i]));
        if (type && !strcmp(type, "mrope"))
            json_object_set_new(alone, keys[i], json_string("default"));
    }
    json_object_del(alone, "mrope_section");
    json_object_del(alone, "mrope_interleaved");
    json_object_set_new(text, name, alone);
}

static bool has_head(const Checkpoint *c) {
    for (int i = 0; i < c->n_tensors; i++)
        if (starts_with(c->tensors[i]->name, "lm_head.")) return true;
    return false;
}

static json_t *config_alone(const Checkpoint *c, const json_t *part) {
    static const char *const shared[] = {"bos_token_id", "eos_token_id", "pad_token_id"};
    static const char *const of_all[] = {"quantization_config", "compression_config",
                                         "quantization"};
    json_t *tied = json_object_get(c->config, "tie_word_embeddings");
    json_t *text = json_own(c->arena, json_deep_copy(part));
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        json_t *outer = json_object_get(c->config, shared[i]);
        if (outer && !json_object_get(text, shared[i])) json_object_set(text, shared[i], outer);
    }
    for (size_t i = 0; i < sizeof of_all / sizeof *of_all; i++) {
        json_t *outer = json_object_get(c->config, of_all[i]);
        if (json_is_object(outer)) json_object_set(text, of_all[i], outer);
    }
    if (json_is_boolean(tied)) json_object_set(text, "tie_word_embeddings", tied);
    if (!json_object_get(text, "tie_word_embeddings"))
        json_object_set_new(text, "tie_word_embeddings", json_boolean(!has_head(c)));
    if (part == c->config) json_object_del(text, "architectures");
    drop_sections(text, "rope_scaling");
    drop_sections(text, "rope_parameters");
    return text;
}

static const json_t *text_model_config(const json_t *config) {
    static const char *const names[] = {"text_config", "llm_config", "language_config"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const json_t *part = json_object_get(config, names[i]);
        if (json_is_string(json_object_get(part, "model_type"))) return part;
    }
    return json_is_object(json_object_get(config, "vision_config")) ? config : NULL;
}

// The configuration of a text model under the name and with the defaults of its description.
static void take_config(Checkpoint *c, json_t *text) {
    const TextModel *known =
        text_model(c->arena, json_string_value(json_object_get(text, "model_type")));
    json_t *config = (json_t *)(uintptr_t)config_as_now(c->arena, text);
    if (known) take_type(c, config, known);
    c->config = config;
    c->architecture = json_string_value(json_object_get(c->config, "model_type"));
}

// A folder of the text model alone, whose class is that of a language model or of a head.
static void take_bare(Checkpoint *c) {
    if (!c->architecture || !text_model(c->arena, c->architecture)) return;
    json_t *text = json_own(c->arena, json_deep_copy(c->config));
    drop_sections(text, "rope_scaling");
    take_config(c, text);
}

void checkpoint_take_text(Checkpoint *c) {
    const json_t *part = text_model_config(c->config);
    const char *prefix = part ? prefix_of(c) : NULL;
    if (!part) take_bare(c);
    if (!prefix || !json_is_string(json_object_get(part, "model_type"))) return;
    const char *whole = checkpoint_class(c);
    c->n_left_out = rename_tensors(c, prefix);
    if (c->n_left_out) c->whole_class = whole ? whole : "";
    json_t *text = config_alone(c, part);
    if (has_plain_head(whole))
        json_object_update(text, fields_of(c->arena,
                                           "{'logit_scale': 1, 'logits_scaling': 1, "
                                           "'final_logit_softcapping': null}"));
    take_config(c, text);
}

void checkpoint_warn_of_rest(const Checkpoint *c) {
    if (c->whole_class)
        diag_warning(checkpoint_config_loc(c, "vision_config"),
                     "the program is of the model's texts alone: %d of its tensors, for images or "
                     "sounds, are left out",
                     c->n_left_out);
}

// How many pairs of a head turn by time, lines and columns.
static void take_sections(json_t *to, const json_t *part) {
    static const char *const names[] = {"rope_parameters", "rope_scaling"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const json_t *rotary = json_object_get(part, names[i]);
        json_t *section = json_object_get(rotary, "mrope_section");
        json_t *interleaved = json_object_get(rotary, "mrope_interleaved");
        if (!section || json_object_get(to, "mrope_section")) continue;
        json_object_set(to, "mrope_section", section);
        if (interleaved) json_object_set(to, "mrope_interleaved", interleaved);
    }
}

// The axes of the text model's rotary embedding are fields of its own. A configuration of both has
// only the part of pictures beside it.
static json_t *config_of_rest(const Checkpoint *c) {
    const json_t *part = text_model_config(c->config);
    json_t *rest = json_own(c->arena, json_copy((json_t *)(uintptr_t)c->config));
    json_t *text = json_deep_copy(part);
    take_sections(text, part);
    json_object_del(text, "vision_config");
    if (part == c->config) {
        rest = json_own(c->arena, json_object());
        json_object_set(rest, "vision_config", json_object_get(c->config, "vision_config"));
        json_object_set(rest, "architectures", json_object_get(c->config, "architectures"));
    }
    json_object_set_new(rest, "text_config", text);
    return rest;
}

void checkpoint_take_rest(Checkpoint *c) {
    const char *prefix = prefix_of(c);
    for (int i = 0; prefix && i < c->n_tensors; i++) {
        StoredTensor *t = (StoredTensor *)c->tensors[i];
        t->hidden = name_alone(c->arena, t->tensor.name, prefix) != NULL;
    }
    checkpoint_list_again(c);
    c->config = config_of_rest(c);
}
