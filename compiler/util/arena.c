#include "util/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "util/diag.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
// Under AddressSanitizer each object is a block of its own, whose ends it watches.
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
enum { ALIGNMENT = 1, BLOCK_BYTES = 0 };
#else
enum { ALIGNMENT = 16, BLOCK_BYTES = 64 * 1024 };
#endif

typedef struct Block {
    struct Block *next;
    size_t used, size;
    _Alignas(16) char bytes[];
} Block;

typedef struct Release {
    struct Release *next;
    void (*release)(void *);
    void *what;
} Release;

struct Arena {
    Block *head;
    Release *releases;
};

static void *must_alloc(size_t bytes) {
    void *p = bytes < SIZE_MAX / 2 ? calloc(1, bytes) : NULL;
    if (!p) diag_fatal(NO_LOC, "out of memory (asked for %zu bytes)", bytes);
    return p;
}

Arena *arena_new(void) { return must_alloc(sizeof(Arena)); }

void arena_free(Arena *a) {
    if (!a) return;
    for (Release *r = a->releases; r; r = r->next) r->release(r->what);
    for (Block *b = a->head, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(a);
}

void *arena_alloc_array(Arena *a, size_t size, size_t n) {
    size_t bytes;
    return arena_alloc(a, __builtin_mul_overflow(size, n, &bytes) ? SIZE_MAX / 2 : bytes);
}

void *arena_alloc(Arena *a, size_t bytes) {
    if (bytes > SIZE_MAX / 2) bytes = SIZE_MAX / 2;  // which there never is
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (!a->head || a->head->size - a->head->used < bytes) {
        size_t size = bytes > BLOCK_BYTES / 4 ? bytes : BLOCK_BYTES;
        Block *b = must_alloc(sizeof(Block) + size);
        b->size = size;
        bool large = size != BLOCK_BYTES && a->head;  // keep filling the block before it
        b->next = large ? a->head->next : a->head;
        if (large) {
            a->head->next = b;
            b->used = bytes;
            return b->bytes;
        }
        a->head = b;
    }
    void *p = a->head->bytes + a->head->used;
    a->head->used += bytes;
    return p;
}

char *arena_strndup(Arena *a, const char *text, size_t n) {
    char *copy = arena_alloc(a, n + 1);
    if (n) memcpy(copy, text, n);  // an empty text may be NULL
    return copy;
}

char *arena_strdup(Arena *a, const char *text) { return arena_strndup(a, text, strlen(text)); }

char *arena_vprintf(Arena *a, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = arena_alloc(a, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, args);
    return text;
}

char *arena_vmessage(Arena *a, const char *format, va_list args) {
    size_t room = (size_t)burin_vformat(NULL, 0, format, args) + 1;
    char *text = arena_alloc(a, room);
    burin_vformat(text, room, format, args);
    return text;
}

char *arena_message(Arena *a, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = arena_vmessage(a, format, args);
    va_end(args);
    return text;
}

char *arena_printf(Arena *a, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(a, format, args);
    va_end(args);
    return text;
}

void arena_at_free(Arena *a, void (*release)(void *), void *what) {
    Release *r = ARENA_NEW(a, Release);
    *r = (Release){a->releases, release, what};
    a->releases = r;
}
