// Values put into strings: "%s is %d" % (a, b), and "{} is {name}".format(a, name=b).
#include <stdio.h>
#include <string.h>

#include "template_value.h"

// One conversion: flags, width, precision and letter, as printf has them.
typedef struct conversion {
    char flags[8], letter;
    int width, precision;  // -1: none
    burin_value key;       // of %(key)s
} conversion;

static int read_digits(const char **at, const char *end) {
    int n = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++) n = n > 999 ? 1000 : n * 10 + **at - '0';
    return n;
}

static conversion read_conversion(burin_render_state *r, const char **at, const char *end) {
    conversion c = {.width = -1, .precision = -1};
    size_t n = 0;
    if (*at < end && **at == '(') {
        const char *close = memchr(*at, ')', (size_t)(end - *at));
        if (!close) burin_render_fail(r, "a format lacks its )");
        c.key = burin_string_of(*at + 1, (size_t)(close - *at - 1));
        *at = close + 1;
    }
    while (*at < end && **at && strchr("-+ 0#", **at) && n < sizeof c.flags - 1) c.flags[n++] = *(*at)++;
    if (*at < end && **at >= '1' && **at <= '9') c.width = read_digits(at, end);
    if (*at < end && **at == '.') (*at)++, c.precision = read_digits(at, end);
    if (*at == end || c.width > 999 || c.precision > 99) burin_render_fail(r, "a format that is not understood");
    c.letter = *(*at)++;
    return c;
}

static void add_padded(burin_render_state *r, const conversion *c, burin_value s) {
    if (c->precision >= 0) s.length = (uint32_t)burin_character_offset(s, c->precision);
    int64_t room = c->width - burin_count_characters(s);
    bool left = strchr(c->flags, '-');
    for (int64_t i = 0; !left && i < room; i++) burin_text_char(r, ' ');
    burin_text_add(r, s.text, s.length);
    for (int64_t i = 0; left && i < room; i++) burin_text_char(r, ' ');
}

static void add_number(burin_render_state *r, const conversion *c, burin_value v) {
    char format[32], out[1500];
    bool real = strchr("feEgGF", c->letter);
    int precision = c->precision < 0 && real ? 6 : c->precision;
    if (!burin_is_number(v)) burin_render_fail(r, "%%%c takes a number, not %s", c->letter, burin_kind_names[v.kind]);
    snprintf(format, sizeof format, precision < 0 ? "%%%s*%s%c" : "%%%s*.*%s%c", c->flags, real ? "" : "ll",
             c->letter == 'i' || c->letter == 'u' ? 'd' : c->letter);
    long long whole = v.kind == BURIN_FLOAT ? (v.real > -9e18 && v.real < 9e18 ? (long long)v.real : 0) : v.integer;
    int width = c->width < 0 ? 0 : c->width;
    if (real)
        snprintf(out, sizeof out, format, width, precision, burin_number(v));
    else if (precision < 0)
        snprintf(out, sizeof out, format, width, whole);
    else
        snprintf(out, sizeof out, format, width, precision, whole);
    burin_text_add(r, out, strlen(out));
}

typedef struct formatted {
    burin_value values;
    uint32_t used;
} formatted;

static burin_value next_value(burin_render_state *r, formatted *f, const conversion *c) {
    if (c->key.kind == BURIN_STRING) {
        const burin_value *there = f->values.kind == BURIN_DICT ? burin_dict_find(r, f->values, c->key) : NULL;
        if (!there) burin_render_fail(r, "a format names what is not there");
        return *there;
    }
    bool tuple = f->values.kind == BURIN_TUPLE;
    if (f->used == (tuple ? f->values.list->n : 1)) burin_render_fail(r, "a format has more places than values");
    return tuple ? f->values.list->items[f->used++] : (f->used++, f->values);
}

