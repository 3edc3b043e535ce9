// What the program says: generated text in whole UTF-8 characters and results on stdout, messages on stderr. No stdio: nothing
// is allocated. stdout is held back in one block until burin_show, burin_flush, or a message.
#ifndef BURIN_OUTPUT_H
#define BURIN_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>

#include "base/utf8.h"

enum { BURIN_USER_MISTAKE = 1, BURIN_BAD_COMMAND_LINE = 2 };  // exit status

extern const char *burin_program_name;  // in front of messages

// Everything to a file descriptor; false with errno when it cannot. burin_print ends the program when stdout is lost.
bool burin_write_all(int file, const void *data, size_t bytes);
// Creates or empties a file to write to: a file alone, no device or pipe, and no link. -1, and in *why what stands in the way.
int burin_create_file(const char *path, const char **why);
void burin_print_bytes(const char *text, size_t bytes);
void burin_print_text(const char *text, size_t bytes);  // whole characters; on a terminal, control characters are spelled: \x1b
void burin_print_json_inside(const char *text, size_t bytes);  // what stands between the quotes of a string
void burin_print_json_string(const char *text, size_t bytes);  // with its quotes; what is no UTF-8 is U+FFFD
// What is printed goes there instead, from here on; NULL: to standard output. Returns where it went before.
typedef struct burin_capture {
    char *data;
    size_t n, capacity;
} burin_capture;
burin_capture *burin_capture_into(burin_capture *);
void burin_capture_add(burin_capture *, const void *data, size_t bytes);
void burin_show(void);   // an answer, or a token, is complete: somebody may wait for it, unless stdout is a regular file
void burin_flush(void);  // before the program ends, or writes to stdout past these functions
void burin_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void burin_note(const char *format, ...) __attribute__((format(printf, 1, 2)));  // a line on stderr
extern bool burin_notes_are_off;                                                 // another rank says the same
_Noreturn void burin_stop(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
