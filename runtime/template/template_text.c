// Values of templates as text: str() and repr() of Python, and JSON.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "template_value.h"

static void add_text(burin_render_state *r, const char *text) {
    burin_text_add(r, text, strlen(text));
}

// ----------------------------------------------------------------------------------------- numbers
// Digits of the shortest decimal that is this number, and where its point is.
static int shortest_digits(double x, char digits[24], int *point) {
    char text[40];
    int precision = 0, n = 0;
    do snprintf(text, sizeof text, "%.*e", precision, x);
    while (strtod(text, NULL) != x && precision++ < 17);
    const char *at = text;
    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9') digits[n++] = *at;
    *point = atoi(at + 1) + 1;
    digits[n] = 0;
    return n;
}

enum { REAL_STEPS = 64 };  // of finding these digits

static void write_real(double x, char *out, size_t room) {
    char digits[24];
    int point, n = shortest_digits(fabs(x), digits, &point);
    const char *sign = signbit(x) ? "-" : "";
    if (point > 16 || point < -3)
        snprintf(out, room, "%s%c%s%se%c%02d", sign, *digits, n > 1 ? "." : "", digits + 1,
                 point > 0 ? '+' : '-', abs(point - 1));
    else if (point <= 0)
        snprintf(out, room, "%s0.%.*s%s", sign, -point, "0000", digits);
    else if (n <= point)
        snprintf(out, room, "%s%s%.*s.0", sign, digits, point - n, "0000000000000000");
    else
        snprintf(out, room, "%s%.*s.%s", sign, point, digits, digits + point);
}

const char *burin_number_text(burin_value v, char out[64]) {
    if (v.kind == BURIN_BOOL) return v.integer ? "True" : "False";
    if (v.kind == BURIN_BIG) return v.text;
    if (v.kind == BURIN_INTEGER)
        snprintf(out, 64, "%lld", (long long)v.integer);
    else if (isnan(v.real))
        return "nan";
    else if (isinf(v.real))
        return v.real > 0 ? "inf" : "-inf";
    else
        write_real(v.real, out, 64);
    return out;
}

// ------------------------------------------------------------------------------------ str and repr
static void repr_character(burin_render_state *r, const char *from, const char *end, char quote) {
    const char *at = from;
    uint32_t code = burin_character(&at, end);
    char text[16];
    bool whole = code < 0x80 || at - from > 1;
    if (code == (unsigned char)quote || code == '\\')
        snprintf(text, sizeof text, "\\%c", (int)code);
    else if (code == '\n' || code == '\r' || code == '\t')
        snprintf(text, sizeof text, "\\%c", code == '\n' ? 'n' : code == '\r' ? 'r' : 't');
    else if (whole && burin_is_printed(code))
        return burin_text_add(r, from, (size_t)(at - from));
    else
        snprintf(text, sizeof text,
                 code < 0x100     ? "\\x%02x"
                 : code < 0x10000 ? "\\u%04x"
                                  : "\\U%08x",
                 code);
    add_text(r, text);
}

static void repr_string(burin_render_state *r, burin_value s) {
    bool apostrophe = memchr(s.text, '\'', s.length), double_quote = memchr(s.text, '"', s.length);
    char quote = apostrophe && !double_quote ? '"' : '\'';
    if (s.safe) add_text(r, "Markup(");
    burin_text_char(r, quote);
    for (const char *at = s.text, *end = at + s.length; at < end;) {
        const char *from = at;
        burin_character(&at, end);
        repr_character(r, from, end, quote);
    }
    burin_text_char(r, quote);
    if (s.safe) add_text(r, ")");
}

static void repr_list(burin_render_state *r, burin_value v) {
    bool tuple = v.kind == BURIN_TUPLE;
    burin_text_char(r, tuple ? '(' : '[');
    for (uint32_t i = 0; i < v.list->n; i++) {
        if (i) add_text(r, ", ");
        burin_text_repr(r, v.list->items[i]);
    }
    add_text(r, tuple ? v.list->n == 1 ? ",)" : ")" : "]");
}

