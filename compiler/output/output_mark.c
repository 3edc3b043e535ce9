// Programs, objects and shared libraries end with a line that has their size, which nothing that
// loads or links them reads. An archive must end with its last member: the date of its first, the
// table of symbols, is the mark, and every tool that changes an archive writes that table anew.
#include "output/output_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/diag.h"

static const char archive_magic[] = "!<arch>\n", archive_date[] = "1180914000  ";
enum {
    DATE_OFFSET = 24,
    DATE_BYTES = 12,
    LINE_BYTES = OUTPUT_MARK_BYTES
};  // of the first
    // member's date

_Static_assert(sizeof archive_date == DATE_BYTES + 1, "a date fills its field");

static bool is_archive(int file) {
    char head[sizeof archive_magic - 1];
    return pread(file, head, sizeof head, 0) == sizeof head &&
           !memcmp(head, archive_magic, sizeof head);
}

// The line of a file that has `bytes` bytes before it
static void write_line(char line[LINE_BYTES + 1], uint64_t bytes) {
    snprintf(line, LINE_BYTES + 1, "\nburin wrote the %020" PRIu64 " bytes above\n\n", bytes);
}

static bool append_line(int file) {
    char line[LINE_BYTES + 1];
    off_t bytes = lseek(file, 0, SEEK_END);
    write_line(line, (uint64_t)bytes);
    return bytes >= 0 && write(file, line, strlen(line)) == (ssize_t)strlen(line);
}

void mark_output(const char *path) {
    int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    bool marked = file >= 0 && (is_archive(file) ? pwrite(file, archive_date, DATE_BYTES,
                                                          DATE_OFFSET) == DATE_BYTES
                                                 : append_line(file));
    if (!marked || close(file)) diag_fatal(NO_LOC, "cannot write %s: %s", path, strerror(errno));
}

bool output_is_marked(int file) {
    char line[LINE_BYTES + 1], end[LINE_BYTES + 1] = "", date[DATE_BYTES];
    struct stat s;
    if (is_archive(file))
        return pread(file, date, DATE_BYTES, DATE_OFFSET) == DATE_BYTES &&
               !memcmp(date, archive_date, DATE_BYTES);
    write_line(line, 0);
    off_t n = (off_t)strlen(line);
    if (fstat(file, &s) || s.st_size < n || pread(file, end, (size_t)n, s.st_size - n) != n)
        return false;
    write_line(line, (uint64_t)(s.st_size - n));
    return !strcmp(line, end);
}
