// Values of templates: memory, lists, dictionaries, truth, equality, order, and strings that are
// being built.
#include "template_value.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

const char *const burin_kind_names[] = {"undefined", "none",         "a boolean",   "a number",
                                        "a number",  "a number",     "a string",    "a list",
                                        "a tuple",   "a dictionary", "a namespace", "a loop",
                                        "a macro",   "a function",   "a method",    "an object"};

void burin_render_fail(burin_render_state *r, const char *format, ...) {
    burin_rendering *out = r->out;
    int n = 0;
    if (r->place)
        n = burin_format(out->error, sizeof out->error,
                         "line %u, column %u of %s: ", r->place >> 12, r->place & 0xfff,
                         out->template_name ? out->template_name : "the template");
    if (n < 0 || n >= (int)sizeof out->error) n = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out->error + n, sizeof out->error - (size_t)n, format, arguments);
    va_end(arguments);
    longjmp(r->stop, 1);
}

static _Noreturn void fail_budget(burin_render_state *r) {
    char text[128];
    burin_budget_text(&r->budget, text, sizeof text);
    burin_render_fail(r, "%s", text);
}

void burin_render_step(burin_render_state *r, size_t steps) {
    if (!burin_spend(&r->budget, steps)) fail_budget(r);
}

void burin_render_enter(burin_render_state *r) {
    burin_render_step(r, 1);
    if (!burin_enter_level(&r->budget)) fail_budget(r);
}

void burin_render_leave(burin_render_state *r) { burin_leave_level(&r->budget); }

static _Noreturn void out_of_room(burin_render_state *r) {
    burin_render_fail(r, "rendering these messages takes more than %zu MB",
                      r->out->memory_bytes >> 20);
}

void *burin_render_allocate(burin_render_state *r, size_t bytes) {
    if (bytes > (size_t)(r->objects_end - r->objects)) out_of_room(r);
    void *memory = r->objects;
    bytes = (bytes + 15) & ~(size_t)15;
    r->objects =
        bytes > (size_t)(r->objects_end - r->objects) ? r->objects_end : r->objects + bytes;
    return memory;
}

// ------------------------------------------------------------------------------------------ making
burin_value burin_none(void) { return (burin_value){.kind = BURIN_NONE}; }

burin_value burin_undefined(const char *name, size_t bytes) {
    return (burin_value){.kind = BURIN_UNDEFINED, .text = name, .length = (uint32_t)bytes};
}

burin_value burin_boolean(bool b) { return (burin_value){.kind = BURIN_BOOL, .integer = b}; }

burin_value burin_integer(int64_t i) { return (burin_value){.kind = BURIN_INTEGER, .integer = i}; }

burin_value burin_real(double x) { return (burin_value){.kind = BURIN_FLOAT, .real = x}; }

burin_value burin_big(burin_render_state *r, const char *digits, size_t n) {
    bool minus = n && *digits == '-';
    const char *at = digits + (minus || (n && *digits == '+')), *end = digits + n;
    while (end - at > 1 && *at == '0') at++;
    size_t begin = burin_text_begin(r);
    if (minus) burin_text_char(r, '-');
    burin_text_add(r, at, (size_t)(end - at));
    burin_text_char(r, 0);
    burin_value big = burin_text_end(r, begin);
    big.length--, big.kind = BURIN_BIG;
    errno = 0;
    long long whole = strtoll(big.text, NULL, 10);
    return errno ? big : burin_integer(whole);
}

burin_value burin_string_of(const char *text, size_t bytes) {
    return (burin_value){.kind = BURIN_STRING, .text = text, .length = (uint32_t)bytes};
}

burin_value burin_slice(burin_value string, size_t from, size_t bytes) {
    string.text += from;
    string.length = (uint32_t)bytes;
    return string;
}

// More room for a list's or a dictionary's items, of which there are n.
static void *grown(burin_render_state *r, const void *items, uint32_t n, uint32_t *capacity,
                   size_t item_bytes) {
    *capacity = n ? 2 * n : 8;
    if (*capacity > BURIN_RENDER_ITEMS)
        burin_render_fail(r, "a list or dictionary has more than %d items", BURIN_RENDER_ITEMS);
    void *more = burin_render_allocate(r, *capacity * item_bytes);
    return n ? memcpy(more, items, n * item_bytes) : more;
}

burin_value burin_list_new(burin_render_state *r, burin_value_kind kind, uint32_t capacity) {
    burin_list *list = burin_render_allocate(r, sizeof *list);
    *list = (burin_list){.capacity = capacity};
    if (capacity > BURIN_RENDER_ITEMS)
        burin_render_fail(r, "a list or dictionary has more than %d items", BURIN_RENDER_ITEMS);
    if (capacity) list->items = burin_render_allocate(r, capacity * sizeof *list->items);
    return (burin_value){.kind = (uint8_t)kind, .list = list};
}

