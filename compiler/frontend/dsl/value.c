// Values of the language: their type names, their text in messages, and conversions with messages
// about the expected type.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/dsl/elaborate.h"

const char *value_kind_name(ValueKind k) {
    static const char *const names[] = {
        [V_ERROR] = "an error",        [V_NULL] = "null",       [V_BOOL] = "a truth value",
        [V_INT] = "an integer",        [V_FLOAT] = "a number",  [V_STRING] = "a string",
        [V_LIST] = "a list",           [V_RECORD] = "a record", [V_OBJECT] = "an object",
        [V_DTYPE] = "an element type", [V_DIM] = "a dimension", [V_TENSOR] = "a tensor",
        [V_MANY] = "several results"};
    return names[k];
}

static const char *list_text(Elaborator *e, Value v) {
    enum { MOST_TEXT = 200 };
    const char *text = "[";
    for (int i = 0; i < v.list.n && i < MAX_RANK; i++)
        text = arena_printf(e->arena, "%s%s%.*s", text, i ? ", " : "", MOST_TEXT,
                            value_text(e, v.list.items[i]));
    return arena_printf(e->arena, "%s%s]", text, v.list.n > MAX_RANK ? ", ..." : "");
}

// With no more digits than it takes to read back as the same number.
static const char *float_text(Elaborator *e, double f) {
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, f);
        if (strtod(text, NULL) == f) break;
    }
    return arena_strdup(e->arena, text);
}

const char *value_text(Elaborator *e, Value v) {
    Text t = {0};
    switch (v.kind) {
        case V_BOOL:
            return v.b ? "true" : "false";
        case V_INT:
            return arena_printf(e->arena, "%" PRId64, v.i);
        case V_FLOAT:
            return float_text(e, v.f);
        case V_STRING:
            return arena_printf(e->arena, "\"%s\"", v.s);
        case V_LIST:
            return list_text(e, v);
        case V_DTYPE:
            return dtype_name(v.dtype);
        case V_TENSOR:
            return arena_strdup(e->arena, type_text(&v.node->type));
        case V_DIM:
            break;
        default:
            return value_kind_name(v.kind);
    }
    dim_print(&t, v.dim);
    const char *copy = arena_strdup(e->arena, t.data);
    text_free(&t);
    return copy;
}

bool value_is_number(Value v) { return v.kind == V_INT || v.kind == V_FLOAT; }
bool value_has_items(Value v) { return v.kind == V_LIST || v.kind == V_RECORD; }
double value_number(Value v) { return v.kind == V_INT ? (double)v.i : v.f; }

// For lists and records: fields have one order.
static bool list_equal(Value a, Value b) {
    if (a.list.n != b.list.n) return false;
    for (int i = 0; i < a.list.n; i++)
        if ((a.names && strcmp(a.names[i], b.names[i])) ||
            !value_equal(a.list.items[i], b.list.items[i]))
            return false;
    return true;
}

bool value_equal(Value a, Value b) {
    if (value_is_number(a) && value_is_number(b))
        return a.kind == b.kind && a.kind == V_INT ? a.i == b.i
                                                   : value_number(a) == value_number(b);
    if (a.kind != b.kind) return false;
    switch (a.kind) {
        case V_NULL:
            return true;
        case V_BOOL:
            return a.b == b.b;
        case V_STRING:
            return !strcmp(a.s, b.s);
        case V_LIST:
        case V_RECORD:
            return list_equal(a, b);
        case V_OBJECT:
            return json_equal(a.object, b.object);
        case V_DTYPE:
            return a.dtype == b.dtype;
        case V_DIM:
            return a.dim == b.dim;
        default:
            return false;
    }
}

// A description's values live until its end; their text and elements count towards the budget, with
// all that they hold.
void spend(Elaborator *e, Loc at, uint64_t bytes) {
    if ((e->spent += bytes) <= MAX_SPENT) return;
    report(e, at, "this description makes too many lists and strings");
    diag_stop();
}

// More than `most`: too many, or nested too deep.
static int64_t elements_of(Value v, int64_t most, int depth) {
    enum { MAX_DEPTH = 64 };
    int64_t n = depth > MAX_DEPTH ? most + 1 : 1;
    for (int i = 0; value_has_items(v) && i < v.list.n && n <= most; i++)
        n += elements_of(v.list.items[i], most - n, depth + 1);
    return n;
}

Value list_of(Elaborator *e, Loc at, const Value *items, int n) {
    Value v = {.kind = V_LIST, .list = {items, n}};
    int64_t all = elements_of(v, MAX_LIST + 1, 0);
    if (all > MAX_LIST + 1)
        return report(e, at, "the lists in this list are too many, or too deep");
    spend(e, at, (uint64_t)all * sizeof v);
    return v;
}

