// Parameters: `config hidden_size, rope_theta = 1e4` take their values from config.json when they
// are first used; null and absent mean the default. `config text_config.hidden_size = 512` gives a
// default to a field of a nested object.
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/dsl/elaborate.h"
#include "ir/convert.h"

static Value value_of_json(Elaborator *, const json_t *, const char *path);

static Value list_of_json(Elaborator *e, const json_t *j, const char *path) {
    int n = (int)json_array_size(j);
    Value *items = ARENA_ARRAY(e->arena, Value, n);
    for (int i = 0; i < n; i++)
        items[i] = value_of_json(e, json_array_get(j, (size_t)i),
                                 arena_printf(e->arena, "%s[%d]", path, i));
    return (Value){.kind = V_LIST, .list = {items, n}, .path = path};
}

static Value value_of_json(Elaborator *e, const json_t *j, const char *path) {
    if (json_is_boolean(j)) return (Value){.kind = V_BOOL, .b = json_is_true(j), .path = path};
    if (json_is_integer(j)) return (Value){.kind = V_INT, .i = json_integer_value(j), .path = path};
    if (json_is_real(j)) return (Value){.kind = V_FLOAT, .f = json_real_value(j), .path = path};
    if (json_is_string(j))
        return (Value){.kind = V_STRING, .s = json_string_value(j), .path = path};
    if (json_is_array(j)) return list_of_json(e, j, path);
    if (json_is_object(j)) return (Value){.kind = V_OBJECT, .object = j, .path = path};
    return (Value){.kind = V_NULL, .path = path};
}

// The member of config.json with this dotted name, or NULL.
static const json_t *find_json(const json_t *config, const char *path) {
    char name[256];
    while (config) {
        size_t n = strcspn(path, ".");
        if (n >= sizeof name) return NULL;
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        config = json_object_get(config, name);
        if (!path[n]) break;
        path += n + 1;
    }
    return config;
}

// Returns true if a file of the description declares the parameter, or an alias of that name.
static bool is_declared(const Elaborator *e, const char *name) {
    for (int i = 0; i < e->files.n; i++)
        for (const Ast *d = ((const File *)e->files.entries[i].value)->declarations; d; d = d->next)
            if ((d->kind == AST_CONFIG || d->kind == AST_ALIAS) && !strcmp(d->name, name))
                return true;
    return false;
}

// The declaration of a file that begins at `d`, or follows it, of another name for the parameter;
// NULL: there is none.
static const Ast *next_alias(const Ast *d, const char *name) {
    while (d && (d->kind != AST_ALIAS || strcmp(d->a->name, name))) d = d->next;
    return d;
}

// Fields that mean the same wherever they are, by the names of different families and versions.
static const char *const *synonyms_of(const char *name) {
    static const char *const groups[][6] = {
#define SYNONYMS(...) {__VA_ARGS__},
#include "frontend/dsl/synonyms.def"
#undef SYNONYMS
    };
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (int i = 0; groups[g][i]; i++)
            if (!strcmp(groups[g][i], name)) return groups[g];
    return NULL;
}

// The synonym under which config.json has a value; not one that the description declares itself.
static const char *synonym_there(const Elaborator *e, const char *name) {
    const char *const *group = synonyms_of(name);
    for (; group && *group; group++) {
        const json_t *j =
            strcmp(*group, name) ? find_json(e->options->checkpoint->config, *group) : NULL;
        if (j && !json_is_null(j) && !is_declared(e, *group)) return *group;
    }
    return NULL;
}

// What config.json calls the parameter: an alias that has a value there wins, as in the reference,
// then its own name, then a synonym.
static const char *config_name(const Elaborator *e, const char *name) {
    for (int i = 0; i < e->files.n && e->options->checkpoint; i++) {
        const Ast *a = next_alias(((const File *)e->files.entries[i].value)->declarations, name);
        for (; a; a = next_alias(a->next, name)) {
            const json_t *j = find_json(e->options->checkpoint->config, a->name);
            if (j && !json_is_null(j)) return a->name;
        }
    }
    if (!e->options->checkpoint || find_json(e->options->checkpoint->config, name)) return name;
    const char *synonym = synonym_there(e, name);
    return synonym ? synonym : name;
}

const char *config_called(const Elaborator *e, const char *path) {
    const char *name = config_name(e, path);
    return e->options->checkpoint ? checkpoint_field(e->options->checkpoint, name) : name;
}

const char *config_file(const Elaborator *e) {
    return e->options->checkpoint ? checkpoint_config_file(e->options->checkpoint) : "config.json";
}

bool config_has(const Elaborator *e, const char *path) {
    return e->options->checkpoint &&
           find_json(e->options->checkpoint->config, config_name(e, path));
}

static Loc config_loc(const Elaborator *e, const char *path) {
    char root[256];
    snprintf(root, sizeof root, "%.*s", (int)strcspn(path, "."), path);
    return e->options->checkpoint ? checkpoint_config_loc(e->options->checkpoint, root) : NO_LOC;
}

