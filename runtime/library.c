// The C interface of the model NAME (see library.h): thin names over a session.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // the CPUs that a process may use (threads.c)
#endif
#define BURIN_LINKAGE static __attribute__((unused))
#include "library.h"

#include "library_calls.h"

_Static_assert(sizeof(NAME_row) == sizeof(burin_row) && offsetof(NAME_row, wants_logits) == offsetof(burin_row, wants_logits),
               "rows are passed on as they are");
_Static_assert((int)NAME_NO_LOGITS == (int)BURIN_NO_LOGITS && (int)NAME_NO_SOURCE == (int)BURIN_NO_SOURCE &&
                   (int)NAME_TOO_MANY == (int)BURIN_TOO_MANY && (int)NAME_ALIGNMENT == (int)BURIN_ALIGNMENT,
               "numbers are passed on");

static burin_options to_options(const NAME_options *o) {
    if (!o) return (burin_options){0};
    return (burin_options){.slots = o->slots, .max_rows = o->max_rows, .threads = o->threads, .cpu = o->cpu};
}

size_t NAME_state_bytes(const NAME_options *options) {
    burin_options o = to_options(options);
    return burin_session_bytes(&NAME_model, &o);
}

int NAME_init(NAME_state *state, const NAME_options *options, void *memory, size_t bytes) {
    burin_options o = to_options(options);
    burin_session *session;
    int status = burin_session_open(&session, &NAME_model, &o, memory, bytes);
    state->session = session;
    return status;
}

int NAME_forward(NAME_state *state, const NAME_row *rows, int n, float *logits) {
    return state->session ? (int)burin_forward(state->session, (const burin_row *)rows, n, logits) : NAME_NOT_OPEN;
}

int NAME_read_inputs(NAME_state *state, int slot, const void *const inputs[], const int64_t dims[]) {
    if (!state->session) return NAME_NOT_OPEN;
    burin_status status = burin_encode_inputs(state->session, slot, inputs, dims);
    return status == BURIN_BAD_SHAPE ? NAME_BAD_SOURCE : status == BURIN_BAD_VALUE ? NAME_BAD_TOKEN : (int)status;
}

int NAME_read_source(NAME_state *state, int slot, const int32_t *tokens, int n) {
    const burin_encoder *e = NAME_model.encoder;
    if (!e || e->net->tokens || e->net->n_inputs != 1) return NAME_BAD_SOURCE;
    return NAME_read_inputs(state, slot, (const void *[]){tokens}, (int64_t[]){n});
}

int NAME_first_tokens(int32_t *tokens, int capacity) {
    for (int i = 0; i < NAME_model.n_start && i < capacity; i++) tokens[i] = NAME_model.start[i];
    return NAME_model.n_start;
}

int NAME_slot_reset(NAME_state *state, int slot) {
    return state->session ? (int)burin_slot_reset(state->session, slot) : NAME_NOT_OPEN;
}

int NAME_slot_truncate(NAME_state *state, int slot, int length) {
    return state->session ? (int)burin_slot_truncate(state->session, slot, length) : NAME_NOT_OPEN;
}

int NAME_slot_copy(NAME_state *state, int to, int from) {
    return state->session ? (int)burin_slot_copy(state->session, to, from) : NAME_NOT_OPEN;
}

int NAME_slot_length(const NAME_state *state, int slot) {
    if (!state->session) return NAME_NOT_OPEN;
    int length = burin_slot_length(state->session, slot);
    return length < 0 ? NAME_BAD_SLOT : length;
}

size_t NAME_decode_max(void) { return tokenizer_blob() ? burin_decode_max(tokenizer_blob()) : 0; }

size_t NAME_decode(int *decoder, int32_t id, char *bytes) {
    burin_decoder d = {.started = *decoder != 0};
    size_t n = tokenizer_blob() ? burin_decode(tokenizer_blob(), &d, id, bytes) : 0;
    *decoder = d.started;
    return n;
}
