// A part of a text, which programs and libraries look for.
#include <string.h>

void *memmem(const void *all, size_t bytes, const void *part, size_t n) {
    const unsigned char *at = all, *first = part;
    if (!n) return (void *)(uintptr_t)all;
    for (const unsigned char *end = at + bytes; (size_t)(end - at) >= n; at++) {
        if (!(at = memchr(at, *first, (size_t)(end - at) - n + 1))) return NULL;
        if (!memcmp(at, part, n)) return (void *)(uintptr_t)at;
    }
    return NULL;
}

void *memrchr(const void *all, int byte, size_t bytes) {
    for (const unsigned char *begin = all, *at = begin + bytes; at > begin;)
        if (*--at == (unsigned char)byte) return (void *)(uintptr_t)at;
    return NULL;
}
