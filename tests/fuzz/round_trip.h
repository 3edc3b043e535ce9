// Uses a tokenizer that could be read as a program does: hostile texts to ids by the program's
// encoder, and back.
#ifndef FUZZ_ROUND_TRIP_H
#define FUZZ_ROUND_TRIP_H
#include <stdlib.h>
#include <string.h>

#include "frontend/tokenizer.h"
#include "runtime/text/prompt.h"

typedef struct HostileText {
    const char *text;
    size_t bytes, times;  // repeated so often
} HostileText;

#define HOSTILE(text, times) {text, sizeof text - 1, times}
static const HostileText HOSTILE_TEXTS[] = {
    HOSTILE(" A caf\u00e9, 12 na\u00efve <s>\n\t \u4e2d\u6587 \u1e9b\u0323 \u0130 don't \xff\xc0 "
            "[MASK]  ",
            1),
    HOSTILE("", 1),
    HOSTILE("\0", 9),
    HOSTILE("a", 300),
    HOSTILE("b", 70),
    HOSTILE(" ", 300),
    HOSTILE("\U0001d160", 20),
    HOSTILE("\ufdfa", 20),
    HOSTILE("a\u0301\u0323", 40),
    HOSTILE("\xf0\x9f", 20),
    HOSTILE("\u2581a ", 30),
    HOSTILE("<s></s>[CLS]", 9),
};

static void decode_all(Arena *arena, const void *blob, const burin_tokens *tokens) {
    burin_decoder d = {0};
    char *bytes = arena_alloc(arena, burin_decode_max(blob));
    for (int32_t i = 0; i < tokens->n; i++)
        if (burin_decode(blob, &d, tokens->id[i], bytes) > burin_decode_max(blob)) abort();
}

// A text, with a mark on every other byte where it is marked.
static void encode_hostile(Arena *arena, const void *blob, const burin_encoding *text,
                           bool marked) {
    uint8_t *marks = arena_alloc(arena, text->bytes + 1);
    for (size_t i = 0; i < text->bytes; i += 2) marks[i] = marked;
    burin_encoding e = *text;
    e.marks = marks;
    burin_tokens tokens = burin_encode_text(blob, &e);
    for (int32_t i = 0; i < tokens.n; i++)
        if (tokens.id[i] < 0) abort();
    decode_all(arena, blob, &tokens);
    free(tokens.id);
}

static void encode_each_way(Arena *arena, const void *blob, const char *text, size_t bytes) {
    encode_hostile(arena, blob,
                   &(burin_encoding){.text = text, .bytes = bytes, .special = true, .pad = true},
                   false);
    encode_hostile(arena, blob,
                   &(burin_encoding){.text = text, .bytes = bytes, .plain = true, .whole = true},
                   false);
    encode_hostile(arena, blob, &(burin_encoding){.text = text, .bytes = bytes, .whole = true},
                   true);
}

static inline void round_trip(Arena *arena, const char *path) {
    const void *blob = tokenizer_load(arena, path, 0)->blob;
    for (size_t i = 0; i < sizeof HOSTILE_TEXTS / sizeof *HOSTILE_TEXTS; i++) {
        const HostileText *h = &HOSTILE_TEXTS[i];
        char *text = arena_alloc(arena, h->bytes * h->times + 1);
        for (size_t k = 0; k < h->times; k++) memcpy(text + k * h->bytes, h->text, h->bytes);
        encode_each_way(arena, blob, text, h->bytes * h->times);
    }
}
#endif
