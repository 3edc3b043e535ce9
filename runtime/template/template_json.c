// Reads JSON into values of templates. Strings are marked as others' text, but for roles in plain
// letters.
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "template_value.h"

typedef struct json_reader {
    burin_render_state *r;
    const char *name, *text, *at, *end;
} json_reader;

static void json_place(const json_reader *j, unsigned *line, unsigned *column) {
    *line = *column = 1;
    for (const char *p = j->text; p < j->at; p++) *p == '\n' ? (++*line, *column = 1) : ++*column;
}

static _Noreturn void json_fail(const json_reader *j, const char *expected) {
    unsigned line, column;
    char found[40] = "its end", spelled[24];
    json_place(j, &line, &column);
    if (j->at < j->end) {
        burin_escape(spelled, sizeof spelled, j->at,
                     j->end - j->at < 8 ? (size_t)(j->end - j->at) : 8);
        burin_format(found, sizeof found, "\"%-s\"", spelled);
    }
    burin_render_fail(j->r, "%s: line %u, column %u: expected %s, found %s", j->name, line, column,
                      expected, found);
}

static void json_blanks(json_reader *j) {
    while (j->at < j->end && strchr(" \t\r\n", *j->at) && *j->at) j->at++;
}

static bool json_take(json_reader *j, char c) {
    json_blanks(j);
    if (j->at == j->end || *j->at != c) return false;
    j->at++;
    return true;
}

static uint32_t json_hex(json_reader *j) {
    uint32_t code = 0;
    for (int i = 0; i < 4; i++, j->at++) {
        char c = j->at < j->end ? *j->at : 0;
        if (c >= '0' && c <= '9')
            code = code * 16 + (uint32_t)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            code = code * 16 + (uint32_t)((c | 32) - 'a' + 10);
        else
            json_fail(j, "four hexadecimal digits");
    }
    return code;
}

// \uD83D\uDE00 is one character; half of a pair alone is U+FFFD.
static uint32_t json_unicode(json_reader *j) {
    uint32_t high = json_hex(j);
    if (high < 0xd800 || high > 0xdfff) return high;
    if (high > 0xdbff || j->end - j->at < 6 || j->at[0] != '\\' || j->at[1] != 'u') return 0xfffd;
    const char *before = j->at;
    j->at += 2;
    uint32_t low = json_hex(j);
    if (low >= 0xdc00 && low <= 0xdfff) return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    j->at = before;
    return 0xfffd;
}

static void json_escape(json_reader *j) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = j->at < j->end ? *j->at : 0;
    const char *known = c ? strchr(from, c) : NULL;
    if (c != 'u' && !known) json_fail(j, "an escape of JSON");
    j->at++;
    if (known)
        burin_text_char(j->r, to[known - from]);
    else
        burin_text_code(j->r, json_unicode(j), true);
}

static burin_value json_read_string(json_reader *j) {
    size_t begin = burin_text_begin(j->r);
    for (j->at++;;) {
        const char *from = j->at;
        while (j->at < j->end && *j->at != '"' && *j->at != '\\' && (unsigned char)*j->at >= 0x20)
            j->at++;
        burin_text_add(j->r, from, (size_t)(j->at - from));
        if (j->at == j->end || (unsigned char)*j->at < 0x20) json_fail(j, "the end of a string");
        if (*j->at++ == '"') break;
        json_escape(j);
    }
    burin_value s = burin_text_end(j->r, begin);
    burin_mark_string(j->r, s, true);
    return s;
}

static burin_value json_read_number(json_reader *j) {
    const char *from = j->at;
    char text[64], *end;
    while (j->at < j->end && strchr("+-.eE0123456789", *j->at) && *j->at) j->at++;
    size_t n = (size_t)(j->at - from), digits = from[0] == '-';
    bool whole = true;
    for (size_t i = digits; i < n; i++) whole &= from[i] >= '0' && from[i] <= '9';
    bool leading =
        n > digits + 1 && from[digits] == '0' && from[digits + 1] >= '0' && from[digits + 1] <= '9';
    j->at = from;
    if ((n >= sizeof text && !whole) || n == digits || leading || from[digits] < '0' ||
        from[digits] > '9')
        json_fail(j, "a number");
    if (whole) return j->at += n, burin_big(j->r, from, n);
    memcpy(text, from, n);
    text[n] = 0;
    double real = strtod(text, &end);
    if (*end || text[n - 1] == '.') json_fail(j, "a number");
    j->at = from + n;
    return burin_real(real);
}

