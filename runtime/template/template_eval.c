// Expressions of templates: attributes, items, operators, calls.
#include <math.h>
#include <string.h>

#include "template_value.h"

static _Noreturn void fail_undefined(burin_render_state *r, burin_value v) {
    if (v.of)
        burin_render_fail(r, "%s has no attribute or method \"%.*s\"", burin_kind_names[v.of],
                          (int)v.length, v.text);
    burin_render_fail(r, "\"%.*s\" is undefined", (int)v.length, v.text);
}

static void need_defined(burin_render_state *r, burin_value v) {
    if (v.kind == BURIN_UNDEFINED) fail_undefined(r, v);
}

// ---------------------------------------------------------------------------- attributes and items
static burin_value loop_neighbour(const burin_loop *l, int64_t index, burin_value name) {
    if (index < 0 || index >= (int64_t)l->items->n) return burin_undefined(name.text, name.length);
    return l->items->items[index];
}

static burin_value loop_attribute(const burin_loop *l, burin_value name) {
    int64_t i = l->index, n = l->items->n;
    if (burin_is_text(name, "index")) return burin_integer(i + 1);
    if (burin_is_text(name, "index0")) return burin_integer(i);
    if (burin_is_text(name, "first")) return burin_boolean(i == 0);
    if (burin_is_text(name, "last")) return burin_boolean(i == n - 1);
    if (burin_is_text(name, "length")) return burin_integer(n);
    if (burin_is_text(name, "revindex")) return burin_integer(n - i);
    if (burin_is_text(name, "revindex0")) return burin_integer(n - i - 1);
    if (burin_is_text(name, "depth")) return burin_integer(l->depth + 1);
    if (burin_is_text(name, "depth0")) return burin_integer(l->depth);
    if (burin_is_text(name, "previtem")) return loop_neighbour(l, i - 1, name);
    if (burin_is_text(name, "nextitem")) return loop_neighbour(l, i + 1, name);
    return burin_undefined(name.text, name.length);
}

static burin_value method_of(burin_render_state *r, burin_value of, burin_value name) {
    burin_method *m = burin_render_allocate(r, sizeof *m);
    *m = (burin_method){of, name};
    return (burin_value){.kind = BURIN_METHOD, .method = m};
}

static burin_value macro_attribute(burin_render_state *r, const burin_macro *macro,
                                   burin_value name) {
    const uint32_t *w = r->words + macro->node + 2;
    if (burin_is_text(name, "name")) return burin_string_number(r, w[0]);
    if (burin_is_text(name, "catch_varargs")) return burin_boolean(w[2] & BURIN_T_VARARGS);
    if (burin_is_text(name, "catch_kwargs")) return burin_boolean(w[2] & BURIN_T_KWARGS);
    if (burin_is_text(name, "caller")) return burin_boolean(w[2] & BURIN_T_CALLER);
    if (!burin_is_text(name, "arguments")) return burin_undefined(name.text, name.length);
    burin_value parameters = burin_list_new(r, BURIN_TUPLE, w[3]);
    for (uint32_t i = 0; i < w[3]; i++)
        burin_list_add(r, parameters, burin_string_number(r, w[4 + 2 * i]));
    return parameters;
}

static burin_value group_attribute(const burin_list *group, burin_value name) {
    if (burin_is_text(name, "grouper")) return group->items[0];
    if (burin_is_text(name, "list")) return group->items[1];
    return burin_undefined(name.text, name.length);
}

burin_value burin_attribute(burin_render_state *r, burin_value of, burin_value name) {
    const burin_value *there = NULL;
    need_defined(r, of);
    if (burin_has_method(of, name)) return method_of(r, of, name);
    if (of.kind == BURIN_LIST && burin_has_method(burin_printed_as(of), name))
        return method_of(r, burin_printed_as(of), name);
    if (of.kind == BURIN_LOOP) return loop_attribute(of.loop, name);
    if (of.kind == BURIN_DICT || of.kind == BURIN_NAMESPACE) there = burin_dict_find(r, of, name);
    if (of.kind == BURIN_MACRO) return macro_attribute(r, of.macro, name);
    if (of.kind == BURIN_TUPLE && of.list->is_group) return group_attribute(of.list, name);
    if (of.kind == BURIN_OBJECT && burin_is_text(name, "current") &&
        of.object->items.kind == BURIN_LIST)
        return of.object->items.list->items[of.object->at];
    if (there) return *there;
    burin_value none = burin_undefined(name.text, name.length);
    none.of = of.kind;
    return none;
}

