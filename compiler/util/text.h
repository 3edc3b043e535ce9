// A growing text buffer for printers and code writers.
#ifndef BURIN_TEXT_H
#define BURIN_TEXT_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/arena.h"
#include "util/diag.h"

typedef struct Text {
    char *data;  // always terminated once something was added
    size_t length, capacity;
} Text;

void text_add(Text *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vadd(Text *, const char *format, va_list);
// For terminals and lines: what %s gives is spelled (escape.h).
void text_spell(Text *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vspell(Text *, const char *format, va_list);
void print_spelled(const char *format, ...)
    __attribute__((format(printf, 1, 2)));  // to standard output
void text_append(Text *, const char *bytes, size_t n);
void text_free(Text *);
const char *skip_blanks(const char *text);  // and tabs
bool text_ends_with(const char *text, const char *end);
char *text_lower(char *text);  // its letters of ASCII, in place; returns it
// The text after a number of 1 to 9 digits, without a sign or leading zeros; NULL without such a
// number
const char *text_number(const char *text, unsigned *number);

// Whole files. All end the run with a message that names the path when they cannot.
Source *read_source(Arena *,
                    const char *path);  // for locations; its text lives as long as the arena
char *read_text_file(const char *path, size_t *size);               // malloc'd, terminated
void write_file(const char *path, const void *data, size_t bytes);  // complete, or removed
#endif
