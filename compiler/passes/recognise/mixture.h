// Mixtures of experts: what of them a row chooses.
#ifndef BURIN_PASSES_MIXTURE_H
#define BURIN_PASSES_MIXTURE_H
#include "passes/recognise/recognise.h"

// bool[T, E]: at most k of each row are true.
typedef struct Choice {
    Node *before;  // where new nodes go
    Node *mask;
    int64_t k;
} Choice;

// chosen.c: shares [T, E] are zero where the mask is false.
bool find_choice(Node *shares, Choice *, int depth);
#endif
