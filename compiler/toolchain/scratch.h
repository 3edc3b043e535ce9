// Private folders that a build works in.
#ifndef BURIN_TOOLCHAIN_SCRATCH_H
#define BURIN_TOOLCHAIN_SCRATCH_H
#include "util/arena.h"

// A new private folder BASE/PREFIX......, removed when the run stops on an error; NULL with errno
// when there can be none. Those that killed builds of the same user have left in BASE are removed
// first.
const char *scratch_folder(Arena *, const char *base, const char *prefix);
#endif
