// config.json as transformers 5 writes it, in the words of transformers 4, which descriptions use:
//
//   "rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0, "partial_rotary_factor": 0.5}
//   -> "rope_theta": 1e4, "partial_rotary_factor": 0.5, "rope_scaling": {"rope_type": "linear", "factor": 2.0}
//
// Where layers with a window turn by another base, it has the name that Gemma 3 or ModernBERT had for it.
#include <string.h>

#include "frontend/checkpoint/reader.h"

static bool is_modernbert(const json_t *config) {
    const char *type = json_string_value(json_object_get(config, "model_type"));
    return type && !strncmp(type, "modernbert", strlen("modernbert"));
}

static void set_absent(json_t *config, const char *name, json_t *value) {
    if (value && !json_object_get(config, name)) json_object_set(config, name, value);
}

// Moves a field out of the parameters.
static void move_field(json_t *config, const char *name, json_t *parameters, const char *field) {
    set_absent(config, name, json_object_get(parameters, field));
    json_object_del(parameters, field);
}

static void set_rotary(json_t *config, const char *theta, json_t *parameters) {
    const char *type = json_string_value(json_object_get(parameters, "rope_type"));
    move_field(config, theta, parameters, "rope_theta");
    move_field(config, "partial_rotary_factor", parameters, "partial_rotary_factor");
    if (type && strcmp(type, "default")) set_absent(config, "rope_scaling", parameters);
}

const json_t *config_with_older_rotary(Arena *arena, const json_t *config) {
    if (!json_is_object(json_object_get(config, "rope_parameters"))) return config;
    json_t *older = json_own(arena, json_deep_copy(config)), *parameters = json_object_get(older, "rope_parameters");
    json_t *full = json_object_get(parameters, "full_attention"), *window = json_object_get(parameters, "sliding_attention");
    json_incref(parameters);
    json_object_del(older, "rope_parameters");
    bool nested = json_is_object(full), modernbert = is_modernbert(config);
    json_t *theta = json_object_get(nested ? full : parameters, "rope_theta"), *local = json_object_get(window, "rope_theta");
    if (local && !json_equal(theta, local)) set_absent(older, modernbert ? "local_rope_theta" : "rope_local_base_freq", local);
    set_rotary(older, modernbert ? "global_rope_theta" : "rope_theta", nested ? full : parameters);
    json_decref(parameters);
    return older;
}