static void repr_dict(burin_render_state *r, const burin_dict *d) {
    burin_text_char(r, '{');
    for (uint32_t i = 0; i < d->n; i++) {
        if (i) add_text(r, ", ");
        burin_text_repr(r, d->pairs[i].key);
        add_text(r, ": ");
        burin_text_repr(r, d->pairs[i].value);
    }
    burin_text_char(r, '}');
}

static void repr_other(burin_render_state *r, burin_value v) {
    if (v.kind == BURIN_NAMESPACE) {
        add_text(r, "<Namespace ");
        repr_dict(r, v.dict);
        add_text(r, ">");
    } else {
        add_text(r, "<");
        add_text(r, burin_kind_names[v.kind] + (v.kind == BURIN_OBJECT ? 3 : 2));
        add_text(r, ">");
    }
}

void burin_text_repr(burin_render_state *r, burin_value v) {
    char out[64];
    burin_render_enter(r);
    switch (v.kind) {
        case BURIN_UNDEFINED:
            add_text(r, "Undefined");
            break;
        case BURIN_NONE:
            add_text(r, "None");
            break;
        case BURIN_BOOL:
        case BURIN_INTEGER:
        case BURIN_FLOAT:
        case BURIN_BIG:
            burin_render_step(r, v.kind == BURIN_FLOAT ? REAL_STEPS : 1);
            add_text(r, burin_number_text(v, out));
            break;
        case BURIN_STRING:
            repr_string(r, v);
            break;
        case BURIN_LIST:
        case BURIN_TUPLE:
            repr_list(r, v);
            break;
        case BURIN_DICT:
            repr_dict(r, v.dict);
            break;
        default:
            repr_other(r, v);
    }
    burin_render_leave(r);
}

void burin_text_value(burin_render_state *r, burin_value v) {
    v = burin_printed_as(v);
    if (v.kind == BURIN_STRING)
        burin_text_add(r, v.text, v.length);
    else if (v.kind != BURIN_UNDEFINED)
        burin_text_repr(r, v);
}

burin_value burin_string(burin_render_state *r, burin_value v) {
    v = burin_printed_as(v);
    if (v.kind == BURIN_STRING) return v;
    size_t begin = burin_text_begin(r);
    burin_text_value(r, v);
    return burin_text_end(r, begin);
}

