// A precompiled charsmap of SentencePiece, small enough to be written by hand.
#ifndef TESTS_CHARSMAP_H
#define TESTS_CHARSMAP_H
#include <stdint.h>
#include <string.h>

#include "util/arena.h"

// A trie of 256 units in base64: "a" becomes `text`; a NUL leads back to where it came from.
static inline const char *charsmap_base64(Arena *arena, const char *text) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { UNITS = 256, UNIT_BYTES = 4 * UNITS };
    const uint32_t trie_bytes = UNIT_BYTES, leaf = 1 << 10 | 1 << 8 | 'a', value = 1u << 31;
    size_t bytes = 4 + UNIT_BYTES + strlen(text) + 1, n = 0;
    uint8_t *map = arena_alloc(arena, bytes + 2), *units = map + 4;
    char *base64 = arena_alloc(arena, 2 * bytes);
    memcpy(map, &trie_bytes, 4);
    memcpy(units + 4 * 'a', &leaf, 4);
    memcpy(units + 4 * ('a' ^ 1), &value, 4);
    strcpy((char *)units + UNIT_BYTES, text);
    for (size_t i = 0; i < bytes; i += 3) {
        uint32_t bits = (uint32_t)map[i] << 16 | (uint32_t)map[i + 1] << 8 | map[i + 2];
        for (int shift = 18; shift >= 0; shift -= 6) base64[n++] = digits[bits >> shift & 63];
    }
    return base64;
}
#endif
