// --sysroot: the root folder of another system, whose headers and libraries are compiled and linked
// with.
#ifndef BURIN_SYSROOT_H
#define BURIN_SYSROOT_H
#include <stdint.h>

#include "toolchain/machine.h"

typedef struct Sysroot {
    const char *folder;     // NULL: none was given
    const char *libraries;  // a folder that the linker looks into first: gcc's on this machine,
                            // when DIR has none; or NULL
    uint64_t key;           // of the headers, for caches
} Sysroot;

// Of the C library whose headers are in a folder.
uint64_t headers_key(Arena *, const char *folder);
// Ends the run when the folder has no C library for the machine, or, with `links`, none to link
// statically.
Sysroot sysroot_open(Arena *, const Machine *, const char *folder, bool links);
#endif
