// Objects, whose properties come in the schema's order, and arrays.
#include <stdio.h>
#include <string.h>

#include "schema.h"

typedef struct property {
    burin_value key;
    int rule;
    bool required;
} property;

enum { MOST_PROPERTIES = 1024 };

bool burin_schema_lists(burin_value required, burin_value key) {
    for (uint32_t i = 0; required.kind == BURIN_LIST && i < required.list->n; i++) {
        burin_value name = required.list->items[i];
        if (name.kind == BURIN_STRING && name.length == key.length &&
            !memcmp(name.text, key.text, key.length))
            return true;
    }
    return false;
}

// `"name" ws ":" ws value`, as a helper rule; returns its number.
static int write_pair(burin_schema_writer *w, const property *p) {
    const burin_json_style own = {
        .indent = burin_none(), .between = BURIN_LITERAL(","), .behind_key = BURIN_LITERAL(":")};
    burin_value name = burin_json_text(&w->r, p->key, &own);
    burin_growing_add(&w->rules, "h%d ::= \"", w->n_helpers);
    for (const char *at = name.text, *end = name.text + name.length; at < end;)
        burin_growing_code(&w->rules, burin_character(&at, end));
    burin_growing_add(&w->rules, "\" ws \":\" ws s%d\n", p->rule);
    return w->n_helpers++;
}

// ------------------------------------------------------------------------------------- other names
// Names of `n` properties whose first `bytes` bytes are equal: all other continuations, up to the
// end of the name.
typedef struct names {
    burin_value name[MOST_PROPERTIES];
    int n;
} names;

static int other_names(burin_schema_writer *w, const names *all, const char *prefix, size_t bytes);

static bool begins_with(burin_value name, const char *prefix, size_t bytes) {
    return name.length >= bytes && !memcmp(name.text, prefix, bytes);
}

// The characters after the prefix in some name, once each; helper rules for their continuations are
// written first.
static void other_names_behind(burin_schema_writer *w, const names *all, const char *prefix,
                               size_t bytes, burin_growing *g) {
    char longer[256];
    burin_growing stops = {0};
    for (int i = 0; i < all->n; i++) {
        const char *at = all->name[i].text + bytes, *end = all->name[i].text + all->name[i].length,
                   *from = at;
        if (!begins_with(all->name[i], prefix, bytes) || at == end) continue;
        uint32_t code = burin_character(&at, end);
        size_t n = bytes + (size_t)(at - from);
        bool seen = false;
        for (int j = 0; j < i && !seen; j++) seen = begins_with(all->name[j], all->name[i].text, n);
        if (seen) continue;
        if (n >= sizeof longer)
            burin_schema_fail(w, "a property's name is too long beside additionalProperties");
        memcpy(longer, all->name[i].text, n);
        burin_growing_add(g, " | [");
        burin_growing_code(g, code), burin_growing_code(&stops, code);
        burin_growing_add(g, "] h%d", other_names(w, all, longer, n));
    }
    burin_growing_add(g, " | [^\"\\\\\\x00-\\x1f%s] plain*", stops.n ? stops.bytes : "");
    burin_growing_free(&stops);
}

static int other_names(burin_schema_writer *w, const names *all, const char *prefix, size_t bytes) {
    burin_growing g = {0};
    bool is_name = false;
    for (int i = 0; i < all->n; i++)
        is_name |= all->name[i].length == bytes && begins_with(all->name[i], prefix, bytes);
    if (++w->depth >= BURIN_SCHEMA_DEPTH)
        burin_schema_fail(w, "a property's name is too long beside additionalProperties");
    burin_growing_add(&g, is_name ? "[] " : "\"\"");
    other_names_behind(w, all, prefix, bytes, &g);
    burin_growing_add(&w->rules, "h%d ::= ", w->n_helpers);
    burin_growing_bytes(&w->rules, g.bytes, g.n);
    burin_growing_add(&w->rules, "\n");
    burin_growing_free(&g);
    w->depth--;
    return w->n_helpers++;
}

