// The operands and results of `loop` and `if`, in one place for all that read them.
//
//   %t = loop(%most, %go, %h, %x) {states=1, counter=i, extent=T, length=T, body=graph step(%h: .., %x: ..) -> (%go', %h', %y)}
//
// Operands: the maximum count (or _), the condition (or _), the states' first values, values that
// the body reads. The body takes states and values, and returns the condition (if any), the next
// states, and an element of each scanned result. A loop's results: the states after the last
// iteration, then scanned results, [length, ..].
#ifndef BURIN_IR_CONTROL_H
#define BURIN_IR_CONTROL_H
#include "ir.h"

enum { LOOP_MOST, LOOP_CONDITION, LOOP_FIRST, IF_FIRST = 1 };

typedef struct LoopParts {
    Graph *body;
    Node *most, *condition;  // or NULL
    int n_states, n_scanned;
    int first_state, first_scanned;  // outputs of the body
    const Dim *counter, *extent, *length;
} LoopParts;

LoopParts loop_parts(const Node *);
const Dim *loop_counter(Graph *, const Dim *extent);  // a new symbol for what counts up to it
// Returns true if only the run knows the number of iterations.
static inline bool loop_is_open(const LoopParts *l) { return l->most || l->condition; }
#endif
