// What the user gives the program to read: text from an argument, a file or standard input, or token ids; and pieces of text
// back.
#ifndef BURIN_PROMPT_H
#define BURIN_PROMPT_H
#include "run.h"

typedef struct burin_tokens {
    int32_t *id, n;
} burin_tokens;

// The prompt (of an encoder-decoder the source) with what the tokenizer puts around a text; at least one token. Without a
// prompt: the token that begins a text.
burin_tokens burin_read_prompt(const burin_model *, const burin_command *);

// What the decoder of an encoder-decoder begins with: --decoder-tokens, or what the model says.
burin_tokens burin_read_start(const burin_model *, const burin_command *);

// The tokens of a text; `special`: with what the tokenizer puts around it.
burin_tokens burin_tokenize(const burin_model *, const char *text, size_t bytes, bool special);

// A whole file ("-": standard input), ends the program with a message when it cannot be read.
char *burin_read_file(const char *path, size_t *bytes);

const void *burin_tokenizer_of(const burin_model *);  // ends the program with a message when there is none
#endif
