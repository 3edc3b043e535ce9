// Keywords that only some grammars can hold: multipleOf, not, uniqueItems. The rest is refused or
// noted (burin_schema_miss).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schema.h"

bool burin_schema_is_any(burin_schema_writer *w, burin_value schema) {
    if (schema.kind == BURIN_BOOL) return schema.integer;
    return schema.kind == BURIN_DICT && !burin_schema_says_something(w, schema);
}

// ---- multipleOf ----
enum { MOST_MULTIPLES = 1000, MOST_REMAINDERS = 500 };

static bool fits_integer(const burin_decimal *d, int64_t *number) {
    *number = 0;
    if (d->n > 15 || d->n_part) return false;
    for (int i = 0; i < d->n; i++) *number = 10 * *number + d->whole[i] - '0';
    if (d->negative) *number = -*number;
    return true;
}

static int64_t floor_multiple(int64_t n, int64_t of) { return n / of - (n % of < 0); }

// Lists the multiples between two bounds. Returns false if there are too many multiples, or no
// bound on one side.
static bool list_multiples(burin_schema_writer *w, burin_growing *g, const burin_bounds *b,
                           int64_t of) {
    int64_t low, high;
    if (!b->has_low || !b->has_high || !fits_integer(&b->low, &low) ||
        !fits_integer(&b->high, &high))
        return false;
    int64_t first = -floor_multiple(-(low + b->low.open), of),
            last = floor_multiple(high - b->high.open, of);
    if (last - first >= MOST_MULTIPLES) return false;
    if (last < first) burin_schema_fail(w, "no multiple is between these bounds");
    for (int64_t i = first; i <= last; i++)
        burin_growing_add(g, "%s\"%lld\"", i > first ? " | " : "(", (long long)(i * of));
    burin_growing_add(g, ")");
    return true;
}

// A rule for each remainder of the digits so far: it may end at 0.
static void add_remainders(burin_schema_writer *w, burin_growing *g, int64_t of) {
    int first = w->n_helpers;
    w->n_helpers += (int)of;
    for (int64_t r = 0; r < of; r++) {
        burin_growing_add(&w->rules, "h%d ::= ", first + (int)r);
        for (int64_t digit = 0; digit < 10; digit++)
            burin_growing_add(&w->rules, "%s\"%lld\" h%d", digit ? " | " : "", (long long)digit,
                              first + (int)((10 * r + digit) % of));
        burin_growing_add(&w->rules, r ? "\n" : " | \"\"\n");
    }
    burin_growing_add(g, "\"-\"? (\"0\"");
    for (int64_t digit = 1; digit < 10; digit++)
        burin_growing_add(g, " | \"%lld\" h%d", (long long)digit, first + (int)(digit % of));
    burin_growing_add(g, ")");
}

// 0.01 is 2 decimals; -1: the number is no power of ten below 1.
static int decimals_of(const burin_decimal *d) {
    bool power = d->n == 1 && *d->whole == '0' && d->n_part && d->part[d->n_part - 1] == '1';
    for (int i = 0; power && i < d->n_part - 1; i++) power = d->part[i] == '0';
    return power ? d->n_part : -1;
}

void burin_schema_multiple(burin_schema_writer *w, burin_growing *g, bool whole,
                           const burin_bounds *b, burin_value of) {
    burin_decimal d = burin_decimal_of(w, of, "multipleOf");
    bool bounded = b->has_low || b->has_high;
    int64_t number;
    int decimals = decimals_of(&d);
    if (d.negative || (d.n == 1 && *d.whole == '0' && !d.n_part))
        burin_schema_fail(w, "multipleOf must be a number above 0");
    if (fits_integer(&d, &number)) {
        if (number == 1) return burin_schema_number(w, g, true, b);
        if (list_multiples(w, g, b, number)) return;
        if (!bounded && number <= MOST_REMAINDERS) return add_remainders(w, g, number);
    }
    if (decimals > 0 && whole) return burin_schema_number(w, g, true, b);
    if (decimals > 0 && !bounded)
        return burin_growing_add(g, "integer (\".\" [0-9]{1,%d})?", decimals);
    burin_schema_miss(w, "this multipleOf is not supported with these bounds");
    burin_schema_number(w, g, whole, b);
}

// ---- not ----
static bool is_listed(burin_schema_writer *w, burin_value list, burin_value item) {
    for (uint32_t i = 0; i < list.list->n; i++)
        if (burin_equal(&w->r, list.list->items[i], item)) return true;
    return false;
}

static burin_value as_list(burin_schema_writer *w, burin_value one) {
    if (one.kind == BURIN_LIST) return one;
    burin_value list = burin_list_new(&w->r, BURIN_LIST, 1);
    return burin_list_add(&w->r, list, one), list;
}

// A copy without one keyword.
static burin_value copy_without(burin_schema_writer *w, burin_value schema, const char *keyword) {
    burin_value copy = burin_dict_new(&w->r);
    for (uint32_t i = 0; i < schema.dict->n; i++)
        if (!burin_is_text(schema.dict->pairs[i].key, keyword))
            burin_dict_set(&w->r, copy, schema.dict->pairs[i].key, schema.dict->pairs[i].value);
    return copy;
}

// The values or types of a list that are not in the other.
static burin_value others_of(burin_schema_writer *w, burin_value list, burin_value without) {
    burin_value rest = burin_list_new(&w->r, BURIN_LIST, 0);
    for (uint32_t i = 0; i < list.list->n; i++)
        if (!is_listed(w, without, list.list->items[i]))
            burin_list_add(&w->r, rest, list.list->items[i]);
    if (!rest.list->n) burin_schema_fail(w, "not leaves no document");
    return rest;
}