void burin_schema_other_strings(burin_schema_writer *w, burin_growing *g, burin_value texts) {
    names *all = burin_render_allocate(&w->r, sizeof *all);
    if (texts.list->n > MOST_PROPERTIES)
        burin_schema_fail(w, "not of more than %d values", MOST_PROPERTIES);
    all->n = (int)texts.list->n;
    for (int i = 0; i < all->n; i++) all->name[i] = texts.list->items[i];
    burin_growing_add(g, "\"\\\"\" h%d \"\\\"\"", other_names(w, all, "", 0));
}

// The rule of names, a schema of strings; -1: any names.
static int rule_of_names(burin_schema_writer *w, burin_value schema, int n) {
    const burin_value *names = burin_schema_key(w, schema, "propertyNames");
    if (!names || burin_schema_is_any(w, *names)) return -1;
    const burin_value *type =
        names->kind == BURIN_DICT ? burin_schema_key(w, *names, "type") : NULL;
    if (type && burin_is_text(*type, "string") && names->dict->n == 1) return -1;
    if (n || (type && !burin_is_text(*type, "string")) || names->kind != BURIN_DICT) {
        burin_schema_miss(w,
                          "propertyNames is supported for strings, where no properties are named");
        return -1;
    }
    burin_value strings = burin_dict_new(&w->r);
    burin_dict_set(&w->r, strings, BURIN_LITERAL("type"), BURIN_LITERAL("string"));
    return burin_schema_rule(w, burin_schema_merge(w, *names, strings), "/propertyNames");
}

// A name other than the properties', and its value: a helper rule. by_name: the rule of names, or
// -1.
static int write_other_pair(burin_schema_writer *w, const property *p, int n, const int rules[2]) {
    int rule = rules[0], by_name = rules[1];
    if (!n && by_name >= 0) {
        burin_growing_add(&w->rules, "h%d ::= s%d ws \":\" ws s%d\n", w->n_helpers, by_name, rule);
        return w->n_helpers++;
    }
    if (!n) {
        burin_growing_add(&w->rules, "h%d ::= string ws \":\" ws s%d\n", w->n_helpers, rule);
        return w->n_helpers++;
    }
    names *all = burin_render_allocate(&w->r, sizeof *all);
    all->n = n;
    for (int i = 0; i < n; i++) all->name[i] = p[i].key;
    int name = other_names(w, all, "", 0);
    burin_growing_add(&w->rules, "h%d ::= \"\\\"\" h%d \"\\\"\" ws \":\" ws s%d\n", w->n_helpers,
                      name, rule);
    return w->n_helpers++;
}

// ----------------------------------------------------------------------------------------- objects
static void add_property(burin_schema_writer *w, property *p, int *n, burin_value key,
                         burin_value schema) {
    char step[80];
    if (*n == MOST_PROPERTIES) burin_schema_fail(w, "more than %d properties", MOST_PROPERTIES);
    snprintf(step, sizeof step, "/properties/%.*s", (int)(key.length < 60 ? key.length : 60),
             key.text);
    p[*n] = (property){.key = key, .rule = burin_schema_rule(w, schema, step)};
    ++*n;
}

static int read_properties(burin_schema_writer *w, burin_value schema, property *p) {
    const burin_value *properties = burin_schema_key(w, schema, "properties"),
                      *required = burin_schema_key(w, schema, "required"),
                      *more = burin_schema_key(w, schema, "additionalProperties");
    int n = 0;
    if (properties && properties->kind != BURIN_DICT)
        burin_schema_fail(w, "properties must be an object");
    if (required && required->kind != BURIN_LIST) burin_schema_fail(w, "required must be a list");
    for (uint32_t i = 0; properties && i < properties->dict->n; i++) {
        add_property(w, p, &n, properties->dict->pairs[i].key, properties->dict->pairs[i].value);
        p[n - 1].required = required && burin_schema_lists(*required, p[n - 1].key);
    }
    for (uint32_t i = 0; required && i < required->list->n; i++) {
        burin_value key = required->list->items[i];
        bool known = false;
        if (key.kind != BURIN_STRING) burin_schema_fail(w, "required must be a list of names");
        for (int k = 0; k < n && !known; k++) known = burin_equal(&w->r, p[k].key, key);
        if (known) continue;
        if (more && more->kind == BURIN_BOOL && !more->integer)
            burin_schema_fail(w, "a required property that additionalProperties forbids");
        add_property(w, p, &n, key, more ? *more : burin_boolean(true));
        p[n - 1].required = true;
    }
    return n;
}

