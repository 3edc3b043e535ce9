#include "program/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"
#include "program/output.h"

static char *with_ending(const char *path, const char *ending) {
    size_t n = strlen(path) + strlen(ending) + 1;
    char *name = burin_allocate(1, n);
    snprintf(name, n, "%s%s", path, ending);
    return name;
}

// --------------------------------------------------------------------------------------- replacing
// NULL: nothing is at `path`, or a file that may be written to.
static const char *irreplaceable(const char *path) {
    struct stat status;
    int file = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (file < 0)
        return errno == ENOENT                     ? NULL
               : errno == ELOOP                    ? "it is a link, and those are not followed"
               : errno == EISDIR || errno == ENXIO ? "it is no file"
                                                   : strerror(errno);
    bool regular = !fstat(file, &status) && S_ISREG(status.st_mode);
    close(file);
    return regular ? NULL : "it is no file";
}

// PATH.PROCESS.N.part: a new file that no other process has open.
static int create_part(const char *path, char **part) {
    enum { TRIES = 100 };
    char ending[40];
    for (int i = 0; i < TRIES; i++) {
        snprintf(ending, sizeof ending, ".%ld.%d.part", (long)getpid(), i);
        *part = with_ending(path, ending);
        int file = open(*part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (file >= 0 || errno != EEXIST) return file;
        free(*part);
    }
    *part = NULL;
    return -1;
}

static bool write_and_rename(int file, const char *part, const char *path, const void *data,
                             size_t bytes) {
    bool written =
        !fchmod(file, 0600) && burin_write_all(file, data, bytes);  // whatever the umask is
    int error = errno;
    if (close(file) && written) {
        written = false;
        error = errno;
    }
    if (written && rename(part, path)) {
        written = false;
        error = errno;
    }
    if (!written) unlink(part);
    errno = error;
    return written;
}

bool burin_replace_file(const char *path, const void *data, size_t bytes, const char **why) {
    char *part;
    if ((*why = irreplaceable(path))) return false;
    int file = create_part(path, &part);
    bool written = file >= 0 && write_and_rename(file, part, path, data, bytes);
    if (!written) *why = strerror(errno);
    free(part);
    return written;
}

// ----------------------------------------------------------------------------------------- locking
static struct {
    char *path;  // NULL: there is no lock
    int file;
} lock;

// Removed before it is closed: a waiting process finds that its name is gone, and makes another.
// (Windows only removes closed files without waiters.)
void burin_unlock_file(void) {
    if (!lock.path) return;
    bool removed = !unlink(lock.path);
    close(lock.file);
    if (!removed) unlink(lock.path);
    free(lock.path);
    lock.path = NULL;
}

void burin_remove_lock(void) {
    if (lock.path) unlink(lock.path);
}

static bool has_its_name(int file, const char *path) {
    struct stat held, there;
    return !fstat(file, &held) && !stat(path, &there) && held.st_ino == there.st_ino &&
           held.st_dev == there.st_dev;
}

static bool wait_for_lock(int file, const char *path) {
    if (!flock(file, LOCK_EX | LOCK_NB)) return true;
    if (errno == EWOULDBLOCK)
        burin_note("%s: another program goes on from this session: waiting for it", path);
    while (flock(file, LOCK_EX))
        if (errno != EINTR) return false;
    return true;
}

// A session that cannot be written in the end is refused before its text is: its folder takes no
// file, or the name is too long to be extended.
static bool takes_parts(const char *path) {
    char *part;
    int file = create_part(path, &part);
    if (file < 0) return false;
    close(file);
    unlink(part);
    free(part);
    return true;
}

bool burin_lock_file(const char *path, const char **why) {
    if (!*path) {
        *why = "expected a file's name";
        return false;
    }
    if ((*why = irreplaceable(path))) return false;
    if (!takes_parts(path)) {
        *why = strerror(errno);
        return false;
    }
    char *name = with_ending(path, ".lock");
    for (;;) {
        int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0600);
        if (file < 0 || !wait_for_lock(file, path)) {
            *why = errno == ELOOP ? "its .lock is a link, and those are not followed"
                                  : strerror(errno);
            if (file >= 0) close(file);
            free(name);
            return false;
        }
        if (has_its_name(file, name)) {
            if (!lock.path) atexit(burin_unlock_file);
            lock.path = name;
            lock.file = file;
            return true;
        }
        close(file);
    }
}
