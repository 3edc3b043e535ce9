// The program of a network with a head: texts to labels, words or ranks.
#ifndef BURIN_LABELS_H
#define BURIN_LABELS_H
#include "engine/program.h"
#include "program/ids.h"
#include "program/options.h"

int burin_label(const burin_model *, const burin_command *);  // returns the exit status

// Entry points for a server. A text, or two texts.
typedef struct burin_label_text {
    const char *first, *second;  // second NULL: one text
    size_t first_bytes, second_bytes;
} burin_label_text;

// Tokens, cut to the model's; `types`: of each token, NULL: of one text. The caller frees both.
burin_tokens burin_label_tokens(const burin_model *, const burin_label_text *, int32_t **types);
bool burin_label_fits(const burin_model *, const char *first,
                      size_t bytes);          // does the first text of a pair leave room?
bool burin_label_ranks(const burin_model *);  // does it give one score for two texts?
void burin_label_scores(const burin_model *, const float *logits, int64_t n, float *score);
int burin_logits_output(const burin_network *);  // its number among the outputs
#endif
