// One candidate of a pattern: matched, or the node that broke it and why.
#ifndef BURIN_PASSES_ATTEMPT_H
#define BURIN_PASSES_ATTEMPT_H
#include "passes/match.h"
#include "passes/pass.h"

typedef struct Attempt {
    const char *pattern;
    Node *root, *by;    // matched: `by` replaces `root`
    const Node *broke;  // or what did not fit
    const char *why;
    const char *also;  // matched together with it, or NULL
    bool of_bytes;     // what is quantized inside of the formula is computed in f32 instead
} Attempt;

bool recognise_all(Graph *, PassContext *,
                   bool (*recogniser)(Node *, Attempt *));     // every node is an anchor
bool attempt_broke(Attempt *, const Node *, const char *why);  // true
bool attempt_fails(Attempt *, const Node *,
                   const char *why);  // the same, for what is part of a pattern: false
#endif
