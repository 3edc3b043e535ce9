// What the C interfaces of decoders (library.c) and of networks (library_net.c) do in the same way. It is pasted into theirs,
// behind the header of the interface.

// The runtime is included, static, so that a host can link several models: every external symbol begins with the model's name.
#include "encoder.c"
#include "forward.c"
#include "net.c"
#include "text.h"
#include "threads.c"
#include "tokenizer.c"

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

extern const burin_model NAME_model;

const char *NAME_error_text(int status) {
    if (status == NAME_BAD_SOURCE) return "the encoder does not take such a source, or there is no encoder";
    return status == NAME_NOT_OPEN ? "the state was not opened by NAME_init" : burin_status_text((burin_status)status);
}

void NAME_close(NAME_state *state) {
    if (state->session) burin_session_close(state->session);
    state->session = NULL;
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
