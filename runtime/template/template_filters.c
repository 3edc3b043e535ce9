// Filters of single values, and how filters, tests, methods and functions get their arguments.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "template_value.h"

// ---------------------------------------------------------------------------------------- builtins
const burin_builtin_row *burin_find_builtin(const burin_builtin_row *rows, burin_value name) {
    for (; rows->name; rows++)
        if (burin_is_text(name, rows->name)) return rows;
    return NULL;
}

typedef struct parameter {
    const char *name;
    size_t length;
    bool optional;
} parameter;

static int parameters_of(const char *text, parameter out[BURIN_MOST_PARAMETERS]) {
    int n = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        bool optional = text[length - 1] == '=';
        out[n++] = (parameter){text, length - optional, optional};
        text += length + strspn(text + length, " ");
    }
    return n;
}

static int parameter_named(const parameter *all, int n, burin_value name) {
    for (int i = 0; i < n; i++)
        if (all[i].length == name.length && !memcmp(all[i].name, name.text, name.length)) return i;
    return -1;
}

static burin_value call_with_any(burin_render_state *r, const burin_builtin_row *row,
                                 burin_value of, const burin_arguments *a) {
    burin_value all[2] = {burin_list_new(r, BURIN_TUPLE, a->n), burin_dict_new(r)};
    for (uint32_t i = 0; i < a->n; i++) burin_list_add(r, all[0], a->values[i]);
    for (uint32_t i = 0; i < a->n_named; i++)
        burin_dict_set(r, all[1], a->named[i].key, a->named[i].value);
    return row->call(r, of, all);
}

burin_value burin_call_builtin(burin_render_state *r, const burin_builtin_row *row, burin_value of,
                               const burin_arguments *a) {
    parameter all[BURIN_MOST_PARAMETERS];
    burin_value values[BURIN_MOST_PARAMETERS];
    bool given[BURIN_MOST_PARAMETERS] = {false};
    burin_render_step(r, 2);
    if (*row->parameters == '*') return call_with_any(r, row, of, a);
    int n = parameters_of(row->parameters, all);
    if (a->n > (uint32_t)n)
        burin_render_fail(r, "%s takes %d arguments, not %u", row->name, n, a->n);
    for (int i = 0; i < n; i++) {
        given[i] = (uint32_t)i < a->n;
        values[i] = given[i] ? a->values[i] : burin_undefined("", 0);
    }
    for (uint32_t i = 0; i < a->n_named; i++) {
        burin_value name = a->named[i].key;
        int at = parameter_named(all, n, name);
        if (at < 0 || given[at])
            burin_render_fail(r, "%s has no argument %.*s to take", row->name, (int)name.length,
                              name.text);
        values[at] = a->named[i].value, given[at] = true;
    }
    for (int i = 0; i < n; i++)
        if (!given[i] && !all[i].optional)
            burin_render_fail(r, "%s lacks its argument %.*s", row->name, (int)all[i].length,
                              all[i].name);
    return row->call(r, of, values);
}

burin_value burin_filter(burin_render_state *r, burin_value name, burin_value of,
                         const burin_arguments *a) {
    const burin_builtin_row *row = burin_find_builtin(burin_filter_rows, name);
    if (!row) row = burin_find_builtin(burin_list_filter_rows, name);
    if (!row) burin_render_fail(r, "there is no filter \"%.*s\"", (int)name.length, name.text);
    return burin_call_builtin(r, row, of, a);
}

// -------------------------------------------------------------------------------------------- text
#define FILTER(name) \
    static burin_value name(burin_render_state *r, burin_value of, const burin_value *a)

FILTER(filter_upper) { return (void)a, burin_change_case(r, burin_string(r, of), "upper"); }
FILTER(filter_lower) { return (void)a, burin_change_case(r, burin_string(r, of), "lower"); }
FILTER(filter_capitalize) {
    return (void)a, burin_change_case(r, burin_string(r, of), "capitalize");
}

FILTER(filter_title) {
    (void)a;
    burin_value s = burin_change_case(r, burin_string(r, of), "words");
    s.safe = false;
    return s;
}

