// Common functions of the fuzz targets: the bytes as a file, and an import that may end with a
// message.
#ifndef BURIN_FUZZ_INPUT_H
#define BURIN_FUZZ_INPUT_H
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/arena.h"
#include "util/diag.h"

typedef void FuzzImport(Arena *, const char *path);

// The bytes are a file in memory; messages go to file descriptor 2, which libFuzzer closes with
// -close_fd_mask=2.
static inline void fuzz_import(const uint8_t *data, size_t size, FuzzImport *import) {
    char path[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    Arena *volatile arena = arena_new();
    if (!setjmp(*diag_guard())) import(arena, path);
    diag_unguard();
    arena_free(arena);
    close(fd);
}
#endif
