// Scores of labels: logits as probabilities, and the largest ones.
#ifndef BURIN_SCORES_H
#define BURIN_SCORES_H
#include <stdint.h>

#include "engine/card.h"

// Of `n` logits; BURIN_AS_IT_IS copies them.
void burin_scores(burin_scoring, const float *logits, int64_t n, float *score);

typedef struct burin_scored {
    float score;
    int64_t column;
} burin_scored;

// The largest first, of equals the first, at most `most`; returns how many.
int64_t burin_best_scores(const float *score, int64_t n, int64_t most, burin_scored *best);
#endif
