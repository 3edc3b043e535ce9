// Tokens to words, each with its times.
#ifndef BURIN_WORDS_H
#define BURIN_WORDS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct burin_word {
    size_t from, to;    // bytes of a text
    double start, end;  // seconds
} burin_word;

// Joins pieces of a text, one after the other, to words in place; returns how many there are. A
// word begins with a space or is punctuation, which then belongs to its neighbour. `by_piece`: the
// language has no spaces, and each piece is a word.
int32_t burin_join_words(const char *text, burin_word *pieces, int32_t n, bool by_piece);
#endif
