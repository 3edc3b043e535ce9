// Filters of lists and dictionaries.
#include <string.h>

#include "template_value.h"

#define FILTER(name) \
    static burin_value name(burin_render_state *r, burin_value of, const burin_value *a)

// ----------------------------------------------------------------------------------------- sorting
typedef struct sorting {
    burin_render_state *r;
    burin_value attribute;  // compared value of an item; not a string: the item itself
    bool with_case;
} sorting;

static burin_value sorting_part(const sorting *s, burin_value key) {
    if (key.kind == BURIN_STRING && !s->with_case) return burin_change_case(s->r, key, "lower");
    return key;
}

// attribute="a,b" compares several.
static burin_value sorting_key(const sorting *s, burin_value item) {
    burin_value path = s->attribute;
    if (path.kind == BURIN_UNDEFINED || path.kind == BURIN_NONE) return sorting_part(s, item);
    const char *comma = path.kind == BURIN_STRING ? memchr(path.text, ',', path.length) : NULL;
    if (!comma) return sorting_part(s, burin_path(s->r, item, path));
    burin_value keys = burin_list_new(s->r, BURIN_LIST, 0);
    for (size_t from = 0, end; from <= path.length; from = end + 1) {
        comma = memchr(path.text + from, ',', path.length - from);
        end = comma ? (size_t)(comma - path.text) : path.length;
        burin_list_add(
            s->r, keys,
            sorting_part(s, burin_path(s->r, item, burin_slice(path, from, end - from))));
    }
    return keys;
}

typedef struct keyed {
    burin_value key, item;
} keyed;

static void merge(burin_render_state *r, const keyed *from, keyed *to, uint32_t ends[3],
                  bool down) {
    uint32_t left = ends[0], right = ends[1];
    for (uint32_t i = ends[0]; i < ends[2]; i++) {
        bool take_right = left == ends[1];
        if (!take_right && right < ends[2])
            take_right = down ? burin_order(r, from[left].key, from[right].key) < 0
                              : burin_order(r, from[right].key, from[left].key) < 0;
        to[i] = from[take_right ? right++ : left++];
    }
}

// Stable, also downwards, as Python's.
static burin_value sorted(const sorting *s, burin_value list, bool down) {
    burin_render_state *r = s->r;
    uint32_t n = list.list->n;
    keyed *from = burin_render_allocate(r, (n + 1) * sizeof *from),
          *to = burin_render_allocate(r, (n + 1) * sizeof *to), *swap;
    for (uint32_t i = 0; i < n; i++)
        from[i] = (keyed){sorting_key(s, list.list->items[i]), list.list->items[i]};
    for (uint32_t width = 1; width < n; width *= 2, swap = from, from = to, to = swap)
        for (uint32_t at = 0; at < n; at += 2 * width) {
            uint32_t middle = n - at < width ? n : at + width,
                     end = n - at < 2 * width ? n : at + 2 * width;
            merge(r, from, to, (uint32_t[]){at, middle, end}, down);
        }
    burin_value out = burin_list_new(r, BURIN_LIST, n);
    for (uint32_t i = 0; i < n; i++) burin_list_add(r, out, from[i].item);
    return out;
}

FILTER(filter_sort) {
    const sorting s = {r, a[2], burin_truth(a[1])};
    return sorted(&s, burin_items(r, of), burin_truth(a[0]));
}

static burin_value pairs_of(burin_render_state *r, burin_value of) {
    burin_value list = burin_list_new(r, BURIN_LIST, 0);
    if (of.kind != BURIN_DICT)
        burin_render_fail(r, "%s has no keys and values", burin_kind_names[of.kind]);
    for (uint32_t i = 0; i < of.dict->n; i++) {
        burin_value pair = burin_list_new(r, BURIN_TUPLE, 2);
        burin_list_add(r, pair, of.dict->pairs[i].key);
        burin_list_add(r, pair, of.dict->pairs[i].value);
        burin_list_add(r, list, pair);
    }
    return list;
}

