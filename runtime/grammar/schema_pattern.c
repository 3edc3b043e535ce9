// Patterns: regular expressions of ECMAScript, without what looks ahead or back, as GBNF over the
// characters of a JSON string.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema.h"

typedef struct pattern_reader {
    burin_schema_writer *w;
    burin_growing *g;
    const char *at, *end;
    int depth;
    burin_span_of_lengths length;  // characters of the last atom
    size_t quantifier[2];  // where in `g` the one part of a varying length has its quantifier
    int n_varying;    // parts of a varying length outside of groups; more than 1: no length can be
                      // held
    bool one_by_one;  // that part repeats a single character
} pattern_reader;

enum { MOST_CHARACTERS = 1 << 24 };

static int64_t times_length(int64_t a, int64_t b) {
    if (!a || !b) return 0;
    return a < 0 || b < 0 ? -1 : a > MOST_CHARACTERS / b ? MOST_CHARACTERS : a * b;
}

static burin_span_of_lengths one_after_other(burin_span_of_lengths a, burin_span_of_lengths b) {
    int64_t least = a.least + b.least;
    return (burin_span_of_lengths){least < MOST_CHARACTERS ? least : MOST_CHARACTERS,
                                   a.most < 0 || b.most < 0 ? -1 : a.most + b.most};
}

static burin_span_of_lengths either_length(burin_span_of_lengths a, burin_span_of_lengths b) {
    return (burin_span_of_lengths){a.least < b.least ? a.least : b.least,
                                   a.most < 0 || b.most < 0 ? -1
                                   : a.most > b.most        ? a.most
                                                            : b.most};
}

typedef struct code_set {
    uint32_t low[128], high[128];
    int n;
} code_set;

static bool pattern_is_at(const pattern_reader *p, const char *text) {
    size_t n = strlen(text);
    return (size_t)(p->end - p->at) >= n && !memcmp(p->at, text, n);
}

static void add_codes(pattern_reader *p, code_set *s, uint32_t low, uint32_t high) {
    if (s->n == 128) burin_schema_fail(p->w, "pattern: a class of more than 128 ranges");
    s->low[s->n] = low, s->high[s->n++] = high;
}

static code_set complement(pattern_reader *p, const code_set *s) {
    code_set rest = {.n = 0};
    for (uint32_t next = 0; next <= 0x10ffff;) {
        uint32_t begin = 0x110000, end = 0;
        for (int i = 0; i < s->n; i++) {
            if (s->low[i] <= next && s->high[i] >= next)
                begin = next, end = s->high[i] > end ? s->high[i] : end;
            if (s->low[i] > next && s->low[i] < begin) begin = s->low[i], end = s->high[i];
        }
        if (begin > next) add_codes(p, &rest, next, begin - 1);
        if (begin == 0x110000) break;
        next = end + 1;
    }
    return rest;
}

// One character of a string, if the set has it: plain ones as a class, all others by their escapes.
static void write_set(pattern_reader *p, const code_set *s) {
    static const struct {
        uint32_t code;
        const char *escape;
    } escapes[] = {{'"', "\\\\\\\""}, {'\\', "\\\\\\\\"}, {'\n', "\\\\n"}, {'\r', "\\\\r"},
                   {'\t', "\\\\t"},   {'\f', "\\\\f"},    {'\b', "\\\\b"}};
    static const uint32_t low[] = {0x20, 0x23, 0x5d}, high[] = {0x21, 0x5b, 0x10ffff};
    burin_growing_add(p->g, "([");
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < 3; k++) {
            uint32_t from = s->low[i] > low[k] ? s->low[i] : low[k],
                     to = s->high[i] < high[k] ? s->high[i] : high[k];
            if (from >= 0xd800 && from <= 0xdfff) from = 0xe000;
            if (to >= 0xd800 && to <= 0xdfff) to = 0xd7ff;
            if (from > to) continue;
            burin_growing_code(p->g, from), burin_growing_add(p->g, "-"),
                burin_growing_code(p->g, to);
        }
    burin_growing_add(p->g, "]");
    for (size_t e = 0; e < sizeof escapes / sizeof *escapes; e++)
        for (int i = 0; i < s->n; i++)
            if (escapes[e].code >= s->low[i] && escapes[e].code <= s->high[i]) {
                burin_growing_add(p->g, " | \"%s\"", escapes[e].escape);
                break;
            }
    burin_growing_add(p->g, ")");
}

static uint32_t pattern_hex(pattern_reader *p, int digits) {
    char text[9] = {0}, *end;
    if (p->end - p->at < digits) burin_schema_fail(p->w, "pattern: an escape is cut off");
    memcpy(text, p->at, (size_t)digits);
    uint32_t code = (uint32_t)strtoul(text, &end, 16);
    if (end != text + digits || (code >= 0xd800 && code <= 0xdfff))
        burin_schema_fail(p->w, "pattern: an escape that is no character");
    p->at += digits;
    return code;
}

