// The texts that are nearest to a query, the nearest first.
#ifndef BURIN_RANK_H
#define BURIN_RANK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct burin_ranked {
    double score;
    int64_t line;  // its number among all texts, from 1
    char *text;
    size_t bytes;
} burin_ranked;

typedef struct burin_ranking {
    burin_ranked *best;  // n texts; equal scores keep the order of texts
    int64_t most, n, seen;
} burin_ranking;

// Keeps the text (a copy) if it is among the `most` best so far. Ends the program when memory does
// not hold it.
void burin_ranking_add(burin_ranking *, double score, const char *text, size_t bytes);
// A line each: score, tab, text; or an object of JSON with text, line and score.
void burin_ranking_print(const burin_ranking *, bool json);
void burin_ranking_free(burin_ranking *);
#endif
