// A GGUF's contents in words: sizes of all types, unsupported ones included, and values of
// metadata.
#include "util/text.h"

#include <inttypes.h>
#include <string.h>

#include "frontend/checkpoint/gguf/gguf.h"
#include "ir/format.h"

uint64_t gguf_type_bytes(uint32_t type, uint64_t values) {
    static const struct {
        uint32_t id, block, bytes;
    } others[] = {{0, 1, 4},     {1, 1, 2},     {9, 32, 36},   {15, 256, 292}, {16, 256, 66},
                  {17, 256, 74}, {18, 256, 98}, {19, 256, 50}, {21, 256, 110}, {22, 256, 82},
                  {24, 1, 1},    {25, 1, 2},    {26, 1, 4},    {27, 1, 8},     {28, 1, 8},
                  {29, 256, 56}, {30, 1, 2},    {40, 64, 36},  {41, 128, 18},  {42, 64, 18}};
    const Format *f = type < INT32_MAX ? format_of_ggml((int)type) : NULL;
    if (f) return values / (uint64_t)f->block * (uint64_t)f->bytes;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].id == type) return values / others[i].block * others[i].bytes;
    return 0;
}

// The element at `at`; the next one's place
static const unsigned char *add_element(Text *t, GgufType type, const unsigned char *at) {
    static const int sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    enum { LONGEST = 200 };
    uint64_t raw = 0;
    float narrow = 0;
    double real = 0;
    if (type == GGUF_STRING) {
        memcpy(&raw, at, sizeof raw);
        text_add(t, "\"%.*s\"", (int)(raw < LONGEST ? raw : LONGEST),
                 (const char *)at + sizeof raw);
        if (raw > LONGEST) text_add(t, "...");
        return at + sizeof raw + raw;
    }
    memcpy(&raw, at, (size_t)sizes[type]);
    memcpy(&narrow, at, sizes[type] == 4 ? 4 : 0), memcpy(&real, at, sizes[type] == 8 ? 8 : 0);
    int unused = 64 - 8 * sizes[type];
    if (type == GGUF_F32 || type == GGUF_F64)
        text_add(t, "%.9g", type == GGUF_F32 ? (double)narrow : real);
    else if (type == GGUF_BOOL)
        text_add(t, raw ? "true" : "false");
    else if (type == GGUF_I8 || type == GGUF_I16 || type == GGUF_I32 || type == GGUF_I64)
        text_add(t, "%" PRId64, (int64_t)(raw << unused) >> unused);
    else
        text_add(t, "%" PRIu64, raw);
    return at + sizes[type];
}

const char *gguf_value_text(Arena *arena, const GgufValue *v, uint64_t most) {
    Text t = {0};
    const unsigned char *at = v->data;
    if (v->is_array) text_add(&t, "%" PRIu64 ": ", v->n);
    for (uint64_t i = 0; i < v->n && i < most; i++) {
        if (i) text_add(&t, ", ");
        at = add_element(&t, v->type, at);
    }
    if (v->n > most) text_add(&t, ", ...");
    const char *text = arena_strndup(arena, t.data ? t.data : "", t.length);
    text_free(&t);
    return text;
}
