// SentencePiece's table: a double-array trie over bytes whose values are offsets of terminated
// texts. The compiler measures it (normalizers.c) by the same steps as the runtime walks it. A NUL
// is in no key, and no key has more than CHARSMAP_MAX_KEY bytes.
#ifndef BURIN_TOKENIZER_CHARSMAP_H
#define BURIN_TOKENIZER_CHARSMAP_H
#include <stdbool.h>
#include <stdint.h>

typedef struct Charsmap {
    const uint32_t *units;
    const char *texts;
    uint32_t n_units, n_texts;  // units; bytes of texts
} Charsmap;

enum { CHARSMAP_MAX_KEY = 64 };
static const uint32_t CHARSMAP_NO_VALUE = UINT32_MAX;

static inline uint32_t charsmap_root(const Charsmap *c) {
    return c->units[0] >> 10 << ((c->units[0] & 1u << 9) >> 6);
}

// Follows the edge of a byte. Returns false when the node has none. *value is that of the key which
// ends there, or CHARSMAP_NO_VALUE.
static inline bool charsmap_enter(const Charsmap *c, uint32_t *node, uint8_t byte,
                                  uint32_t *value) {
    uint32_t at = *node ^ byte;
    if (!byte || at >= c->n_units || (c->units[at] & (1u << 31 | 0xff)) != byte) return false;
    uint32_t unit = c->units[at], next = at ^ (unit >> 10 << ((unit & 1u << 9) >> 6));
    if (next >= c->n_units) return false;
    *node = next;
    *value = unit >> 8 & 1 ? c->units[next] & 0x7fffffff : CHARSMAP_NO_VALUE;
    return true;
}
#endif