FILTER(filter_trim) { return burin_strip(r, burin_string(r, of), a[0], true, true); }
FILTER(filter_string) { return (void)a, burin_string(r, of); }
FILTER(filter_escape) { return (void)a, burin_escape_html(r, of); }

FILTER(filter_force_escape) {
    (void)a;
    of = burin_string(r, of);
    of.safe = false;
    return burin_escape_html(r, of);
}

FILTER(filter_safe) {
    (void)a;
    of = burin_string(r, of);
    of.safe = true;
    return of;
}

FILTER(filter_replace) {
    of = burin_string(r, of);
    of.safe = false;
    const burin_value values[] = {burin_string(r, a[0]), burin_string(r, a[1]), a[2]};
    const burin_arguments arguments = {.n = a[2].kind == BURIN_INTEGER ? 3 : 2, .values = values};
    const burin_method method = {of, BURIN_LITERAL("replace")};
    return burin_call_method(r, &method, &arguments);
}

static burin_value lines_of(burin_render_state *r, burin_value s) {
    const burin_arguments none = {0};
    const burin_method method = {s, BURIN_LITERAL("splitlines")};
    return burin_call_method(r, &method, &none);
}

static void add_blanks(burin_render_state *r, burin_value width) {
    if (width.kind == BURIN_STRING) return burin_text_add(r, width.text, width.length);
    int64_t n = burin_width(width, 4);
    for (int64_t i = 0; i < n; i++) burin_text_char(r, ' ');
}

FILTER(filter_indent) {
    burin_value s = burin_string(r, of),
                lines = lines_of(r, burin_join_two(r, s, BURIN_LITERAL("\n")));
    bool first = burin_truth(a[1]), blank = burin_truth(a[2]);
    if (a[0].kind != BURIN_STRING && a[0].kind != BURIN_INTEGER && a[0].kind != BURIN_UNDEFINED)
        burin_render_fail(r, "indent takes a number or a string");
    size_t begin = burin_text_begin(r);
    for (uint32_t i = 0; i < lines.list->n; i++) {
        burin_value line = lines.list->items[i];
        if (i) burin_text_char(r, '\n');
        if (i ? blank || line.length : first) add_blanks(r, a[0]);
        burin_text_add(r, line.text, line.length);
    }
    burin_value text = burin_text_end(r, begin);
    text.safe = s.safe;
    return text;
}

int64_t burin_width(burin_value v, int64_t absent) {
    enum { WIDEST = 1 << 30 };
    if (v.kind != BURIN_INTEGER) return absent;
    return v.integer > WIDEST ? WIDEST : v.integer < -WIDEST ? -WIDEST : v.integer;
}

FILTER(filter_truncate) {
    burin_value s = burin_string(r, of),
                end = a[2].kind == BURIN_STRING ? a[2] : BURIN_LITERAL("...");
    int64_t length = burin_width(a[0], 255), leeway = burin_width(a[3], 5);
    if (burin_length(r, s) <= length + leeway) return s;
    int64_t kept = length - burin_length(r, end);
    burin_value cut = burin_slice(s, 0, burin_character_offset(s, kept > 0 ? kept : 0));
    const char *space = burin_truth(a[1]) ? NULL : memrchr(cut.text, ' ', cut.length);
    if (space) cut.length = (uint32_t)(space - cut.text);
    return burin_join_two(r, cut, end);
}

FILTER(filter_center) {
    burin_value s = burin_string(r, of);
    int64_t width = burin_width(a[0], 80), room = width - burin_length(r, s);
    if (room <= 0) return s;
    int64_t left = room / 2 + (room & width & 1);
    size_t begin = burin_text_begin(r);
    add_blanks(r, burin_integer(left));
    burin_text_add(r, s.text, s.length);
    add_blanks(r, burin_integer(room - left));
    return burin_text_end(r, begin);
}

FILTER(filter_wordcount) {
    (void)a;
    int64_t n = 0;
    bool inside = false;
    of = burin_string(r, of);
    burin_render_step(r, of.length);
    for (const char *at = of.text, *end = at + of.length; at < end;) {
        uint32_t code = burin_character(&at, end);
        bool word = burin_is_letter(code) || code == '_' || (code >= '0' && code <= '9');
        n += word && !inside;
        inside = word;
    }
    return burin_integer(n);
}

