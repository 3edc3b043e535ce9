// Text that others wrote (names in models, paths, values of configurations) on its way to a
// terminal or into one line of a file: printable characters stay, everything else is spelled \n,
// \t, \x1b.
#ifndef BURIN_ESCAPE_H
#define BURIN_ESCAPE_H
#include <stdarg.h>
#include <stddef.h>

// Bytes of the character at the start of s (n > 0 bytes), if it is whole, printable UTF-8: no
// control character, no line end, no change of text direction. Else 0.
size_t burin_printable(const char *s, size_t n);

// vsnprintf, but what %s and %c give is spelled as above. %-s, without a width, is text of our own:
// it goes in as it is.
int burin_vformat(char *out, size_t room, const char *format, va_list);
int burin_format(char *out, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The spelling of `n` bytes of s at `out`, terminated; returns its length, which may be `room` or
// more (then it is cut).
size_t burin_escape(char *out, size_t room, const char *s, size_t n);
#endif
