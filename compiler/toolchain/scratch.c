// Working folders of builds, locked as long as their process lives and marked as burin's: a later
// build removes folders with a mark but without a lock, left by a killed build.
#include "toolchain/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/diag.h"
#include "util/files.h"

static const char mark_name[] = "burin.scratch", mark_text[] = "burin works here\n",
                  random_part[] = "XXXXXX";

static bool is_marked(int folder) {
    char text[sizeof mark_text] = "";
    int mark = openat(folder, mark_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool marked = mark >= 0 && read(mark, text, sizeof text) == sizeof mark_text - 1 &&
                  !strcmp(text, mark_text);
    if (mark >= 0) close(mark);
    return marked;
}

// The same user's, marked, and locked by no process. Another's folder, a link, a file: no.
static bool is_abandoned(const char *path) {
    struct stat s;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return false;
    bool abandoned = !fstat(folder, &s) && s.st_uid == geteuid() &&
                     !flock(folder, LOCK_EX | LOCK_NB) && is_marked(folder);
    close(folder);
    return abandoned;
}

static bool is_scratch_name(const char *name, const char *prefix) {
    size_t n = strlen(prefix);
    return !strncmp(name, prefix, n) && strlen(name) == n + strlen(random_part);
}

static void remove_abandoned(Arena *arena, const char *base, const char *prefix) {
    DIR *d = opendir(base);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!is_scratch_name(e->d_name, prefix)) continue;
        const char *path = arena_printf(arena, "%s/%s", base, e->d_name);
        if (is_abandoned(path)) remove_tree(path);
    }
    if (d) closedir(d);
}

// The descriptor stays open, and so the lock, until the process ends. The mark is written under the
// lock: a folder without both is never taken for an abandoned one.
static void mark_folder(const char *path) {
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0 || flock(folder, LOCK_EX)) return;
    int mark =
        openat(folder, mark_name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (mark < 0) return;
    if (write(mark, mark_text, sizeof mark_text - 1) != sizeof mark_text - 1)
        unlinkat(folder, mark_name, 0);
    close(mark);
}

const char *scratch_folder(Arena *arena, const char *base, const char *prefix) {
    char *path = arena_printf(arena, "%s/%s%s", base, prefix, random_part);
    remove_abandoned(arena, base, prefix);
    diag_hold();
    bool made = mkdtemp(path);
    if (made) {
        diag_remove_on_stop(path);
        mark_folder(path);
    }
    diag_release();
    return made ? path : NULL;
}
