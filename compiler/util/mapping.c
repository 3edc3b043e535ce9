#include "util/mapping.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORTH_A_CALL = 1 << 18 };

static struct Mapping {
    struct Mapping *next;
    uintptr_t first, last;
} *mappings;

void mapping_add(const void *data, size_t bytes) {
    struct Mapping *m = malloc(sizeof *m);
    if (!m) return;  // its pages stay until the end: no harm
    *m = (struct Mapping){mappings, (uintptr_t)data, (uintptr_t)data + bytes};
    mappings = m;
}

void mapping_remove(const void *data) {
    for (struct Mapping **at = &mappings; *at; at = &(*at)->next) {
        struct Mapping *m = *at;
        if (m->first != (uintptr_t)data) continue;
        *at = m->next;
        free(m);
        return;
    }
}

void mapping_forget(const void *data, size_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)data, last = first + bytes;
    if (bytes < WORTH_A_CALL) return;
    for (const struct Mapping *m = mappings; m; m = m->next) {
        if (first < m->first || last > m->last) continue;
        first = (first + page - 1) / page * page;
        madvise((void *)first, last / page * page - first, MADV_DONTNEED);
        return;
    }
}
