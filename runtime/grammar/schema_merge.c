// The intersection of two schemas: allOf, and keywords next to $ref and anyOf. Intersections beyond
// one schema are refused.
#include <string.h>

#include "schema.h"

static burin_value merge_properties(burin_schema_writer *w, burin_value a, burin_value b) {
    burin_value both = burin_dict_new(&w->r);
    if (a.kind != BURIN_DICT || b.kind != BURIN_DICT)
        burin_schema_fail(w, "properties must be an object");
    for (uint32_t i = 0; i < a.dict->n; i++)
        burin_dict_set(&w->r, both, a.dict->pairs[i].key, a.dict->pairs[i].value);
    for (uint32_t i = 0; i < b.dict->n; i++) {
        const burin_pair *p = &b.dict->pairs[i];
        const burin_value *there = burin_dict_find(&w->r, both, p->key);
        burin_dict_set(&w->r, both, p->key,
                       there ? burin_schema_merge(w, *there, p->value) : p->value);
    }
    return both;
}

static burin_value join_required(burin_schema_writer *w, burin_value a, burin_value b) {
    burin_value all = burin_list_new(&w->r, BURIN_LIST, 0);
    if (a.kind != BURIN_LIST || b.kind != BURIN_LIST)
        burin_schema_fail(w, "required must be a list");
    for (uint32_t i = 0; i < a.list->n; i++) burin_list_add(&w->r, all, a.list->items[i]);
    for (uint32_t i = 0; i < b.list->n; i++) burin_list_add(&w->r, all, b.list->items[i]);
    return all;
}

// One keyword in both.
static burin_value merge_keyword(burin_schema_writer *w, burin_value key, burin_value a,
                                 burin_value b) {
    static const char *const largest[] = {"minimum", "minLength", "minItems", "exclusiveMinimum"},
                             *const least[] = {"maximum", "maxLength", "maxItems",
                                               "exclusiveMaximum"},
                             *const silent[] = {"title",    "description", "default",
                                                "examples", "$comment",    "$id"};
    if (burin_is_text(key, "properties")) return merge_properties(w, a, b);
    if (burin_is_text(key, "required")) return join_required(w, a, b);
    for (int i = 0; i < 6; i++)
        if (burin_is_text(key, silent[i])) return a;
    for (int i = 0; i < 4 && burin_is_number(a) && burin_is_number(b); i++) {
        if (burin_is_text(key, largest[i])) return burin_order(&w->r, a, b) > 0 ? a : b;
        if (burin_is_text(key, least[i])) return burin_order(&w->r, a, b) < 0 ? a : b;
    }
    if (burin_equal(&w->r, a, b)) return a;
    char name[64];
    size_t n = key.length < sizeof name - 1 ? key.length : sizeof name - 1;
    memcpy(name, key.text, n);
    name[n] = 0;
    burin_schema_fail(w, "two different values of %s in what must hold together", name);
}

// Properties of one that the other forbids would have to go.
static void check_closed(burin_schema_writer *w, burin_value a, burin_value b) {
    const burin_value *closed = burin_schema_key(w, a, "additionalProperties"),
                      *own = burin_schema_key(w, a, "properties"),
                      *other = burin_schema_key(w, b, "properties");
    if (!closed || !other || other->kind != BURIN_DICT ||
        (closed->kind == BURIN_BOOL && closed->integer))
        return;
    for (uint32_t i = 0; i < other->dict->n; i++)
        if (!own || own->kind != BURIN_DICT ||
            !burin_dict_find(&w->r, *own, other->dict->pairs[i].key))
            burin_schema_fail(
                w, "additionalProperties beside properties of another schema is not supported");
}

burin_value burin_schema_merge(burin_schema_writer *w, burin_value a, burin_value b) {
    if (a.kind == BURIN_BOOL && a.integer) return b;
    if (b.kind == BURIN_BOOL && b.integer) return a;
    if (a.kind != BURIN_DICT || b.kind != BURIN_DICT)
        burin_schema_fail(w, "a schema must be an object or true here");
    burin_value both = burin_dict_new(&w->r);
    check_closed(w, a, b);
    check_closed(w, b, a);
    for (uint32_t i = 0; i < a.dict->n; i++)
        burin_dict_set(&w->r, both, a.dict->pairs[i].key, a.dict->pairs[i].value);
    for (uint32_t i = 0; i < b.dict->n; i++) {
        const burin_pair *p = &b.dict->pairs[i];
        const burin_value *there = burin_dict_find(&w->r, both, p->key);
        burin_dict_set(&w->r, both, p->key,
                       there ? merge_keyword(w, p->key, *there, p->value) : p->value);
    }
    return both;
}
