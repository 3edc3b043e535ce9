// A checksum of 64 bits over any bytes, in any portions: eight lanes of 64-bit words, each word by
// one multiplication, as fast as memory. A single flipped bit always changes it. Not cryptographic.
#ifndef BURIN_CHECKSUM_H
#define BURIN_CHECKSUM_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { BURIN_CHECKSUM_BLOCK = 64, BURIN_CHECKSUM_LANES = 8 };

typedef struct burin_checksum {
    uint64_t lane[BURIN_CHECKSUM_LANES], bytes;
    unsigned char rest[BURIN_CHECKSUM_BLOCK];  // the first bytes % 64 are of a block to come
} burin_checksum;

static inline uint64_t burin_checksum_mix(uint64_t sum, uint64_t word) {
    return ((sum << 29 | sum >> 35) ^ word) * 0x9e3779b97f4a7c15u;
}

static inline void burin_checksum_blocks(burin_checksum *c, const unsigned char *p, size_t n) {
    uint64_t lane[BURIN_CHECKSUM_LANES], word[BURIN_CHECKSUM_LANES];
    memcpy(lane, c->lane, sizeof lane);
    for (; n; n--, p += BURIN_CHECKSUM_BLOCK) {
        memcpy(word, p, sizeof word);
        for (int i = 0; i < BURIN_CHECKSUM_LANES; i++)
            lane[i] = burin_checksum_mix(lane[i], word[i]);
    }
    memcpy(c->lane, lane, sizeof lane);
}

// A sum begins as {0}.
static inline void burin_checksum_add(burin_checksum *c, const void *bytes, size_t n) {
    const unsigned char *p = bytes;
    size_t held = c->bytes % BURIN_CHECKSUM_BLOCK,
           part = BURIN_CHECKSUM_BLOCK - held < n ? BURIN_CHECKSUM_BLOCK - held : n;
    c->bytes += n;
    if (held) {
        memcpy(c->rest + held, p, part);
        if (held + part < BURIN_CHECKSUM_BLOCK) return;
        burin_checksum_blocks(c, c->rest, 1);
        p += part;
        n -= part;
    }
    burin_checksum_blocks(c, p, n / BURIN_CHECKSUM_BLOCK);
    if (n % BURIN_CHECKSUM_BLOCK)
        memcpy(c->rest, p + (n - n % BURIN_CHECKSUM_BLOCK), n % BURIN_CHECKSUM_BLOCK);
}

static inline uint64_t burin_checksum_end(const burin_checksum *sum) {
    burin_checksum c = *sum;
    size_t held = c.bytes % BURIN_CHECKSUM_BLOCK;
    uint64_t h = c.bytes;
    memset(c.rest + held, 0, sizeof c.rest - held);
    if (held) burin_checksum_blocks(&c, c.rest, 1);
    for (int i = 0; i < BURIN_CHECKSUM_LANES; i++) {
        h = burin_checksum_mix(h, c.lane[i]);
        h ^= h >> 32;
    }
    return h;
}

static inline uint64_t burin_checksum_of(const void *bytes, size_t n) {
    burin_checksum c = {{0}, 0, {0}};
    burin_checksum_add(&c, bytes, n);
    return burin_checksum_end(&c);
}
#endif