// The texts of values are made before the string is built.
static void format_one(burin_render_state *r, formatted *f, const conversion *c, burin_value *pieces) {
    burin_value v = next_value(r, f, c), text;
    size_t begin;
    if (c->letter == 's') {
        text = burin_string(r, v);
        begin = burin_text_begin(r);
        add_padded(r, c, text);
    } else if (c->letter == 'r' || c->letter == 'a') {
        begin = burin_text_begin(r);
        burin_text_repr(r, v);
        text = burin_text_end(r, begin);
        begin = burin_text_begin(r);
        add_padded(r, c, text);
    } else {
        if (!strchr("diuxXofFeEgG", c->letter)) burin_render_fail(r, "a format that is not understood");
        begin = burin_text_begin(r);
        add_number(r, c, v);
    }
    burin_list_add(r, *pieces, burin_text_end(r, begin));
}

static burin_value join_pieces(burin_render_state *r, burin_value pieces, bool safe) {
    size_t begin = burin_text_begin(r);
    for (uint32_t i = 0; i < pieces.list->n; i++) burin_text_add(r, pieces.list->items[i].text, pieces.list->items[i].length);
    burin_value text = burin_text_end(r, begin);
    text.safe = safe;
    return text;
}

burin_value burin_format_values(burin_render_state *r, burin_value format, burin_value values) {
    formatted f = {.values = values};
    burin_value pieces = burin_list_new(r, BURIN_LIST, 0);
    const char *at = format.text, *end = at + format.length;
    while (at < end) {
        const char *percent = memchr(at, '%', (size_t)(end - at)), *to = percent ? percent : end;
        burin_list_add(r, pieces, burin_slice(format, (size_t)(at - format.text), (size_t)(to - at)));
        at = percent ? percent + 1 : end;
        if (!percent) break;
        if (at < end && *at == '%') {
            burin_list_add(r, pieces, BURIN_LITERAL("%"));
            at++;
        } else {
            conversion c = read_conversion(r, &at, end);
            format_one(r, &f, &c, &pieces);
        }
    }
    if (values.kind == BURIN_TUPLE ? f.used < values.list->n : !f.used && values.kind != BURIN_DICT)
        burin_render_fail(r, "a format has fewer places than values");
    return join_pieces(r, pieces, format.safe);
}

// Between braces: nothing, a number or a name. `next` counts the braces without a number.
static burin_value brace_value(burin_render_state *r, burin_value field, const burin_value *a, uint32_t *next) {
    const char *at = field.text, *end = at + field.length;
    uint32_t index = field.length ? (uint32_t)read_digits(&at, end) : (*next)++;
    if (at == end) {
        if (index >= a[0].list->n) burin_render_fail(r, "format has more places than values");
        return a[0].list->items[index];
    }
    const burin_value *there = burin_dict_find(r, a[1], field);
    if (!there) burin_render_fail(r, "format: nothing is given for {%.*s}", (int)field.length, field.text);
    return *there;
}

burin_value burin_format_braces(burin_render_state *r, burin_value of, const burin_value *a) {
    burin_value pieces = burin_list_new(r, BURIN_LIST, 0);
    uint32_t next = 0;
    for (size_t at = 0; at < of.length;) {
        char c = of.text[at];
        bool doubled = at + 1 < of.length && of.text[at + 1] == c;
        if ((c != '{' && c != '}') || doubled) {
            burin_list_add(r, pieces, burin_slice(of, at, 1));
            at += c == '{' || c == '}' ? 2 : 1;
            continue;
        }
        const char *close = c == '{' ? memchr(of.text + at, '}', of.length - at) : NULL;
        if (!close) burin_render_fail(r, "format: a brace without the other");
        burin_value field = burin_slice(of, at + 1, (size_t)(close - of.text) - at - 1);
        burin_list_add(r, pieces, burin_string(r, brace_value(r, field, a, &next)));
        at += field.length + 2;
    }
    return join_pieces(r, pieces, of.safe);
}
