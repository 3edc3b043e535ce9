// Memory that lives and dies together: everything that belongs to one graph, one file or one run.
// There is no per-object free.
#ifndef BURIN_ARENA_H
#define BURIN_ARENA_H
#include <stdarg.h>
#include <stddef.h>

typedef struct Arena Arena;

Arena *arena_new(void);
void arena_free(Arena *);

// Zeroed, aligned to 16 bytes; never NULL (out of memory ends the run with a message).
void *arena_alloc(Arena *, size_t bytes);
// also if size * n overflows, or n was negative
void *arena_alloc_array(Arena *, size_t size, size_t n);
char *arena_strdup(Arena *, const char *text);
char *arena_strndup(Arena *, const char *text, size_t n);
char *arena_printf(Arena *, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *, const char *format, va_list);
// For messages: what %s gives is spelled (base/escape.h).
char *arena_message(Arena *, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vmessage(Arena *, const char *format, va_list);

// Called by arena_free, last added first: releases other resources of an arena's objects (a mapped
// file, a JSON document).
void arena_at_free(Arena *, void (*release)(void *), void *what);

#define ARENA_NEW(arena, type)      ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, n) ((type *)arena_alloc_array((arena), sizeof(type), (size_t)(n)))
#endif
