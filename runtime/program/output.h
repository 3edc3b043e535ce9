// The output of a program: generated text in whole UTF-8 characters and results on stdout, messages
// on stderr. No stdio: nothing is allocated. stdout is buffered in one block until burin_show,
// burin_flush, or a message.
#ifndef BURIN_OUTPUT_H
#define BURIN_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>

#include "base/utf8.h"

enum { BURIN_USER_MISTAKE = 1, BURIN_BAD_COMMAND_LINE = 2 };  // exit status

extern const char *burin_program_name;  // prefix of messages

// Everything to a file descriptor; false with errno when it cannot. burin_print ends the program
// when stdout is lost.
bool burin_write_all(int file, const void *data, size_t bytes);
// Creates or empties an output file: only a regular file, no device, pipe or link. -1, with the
// reason in *why.
int burin_create_file(const char *path, const char **why);
bool burin_ends_with(const char *path, const char *suffix);  // and has more before it
// NULL: burin_create_file will likely work. For what is written at the end of long work.
const char *burin_cannot_create(const char *path);
void burin_print_bytes(const char *text, size_t bytes);
void burin_print_text(
    const char *text,
    size_t bytes);  // whole characters; on a terminal, control characters are spelled: \x1b
// the contents of a string without its quotes
void burin_print_json_inside(const char *text, size_t bytes);
// with its quotes; invalid UTF-8 becomes U+FFFD
void burin_print_json_string(const char *text, size_t bytes);
// Redirects output from here on; NULL: to standard output. Returns the earlier destination.
typedef struct burin_capture {
    char *data;
    size_t n, capacity;
} burin_capture;
burin_capture *burin_capture_into(burin_capture *);
void burin_capture_add(burin_capture *, const void *data, size_t bytes);
// an answer, or a token, is complete: flushes, unless stdout is a regular file
void burin_show(void);
void burin_flush_interrupted(void);  // from a signal handler that ends the program
void burin_flush(void);  // before the program ends, or writes to stdout past these functions
void burin_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void burin_note(const char *format, ...) __attribute__((format(printf, 1, 2)));  // a line on stderr
// another rank prints the same
extern bool burin_notes_are_off;
_Noreturn void burin_stop(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#endif
