// tokenize TOKENIZER TEXTS: the ids of each text of a JSON list of strings, and their decoded text,
// one JSON line a text: [[ids], "text"]. Invalid UTF-8 in a decoded text, and U+FFFD, is left out.
// A list of ids in place of a text is decoded.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/tokenizer.h"
#include "runtime/tokenizer/tokenizer.h"
#include "runtime/tokenizer/tokenizer_characters.h"
#include "util/text.h"

static json_t *text_of(const Tokenizer *t, const json_t *ids) {
    char *buffer = malloc(burin_decode_max(t->blob) + 16);
    burin_decoder d = {0};
    Text text = {0};
    for (size_t i = 0; i < json_array_size(ids); i++) {
        int32_t id = (int32_t)json_integer_value(json_array_get(ids, i));
        text_append(&text, buffer, burin_decode(t->blob, &d, id, buffer));
    }
    size_t n = 0;
    uint32_t code;
    for (const uint8_t *p = (uint8_t *)text.data, *end = p + text.length; p < end;) {
        int length = burin_utf8_read(p, end, &code);
        if (code != BURIN_REPLACEMENT) {
            memmove(text.data + n, p, (size_t)length);
            n += (size_t)length;
        }
        p += length;
    }
    json_t *string = json_stringn(text.data ? text.data : "", n);
    free(buffer);
    text_free(&text);
    return string;
}

static json_t *encoded(const Tokenizer *t, const json_t *text) {
    size_t bytes = json_string_length(text), n = 16 * bytes + 64;
    burin_encoding e = {
        .text = json_string_value(text), .bytes = bytes, .special = true, .pad = true};
    e.memory = malloc(burin_encode_memory(t->blob, bytes) + 16);
    while (e.capacity < n) {
        e.ids = realloc(e.ids, n * sizeof *e.ids);
        e.capacity = n;
        n = burin_encode(t->blob, &e);
    }
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(list, json_integer(e.ids[i]));
    free(e.memory);
    free(e.ids);
    return list;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: tokenize TOKENIZER TEXTS\n");
        return 2;
    }
    Arena *arena = arena_new();
    const Tokenizer *t = tokenizer_load(arena, argv[1], 0);
    json_t *texts = json_load_file(argv[2], JSON_ALLOW_NUL, NULL);
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const json_t *text = json_array_get(texts, i);
        json_t *ids = json_is_string(text) ? encoded(t, text) : json_deep_copy(text),
               *line = json_pack("[o,o]", ids, text_of(t, ids));
        char *shown = json_dumps(line, JSON_COMPACT);
        puts(shown);
        free(shown);
        json_decref(line);
    }
    json_decref(texts);
    arena_free(arena);
    return 0;
}
