// Bodies of multipart/form-data: fields become members of the body's object, the part "file" is the
// request's file. Numbers and booleans are those of JSON.
//
//     --BOUNDARY
//     Content-Disposition: form-data; name="language"
//
//     en
//     --BOUNDARY--
#include <event2/buffer.h>
#include <string.h>
#include <strings.h>

#include "server/server.h"

enum { MOST_BOUNDARY = 200, MOST_FIELDS = 64, MOST_FIELD_BYTES = 1 << 16 };

typedef struct span {
    const char *text;
    size_t bytes;
} span;

static _Noreturn void fail_form(burin_request *q, const char *why) {
    burin_request_fail(q, 400, NULL, "the body is no multipart/form-data: %s", why);
}

// The value of a parameter in a header: name="value" or name=value. NULL text: it has none.
static span parameter_of(span header, const char *name) {
    size_t n = strlen(name);
    for (size_t i = 1; i + n + 1 < header.bytes; i++) {
        const char *at = header.text + i, *end = header.text + header.bytes;
        if (!strchr("; \t", at[-1]) || strncasecmp(at, name, n) || at[n] != '=') continue;
        at += n + 1;
        bool quoted = *at == '"';
        at += quoted;
        size_t bytes = 0;
        while (at + bytes < end && !strchr(quoted ? "\"" : "; \t\r", at[bytes])) bytes++;
        return (span){at, bytes};
    }
    return (span){0};
}

static span boundary_of(burin_request *q) {
    const char *type =
        evhttp_find_header(evhttp_request_get_input_headers(q->http), "Content-Type");
    if (!type || strncasecmp(type, "multipart/form-data", strlen("multipart/form-data")))
        burin_request_fail(q, 415, NULL, "the body must be multipart/form-data");
    span boundary = parameter_of((span){type, strlen(type)}, "boundary");
    if (!boundary.bytes || boundary.bytes > MOST_BOUNDARY) fail_form(q, "it names no boundary");
    return boundary;
}

// Moves *body past the first occurrence of a text. Returns the bytes before it; NULL text: none.
static span cut_at(span *body, const char *text, size_t bytes) {
    const char *there = body->bytes ? memmem(body->text, body->bytes, text, bytes) : NULL;
    if (!there) return (span){0};
    span before = {body->text, (size_t)(there - body->text)};
    body->bytes -= before.bytes + bytes, body->text = there + bytes;
    return before;
}

// The header Content-Disposition among those of a part.
static span disposition_of(span headers) {
    static const char name[] = "content-disposition:";
    while (headers.bytes) {
        span line = cut_at(&headers, "\r\n", 2);
        if (!line.text) line = headers, headers.bytes = 0;
        if (line.bytes >= sizeof name - 1 && !strncasecmp(line.text, name, sizeof name - 1))
            return line;
    }
    return (span){0};
}

static burin_value value_of_field(span content) {
    static const char *const words[] = {"false", "False", "true", "True"};
    burin_value text = burin_string_of(content.text, content.bytes);
    for (int i = 0; i < 4; i++)
        if (burin_is_text(text, words[i])) return burin_boolean(i > 1);
    return text;
}

static void take_part(burin_request *q, span headers, span content) {
    span disposition = disposition_of(headers), name = parameter_of(disposition, "name");
    if (!name.text) fail_form(q, "a part has no name");
    if (name.bytes == 4 && !memcmp(name.text, "file", 4)) {
        q->file = content.text, q->file_bytes = content.bytes;
        return;
    }
    if (name.bytes > 2 && !memcmp(name.text + name.bytes - 2, "[]", 2)) name.bytes -= 2;
    if (q->body.dict->n == MOST_FIELDS || content.bytes > MOST_FIELD_BYTES)
        fail_form(q, "too many fields, or a field is too long");
    if (!burin_body_is_text(name.text, name.bytes) ||
        !burin_body_is_text(content.text, content.bytes))
        fail_form(q, "a field is not UTF-8");
    burin_dict_set(&q->r, q->body, burin_string_of(name.text, name.bytes), value_of_field(content));
}

void burin_form_data_read(burin_request *q) {
    char mark[MOST_BOUNDARY + 5] = "\r\n--";
    span boundary = boundary_of(q), body;
    struct evbuffer *input = evhttp_request_get_input_buffer(q->http);
    memcpy(mark + 4, boundary.text, boundary.bytes);
    size_t n = boundary.bytes + 4;
    body = (span){(const char *)evbuffer_pullup(input, -1), evbuffer_get_length(input)};
    burin_body_open(q, body.bytes, BURIN_RENDER_BYTES(0));
    q->body = burin_dict_new(&q->r);
    if (body.bytes >= n - 2 && !memcmp(body.text, mark + 2, n - 2))
        body.text += n - 2, body.bytes -= n - 2;
    else if (!cut_at(&body, mark, n).text)
        fail_form(q, "its boundary is not there");
    while (body.bytes < 2 || memcmp(body.text, "--", 2)) {
        span headers = cut_at(&body, "\r\n\r\n", 4);
        span content = headers.text ? cut_at(&body, mark, n) : (span){0};
        if (!content.text) fail_form(q, "its last part has no end");
        take_part(q, headers, content);
    }
}
