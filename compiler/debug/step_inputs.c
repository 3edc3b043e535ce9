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
        case INPUT_EMBEDDINGS:
            return rows->embeddings;
        case INPUT_EMBEDDED:
            return rows->embedded;
        case INPUT_LAST_SEEN:
            return rows->last_seen;
        case INPUT_AXES:
            return rows->axes;
        default:
            return NULL;
    }
}

const Tensor *step_input(const Node *input, const StepRows *rows, Tensor *storage) {
    const void *data = data_of_role(input_role(input), rows);
    int rank = input_role(input) == INPUT_EMBEDDINGS || input_role(input) == INPUT_AXES ? 2 : 1;
    if (!data || input->type.rank != rank)
        diag_fatal(input->loc,
                   "the input %%%s is neither tokens, slots, positions, memory, embeddings nor "
                   "logit_rows",
                   input->name);
    int64_t width = rank == 2 ? dim_upper(input->type.dim[1]) : 1;
    *storage =
        (Tensor){.dtype = input->type.dtype, .rank = rank, .dim = {rows->n, width}, .data = data};
    storage->bytes =
        (uint64_t)rows->n * (uint64_t)width * (uint64_t)dtype_bits(input->type.dtype) / 8;
    return storage;
}

void step_inputs(const Graph *g, const StepRows *rows, Tensor storage[STEP_INPUTS],
                 const Tensor *inputs[STEP_INPUTS]) {
    if (g->n_inputs > STEP_INPUTS)
        diag_fatal(NO_LOC, "graph %s has %d inputs", g->name, g->n_inputs);
    for (int i = 0; i < g->n_inputs; i++) inputs[i] = step_input(g->inputs[i], rows, &storage[i]);
}
