// What a source is made of: so that an object is compiled anew when any of it has changed, and only then.
#ifndef BURIN_INCLUDES_H
#define BURIN_INCLUDES_H
#include <stdint.h>

#include "util/arena.h"

// A hash of a C source and of every file that it includes by "name", theirs too, each once, in the order met, whatever #if
// says. Names are looked for beside the file, then in `folders` (NULL-terminated); what is in none of them is the compiler's to
// find.
uint64_t hash_source(Arena *, const char *source, const char *const *folders, uint64_t seed);
#endif
