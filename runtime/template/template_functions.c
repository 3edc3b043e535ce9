// Tests of templates, their global functions, and the objects that these make.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "template_value.h"

// ------------------------------------------------------------------------------------------- tests
// Python's `is`, but that equal numbers and strings are one.
static bool is_same(burin_render_state *r, burin_value a, burin_value b) {
    if (a.kind != b.kind) return false;
    if (a.kind == BURIN_DICT || a.kind == BURIN_NAMESPACE) return a.dict == b.dict;
    if (a.kind == BURIN_LIST || a.kind == BURIN_TUPLE)
        return a.list == b.list || (a.kind == BURIN_TUPLE && !a.list->n && !b.list->n);
    return burin_equal(r, a, b);
}

#define TEST(name, holds)                                                                         \
    static burin_value test_##name(burin_render_state *r, burin_value of, const burin_value *a) { \
        (void)r, (void)of, (void)a;                                                               \
        return burin_boolean(holds);                                                              \
    }

static int64_t whole_number(burin_render_state *r, burin_value v) {
    if (v.kind != BURIN_INTEGER && v.kind != BURIN_BOOL)
        burin_render_fail(r, "expected a whole number, not %s", burin_kind_names[v.kind]);
    return v.integer;
}

static bool is_case(burin_render_state *r, burin_value of, const char *which) {
    burin_value s = burin_string(r, of), same = burin_change_case(r, s, which);
    burin_value other = burin_change_case(r, s, *which == 'u' ? "lower" : "upper");
    s.safe = same.safe = other.safe = false;
    return burin_equal(r, s, same) && !burin_equal(r, s, other);
}

TEST(defined, of.kind != BURIN_UNDEFINED)
TEST(undefined, of.kind == BURIN_UNDEFINED)
TEST(none, of.kind == BURIN_NONE)
TEST(string, of.kind == BURIN_STRING)
TEST(number, burin_is_number(of))
TEST(integer, of.kind == BURIN_INTEGER || of.kind == BURIN_BIG)
TEST(float, of.kind == BURIN_FLOAT)
TEST(boolean, of.kind == BURIN_BOOL)
TEST(mapping, of.kind == BURIN_DICT)
TEST(sequence, burin_is_iterable(of) && of.kind != BURIN_LOOP)
TEST(iterable, burin_is_iterable(of))
TEST(callable, of.kind == BURIN_MACRO || of.kind == BURIN_FUNCTION || of.kind == BURIN_METHOD ||
                   of.kind == BURIN_LOOP || of.kind == BURIN_UNDEFINED)
TEST(true, of.kind == BURIN_BOOL && of.integer)
TEST(false, of.kind == BURIN_BOOL && !of.integer)
TEST(odd, whole_number(r, of) & 1)
TEST(even, !(whole_number(r, of) & 1))
TEST(divisibleby,
     burin_arithmetic(r, BURIN_T_MODULO, of, burin_integer(whole_number(r, a[0]))).integer == 0)
TEST(equal, burin_equal(r, of, a[0]))
TEST(unequal, !burin_equal(r, of, a[0]))
TEST(less, burin_order(r, of, a[0]) < 0)
TEST(less_or_equal, burin_order(r, of, a[0]) <= 0)
TEST(greater, burin_order(r, of, a[0]) > 0)
TEST(greater_or_equal, burin_order(r, of, a[0]) >= 0)
TEST(in, burin_contains(r, a[0], of))
TEST(sameas, is_same(r, of, a[0]))
TEST(escaped, of.kind == BURIN_STRING && of.safe)
TEST(lower, is_case(r, of, "lower"))
TEST(upper, is_case(r, of, "upper"))
TEST(filter,
     burin_find_builtin(burin_filter_rows, of) || burin_find_builtin(burin_list_filter_rows, of))
TEST(test, burin_find_builtin(burin_test_rows, of))

