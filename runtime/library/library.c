// The C interface of the model NAME (see library.h): thin names over a session.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // the CPUs that a process may use (threads.c)
#endif
#define BURIN_LINKAGE static __attribute__((unused))
#include "library.h"

#include "engine/saved.c"
#include "kernels/one_nan.h"
#include "library_calls.h"
#include "sampler/sampler.c"

_Static_assert(sizeof(NAME_row) == sizeof(burin_row) &&
                   offsetof(NAME_row, wants_logits) == offsetof(burin_row, wants_logits),
               "rows are passed on as they are");
_Static_assert((int)NAME_BAD_SAVED == (int)BURIN_BAD_SAVED && (int)NAME_FORKED == (int)BURIN_FORKED,
               "numbers are passed on");
_Static_assert((int)NAME_NO_LOGITS == (int)BURIN_NO_LOGITS &&
                   (int)NAME_NO_SOURCE == (int)BURIN_NO_SOURCE &&
                   (int)NAME_TOO_MANY == (int)BURIN_TOO_MANY &&
                   (int)NAME_ALIGNMENT == (int)BURIN_ALIGNMENT,
               "numbers are passed on");

static burin_options to_options(const NAME_options *o) {
    if (!o) return (burin_options){0};
    return (burin_options){
        .slots = o->slots, .max_rows = o->max_rows, .threads = o->threads, .cpu = o->cpu};
}

size_t NAME_state_bytes(const NAME_options *options) {
    burin_options o = to_options(options);
    return burin_session_bytes(&NAME_model, &o);
}

int NAME_init(NAME_state *state, const NAME_options *options, void *memory, size_t bytes) {
    burin_options o = to_options(options);
    burin_session *session;
    if (!state) return NAME_BAD_ARGUMENT;
    int status = burin_session_open(&session, &NAME_model, &o, memory, bytes);
    state->session = session;
    return status;
}

int NAME_forward(NAME_state *state, const NAME_row *rows, int n, float *logits) {
    int status = check_state(state);
    size_t wanted = 0;
    if (!status) status = (int)burin_forward(state->session, (const burin_row *)rows, n, logits);
    for (int i = 0; i < n && !status; i++) wanted += rows[i].wants_logits;
    if (wanted) burin_one_nan("f32", logits, wanted * (size_t)NAME_model.vocab_size);
    return status;
}

int NAME_read_inputs(NAME_state *state, int slot, const void *const inputs[],
                     const int64_t dims[]) {
    int error = check_state(state);
    if (error) return error;
    burin_status status = burin_encode_inputs(state->session, slot, inputs, dims);
    return status == BURIN_BAD_SHAPE   ? NAME_BAD_SOURCE
           : status == BURIN_BAD_VALUE ? NAME_BAD_TOKEN
                                       : (int)status;
}

int NAME_read_source(NAME_state *state, int slot, const int32_t *tokens, int n) {
    const burin_encoder *e = NAME_model.encoder;
    if (!tokens || n < 0) return NAME_BAD_ARGUMENT;
    if (!e || e->net->tokens || e->net->n_inputs != 1) return NAME_BAD_SOURCE;
    return NAME_read_inputs(state, slot, (const void *[]){tokens}, (int64_t[]){n});
}

static int copy_tokens(const int32_t *from, int n, int32_t *to, int capacity) {
    if (capacity < 0 || (capacity && !to)) return NAME_BAD_ARGUMENT;
    for (int i = 0; i < n && i < capacity; i++) to[i] = from[i];
    return n;
}

int NAME_first_tokens(int32_t *tokens, int capacity) {
    return copy_tokens(NAME_model.start, NAME_model.n_start, tokens, capacity);
}

int32_t NAME_begin_token(void) { return NAME_model.bos; }

int NAME_end_tokens(int32_t *tokens, int capacity) {
    return copy_tokens(NAME_model.eos, NAME_model.n_eos, tokens, capacity);
}

