#include "build/memory_needs.h"

#include <stdio.h>

#include "engine/forward.h"
#include "engine/picture.h"
#include "util/text.h"

enum { WORTH_A_WORD = 64000000 };  // bytes of work that --max may save

static uint64_t session_bytes(const Build *b) {
    enum { BARE_POOL = 64 };  // burin_pool_bytes of engine/bare.h
    static burin_pool pool;
    const bool bare = machine_is_bare(b->tools.machine);
    const Program *p = b->program, *e = p->encoder;
    burin_encoder encoder = {0};
    burin_model model = {.max_rows = (int32_t)(p->max_rows ? p->max_rows : 1),
                         .context = (int32_t)b->passes.context,
                         .row_bytes = p->plan.row_bytes,
                         .local_bytes = p->plan.local_bytes,
                         .slot_bytes = p->plan.slot_bytes,
                         .scratch_bytes = p->plan.scratch_bytes};
    if (e) {
        encoder = (burin_encoder){.max_rows = (int32_t)e->max_rows,
                                  .row_bytes = e->plan.row_bytes,
                                  .local_bytes = e->plan.local_bytes,
                                  .scratch_bytes = e->plan.scratch_bytes};
        model.encoder = &encoder;
    }
    burin_eyes eyes = {.encoder = &encoder};
    if (b->module->eyes) eyes = *b->module->eyes, eyes.encoder = &encoder, model.eyes = &eyes;
    burin_options options = {.slots = 1, .threads = 1, .pool = bare ? &pool : NULL};
    return burin_session_bytes(&model, &options) + (bare ? BARE_POOL : 0);
}

static void add_needs(MemoryNeeds *n, const Build *b) {
    const Plan *plan = &b->program->plan;
    uint64_t session = session_bytes(b);
    n->weights += b->image.bytes;
    n->cache += plan->cache_bytes;
    n->state += plan->slot_bytes - plan->cache_bytes;
    n->work += session - plan->slot_bytes;
}

MemoryNeeds memory_needs(const Build *b) {
    MemoryNeeds n = {0};
    add_needs(&n, b);
    if (b->draft) add_needs(&n, b->draft);
    n.ram = n.cache + n.state + n.work;
    if (machine_is_bare(b->tools.machine))
        n.flash = n.weights;
    else
        n.ram += n.weights;
    return n;
}

const char *megabytes_text(char out[32], uint64_t bytes) {
    double n = (double)bytes / 1e6;
    snprintf(out, 32, n < 1 ? "%.2f" : n < 10 ? "%.1f" : "%.0f", n);
    return out;
}

const char *memory_needs_text(const Build *b) {
    MemoryNeeds n = memory_needs(b);
    char total[32], part[32];
    Text t = {0};
    text_add(&t, "%s MB: ", megabytes_text(total, n.ram));
    if (!n.flash) text_add(&t, "weights %s, ", megabytes_text(part, n.weights));
    if (n.cache)
        text_add(&t, "KV cache %s for %lld positions, ", megabytes_text(part, n.cache),
                 (long long)b->passes.context);
    if (n.state) text_add(&t, "state %s, ", megabytes_text(part, n.state));
    text_add(&t, "work %s", megabytes_text(part, n.work));
    const char *sizes = b->program->dynamic_sizes && n.work > WORTH_A_WORD
                            ? plan_sizes_option(b->arena, b->program)
                            : "";
    if (*sizes) text_spell(&t, " (less for smaller inputs;%s bounds them)", sizes);
    const char *text = arena_strndup(b->arena, t.data, t.length);
    text_free(&t);
    return text;
}
