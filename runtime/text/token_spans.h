// The bytes of a text that each of its tokens stands for.
#ifndef BURIN_TOKEN_SPANS_H
#define BURIN_TOKEN_SPANS_H
#include "text/prompt.h"

typedef struct burin_token_span {
    const char *text;  // of the token, as the vocabulary has it
    size_t bytes;
    size_t from, end;  // bytes of the text that it stands for; none for what a tokenizer has added
} burin_token_span;

// Of each id of a text; the caller frees them.
burin_token_span *burin_find_spans(const void *tokenizer, const burin_tokens *ids, const char *text, size_t bytes);
#endif
