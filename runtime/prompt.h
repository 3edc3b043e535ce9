// What the user gives the program to read: text from an argument, a file or standard input, or token ids; and pieces of text
// back.
#ifndef BURIN_PROMPT_H
#define BURIN_PROMPT_H
#include "run.h"

typedef struct burin_tokens {
    int32_t *id, n;
} burin_tokens;

// The prompt with its beginning-of-text token; at least one token.
burin_tokens burin_read_prompt(const burin_model *, const burin_command *);

// The tokens of a text alone (no beginning-of-text token).
burin_tokens burin_tokenize(const burin_model *, const char *text, size_t bytes);

// A whole file ("-": standard input), ends the program with a message when it cannot be read.
char *burin_read_file(const char *path, size_t *bytes);

// The bytes of `token` when it follows `previous` (-1: none), NULL when it has no text.
const char *burin_token_text(const burin_model *, int32_t previous, int32_t token, size_t *bytes);
#endif