FILTER(filter_dictsort) {
    bool by_value = burin_is_text(a[1], "value");
    const sorting s = {r, burin_integer(by_value), burin_truth(a[0])};
    return sorted(&s, pairs_of(r, of), burin_truth(a[2]));
}

FILTER(filter_items) {
    return (void)a, of.kind == BURIN_UNDEFINED ? burin_list_new(r, BURIN_LIST, 0) : pairs_of(r, of);
}

static burin_value extreme(burin_render_state *r, burin_value of, const burin_value *a, int sign) {
    const sorting s = {r, a[1], burin_truth(a[0])};
    const burin_list *list = burin_items(r, of).list;
    burin_render_step(r, list->n);
    burin_value best = burin_undefined("the extreme of nothing", 22), best_key = best;
    for (uint32_t i = 0; i < list->n; i++) {
        burin_value key = sorting_key(&s, list->items[i]);
        if (!i || sign * burin_order(r, key, best_key) > 0) best = list->items[i], best_key = key;
    }
    return best;
}

FILTER(filter_max) { return extreme(r, of, a, 1); }
FILTER(filter_min) { return extreme(r, of, a, -1); }

FILTER(filter_unique) {
    const sorting s = {r, a[1], burin_truth(a[0])};
    burin_value items = burin_items(r, of), keys = burin_list_new(r, BURIN_LIST, 0),
                out = burin_list_new(r, BURIN_LIST, 0);
    for (uint32_t i = 0; i < items.list->n; i++) {
        burin_value key = sorting_key(&s, items.list->items[i]);
        if (burin_contains(r, keys, key)) continue;
        burin_list_add(r, keys, key);
        burin_list_add(r, out, items.list->items[i]);
    }
    return out;
}

// Of each value of the attribute, in order, its items: a pair whose parts are also called grouper
// and list.
static burin_value add_group(burin_render_state *r, burin_value groups, burin_value grouper) {
    burin_value group = burin_list_new(r, BURIN_TUPLE, 2),
                members = burin_list_new(r, BURIN_LIST, 0);
    burin_list_add(r, group, grouper);
    burin_list_add(r, group, members);
    group.list->is_group = true;
    burin_list_add(r, groups, group);
    return members;
}

FILTER(filter_groupby) {
    const sorting s = {r, burin_integer(0), burin_truth(a[2])};
    burin_value items = burin_items(r, of), pairs = burin_list_new(r, BURIN_LIST, 0),
                groups = burin_list_new(r, BURIN_LIST, 0);
    burin_value last = burin_none(), members = last;
    bool defaults = a[1].kind != BURIN_UNDEFINED && a[1].kind != BURIN_NONE;
    for (uint32_t i = 0; i < items.list->n; i++) {
        burin_value pair = burin_list_new(r, BURIN_TUPLE, 2),
                    grouper = burin_path(r, items.list->items[i], a[0]);
        burin_list_add(r, pair, grouper.kind == BURIN_UNDEFINED && defaults ? a[1] : grouper);
        burin_list_add(r, pair, items.list->items[i]);
        burin_list_add(r, pairs, pair);
    }
    pairs = sorted(&s, pairs, false);
    for (uint32_t i = 0; i < pairs.list->n; i++) {
        burin_value pair = pairs.list->items[i], key = sorting_key(&s, pair);
        if (!i || !burin_equal(r, key, last)) members = add_group(r, groups, pair.list->items[0]);
        burin_list_add(r, members, pair.list->items[1]);
        last = key;
    }
    return groups;
}

// ------------------------------------------------------------------------------------ map, select,
// reject
static burin_arguments rest_of(const burin_value *a, uint32_t from) {
    const burin_list *list = a[0].list;
    uint32_t used = list->n < from ? list->n : from;
    return (burin_arguments){.n = list->n - used,
                             .values = used ? list->items + used : list->items,
                             .n_named = a[1].dict->n,
                             .named = a[1].dict->pairs};
}