int NAME_slot_reset(NAME_state *state, int slot) {
    int status = check_state(state);
    return status ? status : (int)burin_slot_reset(state->session, slot);
}

int NAME_slot_truncate(NAME_state *state, int slot, int length) {
    int status = check_state(state);
    return status ? status : (int)burin_slot_truncate(state->session, slot, length);
}

int NAME_slot_copy(NAME_state *state, int to, int from) {
    int status = check_state(state);
    return status ? status : (int)burin_slot_copy(state->session, to, from);
}

int NAME_slot_length(const NAME_state *state, int slot) {
    int status = check_state(state);
    if (status) return status;
    int length = burin_slot_length(state->session, slot);
    return length < 0 ? NAME_BAD_SLOT : length;
}

size_t NAME_slot_saved_bytes(const NAME_state *state, int slot) {
    return check_state(state) ? 0 : burin_saved_bytes(state->session, slot);
}

int NAME_slot_save(const NAME_state *state, int slot, void *memory, size_t bytes) {
    int status = check_state(state);
    if (!status && !memory) status = NAME_BAD_ARGUMENT;
    return status ? status : (int)burin_slot_save(state->session, slot, memory, bytes);
}

int NAME_slot_load(NAME_state *state, int slot, const void *memory, size_t bytes) {
    int status = check_state(state);
    if (!status && !memory) status = NAME_BAD_ARGUMENT;
    return status ? status : (int)burin_slot_load(state->session, slot, memory, bytes);
}

// ---- the sampler ----

size_t NAME_sampler_bytes(void) {
    return sizeof(burin_sampler) + burin_sampler_bytes(NAME_model.vocab_size, tokenizer_blob());
}

_Static_assert(sizeof(NAME_bias) == sizeof(burin_bias) &&
                   offsetof(NAME_bias, bias) == offsetof(burin_bias, bias),
               "lists are passed on as they are");

static double or_usual(double given, double usual) { return given != 0 ? given : usual; }

static burin_sampling to_sampling(const NAME_sampling *s) {
    static const NAME_sampling usual = {
        .temperature = 0.8, .top_k = 40, .top_p = 0.95, .min_p = 0.05};
    if (!s) s = &usual;
    return (burin_sampling){
        .temperature = s->temperature,
        .top_k = s->top_k,
        .top_p = s->top_p > 0 ? s->top_p : 1,
        .min_p = s->min_p,
        .repeat_penalty = s->repeat_penalty > 0 ? s->repeat_penalty : 1,
        .seed = s->seed,
        .presence_penalty = s->presence_penalty,
        .frequency_penalty = s->frequency_penalty,
        .typical = or_usual(s->typical, 1),
        .xtc_probability = s->xtc_probability,
        .xtc_threshold = or_usual(s->xtc_threshold, 0.1),
        .dynatemp_range = s->dynatemp_range,
        .dynatemp_exponent = or_usual(s->dynatemp_exponent, 1),
        .dry_multiplier = s->dry_multiplier,
        .dry_base = or_usual(s->dry_base, 1.75),
        .mirostat_tau = or_usual(s->mirostat_tau, 5),
        .mirostat_eta = or_usual(s->mirostat_eta, 0.1),
        .mirostat = s->mirostat,
        .repeat_last_n = s->repeat_last_n ? s->repeat_last_n : 64,
        .dry_allowed_length = s->dry_allowed_length ? s->dry_allowed_length : 2,
        .dry_penalty_last_n = s->dry_penalty_last_n ? s->dry_penalty_last_n : -1,
        .dry_breakers = burin_dry_breakers,
        .n_dry_breakers = BURIN_DRY_BREAKERS,
        .bias = (const burin_bias *)s->bias,
        .n_bias = s->n_bias};
}

