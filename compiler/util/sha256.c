// Blocks of 64 bytes; the last ones have a 1 bit and the length in bits after the data.
#include "util/sha256.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { BLOCK = 64, ROUNDS = 64 };

// The constants are the first 32 bits of the fractional parts of the square and cube roots of
// primes. A long double has enough bits for them.
static uint32_t fraction(long double x) { return (uint32_t)((x - floorl(x)) * 4294967296.0L); }

static bool is_prime(int n) {
    for (int i = 2; i * i <= n; i++)
        if (n % i == 0) return false;
    return n > 1;
}

static void find_constants(uint32_t start[8], uint32_t rounds[ROUNDS]) {
    for (int n = 2, found = 0; found < ROUNDS; n++) {
        if (!is_prime(n)) continue;
        if (found < 8) start[found] = fraction(sqrtl(n));
        rounds[found++] = fraction(cbrtl(n));
    }
}

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void extend(const uint8_t *block, uint32_t w[ROUNDS]) {
    for (int i = 0; i < 16; i++, block += 4)
        w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
               block[3];
    for (int i = 16; i < ROUNDS; i++) {
        uint32_t a = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3,
                 b = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
}

static void add_block(uint32_t state[8], const uint32_t rounds[ROUNDS], const uint8_t *block) {
    uint32_t w[ROUNDS], s[8];
    extend(block, w);
    memcpy(s, state, sizeof s);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t one = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25),
                 chosen = (s[4] & s[5]) ^ (~s[4] & s[6]),
                 first = s[7] + one + chosen + rounds[i] + w[i],
                 zero = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22),
                 majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += first;
        s[0] = first + zero + majority;
    }
    for (int i = 0; i < 8; i++) state[i] += s[i];
}

void sha256(const void *data, size_t bytes, uint8_t digest[32]) {
    uint32_t state[8], rounds[ROUNDS];
    uint8_t end[2 * BLOCK] = {0};
    const uint8_t *from = data;
    size_t whole = bytes / BLOCK * BLOCK, rest = bytes - whole,
           blocks = rest + 1 + 8 > BLOCK ? 2 : 1;
    find_constants(state, rounds);
    for (size_t i = 0; i < whole; i += BLOCK) add_block(state, rounds, from + i);
    if (rest) memcpy(end, from + whole, rest);
    end[rest] = 0x80;
    for (int i = 0; i < 8; i++)
        end[blocks * BLOCK - 1 - (size_t)i] = (uint8_t)((uint64_t)bytes * 8 >> 8 * i);
    for (size_t i = 0; i < blocks; i++) add_block(state, rounds, end + i * BLOCK);
    for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}
