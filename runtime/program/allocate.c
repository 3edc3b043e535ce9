#include "program/allocate.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "program/output.h"

static _Noreturn void out_of_memory(double bytes) {
    burin_stop(BURIN_USER_MISTAKE,
               "not enough memory: %.1f MB are needed\nhint: a smaller --chunk needs less",
               bytes / 1e6);
}

void *burin_allocate(size_t count, size_t bytes) {
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory) out_of_memory((double)count * (double)bytes);
    return memory;
}

// Pages come as they are touched: a long context costs nothing until it is used.
void *burin_try_map_memory(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void *burin_map_memory(size_t bytes) {
    void *memory = burin_try_map_memory(bytes);
    if (!memory) out_of_memory((double)bytes);
    return memory;
}
