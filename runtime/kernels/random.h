// Random numbers by their place: element i of stream s under a seed is one function of the three,
// whatever computes it.
#ifndef BURIN_RANDOM_H
#define BURIN_RANDOM_H
#include <stdint.h>

static inline uint64_t burin_scramble(uint64_t z) {  // splitmix64
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// [0, 1), 24 bits
static inline float burin_random_at(uint64_t seed, uint64_t stream, uint64_t i) {
    return (float)(burin_scramble(burin_scramble(burin_scramble(seed) ^ stream) ^ i) >> 40) *
           0x1p-24f;
}
#endif
