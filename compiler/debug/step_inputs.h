// The inputs of a graph over rows, by their roles, as tensors for the interpreter.
#ifndef BURIN_STEP_INPUTS_H
#define BURIN_STEP_INPUTS_H
#include "ir.h"

enum { STEP_INPUTS = 10 };

typedef struct StepRows {
    int n;
    const int32_t *token, *slot, *position, *source_last, *embedded, *last_seen;
    const int32_t *axes;  // [n][3]
    const bool *logit_rows;
    const float *embeddings;  // [n][width] of a model that takes pictures
} StepRows;

// Ends the run if the graph has any other input.
void step_inputs(const Graph *, const StepRows *, Tensor storage[STEP_INPUTS],
                 const Tensor *inputs[STEP_INPUTS]);
const Tensor *step_input(const Node *input, const StepRows *, Tensor *storage);
#endif
