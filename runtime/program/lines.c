#include "program/lines.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/allocate.h"
#include "program/input.h"
#include "program/output.h"

enum { FIRST_CAPACITY = 1 << 16 };

void burin_lines_open(burin_lines *l, const char *path) {
    *l = (burin_lines){.capacity = FIRST_CAPACITY, .buffer = burin_allocate(1, FIRST_CAPACITY)};
    l->file = burin_open_input(path, &l->name);
}

void burin_lines_close(burin_lines *l) {
    if (l->file != STDIN_FILENO) close(l->file);
    free(l->buffer);
}

// Makes room after the buffered bytes for at least one byte, and for the 0 after a last line.
static void make_room(burin_lines *l) {
    memmove(l->buffer, l->buffer + l->from, l->end - l->from);
    l->end -= l->from;
    l->from = 0;
    if (l->capacity - l->end > 1) return;
    if (l->end >= BURIN_MOST_LINE)
        burin_stop(BURIN_USER_MISTAKE, "a line of %s has more than %d MB", l->name,
                   BURIN_MOST_LINE >> 20);
    char *larger = realloc(l->buffer, l->capacity *= 2);
    if (!larger) burin_stop(BURIN_USER_MISTAKE, "a line of %s is too large for memory", l->name);
    l->buffer = larger;
}

static void read_more(burin_lines *l) {
    ssize_t got;
    make_room(l);
    while ((got = read(l->file, l->buffer + l->end, l->capacity - l->end - 1)) < 0 &&
           errno == EINTR) {}
    if (got < 0) burin_stop(BURIN_USER_MISTAKE, "cannot read %s: %s", l->name, strerror(errno));
    l->ended = got == 0;
    l->end += (size_t)got;
}

bool burin_line_is_near(const burin_lines *l) {
    struct pollfd input = {.fd = l->file, .events = POLLIN};
    return l->ended || memchr(l->buffer + l->from, '\n', l->end - l->from) ||
           poll(&input, 1, 0) > 0;
}

bool burin_line_is_here(burin_lines *l) {
    struct pollfd input = {.fd = l->file, .events = POLLIN};
    while (!l->ended && !memchr(l->buffer + l->from, '\n', l->end - l->from)) {
        if (poll(&input, 1, 0) <= 0) return false;
        read_more(l);
    }
    return true;
}

bool burin_next_line(burin_lines *l) {
    size_t seen = 0;
    char *end;
    while (!(end = memchr(l->buffer + l->from + seen, '\n', l->end - l->from - seen)) &&
           !l->ended) {
        seen = l->end - l->from;
        read_more(l);
    }
    if (!end && l->from == l->end) return false;
    l->line = l->buffer + l->from;
    l->bytes = (end ? (size_t)(end - l->buffer) : l->end) - l->from;
    l->from += l->bytes + (end != NULL);
    if (l->bytes && l->line[l->bytes - 1] == '\r') l->bytes--;
    l->line[l->bytes] = 0;
    return true;
}