static burin_value character_at(burin_render_state *r, burin_value s, int64_t index) {
    int64_t n = burin_length(r, s);
    if (index < 0) index += n;
    if (index < 0 || index >= n) return burin_undefined("an index past the end", 21);
    size_t from = burin_character_offset(s, index);
    burin_render_step(r, from / 16);
    return burin_slice(s, from, burin_character_offset(burin_slice(s, from, s.length - from), 1));
}

burin_value burin_item(burin_render_state *r, burin_value of, burin_value index) {
    need_defined(r, of);
    if (of.kind == BURIN_DICT && index.kind != BURIN_LIST && index.kind != BURIN_DICT) {
        const burin_value *there = burin_dict_find(r, of, index);
        if (there) return *there;
    }
    if (index.kind == BURIN_STRING) return burin_attribute(r, of, index);
    if (index.kind != BURIN_INTEGER && index.kind != BURIN_BOOL)
        return burin_undefined("an item", 7);
    if (of.kind == BURIN_STRING) return character_at(r, of, index.integer);
    if (of.kind != BURIN_LIST && of.kind != BURIN_TUPLE) return burin_undefined("an item", 7);
    int64_t i = index.integer < 0 ? index.integer + of.list->n : index.integer;
    return i < 0 || i >= of.list->n ? burin_undefined("an index past the end", 21)
                                    : of.list->items[i];
}

static bool path_number(burin_value part, int64_t *n) {
    *n = 0;
    for (uint32_t i = 0; i < part.length && i < 9; i++) {
        if (part.text[i] < '0' || part.text[i] > '9') return false;
        *n = *n * 10 + part.text[i] - '0';
    }
    return part.length > 0 && part.length < 9;
}

burin_value burin_path(burin_render_state *r, burin_value of, burin_value path) {
    if (path.kind != BURIN_STRING) return burin_item(r, of, path);
    burin_render_step(r, 1 + path.length / 16);
    for (size_t from = 0, end; from <= path.length; from = end + 1) {
        const char *dot = memchr(path.text + from, '.', path.length - from);
        int64_t n;
        end = dot ? (size_t)(dot - path.text) : path.length;
        burin_value part = burin_slice(path, from, end - from);
        of = burin_item(r, of, path_number(part, &n) ? burin_integer(n) : part);
    }
    return of;
}

// ------------------------------------------------------------------------------------------ slices
static int64_t slice_bound(burin_render_state *r, burin_value v, int64_t absent, int64_t n,
                           bool back) {
    if (v.kind == BURIN_NONE) return absent;
    if (v.kind != BURIN_INTEGER && v.kind != BURIN_BOOL)
        burin_render_fail(r, "a slice by %s", burin_kind_names[v.kind]);
    int64_t i = v.integer < 0 ? v.integer + n : v.integer, least = back ? -1 : 0,
            most = back ? n - 1 : n;
    return i < least ? least : i > most ? most : i;
}

burin_value burin_range_of(burin_render_state *r, burin_value of, const burin_value bounds[3]) {
    need_defined(r, of);
    if (of.kind != BURIN_STRING && of.kind != BURIN_LIST && of.kind != BURIN_TUPLE)
        burin_render_fail(r, "a slice of %s", burin_kind_names[of.kind]);
    int64_t n = burin_length(r, of), step = bounds[2].kind == BURIN_NONE ? 1 : bounds[2].integer;
    if (bounds[2].kind != BURIN_NONE && bounds[2].kind != BURIN_INTEGER)
        burin_render_fail(r, "the step of a slice is no number");
    if (!step) burin_render_fail(r, "the step of a slice is 0");
    if (step > INT32_MAX || step < -INT32_MAX) step = step > 0 ? INT32_MAX : -INT32_MAX;
    int64_t first = slice_bound(r, bounds[0], step > 0 ? 0 : n - 1, n, step < 0);
    int64_t end = slice_bound(r, bounds[1], step > 0 ? n : -1, n, step < 0);
    if (of.kind == BURIN_STRING && step == 1) {
        size_t from = burin_character_offset(of, first), to = burin_character_offset(of, end);
        burin_render_step(r, to / 16);
        return burin_slice(of, from, to > from ? to - from : 0);
    }
    burin_value items = burin_items(r, of), out = burin_list_new(r, items.kind, 0);
    for (int64_t i = first; step > 0 ? i < end : i > end; i += step)
        burin_list_add(r, out, items.list->items[i]);
    return of.kind == BURIN_STRING ? burin_join_all(r, out) : out;
}

