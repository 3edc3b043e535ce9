#include "debug/step_inputs.h"

static const void *data_of_role(InputRole role, const StepRows *rows) {
    switch (role) {
        case INPUT_TOKENS:
            return rows->token;
        case INPUT_SLOTS:
            return rows->slot;
        case INPUT_POSITIONS:
            return rows->position;
        case INPUT_SOURCE_LAST:
            return rows->source_last;
        case INPUT_LOGIT_ROWS:
            return rows->logit_rows;
        default:
            return NULL;
    }
}

const Tensor *step_input(const Node *input, const StepRows *rows, Tensor *storage) {
    const void *data = data_of_role(input_role(input), rows);
    if (!data || input->type.rank != 1)
        diag_fatal(input->loc,
                   "the input %%%s is neither tokens, slots, positions, memory nor logit_rows",
                   input->name);
    *storage = (Tensor){.dtype = input->type.dtype, .rank = 1, .dim = {rows->n}, .data = data};
    storage->bytes = (uint64_t)rows->n * (uint64_t)dtype_bits(input->type.dtype) / 8;
    return storage;
}

void step_inputs(const Graph *g, const StepRows *rows, Tensor storage[STEP_INPUTS],
                 const Tensor *inputs[STEP_INPUTS]) {
    if (g->n_inputs > STEP_INPUTS)
        diag_fatal(NO_LOC, "graph %s has %d inputs", g->name, g->n_inputs);
    for (int i = 0; i < g->n_inputs; i++) inputs[i] = step_input(g->inputs[i], rows, &storage[i]);
}
