// The program of a network with a head: texts to embeddings.
#ifndef BURIN_EMBED_H
#define BURIN_EMBED_H
#include "engine/program.h"
#include "program/ids.h"
#include "program/options.h"

int burin_embed(const burin_model *, const burin_command *);  // returns the exit status

// The tokens of a text after the model's prompt: the first of these names that it has
// (model_card.h), or its default prompt.
burin_tokens burin_embed_tokens(const burin_model *, const burin_command *,
                                const char *const *names, const char *text, size_t bytes);
extern const char *const burin_query_prompts[], *const burin_document_prompts[];
double burin_cosine(const float *a, const float *b, size_t n);
#endif