// -------------------------------------------------------------------------------------- arithmetic
static const char *const operators[] = {"+", "-", "*", "/", "//", "%", "**"};

static _Noreturn void fail_operands(burin_render_state *r, uint32_t op, burin_value a,
                                    burin_value b) {
    need_defined(r, a);
    need_defined(r, b);
    burin_render_fail(r, "%s %s %s is not possible", burin_kind_names[a.kind],
                      operators[op - BURIN_T_ADD], burin_kind_names[b.kind]);
}

static burin_value join_strings(burin_render_state *r, burin_value a, burin_value b) {
    bool safe = a.safe || b.safe;
    if (safe) a = burin_escape_html(r, a), b = burin_escape_html(r, b);
    burin_value joined = burin_join_two(r, a, b);
    joined.safe = safe;
    return joined;
}

static burin_value join_lists(burin_render_state *r, burin_value a, burin_value b) {
    burin_value joined = burin_list_new(r, a.kind, a.list->n + b.list->n);
    burin_render_step(r, a.list->n + b.list->n);
    for (uint32_t i = 0; i < a.list->n; i++) burin_list_add(r, joined, a.list->items[i]);
    for (uint32_t i = 0; i < b.list->n; i++) burin_list_add(r, joined, b.list->items[i]);
    return joined;
}

static burin_value repeat(burin_render_state *r, burin_value v, int64_t times) {
    if (v.kind != BURIN_STRING) {
        burin_value list = burin_list_new(r, v.kind, 0);
        for (int64_t i = 0; v.list->n && i < times; i++)
            for (uint32_t k = 0; k < v.list->n; k++) burin_list_add(r, list, v.list->items[k]);
        return list;
    }
    size_t begin = burin_text_begin(r);
    for (int64_t i = 0; v.length && i < times; i++) burin_text_add(r, v.text, v.length);
    burin_value text = burin_text_end(r, begin);
    text.safe = v.safe;
    return text;
}

static bool is_sequence(burin_value v) {
    return v.kind == BURIN_STRING || v.kind == BURIN_LIST || v.kind == BURIN_TUPLE;
}
static bool is_whole(burin_value v) { return v.kind == BURIN_INTEGER || v.kind == BURIN_BOOL; }

static _Noreturn void fail_large(burin_render_state *r) {
    burin_render_fail(r, "a number is too large: arithmetic is of 64 bits");
}

static burin_value power(burin_render_state *r, int64_t base, int64_t exponent) {
    int64_t result = 1;
    if (exponent < 0) return burin_real(pow((double)base, (double)exponent));
    for (; exponent; exponent /= 2) {
        if (exponent % 2 && __builtin_mul_overflow(result, base, &result)) fail_large(r);
        if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) fail_large(r);
    }
    return burin_integer(result);
}

static burin_value whole_arithmetic(burin_render_state *r, uint32_t op, int64_t a, int64_t b) {
    int64_t result = 0;
    bool over = false;
    if ((op == BURIN_T_FLOOR_DIVIDE || op == BURIN_T_MODULO) && (!b || (a == INT64_MIN && b == -1)))
        burin_render_fail(r, "a division by 0");
    switch (op) {
        case BURIN_T_ADD:
            over = __builtin_add_overflow(a, b, &result);
            break;
        case BURIN_T_SUBTRACT:
            over = __builtin_sub_overflow(a, b, &result);
            break;
        case BURIN_T_MULTIPLY:
            over = __builtin_mul_overflow(a, b, &result);
            break;
        case BURIN_T_FLOOR_DIVIDE:
            result = a / b - (a % b != 0 && (a < 0) != (b < 0));
            break;
        case BURIN_T_MODULO:
            result = a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
            break;
        default:
            return power(r, a, b);
    }
    if (over) fail_large(r);
    return burin_integer(result);
}

static double modulo(double a, double b) {
    double m = fmod(a, b);
    if (m == 0) return copysign(0, b);
    return (m < 0) != (b < 0) ? m + b : m;
}

// As CPython: from the remainder, so that a quotient rounded up to a whole number does not count.
static double floor_divide(double a, double b) {
    double quotient = (a - modulo(a, b)) / b, whole = floor(quotient);
    if (quotient == 0) return copysign(0, a / b);
    return quotient - whole > 0.5 ? whole + 1 : whole;
}

