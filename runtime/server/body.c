// Fields of a request's body. A field with the wrong type or a value out of range ends the
// preparation of the request with status 400 and the field's name; unknown fields are tolerated.
#include <event2/buffer.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "server/server.h"

void burin_request_fail(burin_request *q, int status, const char *parameter, const char *format,
                        ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(q->error, sizeof q->error, format, arguments);
    va_end(arguments);
    snprintf(q->parameter, sizeof q->parameter, "%s", parameter ? parameter : "");
    q->status = status;
    longjmp(q->r.stop, 1);
}

// Compares the text with itself after each byte that is no UTF-8 has become U+FFFD.
bool burin_body_is_text(const char *text, size_t bytes) {
    enum { BLOCK = 256 };
    char out[3 * (BLOCK + 1)];
    burin_utf8 u = {0};
    size_t same = 0;
    for (size_t from = 0; from < bytes; from += BLOCK) {
        size_t n = bytes - from < BLOCK ? bytes - from : BLOCK,
               written = burin_utf8_add(&u, text + from, n, out);
        if (written > bytes - same || memcmp(out, text + same, written)) return false;
        same += written;
    }
    return same == bytes;
}

static bool is_type(const char *header, const char *type) {
    size_t n = strlen(type);
    return !strncasecmp(header, type, n) && strchr("; \t", header[n]);
}

// `curl -d` calls any body a form. A page's form may come from a foreign site: a browser names it.
static bool may_be_json(const struct evkeyvalq *headers) {
    const char *type = evhttp_find_header(headers, "Content-Type");
    if (!type || is_type(type, "application/json")) return true;
    return is_type(type, "application/x-www-form-urlencoded") &&
           !evhttp_find_header(headers, "Origin") && !evhttp_find_header(headers, "Sec-Fetch-Site");
}

// The body that a client sent.
static const char *sent_text(burin_request *q, size_t *bytes) {
    struct evbuffer *input = evhttp_request_get_input_buffer(q->http);
    if (!may_be_json(evhttp_request_get_input_headers(q->http)))
        burin_request_fail(q, 415, NULL,
                           "the body must be JSON: send Content-Type: application/json");
    *bytes = evbuffer_get_length(input);
    return (const char *)evbuffer_pullup(input, -1);
}

// Long strings, such as pictures, become few values.
static size_t needed_memory(const char *text, size_t bytes) {
    size_t inside = 0;
    bool is_string = false;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '"') is_string = !is_string;
        if (is_string && text[i] == '\\') i++, inside++;
        inside += is_string;
    }
    return BURIN_RENDER_BYTES(bytes - (inside < bytes ? inside : bytes)) + 32 * inside;
}

void burin_body_open(burin_request *q, size_t bytes, size_t memory) {
    if (bytes > q->server->limits.max_body)
        burin_request_fail(q, 413, NULL, "the body has %zu bytes, more than %zu", bytes,
                           q->server->limits.max_body);
    q->memory = (burin_rendering){.json_name = "body", .memory_bytes = memory};
    q->memory.memory = burin_allocate(1, memory);
    q->r.out = &q->memory;
    burin_render_divide(&q->r);
}

void burin_body_read(burin_request *q) {
    size_t bytes = q->given ? strlen(q->given) : 0;
    const char *text = q->given ? q->given : sent_text(q, &bytes);
    burin_body_open(q, bytes, needed_memory(text, bytes));
    if (!bytes)
        burin_request_fail(q, 400, NULL, "the request has no body: expected an object in JSON");
    if (!burin_body_is_text(text, bytes)) burin_request_fail(q, 400, NULL, "the body is not UTF-8");
    q->body = burin_json_read(&q->r, "body", text, bytes);
    if (q->body.kind != BURIN_DICT)
        burin_request_fail(q, 400, NULL, "the body must be an object in JSON");
    burin_receipt_read(q);
}

const burin_value *burin_body_field(burin_request *q, burin_value dict, const char *name) {
    const burin_value *v = burin_dict_find_text(&q->r, dict, name);
    return v && v->kind != BURIN_NONE ? v : NULL;
}

