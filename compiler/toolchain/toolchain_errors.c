#include "toolchain/toolchain_errors.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "toolchain/compiler.h"
#include "util/diag.h"
#include "util/files.h"

static uint64_t size_of(const char *path) {
    struct stat s;
    return stat(path, &s) || !S_ISREG(s.st_mode) ? 0 : (uint64_t)s.st_size;
}

static uint64_t free_bytes(const char *folder) {
    struct statvfs s;
    return statvfs(folder, &s) ? UINT64_MAX : (uint64_t)s.f_bavail * s.f_frsize;
}

static bool same_disk(const char *a, const char *b) {
    struct stat first, second;
    return !stat(a, &first) && !stat(b, &second) && first.st_dev == second.st_dev;
}

// A place that a job writes to. `folder` is burin's own, which goes with the run: messages name the
// one it is in.
typedef struct Place {
    const char *folder, *hint;
    uint64_t free;
} Place;

static Place fuller_place(const Job *j) {
    const char *output = j->output ? j->output : j->log;
    Place work = {path_folder(j->line.arena, j->log), "TMPDIR says where burin works", 0},
          out = {path_folder(j->line.arena, output), "-o says where it goes", 0};
    work.free = free_bytes(work.folder), out.free = free_bytes(out.folder);
    return out.free < work.free && !same_disk(out.folder, work.folder) ? out : work;
}

// A job's inputs, objects, are about as large as its output; ar makes a copy first.
static bool cannot_have_fitted(const Job *j, const Place *p) {
    enum { SMALL = 1 << 16 };
    uint64_t needed = SMALL, there = j->output ? size_of(j->output) : 0;
    for (int i = 1; i < j->line.n; i++)
        if (j->line.words[i] != j->output) needed += size_of(j->line.words[i]);
    return p->free < UINT64_MAX - there && p->free + there < 2 * needed;
}

static const char *reason(const char *said) {
    static const int errors[] = {ENOSPC, EDQUOT};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strstr(said, strerror(errors[i]))) return strerror(errors[i]);
    return NULL;
}

void explain_full_disk(const Job *j, const char *said) {
    Place p = fuller_place(j);
    const char *where = path_folder(j->line.arena, p.folder), *why = reason(said);
    if (strstr(said, strerror(EFBIG)) || strstr(said, strsignal(SIGXFSZ)))
        diag_fatal(
            NO_LOC,
            "%s: a file is larger than this process may write\nhint: ulimit -f says how large",
            j->what);
    if (why) diag_fatal(NO_LOC, "%s: %s: %s\nhint: %s", j->what, where, why, p.hint);
    if (cannot_have_fitted(j, &p))
        diag_fatal(NO_LOC, "%s: no room is left in %s\nhint: %s", j->what, where, p.hint);
}

static const char *library_hint(Arena *arena) {
    static const struct {
        const char *installer, *package;
    } packages[] = {{"apt-get", "libc6-dev"},
                    {"dnf", "glibc-static"},
                    {"zypper", "glibc-devel-static"},
                    {"apk", "musl-dev"}};
    const char *command = system_install_command(arena);
    for (size_t i = 0; command && i < sizeof packages / sizeof *packages; i++)
        if (!strncmp(command, packages[i].installer, strlen(packages[i].installer)))
            return arena_printf(arena, "%s %s", command, packages[i].package);
    return "install the static C library as this system names it";
}

void explain_missing_header(const Job *j, const char *said) {
    static const char before[] = "fatal error: '", behind[] = "' file not found";
    const char *at = strstr(said, before), *end = at ? strstr(at, behind) : NULL;
    if (!end) return;
    at += strlen(before);
    diag_fatal(NO_LOC,
               "%s: the C library that is compiled with has no header %.*s\nhint: `burin targets` "
               "says what brings one; with "
               "--sysroot, its headers and the kernel's must be whole",
               j->what, (int)(end - at), at);
}

void explain_missing_library(const Job *j, const char *said) {
    static const char *const complaints[] = {"cannot find -l", "unable to find library -l"};
    for (size_t i = 0; i < sizeof complaints / sizeof *complaints; i++) {
        const char *at = strstr(said, complaints[i]);
        if (!at) continue;
        at += strlen(complaints[i]);
        diag_fatal(NO_LOC,
                   "%s: there is no static library lib%.*s.a, which programs are linked "
                   "with\nhint: %s; or -o NAME.so, which "
                   "needs none",
                   j->what, (int)strcspn(at, ":\n "), at, library_hint(j->line.arena));
    }
}
