#include "util/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/diag.h"

const char *path_folder(Arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    return !slash ? "." : arena_strndup(arena, path, (size_t)(slash - path) + (slash == path));
}

const char *path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int refuse(int fd, int error) {
    close(fd);
    errno = error;
    return -1;
}

// Non-blocking: a pipe without a writer would block here. Regular files are unaffected.
int open_regular(const char *path, uint64_t *size) {
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return -1;
    if (fstat(fd, &about)) return refuse(fd, errno);
    if (!S_ISREG(about.st_mode)) return refuse(fd, S_ISDIR(about.st_mode) ? EISDIR : ENODEV);
    *size = (uint64_t)about.st_size;
    return fd;
}

int open_input(const char *path, uint64_t *size) {
    int fd = open_regular(path, size);
    if (fd >= 0) return fd;
    if (errno == ENODEV || errno == ENXIO || errno == EISDIR)
        diag_fatal(NO_LOC, "%s is not a regular file", path);
    diag_fatal(NO_LOC, "cannot open %s: %s", path, strerror(errno));
}

int create_output(const char *path, int flags) {
    struct stat about;
    int fd = open(path, flags | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (fd < 0) return -1;
    if (fstat(fd, &about)) return refuse(fd, errno);
    if (!S_ISREG(about.st_mode)) return refuse(fd, ENODEV);
    return ftruncate(fd, 0) ? refuse(fd, errno) : fd;
}

// ---------------------------------------------------------------------------------------- removing
static bool remove_at(int folder, const char *name);

static void empty_folder(int fd) {
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return;
    }
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) remove_at(dirfd(d), e->d_name);
    closedir(d);
}

// unlinkat reports whether it is a folder; only then it is opened, and never through a link.
static bool remove_at(int folder, const char *name) {
    if (!unlinkat(folder, name, 0) || errno == ENOENT) return true;
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return false;
    empty_folder(fd);
    return !unlinkat(folder, name, AT_REMOVEDIR);
}

bool remove_tree(const char *path) { return remove_at(AT_FDCWD, path); }
