// The hash of --logits-hash: FNV-1a over 32-bit words, so that it does not matter in which portions
// they come.
#ifndef BURIN_RUNTIME_HASH_H
#define BURIN_RUNTIME_HASH_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const uint64_t burin_hash_start = 14695981039346656037u;

static inline uint64_t burin_hash_floats(uint64_t hash, const float *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t word;
        memcpy(&word, &values[i], sizeof word);
        hash = (hash ^ word) * 1099511628211u;
    }
    return hash;
}

// The bytes of any values, one by one.
static inline uint64_t burin_hash_bytes(uint64_t hash, const void *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const unsigned char *)values)[i]) * 1099511628211u;
    return hash;
}
#endif
