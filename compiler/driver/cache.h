// What burin keeps between runs, in $XDG_CACHE_HOME/burin or ~/.cache/burin: compiled objects and programs of `burin run`, each
// in a folder named by a hash of everything that it was made from. Any of it may be removed at any time; what was not used for
// longest is, when all of it takes more than $BURIN_CACHE_SIZE.
#ifndef BURIN_CACHE_H
#define BURIN_CACHE_H
#include <stdbool.h>
#include <stdint.h>

#include "util/arena.h"

#define CACHE_SIZE "8G"  // when BURIN_CACHE_SIZE does not say

uint64_t hash_text(const char *text, uint64_t seed);  // NULL is a text too
uint64_t hash_file(const char *path, uint64_t seed);  // name apart
// Every file below a folder whose name ends in one of the suffixes (NULL-terminated), in order of names.
uint64_t hash_folder(const char *path, const char *const *suffixes, uint64_t seed);
uint64_t hash_beside(const char *file, const char *const *suffixes, uint64_t seed);  // in the file's folder, not below it

// The folder of an entry, kind "objects" or "programs"; not made. NULL when there is no home.
const char *cache_folder(Arena *, const char *kind, uint64_t key);
bool cache_find(const char *file);  // in an entry: is it there? Then it is the one used last
// Puts a file into the cache whole or not at all: written beside, then renamed.
void cache_put(Arena *, const char *from, const char *to);
// Removes what was not used for longest until the rest fits; never the entry `keep`, a path of cache_folder.
void cache_trim(Arena *, const char *keep);
#endif
