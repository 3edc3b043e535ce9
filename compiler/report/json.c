// JSON values of the report, and their text. jansson escapes; the remaining characters that a page
// obeys are escaped here.
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "report/report.h"

static json_t *need(json_t *value) {
    if (!value) diag_fatal(NO_LOC, "out of memory (the report)");
    return value;
}

json_t *json_of_text(const char *text) {
    if (!text) return json_null();
    json_t *value = json_string(text);
    if (value) return value;
    size_t length = strlen(text), room = 4 * length + 1;
    char *spelled = malloc(room);
    if (spelled) burin_escape(spelled, room, text, length);
    value = spelled ? json_string(spelled) : NULL;
    free(spelled);
    return need(value);
}

void json_put(json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, need(value))) need(NULL);
}

void json_put_text(json_t *object, const char *key, const char *text) {
    json_put(object, key, json_of_text(text));
}

void json_put_count(json_t *object, const char *key, uint64_t n) {
    json_put(object, key, json_integer((json_int_t)n));
}

void json_add(json_t *array, json_t *value) {
    if (json_array_append_new(array, need(value))) need(NULL);
}

static const char *escape_of(char c) {
    return c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : c == '&' ? "\\u0026" : NULL;
}

// These three characters occur only inside of strings.
char *json_for_page(const json_t *value) {
    char *plain = json_dumps(value, JSON_ENSURE_ASCII | JSON_COMPACT | JSON_REAL_PRECISION(9));
    size_t length = 0;
    for (const char *c = plain; c && *c; c++) length += escape_of(*c) ? 6 : 1;
    char *text = plain ? malloc(length + 1) : NULL, *to = text;
    if (!text) diag_fatal(NO_LOC, "out of memory (the report)");
    for (const char *c = plain; *c; c++) {
        const char *escape = escape_of(*c);
        if (escape)
            memcpy(to, escape, 6), to += 6;
        else
            *to++ = *c;
    }
    *to = 0;
    free(plain);
    return text;
}

json_t *json_of_loc(Loc at) {
    json_t *o = json_object();
    const char *text = loc_text(at);
    unsigned line, column;
    if (*text) json_put_text(o, "text", text);
    const char *colon = strrchr(text, ':');
    while (colon && colon > text && *--colon != ':') {}
    if (at.source && (at.source->text || at.source->size == SOURCE_OF_LINES) && colon &&
        sscanf(colon, ":%u:%u", &line, &column) == 2) {
        json_put_text(o, "source", at.source->name);
        json_put_count(o, "line", line), json_put_count(o, "column", column);
    }
    if (at.scope) json_put_text(o, "scope", at.scope);
    return o;
}
