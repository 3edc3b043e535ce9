#include "encoder.h"

#include "network.h"
#include "ranks.h"

typedef struct encoder_run {
    const burin_session *session;
    burin_step step;
} encoder_run;

static void run_encoder(void *argument, int thread) {
    const encoder_run *run = argument;
    burin_profile_begin(&run->step, thread);
    run->session->variant->encode(&run->step, thread);
}

BURIN_LINKAGE burin_status burin_encode_source(burin_session *s, int32_t slot,
                                               const void *const *inputs, const int64_t *symbols) {
    const burin_encoder *e = s->model->encoder;
    int32_t rows = e ? burin_network_rows(e->net, symbols) : 0;
    if (!e || rows > e->max_rows) return BURIN_BAD_SHAPE;
    if (slot < 0 || slot >= s->slots) return BURIN_BAD_SLOT;
    burin_status status = burin_session_check(s);
    if (status) return status;
    encoder_run run = {.session = s, .step = s->step};
    run.step.rows = rows;
    run.step.n_logit_rows = 0;
    run.step.state += (size_t)slot * s->model->slot_bytes;
    run.step.inputs = inputs;
    run.step.symbols = symbols;
    burin_rank_broadcast(s, BURIN_ORDER_ENCODE, &run.step, (int32_t[]){slot, 0});
    if (run.step.profile) run.step.profile->last = burin_nanoseconds();
    if (run.step.trace && run.step.trace->begin)
        run.step.trace->begin(run.step.trace->context, true);
    burin_pool_run(s->pool, run_encoder, &run);
    s->source_length[slot] = (int32_t)burin_network_dim(e->net, e->length, symbols);
    s->length[slot] = s->reached[slot] = s->recurred[slot] = 0;
    return BURIN_OK;
}

BURIN_LINKAGE burin_status burin_eyes_run(burin_session *s, const void *const *inputs,
                                          const int64_t *symbols, void *const *outputs) {
    const burin_encoder *e = s->model->eyes ? s->model->eyes->encoder : NULL;
    int32_t rows = e ? burin_network_rows(e->net, symbols) : 0;
    if (!e || rows > e->max_rows) return BURIN_BAD_SHAPE;
    burin_status status = burin_session_check(s);
    if (status) return status;
    encoder_run run = {.session = s, .step = s->step};
    run.step.rows = rows;
    run.step.n_logit_rows = 0;
    run.step.inputs = inputs;
    run.step.outputs = outputs;
    run.step.symbols = symbols;
    if (run.step.profile) run.step.profile->last = burin_nanoseconds();
    burin_pool_run(s->pool, run_encoder, &run);
    return BURIN_OK;
}

BURIN_LINKAGE burin_status burin_encode_inputs(burin_session *s, int32_t slot,
                                               const void *const *inputs, const int64_t *dims) {
    enum { MOST_SYMBOLS = 16 };
    const burin_encoder *e = s->model->encoder;
    int64_t symbols[MOST_SYMBOLS];
    if (!e || e->net->n_symbols > MOST_SYMBOLS) return BURIN_BAD_SHAPE;
    burin_status status = burin_network_bind(e->net, dims, symbols);
    if (!status) status = burin_network_check_inputs(e->net, inputs, symbols);
    return status ? status : burin_encode_source(s, slot, inputs, symbols);
}

BURIN_LINKAGE int64_t burin_most_source_tokens(const burin_model *model) {
    const burin_encoder *e = model->encoder;
    if (!e || e->net->tokens < 0) return 0;
    int64_t n = e->net->inputs[e->net->tokens].dim[0];
    return n >= 0 ? n : -1 - n < e->net->n_symbols ? e->net->symbols[-1 - n].upper : INT32_MAX;
}
