// A 64-bit hash for identity of constants, cache keys and tables (FNV-1a over 8-byte words, then
// bytes); not cryptographic.
#ifndef BURIN_HASH_H
#define BURIN_HASH_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t hash_bytes(const void *data, size_t bytes, uint64_t seed) {
    const unsigned char *p = data;
    uint64_t h = (seed ^ 14695981039346656037u) * 1099511628211u, word;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        memcpy(&word, p, 8);
        h = (h ^ word) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
    }
    for (; bytes; bytes--) h = (h ^ *p++) * 1099511628211u;
    return h ^ (h >> 29);
}
#endif