void burin_list_add(burin_render_state *r, burin_value value, burin_value item) {
    burin_list *list = value.list;
    if (list->n == list->capacity)
        list->items = grown(r, list->items, list->n, &list->capacity, sizeof *list->items);
    list->items[list->n++] = item;
}

burin_value burin_dict_new(burin_render_state *r) {
    burin_dict *dict = burin_render_allocate(r, sizeof *dict);
    *dict = (burin_dict){0};
    return (burin_value){.kind = BURIN_DICT, .dict = dict};
}

static bool is_same_string(burin_value a, burin_value b) {
    return a.length == b.length && !memcmp(a.text, b.text, a.length);
}

burin_value *burin_dict_find(burin_render_state *r, burin_value value, burin_value key) {
    burin_dict *dict = value.dict;
    burin_render_step(r, dict->n / 8);
    for (uint32_t i = 0; i < dict->n; i++) {
        burin_value k = dict->pairs[i].key;
        bool strings = k.kind == BURIN_STRING && key.kind == BURIN_STRING;
        if (strings && k.length == key.length) burin_render_step(r, k.length / 64);
        if (strings ? is_same_string(k, key) : burin_equal(r, k, key)) return &dict->pairs[i].value;
    }
    return NULL;
}

burin_value *burin_dict_find_text(burin_render_state *r, burin_value dict, const char *key) {
    return burin_dict_find(r, dict, burin_string_of(key, strlen(key)));
}

static void check_key(burin_render_state *r, burin_value key) {
    if (key.kind == BURIN_LIST || key.kind == BURIN_DICT)
        burin_render_fail(r, "%s cannot be a key", burin_kind_names[key.kind]);
    if (key.kind == BURIN_TUPLE)
        for (uint32_t i = 0; i < key.list->n; i++) check_key(r, key.list->items[i]);
}

void burin_dict_set(burin_render_state *r, burin_value value, burin_value key, burin_value item) {
    burin_dict *dict = value.dict;
    check_key(r, key);
    burin_value *there = burin_dict_find(r, value, key);
    if (there) {
        *there = item;
        return;
    }
    if (dict->n == dict->capacity)
        dict->pairs = grown(r, dict->pairs, dict->n, &dict->capacity, sizeof *dict->pairs);
    dict->pairs[dict->n++] = (burin_pair){key, item};
}

// ----------------------------------------------------------------------------------------- meaning
bool burin_truth(burin_value v) {
    switch (v.kind) {
        case BURIN_UNDEFINED:
        case BURIN_NONE:
            return false;
        case BURIN_BOOL:
        case BURIN_INTEGER:
            return v.integer != 0;
        case BURIN_FLOAT:
            return v.real != 0;
        case BURIN_BIG:
            return true;
        case BURIN_STRING:
            return v.length != 0;
        case BURIN_LIST:
        case BURIN_TUPLE:
            return v.list->n != 0;
        case BURIN_DICT:
            return v.dict->n != 0;
        case BURIN_LOOP:
            return v.loop->items->n != 0;
        default:
            return true;
    }
}

bool burin_is_number(burin_value v) {
    return v.kind == BURIN_BOOL || v.kind == BURIN_INTEGER || v.kind == BURIN_FLOAT ||
           v.kind == BURIN_BIG;
}

double burin_number(burin_value v) {
    return v.kind == BURIN_FLOAT ? v.real
           : v.kind == BURIN_BIG ? strtod(v.text, NULL)
                                 : (double)v.integer;
}

bool burin_is_text(burin_value v, const char *text) {
    return v.kind == BURIN_STRING && v.length == strlen(text) && !memcmp(v.text, text, v.length);
}

burin_value burin_printed_as(burin_value v) {
    burin_value text = v.kind == BURIN_LIST   ? v.list->text
                       : v.kind == BURIN_DICT ? v.dict->text
                                              : v;
    return text.kind == BURIN_STRING ? text : v;
}

// -1, 0 or 1: below all 64-bit integers, one of them, above.
static int size_class(burin_value v) { return v.kind != BURIN_BIG ? 0 : *v.text == '-' ? -1 : 1; }

static int order_integers(burin_value a, burin_value b) {
    int x = size_class(a), y = size_class(b);
    if (x != y) return x < y ? -1 : 1;
    if (!x) return (a.integer > b.integer) - (a.integer < b.integer);
    int order =
        a.length != b.length ? (a.length > b.length ? 1 : -1) : memcmp(a.text, b.text, a.length);
    return x * order;
}