// \d \w \s and their opposites. False: it is one character, *code.
static bool read_class_escape(pattern_reader *p, code_set *s, uint32_t *code) {
    static const char known[] = "nrtfv0", is[] = "\n\r\t\f\v";
    char c = p->at < p->end ? *p->at++ : 0;
    code_set own = {.n = 0};
    if ((c | 32) == 'd' || (c | 32) == 'w') add_codes(p, &own, '0', '9');
    if ((c | 32) == 'w')
        add_codes(p, &own, 'a', 'z'), add_codes(p, &own, 'A', 'Z'), add_codes(p, &own, '_', '_');
    if ((c | 32) == 's')
        add_codes(p, &own, '\t', '\r'), add_codes(p, &own, ' ', ' '),
            add_codes(p, &own, 0xa0, 0xa0);
    if ((c | 32) == 's') add_codes(p, &own, 0x2028, 0x2029), add_codes(p, &own, 0xfeff, 0xfeff);
    if (own.n && c < 'a') own = complement(p, &own);
    for (int i = 0; i < own.n; i++) add_codes(p, s, own.low[i], own.high[i]);
    if (own.n) return true;
    const char *found = c ? strchr(known, c) : NULL;
    if (c == 'x' || c == 'u')
        *code = pattern_hex(p, c == 'x' ? 2 : 4);
    else if (found)
        *code = (uint32_t)(unsigned char)is[found - known];
    else if (!c || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        burin_schema_fail(p->w, "pattern: the escape \\%c is not supported", c ? c : ' ');
    else
        p->at--, *code = burin_character(&p->at, p->end);
    return false;
}

static uint32_t class_character(pattern_reader *p, code_set *s, bool *set) {
    uint32_t code = 0;
    *set = false;
    if (p->at == p->end) burin_schema_fail(p->w, "pattern: a class without ]");
    if (*p->at == '\\') {
        p->at++;
        if (p->at < p->end && *p->at == 'b') return p->at++, '\b';
        *set = read_class_escape(p, s, &code);
        return code;
    }
    return burin_character(&p->at, p->end);
}

static void read_pattern_class(pattern_reader *p) {
    code_set s = {.n = 0};
    bool negated = pattern_is_at(p, "[^"), set;
    p->at += 1 + negated;
    while (!pattern_is_at(p, "]")) {
        uint32_t low = class_character(p, &s, &set), high = low;
        if (set) continue;
        if (pattern_is_at(p, "-") && p->end - p->at > 1 && p->at[1] != ']') {
            p->at++;
            high = class_character(p, &s, &set);
            if (set || high < low)
                burin_schema_fail(p->w, "pattern: a range of a class that is none");
        }
        add_codes(p, &s, low, high);
    }
    p->at++;
    if (negated) s = complement(p, &s);
    write_set(p, &s);
}

static void read_alternatives(pattern_reader *p, bool outermost);

static void read_pattern_group(pattern_reader *p) {
    p->at++;
    if (pattern_is_at(p, "?:"))
        p->at += 2;
    else if (pattern_is_at(p, "?"))
        burin_schema_fail(p->w, "pattern: groups that begin with (? are not supported, but (?: is");
    if (++p->depth > 50) burin_schema_fail(p->w, "pattern: more than 50 groups in each other");
    burin_growing_add(p->g, "(");
    read_alternatives(p, false);
    if (!pattern_is_at(p, ")")) burin_schema_fail(p->w, "pattern: a group without )");
    burin_growing_add(p->g, ")");
    p->at++, p->depth--;
}

static void read_pattern_character(pattern_reader *p) {
    code_set s = {.n = 0};
    uint32_t code;
    if (*p->at == '.') {
        const code_set ends = {.low = {'\n', '\r', 0x2028}, .high = {'\n', '\r', 0x2029}, .n = 3};
        s = complement(p, &ends);
        p->at++;
    } else if (*p->at == '\\') {
        p->at++;
        if (!read_class_escape(p, &s, &code)) add_codes(p, &s, code, code);
    } else {
        if (strchr("*+?{}^$", *p->at))
            burin_schema_fail(p->w, "pattern: %c is not supported here", *p->at);
        code = burin_character(&p->at, p->end);
        add_codes(p, &s, code, code);
    }
    write_set(p, &s);
}

// *, +, ?, {2}, {2,}, {2,3}
static burin_span_of_lengths read_times(pattern_reader *p) {
    char c = p->at < p->end ? *p->at : 0;
    if (c == '*' || c == '+' || c == '?')
        return p->at++, (burin_span_of_lengths){c == '+', c == '?' ? 1 : -1};
    if (c != '{') return (burin_span_of_lengths){1, 1};
    int64_t n[2] = {0, 0};
    int commas = 0, digits = 0;
    for (p->at++; p->at < p->end && *p->at != '}'; p->at++) {
        bool digit = *p->at >= '0' && *p->at <= '9';
        if ((!digit && *p->at != ',') || (*p->at == ',' && (++commas > 1 || !digits)))
            burin_schema_fail(p->w, "pattern: a repetition without numbers");
        if (digit && n[commas] < MOST_CHARACTERS) n[commas] = 10 * n[commas] + *p->at - '0';
        digits = digit ? digits + 1 : 0;
    }
    if (p->at == p->end) burin_schema_fail(p->w, "pattern: a repetition without }");
    if (!commas && !digits) burin_schema_fail(p->w, "pattern: a repetition without numbers");
    p->at++;
    return (burin_span_of_lengths){n[0], !commas ? n[0] : digits ? n[1] : -1};
}

static void write_times(burin_growing *g, burin_span_of_lengths t) {
    if (t.most < 0)
        burin_growing_add(g, "{%lld,} ", (long long)t.least);
    else
        burin_growing_add(g, "{%lld,%lld} ", (long long)t.least, (long long)t.most);
}

// Reads what repeats the item before, whose length is p->length.
static void read_quantifier(pattern_reader *p, bool outermost) {
    size_t before = p->g->n;
    bool single = p->length.least == 1 && p->length.most == 1;
    burin_span_of_lengths t = read_times(p);
    if (p->at < p->end && *p->at == '?' && !(t.least == 1 && t.most == 1))
        p->at++;  // as few as possible: the same texts
    if (t.least != 1 || t.most != 1) write_times(p->g, t);
    p->length = (burin_span_of_lengths){times_length(p->length.least, t.least),
                                        times_length(p->length.most, t.most)};
    if (!outermost || p->length.least == p->length.most) return;
    p->n_varying++, p->one_by_one = single;
    p->quantifier[0] = before, p->quantifier[1] = p->g->n;
}

static void read_pattern_item(pattern_reader *p, bool outermost) {
    p->length = (burin_span_of_lengths){1, 1};
    if (*p->at == '[')
        read_pattern_class(p);
    else if (*p->at == '(')
        read_pattern_group(p);
    else
        read_pattern_character(p);
    read_quantifier(p, outermost);
}

// One alternative; outermost ones may be anchored. Its length is p->length.
static void read_alternative(pattern_reader *p, bool outermost) {
    burin_span_of_lengths all = {0, 0};
    bool begins = outermost && pattern_is_at(p, "^"), ends = false;
    if (outermost && !begins) burin_growing_add(p->g, "char* "), p->n_varying += 2;
    p->at += begins;
    burin_growing_add(p->g, "\"\" ");
    while (p->at < p->end && *p->at != '|' && *p->at != ')' && !ends) {
        ends = outermost && *p->at == '$' && (p->at + 1 == p->end || p->at[1] == '|');
        if (ends) {
            p->at++;
            break;
        }
        read_pattern_item(p, outermost);
        all = one_after_other(all, p->length);
    }
    if (outermost && !ends) burin_growing_add(p->g, "char* "), p->n_varying += 2;
    if (outermost && !(begins && ends)) all.most = -1;
    p->length = all;
}

static void read_alternatives(pattern_reader *p, bool outermost) {
    read_alternative(p, outermost);
    burin_span_of_lengths all = p->length;
    while (pattern_is_at(p, "|")) {
        p->at++, burin_growing_add(p->g, "| "), p->n_varying += 2;
        read_alternative(p, outermost);
        all = either_length(all, p->length);
    }
    p->length = all;
}

// Writes other numbers where the one varying part has its own, so that the whole is as long as it
// must be. Returns false if that is not possible.
static bool hold_length(pattern_reader *p, burin_span_of_lengths wanted) {
    burin_growing tail = {0};
    burin_span_of_lengths has = p->length;
    if (p->n_varying != 1 || !p->one_by_one || p->quantifier[1] <= p->quantifier[0]) return false;
    const char *own = p->g->bytes + p->quantifier[0];
    int64_t least = strtoll(own + 1, NULL, 10), fixed = has.least - least;
    burin_span_of_lengths t = {wanted.least > has.least ? wanted.least - fixed : least, -1};
    if (wanted.most >= 0 || has.most >= 0)
        t.most = (wanted.most < 0 || (has.most >= 0 && has.most < wanted.most) ? has.most
                                                                               : wanted.most) -
                 fixed;
    if (t.most >= 0 && t.most < t.least)
        burin_schema_fail(p->w, "pattern: no text of this length matches");
    burin_growing_bytes(&tail, p->g->bytes + p->quantifier[1], p->g->n - p->quantifier[1]);
    p->g->n = p->quantifier[0];
    write_times(p->g, t);
    burin_growing_bytes(p->g, tail.bytes, tail.n);
    burin_growing_free(&tail);
    return true;
}

void burin_schema_pattern(burin_schema_writer *w, burin_growing *g, burin_value pattern,
                          burin_span_of_lengths wanted) {
    pattern_reader p = {.w = w, .g = g, .at = pattern.text, .end = pattern.text + pattern.length};
    burin_growing_add(g, "(");
    read_alternatives(&p, true);
    if (p.at < p.end) burin_schema_fail(w, "pattern: ) without (");
    bool within = p.length.least >= wanted.least &&
                  (wanted.most < 0 || (p.length.most >= 0 && p.length.most <= wanted.most));
    if (!within && !hold_length(&p, wanted))
        burin_schema_miss(w, "lengths beside this pattern are not supported");
    burin_growing_add(g, ")");
}
