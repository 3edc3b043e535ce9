// config.json as other versions of transformers wrote it, in the words of transformers 4, which
// descriptions use. Version 5, of the configuration and of those inside it:
//
//   "rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0, "partial_rotary_factor": 0.5}
//   -> "rope_theta": 1e4, "partial_rotary_factor": 0.5, "rope_scaling": {"rope_type": "linear", "factor": 2.0}
//
// A separate frequency of sliding-window layers becomes "rope_local_base_freq", Gemma 3's name for
// it, and "rope_local_scaling" and "rope_local_partial_factor", which version 4 did not have. A
// proportional embedding keeps its partial_rotary_factor: it turns a part of the whole head.
// A field that single layers set becomes a list with a value for each layer:
//
//   "head_dim": 16, "per_layer_config": {"1": {"head_dim": 32}}  ->  "per_layer": {"head_dim": [16, 32]}
//
// The first files of CLIP have
// "text_config_dict" next to "text_config"; the former counts. If a list names each layer
// ("layers_block_type") and no field their number, it is the list's length.
#include <stdlib.h>
#include <string.h>

#include "frontend/checkpoint/reader.h"

// Moves a field out of the parameters; it counts more than one of the configuration.
static void move_field(json_t *config, const char *name, json_t *parameters, const char *field) {
    json_t *value = json_object_get(parameters, field);
    if (value) json_object_set(config, name, value);
    json_object_del(parameters, field);
}

static void set_rotary(json_t *config, const char *theta, const char *scaling, const char *part,
                       json_t *parameters) {
    const char *type = json_string_value(json_object_get(parameters, "rope_type"));
    if (!type) type = json_string_value(json_object_get(parameters, "type"));
    move_field(config, theta, parameters, "rope_theta");
    if (!type || strcmp(type, "proportional"))
        move_field(config, part, parameters, "partial_rotary_factor");
    if (type) json_object_set(config, scaling, parameters);
}

static const json_t *config_with_towers(Arena *arena, const json_t *config) {
    static const char *const names[][2] = {{"text_config", "text_config_dict"},
                                           {"vision_config", "vision_config_dict"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *tower = json_object_get(config, names[i][1]);
        if (!json_is_object(tower)) continue;
        json_t *newer = json_own(arena, json_deep_copy(config));
        json_object_set(newer, names[i][0], tower);
        config = newer;
    }
    return config;
}

// Parameters under names of layers that version 4 did not have are left to the description.
static bool has_other_names(json_t *parameters) {
    const char *name;
    json_t *part;
    json_object_foreach(parameters, name, part) if (json_is_object(part)) return true;
    return false;
}

// The older field counts where it is not empty, with the same fields. The class of Cohere 2's
// mixtures alone does not read it.
static json_t *parameters_of(json_t *config) {
    const char *type = json_string_value(json_object_get(config, "model_type"));
    if (type && !strcmp(type, "cohere2_moe")) json_object_del(config, "rope_scaling");
    json_t *older = json_object_get(config, "rope_scaling");
    return json_object_size(older) ? older : json_object_get(config, "rope_parameters");
}

static void take_parameters(json_t *config) {
    json_t *parameters = parameters_of(config);
    if (!json_is_object(parameters)) return;
    json_t *full = json_object_get(parameters, "full_attention"),
           *window = json_object_get(parameters, "sliding_attention");
    if (!full && !window && has_other_names(parameters)) return;
    json_incref(parameters);
    json_object_del(config, "rope_parameters");
    if (full || window) json_object_del(config, "rope_scaling");
    set_rotary(config, "rope_theta", "rope_scaling", "partial_rotary_factor",
               json_is_object(full) ? full : parameters);
    if (json_is_object(window))
        set_rotary(config, "rope_local_base_freq", "rope_local_scaling",
                   "rope_local_partial_factor", window);
    json_decref(parameters);
}

static void count_layers(json_t *config) {
    static const char *const counts[] = {"num_hidden_layers", "n_layer", "n_layers", "num_layers"};
    static const char *const lists[] = {"layers_block_type", "layer_types"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (json_is_integer(json_object_get(config, counts[i]))) return;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const json_t *list = json_object_get(config, lists[i]);
        if (!json_is_array(list)) continue;
        json_object_set_new(config, "num_hidden_layers",
                            json_integer((json_int_t)json_array_size(list)));
        return;
    }
}

// The field for each layer: that of all where the layer has none.
static void list_field(json_t *config, json_t *lists, const json_t *layers, const char *name) {
    json_int_t count = json_integer_value(json_object_get(config, "num_hidden_layers"));
    json_t *list = json_array(), *of_all = json_object_get(config, name);
    for (json_int_t i = 0; i < count; i++) json_array_append(list, of_all ? of_all : json_null());
    const char *number;
    json_t *fields;
    json_object_foreach((json_t *)layers, number, fields) {
        json_t *own = json_object_get(fields, name);
        if (own) json_array_set(list, strtoul(number, NULL, 10), own);
    }
    json_object_set_new(lists, name, list);
}

// A number of layers beyond this one is refused elsewhere.
#define MOST_LAYERS 10000

static void list_fields_of_layers(json_t *config) {
    const json_t *layers = json_object_get(config, "per_layer_config");
    if (!json_is_object(layers)) return;
    if (json_integer_value(json_object_get(config, "num_hidden_layers")) > MOST_LAYERS) return;
    json_t *lists = json_object(), *fields, *value;
    const char *number, *name;
    json_object_foreach((json_t *)layers, number, fields)
        json_object_foreach(fields, name, value) if (!json_object_get(lists, name))
            list_field(config, lists, layers, name);
    json_object_set_new(config, "per_layer", lists);
    json_object_del(config, "per_layer_config");
}

const json_t *config_as_now(Arena *arena, const json_t *config) {
    const char *name;
    json_t *part;
    config = config_with_towers(arena, config);
    if (!json_is_object(config)) return config;
    json_t *older = json_own(arena, json_deep_copy(config));
    take_parameters(older);
    count_layers(older);
    list_fields_of_layers(older);
    json_object_foreach(older, name, part) if (json_is_object(part)) {
        take_parameters(part);
        count_layers(part);
        list_fields_of_layers(part);
    }
    return older;
}