static int order_numbers(burin_value a, burin_value b) {
    if (a.kind != BURIN_FLOAT && b.kind != BURIN_FLOAT) return order_integers(a, b);
    double x = burin_number(a), y = burin_number(b);
    return (x > y) - (x < y);
}

static bool is_equal_number(burin_value a, burin_value b) {
    return order_numbers(a, b) == 0 && !isnan(burin_number(a)) && !isnan(burin_number(b));
}

static bool equal_lists(burin_render_state *r, const burin_list *a, const burin_list *b) {
    if (a->n != b->n) return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!burin_equal(r, a->items[i], b->items[i])) return false;
    return true;
}

static bool equal_dicts(burin_render_state *r, burin_value a, burin_value b) {
    if (a.dict->n != b.dict->n) return false;
    for (uint32_t i = 0; i < a.dict->n; i++) {
        const burin_value *other = burin_dict_find(r, b, a.dict->pairs[i].key);
        if (!other || !burin_equal(r, a.dict->pairs[i].value, *other)) return false;
    }
    return true;
}

static bool equal_inside(burin_render_state *r, burin_value a, burin_value b) {
    if (burin_is_number(a) && burin_is_number(b)) return is_equal_number(a, b);
    if (a.kind == BURIN_STRING) b = burin_printed_as(b);
    if (b.kind == BURIN_STRING) a = burin_printed_as(a);
    if (a.kind != b.kind) return false;
    switch (a.kind) {
        case BURIN_UNDEFINED:
        case BURIN_NONE:
            return true;
        case BURIN_STRING:
            burin_render_step(r, a.length / 64);
            return is_same_string(a, b);
        case BURIN_LIST:
        case BURIN_TUPLE:
            return equal_lists(r, a.list, b.list);
        case BURIN_DICT:
            return equal_dicts(r, a, b);
        case BURIN_FUNCTION:
            return a.integer == b.integer;
        default:
            return a.text == b.text;
    }
}

bool burin_equal(burin_render_state *r, burin_value a, burin_value b) {
    burin_render_enter(r);
    bool equal = equal_inside(r, a, b);
    burin_render_leave(r);
    return equal;
}

