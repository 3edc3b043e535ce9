// Common parts of the C interfaces of decoders (library.c) and of networks (library_network.c),
// pasted into both after the header of the interface.

// The runtime is included, static, so that a host can link several models: every external symbol
// begins with the model's name.
#include "engine/encoder.c"
#include "engine/forward.c"
#include "engine/integrity.c"
#include "engine/network.c"
#include "tokenizer/prompt_ids.h"
#ifndef BURIN_BARE
#include "engine/threads.c"
#endif
#include "tokenizer/tokenizer.c"

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

extern const burin_model NAME_model;

const char *NAME_error_text(int status) {
    if (status == NAME_BAD_SOURCE)
        return "the encoder does not take such a source, or there is no encoder";
    if (status == NAME_BAD_TEXT) return "messages, a grammar or a schema cannot be used";
    if (status == NAME_TEXT_ENDS) return "the answer is whole";
    return status == NAME_NOT_OPEN ? "the state was not opened by NAME_init"
                                   : burin_status_text((burin_status)status);
}

void NAME_close(NAME_state *state) {
    if (!state) return;
    if (state->session) burin_session_close(state->session);
    state->session = NULL;
}

// Every function that works on a state begins with it.
static int check_state(const NAME_state *state) {
    if (!state) return NAME_BAD_ARGUMENT;
    return state->session ? 0 : NAME_NOT_OPEN;
}

static const void *tokenizer_blob(void) {
    return NAME_model.tokenizer_bytes ? NAME_model.weights() + NAME_model.tokenizer_offset : NULL;
}

size_t NAME_encode_memory(size_t text_bytes) {
    return tokenizer_blob() ? burin_encode_memory(tokenizer_blob(), text_bytes) : 0;
}

// `special`: a whole text, which is cut as the program cuts it.
static int64_t encode_text(const burin_encoding *e) {
    if (!tokenizer_blob()) return -1;
    if ((!e->text && e->bytes) || (!e->ids && e->capacity) || !e->memory) return NAME_BAD_ARGUMENT;
    if ((uintptr_t)e->memory % 16) return NAME_BAD_ALIGNMENT;
    size_t n = burin_encode_prompt(tokenizer_blob(), e);
    return (int64_t)(e->special
                         ? burin_cut_ids(&NAME_model, tokenizer_blob(), e->ids, e->capacity, n)
                         : n);
}

int64_t NAME_encode(const char *text, size_t bytes, int32_t *ids, size_t capacity, void *memory) {
    return encode_text(&(burin_encoding){.text = text,
                                         .bytes = bytes,
                                         .special = true,
                                         .ids = ids,
                                         .capacity = capacity,
                                         .memory = memory});
}

int64_t NAME_encode_part(const char *text, size_t bytes, int32_t *ids, size_t capacity,
                         void *memory) {
    return encode_text(&(burin_encoding){
        .text = text, .bytes = bytes, .ids = ids, .capacity = capacity, .memory = memory});
}

int64_t NAME_encode_marked(const char *text, const uint8_t *marks, size_t bytes, int32_t *ids,
                           size_t capacity, void *memory) {
    return encode_text(&(burin_encoding){.text = text,
                                         .bytes = bytes,
                                         .marks = marks,
                                         .ids = ids,
                                         .capacity = capacity,
                                         .memory = memory});
}

int32_t NAME_token(const char *text, size_t bytes) {
    return text && bytes && tokenizer_blob() ? burin_token_find(tokenizer_blob(), text, bytes) : -1;
}

int NAME_abi_version(void) { return BURIN_ABI; }

const char *NAME_identity(void) { return NAME_model.identity; }

int NAME_verify(void) {
    return burin_weights_intact(&NAME_model) && burin_tokenizer_intact(&NAME_model) ? 0
                                                                                    : NAME_DAMAGED;
}

const char *NAME_cpu(const NAME_state *state) {
    return check_state(state) ? "none" : ((const burin_session *)state->session)->variant->cpu;
}