// From an empty value, also from none, nothing is selected.
static burin_value items_if_any(burin_render_state *r, burin_value of) {
    return burin_truth(of) ? burin_items(r, of) : burin_list_new(r, BURIN_LIST, 0);
}

FILTER(filter_map) {
    burin_value out = burin_list_new(r, BURIN_LIST, 0), items = items_if_any(r, of);
    const burin_value *attribute = burin_dict_find_text(r, a[1], "attribute"),
                      *absent = burin_dict_find_text(r, a[1], "default");
    burin_arguments rest = rest_of(a, 1);
    burin_render_step(r, items.list->n);
    if (!attribute && !a[0].list->n) burin_render_fail(r, "map takes a filter or an attribute");
    for (uint32_t i = 0; i < items.list->n; i++) {
        burin_value item = items.list->items[i];
        burin_value mapped =
            attribute ? burin_path(r, item, *attribute)
                      : burin_filter(r, burin_string(r, a[0].list->items[0]), item, &rest);
        burin_list_add(r, out,
                       attribute && absent && mapped.kind == BURIN_UNDEFINED ? *absent : mapped);
    }
    return out;
}

// Items whose test gives `wanted`; with an attribute, the first argument, its value is tested.
static burin_value chosen(burin_render_state *r, burin_value of, const burin_value *a, bool wanted,
                          bool attribute) {
    burin_value out = burin_list_new(r, BURIN_LIST, 0), items = items_if_any(r, of);
    const burin_list *given = a[0].list;
    burin_arguments rest = rest_of(a, attribute ? 2 : 1);
    burin_render_step(r, items.list->n);
    if (attribute && !given->n) burin_render_fail(r, "an attribute to choose by is missing");
    for (uint32_t i = 0; i < items.list->n; i++) {
        burin_value item = items.list->items[i],
                    tested = attribute ? burin_path(r, item, given->items[0]) : item;
        bool tests = given->n > attribute;
        bool holds = tests ? burin_test(r, burin_string(r, given->items[attribute]), tested, &rest)
                           : burin_truth(tested);
        if (holds == wanted) burin_list_add(r, out, item);
    }
    return out;
}

FILTER(filter_select) { return chosen(r, of, a, true, false); }
FILTER(filter_reject) { return chosen(r, of, a, false, false); }
FILTER(filter_selectattr) { return chosen(r, of, a, true, true); }
FILTER(filter_rejectattr) { return chosen(r, of, a, false, true); }

// ---------------------------------------------------------------------------------------- the rest
FILTER(filter_list) {
    (void)a;
    burin_value items = burin_items(r, of), out = burin_list_new(r, BURIN_LIST, items.list->n);
    for (uint32_t i = 0; i < items.list->n; i++) burin_list_add(r, out, items.list->items[i]);
    return out;
}

FILTER(filter_first) {
    (void)a;
    const burin_list *list = burin_items(r, of).list;
    return list->n ? list->items[0] : burin_undefined("the first of nothing", 20);
}

FILTER(filter_last) {
    (void)a;
    const burin_list *list = burin_items(r, of).list;
    return list->n ? list->items[list->n - 1] : burin_undefined("the last of nothing", 19);
}

FILTER(filter_reverse) {
    (void)a;
    const burin_value back[] = {burin_none(), burin_none(), burin_integer(-1)};
    return burin_range_of(r, of.kind == BURIN_STRING ? of : burin_items(r, of), back);
}

FILTER(filter_join) {
    burin_value items = burin_items(r, of),
                between = a[0].kind == BURIN_UNDEFINED ? BURIN_LITERAL("") : burin_string(r, a[0]);
    if (a[1].kind != BURIN_UNDEFINED && a[1].kind != BURIN_NONE) {
        burin_value mapped = burin_list_new(r, BURIN_LIST, items.list->n);
        for (uint32_t i = 0; i < items.list->n; i++)
            burin_list_add(r, mapped, burin_path(r, items.list->items[i], a[1]));
        items = mapped;
    }
    size_t begin = burin_text_begin(r);
    burin_render_step(r, items.list->n);
    for (uint32_t i = 0; i < items.list->n; i++) {
        if (i) burin_text_add(r, between.text, between.length);
        burin_text_value(r, items.list->items[i]);
    }
    return burin_text_end(r, begin);
}

