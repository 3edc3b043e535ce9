// The C interface of the network NAME (see library_network.h): thin names over a session.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // the CPUs that a process may use (threads.c)
#endif
#define BURIN_LINKAGE static __attribute__((unused))
#include "library_network.h"

#include "library_calls.h"

_Static_assert(sizeof(NAME_tensor) == sizeof(burin_tensor) &&
                   offsetof(NAME_tensor, most) == offsetof(burin_tensor, most),
               "descriptions are passed on as they are");
_Static_assert((int)NAME_BAD_VALUE == (int)BURIN_BAD_VALUE &&
                   (int)NAME_ALIGNMENT == (int)BURIN_ALIGNMENT &&
                   (int)NAME_COUNTING == (int)BURIN_COUNTING,
               "numbers are passed on");

enum { MOST_SYMBOLS = 64 };

const NAME_tensor *NAME_inputs(int *n) {
    if (n) *n = NAME_model.net->n_inputs;
    return (const NAME_tensor *)NAME_model.net->inputs;
}

const NAME_tensor *NAME_outputs(int *n) {
    if (n) *n = NAME_model.net->n_outputs;
    return (const NAME_tensor *)NAME_model.net->outputs;
}

static burin_status find_symbols(const int64_t dims[], int64_t symbols[MOST_SYMBOLS]) {
    return NAME_model.net->n_symbols + NAME_model.net->n_data_dependent > MOST_SYMBOLS
               ? BURIN_BAD_SHAPE
               : burin_network_bind(NAME_model.net, dims, symbols);
}

static burin_status read_options(const NAME_options *given, burin_options *o,
                                 int64_t symbols[MOST_SYMBOLS]) {
    if (NAME_model.net->n_symbols + NAME_model.net->n_data_dependent > MOST_SYMBOLS)
        return BURIN_BAD_SHAPE;
    burin_network_usual_symbols(NAME_model.net, symbols);
    o->symbols = symbols;
    if (!given) return BURIN_OK;
    o->threads = given->threads;
    o->cpu = given->cpu;
    return given->dims ? find_symbols(given->dims, symbols) : BURIN_OK;
}

size_t NAME_state_bytes(const NAME_options *options) {
    int64_t symbols[MOST_SYMBOLS];
    burin_options o = {0};
    return read_options(options, &o, symbols) ? 0 : burin_session_bytes(&NAME_model, &o);
}

int NAME_init(NAME_state *state, const NAME_options *options, void *memory, size_t bytes) {
    int64_t symbols[MOST_SYMBOLS];
    burin_options o = {0};
    burin_session *session = NULL;
    if (!state) return NAME_BAD_ARGUMENT;
    burin_status status = read_options(options, &o, symbols);
    if (!status) status = burin_session_open(&session, &NAME_model, &o, memory, bytes);
    state->session = session;
    return status;
}

int NAME_shapes(const int64_t dims[], int64_t output_dims[]) {
    const burin_network *net = NAME_model.net;
    int64_t symbols[MOST_SYMBOLS];
    burin_status status = find_symbols(dims, symbols);
    if (!status && net->n_outputs && !output_dims) status = BURIN_BAD_ARGUMENT;
    for (int i = 0; i < net->n_outputs && !status; i++)
        for (int j = 0; j < net->outputs[i].rank; j++)
            *output_dims++ = burin_network_dim(net, net->outputs[i].dim[j], symbols);
    return status;
}

int NAME_run(NAME_state *state, const void *const inputs[], const int64_t dims[],
             void *const outputs[]) {
    int64_t symbols[MOST_SYMBOLS];
    int error = check_state(state);
    if (error) return error;
    burin_status status = find_symbols(dims, symbols);
    if (!status) status = burin_network_check_inputs(NAME_model.net, inputs, symbols);
    if (!status) status = burin_network_check_outputs(NAME_model.net, outputs, symbols);
    return status ? (int)status : (int)burin_network_run(state->session, inputs, symbols, outputs);
}

#include "library_label_calls.h"
