#include "toolchain/private_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool make_private_folders(const char *path) {
    char part[PATH_MAX];
    size_t n = strlen(path);
    if (n >= sizeof part) return errno = ENAMETOOLONG, false;
    for (size_t i = 1; i <= n; i++) {
        if (path[i] && path[i] != '/') continue;
        snprintf(part, sizeof part, "%.*s", (int)i, path);
        if (!mkdir(part, 0700)) {
            if (chmod(part, 0700)) return false;
        } else if (errno != EEXIST && errno != EISDIR) {
            return false;
        }
    }
    return true;
}

static bool is_own(const struct stat *s) {
    return s->st_uid == geteuid() && !(s->st_mode & (S_IWGRP | S_IWOTH));
}

static bool is_safe_parent(const struct stat *s) {
    bool trusted = s->st_uid == geteuid() || s->st_uid == 0;
    return trusted && (!(s->st_mode & (S_IWGRP | S_IWOTH)) || s->st_mode & S_ISVTX);
}

bool is_own_folder(const char *path) {
    struct stat s;
    return !lstat(path, &s) && S_ISDIR(s.st_mode) && is_own(&s);
}

bool is_own_file(const char *path) {
    struct stat s;
    return !lstat(path, &s) && S_ISREG(s.st_mode) && is_own(&s);
}

const char *folder_of_strangers(Arena *arena, const char *real_path) {
    struct stat s;
    if (stat("/", &s) || !is_safe_parent(&s)) return "/";
    for (const char *end = strchr(real_path + 1, '/'); end; end = strchr(end + 1, '/')) {
        const char *parent = arena_strndup(arena, real_path, (size_t)(end - real_path));
        if (lstat(parent, &s) || !S_ISDIR(s.st_mode) || !is_safe_parent(&s)) return parent;
    }
    return is_own_folder(real_path) ? NULL : real_path;
}

static bool write_bytes(int fd, const char *data, size_t bytes) {
    while (bytes) {
        ssize_t n = write(fd, data, bytes);
        if (n < 0 && errno != EINTR) return false;
        if (n > 0) {
            data += n;
            bytes -= (size_t)n;
        }
    }
    return true;
}

bool write_private(const char *path, const void *data, size_t bytes) {
    if (unlink(path) && errno != ENOENT) return false;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    bool whole = !fchmod(fd, 0600) && write_bytes(fd, data, bytes);
    int error = errno;
    if (close(fd) && whole) return false;
    errno = error;
    return whole;
}
