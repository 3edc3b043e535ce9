// Running a network: a graph that is no decoder. Tensors in, tensors out, in the order and with the
// names of burin_network.
#ifndef BURIN_NET_H
#define BURIN_NET_H
#include "forward.h"

// `dims`: the dimensions of all inputs, one after the other. Finds the value of every symbol and
// checks every dimension; the symbols' values are left in `symbols` (room for n_symbols +
// n_data_dependent), from which burin_network_dim computes any shape; data-dependent sizes count as
// their bounds until then.
BURIN_LINKAGE burin_status burin_network_bind(const burin_network *, const int64_t *dims,
                                              int64_t *symbols);
BURIN_LINKAGE int64_t burin_network_dim(const burin_network *, int64_t dim, const int64_t *symbols);
BURIN_LINKAGE int32_t
burin_network_rows(const burin_network *,
                   const int64_t *symbols);  // max_rows that a session needs for it

// The default sizes of a session: the largest that the network was built for, and 1 for a symbol
// named batch.
BURIN_LINKAGE void burin_network_usual_symbols(const burin_network *, int64_t *symbols);

// Is there memory for each, aligned for its elements (BURIN_BAD_ARGUMENT, BURIN_BAD_ALIGNMENT), and
// no integer of an input outside of its least and most (BURIN_BAD_VALUE)?
BURIN_LINKAGE burin_status burin_network_check_inputs(const burin_network *,
                                                      const void *const *inputs,
                                                      const int64_t *symbols);
BURIN_LINKAGE burin_status burin_network_check_outputs(const burin_network *, void *const *outputs,
                                                       const int64_t *symbols);

// Returns true for the encoder of a program that takes texts.
static inline bool burin_network_embeds(const burin_model *model) {
    return model->net && model->net->tokens >= 0 && model->net->embedding >= 0 &&
           model->tokenizer_bytes;
}

// Computes the outputs into the caller's memory, and leaves in `symbols` the data-dependent sizes.
// Inputs and outputs are aligned for their elements.
BURIN_LINKAGE burin_status burin_network_run(burin_session *, const void *const *inputs,
                                             int64_t *symbols, void *const *outputs);

// The rows of each of `n` texts.
typedef struct burin_sequence_rows {
    const int32_t *rows;
    int n;
} burin_sequence_rows;

// The same for several sequences at once, if net->texts: their rows are stored one after the other
// in inputs and in outputs by rows, other outputs have a part for each sequence. The symbol of the
// rows is their sum. BURIN_BAD_SHAPE: a sequence without rows, or caches, each in whole blocks of
// BURIN_STATE_BLOCK rows, beyond burin_network_most_keys.
BURIN_LINKAGE burin_status burin_network_run_sequences(burin_session *, const void *const *inputs,
                                                       const burin_sequence_rows *,
                                                       int64_t *symbols, void *const *outputs);
BURIN_LINKAGE int64_t burin_network_most_keys(const burin_session *);
BURIN_LINKAGE bool burin_network_is_by_rows(const burin_network *,
                                            const burin_tensor *);  // its first axis is the rows
#endif
