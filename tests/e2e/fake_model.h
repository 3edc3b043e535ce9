// A model without weights for tests of the program, the threads and the C API: the logits of a row
// are a hash of the tokens its slot has read up to it, so that a wrong position, slot, chunk or
// lost row changes them. Threads share the vocabulary; the history that they read is written by
// thread 0 before a barrier.
#ifndef FAKE_MODEL_H
#define FAKE_MODEL_H
#include <string.h>

#include "engine/program.h"
#include "engine/threads.h"

enum { FAKE_VOCAB = 300, FAKE_CONTEXT = 64, FAKE_ROWS = 16 };

static bool fake_here(void) { return true; }
static bool fake_nowhere(void) { return false; }

static uint64_t fake_mix(uint64_t h) {
    h = (h ^ h >> 31) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static float fake_logit(const int32_t *history, int position, int token) {
    uint64_t h = 1;
    for (int i = 0; i <= position; i++) h = fake_mix(h + (uint64_t)history[i] + 1);
    return (float)(fake_mix(h + (uint64_t)token * 977) >> 40) * 0x1p-20f;
}

static void fake_forward(const burin_step *s, int thread) {
    int32_t *state = (int32_t *)s->state;
    for (int r = 0; r < s->rows && thread == 0; r++)
        state[s->slot[r] * FAKE_CONTEXT + s->position[r]] = s->token[r];
    burin_barrier_wait(s->barrier, thread);
    int first = FAKE_VOCAB * thread / s->threads, last = FAKE_VOCAB * (thread + 1) / s->threads;
    for (int w = 0; w < s->n_logit_rows; w++) {
        int r = s->logit_rows[w];
        for (int v = first; v < last; v++)
            s->logits[w * FAKE_VOCAB + v] =
                fake_logit(state + s->slot[r] * FAKE_CONTEXT, s->position[r], v);
    }
}

static const unsigned char *fake_weights(void) {
    static _Alignas(64) const unsigned char weights[64];
    return weights;
}

static const burin_variant fake_variants[] = {
    {.cpu = "plain", .needs = "any CPU", .supported = fake_here, .forward = fake_forward},
    {.cpu = "plain+more", .needs = "any CPU", .supported = fake_here, .forward = fake_forward},
    {.cpu = "future",
     .needs = "instructions that nobody has",
     .supported = fake_nowhere,
     .forward = NULL},
};

static const burin_state_part fake_states[] = {
    {.parts = 1,
     .part_bytes = FAKE_CONTEXT * sizeof(int32_t),
     .block_bytes = 16 * sizeof(int32_t),
     .layout = BURIN_BY_POSITION},
};

#ifndef FAKE_MORE
#define FAKE_MORE  // further fields of the model, with a comma in front
#endif
#ifndef FAKE_MODES
#define FAKE_MODES NULL  // of a library
#endif
#define FAKE_MODEL                                 \
    {.abi = BURIN_ABI,                             \
     .name = "fake",                               \
     .identity = "0123456789abcdef",               \
     .info = "no passes",                          \
     .vocab_size = FAKE_VOCAB,                     \
     .context = FAKE_CONTEXT,                      \
     .max_rows = FAKE_ROWS,                        \
     .bos = 1,                                     \
     .eos = {2},                                   \
     .n_eos = 1,                                   \
     .row_bytes = 64,                              \
     .local_bytes = 64,                            \
     .slot_bytes = FAKE_CONTEXT * sizeof(int32_t), \
     .weight_bytes = 64,                           \
     .arena_lower_bound = 64,                      \
     .variants = fake_variants,                    \
     .n_variants = 3,                              \
     .states = fake_states,                        \
     .n_states = 1,                                \
     .modes = FAKE_MODES,                          \
     .weights = fake_weights FAKE_MORE}
#endif
