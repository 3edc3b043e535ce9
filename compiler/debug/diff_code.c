// The C of two builds, function by function.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debug/diff.h"

bool is_code_folder(Arena *arena, const char *path) {
    return !access(arena_printf(arena, "%s/MANIFEST", path), F_OK) &&
           !access(arena_printf(arena, "%s/runtime", path), F_OK);
}

// The file of kernels is called as the folder's model is: X.c beside X_model.c.
static const char *model_file(Arena *arena, const char *folder) {
    const char *found = NULL;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (text_ends_with(e->d_name, "_model.c"))
            found = arena_printf(arena, "%s/%.*s.c", folder,
                                 (int)(strlen(e->d_name) - strlen("_model.c")), e->d_name);
    if (d) closedir(d);
    if (!found) diag_fatal(NO_LOC, "%s has no file of a model", folder);
    return found;
}

// "matmul_f32_8x8" of the line that begins a function, whose parameters may continue on the next,
// or NULL.
static const char *function_name(Arena *arena, const char *line, size_t length) {
    const char *paren = memchr(line, '(', length);
    if (!paren || !strchr("{,", line[length - 1]) || strchr(" #/", *line)) return NULL;
    const char *end = paren, *begin = end;
    while (begin > line && begin[-1] != ' ' && begin[-1] != '*') begin--;
    return arena_strndup(arena, begin, (size_t)(end - begin));
}

// Functions by name: their text, to the brace at the beginning of a line. Comments that name places
// and values are left out.
static Map read_functions(Arena *arena, const char *path) {
    Map functions;
    Text body = {0};
    const char *name = NULL;
    const Source *source = read_source(arena, path);
    map_init(&functions, arena);
    for (const char *line = source->text, *next; *line; line = next) {
        size_t length = strcspn(line, "\n"), blank = strspn(line, " ");
        next = line + length + (line[length] == '\n');
        if (!name) name = function_name(arena, line, length);
        if (!name || !strncmp(line + blank, "//", 2)) continue;
        text_append(&body, line, length + 1);
        if (*line != '}') continue;
        map_put(&functions, name, arena_strndup(arena, body.data, body.length));
        text_free(&body);
        body = (Text){0}, name = NULL;
    }
    text_free(&body);
    return functions;
}

static int count_lines(const char *text) {
    int n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

static void show_first(Arena *arena, const char *a, const char *b) {
    size_t n, m;
    while ((n = strcspn(a, "\n")) == (m = strcspn(b, "\n")) && !strncmp(a, b, n) && a[n])
        a += n + 1, b += m + 1;
    print_spelled("  - %s\n  + %s\n", arena_strndup(arena, a, n), arena_strndup(arena, b, m));
}

int diff_code(const Sides *s, const char *folder_a, const char *folder_b) {
    Map a = read_functions(s->arena, model_file(s->arena, folder_a)),
        b = read_functions(s->arena, model_file(s->arena, folder_b));
    int same = 0, found = 0;
    for (int i = 0; i < a.n; i++) {
        const char *name = a.entries[i].key, *text = a.entries[i].value, *other = map_get(&b, name);
        if (other && !strcmp(text, other)) {
            same++;
            continue;
        }
        found++;
        printf("%s %s, %d lines\n", other ? "~" : "-", name, count_lines(text));
        if (other) show_first(s->arena, text, other);
    }
    for (int i = 0; i < b.n; i++) {
        if (map_get(&a, b.entries[i].key)) continue;
        found++;
        printf("+ %s, %d lines\n", b.entries[i].key, count_lines(b.entries[i].value));
    }
    printf("functions: %d are the same, %d differ\n", same, found);
    return found;
}