static bool sampling_in_range(const burin_sampling *s) {
    bool shares = s->top_p <= 1 && s->min_p >= 0 && s->min_p <= 1 && s->typical >= 0 &&
                  s->typical <= 1 && s->xtc_probability >= 0 && s->xtc_probability <= 1 &&
                  s->xtc_threshold >= 0;
    bool sizes = s->temperature >= 0 && s->top_k >= 0 && s->dynatemp_range >= 0 &&
                 s->dynatemp_exponent >= 0 && s->dry_multiplier >= 0 && s->dry_base >= 1 &&
                 s->dry_allowed_length >= 0 && s->mirostat_tau >= 0 && s->mirostat_eta >= 0 &&
                 (s->mirostat == 0 || s->mirostat == 2);
    for (int32_t i = 0; i < s->n_bias; i++)
        if (s->bias[i].token < 0 || s->bias[i].token >= NAME_model.vocab_size) return false;
    return shares && sizes && s->repeat_penalty < 1e6 && s->n_bias >= 0 && (s->bias || !s->n_bias);
}

int NAME_sampler_init(NAME_sampler *sampler, const NAME_sampling *settings, void *memory,
                      size_t bytes) {
    const burin_sampling s = to_sampling(settings);
    if (!sampler) return NAME_BAD_ARGUMENT;
    sampler->sampler = NULL;
    if (!memory) return NAME_BAD_ARGUMENT;
    if ((uintptr_t)memory % 16) return NAME_BAD_ALIGNMENT;
    if (bytes < NAME_sampler_bytes()) return NAME_SMALL_MEMORY;
    if (!sampling_in_range(&s)) return NAME_BAD_OPTION;
    sampler->sampler = memory;
    burin_sampler_init(memory, &s, NAME_model.vocab_size, tokenizer_blob(),
                       (unsigned char *)memory + sizeof(burin_sampler));
    return 0;
}

static int check_text(const NAME_sampler *sampler, const float *logits, const int32_t *tokens,
                      int n) {
    if (!sampler || !logits || n < 0 || (n && !tokens)) return NAME_BAD_ARGUMENT;
    if (!sampler->sampler) return NAME_NOT_OPEN;
    for (int i = 0; i < n; i++)
        if (tokens[i] < 0 || tokens[i] >= burin_input_vocabulary(&NAME_model))
            return NAME_BAD_TOKEN;
    return 0;
}

static void forbid_tokens(NAME_sampler *sampler, float *logits, const int32_t *tokens, int n) {
    burin_history text = {.tokens = tokens, .n = n, .first = n <= NAME_model.n_start};
    text.generated = n > NAME_model.n_start ? n - NAME_model.n_start : 0;
    burin_mask_forbidden(sampler->sampler, &NAME_model, &text, logits);
}

int32_t NAME_sample(NAME_sampler *sampler, float *logits, const int32_t *tokens, int n) {
    int status = check_text(sampler, logits, tokens, n);
    if (status) return status;
    forbid_tokens(sampler, logits, tokens, n);
    return burin_sample(sampler->sampler, logits, tokens, n);
}

size_t NAME_decode_max(void) { return tokenizer_blob() ? burin_decode_max(tokenizer_blob()) : 0; }

size_t NAME_decode(int *decoder, int32_t id, char *bytes) {
    if (!decoder || !bytes) return 0;
    const unsigned state = (unsigned)*decoder;
    burin_decoder d = {.started = state & 1, .space = state >> 1 & 1, .byte = state >> 2 & 1};
    d.taken = (uint8_t)(state >> 8);
    d.held = (uint8_t)(state >> 16);
    size_t n = tokenizer_blob() ? burin_decode(tokenizer_blob(), &d, id, bytes) : 0;
    *decoder = (int)(d.started | (unsigned)d.space << 1 | (unsigned)d.byte << 2 |
                     (unsigned)d.taken << 8 | (unsigned)d.held << 16);
    return n;
}

#include "library_answer_calls.h"
