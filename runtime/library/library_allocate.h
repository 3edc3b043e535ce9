// Memory of the rooms template and grammar in a shared library: there is no program around them
// that could say more.
#include <stdio.h>
#include <stdlib.h>

#include "base/allocate.h"

void *burin_allocate(size_t count, size_t bytes) {
    void *memory = calloc(count ? count : 1, bytes ? bytes : 1);
    if (memory) return memory;
    fprintf(stderr, "not enough memory: %.1f MB are needed\n", (double)count * (double)bytes / 1e6);
    abort();
}
