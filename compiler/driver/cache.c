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
#include <sys/statvfs.h>
#include <unistd.h>

#include "driver/options.h"
#include "driver/process.h"
#include "util/diag.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/mapping.h"
#include "util/text.h"

uint64_t hash_text(const char *text, uint64_t seed) {
    return text ? hash_bytes(text, strlen(text) + 1, seed) : hash_bytes("", 0, seed);
}

enum { HASHED_AT_ONCE = 1 << 26 };

uint64_t hash_file(const char *path, uint64_t seed) {
    uint64_t size;
    const void *bytes = mapping_open(path, &size);
    if (!size) return seed;
    for (uint64_t at = 0; at < size; at += HASHED_AT_ONCE) {
        progress_bytes("reading the model", at, size);
        seed = hash_bytes((const char *)bytes + at, size - at < HASHED_AT_ONCE ? size - at : HASHED_AT_ONCE, seed);
    }
    progress(NULL, 0);
    mapping_remove(bytes);
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

// Not a link to one, which may lead around in circles.
static bool is_real_folder(const char *path) {
    struct stat s;
    return !lstat(path, &s) && S_ISDIR(s.st_mode);
}

static uint64_t hash_entries(const char *path, const char *const *suffixes, bool deep, uint64_t seed) {
    struct dirent **list;
    int n = scandir(path, &list, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        struct stat s;
        const char *name = list[i]->d_name;
        char *inner = NULL;
        if (*name != '.' && asprintf(&inner, "%s/%s", path, name) > 0 && !stat(inner, &s)) {
            if (deep && is_real_folder(inner)) seed = hash_entries(inner, suffixes, deep, seed);
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

uint64_t hash_files(const char *folder, const char *const *suffixes, uint64_t seed) {
    return hash_entries(folder, suffixes, false, seed);
}

// ------------------------------------------------------------------------------------------------------------------ entries
static const char *cache_home(Arena *arena) {
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (base && *base) return arena_printf(arena, "%s/burin", base);
    return home && *home ? arena_printf(arena, "%s/.cache/burin", home) : NULL;
}

// The build does without: said once.
static bool unusable;

static bool do_without(const char *path, const char *why) {
    if (!unusable) diag_warning(NO_LOC, "nothing is kept for the next run: %s: %s\nhint: XDG_CACHE_HOME says where", path, why);
    unusable = true;
    return false;
}

static bool make_folders(const char *path) {
    char part[PATH_MAX];
    for (size_t i = 1; i <= strlen(path) && i < sizeof part; i++) {
        if (path[i] && path[i] != '/') continue;
        snprintf(part, sizeof part, "%.*s", (int)i, path);
        if (mkdir(part, 0777) && errno != EEXIST && errno != EISDIR) return false;
    }
    return true;
}

// What others can write there is nothing to run.
static bool is_ready(const char *home) {
    static bool ready;
    struct stat s;
    if (ready || unusable) return ready;
    if (!make_folders(home) || stat(home, &s)) return do_without(home, strerror(errno));
    if (!S_ISDIR(s.st_mode)) return do_without(home, strerror(ENOTDIR));
    if (s.st_uid != geteuid() || s.st_mode & S_IWOTH) return do_without(home, "others can write there");
    if (access(home, W_OK | X_OK)) return do_without(home, strerror(errno));
    return ready = true;
}

const char *cache_folder(Arena *arena, const char *kind, uint64_t key) {
    const char *home = cache_home(arena);
    if (!home) do_without("~/.cache", "HOME is not set");
    return home && is_ready(home) ? arena_printf(arena, "%s/%s/%016llx", home, kind, (unsigned long long)key) : NULL;
}

bool cache_make(Arena *arena, const char *file, uint64_t bytes) {
    struct statvfs room;
    const char *folder = path_folder(arena, file);
    if (!make_folders(folder)) return do_without(folder, strerror(errno));
    if (!statvfs(folder, &room) && room.f_bavail * room.f_frsize < bytes) return do_without(folder, strerror(ENOSPC));
    return true;
}

// ---------------------------------------------------------------------------------------------------------------- checksums
static const char *seal_of(Arena *arena, const char *file) { return arena_printf(arena, "%s.sum", file); }

// 16 digits: of the bytes and their number.
static bool sum_text(const char *file, char text[17]) {
    uint64_t size;
    int fd = open_regular(file, &size);
    void *bytes = fd < 0 || !size ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0) close(fd);
    if (bytes == MAP_FAILED) return false;
    snprintf(text, 17, "%016llx", (unsigned long long)hash_bytes(bytes, size, size));
    munmap(bytes, size);
    return true;
}

static bool seal_fits(Arena *arena, const char *file) {
    char expected[17], there[17] = {0};
    uint64_t size;
    int fd = open_regular(seal_of(arena, file), &size);
    if (fd < 0) return false;
    bool whole = read(fd, there, 16) == 16;
    close(fd);
    return whole && sum_text(file, expected) && !strcmp(there, expected);
}

static bool write_whole(const char *path, const void *data, size_t bytes) {
    int fd = create_output(path, O_WRONLY);
    bool whole = fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes;
    return !(fd >= 0 && close(fd)) && whole;
}

void cache_seal(Arena *arena, const char *file) {
    char text[17];
    if (!sum_text(file, text) || !write_whole(seal_of(arena, file), text, 16)) do_without(file, strerror(errno));
}

// When an entry was used last is the time of its folder.
bool cache_find(Arena *arena, const char *file) {
    if (!seal_fits(arena, file)) {
        remove_tree(file);
        return false;
    }
    utimensat(AT_FDCWD, path_folder(arena, file), NULL, 0);
    return true;
}

void cache_put(Arena *arena, const char *from, const char *to) {
    size_t size;
    const char *beside = arena_printf(arena, "%s.%d", to, (int)getpid());
    if (unusable || !cache_make(arena, to, 0)) return;
    char *bytes = read_text_file(from, &size);
    bool kept = write_whole(beside, bytes, size) && !rename(beside, to);
    if (!kept) do_without(to, strerror(errno)), unlink(beside);
    free(bytes);
    if (kept) cache_seal(arena, to);
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
    if (!lstat(path, &s)) *(uint64_t *)bytes += (uint64_t)s.st_size;
}

static void add_entry(void *user, const char *path) {
    Entries *e = user;
    struct stat s;
    const char *name = path_name(path);
    bool ours = strlen(name) == 16 && strspn(name, "0123456789abcdef") == 16;
    if (!ours || lstat(path, &s) || !S_ISDIR(s.st_mode)) return;
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

static void add_kind(Entries *e, const char *home, const char *kind) {
    const char *path = arena_printf(e->arena, "%s/%s", home, kind);
    if (is_real_folder(path)) each_file(e->arena, path, add_entry, e);
}

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
    if (unusable || !home) return;
    add_kind(&e, home, "objects"), add_kind(&e, home, "programs");
    if (e.bytes <= allowed) return;
    qsort(e.all, (size_t)e.n, sizeof *e.all, by_use);
    for (int i = 0; i < e.n && e.bytes > allowed; i++) {
        if (!strcmp(e.all[i].path, keep)) continue;
        remove_tree(e.all[i].path);
        e.bytes -= e.all[i].bytes;
    }
}
