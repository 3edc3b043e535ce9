#include "toolchain/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "toolchain/private_folder.h"
#include "util/files.h"

// ------------------------------------------------------------------------------------------ a hash
typedef struct State {
    uint64_t v[4];
} State;

static inline uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

// Adds v[b] to v[a], and mixes the sum into v[b].
static inline void half_step(State *s, int a, int b, int bits) {
    s->v[a] += s->v[b];
    s->v[b] = rotate(s->v[b], bits) ^ s->v[a];
}

static inline void mix(State *s, int rounds) {
    for (int i = 0; i < rounds; i++) {
        half_step(s, 0, 1, 13);
        half_step(s, 2, 3, 16);
        s->v[0] = rotate(s->v[0], 32);
        half_step(s, 0, 3, 21);
        half_step(s, 2, 1, 17);
        s->v[2] = rotate(s->v[2], 32);
    }
}

static inline void take_word(State *s, uint64_t word) {
    s->v[3] ^= word;
    mix(s, 2);
    s->v[0] ^= word;
}

uint64_t keyed_hash(const uint64_t key[2], const void *data, uint64_t bytes) {
    const unsigned char *p = data;
    State s = {{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573}};
    uint64_t word, last = bytes << 56;
    for (; bytes >= 8; p += 8, bytes -= 8) {
        memcpy(&word, p, 8);
        take_word(&s, word);
    }
    for (uint64_t i = 0; i < bytes; i++) last |= (uint64_t)p[i] << 8 * i;
    take_word(&s, last);
    s.v[2] ^= 0xff;
    mix(&s, 4);
    return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}

// -------------------------------------------------------------------------------------- the secret
static uint64_t secret[2];

static bool read_secret(const char *path) {
    if (!is_own_file(path)) return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool whole = fd >= 0 && read(fd, secret, sizeof secret) == sizeof secret;
    if (fd >= 0) close(fd);
    return whole;
}

// Of two runs that make one at the same time, the first has made it.
static bool make_secret(Arena *arena, const char *path) {
    uint64_t bits[2];
    const char *beside = arena_printf(arena, "%s.%d", path, (int)getpid());
    if (getrandom(bits, sizeof bits, 0) != sizeof bits || !write_private(beside, bits, sizeof bits))
        return false;
    bool made = !link(beside, path) || errno == EEXIST;
    unlink(beside);
    return made;
}

bool seal_open(Arena *arena, const char *folder) {
    const char *path = arena_printf(arena, "%s/secret", folder);
    if (access(path, F_OK) && !make_secret(arena, path)) return false;
    return read_secret(path);
}

// ------------------------------------------------------------------------------------------- seals
static const char *seal_of(Arena *arena, const char *file) {
    return arena_printf(arena, "%s.sum", file);
}

// KIND/KEY/NAME: a sealed file fits no other entry.
static const char *place_in_cache(const char *file) {
    const char *at = file + strlen(file);
    for (int slashes = 0; at > file; at--)
        if (at[-1] == '/' && ++slashes == 3) break;
    return at;
}

// 16 digits. Each place has a key of its own.
static bool seal_text(const char *file, char text[17]) {
    uint64_t size, other[2] = {secret[1], secret[0]};
    const char *place = place_in_cache(file);
    const uint64_t key[2] = {keyed_hash(secret, place, strlen(place)),
                             keyed_hash(other, place, strlen(place))};
    int fd = open_regular(file, &size);
    void *bytes = fd < 0 || !size ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0) close(fd);
    if (bytes == MAP_FAILED) return false;
    snprintf(text, 17, "%016llx", (unsigned long long)keyed_hash(key, bytes, size));
    munmap(bytes, size);
    return true;
}

// Renamed into place: whoever reads it finds the old or the new one.
bool seal_write(Arena *arena, const char *file) {
    char text[17];
    const char *seal = seal_of(arena, file),
               *beside = arena_printf(arena, "%s.%d", seal, (int)getpid());
    return seal_text(file, text) && write_private(beside, text, 16) && !rename(beside, seal);
}

bool seal_fits(Arena *arena, const char *file) {
    char expected[17], there[17] = {0};
    const char *seal = seal_of(arena, file);
    uint64_t size;
    if (!is_own_file(file) || !is_own_file(seal)) return false;
    int fd = open_regular(seal, &size);
    if (fd < 0) return false;
    bool whole = read(fd, there, 16) == 16;
    close(fd);
    return whole && seal_text(file, expected) && !strcmp(there, expected);
}
