#include "driver/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

uint64_t hash_folder(const char *path, const char *const *suffixes, uint64_t seed) {
    struct dirent **list;
    int n = scandir(path, &list, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        struct stat s;
        const char *name = list[i]->d_name;
        char *inner = NULL;
        if (*name != '.' && asprintf(&inner, "%s/%s", path, name) > 0 && !stat(inner, &s)) {
            if (S_ISDIR(s.st_mode)) seed = hash_folder(inner, suffixes, seed);
            if (S_ISREG(s.st_mode) && ends_with_one_of(name, suffixes)) seed = hash_file(inner, hash_text(name, seed));
        }
        free(inner);
        free(list[i]);
    }
    if (n >= 0) free(list);
    return seed;
}

const char *cache_folder(Arena *arena, const char *kind, uint64_t key) {
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (base && *base) return arena_printf(arena, "%s/burin/%s/%016llx", base, kind, (unsigned long long)key);
    if (home && *home) return arena_printf(arena, "%s/.cache/burin/%s/%016llx", home, kind, (unsigned long long)key);
    return NULL;
}

void cache_put(Arena *arena, const char *from, const char *to) {
    size_t size;
    const char *beside = arena_printf(arena, "%s.%d", to, (int)getpid());
    char *bytes = read_text_file(from, &size);
    write_file(beside, bytes, size);
    free(bytes);
    if (rename(beside, to)) diag_fatal(NO_LOC, "cannot write %s: %s", to, strerror(errno));
}
