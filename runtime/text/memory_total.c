#include "text/memory_total.h"

#include <stdio.h>

#include "engine/saved.h"

// Bytes of a slot's caches of positions, or of its other states. Only these are ever touched of the
// memory of a slot.
static uint64_t state_bytes(const burin_model *m, int32_t context, bool of_positions) {
    uint64_t bytes = 0;
    for (int i = 0; i < m->n_states; i++) {
        const burin_state_part *p = &m->states[i];
        int32_t length = p->layout == BURIN_WHOLE || p->of_source ? m->context : context;
        if ((p->layout != BURIN_WHOLE) == of_positions)
            bytes += (uint64_t)p->parts * burin_state_blocks(p, length, length) * p->block_bytes;
    }
    return bytes;
}

static uint64_t whole_image_bytes(const burin_model *m) {
    return m->sums_offset ? m->sums_offset + BURIN_ALIGNMENT : m->weight_bytes;
}

static const char *megabytes(char out[32], uint64_t bytes) {
    double n = (double)bytes / 1e6;
    snprintf(out, 32, n < 1 ? "%.2f" : n < 10 ? "%.1f" : "%.0f", n);
    return out;
}

void burin_memory_text(const burin_model *model, const burin_options *options, int32_t context,
                       char text[BURIN_MEMORY_TEXT]) {
    uint64_t weights = 0, cache = 0, state = 0, work = 0;
    uint64_t slots = options->slots > 0 ? (uint64_t)options->slots : 1;
    char total[32], part[4][32], caches[80] = "", states[48] = "";
    for (const burin_model *m = model; m; m = m->draft) {
        uint64_t session = burin_session_bytes(m, options), all = slots * m->slot_bytes;
        weights += whole_image_bytes(m);
        cache += slots * state_bytes(m, context, true);
        state += slots * state_bytes(m, context, false);
        work += session > all ? session - all : 0;
    }
    if (cache)
        snprintf(caches, sizeof caches, "KV cache %s for %lld positions, ",
                 megabytes(part[0], cache), (long long)context * (long long)slots);
    if (state) snprintf(states, sizeof states, "state %s, ", megabytes(part[1], state));
    snprintf(text, BURIN_MEMORY_TEXT, "%s MB: weights %s, %s%swork %s",
             megabytes(total, weights + cache + state + work), megabytes(part[2], weights), caches,
             states, megabytes(part[3], work));
}
