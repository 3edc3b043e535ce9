#include "output/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/files.h"

static const char NAME[] = "MANIFEST";
static const char HEAD[] =
    "# Written by burin, and what make makes of it: another build replaces these files, if there "
    "are no others.\n";

typedef struct TreeWalk {
    Arena *arena;
    const char *folder;  // of all
    void (*visit)(struct TreeWalk *, const char *name, mode_t);
    Text *list;  // being written
    Map listed;  // read: name -> itself; of folders with "/"
} TreeWalk;

// Every file and folder below, by its name from `folder` on; links as such.
static void walk(TreeWalk *w, const char *below) {
    const char *path = arena_printf(w->arena, "%s/%s", w->folder, below);
    struct dirent **list;
    int n = scandir(path, &list, NULL, alphasort);
    if (n < 0) diag_fatal(NO_LOC, "cannot read the folder %s: %s", path, strerror(errno));
    for (int i = 0; i < n; i++) {
        struct stat s;
        const char *entry = list[i]->d_name,
                   *name = arena_printf(w->arena, "%s%s%s", below, *below ? "/" : "", entry);
        if (!strcmp(entry, ".") || !strcmp(entry, "..")) continue;
        if (lstat(arena_printf(w->arena, "%s/%s", w->folder, name), &s)) s.st_mode = 0;
        w->visit(w, name, s.st_mode);
        if (S_ISDIR(s.st_mode)) walk(w, name);
    }
    for (int i = 0; i < n; i++) free(list[i]);
    free(list);
}

// ----------------------------------------------------------------------------------------- writing
static void add_name(TreeWalk *w, const char *name, mode_t mode) {
    size_t n = strlen(name);
    text_add(w->list, "%s%s\n", name, S_ISDIR(mode) ? "/" : "");
    if (n > 2 && name[n - 2] == '.' && strchr("cS", name[n - 1]))
        text_add(w->list, "%.*s.o\n", (int)n - 2, name);
}

static void add_objects(Text *list, const Build *b) {
    for (int i = 0; i < b->tools.n_cpus; i++)
        text_add(list, "%s_%s.o\n", b->name, b->tools.cpus[i]->symbol);
}

void write_manifest(const Build *b, const char *folder) {
    Text list = {0};
    text_add(&list, "%s%s\n%s\n%s.a\n%s.so\n", HEAD, NAME, b->name, b->name, b->name);
    add_objects(&list, b);
    if (b->draft) add_objects(&list, b->draft);
    walk(&(TreeWalk){.arena = b->arena, .folder = folder, .visit = add_name, .list = &list}, "");
    write_file(arena_printf(b->arena, "%s/%s", folder, NAME), list.data, list.length);
    text_free(&list);
}

// ----------------------------------------------------------------------------------------- reading
static void check_name(TreeWalk *w, const char *name, mode_t mode) {
    const char *entry = S_ISDIR(mode) ? arena_printf(w->arena, "%s/", name) : name;
    if ((S_ISDIR(mode) || S_ISREG(mode)) && map_get(&w->listed, entry)) return;
    diag_fatal(
        NO_LOC,
        "%s holds %s, which burin did not write\nhint: take it away, or give -o another name",
        w->folder, name);
}

static void read_list(TreeWalk *w, char *text) {
    for (char *line; (line = strsep(&text, "\n"));) {
        const char *name = arena_strdup(w->arena, line);
        map_put(&w->listed, name, (void *)name);
    }
}

void folder_check_ours(Arena *arena, const char *folder) {
    struct stat s;
    if (lstat(folder, &s)) return;
    if (S_ISLNK(s.st_mode))
        diag_fatal(
            NO_LOC,
            "%s is a link, which a folder cannot take the place of\nhint: give -o what it leads to",
            folder);
    const char *path = arena_printf(arena, "%s/%s", folder, NAME);
    uint64_t size;
    int fd = open_regular(path, &size);
    if (fd >= 0) close(fd);
    char *text = fd < 0 ? NULL : read_text_file(path, NULL);
    if (!text || strncmp(text, HEAD, strlen(HEAD)))
        diag_fatal(NO_LOC,
                   "%s is a folder of something else\nhint: remove it, or give -o another name",
                   folder);
    TreeWalk w = {.arena = arena, .folder = folder, .visit = check_name};
    map_init(&w.listed, arena);
    read_list(&w, text + strlen(HEAD));
    free(text);
    walk(&w, "");
}