// A name by a pattern, and its value: a helper rule.
static int write_pattern_pair(burin_schema_writer *w, const burin_pair *pattern) {
    burin_growing g = {0};
    int rule = burin_schema_rule(w, pattern->value, "/patternProperties");
    burin_schema_pattern(w, &g, pattern->key, (burin_span_of_lengths){0, -1});
    burin_growing_add(&w->rules, "h%d ::= \"\\\"\" ", w->n_helpers);
    burin_growing_bytes(&w->rules, g.bytes, g.n);
    burin_growing_add(&w->rules, " \"\\\"\" ws \":\" ws s%d\n", rule);
    burin_growing_free(&g);
    return w->n_helpers++;
}

// The number of properties without names: "h3 (ws "," ws h3){1,4} ws". Otherwise the names decide.
static bool write_counted(burin_schema_writer *w, burin_growing *g, burin_value schema,
                          const int n_other[2]) {
    int n = n_other[0], other = n_other[1];
    int64_t least = burin_schema_count(w, schema, "minProperties", 0),
            most = burin_schema_count(w, schema, "maxProperties", -1);
    const burin_value *required = burin_schema_key(w, schema, "required");
    int64_t certain = required ? required->list->n : 0;
    if (most >= 0 && most < least) burin_schema_fail(w, "maxProperties is less than minProperties");
    bool counts = least > certain || (most >= 0 && (other >= 0 || most < n));
    if (!counts) return false;
    if (n || other < 0) {
        burin_schema_miss(
            w, "minProperties and maxProperties are supported where no properties are named");
        return false;
    }
    if (most == 0) return burin_growing_add(g, "\"{\" ws \"}\""), true;
    burin_growing_add(g, "\"{\" ws (h%d (ws \",\" ws h%d){%lld,", other, other,
                      (long long)(least ? least - 1 : 0));
    if (most >= 0) burin_growing_add(g, "%lld", (long long)(most - 1));
    burin_growing_add(g, "} ws)%s \"}\"", least ? "" : "?");
    return true;
}

// The rule of one more property that no name is of, or -1. Absent: any, where no properties are
// named, else none.
static int read_other(burin_schema_writer *w, burin_value schema, const property *p, int n) {
    const burin_value *more = burin_schema_key(w, schema, "additionalProperties"),
                      *patterns = burin_schema_key(w, schema, "patternProperties");
    bool closed = more && more->kind == BURIN_BOOL && !more->integer;
    if (patterns && patterns->kind != BURIN_DICT)
        burin_schema_fail(w, "patternProperties must be an object");
    if (patterns && patterns->dict->n == 1 && closed && !n)
        return write_pattern_pair(w, patterns->dict->pairs);
    for (uint32_t i = 0; patterns && i < patterns->dict->n; i++)
        if (!burin_schema_is_any(w, patterns->dict->pairs[i].value)) {
            burin_schema_miss(
                w,
                "patternProperties is supported for one pattern beside additionalProperties false");
            break;
        }
    if (closed) return -1;
    int by_name = rule_of_names(w, schema, n);
    if (!more && burin_schema_key(w, schema, "properties")) return -1;
    int rule = burin_schema_rule(w, more ? *more : burin_boolean(true), "/additionalProperties");
    return write_other_pair(w, p, n, (int[]){rule, by_name});
}