static burin_value real_arithmetic(burin_render_state *r, uint32_t op, double a, double b) {
    if (op >= BURIN_T_DIVIDE && op <= BURIN_T_MODULO && b == 0)
        burin_render_fail(r, "a division by 0");
    switch (op) {
        case BURIN_T_ADD:
            return burin_real(a + b);
        case BURIN_T_SUBTRACT:
            return burin_real(a - b);
        case BURIN_T_MULTIPLY:
            return burin_real(a * b);
        case BURIN_T_DIVIDE:
            return burin_real(a / b);
        case BURIN_T_FLOOR_DIVIDE:
            return burin_real(floor_divide(a, b));
        case BURIN_T_MODULO:
            return burin_real(modulo(a, b));
        default:
            return burin_real(pow(a, b));
    }
}

burin_value burin_arithmetic(burin_render_state *r, uint32_t op, burin_value a, burin_value b) {
    if (op == BURIN_T_ADD && a.kind == BURIN_STRING) b = burin_printed_as(b);
    if (op == BURIN_T_ADD && b.kind == BURIN_STRING) a = burin_printed_as(a);
    if (op == BURIN_T_ADD && a.kind == BURIN_STRING && b.kind == BURIN_STRING)
        return join_strings(r, a, b);
    if (op == BURIN_T_ADD && a.kind == b.kind && is_sequence(a)) return join_lists(r, a, b);
    if (op == BURIN_T_MODULO && a.kind == BURIN_STRING) return burin_format_values(r, a, b);
    if (op == BURIN_T_MULTIPLY && is_sequence(a) && is_whole(b)) return repeat(r, a, b.integer);
    if (op == BURIN_T_MULTIPLY && is_sequence(b) && is_whole(a)) return repeat(r, b, a.integer);
    if (!burin_is_number(a) || !burin_is_number(b)) fail_operands(r, op, a, b);
    bool real = a.kind == BURIN_FLOAT || b.kind == BURIN_FLOAT;
    if (!real && op != BURIN_T_DIVIDE && (a.kind == BURIN_BIG || b.kind == BURIN_BIG))
        fail_large(r);
    if (op == BURIN_T_DIVIDE || real)
        return real_arithmetic(r, op, burin_number(a), burin_number(b));
    return whole_arithmetic(r, op, a.integer, b.integer);
}

burin_value burin_add(burin_render_state *r, burin_value a, burin_value b) {
    return burin_arithmetic(r, BURIN_T_ADD, a, b);
}

// ------------------------------------------------------------------------------------------- nodes
static burin_value concatenate(burin_render_state *r, const uint32_t *w) {
    burin_value joined = burin_string(r, burin_evaluate(r, w[1]));
    for (uint32_t i = 1; i < w[0]; i++) {
        burin_value v = burin_evaluate(r, w[1 + i]);
        joined = burin_join_two(r, joined, burin_string(r, v));
    }
    joined.safe = false;  // nothing is escaped here
    return joined;
}

static bool compare(burin_render_state *r, uint32_t how, burin_value a, burin_value b) {
    if (how <= BURIN_T_UNEQUAL) return burin_equal(r, a, b) == (how == BURIN_T_EQUAL);
    if (how >= BURIN_T_IN) return burin_contains(r, b, a) == (how == BURIN_T_IN);
    need_defined(r, a);
    need_defined(r, b);
    int order = burin_order(r, a, b);
    return how == BURIN_T_LESS            ? order < 0
           : how == BURIN_T_LESS_OR_EQUAL ? order <= 0
           : how == BURIN_T_GREATER       ? order > 0
                                          : order >= 0;
}

static burin_value compare_chain(burin_render_state *r, const uint32_t *w) {
    burin_value left = burin_evaluate(r, w[0]);
    for (uint32_t i = 0; i < w[1]; i++) {
        burin_value right = burin_evaluate(r, w[3 + 2 * i]);
        if (!compare(r, w[2 + 2 * i], left, right)) return burin_boolean(false);
        left = right;
    }
    return burin_boolean(true);
}

static burin_value list_of(burin_render_state *r, burin_value_kind kind, const uint32_t *w) {
    burin_value list = burin_list_new(r, kind, w[0]);
    for (uint32_t i = 0; i < w[0]; i++) burin_list_add(r, list, burin_evaluate(r, w[1 + i]));
    return list;
}

static burin_value dict_of(burin_render_state *r, const uint32_t *w) {
    burin_value dict = burin_dict_new(r);
    for (uint32_t i = 0; i < w[0]; i++) {
        burin_value key = burin_evaluate(r, w[1 + 2 * i]);
        burin_dict_set(r, dict, key, burin_evaluate(r, w[2 + 2 * i]));
    }
    return dict;
}