FILTER(filter_sum) {
    burin_value sum = a[1].kind == BURIN_UNDEFINED ? burin_integer(0) : a[1];
    const burin_list *list = burin_items(r, of).list;
    burin_render_step(r, list->n);
    bool attribute = a[0].kind != BURIN_UNDEFINED && a[0].kind != BURIN_NONE;
    for (uint32_t i = 0; i < list->n; i++)
        sum = burin_add(r, sum, attribute ? burin_path(r, list->items[i], a[0]) : list->items[i]);
    return sum;
}

static bool is_filled(burin_value with) {
    return with.kind != BURIN_UNDEFINED && with.kind != BURIN_NONE;
}

FILTER(filter_batch) {
    burin_value items = burin_items(r, of), out = burin_list_new(r, BURIN_LIST, 0), part = out;
    if (a[0].kind != BURIN_INTEGER || a[0].integer < 1)
        burin_render_fail(r, "batch takes how many items go together");
    for (uint32_t i = 0; i < items.list->n; i++) {
        if (i % a[0].integer == 0) burin_list_add(r, out, part = burin_list_new(r, BURIN_LIST, 0));
        burin_list_add(r, part, items.list->items[i]);
    }
    if (is_filled(a[1]) && out.list->n)
        while (part.list->n < a[0].integer) burin_list_add(r, part, a[1]);
    return out;
}

// The number of lists; the first ones have one item more if they are uneven, and the others are
// filled.
FILTER(filter_slice) {
    enum { MOST_SLICES = 1000 };
    burin_value items = burin_items(r, of), out = burin_list_new(r, BURIN_LIST, 0);
    if (a[0].kind != BURIN_INTEGER || a[0].integer < 1 || a[0].integer > MOST_SLICES)
        burin_render_fail(r, "slice takes how many lists there are to be, at most %d", MOST_SLICES);
    uint32_t slices = (uint32_t)a[0].integer, more = items.list->n % slices, at = 0;
    for (uint32_t i = 0; i < slices; i++) {
        burin_value part = burin_list_new(r, BURIN_LIST, 0);
        burin_list_add(r, out, part);
        for (uint32_t n = items.list->n / slices + (i < more); n; n--)
            burin_list_add(r, part, items.list->items[at++]);
        if (is_filled(a[1]) && i >= more) burin_list_add(r, part, a[1]);
    }
    return out;
}

const burin_builtin_row burin_list_filter_rows[] = {
    {"sort", filter_sort, "reverse= case_sensitive= attribute="},
    {"dictsort", filter_dictsort, "case_sensitive= by= reverse="},
    {"items", filter_items, ""},
    {"max", filter_max, "case_sensitive= attribute="},
    {"min", filter_min, "case_sensitive= attribute="},
    {"unique", filter_unique, "case_sensitive= attribute="},
    {"groupby", filter_groupby, "attribute default= case_sensitive="},
    {"map", filter_map, "*"},
    {"select", filter_select, "*"},
    {"reject", filter_reject, "*"},
    {"selectattr", filter_selectattr, "*"},
    {"rejectattr", filter_rejectattr, "*"},
    {"list", filter_list, ""},
    {"first", filter_first, ""},
    {"last", filter_last, ""},
    {"reverse", filter_reverse, ""},
    {"join", filter_join, "d= attribute="},
    {"sum", filter_sum, "attribute= start="},
    {"batch", filter_batch, "linecount fill_with="},
    {"slice", filter_slice, "slices fill_with="},
    {0},
};