// Two helper rules a property, from the last on: the continuation after an earlier property, and
// without one.
void burin_schema_object(burin_schema_writer *w, burin_growing *g, burin_value schema) {
    property *p = burin_render_allocate(&w->r, MOST_PROPERTIES * sizeof *p);
    int n = read_properties(w, schema, p), other = read_other(w, schema, p, n), next = w->n_helpers;
    if (write_counted(w, g, schema, (int[]){n, other})) return;
    w->n_helpers += 2;
    if (other < 0)
        burin_growing_add(&w->rules, "h%d ::= \"\"\nh%d ::= \"\"\n", next, next + 1);
    else
        burin_growing_add(&w->rules,
                          "h%d ::= (ws \",\" ws h%d)*\nh%d ::= (h%d (ws \",\" ws h%d)* ws)?\n",
                          next, other, next + 1, other, other);
    for (int i = n - 1; i >= 0; i--) {
        int pair = write_pair(w, &p[i]), own = w->n_helpers;
        w->n_helpers += 2;
        const char *option = p[i].required ? "" : "?";
        burin_growing_add(&w->rules, "h%d ::= (ws \",\" ws h%d)%s h%d\n", own, pair, option, next);
        burin_growing_add(&w->rules, "h%d ::= h%d h%d ws", own + 1, pair, next);
        if (!p[i].required) burin_growing_add(&w->rules, " | h%d", next + 1);
        burin_growing_add(&w->rules, "\n");
        next = own;
    }
    burin_growing_add(g, "\"{\" ws h%d \"}\"", next + 1);
}

// ------------------------------------------------------------------------------------------ arrays
typedef struct array_form {
    int rules[MOST_PROPERTIES], n;  // of the first items
    int items;                      // of the other names; -1: there are none
    int64_t least, most;            // most -1: any number
} array_form;

static void read_array(burin_schema_writer *w, burin_value schema, array_form *a) {
    const burin_value *first = burin_schema_key(w, schema, "prefixItems"),
                      *items = burin_schema_key(w, schema, "items");
    char step[64];
    a->least = burin_schema_count(w, schema, "minItems", 0),
    a->most = burin_schema_count(w, schema, "maxItems", -1);
    if (first && (first->kind != BURIN_LIST || first->list->n > MOST_PROPERTIES))
        burin_schema_fail(w, "prefixItems must be a list of at most %d schemas", MOST_PROPERTIES);
    for (uint32_t i = 0; first && i < first->list->n; i++) {
        snprintf(step, sizeof step, "/prefixItems/%u", i);
        a->rules[a->n++] = burin_schema_rule(w, first->list->items[i], step);
    }
    bool none = items && items->kind == BURIN_BOOL && !items->integer;
    a->items = none ? -1 : burin_schema_rule(w, items ? *items : burin_boolean(true), "/items");
    if (none && (a->most < 0 || a->most > a->n)) a->most = a->n;
    if (a->most >= 0 && a->most < a->least)
        burin_schema_fail(w, "minItems is more than there may be items");
}

// Helper rules from the back: the continuation after `i` existing items.
static int write_items_behind(burin_schema_writer *w, const array_form *a, int i) {
    int next = i < a->n && i != a->most ? write_items_behind(w, a, i + 1) : -1;
    burin_growing_add(&w->rules, "h%d ::= ", w->n_helpers);
    if (i == a->most || (i >= a->n && a->items < 0))
        burin_growing_add(&w->rules, "\"\"\n");
    else if (i < a->n)
        burin_growing_add(&w->rules, "(ws \",\" ws s%d h%d)%s\n", a->rules[i], next,
                          i < a->least ? "" : "?");
    else if (a->most < 0)
        burin_growing_add(&w->rules, "(ws \",\" ws s%d){%lld,}\n", a->items,
                          (long long)(a->least > i ? a->least - i : 0));
    else
        burin_growing_add(&w->rules, "(ws \",\" ws s%d){%lld,%lld}\n", a->items,
                          (long long)(a->least > i ? a->least - i : 0), (long long)(a->most - i));
    return w->n_helpers++;
}

void burin_schema_array(burin_schema_writer *w, burin_growing *g, burin_value schema) {
    array_form *a = burin_render_allocate(&w->r, sizeof *a);
    a->n = 0;
    read_array(w, schema, a);
    if (burin_schema_unique(w, g, schema, a->least, a->most)) return;
    if (a->most == 0 || (!a->n && a->items < 0)) {
        burin_growing_add(g, "\"[\" ws \"]\"");
        return;
    }
    int behind = write_items_behind(w, a, 1);
    burin_growing_add(g, "\"[\" ws (s%d h%d ws)%s \"]\"", a->n ? a->rules[0] : a->items, behind,
                      a->least ? "" : "?");
}
