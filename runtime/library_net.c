// The C interface of the network NAME (see library_net.h): thin names over a session.
// The runtime is included, static, so that a host can link several models:
// every external symbol begins with the model's name.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // the CPUs that a process may use (threads.c)
#endif
#define BURIN_LINKAGE static __attribute__((unused))
#include "library_net.h"

#include "forward.c"
#include "net.c"
#include "text.h"
#include "threads.c"
#include "tokenizer.c"

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

_Static_assert(sizeof(NAME_tensor) == sizeof(burin_tensor) && offsetof(NAME_tensor, most) == offsetof(burin_tensor, most),
               "descriptions are passed on as they are");
_Static_assert((int)NAME_BAD_VALUE == (int)BURIN_BAD_VALUE && (int)NAME_ALIGNMENT == (int)BURIN_ALIGNMENT &&
                   (int)NAME_COUNTING == (int)BURIN_COUNTING,
               "numbers are passed on");

enum { MOST_SYMBOLS = 64 };

extern const burin_model NAME_model;

const char *NAME_error_text(int status) {
    return status == NAME_NOT_OPEN ? "the state was not opened by NAME_init" : burin_status_text((burin_status)status);
}

const NAME_tensor *NAME_inputs(int *n) {
    *n = NAME_model.net->n_inputs;
    return (const NAME_tensor *)NAME_model.net->inputs;
}

const NAME_tensor *NAME_outputs(int *n) {
    *n = NAME_model.net->n_outputs;
    return (const NAME_tensor *)NAME_model.net->outputs;
}

void NAME_close(NAME_state *state) {
    if (state->session) burin_session_close(state->session);
    state->session = NULL;
}

static burin_status find_symbols(const int64_t dims[], int64_t symbols[MOST_SYMBOLS]) {
    return NAME_model.net->n_symbols > MOST_SYMBOLS ? BURIN_BAD_SHAPE : burin_net_bind(NAME_model.net, dims, symbols);
}

static burin_status read_options(const NAME_options *given, burin_options *o, int64_t symbols[MOST_SYMBOLS]) {
    if (!given) return BURIN_OK;
    o->threads = given->threads;
    o->cpu = given->cpu;
    o->symbols = given->dims ? symbols : NULL;
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
    burin_status status = read_options(options, &o, symbols);
    if (!status) status = burin_session_open(&session, &NAME_model, &o, memory, bytes);
    state->session = session;
    return status;
}

int NAME_shapes(const int64_t dims[], int64_t output_dims[]) {
    const burin_net *net = NAME_model.net;
    int64_t symbols[MOST_SYMBOLS];
    burin_status status = find_symbols(dims, symbols);
    for (int i = 0; i < net->n_outputs && !status; i++)
        for (int j = 0; j < net->outputs[i].rank; j++) *output_dims++ = burin_net_dim(net, net->outputs[i].dim[j], symbols);
    return status;
}

int NAME_run(NAME_state *state, const void *const inputs[], const int64_t dims[], void *const outputs[]) {
    int64_t symbols[MOST_SYMBOLS];
    burin_status status = find_symbols(dims, symbols);
    if (!state->session) return NAME_NOT_OPEN;
    if (!status) status = burin_net_check_values(NAME_model.net, inputs, symbols);
    return status ? (int)status : (int)burin_net_run(state->session, inputs, symbols, outputs);
}

static const void *tokenizer_blob(void) {
    return NAME_model.tokenizer_bytes ? NAME_model.weights() + NAME_model.tokenizer_offset : NULL;
}

size_t NAME_encode_memory(size_t text_bytes) {
    return tokenizer_blob() ? burin_encode_memory(tokenizer_blob(), text_bytes) : 0;
}

int64_t NAME_encode(const char *text, size_t bytes, int32_t *ids, size_t capacity, void *memory) {
    burin_encoding e = {.text = text, .bytes = bytes, .special = true, .ids = ids, .capacity = capacity, .memory = memory};
    return tokenizer_blob() ? (int64_t)burin_encode_prompt(&NAME_model, tokenizer_blob(), &e) : -1;
}

int NAME_abi_version(void) { return BURIN_ABI; }

const char *NAME_identity(void) { return NAME_model.identity; }

const char *NAME_cpu(const NAME_state *state) {
    const burin_session *session = state->session;
    return session ? session->variant->cpu : "none";
}