static _Noreturn void fail_type(burin_request *q, const char *name, const char *expected,
                                burin_value v) {
    burin_request_fail(q, 400, name, "\"%s\" must be %s, and is %s", name, expected,
                       v.kind == BURIN_DICT     ? "an object"
                       : v.kind == BURIN_LIST   ? "a list"
                       : v.kind == BURIN_STRING ? "a string"
                       : v.kind == BURIN_BOOL   ? "a boolean"
                       : v.kind == BURIN_BIG    ? "a number of more than 64 bits"
                                                : "a number");
}

bool burin_body_bool(burin_request *q, const char *name, bool absent) {
    const burin_value *v = burin_body_field(q, q->body, name);
    if (!v) return absent;
    if (v->kind != BURIN_BOOL) fail_type(q, name, "a boolean", *v);
    return v->integer;
}

double burin_body_number(burin_request *q, const char *name, double absent, double least,
                         double most) {
    const burin_value *v = burin_body_field(q, q->body, name);
    if (!v) return absent;
    if (v->kind != BURIN_INTEGER && v->kind != BURIN_FLOAT) fail_type(q, name, "a number", *v);
    double number = burin_number(*v);
    if (!(number >= least && number <= most))
        burin_request_fail(q, 400, name, "\"%s\" is %.9g: expected a number from %.9g to %.9g",
                           name, number, least, most);
    return number;
}

int64_t burin_body_integer(burin_request *q, const char *name, int64_t absent, int64_t least,
                           int64_t most) {
    const burin_value *v = burin_body_field(q, q->body, name);
    if (!v) return absent;
    bool whole = v->kind == BURIN_INTEGER ||
                 (v->kind == BURIN_FLOAT && fabs(v->real) < 9e15 && v->real == floor(v->real));
    if (!whole) fail_type(q, name, "a whole number", *v);
    int64_t number = v->kind == BURIN_INTEGER ? v->integer : (int64_t)v->real;
    if (number < least || number > most)
        burin_request_fail(q, 400, name,
                           "\"%s\" is %lld: expected a whole number from %lld to %lld", name,
                           (long long)number, (long long)least, (long long)most);
    return number;
}

const burin_value *burin_body_string(burin_request *q, const char *name) {
    const burin_value *v = burin_body_field(q, q->body, name);
    if (v && v->kind != BURIN_STRING) fail_type(q, name, "a string", *v);
    return v;
}

const burin_value *burin_body_list(burin_request *q, const char *name) {
    const burin_value *v = burin_body_field(q, q->body, name);
    if (v && v->kind != BURIN_LIST) fail_type(q, name, "a list", *v);
    return v;
}

const burin_value *burin_body_dict(burin_request *q, const char *name) {
    const burin_value *v = burin_body_field(q, q->body, name);
    if (v && v->kind != BURIN_DICT) fail_type(q, name, "an object", *v);
    return v;
}

char *burin_copy_text(burin_value text) {
    char *copy = burin_allocate(1, (size_t)text.length + 1);
    if (text.length) memcpy(copy, text.text, text.length);
    return copy;
}

// ---- bodies of other APIs, which become those of OpenAI's chat ----
burin_value burin_body_text(const char *text) { return burin_string_of(text, strlen(text)); }

void burin_body_set(burin_request *q, burin_value dict, const char *key, burin_value value) {
    burin_dict_set(&q->r, dict, burin_body_text(key), value);
}

bool burin_body_has_type(burin_request *q, burin_value dict, const char *type) {
    const burin_value *t = dict.kind == BURIN_DICT ? burin_body_field(q, dict, "type") : NULL;
    return t && burin_is_text(*t, type);
}

burin_value burin_body_member(burin_request *q, burin_value dict, const char *key,
                              burin_value_kind kind, const char *where) {
    const burin_value *v = dict.kind == BURIN_DICT ? burin_body_field(q, dict, key) : NULL;
    if (!v || v->kind != kind)
        burin_request_fail(q, 400, where, "%s: \"%s\" is missing, or has another type", where, key);
    return *v;
}
