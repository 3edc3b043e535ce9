// config.json as other versions of transformers wrote it, in the words of transformers 4, which descriptions use. Version 5:
//
//   "rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0, "partial_rotary_factor": 0.5}
//   -> "rope_theta": 1e4, "partial_rotary_factor": 0.5, "rope_scaling": {"rope_type": "linear", "factor": 2.0}
//
// What layers with a window turn by, where it is said apart, becomes "rope_local_base_freq", Gemma 3's name for it, and
// "rope_local_scaling", which no version 4 had. The first files of CLIP say "text_config_dict" beside "text_config", and mean
// it.
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
    static const char *const names[][2] = {{"text_config", "text_config_dict"}, {"vision_config", "vision_config_dict"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *tower = json_object_get(config, names[i][1]);
        if (!json_is_object(tower)) continue;
        json_t *newer = json_own(arena, json_deep_copy(config));
        json_object_set(newer, names[i][0], tower);
        config = newer;
    }
    return config;
}

const json_t *config_as_now(Arena *arena, const json_t *config) {
    config = config_with_towers(arena, config);
    if (!json_is_object(json_object_get(config, "rope_parameters"))) return config;
    json_t *older = json_own(arena, json_deep_copy(config)), *parameters = json_object_get(older, "rope_parameters");
    json_t *full = json_object_get(parameters, "full_attention"), *window = json_object_get(parameters, "sliding_attention");
    json_incref(parameters);
    json_object_del(older, "rope_parameters");
    set_rotary(older, "rope_theta", "rope_scaling", json_is_object(full) ? full : parameters);
    if (window) set_rotary(older, "rope_local_base_freq", "rope_local_scaling", window);
    json_decref(parameters);
    return older;
}
