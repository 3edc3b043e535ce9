#include "toolchain/sysroot.h"

#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "toolchain/cache.h"
#include "toolchain/compiler.h"
#include "util/diag.h"
#include "util/files.h"
#include "util/text.h"

// The first of these places in the folder that has the file, or NULL. Where clang looks for it, in
// its order.
static const char *file_in(Arena *arena, const char *folder, const char *const *places,
                           const char *name) {
    for (; *places; places++) {
        const char *file = arena_printf(arena, "%s/%s/%s", folder, *places, name);
        if (!access(file, R_OK)) return file;
    }
    return NULL;
}

static const char *header_in(Arena *arena, const Machine *m, const char *folder) {
    const char *const places[] = {arena_printf(arena, "usr/include/%s", m->triple), "usr/include",
                                  "include", NULL};
    return file_in(arena, folder, places, "stdio.h");
}

static const char *library_in(Arena *arena, const Machine *m, const char *folder,
                              const char *name) {
    const char *const places[] = {arena_printf(arena, "usr/lib/%s", m->triple),
                                  arena_printf(arena, "lib/%s", m->triple),
                                  "usr/lib64",
                                  "lib64",
                                  "usr/lib",
                                  "lib",
                                  NULL};
    return file_in(arena, folder, places, name);
}

// ----------------------------------------------------------------------------------- gcc's library
static const char *escaped(Arena *arena, const char *path) {
    Text text = {0};
    for (; *path; path++) text_add(&text, strchr("*?[\\", *path) ? "\\%c" : "%c", *path);
    const char *copy = arena_strdup(arena, text.length ? text.data : "");
    text_free(&text);
    return copy;
}

// In DIR/gcc*/TRIPLE/VERSION, whose triple is as the distribution spells it. The last version, or
// NULL.
static const char *gcc_in(Arena *arena, const Machine *m, const char *parent) {
    glob_t found;
    const char *path = NULL, *pattern = arena_printf(arena, "%s/gcc*/%s*-*/*/crtbeginT.o",
                                                     escaped(arena, parent), m->architecture);
    if (!glob(pattern, 0, NULL, &found))
        path = path_folder(arena, found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
    return path;
}

// NULL: the folder has its own, which clang finds.
static const char *gcc_for(Arena *arena, const Machine *m, const char *folder) {
    static const char *const places[] = {"usr/lib", "usr/lib64", "lib", "lib64"};
    for (int i = 0; i < 4; i++)
        if (gcc_in(arena, m, arena_printf(arena, "%s/%s", folder, places[i]))) return NULL;
    const char *here = gcc_in(arena, m, "/usr/lib");
    if (here) return here;
    diag_fatal(NO_LOC,
               "--sysroot=%s: gcc's library for %s is neither in it nor on this machine\nhint: %s",
               folder, m->triple, cross_hint(arena, m->gcc, m->triple));
}

// ------------------------------------------------------------------------------------------ checks
// The machine that an object of 32 or 64 bits is for; -1: it is none.
static int object_machine(const char *file) {
    Elf32_Ehdr head;  // of 64 bits its first fields are the same
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && read(fd, &head, sizeof head) == sizeof head &&
                !memcmp(head.e_ident, ELFMAG, SELFMAG);
    if (fd >= 0) close(fd);
    return good ? head.e_machine : -1;
}

static void check_libraries(Arena *arena, const Machine *m, const char *folder) {
    static const char *const needed[] = {"crt1.o", "libc.a"};
    const char *files[2];
    for (int i = 0; i < 2; i++)
        if (!(files[i] = library_in(arena, m, folder, needed[i])))
            diag_fatal(NO_LOC,
                       "--sysroot=%s: no %s for %s in its lib, lib64, lib/%s, and those in usr: "
                       "programs are linked statically\n"
                       "hint: the package with libc.a is libc6-dev of Debian, glibc-static of "
                       "Fedora, musl-dev of Alpine",
                       folder, needed[i], m->triple, m->triple);
    if (object_machine(files[0]) != m->elf_machine)
        diag_fatal(NO_LOC, "--sysroot=%s: %s is not for %s", folder, files[0], m->triple);
}

static void check_folder(Arena *arena, const Machine *m, const char *folder) {
    struct stat s;
    if (stat(folder, &s) || !S_ISDIR(s.st_mode))
        diag_fatal(NO_LOC,
                   "--sysroot=%s: there is no such folder\nhint: the root of a system for %s, with "
                   "usr/include and usr/lib",
                   folder, m->triple);
    if (!header_in(arena, m, folder))
        diag_fatal(NO_LOC,
                   "--sysroot=%s: no headers of a C library in its usr/include or include\nhint: "
                   "it is the folder above these",
                   folder);
}

// features.h has the version of glibc, stdio.h differs between libraries.
uint64_t headers_key(Arena *arena, const char *folder) {
    static const char *const files[] = {"stdio.h", "features.h"};
    uint64_t key = 0;
    for (int i = 0; i < 2; i++) {
        const char *file = arena_printf(arena, "%s/%s", folder, files[i]);
        key = access(file, R_OK) ? hash_text(file, key) : hash_file(file, key);
    }
    return key;
}

Sysroot sysroot_open(Arena *arena, const Machine *m, const char *folder, bool links) {
    Sysroot s = {.folder = folder};
    check_folder(arena, m, folder);
    if (links) {
        check_libraries(arena, m, folder);
        s.libraries = gcc_for(arena, m, folder);
    }
    s.key = headers_key(arena, path_folder(arena, header_in(arena, m, folder)));
    return s;
}