burin_value *burin_find_variable(burin_render_state *r, uint32_t name) {
    size_t before = 0;
    burin_value *found = NULL;
    for (burin_scope *s = r->scope; s && !found; s = s->outer, before++)
        for (burin_binding *b = s->bindings; b && !found; b = b->next, before++)
            if (b->name == name) found = &b->value;
    burin_render_step(r, before / 4);
    return found;
}

static burin_value name_value(burin_render_state *r, uint32_t name) {
    const burin_value *variable = burin_find_variable(r, name);
    return variable ? *variable : burin_global(burin_string_number(r, name));
}

static void unpack_named(burin_render_state *r, burin_value named, burin_value more) {
    if (more.kind != BURIN_DICT)
        burin_render_fail(r, "%s has no names for arguments", burin_kind_names[more.kind]);
    for (uint32_t i = 0; i < more.dict->n; i++) {
        if (more.dict->pairs[i].key.kind != BURIN_STRING)
            burin_render_fail(r, "an argument's name is no string");
        burin_dict_set(r, named, more.dict->pairs[i].key, more.dict->pairs[i].value);
    }
}

static void add_argument(burin_render_state *r, burin_value values, uint32_t node) {
    if (r->words[node] != BURIN_T_UNPACK) return burin_list_add(r, values, burin_evaluate(r, node));
    const burin_list *more = burin_items(r, burin_evaluate(r, r->words[node + 2])).list;
    for (uint32_t i = 0; i < more->n; i++) burin_list_add(r, values, more->items[i]);
}

// positional n, named n, [e], [s e]
static burin_arguments arguments_of(burin_render_state *r, const uint32_t *w) {
    uint32_t n = w[0], n_named = w[1];
    if (!n && !n_named) return (burin_arguments){0};
    burin_value values = burin_list_new(r, BURIN_LIST, n), named = burin_dict_new(r);
    w += 2;
    for (uint32_t i = 0; i < n; i++) add_argument(r, values, *w++);
    for (uint32_t i = 0; i < n_named; i++, w += 2) {
        burin_value value = burin_evaluate(r, w[1]);
        if (w[0] == (uint32_t)BURIN_T_UNPACKED)
            unpack_named(r, named, value);
        else
            burin_dict_set(r, named, burin_string_number(r, w[0]), value);
    }
    return (burin_arguments){.n = values.list->n,
                             .values = values.list->items,
                             .n_named = named.dict->n,
                             .named = named.dict->pairs};
}

static burin_value call_node(burin_render_state *r, uint32_t place, const uint32_t *w) {
    burin_value callee = burin_evaluate(r, w[0]);
    burin_arguments a = arguments_of(r, w + 1);
    r->place = place;
    return burin_call(r, callee, &a);
}

static burin_value filter_node(burin_render_state *r, const uint32_t *node) {
    burin_value name = burin_string_number(r, node[2]), of = burin_evaluate(r, node[3]);
    burin_arguments a = arguments_of(r, node + 4);
    r->place = node[1];
    if (*node == BURIN_T_FILTER) return burin_filter(r, name, of, &a);
    return burin_boolean(burin_test(r, name, of, &a));
}

burin_value burin_call(burin_render_state *r, burin_value callee, const burin_arguments *a) {
    if (callee.kind == BURIN_MACRO) return burin_call_macro(r, callee.macro, a);
    if (callee.kind == BURIN_FUNCTION) return burin_call_function(r, callee.integer, a);
    if (callee.kind == BURIN_METHOD) return burin_call_method(r, callee.method, a);
    if (callee.kind == BURIN_LOOP && a->n == 1)
        return burin_call_loop(r, callee.loop, a->values[0]);
    if (callee.kind == BURIN_OBJECT && !a->n) {
        burin_object *joiner = callee.object;
        return joiner->at++ ? joiner->items : BURIN_LITERAL("");
    }
    need_defined(r, callee);
    burin_render_fail(r, "%s cannot be called", burin_kind_names[callee.kind]);
}

static int64_t wide(const uint32_t *w) { return (int64_t)((uint64_t)w[1] << 32 | w[0]); }

static burin_value real_of(const uint32_t *w) {
    double real;
    int64_t bits = wide(w);
    memcpy(&real, &bits, sizeof real);
    return burin_real(real);
}

