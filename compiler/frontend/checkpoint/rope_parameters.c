// config.json as other versions of transformers wrote it, in the words of transformers 4, which
// descriptions use. Version 5, of the configuration and of those inside it:
//
//   "rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0, "partial_rotary_factor": 0.5}
//   -> "rope_theta": 1e4, "partial_rotary_factor": 0.5, "rope_scaling": {"rope_type": "linear", "factor": 2.0}
//
// A separate frequency of sliding-window layers becomes "rope_local_base_freq", Gemma 3's name for
// it, and "rope_local_scaling", which version 4 did not have. The first files of CLIP have
// "text_config_dict" next to "text_config"; the former counts. If a list names each layer
// ("layers_block_type") and no field their number, it is the list's length.
#include <string.h>

#include "frontend/checkpoint/reader.h"

static void set_absent(json_t *config, const char *name, json_t *value) {
    if (value && !json_object_get(config, name)) json_object_set(config, name, value);
}

// Moves a field out of the parameters.
static void move_field(json_t *config, const char *name, json_t *parameters, const char *field) {
    set_absent(config, name, json_object_get(parameters, field));
    json_object_del(parameters, field);
}

static void set_rotary(json_t *config, const char *theta, const char *scaling, json_t *parameters) {
    const char *type = json_string_value(json_object_get(parameters, "rope_type"));
    move_field(config, theta, parameters, "rope_theta");
    move_field(config, "partial_rotary_factor", parameters, "partial_rotary_factor");
    if (type && strcmp(type, "default")) set_absent(config, scaling, parameters);
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

static void take_parameters(json_t *config) {
    json_t *parameters = json_object_get(config, "rope_parameters");
    if (!json_is_object(parameters)) return;
    json_t *full = json_object_get(parameters, "full_attention"),
           *window = json_object_get(parameters, "sliding_attention");
    json_incref(parameters);
    json_object_del(config, "rope_parameters");
    set_rotary(config, "rope_theta", "rope_scaling", json_is_object(full) ? full : parameters);
    if (json_is_object(window))
        set_rotary(config, "rope_local_base_freq", "rope_local_scaling", window);
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

const json_t *config_as_now(Arena *arena, const json_t *config) {
    const char *name;
    json_t *part;
    config = config_with_towers(arena, config);
    if (!json_is_object(config)) return config;
    json_t *older = json_own(arena, json_deep_copy(config));
    take_parameters(older);
    count_layers(older);
    json_object_foreach(older, name, part) if (json_is_object(part)) {
        take_parameters(part);
        count_layers(part);
    }
    return older;
}