const burin_builtin_row burin_test_rows[] = {
    {"defined", test_defined, ""},
    {"undefined", test_undefined, ""},
    {"none", test_none, ""},
    {"string", test_string, ""},
    {"number", test_number, ""},
    {"integer", test_integer, ""},
    {"float", test_float, ""},
    {"boolean", test_boolean, ""},
    {"mapping", test_mapping, ""},
    {"sequence", test_sequence, ""},
    {"iterable", test_iterable, ""},
    {"callable", test_callable, ""},
    {"true", test_true, ""},
    {"false", test_false, ""},
    {"odd", test_odd, ""},
    {"even", test_even, ""},
    {"divisibleby", test_divisibleby, "num"},
    {"eq", test_equal, "other"},
    {"==", test_equal, "other"},
    {"equalto", test_equal, "other"},
    {"ne", test_unequal, "other"},
    {"!=", test_unequal, "other"},
    {"lt", test_less, "other"},
    {"<", test_less, "other"},
    {"lessthan", test_less, "other"},
    {"le", test_less_or_equal, "other"},
    {"<=", test_less_or_equal, "other"},
    {"gt", test_greater, "other"},
    {">", test_greater, "other"},
    {"greaterthan", test_greater, "other"},
    {"ge", test_greater_or_equal, "other"},
    {">=", test_greater_or_equal, "other"},
    {"in", test_in, "seq"},
    {"sameas", test_sameas, "other"},
    {"escaped", test_escaped, ""},
    {"lower", test_lower, ""},
    {"upper", test_upper, ""},
    {"filter", test_filter, ""},
    {"test", test_test, ""},
    {0},
};

bool burin_test(burin_render_state *r, burin_value name, burin_value of, const burin_arguments *a) {
    const burin_builtin_row *row = burin_find_builtin(burin_test_rows, name);
    if (!row) burin_render_fail(r, "there is no test \"%.*s\"", (int)name.length, name.text);
    return burin_truth(burin_call_builtin(r, row, of, a));
}

// --------------------------------------------------------------------------------------- functions
#define FUNCTION(name) \
    static burin_value name(burin_render_state *r, burin_value of, const burin_value *a)

FUNCTION(make_range) {
    (void)of;
    bool one = a[1].kind == BURIN_UNDEFINED;
    int64_t from = one ? 0 : whole_number(r, a[0]), to = whole_number(r, a[one ? 0 : 1]);
    int64_t step = a[2].kind == BURIN_UNDEFINED ? 1 : whole_number(r, a[2]);
    burin_value list = burin_list_new(r, BURIN_LIST, 0);
    if (!step || step > INT32_MAX || step < -INT32_MAX)
        burin_render_fail(r, "range: a step of %lld", (long long)step);
    for (int64_t i = from; step > 0 ? i < to : i > to; i += step) {
        if (list.list->n == 100000) burin_render_fail(r, "range: more than 100000 numbers");
        burin_list_add(r, list, burin_integer(i));
        if (i > INT64_MAX / 2 || i < INT64_MIN / 2)
            burin_render_fail(r, "range: numbers that large");
    }
    return list;
}

FUNCTION(make_dict) {
    (void)of;
    burin_value dict = burin_dict_new(r);
    for (uint32_t i = 0; i < a[0].list->n; i++) {
        burin_value given = a[0].list->items[i];
        bool pairs = given.kind == BURIN_LIST || given.kind == BURIN_TUPLE;
        if (given.kind != BURIN_DICT && !pairs)
            burin_render_fail(r, "%s does not become a dictionary", burin_kind_names[given.kind]);
        for (uint32_t j = 0; !pairs && j < given.dict->n; j++)
            burin_dict_set(r, dict, given.dict->pairs[j].key, given.dict->pairs[j].value);
        for (uint32_t j = 0; pairs && j < given.list->n; j++) {
            const burin_list *pair = burin_items(r, given.list->items[j]).list;
            if (pair->n != 2) burin_render_fail(r, "a dictionary is made of pairs");
            burin_dict_set(r, dict, pair->items[0], pair->items[1]);
        }
    }
    for (uint32_t i = 0; i < a[1].dict->n; i++)
        burin_dict_set(r, dict, a[1].dict->pairs[i].key, a[1].dict->pairs[i].value);
    return dict;
}

FUNCTION(make_namespace) {
    burin_value dict = make_dict(r, of, a);
    dict.kind = BURIN_NAMESPACE;
    return dict;
}

static burin_value make_object(burin_render_state *r, burin_value items) {
    burin_object *o = burin_render_allocate(r, sizeof *o);
    *o = (burin_object){.items = items};
    return (burin_value){.kind = BURIN_OBJECT, .object = o};
}