static burin_value json_word(json_reader *j) {
    static const struct {
        const char *word;
        burin_value value;
    } words[] = {{"null", {.kind = BURIN_NONE}},
                 {"true", {.kind = BURIN_BOOL, .integer = 1}},
                 {"false", {.kind = BURIN_BOOL}},
                 {"NaN", {.kind = BURIN_FLOAT, .real = (double)__builtin_nanf("")}},
                 {"Infinity", {.kind = BURIN_FLOAT, .real = (double)__builtin_inff()}},
                 {"-Infinity", {.kind = BURIN_FLOAT, .real = -(double)__builtin_inff()}}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word);
        if ((size_t)(j->end - j->at) < n || memcmp(j->at, words[i].word, n)) continue;
        j->at += n;
        return words[i].value;
    }
    if (j->at < j->end && (*j->at == '-' || (*j->at >= '0' && *j->at <= '9')))
        return json_read_number(j);
    json_fail(j, "a value");
}

static burin_value json_read_value(json_reader *);

static burin_value json_read_list(json_reader *j) {
    burin_value list = burin_list_new(j->r, BURIN_LIST, 0);
    j->at++;
    if (json_take(j, ']')) return list;
    do burin_list_add(j->r, list, json_read_value(j));
    while (json_take(j, ','));
    if (!json_take(j, ']')) json_fail(j, "a comma or ]");
    return list;
}

// Roles are between parts of special tokens in some templates ("<|" + role + "|>"), and cannot be
// one.
static void unmark_role(burin_render_state *r, burin_value key, burin_value role) {
    if (!burin_is_text(key, "role") || role.kind != BURIN_STRING) return;
    for (uint32_t i = 0; i < role.length; i++)
        if ((role.text[i] < 'a' || role.text[i] > 'z') && role.text[i] != '_') return;
    burin_mark_string(r, role, false);
}

static burin_value json_read_dict(json_reader *j) {
    burin_value dict = burin_dict_new(j->r);
    j->at++;
    if (json_take(j, '}')) return dict;
    do {
        json_blanks(j);
        if (j->at == j->end || *j->at != '"') json_fail(j, "a key");
        burin_value key = json_read_string(j);
        if (!json_take(j, ':')) json_fail(j, "a colon");
        burin_value value = json_read_value(j);
        unmark_role(j->r, key, value);
        burin_dict_set(j->r, dict, key, value);
    } while (json_take(j, ','));
    if (!json_take(j, '}')) json_fail(j, "a comma or }");
    return dict;
}

static void json_enter(const json_reader *j) {
    unsigned line, column;
    if (j->r->budget.levels < BURIN_RENDER_DEPTH) {
        burin_render_enter(j->r);
        return;
    }
    json_place(j, &line, &column);
    burin_render_fail(
        j->r, "%s: line %u, column %u: nested too deeply: at most %d values inside each other",
        j->name, line, column, BURIN_RENDER_DEPTH);
}

static burin_value json_read_value(json_reader *j) {
    json_blanks(j);
    json_enter(j);
    char first = j->at < j->end ? *j->at : 0;
    burin_value v = first == '"'   ? json_read_string(j)
                    : first == '[' ? json_read_list(j)
                    : first == '{' ? json_read_dict(j)
                                   : json_word(j);
    burin_render_leave(j->r);
    return v;
}

burin_value burin_json_read(burin_render_state *r, const char *name, const char *text,
                            size_t bytes) {
    size_t mark = bytes >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)
                      ? 3
                      : 0;  // of the byte order, as Windows' tools write it
    json_reader j = {r, name, text + mark, text + mark, text + bytes};
    burin_value v = json_read_value(&j);
    json_blanks(&j);
    if (j.at != j.end) json_fail(&j, "its end");
    return v;
}

bool burin_json_try(burin_render_state *r, burin_value text, burin_value *value) {
    jmp_buf outer;
    char *objects = r->objects, *strings = r->free;
    uint32_t levels = r->budget.levels, place = r->place;
    memcpy(&outer, &r->stop, sizeof outer);
    bool good = !setjmp(r->stop);
    if (good) *value = burin_json_read(r, "text", text.text, text.length);
    memcpy(&r->stop, &outer, sizeof outer);
    if (good) return true;
    r->objects = objects, r->free = strings, r->budget.levels = levels, r->place = place;
    *r->out->error = 0;
    return false;
}
