#include "driver/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/options.h"
#include "driver/process.h"
#include "util/diag.h"
#include "util/hash.h"
#include "util/text.h"

uint64_t hash_text(const char *text, uint64_t seed) {
    return text ? hash_bytes(text, strlen(text) + 1, seed) : hash_bytes("", 0, seed);
}

uint64_t hash_file(const char *path, uint64_t seed) {
    struct stat s;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &s)) diag_fatal(NO_LOC, "cannot open %s: %s", path, strerror(errno));
    if (s.st_size) {
        void *bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes == MAP_FAILED) diag_fatal(NO_LOC, "cannot map %s: %s", path, strerror(errno));
        seed = hash_bytes(bytes, (size_t)s.st_size, seed);
        munmap(bytes, (size_t)s.st_size);
    }
    close(fd);
    return seed;
}

static bool ends_with_one_of(const char *name, const char *const *suffixes) {
    size_t n = strlen(name);
    for (; *suffixes; suffixes++) {
        size_t m = strlen(*suffixes);
        if (n >= m && !strcmp(name + n - m, *suffixes)) return true;
    }
    return false;
}

static uint64_t hash_entries(const char *path, const char *const *suffixes, bool deep, uint64_t seed) {
    struct dirent **list;
    int n = scandir(path, &list, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        struct stat s;
        const char *name = list[i]->d_name;
        char *inner = NULL;
        if (*name != '.' && asprintf(&inner, "%s/%s", path, name) > 0 && !stat(inner, &s)) {
            if (deep && S_ISDIR(s.st_mode)) seed = hash_entries(inner, suffixes, deep, seed);
            if (S_ISREG(s.st_mode) && ends_with_one_of(name, suffixes)) seed = hash_file(inner, hash_text(name, seed));
        }
        free(inner);
        free(list[i]);
    }
    if (n >= 0) free(list);
    return seed;
}

uint64_t hash_folder(const char *path, const char *const *suffixes, uint64_t seed) {
    return hash_entries(path, suffixes, true, seed);
}

uint64_t hash_beside(const char *file, const char *const *suffixes, uint64_t seed) {
    const char *slash = strrchr(file, '/');
    char *folder = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
    seed = hash_entries(folder, suffixes, false, seed);
    free(folder);
    return seed;
}

// ------------------------------------------------------------------------------------------------------------------ entries
static const char *cache_home(Arena *arena) {
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (base && *base) return arena_printf(arena, "%s/burin", base);
    return home && *home ? arena_printf(arena, "%s/.cache/burin", home) : NULL;
}

const char *cache_folder(Arena *arena, const char *kind, uint64_t key) {
    const char *home = cache_home(arena);
    return home ? arena_printf(arena, "%s/%s/%016llx", home, kind, (unsigned long long)key) : NULL;
}

// When an entry was used last is the time of its folder.
bool cache_find(const char *file) {
    char folder[PATH_MAX];
    if (access(file, R_OK)) return false;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(file, '/') - file), file);
    utimensat(AT_FDCWD, folder, NULL, 0);
    return true;
}

void cache_put(Arena *arena, const char *from, const char *to) {
    size_t size;
    const char *beside = arena_printf(arena, "%s.%d", to, (int)getpid());
    make_folder(arena_strndup(arena, to, (size_t)(strrchr(to, '/') - to)));
    char *bytes = read_text_file(from, &size);
    write_file(beside, bytes, size);
    free(bytes);
    if (rename(beside, to)) diag_fatal(NO_LOC, "cannot write %s: %s", to, strerror(errno));
}

// ----------------------------------------------------------------------------------------------------------------- its size
typedef struct Entry {
    const char *path;
    uint64_t bytes;
    struct timespec used;
} Entry;

typedef struct Entries {
    Arena *arena;
    Entry *all;
    int n, capacity;
    uint64_t bytes;
} Entries;

static void each_file(Arena *arena, const char *folder, void (*visit)(void *, const char *path), void *user) {
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (*e->d_name != '.') visit(user, arena_printf(arena, "%s/%s", folder, e->d_name));
    if (d) closedir(d);
}

static void add_bytes(void *bytes, const char *path) {
    struct stat s;
    if (!stat(path, &s)) *(uint64_t *)bytes += (uint64_t)s.st_size;
}

static void add_entry(void *user, const char *path) {
    Entries *e = user;
    struct stat s;
    if (stat(path, &s)) return;
    if (e->n == e->capacity) {
        Entry *more = ARENA_ARRAY(e->arena, Entry, e->capacity = 2 * e->capacity + 64);
        if (e->n) memcpy(more, e->all, (size_t)e->n * sizeof *more);
        e->all = more;
    }
    Entry *entry = &e->all[e->n++];
    *entry = (Entry){.path = path, .used = s.st_mtim};
    each_file(e->arena, path, add_bytes, &entry->bytes);
    e->bytes += entry->bytes;
}

static void add_kind(void *user, const char *path) { each_file(((Entries *)user)->arena, path, add_entry, user); }

static int by_use(const void *a, const void *b) {
    const struct timespec *x = &((const Entry *)a)->used, *y = &((const Entry *)b)->used;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

static uint64_t allowed_bytes(void) {
    const char *text = getenv("BURIN_CACHE_SIZE");
    uint64_t bytes;
    if (text && *text && size_parse(text, &bytes)) return bytes;
    if (text && *text)
        diag_warning(NO_LOC, "BURIN_CACHE_SIZE=%s is no size, " CACHE_SIZE " is taken\nhint: bytes, or with K, M or G: 500M",
                     text);
    size_parse(CACHE_SIZE, &bytes);
    return bytes;
}

void cache_trim(Arena *arena, const char *keep) {
    Entries e = {.arena = arena};
    uint64_t allowed = allowed_bytes();
    const char *home = cache_home(arena);
    if (home) each_file(arena, home, add_kind, &e);
    if (e.bytes <= allowed) return;
    qsort(e.all, (size_t)e.n, sizeof *e.all, by_use);
    for (int i = 0; i < e.n && e.bytes > allowed; i++) {
        if (!strcmp(e.all[i].path, keep)) continue;
        remove_folder(e.all[i].path);
        e.bytes -= e.all[i].bytes;
    }
}
