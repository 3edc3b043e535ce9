// What a tokenizer that could be read is used for: a text of several scripts to ids, and back.
#ifndef FUZZ_ROUND_TRIP_H
#define FUZZ_ROUND_TRIP_H
#include <stdlib.h>

#include "frontend/tokenizer.h"
#include "runtime/tokenizer/tokenizer.h"

static const char TEXT[] = " A caf\u00e9, 12 na\u00efve <s>\n\t \u4e2d\u6587 \u1e9b\u0323 \u0130 don't \xff\xc0 [MASK]  ";

static void round_trip(Arena *arena, const char *path) {
    const void *blob = tokenizer_load(arena, path, 0)->blob;
    int32_t ids[64];
    burin_encoding e = {.text = TEXT, .bytes = sizeof TEXT - 1, .special = true, .ids = ids, .capacity = 64};
    e.memory = arena_alloc(arena, burin_encode_memory(blob, e.bytes));
    size_t n = burin_encode(blob, &e);
    burin_decoder d = {0};
    char *bytes = arena_alloc(arena, burin_decode_max(blob));
    for (size_t i = 0; i < n && i < 64; i++)
        if (burin_decode(blob, &d, ids[i], bytes) > burin_decode_max(blob)) abort();
}

#endif
