// A text as sentences and clauses, by its punctuation.
#ifndef BURIN_SENTENCES_H
#define BURIN_SENTENCES_H
#include <stddef.h>

enum { BURIN_MOST_CLAUSE = 4000 };  // bytes; longer ones are cut at a space

// Bytes of the first sentence: up to and with its ".", "!" or "?", or all. A period after one
// letter, a title such as "Dr." or before a small letter ends none.
size_t burin_sentence_bytes(const char *text, size_t bytes);

// Words, and the mark after them: one of , ; : . ! ? or 0.
typedef struct burin_clause {
    const char *words;
    size_t bytes;
    char mark;
} burin_clause;

// Returns the first clause of *text, and moves *text and *bytes to the remaining text.
burin_clause burin_next_clause(const char **text, size_t *bytes);
#endif
