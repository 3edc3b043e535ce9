#include "toolchain/includes.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain/cache.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/mapping.h"

typedef struct Sources {
    Arena *arena;
    const char *const *folders;
    const char **seen;
    int n, room;
    uint64_t hash;
} Sources;

static bool is_new(Sources *s, const char *path) {
    for (int i = 0; i < s->n; i++)
        if (!strcmp(s->seen[i], path)) return false;
    if (s->n == s->room) {
        const char **more = ARENA_ARRAY(s->arena, const char *, s->room ? 2 * s->room : 64);
        if (s->n) memcpy(more, s->seen, (size_t)s->n * sizeof *more);
        s->seen = more;
        s->room = s->room ? 2 * s->room : 64;
    }
    s->seen[s->n++] = path;
    return true;
}

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    return at;
}

// The name in a line #include "name"; NULL: it is another
static const char *included_name(Arena *arena, const char *at, const char *end) {
    static const char word[] = "include";
    at = skip_blanks(at, end);
    if (at == end || *at++ != '#') return NULL;
    at = skip_blanks(at, end);
    if ((size_t)(end - at) < sizeof word - 1 || memcmp(at, word, sizeof word - 1)) return NULL;
    at = skip_blanks(at + sizeof word - 1, end);
    if (at == end || *at++ != '"') return NULL;
    const char *quote = memchr(at, '"', (size_t)(end - at));
    return quote ? arena_strndup(arena, at, (size_t)(quote - at)) : NULL;
}

static void add_file(Sources *s, const char *path);

static void add_included(Sources *s, const char *from, const char *name) {
    char real[PATH_MAX];
    const char *found =
        realpath(arena_printf(s->arena, "%s/%s", path_folder(s->arena, from), name), real);
    for (const char *const *folder = s->folders; !found && *folder; folder++)
        found = realpath(arena_printf(s->arena, "%s/%s", *folder, name), real);
    if (!found) return;
    s->hash = hash_text(name, s->hash);
    add_file(s, arena_strdup(s->arena, found));
}

static void add_file(Sources *s, const char *path) {
    uint64_t size;
    if (!is_new(s, path)) return;
    const char *text = mapping_open(path, &size);
    s->hash = size ? hash_bytes(text, size, s->hash) : s->hash;
    for (const char *at = text, *end = text + size; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        const char *name = included_name(s->arena, at, stop);
        if (name) add_included(s, path, name);
        at = stop + 1;
    }
    if (size) mapping_remove(text);
}

uint64_t hash_source(Arena *arena, const char *source, const char *const *folders, uint64_t seed) {
    Sources s = {.arena = arena, .folders = folders, .hash = seed};
    add_file(&s, source);
    return s.hash;
}
