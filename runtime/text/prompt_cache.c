#include "text/prompt_cache.h"

#include <string.h>

#include "engine/integrity.h"
#include "engine/saved.h"
#include "program/output.h"
#include "text/session_format.h"

static const char *session_of(const burin_model *m, burin_session_header *h) {
    burin_sums sums = burin_sums_of(m);
    if (!sums.prompt) return NULL;
    const char *data = (const char *)m->weights() + sums.prompt;
    memcpy(h, data, sizeof *h);
    return data;
}

int32_t burin_prompt_cache_size(const burin_model *m, size_t *bytes) {
    burin_session_header h;
    if (!session_of(m, &h)) return 0;
    *bytes = (size_t)h.bytes;
    return (int32_t)h.tokens;
}

bool burin_prompt_cache_intact(const burin_model *m) {
    burin_session_header h;
    const char *data = session_of(m, &h);
    return !data || !burin_session_check_bytes(m, data, burin_sums_of(m).prompt_bytes, &h);
}

const char *burin_prompt_system(const burin_model *m) {
    burin_sums sums = burin_sums_of(m);
    return sums.system_bytes ? (const char *)m->weights() + sums.prompt + sums.prompt_bytes : NULL;
}

int32_t burin_prompt_cache_use(const burin_run *run, int32_t slot, const int32_t *ids, int32_t n,
                               int32_t kept) {
    burin_session_header h;
    const char *data = session_of(run->model, &h);
    int32_t same = 0;
    if (!data || h.tokens > run->context) return kept;
    const char *tokens = data + sizeof h;
    for (int32_t id; same < h.tokens && same < n - 1; same++) {
        memcpy(&id, tokens + (size_t)same * sizeof id, sizeof id);
        if (id != ids[same]) break;
    }
    // A state without positions is that of the whole session.
    if (same <= kept || (kept && same < h.tokens)) return kept;
    burin_status status =
        burin_slot_load(run->session, slot, burin_session_slot(data, &h), (size_t)h.slot_bytes);
    if (status)
        burin_stop(BURIN_USER_MISTAKE, "the prompt in this program: %s", burin_status_text(status));
    return burin_slot_holds(run->session, slot, same);
}