void burin_text_escaped(burin_render_state *r, burin_value s) {
    static const char from[] = "&<>'\"", *const to[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
    for (uint32_t i = 0; i < s.length; i++) {
        const char *special = s.text[i] ? strchr(from, s.text[i]) : NULL;
        if (special && !s.safe)
            add_text(r, to[special - from]);
        else
            burin_text_add(r, s.text + i, 1);
    }
}

burin_value burin_escape_html(burin_render_state *r, burin_value v) {
    burin_value s = burin_string(r, v);
    if (s.safe) return s;
    size_t begin = burin_text_begin(r);
    burin_text_escaped(r, s);
    s = burin_text_end(r, begin);
    s.safe = true;
    return s;
}

// -------------------------------------------------------------------------------------------- JSON
typedef struct json_writer {
    burin_render_state *r;
    const burin_json_style *style;
    uint32_t depth;
} json_writer;

static void json_value(json_writer *, burin_value);

static void json_code(burin_render_state *r, uint32_t code) {
    char text[24];
    if (code >= 0x10000)
        snprintf(text, sizeof text, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
                 0xdc00 + ((code - 0x10000) & 0x3ff));
    else
        snprintf(text, sizeof text, "\\u%04x", code);
    add_text(r, text);
}

static void json_string(const json_writer *w, burin_value s) {
    static const char from[] = "\"\\\n\r\t\f\b", to[] = "\"\\nrtfb";
    burin_render_state *r = w->r;
    burin_text_char(r, '"');
    for (const char *at = s.text, *end = at + s.length; at < end;) {
        const char *start = at, *named;
        uint32_t code = burin_character(&at, end);
        if (code && code < 0x80 && (named = strchr(from, (int)code))) {
            burin_text_char(r, '\\');
            burin_text_char(r, to[named - from]);
        } else if (code < 0x20 || (w->style->ascii && code >= 0x7f)) {
            json_code(r, code);
        } else {
            burin_text_add(r, start, (size_t)(at - start));
        }
    }
    burin_text_char(r, '"');
}

static void json_number(const json_writer *w, burin_value v) {
    char out[64];
    burin_render_step(w->r, v.kind == BURIN_FLOAT ? REAL_STEPS : 1);
    if (v.kind == BURIN_BOOL)
        add_text(w->r, v.integer ? "true" : "false");
    else if (v.kind == BURIN_FLOAT && !isfinite(v.real))
        add_text(w->r, isnan(v.real) ? "NaN" : v.real > 0 ? "Infinity" : "-Infinity");
    else
        add_text(w->r, burin_number_text(v, out));
}

static void json_line(const json_writer *w) {
    burin_value indent = w->style->indent;
    if (indent.kind == BURIN_NONE) return;
    burin_text_char(w->r, '\n');
    for (uint32_t i = 0; i < w->depth; i++) {
        if (indent.kind == BURIN_STRING) burin_text_add(w->r, indent.text, indent.length);
        for (int64_t j = 0; indent.kind != BURIN_STRING && j < indent.integer; j++)
            burin_text_char(w->r, ' ');
    }
}

static void json_between(const json_writer *w, bool first) {
    if (!first) burin_text_value(w->r, w->style->between);
    json_line(w);
}

static void json_list(json_writer *w, const burin_list *list) {
    if (!list->n) return add_text(w->r, "[]");
    burin_text_char(w->r, '[');
    w->depth++;
    for (uint32_t i = 0; i < list->n; i++) {
        json_between(w, i == 0);
        json_value(w, list->items[i]);
    }
    w->depth--;
    json_line(w);
    burin_text_char(w->r, ']');
}

static void json_key(json_writer *w, burin_value key) {
    if (key.kind == BURIN_STRING) return json_string(w, key);
    if (key.kind != BURIN_NONE && !burin_is_number(key))
        burin_render_fail(w->r, "%s is no key of JSON", burin_kind_names[key.kind]);
    burin_text_char(w->r, '"');
    json_value(w, key);
    burin_text_char(w->r, '"');
}

static void sort_pairs(burin_render_state *r, burin_pair *pairs, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        burin_pair pair = pairs[i];
        uint32_t at = i;
        for (; at && burin_order(r, pair.key, pairs[at - 1].key) < 0; at--)
            pairs[at] = pairs[at - 1];
        pairs[at] = pair;
    }
}

static void json_dict(json_writer *w, const burin_dict *d) {
    burin_pair *pairs = d->pairs;
    if (!d->n) return add_text(w->r, "{}");
    if (w->style->sorted) {
        pairs = burin_render_allocate(w->r, d->n * sizeof *pairs);
        memcpy(pairs, d->pairs, d->n * sizeof *pairs);
        sort_pairs(w->r, pairs, d->n);
    }
    burin_text_char(w->r, '{');
    w->depth++;
    for (uint32_t i = 0; i < d->n; i++) {
        json_between(w, i == 0);
        json_key(w, pairs[i].key);
        burin_text_value(w->r, w->style->behind_key);
        json_value(w, pairs[i].value);
    }
    w->depth--;
    json_line(w);
    burin_text_char(w->r, '}');
}

static void json_value(json_writer *w, burin_value v) {
    burin_render_enter(w->r);
    if (v.kind == BURIN_NONE)
        add_text(w->r, "null");
    else if (burin_is_number(v))
        json_number(w, v);
    else if (v.kind == BURIN_STRING)
        json_string(w, v);
    else if (v.kind == BURIN_LIST || v.kind == BURIN_TUPLE)
        json_list(w, v.list);
    else if (v.kind == BURIN_DICT)
        json_dict(w, v.dict);
    else
        burin_render_fail(
            w->r, "%s has no JSON",
            v.kind == BURIN_UNDEFINED ? "what is undefined" : burin_kind_names[v.kind]);
    burin_render_leave(w->r);
}

burin_value burin_json_text(burin_render_state *r, burin_value v, const burin_json_style *style) {
    json_writer w = {.r = r, .style = style};
    size_t begin = burin_text_begin(r);
    json_value(&w, v);
    return burin_text_end(r, begin);
}