Value value_list(Elaborator *e, const Value *items, int n) {
    Value *copy = ARENA_ARRAY(e->arena, Value, n);
    if (n) memcpy(copy, items, (size_t)n * sizeof *copy);
    return (Value){.kind = V_LIST, .list = {copy, n}};
}

Value value_of_dim(const Dim *d) {
    int64_t value;
    return dim_is_const(d, &value) ? VALUE_INT(value) : (Value){.kind = V_DIM, .dim = d};
}

static const char *size_key(Elaborator *e, int64_t size) {
    return arena_printf(e->arena, "%" PRId64, size);
}

// Tensors do not remember what their dimensions were computed from. The first expression with this
// value is a good guess, and serves hints alone.
Value value_of_size(Elaborator *e, const Dim *d) {
    Value v = value_of_dim(d);
    if (v.kind == V_INT) v.origin = map_get(&e->sizes, size_key(e, v.i));
    return v;
}

static void remember_size(Elaborator *e, Value v) {
    if (v.origin && !map_get(&e->sizes, size_key(e, v.i)))
        map_put(&e->sizes, size_key(e, v.i), (void *)v.origin);
}

static bool is_quoted_number(Value v) {
    char *end;
    if (v.kind != V_STRING || !*v.s) return false;
    strtod(v.s, &end);
    return !*end;
}

// "WHAT must be an integer, it is "64"", and when the value came from config.json, the place there.
static bool refuse(Elaborator *e, Value v, Loc at, const char *what, const char *expected) {
    if (v.kind == V_ERROR || already_reported(e, at)) return false;
    const char *hint = "", *shown = value_text(e, v);
    if (v.kind == V_FLOAT && v.f == floor(v.f) && fabs(v.f) < 1e15)
        shown = arena_printf(e->arena, "%.1f", v.f);
    if (v.path && e->options->checkpoint)
        hint = arena_message(e->arena, "\n%s: \"%s\" comes from %s",
                             v.kind == V_NULL ? "hint" : "note", config_called(e, v.path),
                             loc_text(checkpoint_config_loc(e->options->checkpoint, v.path)));
    if (v.kind == V_TENSOR && !strcmp(expected, "true or false"))
        hint = "\nhint: where(c, a, b) chooses element by element";
    if (v.kind == V_TENSOR && !strcmp(expected, "an integer"))
        hint = "\nhint: what decides the graph is a number: shape(x)[0]";
    if (v.kind == V_INT && !strcmp(expected, "a list of dimensions"))
        hint = arena_message(e->arena, "\nhint: [%s]", shown);
    if (is_quoted_number(v))
        hint = arena_message(e->arena, "%-s\nhint: a number has no quotes: %s", hint, v.s);
    report(e, at, "%s must be %s, it is %s%-s", what, expected, shown, hint);
    return false;
}

bool want_int(Elaborator *e, Value v, Loc at, const char *what, int64_t *result) {
    *result = v.kind == V_INT ? v.i : 0;
    return v.kind == V_INT || refuse(e, v, at, what, "an integer");
}

bool want_bool(Elaborator *e, Value v, Loc at, const char *what, bool *result) {
    *result = v.kind == V_BOOL && v.b;
    return v.kind == V_BOOL || refuse(e, v, at, what, "true or false");
}

bool want_string(Elaborator *e, Value v, Loc at, const char *what, const char **result) {
    *result = v.kind == V_STRING ? v.s : "";
    return v.kind == V_STRING || refuse(e, v, at, what, "a string");
}

bool want_tensor(Elaborator *e, Value v, Loc at, const char *what) {
    return v.kind == V_TENSOR || refuse(e, v, at, what, "a tensor");
}

const Dim *want_dim(Elaborator *e, Value v, Loc at, const char *what) {
    if (v.kind == V_DIM) return v.dim;
    if (v.kind != V_INT) return refuse(e, v, at, what, "a whole number"), NULL;
    if (v.i < 0 || v.i >> MAX_DIM_BITS) {
        report(e, at, "%s is %" PRId64 ", a dimension is at least 0 and below 2^%d%-s", what, v.i,
               MAX_DIM_BITS,
               v.i == -1 ? "\nhint: no size is found out: write it, shape(x)[0] is the first of x"
                         : "");
        return NULL;
    }
    remember_size(e, v);
    return dim_const(e->graph, v.i);
}

bool want_dims(Elaborator *e, Value v, Loc at, const char *what, const Dim **dims, int *rank) {
    if (v.kind != V_LIST) return refuse(e, v, at, what, "a list of dimensions");
    if (v.list.n > MAX_RANK) {
        report(e, at, "%s has %d dimensions, at most %d are possible", what, v.list.n, MAX_RANK);
        return false;
    }
    *rank = v.list.n;
    for (int i = 0; i < v.list.n; i++)
        if (!(dims[i] = want_dim(e, v.list.items[i], at,
                                 arena_printf(e->arena, "a dimension of %s", what))))
            return false;
    return true;
}