FILTER(filter_urlencode) {
    (void)a;
    of = burin_string(r, of);
    size_t begin = burin_text_begin(r);
    for (uint32_t i = 0; i < of.length; i++) {
        unsigned char c = (unsigned char)of.text[i];
        char text[8];
        bool plain = (c | 32) >= 'a' && (c | 32) <= 'z';
        snprintf(text, sizeof text, plain || (c && strchr("0123456789_.-~/", c)) ? "%c" : "%%%02X",
                 c);
        burin_text_add(r, text, strlen(text));
    }
    return burin_text_end(r, begin);
}

FILTER(filter_format) { return burin_format_values(r, burin_string(r, of), a[0]); }

FILTER(filter_tojson) {
    burin_json_style style = {
        .indent = burin_none(), .sorted = burin_truth(a[3]), .ascii = burin_truth(a[0])};
    if (a[1].kind != BURIN_UNDEFINED) style.indent = a[1];
    if (style.indent.kind != BURIN_NONE && style.indent.kind != BURIN_STRING &&
        style.indent.kind != BURIN_INTEGER)
        burin_render_fail(r, "tojson: indent is a number or a string");
    style.between = style.indent.kind == BURIN_NONE ? BURIN_LITERAL(", ") : BURIN_LITERAL(",");
    style.behind_key = BURIN_LITERAL(": ");
    if (a[2].kind == BURIN_LIST || a[2].kind == BURIN_TUPLE) {
        if (a[2].list->n != 2) burin_render_fail(r, "tojson: separators are two strings");
        style.between = a[2].list->items[0], style.behind_key = a[2].list->items[1];
    }
    return burin_json_text(r, of, &style);
}

// ----------------------------------------------------------------------------------------- numbers
static bool is_word_of_float(const char *text) { return strpbrk(text, "xXpP") != NULL; }

// The number in a string, as int() (of a base from 2 to 36) and float() (base 0) read it.
static bool parse_number(burin_render_state *r, burin_value s, int base, burin_value *out) {
    char text[128], *end;
    burin_value trimmed = burin_strip(r, s, burin_none(), true, true);
    if (!trimmed.length || trimmed.length >= sizeof text) return false;
    memcpy(text, trimmed.text, trimmed.length);
    text[trimmed.length] = 0;
    burin_render_step(r, trimmed.length);
    if (base >= 2 && base <= 36) {
        errno = 0;
        long long whole = strtoll(text, &end, base);
        if (!*end && end != text && errno && base != 10)
            burin_render_fail(r, "the number %.80s is too large", text);
        *out = errno && !*end ? burin_big(r, text, strlen(text)) : burin_integer(whole);
        if (!*end && end != text) return true;
    }
    double real = strtod(text, &end);
    *out = burin_real(real);
    return !*end && end != text && !is_word_of_float(text);
}

static burin_value truncated(burin_render_state *r, double real, burin_value absent) {
    char text[400];
    if (!isfinite(real)) return absent;
    return burin_big(r, text, (size_t)snprintf(text, sizeof text, "%.0f", trunc(real)));
}

// A base that int() refuses is one that no digit is of: then float() reads the string.
static int base_of(burin_value base) {
    if (base.kind != BURIN_INTEGER) return 10;
    return base.integer >= 2 && base.integer <= 36 ? (int)base.integer : 0;
}

FILTER(filter_int) {
    burin_value absent = a[0].kind == BURIN_UNDEFINED ? burin_integer(0) : a[0], number;
    if (of.kind == BURIN_UNDEFINED)
        burin_render_fail(r, "\"%.*s\" is undefined", (int)of.length, of.text);
    if (of.kind == BURIN_FLOAT) return truncated(r, of.real, absent);
    if (of.kind == BURIN_BIG) return of;
    if (burin_is_number(of)) return burin_integer(of.integer);
    if (of.kind != BURIN_STRING || !parse_number(r, of, base_of(a[1]), &number)) return absent;
    return number.kind == BURIN_FLOAT ? truncated(r, number.real, absent) : number;
}

