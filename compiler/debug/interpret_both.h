// A graph node by node in both arithmetics of the interpreter: f64 as the truth, f32 to measure
// rounding. Values are freed after their last use, and constants are computed when they are read,
// so that a model takes little more memory than its file.
#ifndef BURIN_INTERPRET_BOTH_H
#define BURIN_INTERPRET_BOTH_H
#include "ir/eval/eval.h"

typedef struct InterpretBoth {
    EvalContext *exact,
        *contract;  // states (KV caches) and symbols stay from one graph to the next
} InterpretBoth;

// A value of the graph, inputs included; both tensors live until the function returns.
typedef void InterpretBothVisit(void *user, Node *, const Tensor *exact, const Tensor *contract);

void interpret_both_open(InterpretBoth *);
void interpret_both_close(InterpretBoth *);
void interpret_both_graph(InterpretBoth *, const Graph *, const Tensor *const *inputs,
                          InterpretBothVisit *, void *user);

// A constant, or a chain of ops on constants alone.
bool is_weight_chain(const Node *);
Tensor *tensor_copy(Arena *, const Tensor *);

// How far a value is from the truth, beside how far f32 takes it. `step`: the relative rounding
// error of the value's own arithmetic (0x1p-24 for f32).
typedef struct Difference {
    double largest;          // |truth|
    double found;            // |value - truth|, the largest
    double explained;        // what rounding may make of it
    int64_t at;              // the element of `found`
    double value, expected;  // there
    bool outside;
} Difference;

Difference tensor_difference(const Tensor *value, const Tensor *exact, const Tensor *contract,
                             double step);
#endif
