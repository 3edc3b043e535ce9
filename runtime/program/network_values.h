// The tensors of a network's runs, from the command line: --input, defaults, and memory for the
// outputs. A file with one axis more than its input is a batch: one run for each of its elements,
// and the outputs have that axis too.
#ifndef BURIN_NET_VALUES_H
#define BURIN_NET_VALUES_H
#include "engine/network.h"
#include "program/npy.h"
#include "program/options.h"

typedef struct burin_token_rows {
    int32_t *id, *type;  // [n]; type: of which text of a pair a token is, which the model may take;
                         // NULL: of one
    int32_t n;
    int32_t *rows;  // [n_texts] tokens of each text; NULL: there is one
    int n_texts;
} burin_token_rows;

typedef struct burin_network_values {
    const burin_network *net;
    burin_array *inputs, *outputs;     // data in the network's types
    void **input_data, **output_data;  // of one run
    const char **files;                // by input, NULL: not given
    int64_t *offsets;                  // by input: of its .npy in an .npz, else 0
    int64_t *symbols;
    bool *known;    // by symbol: some input has told it
    int64_t batch;  // runs; 0: one, without that axis
} burin_network_values;

// Reads, converts and checks; ends the program with one sentence for each mistake.
void burin_network_values_open(burin_network_values *, const burin_network *,
                               const burin_command *);
// The same for the ids of texts, in order; with several, outputs that are not by rows have an axis
// more.
void burin_network_values_of_texts(burin_network_values *, const burin_network *,
                                   const burin_token_rows *);
// The part of an array that one run of a batch takes.
void *burin_network_part(const burin_array *, const burin_tensor *, int64_t run);
void burin_network_values_turn(
    burin_network_values *,
    int64_t run);  // input_data and output_data are those of this run; at first of run 0
void burin_network_values_settle(burin_network_values *);  // after a run
void burin_network_values_close(burin_network_values *);

void burin_network_print(const burin_network *);  // inputs and outputs, a line each
const char *burin_network_shape(int rank,
                                const int64_t *dim);  // [2, 3]; until the next call but one
#endif
