// Memory of a library's objects on a 32-bit machine: flash of their code, stack of their deepest
// chain of calls.
#ifndef BURIN_TOOLCHAIN_FOOTPRINT_H
#define BURIN_TOOLCHAIN_FOOTPRINT_H
#include <stdint.h>

#include "toolchain/toolchain.h"

// Bytes, at most: but for the levels of a function that may call itself; NULL: none does.
typedef struct StackNeed {
    uint64_t bytes;
    const char *endless;
} StackNeed;

typedef struct Footprint {
    uint64_t code;  // bytes of all sections that are loaded
    StackNeed forward,
        other;  // of NAME_forward or NAME_run, and of the other functions of the interface
} Footprint;

// `name`: of the library. Objects are compiled with -ffunction-sections -fstack-size-section.
Footprint footprint_of(Arena *, const Objects *, const char *name);
#endif
