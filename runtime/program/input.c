#include "program/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"
#include "program/output.h"

enum { A_SECOND = 1000 };

// NULL: the open file can be read to an end.
static const char *unreadable(int file) {
    struct stat status, null;
    if (fstat(file, &status)) return strerror(errno);
    if (S_ISDIR(status.st_mode)) return strerror(EISDIR);
    bool device = S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode);
    if (!device || isatty(file)) return NULL;
    return !stat("/dev/null", &null) && null.st_rdev == status.st_rdev
               ? NULL
               : "it is a device, and no file";
}

static bool is_pipe(int file) {
    struct stat status;
    return !fstat(file, &status) && S_ISFIFO(status.st_mode);
}

// Waits until someone has written, or has come and gone.
static void wait_for_writer(int file, const char *path) {
    struct pollfd input = {.fd = file, .events = POLLIN};
    if (poll(&input, 1, A_SECOND) == 0)
        burin_note("%s is a pipe: waiting for somebody to write into it", path);
    while (poll(&input, 1, -1) < 0 && errno == EINTR) {}
}

// Without O_NONBLOCK, opening a pipe without a writer blocks.
int burin_open_file(const char *path, const char **why) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    *why = file < 0 ? strerror(errno) : unreadable(file);
    if (file >= 0 && *why) close(file);
    if (*why) return -1;
    if (is_pipe(file)) wait_for_writer(file, path);
    fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
    return file;
}

int burin_open_small_file(const char *path, long long most_bytes, const char **why) {
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    *why = file < 0 || fstat(file, &status) ? strerror(errno) : NULL;
    if (!*why && !S_ISREG(status.st_mode)) *why = "it is no file";
    if (!*why && status.st_size > most_bytes) *why = strerror(EFBIG);
    if (!*why) return file;
    if (file >= 0) close(file);
    return -1;
}

int burin_open_input(const char *path, const char **name) {
    bool standard = !strcmp(path, "-");
    const char *why;
    *name = standard ? "standard input" : path;
    int file = standard ? STDIN_FILENO : burin_open_file(path, &why);
    if (standard) why = unreadable(file);
    if (why) burin_stop(BURIN_USER_MISTAKE, "cannot read %s: %s", *name, why);
    return file;
}

static bool is_offered(bool prompted) {
    struct stat status;
    if (fstat(STDIN_FILENO, &status)) return false;
    if (S_ISREG(status.st_mode)) return !prompted || !lseek(STDIN_FILENO, 0, SEEK_CUR);
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    if (!S_ISFIFO(status.st_mode)) return false;
    if (poll(&input, 1, A_SECOND) > 0) return true;
    burin_note(
        "nothing came on standard input within a second: going on %s\nhint: -f - waits for it",
        prompted ? "with the prompt alone" : "without a prompt");
    return false;
}

bool burin_input_is_offered(bool prompted) {
    static int offered = -1;
    if (offered < 0) offered = is_offered(prompted);
    return offered;
}

static char *read_all(int file, const char *name, size_t most, size_t *bytes) {
    size_t capacity = 1 << 16, n = 0;
    char *text = burin_allocate(1, capacity);
    for (;;) {
        ssize_t got = read(file, text + n, capacity - n - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) burin_stop(BURIN_USER_MISTAKE, "cannot read %s: %s", name, strerror(errno));
        if (got == 0) break;
        n += (size_t)got;
        if (n > most)
            burin_stop(BURIN_USER_MISTAKE, "%s holds more than %zu MB%s", name, most >> 20,
                       most == BURIN_MOST_TEXT ? " of text: that is no prompt" : "");
        if (capacity - n > 1) continue;
        char *larger = realloc(text, capacity *= 2);
        if (!larger) burin_stop(BURIN_USER_MISTAKE, "%s is too large for memory", name);
        text = larger;
    }
    text[n] = 0;
    *bytes = n;
    return text;
}

char *burin_read_open_file(int file, const char *name, size_t *bytes) {
    char *text = read_all(file, name, BURIN_MOST_TEXT, bytes);
    if (file != STDIN_FILENO) close(file);
    return text;
}

char *burin_read_file(const char *path, size_t *bytes) {
    const char *name;
    int file = burin_open_input(path, &name);
    return burin_read_open_file(file, name, bytes);
}

void *burin_read_bytes(const char *path, size_t most, size_t *bytes) {
    const char *name;
    int file = burin_open_input(path, &name);
    char *data = read_all(file, name, most, bytes);
    if (file != STDIN_FILENO) close(file);
    return data;
}
