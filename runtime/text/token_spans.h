// The bytes of a text that belong to each of its tokens.
#ifndef BURIN_TOKEN_SPANS_H
#define BURIN_TOKEN_SPANS_H
#include "text/prompt.h"

typedef struct burin_token_span {
    const char *text;  // of the token, as the vocabulary has it
    size_t bytes;
    size_t from, end;  // its bytes of the text; none for added tokens
} burin_token_span;

// Of each id of a text; the caller frees them.
burin_token_span *burin_find_spans(const void *tokenizer, const burin_tokens *ids, const char *text,
                                   size_t bytes);
#endif
