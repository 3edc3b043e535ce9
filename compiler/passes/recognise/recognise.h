// Common declarations of the recognisers. Each starts from an anchor (the root of a norm, the erf
// of a GELU), climbs to the value that would be replaced, and fills in an attempt: matched, or the
// node that broke it and why.
#ifndef BURIN_PASSES_RECOGNISE_H
#define BURIN_PASSES_RECOGNISE_H
#include "passes/attempt.h"
#include "passes/simplify/simplify.h"

// Each returns false when the anchor is no candidate at all: then there is no site to report.
bool recognise_softmax(Node *anchor, Attempt *);     // softmax.c
bool order_scores(Graph *);                          // softmax.c
bool recognise_norm(Node *anchor, Attempt *);        // norm.c
bool weigh_shared_norms(Graph *);                    // norm.c
bool recognise_activation(Node *anchor, Attempt *);  // activation.c
bool recognise_rotary(Node *root,
                      Attempt *);  // rotary.c; needs `mark` set where data flows (mark_data)

Node *climb_product(
    const Node *);  // the only user, when it multiplies, divides or inverts; NULL otherwise
#endif