FUNCTION(make_joiner) {
    (void)of;
    return make_object(r,
                       a[0].kind == BURIN_UNDEFINED ? BURIN_LITERAL(", ") : burin_string(r, a[0]));
}

FUNCTION(make_cycler) {
    (void)of;
    burin_value items = a[0];
    if (!items.list->n) burin_render_fail(r, "a cycler of nothing");
    items.kind = BURIN_LIST;
    return make_object(r, items);
}

FUNCTION(raise_exception) {
    (void)of;
    burin_value message = burin_string(r, a[0]);
    burin_rendering *out = r->out;
    size_t n = message.length < sizeof out->error - 1 ? message.length : sizeof out->error - 1;
    memcpy(out->error, message.text, n);
    out->error[n] = 0;
    out->raised = true;
    longjmp(r->stop, 1);
}

// "2025-07-05 14:03:09"
static bool read_time(const char *text, struct tm *t) {
    int *const numbers[] = {&t->tm_year, &t->tm_mon, &t->tm_mday,
                            &t->tm_hour, &t->tm_min, &t->tm_sec};
    static const char behind[] = "-- ::";
    for (int i = 0; i < 6; i++) {
        char *end;
        long number = strtol(text, &end, 10);
        if (end == text || *end != behind[i] || number < 0 || number > 9999) return false;
        *numbers[i] = (int)number;
        text = end + 1;
    }
    return true;
}

static struct tm now_of(burin_render_state *r) {
    struct tm now = {.tm_isdst = -1};
    time_t clock = time(NULL);
    if (!r->out->now) {
        localtime_r(&clock, &now);
        return now;
    }
    if (!read_time(r->out->now, &now))
        burin_render_fail(r, "the time \"%s\" is not like 2025-07-05 14:03:09", r->out->now);
    now.tm_year -= 1900, now.tm_mon -= 1;
    mktime(&now);
    return now;
}

// Bytes of "%A", or with flags and a width "%-5d" or "%Ex"; 1: no directive.
static size_t directive_length(const char *format, size_t bytes) {
    size_t n = 1;
    if (*format != '%') return n;
    while (n < bytes && memchr("_-0^#+123456789EO", format[n], 17)) n++;
    return n < bytes ? n + 1 : 1;
}

// A format may come from a message: each of its bytes keeps its mark, and a date has the mark of
// its directive.
FUNCTION(strftime_now) {
    char directive[32], out[1024];
    (void)of;
    burin_value given = burin_string(r, a[0]);
    if (given.length > 255) burin_render_fail(r, "a format of dates is too long");
    burin_render_step(r, 256);
    struct tm now = now_of(r);
    size_t begin = burin_text_begin(r);
    for (size_t at = 0, n; at < given.length; at += n) {
        const char *from = given.text + at;
        n = directive_length(from, given.length - at);
        if (n == 1 || n >= sizeof directive) {
            burin_text_add(r, from, n);
            continue;
        }
        memcpy(directive, from, n);
        directive[n] = 0;
        size_t date = burin_text_begin(r);
        burin_text_add(r, out, strftime(out, sizeof out, directive, &now));
        burin_mark_string(r, burin_text_end(r, date),
                          burin_marked(r, from) || burin_marked(r, from + n - 1));
    }
    return burin_text_end(r, begin);
}

static const burin_builtin_row function_rows[] = {
    {"range", make_range, "start stop= step="},
    {"dict", make_dict, "*"},
    {"namespace", make_namespace, "*"},
    {"joiner", make_joiner, "sep="},
    {"cycler", make_cycler, "*"},
    {"raise_exception", raise_exception, "message"},
    {"strftime_now", strftime_now, "format"},
    {0},
};

burin_value burin_global(burin_value name) {
    const burin_builtin_row *row = burin_find_builtin(function_rows, name);
    if (!row) return burin_undefined(name.text, name.length);
    return (burin_value){.kind = BURIN_FUNCTION, .integer = row - function_rows};
}

burin_value burin_call_function(burin_render_state *r, int64_t number, const burin_arguments *a) {
    return burin_call_builtin(r, &function_rows[number], burin_none(), a);
}
