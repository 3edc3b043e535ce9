// Seals of files in the cache: NAME.sum has a code over the bytes of NAME and its place, keyed with
// a secret of the user. Damage shows, and who can write a file but not read the secret cannot seal
// it.
#ifndef BURIN_SEAL_H
#define BURIN_SEAL_H
#include <stdbool.h>
#include <stdint.h>

#include "util/arena.h"

// Reads FOLDER/secret, or makes it (mode 0600). False: it cannot be made, or others can change it.
bool seal_open(Arena *, const char *folder);
bool seal_write(Arena *, const char *file);  // false: errno
bool seal_fits(Arena *, const char *file);  // file and seal are there, this user's, and go together

// SipHash-2-4: 64 bits that cannot be computed without the key.
uint64_t keyed_hash(const uint64_t key[2], const void *data, uint64_t bytes);
#endif