static bool is_literal(const Ast *x) {
    return x && (x->kind == AST_INT || x->kind == AST_FLOAT || x->kind == AST_TRUE ||
                 x->kind == AST_FALSE || x->kind == AST_STRING);
}

// A value must have the type of its default, if that is a literal: 8 is accepted for 8.0, and 8.0
// for 8.
static Value check_kind(Elaborator *e, const Declaration *d, Value v) {
    if (!is_literal(d->ast->a)) return v;
    Value standard = evaluate(e, d->ast->a);
    if (standard.kind == V_INT && v.kind == V_FLOAT && v.f < 0x1p63 &&
        v.f == (double)int64_of_double(v.f))
        return (Value){.kind = V_INT, .i = int64_of_double(v.f), .path = v.path};
    if (standard.kind == V_FLOAT && v.kind == V_INT)
        return (Value){.kind = V_FLOAT, .f = (double)v.i, .path = v.path};
    if (v.kind == standard.kind) return v;
    diag_error(config_loc(e, v.path), "\"%s\" is %s, %s expects %s", config_called(e, v.path),
               value_text(e, v), e->main->source->name, value_kind_name(standard.kind));
    diag_note(d->ast->loc, "declared here, with the default %s", value_text(e, standard));
    e->errors++;
    return VALUE(V_ERROR);
}

static Value default_value(Elaborator *e, Declaration *d) {
    if (!d->ast->a) return VALUE(V_NULL);
    Frame frame = {.file = d->file, .depth = e->frame ? e->frame->depth : 0}, *caller = e->frame;
    map_init(&frame.variables, e->arena);
    e->frame = &frame;
    Value v = evaluate(e, d->ast->a);
    e->frame = caller;
    if (v.kind == V_TENSOR)
        return report(e, d->ast->loc,
                      "\"%s\" must be known when the program is built, it is a tensor",
                      d->ast->name);
    return v;
}

// If the default is a list of numbers, one number fills it: "image_size": 224 is [224, 224].
static Value number_for_all(Elaborator *e, Declaration *d, Value v) {
    if (v.kind != V_INT || !d->ast->a ||
        (d->ast->a->kind != AST_LIST && d->ast->a->kind != AST_EACH))
        return v;
    int n = default_value(e, d).list.n;
    Value *items = ARENA_ARRAY(e->arena, Value, n);
    for (int i = 0; i < n; i++) items[i] = v;
    return (Value){.kind = V_LIST, .list = {items, n}, .path = v.path};
}

static Value required_value(Elaborator *e, const Declaration *d) {
    const Checkpoint *c = e->options->checkpoint;
    const char *where =
        c && c->config_source ? c->config_source->name : "the model's configuration";
    return report(e, d->ast->loc, "%s has no \"%s\"\nhint: give it a default: config %s = ...",
                  where, d->ast->name, d->ast->name);
}

static Value parameter_value(Elaborator *e, Declaration *d) {
    const char *name = config_name(e, d->ast->name);
    const json_t *j =
        e->options->checkpoint ? find_json(e->options->checkpoint->config, name) : NULL;
    map_put(&e->configs, d->ast->name, d);
    map_put(&e->configs, name, d);
    if (!j || json_is_null(j)) {
        if (!d->ast->a) return required_value(e, d);
        Value standard = default_value(e, d);
        if (standard.kind == V_NULL) standard.path = name;
        return standard;
    }
    d->from_config = true;
    Value v = check_kind(e, d, value_of_json(e, j, name));
    if (v.kind == V_INT) {
        Origin *o = (Origin *)origin_new(e, AST_CONFIG, NULL, NULL);
        o->config = d, o->value = v.i;
        v.origin = o;
    }
    return number_for_all(e, d, v);
}

Value config_value(Elaborator *e, Declaration *d) {
    if (d->state == VALUE_KNOWN) return d->value;
    if (d->state == VALUE_BUSY)
        return report(e, d->ast->loc, "the value of \"%s\" depends on itself", d->ast->name);
    d->state = VALUE_BUSY;
    Value v = d->ast->kind == AST_CONFIG ? parameter_value(e, d) : default_value(e, d);
    d->state = VALUE_KNOWN;
    return d->value = v;
}

Declaration *config_find_dotted(Elaborator *e, const char *path) {
    Declaration *d = file_find(e->frame->file, path);
    return d && d->ast->kind == AST_CONFIG ? d : NULL;
}

// A field of an object of config.json. A field that is absent, or a field of null, is null.
Value config_field(Elaborator *e, Value object, const char *name, Loc at) {
    const char *path = object.path ? arena_printf(e->arena, "%s.%s", object.path, name) : name;
    if (object.kind == V_ERROR) return object;
    Declaration *d = object.path ? config_find_dotted(e, path) : NULL;
    if (d) return config_value(e, d);
    if (object.kind == V_NULL) return (Value){.kind = V_NULL, .path = path};
    if (object.kind != V_OBJECT)
        return report(e, at, "%s has no fields, it is %s%-s", object.path ? object.path : "this",
                      value_kind_name(object.kind),
                      object.kind == V_TENSOR ? field_hint(e, name) : "");
    map_put(&e->configs, path, e);
    return value_of_json(e, json_object_get(object.object, name), path);
}