static burin_value negative(burin_render_state *r, uint32_t op, burin_value v) {
    need_defined(r, v);
    if (!burin_is_number(v)) burin_render_fail(r, "%s has no sign", burin_kind_names[v.kind]);
    if (op == BURIN_T_POSITIVE) return v.kind == BURIN_BOOL ? burin_integer(v.integer) : v;
    if (v.kind == BURIN_FLOAT) return burin_real(-v.real);
    if (v.kind == BURIN_BIG) fail_large(r);
    return whole_arithmetic(r, BURIN_T_SUBTRACT, 0, v.integer);
}

static burin_value slice_node(burin_render_state *r, const uint32_t *w) {
    burin_value of = burin_evaluate(r, w[0]), bounds[3];
    for (int i = 0; i < 3; i++) bounds[i] = w[1 + i] ? burin_evaluate(r, w[1 + i]) : burin_none();
    return burin_range_of(r, of, bounds);
}

static burin_value macro_node(burin_render_state *r, uint32_t node) {
    burin_macro *m = burin_render_allocate(r, sizeof *m);
    *m = (burin_macro){node, r->scope};
    return (burin_value){.kind = BURIN_MACRO, .macro = m};
}

// What chooses between its operands.
static burin_value choose(burin_render_state *r, uint32_t op, const uint32_t *w) {
    burin_value first = burin_evaluate(r, w[0]);
    bool truth = burin_truth(first);
    if (op == BURIN_T_AND || op == BURIN_T_OR)
        return truth == (op == BURIN_T_OR) ? first : burin_evaluate(r, w[1]);
    if (truth || w[2]) return burin_evaluate(r, truth ? w[1] : w[2]);
    return burin_undefined("the inline if without else", 26);
}

static burin_value leaf_node(burin_render_state *r, uint32_t op, const uint32_t *w) {
    switch (op) {
        case BURIN_T_NONE:
            return burin_none();
        case BURIN_T_TRUE:
        case BURIN_T_FALSE:
            return burin_boolean(op == BURIN_T_TRUE);
        case BURIN_T_INTEGER:
            return burin_integer(wide(w));
        case BURIN_T_FLOAT:
            return real_of(w);
        case BURIN_T_STRING:
            return burin_string_number(r, w[0]);
        default:
            return name_value(r, w[0]);
    }
}

static burin_value node_value(burin_render_state *r, uint32_t node) {
    const uint32_t *all = r->words + node, *w = all + 2;
    burin_value a;
    switch (all[0]) {
        case BURIN_T_LIST:
        case BURIN_T_TUPLE:
            return list_of(r, all[0] == BURIN_T_LIST ? BURIN_LIST : BURIN_TUPLE, w);
        case BURIN_T_DICT:
            return dict_of(r, w);
        case BURIN_T_ATTRIBUTE:
            a = burin_evaluate(r, w[0]);
            r->place = all[1];
            return burin_attribute(r, a, burin_string_number(r, w[1]));
        case BURIN_T_ITEM:
            a = burin_evaluate(r, w[0]);
            return burin_item(r, a, burin_evaluate(r, w[1]));
        case BURIN_T_SLICE:
            return slice_node(r, w);
        case BURIN_T_CALL:
            return call_node(r, all[1], w);
        case BURIN_T_FILTER:
        case BURIN_T_TEST:
            return filter_node(r, all);
        case BURIN_T_NOT:
            return burin_boolean(!burin_truth(burin_evaluate(r, w[0])));
        case BURIN_T_NEGATIVE:
        case BURIN_T_POSITIVE:
            return negative(r, all[0], burin_evaluate(r, w[0]));
        case BURIN_T_AND:
        case BURIN_T_OR:
        case BURIN_T_CHOOSE:
            return choose(r, all[0], w);
        case BURIN_T_CONCATENATE:
            return concatenate(r, w);
        case BURIN_T_COMPARE:
            return compare_chain(r, w);
        case BURIN_T_MACRO:
            return macro_node(r, node);
        case BURIN_T_CAPTURE:
            return burin_run_captured(r, w[0]);
        default:
            if (all[0] < BURIN_T_LIST) return leaf_node(r, all[0], w);
            a = burin_evaluate(r, w[0]);
            return burin_arithmetic(r, all[0], a, burin_evaluate(r, w[1]));
    }
}

burin_value burin_evaluate(burin_render_state *r, uint32_t node) {
    burin_render_enter(r);
    r->place = r->words[node + 1];
    burin_value v = node_value(r, node);
    burin_render_leave(r);
    return v;
}
