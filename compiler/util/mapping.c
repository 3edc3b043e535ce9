#include "util/mapping.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/diag.h"
#include "util/files.h"

enum { WORTH_A_CALL = 1 << 18 };

static struct Mapping {
    struct Mapping *next;
    uintptr_t first, last;
    char name[];
} *mappings;

const void *mapping_open(const char *path, uint64_t *size) {
    int fd = open_input(path, size);
    void *data = *size ? mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0) : "";
    int error = errno;
    close(fd);
    if (data == MAP_FAILED) diag_fatal(NO_LOC, "cannot map %s: %s", path, strerror(error));
    struct Mapping *m = *size ? malloc(sizeof *m + strlen(path) + 1) : NULL;
    if (!m) return data;  // its pages stay until the end: no harm
    *m = (struct Mapping){mappings, (uintptr_t)data, (uintptr_t)data + *size};
    strcpy(m->name, path);
    return mappings = m, data;
}

void mapping_remove(const void *data) {
    for (struct Mapping **at = &mappings; *at; at = &(*at)->next) {
        struct Mapping *m = *at;
        if (m->first != (uintptr_t)data) continue;
        *at = m->next;
        munmap((void *)m->first, m->last - m->first);
        free(m);
        return;
    }
}

void mapping_forget(const void *data, size_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)data,
              last = first + bytes;
    if (bytes < WORTH_A_CALL) return;
    for (const struct Mapping *m = mappings; m; m = m->next) {
        if (first < m->first || last > m->last) continue;
        first = (first + page - 1) / page * page;
        madvise((void *)first, last / page * page - first, MADV_DONTNEED);
        return;
    }
}

// The fault is in a load of our own: what diag_fatal does is as safe as in a call from there.
static void fault(int signal_number, siginfo_t *info, void *context) {
    (void)context;
    uintptr_t at = (uintptr_t)info->si_addr;
    for (const struct Mapping *m = mappings; m; m = m->next)
        if (at >= m->first && at - m->first < m->last - m->first)
            diag_fatal(NO_LOC,
                       "%s became shorter while it was read, or its disk failed\nhint: is it still "
                       "being downloaded?",
                       m->name);
    signal(signal_number, SIG_DFL);  // the same load faults again
}

void mapping_watch(void) {
    struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGBUS, &action, NULL);
}
