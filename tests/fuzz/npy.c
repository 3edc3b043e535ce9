// libFuzzer target: .npy files as an emitted program reads them; the arrays are written and read
// again.
#include "runtime/program/npy.h"

#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_twice(Arena *arena, const char *path) {
    burin_array a, again;
    char copy[64];
    (void)arena;
    if (burin_npy_read(&a, path)) return;
    int fd = memfd_create("copy", MFD_CLOEXEC);
    snprintf(copy, sizeof copy, "/proc/self/fd/%d", fd);
    if (!burin_npy_put(&a, fd) || burin_npy_read(&again, copy)) abort();
    if (again.count != a.count || again.rank != a.rank) abort();
    if (again.element == a.element &&
        memcmp(a.data, again.data, a.count * (size_t)a.element->bytes))
        abort();
    free(a.data), free(again.data);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_import(data, size, read_twice);
    return 0;
}