// -------------------------------------------------------------------------------- fields left over
static bool is_ignored_config(const char *name) {
    static const char *const names[] = {
#define FIELD(name) name,
#include "frontend/dsl/ignored_config.def"
#undef FIELD
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!fnmatch(names[i], name, 0)) return true;
    return false;
}

// null, false and empty: a feature that is off.
static bool is_off(const json_t *j) {
    return json_is_null(j) || json_is_false(j) || (json_is_array(j) && !json_array_size(j)) ||
           (json_is_object(j) && !json_object_size(j)) ||
           (json_is_string(j) && !*json_string_value(j));
}

// Returns true if the description declares the field or one inside it, or has read it.
static bool is_known(const Elaborator *e, const char *path) {
    size_t n = strlen(path);
    for (int i = 0; i < e->files.n; i++) {
        const File *f = e->files.entries[i].value;
        for (const Ast *d = f->declarations; d; d = d->next)
            if ((d->kind == AST_CONFIG || d->kind == AST_ALIAS) && !strncmp(d->name, path, n) &&
                (!d->name[n] || d->name[n] == '.'))
                return true;
    }
    return map_get(&e->configs, path);
}

static bool has_known_fields(const Elaborator *e, const char *path, const json_t *object) {
    const char *name;
    json_t *j;
    json_object_foreach(
        (json_t *)object, name,
        j) if (is_known(e, arena_printf(e->arena, "%s.%s", path, name))) return true;
    return false;
}

const char *description_name(const Elaborator *e) {
    const char *name = e->main->source->name;
    return strncmp(name, "models/", strlen("models/")) ? name : name + strlen("models/");
}

static void warn_unknown(Elaborator *e, const char *path, const json_t *value) {
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    diag_warning(config_loc(e, path), "\"%s\": %.60s is not used by %s", config_called(e, path),
                 text ? text : "?", description_name(e));
    free(text);
}

// Fields of single layers change numbers in every family.
static void refuse_fields_of_layers(Elaborator *e, const json_t *lists) {
    const char *name;
    json_t *list;
    json_object_foreach((json_t *)lists, name, list) {
        if (map_get(&e->configs, arena_printf(e->arena, "per_layer.%s", name))) continue;
        diag_error(config_loc(e, "per_layer_config"),
                   "\"per_layer_config\" sets \"%s\" by layer, which %s does not support", name,
                   description_name(e));
        e->errors++;
    }
}

// Rotary embeddings of single kinds of layers, which checkpoint/rope_parameters.c leaves in these
// fields.
static void refuse_rotary_of_layers(Elaborator *e, const json_t *config) {
    static const char *const names[] = {"rope_parameters", "rope_local_scaling"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!json_is_object(json_object_get(config, names[i])) || is_known(e, names[i])) continue;
        diag_error(config_loc(e, "rope_parameters"),
                   "\"rope_parameters\" has parameters of single layers, which %s does not support",
                   description_name(e));
        e->errors++;
    }
}

static bool is_ours(const Elaborator *e) {
    const char *name = e->main->source->name;
    return !strncmp(name, "models/", strlen("models/")) || !strncmp(name, "eyes/", strlen("eyes/"));
}

// `ignored`: where fields that a description of burin's ignores are listed.
static void check_fields(Elaborator *e, const char *prefix, const json_t *object,
                         const char **ignored) {
    const char *name;
    json_t *j;
    json_object_foreach((json_t *)object, name, j) {
        const char *path = *prefix ? arena_printf(e->arena, "%s.%s", prefix, name) : name;
        if (is_ignored_config(name) || is_off(j)) continue;
        if (!is_known(e, path) && is_ours(e))
            *ignored = arena_printf(e->arena, "%s%s%s", *ignored, **ignored ? ", " : "",
                                    config_called(e, path));
        else if (!is_known(e, path))
            warn_unknown(e, path, j);
        else if (json_is_object(j) && has_known_fields(e, path, j))
            check_fields(e, path, j, ignored);
    }
}

// Descriptions that come with burin declare every field that their references read
// (tests/families/fields.txt): another one is ignored, as it is there. One that a description of
// the user's does not know may change the numbers: a warning.
void config_report(Elaborator *e) {
    const Checkpoint *c = e->options->checkpoint;
    const char *ignored = "";
    if (c && c->config && !e->errors) {
        refuse_fields_of_layers(e, json_object_get(c->config, "per_layer"));
        refuse_rotary_of_layers(e, c->config);
    }
    if (c && c->config && !e->errors) check_fields(e, "", c->config, &ignored);
    if (*ignored && e->options->verbose)
        fprintf(stderr, "  %s: %s ignores %s\n", config_file(e), description_name(e), ignored);
}
