// burin's cache between runs, in $XDG_CACHE_HOME/burin or ~/.cache/burin: compiled objects and
// programs of `burin run`, each in a folder named by a hash of all its sources. Any of it may be
// removed at any time; the least recently used goes when all of it takes more than
// $BURIN_CACHE_SIZE.
#ifndef BURIN_CACHE_H
#define BURIN_CACHE_H
#include <stdbool.h>
#include <stdint.h>

#include "util/arena.h"

#define CACHE_SIZE "8G"  // when BURIN_CACHE_SIZE does not say

uint64_t hash_text(const char *text, uint64_t seed);  // NULL is a text too
uint64_t hash_file(const char *path, uint64_t seed);  // name apart
// Every file below a folder whose name ends in one of the suffixes (NULL-terminated), in order of
// names.
uint64_t hash_folder(const char *path, const char *const *suffixes, uint64_t seed);
uint64_t hash_files(const char *folder, const char *const *suffixes,
                    uint64_t seed);  // not of the folders in it

// The folder of an entry, kind "objects" or "programs"; not made. NULL, after a warning, when there
// is no place that is ours alone.
const char *cache_folder(Arena *, const char *kind, uint64_t key);
bool cache_find(
    Arena *,
    const char *file);  // in an entry: is it there, and undamaged? Then it is the one used last
// Puts a file into the cache with its checksum, whole or not at all: written under another name,
// then renamed. An unwritable cache causes one warning, and is not used any more.
void cache_put(Arena *, const char *from, const char *to);
// For a file written in the cache itself: its folder, with room for this many bytes; and its
// checksum once it is complete.
bool cache_make(Arena *, const char *file, uint64_t bytes);
void cache_seal(Arena *, const char *file);
// Removes the least recently used entries until the rest fits; never the entry `keep`, a path of
// cache_folder.
void cache_trim(Arena *, const char *keep);
#endif
