// Two texts in the prompt of a reranker: "<Query>: {query}\n<Document>: {document}\n".
#ifndef BURIN_PAIR_PROMPT_H
#define BURIN_PAIR_PROMPT_H
#include <stddef.h>
#include <stdint.h>

typedef struct burin_pair_text {
    const char *first, *second;
    size_t first_bytes, second_bytes;
} burin_pair_text;

// The prompt with both texts in it, and in *marks for each of its bytes: 1 if it belongs to a text.
// Braces within a text stay. The caller frees both.
char *burin_pair_prompt(const char *prompt, const burin_pair_text *, uint8_t **marks,
                        size_t *bytes);
// Cuts the second text at a character, by at least one, so that `tokens` may become `most`.
void burin_pair_cut(burin_pair_text *, int32_t most, int32_t tokens);
#endif