FILTER(filter_float) {
    burin_value absent = a[0].kind == BURIN_UNDEFINED ? burin_real(0) : a[0], number;
    if (of.kind == BURIN_UNDEFINED)
        burin_render_fail(r, "\"%.*s\" is undefined", (int)of.length, of.text);
    if (burin_is_number(of)) return burin_real(burin_number(of));
    return of.kind == BURIN_STRING && parse_number(r, of, 0, &number) ? number : absent;
}

FILTER(filter_abs) {
    (void)a;
    if (!burin_is_number(of))
        burin_render_fail(r, "abs takes a number, not %s", burin_kind_names[of.kind]);
    if (of.kind == BURIN_FLOAT) return burin_real(fabs(of.real));
    if (of.kind == BURIN_BIG)
        return burin_big(r, of.text + (*of.text == '-'), of.length - (*of.text == '-'));
    return of.integer < 0 ? burin_arithmetic(r, BURIN_T_SUBTRACT, burin_integer(0), of)
                          : burin_integer(of.integer);
}

FILTER(filter_round) {
    int64_t digits = a[0].kind == BURIN_INTEGER ? a[0].integer : 0;
    if (!burin_is_number(of))
        burin_render_fail(r, "round takes a number, not %s", burin_kind_names[of.kind]);
    if (digits < -15 || digits > 15 || of.kind == BURIN_BIG) return of;
    burin_render_step(r, 64);
    double x = burin_number(of), scale = pow(10, (double)digits);
    if (burin_is_text(a[1], "ceil") || burin_is_text(a[1], "floor"))
        return burin_real((burin_is_text(a[1], "ceil") ? ceil(x * scale) : floor(x * scale)) /
                              scale +
                          0.0);  // never -0.0
    if (of.kind != BURIN_FLOAT && digits >= 0) return burin_integer(of.integer);
    char text[400];
    if (digits < 0) {
        double rounded = nearbyint(x * scale) / scale;
        return of.kind == BURIN_FLOAT ? burin_real(rounded) : burin_integer((int64_t)rounded);
    }
    snprintf(text, sizeof text, "%.*f", (int)digits, x);
    return burin_real(strtod(text, NULL));
}

FILTER(filter_default) {
    (void)r;
    burin_value absent = a[0].kind == BURIN_UNDEFINED ? BURIN_LITERAL("") : a[0];
    return of.kind == BURIN_UNDEFINED || (burin_truth(a[1]) && !burin_truth(of)) ? absent : of;
}

FILTER(filter_attr) { return burin_attribute(r, of, burin_string(r, a[0])); }
FILTER(filter_length) { return (void)a, burin_integer(burin_length(r, of)); }

const burin_builtin_row burin_filter_rows[] = {
    {"upper", filter_upper, ""},
    {"lower", filter_lower, ""},
    {"capitalize", filter_capitalize, ""},
    {"title", filter_title, ""},
    {"trim", filter_trim, "chars="},
    {"string", filter_string, ""},
    {"escape", filter_escape, ""},
    {"e", filter_escape, ""},
    {"forceescape", filter_force_escape, ""},
    {"safe", filter_safe, ""},
    {"replace", filter_replace, "old new count="},
    {"indent", filter_indent, "width= first= blank="},
    {"truncate", filter_truncate, "length= killwords= end= leeway="},
    {"center", filter_center, "width="},
    {"wordcount", filter_wordcount, ""},
    {"urlencode", filter_urlencode, ""},
    {"format", filter_format, "*"},
    {"tojson", filter_tojson, "ensure_ascii= indent= separators= sort_keys="},
    {"int", filter_int, "default= base="},
    {"float", filter_float, "default="},
    {"abs", filter_abs, ""},
    {"round", filter_round, "precision= method="},
    {"default", filter_default, "default_value= boolean="},
    {"d", filter_default, "default_value= boolean="},
    {"attr", filter_attr, "name"},
    {"length", filter_length, ""},
    {"count", filter_length, ""},
    {0},
};
