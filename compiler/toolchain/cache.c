#include "toolchain/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/options.h"
#include "toolchain/private_folder.h"
#include "toolchain/process.h"
#include "toolchain/seal.h"
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
        seed = hash_bytes((const char *)bytes + at,
                          size - at < HASHED_AT_ONCE ? size - at : HASHED_AT_ONCE, seed);
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

static uint64_t hash_entries(const char *path, const char *const *suffixes, bool deep,
                             uint64_t seed) {
    struct dirent **list;
    int n = scandir(path, &list, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        struct stat s;
        const char *name = list[i]->d_name;
        char *inner = NULL;
        if (*name != '.' && asprintf(&inner, "%s/%s", path, name) > 0 && !stat(inner, &s)) {
            if (deep && is_real_folder(inner)) seed = hash_entries(inner, suffixes, deep, seed);
            if (S_ISREG(s.st_mode) && ends_with_one_of(name, suffixes))
                seed = hash_file(inner, hash_text(name, seed));
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

// ----------------------------------------------------------------------------------------- entries
static const char *cache_home(Arena *arena) {
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (base && *base) return arena_printf(arena, "%s/burin", base);
    return home && *home ? arena_printf(arena, "%s/.cache/burin", home) : NULL;
}

// Keeping files for the next run has failed, which is reported once.
static bool unusable;

static bool do_without(const char *path, const char *why) {
    if (!unusable)
        diag_warning(
            NO_LOC,
            "nothing is kept for the next run: %s: %s\nhint: XDG_CACHE_HOME names another folder",
            path, why);
    unusable = true;
    return false;
}

static const char *ready;  // the cache's real path, once it was checked

// Another user who can write there could put a program in place that this one runs.
static const char *ready_home(Arena *arena, const char *home) {
    if (ready || unusable) return ready;
    if (!make_private_folders(home)) return do_without(home, strerror(errno)), NULL;
    const char *real = realpath(home, NULL),
               *culprit = real ? folder_of_strangers(arena, real) : NULL;
    if (!real || access(real, W_OK | X_OK)) return do_without(home, strerror(errno)), NULL;
    if (culprit) return do_without(culprit, "others can write there"), NULL;
    if (!seal_open(arena, real))
        return do_without(real, "there is no secret file that is this user's alone"), NULL;
    return ready = real;
}

const char *cache_folder(Arena *arena, const char *kind, uint64_t key) {
    const char *home = cache_home(arena);
    if (!home) do_without("~/.cache", "HOME is not set");
    if (!home || !(home = ready_home(arena, home))) return NULL;
    return arena_printf(arena, "%s/%s/%016llx", home, kind, (unsigned long long)key);
}

// ------------------------------------------------------------------------------------------- locks
// An entry that this run uses has a shared lock, so that no other run's cache_trim removes it.
typedef struct Hold {
    const char *folder;
    int fd;
} Hold;

static struct {
    Hold *all;
    int n, capacity;
} holds;

static bool is_held(const char *folder) {
    for (int i = 0; i < holds.n; i++)
        if (!strcmp(holds.all[i].folder, folder)) return true;
    return false;
}

static void add_hold(const char *folder, int fd) {
    if (holds.n == holds.capacity) {
        holds.capacity = 2 * holds.capacity + 64;
        holds.all = realloc(holds.all, (size_t)holds.capacity * sizeof *holds.all);
        if (!holds.all) diag_fatal(NO_LOC, "out of memory");
    }
    holds.all[holds.n++] = (Hold){folder, fd};
}

static bool is_still_there(int fd, const char *folder) {
    struct stat held, there;
    return !fstat(fd, &held) && !lstat(folder, &there) && held.st_ino == there.st_ino &&
           held.st_dev == there.st_dev;
}

// Returns false if there is no such entry, or if others can write to it. A file system without
// locks has none.
static bool hold_entry(Arena *arena, const char *folder) {
    if (is_held(folder)) return true;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return false;
    while (flock(fd, LOCK_SH) && errno == EINTR) {}
    bool ours = is_own_folder(path_folder(arena, folder)) && is_own_folder(folder);
    if (!ours || !is_still_there(fd, folder)) {
        close(fd);
        return false;
    }
    add_hold(folder, fd);
    return true;
}

static void release_all_but(const char *keep) {
    int n = 0;
    for (int i = 0; i < holds.n; i++) {
        if (!strcmp(holds.all[i].folder, keep))
            holds.all[n++] = holds.all[i];
        else
            close(holds.all[i].fd);
    }
    holds.n = n;
}

// Between the two steps another run may remove the folder: it is made again.
static bool make_entry(Arena *arena, const char *folder) {
    for (int tries = 0; tries < 100; tries++) {
        if (!make_private_folders(folder)) return do_without(folder, strerror(errno));
        if (hold_entry(arena, folder)) return true;
    }
    return do_without(folder, "others can write there");
}

bool cache_make(Arena *arena, const char *file, uint64_t bytes) {
    struct statvfs room;
    const char *folder = path_folder(arena, file);
    if (!make_entry(arena, folder)) return false;
    if (!statvfs(folder, &room) && room.f_bavail * room.f_frsize < bytes)
        return do_without(folder, strerror(ENOSPC));
    return true;
}

// ------------------------------------------------------------------------------------------- files
// When an entry was used last is the time of its folder.
bool cache_find(Arena *arena, const char *file) {
    const char *folder = path_folder(arena, file);
    if (!hold_entry(arena, folder) || !seal_fits(arena, file)) return false;
    utimensat(AT_FDCWD, folder, NULL, 0);
    return true;
}

void cache_seal(Arena *arena, const char *file) {
    if (chmod(file, 0700) || !seal_write(arena, file)) do_without(file, strerror(errno));
}

void cache_put(Arena *arena, const char *from, const char *to) {
    size_t size;
    const char *beside = arena_printf(arena, "%s.%d", to, (int)getpid());
    if (unusable || !cache_make(arena, to, 0)) return;
    char *bytes = read_text_file(from, &size);
    if (!write_private(beside, bytes, size) || rename(beside, to) || !seal_write(arena, to)) {
        do_without(to, strerror(errno));
        unlink(beside);
    }
    free(bytes);
}

// ---------------------------------------------------------------------------------------- its size
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

static void each_file(Arena *arena, const char *folder, void (*visit)(void *, const char *path),
                      void *user) {
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
        diag_warning(NO_LOC,
                     "BURIN_CACHE_SIZE=%s is no size, " CACHE_SIZE
                     " is taken\nhint: bytes, or with K, M or G: 500M",
                     text);
    size_parse(CACHE_SIZE, &bytes);
    return bytes;
}

// Returns false if another run uses it.
static bool remove_unused(const char *entry) {
    int fd = open(entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool used = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    if (!used) remove_tree(entry);
    if (fd >= 0) close(fd);
    return !used;
}

void cache_trim(Arena *arena, const char *keep) {
    Entries e = {.arena = arena};
    uint64_t allowed = allowed_bytes();
    release_all_but(keep);
    if (unusable || !ready) return;
    add_kind(&e, ready, "objects");
    add_kind(&e, ready, "programs");
    if (e.bytes <= allowed) return;
    qsort(e.all, (size_t)e.n, sizeof *e.all, by_use);
    for (int i = 0; i < e.n && e.bytes > allowed; i++) {
        if (strcmp(e.all[i].path, keep) && remove_unused(e.all[i].path)) e.bytes -= e.all[i].bytes;
    }
}
