#include "history_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "program/input.h"
#include "program/output.h"
#include "text/prompt.h"

static _Noreturn void refuse(const char *path, const char *why) {
    burin_stop(BURIN_USER_MISTAKE, "--history %s: %-s", path, why);
}

// Whole characters without NUL: else the file is another kind of file, or damaged.
static bool is_text(const char *text, size_t bytes) {
    for (size_t i = 0; i < bytes;) {
        char whole[16];
        burin_utf8 u = {0};
        unsigned char first = (unsigned char)text[i];
        size_t n = (size_t)burin_utf8_length(first);
        if (!first || !n || n > bytes - i) return false;
        if (burin_utf8_add(&u, text + i, n, whole) != n || memcmp(whole, text + i, n)) return false;
        i += n;
    }
    return true;
}

// False: the last line has no end.
static bool read_lines(const char *path, int file, void (*line)(void *context, const char *),
                       void *context) {
    size_t bytes;
    char *text = burin_read_open_file(file, path, &bytes), *end = text + bytes;
    if (!is_text(text, bytes))
        refuse(path,
               "it is no text\nhint: --history names a file of lines, or one that is not there");
    bool ended = !bytes || end[-1] == '\n';
    for (char *at = text, *next; at < end; at = next) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        if (newline) *newline = 0;
        next = newline ? newline + 1 : end;
        if (*at) line(context, at);
    }
    free(text);
    return ended;
}

int burin_history_open(const char *path, void (*line)(void *context, const char *), void *context) {
    const char *why = NULL;
    struct stat status;
    bool ended = true;
    int file = burin_open_small_file(path, BURIN_MOST_LINE, &why);
    if (file >= 0)
        ended = read_lines(path, file, line, context);
    else if (access(path, F_OK) == 0 || errno != ENOENT)
        refuse(path, why);
    file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0600);
    if (file < 0)
        refuse(path, errno == ELOOP ? "it is a link, and those are not followed" : strerror(errno));
    if (fstat(file, &status) || !S_ISREG(status.st_mode)) refuse(path, "it is no file");
    if (!ended && !burin_write_all(file, "\n", 1)) refuse(path, strerror(errno));
    return file;
}

bool burin_history_add(int file, const char *line) {
    size_t n = strlen(line);
    char *whole = malloc(n + 1);
    if (!whole) return false;
    memcpy(whole, line, n);
    whole[n] = '\n';
    bool written = burin_write_all(file, whole, n + 1);
    free(whole);
    return written;
}