static burin_value all_types(burin_schema_writer *w) {
    static const char *const names[] = {"object", "array", "string", "number", "boolean", "null"};
    burin_value all = burin_list_new(&w->r, BURIN_LIST, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        burin_list_add(&w->r, all, burin_string_of(names[i], strlen(names[i])));
    return all;
}

static bool are_plain_texts(burin_value list) {
    for (uint32_t i = 0; i < list.list->n; i++) {
        burin_value v = list.list->items[i];
        if (v.kind != BURIN_STRING) return false;
        for (uint32_t k = 0; k < v.length; k++)
            if ((unsigned char)v.text[k] < 0x20 || v.text[k] == '"' || v.text[k] == '\\')
                return false;
    }
    return true;
}

// "not" of values: an enum keeps its other values; for strings alone it stays, as a list for
// burin_schema_other_strings.
static burin_value without_values(burin_schema_writer *w, burin_value schema, burin_value values) {
    const burin_value *own = burin_schema_key(w, schema, "enum"),
                      *type = burin_schema_key(w, schema, "type");
    burin_value rest = copy_without(w, schema, "not");
    if (own && own->kind == BURIN_LIST) {
        burin_dict_set(&w->r, rest, BURIN_LITERAL("enum"), others_of(w, *own, values));
    } else if (type && burin_is_text(*type, "string") && schema.dict->n == 2 &&
               are_plain_texts(values)) {
        burin_dict_set(&w->r, rest, BURIN_LITERAL("not"), values);
    } else {
        burin_schema_miss(w, "not of values is supported beside an enum, or of strings alone");
    }
    return rest;
}

burin_value burin_schema_without_not(burin_schema_writer *w, burin_value schema) {
    burin_value no = *burin_schema_key(w, schema, "not"), rest = copy_without(w, schema, "not");
    if (no.kind == BURIN_BOOL && !no.integer) return rest;
    if (burin_schema_is_any(w, no)) burin_schema_fail(w, "not leaves no document");
    if (no.kind != BURIN_DICT) burin_schema_fail(w, "not must be a schema");
    const burin_value *values = burin_schema_key(w, no, "enum"),
                      *constant = burin_schema_key(w, no, "const"),
                      *type = burin_schema_key(w, no, "type"),
                      *own = burin_schema_key(w, schema, "type");
    if (no.dict->n == 1 && values && values->kind == BURIN_LIST)
        return without_values(w, schema, *values);
    if (no.dict->n == 1 && constant) {
        burin_value one = burin_list_new(&w->r, BURIN_LIST, 1);
        return burin_list_add(&w->r, one, *constant), without_values(w, schema, one);
    }
    if (no.dict->n == 1 && type && !burin_is_text(*type, "integer")) {
        burin_value types = own ? as_list(w, *own) : all_types(w);
        burin_dict_set(&w->r, rest, BURIN_LITERAL("type"), others_of(w, types, as_list(w, *type)));
        return rest;
    }
    burin_schema_miss(w, "this not is not supported; types and values are");
    return rest;
}

// ---- uniqueItems ----
enum { MOST_UNIQUE = 5 };

typedef struct permutation {
    burin_value values;
    bool used[MOST_UNIQUE];
    int64_t least, most;
} permutation;

static void add_permutations(burin_schema_writer *w, burin_growing *g, permutation *p, int64_t n) {
    const burin_json_style style = {
        .indent = burin_none(), .between = BURIN_LITERAL(","), .behind_key = BURIN_LITERAL(":")};
    bool more = n < p->most && n < (int64_t)p->values.list->n, first = true;
    burin_growing_add(g, "(");
    for (uint32_t i = 0; more && i < p->values.list->n; i++) {
        if (p->used[i]) continue;
        burin_value text = burin_json_text(&w->r, p->values.list->items[i], &style);
        burin_growing_add(g, first ? "" : " | "), first = false;
        if (n) burin_growing_add(g, "ws \",\" ws ");
        burin_growing_literal(g, text.text, text.length);
        p->used[i] = true;
        burin_growing_add(g, " "), add_permutations(w, g, p, n + 1);
        p->used[i] = false;
    }
    if (n >= p->least) burin_growing_add(g, first ? "\"\"" : " | \"\"");
    burin_growing_add(g, ")");
}

bool burin_schema_unique(burin_schema_writer *w, burin_growing *g, burin_value schema,
                         int64_t least, int64_t most) {
    const burin_value *unique = burin_schema_key(w, schema, "uniqueItems"),
                      *items = burin_schema_key(w, schema, "items");
    if (!unique || !burin_truth(*unique) || most == 0 || most == 1) return false;
    const burin_value *values =
        items && items->kind == BURIN_DICT ? burin_schema_key(w, *items, "enum") : NULL;
    bool listed = values && values->kind == BURIN_LIST && values->list->n <= MOST_UNIQUE &&
                  !burin_schema_key(w, schema, "prefixItems");
    if (!listed) {
        burin_schema_miss(w, "uniqueItems is supported for items of an enum with at most %d values",
                          MOST_UNIQUE);
        return false;
    }
    permutation p = {.values = *values, .least = least, .most = most < 0 ? MOST_UNIQUE : most};
    if (least > (int64_t)values->list->n)
        burin_schema_fail(w, "minItems is more than there may be items");
    burin_growing_add(g, "\"[\" ws ");
    add_permutations(w, g, &p, 0);
    burin_growing_add(g, " ws \"]\"");
    return true;
}
