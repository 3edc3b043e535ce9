// The files of a source, so that an object is compiled again when any of them has changed, and only
// then.
#ifndef BURIN_INCLUDES_H
#define BURIN_INCLUDES_H
#include <stdint.h>

#include "util/arena.h"

// A hash of a C source and of every file that it includes by "name", recursively, each once, in
// order, regardless of #if. Names are looked for in the file's folder, then in `folders`
// (NULL-terminated); missing ones are left to the compiler.
uint64_t hash_source(Arena *, const char *source, const char *const *folders, uint64_t seed);
#endif
