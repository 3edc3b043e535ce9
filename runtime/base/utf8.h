// Text as whole UTF-8 characters.
#ifndef BURIN_UTF8_H
#define BURIN_UTF8_H
#include <stdbool.h>
#include <stddef.h>

int burin_utf8_length(unsigned char first);  // bytes of a character that begins so; 0: none does

// Collects bytes into whole characters. Invalid UTF-8 becomes U+FFFD, once for each maximal part of
// a character.
typedef struct burin_utf8 {
    unsigned char partial[4];
    int have;  // bytes of an unfinished character
} burin_utf8;

// Appends `n` bytes; whole characters go to `out`, which holds at least 3 * (n + 1) bytes. Returns
// how many were written.
size_t burin_utf8_add(burin_utf8 *, const char *bytes, size_t n, char *out);
size_t burin_utf8_end(burin_utf8 *, char *out);  // an unfinished character at the end is U+FFFD
#endif
