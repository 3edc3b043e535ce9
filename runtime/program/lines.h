// The lines of a file or of standard input, each as soon as it is there: answers need not wait for
// the end of the input.
#ifndef BURIN_LINES_H
#define BURIN_LINES_H
#include <stdbool.h>
#include <stddef.h>

typedef struct burin_lines {
    const char *name;
    int file;
    // the newest line, without its end (" " or "\r "), and a 0 after it
    char *line;
    size_t bytes;                // of the line
    char *buffer;                // bytes read
    size_t capacity, from, end;  // of the buffer; bytes after the line are from `from` to `end`
    bool ended;                  // the input
} burin_lines;

// Each ends the program with a message when it cannot. `path` "-": standard input.
void burin_lines_open(burin_lines *, const char *path);
bool burin_line_is_near(const burin_lines *);  // there is one, or its beginning, or the end:
                                               // burin_next_line need not wait long
bool burin_line_is_here(
    burin_lines *);  // burin_next_line does not wait: it has a whole line, or the end
bool burin_next_line(burin_lines *);  // false: there is none; the last needs no newline
void burin_lines_close(burin_lines *);
#endif