static int order_strings(burin_value a, burin_value b) {
    int order = memcmp(a.text, b.text, a.length < b.length ? a.length : b.length);
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

static int order_lists(burin_render_state *r, const burin_list *a, const burin_list *b) {
    for (uint32_t i = 0; i < a->n && i < b->n; i++)
        if (!burin_equal(r, a->items[i], b->items[i]))
            return burin_order(r, a->items[i], b->items[i]);
    return (a->n > b->n) - (a->n < b->n);
}

int burin_order(burin_render_state *r, burin_value a, burin_value b) {
    int order = 0;
    burin_render_enter(r);
    if (burin_is_number(a) && burin_is_number(b)) {
        order = order_numbers(a, b);
    } else if (a.kind == BURIN_STRING && b.kind == BURIN_STRING) {
        burin_render_step(r, a.length / 64);
        order = order_strings(a, b);
    } else if (a.kind == b.kind && (a.kind == BURIN_LIST || a.kind == BURIN_TUPLE)) {
        order = order_lists(r, a.list, b.list);
    } else {
        burin_render_fail(r, "%s and %s have no order", burin_kind_names[a.kind],
                          burin_kind_names[b.kind]);
    }
    burin_render_leave(r);
    return order;
}

static bool has_part(burin_render_state *r, burin_value all, burin_value part) {
    if (part.kind != BURIN_STRING)
        burin_render_fail(r, "%s is not looked for in a string", burin_kind_names[part.kind]);
    burin_render_step(r, all.length / 16);
    return !part.length || memmem(all.text, all.length, part.text, part.length);
}

bool burin_contains(burin_render_state *r, burin_value all, burin_value item) {
    if (all.kind == BURIN_LIST && item.kind == BURIN_STRING) all = burin_printed_as(all);
    if (all.kind == BURIN_STRING) return has_part(r, all, item);
    if (all.kind == BURIN_DICT) return check_key(r, item), burin_dict_find(r, all, item);
    if (all.kind == BURIN_UNDEFINED) return false;
    if (all.kind != BURIN_LIST && all.kind != BURIN_TUPLE)
        burin_render_fail(r, "nothing is in %s", burin_kind_names[all.kind]);
    burin_render_step(r, all.list->n);
    for (uint32_t i = 0; i < all.list->n; i++)
        if (burin_equal(r, all.list->items[i], item)) return true;
    return false;
}

int64_t burin_length(burin_render_state *r, burin_value v) {
    switch (v.kind) {
        case BURIN_UNDEFINED:
            return 0;
        case BURIN_STRING:
            burin_render_step(r, v.length / 16);
            return burin_count_characters(v);
        case BURIN_LIST:
        case BURIN_TUPLE:
            return v.list->n;
        case BURIN_DICT:
            return v.dict->n;
        case BURIN_LOOP:
            return v.loop->items->n;
        default:
            burin_render_fail(r, "%s has no length", burin_kind_names[v.kind]);
    }
}

bool burin_is_iterable(burin_value v) {
    return v.kind == BURIN_UNDEFINED || v.kind == BURIN_STRING || v.kind == BURIN_LIST ||
           v.kind == BURIN_TUPLE || v.kind == BURIN_DICT || v.kind == BURIN_LOOP;
}

static burin_value characters(burin_render_state *r, burin_value v) {
    const char *at = v.text, *end = at + v.length;
    burin_value list = burin_list_new(r, BURIN_LIST, 0);
    v.safe = false;
    while (at < end) {
        const char *from = at;
        burin_character(&at, end);
        burin_list_add(r, list, burin_slice(v, (size_t)(from - v.text), (size_t)(at - from)));
    }
    burin_render_step(r, v.length);
    return list;
}

static burin_value keys_of(burin_render_state *r, burin_value v) {
    burin_value list = burin_list_new(r, BURIN_LIST, v.dict->n);
    for (uint32_t i = 0; i < v.dict->n; i++) burin_list_add(r, list, v.dict->pairs[i].key);
    return list;
}

burin_value burin_items(burin_render_state *r, burin_value v) {
    if (v.kind == BURIN_LIST || v.kind == BURIN_TUPLE) return v;
    if (v.kind == BURIN_UNDEFINED) return burin_list_new(r, BURIN_LIST, 0);
    if (v.kind == BURIN_STRING) return characters(r, v);
    if (v.kind == BURIN_DICT) return keys_of(r, v);
    burin_render_fail(r, "%s has no items to go through", burin_kind_names[v.kind]);
}

// ----------------------------------------------------------------------------------------- strings
size_t burin_text_begin(burin_render_state *r) { return (size_t)(r->free - r->strings); }

bool burin_marked(const burin_render_state *r, const char *byte) {
    return byte >= r->strings && byte < r->strings_end && byte[r->strings_end - r->strings];
}

static void text_room(burin_render_state *r, size_t n) {
    if (n > (size_t)(r->strings_end - r->free)) out_of_room(r);
    burin_render_step(r, n / 64);
}

void burin_text_add(burin_render_state *r, const char *bytes, size_t n) {
    size_t marks = (size_t)(r->strings_end - r->strings);
    if (!n) return;
    text_room(r, n);
    memcpy(r->free, bytes, n);
    if (bytes >= r->strings && bytes < r->strings_end)
        memcpy(r->free + marks, bytes + marks, n);
    else
        memset(r->free + marks, 0, n);
    r->free += n;
}

void burin_text_char(burin_render_state *r, char c) { burin_text_add(r, &c, 1); }

void burin_text_code(burin_render_state *r, uint32_t code, bool marked) {
    char out[4];
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(first[n] | code);
    burin_text_add(r, out, n);
    memset(r->free - n + (r->strings_end - r->strings), marked, n);
}

burin_value burin_text_end(burin_render_state *r, size_t begin) {
    return burin_string_of(r->strings + begin, (size_t)(r->free - r->strings) - begin);
}

void burin_mark_string(burin_render_state *r, burin_value s, bool marked) {
    if (s.length)
        memset((char *)(uintptr_t)s.text + (r->strings_end - r->strings), marked, s.length);
}

// A value that ends where free memory begins grows in place: joining in a loop costs only the added
// bytes.
burin_value burin_join_two(burin_render_state *r, burin_value a, burin_value b) {
    size_t begin = burin_text_begin(r);
    if (!b.length || !a.length) return b.length ? b : a;
    if (a.text + a.length == r->free)
        begin = (size_t)(a.text - r->strings);
    else
        burin_text_add(r, a.text, a.length);
    burin_text_add(r, b.text, b.length);
    return burin_text_end(r, begin);
}

burin_value burin_join_all(burin_render_state *r, burin_value strings) {
    size_t begin = burin_text_begin(r);
    burin_render_step(r, strings.list->n);
    for (uint32_t i = 0; i < strings.list->n; i++)
        burin_text_add(r, strings.list->items[i].text, strings.list->items[i].length);
    return burin_text_end(r, begin);
}
