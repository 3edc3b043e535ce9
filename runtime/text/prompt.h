// The input of a program: text from an argument, a file or standard input, or token ids; and pieces
// of text back.
#ifndef BURIN_PROMPT_H
#define BURIN_PROMPT_H
#include "program/ids.h"
#include "program/input.h"
#include "text/run.h"
#include "tokenizer/tokenizer.h"

// The prompt of the command line: an argument, then -f FILE or, without --chat, standard input,
// with an empty line between the two. The caller frees it.
char *burin_prompt_text(const burin_command *, size_t *bytes);

// The prompt with the tokens that the tokenizer adds; at least one token. Without a prompt: the
// token that begins a text. A text of far more than `most` tokens ends the program; for a few more
// the caller reports the number. `empty`: there was no text.
burin_tokens burin_read_prompt(const burin_model *, const burin_command *, int32_t most,
                               bool *empty);

// The same of one text.
burin_tokens burin_prompt_tokens(const burin_model *, const char *text, size_t bytes, int32_t most);

// The first tokens of an encoder-decoder's decoder: --decoder-tokens, or the model's own.
burin_tokens burin_read_start(const burin_model *, const burin_command *);

// Encodes a text, however many ids it becomes; `how` needs no ids, capacity and memory. Ends the
// program when there are more than INT32_MAX.
burin_tokens burin_encode_text(const void *tokenizer, const burin_encoding *how);

// The tokens of a text; `special`: with the tokens that the tokenizer adds.
burin_tokens burin_tokenize(const burin_model *, const char *text, size_t bytes, bool special);
// The same without it; marks: burin_encoding.marks.
burin_tokens burin_tokenize_marked(const burin_model *, const char *text, const uint8_t *marks,
                                   size_t bytes);

// Surely more than `most` tokens, as its beginning shows: a long text is not read to its end to be
// refused.
bool burin_text_is_far_longer(const burin_model *, const char *text, size_t bytes, int64_t most);

const void *burin_tokenizer_of(
    const burin_model *);  // ends the program with a message when there is none
#endif
