// Sampling: a table of steps, first over the logits, then over candidates, fewer from step to step;
// one draw.
#include "sampler.h"

#include <stdio.h>

#include "sampler_filters.h"
#include "sampler_limits.h"
#include "sampler_logits.h"

// ---- the generator ----

static uint64_t rotate_left(uint64_t x, int n) { return x << n | x >> (64 - n); }

BURIN_LINKAGE void burin_random_seed(burin_random *r, uint64_t seed) {
    for (int i = 0; i < 4; i++) {  // splitmix64
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        r->state[i] = z ^ z >> 31;
    }
}

BURIN_LINKAGE uint64_t burin_random_next(burin_random *r) {  // xoshiro256**
    uint64_t *s = r->state, result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

BURIN_LINKAGE double burin_random_unit(burin_random *r) {
    return (double)(burin_random_next(r) >> 11) * 0x1p-53;
}

// ---- the likeliest ----

// The largest of sixteen; NaN never wins.
static float largest_of_block(const float *logits) {
    float lane[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < LANES; i++) lane[i & 3] = logits[i] > lane[i & 3] ? logits[i] : lane[i & 3];
    return sf_max(sf_max(lane[0], lane[1]), sf_max(lane[2], lane[3]));
}

BURIN_LINKAGE int32_t burin_argmax(const float *logits, int32_t n) {
    int32_t best = 0, i = 0;
    float top = plain(logits[0]);
    for (; i + LANES <= n; i += LANES) {
        if (!(largest_of_block(logits + i) > top)) continue;
        for (int32_t j = i; j < i + LANES; j++)
            if (logits[j] > top) top = logits[j], best = j;
    }
    for (; i < n; i++)
        if (logits[i] > top) top = logits[i], best = i;
    return best;
}

// ---- the chain ----

static bool wants_bias(const burin_sampling *s) { return s->n_bias > 0; }
static bool wants_penalties(const burin_sampling *s) {
    return s->repeat_last_n &&
           (s->repeat_penalty != 1 || s->presence_penalty != 0 || s->frequency_penalty != 0);
}
static bool wants_dry(const burin_sampling *s) {
    return s->dry_multiplier > 0 && s->dry_base >= 1 && s->dry_penalty_last_n;
}
static bool wants_mirostat(const burin_sampling *s) { return s->mirostat == 2; }
static bool wants_top_k(const burin_sampling *s) { return s->top_k > 0 && !wants_mirostat(s); }
static bool wants_typical(const burin_sampling *s) { return s->typical < 1 && !wants_mirostat(s); }
static bool wants_top_p(const burin_sampling *s) { return s->top_p < 1 && !wants_mirostat(s); }
static bool wants_min_p(const burin_sampling *s) { return s->min_p > 0 && !wants_mirostat(s); }
static bool wants_xtc(const burin_sampling *s) {
    return s->xtc_probability > 0 && s->xtc_threshold <= 0.5 && !wants_mirostat(s);
}
static bool always(const burin_sampling *s) { return s->temperature != 0; }

// A step: over logits, or over the n candidates; returns how many remain.
typedef struct sampling_step {
    const char *name;
    bool (*wanted)(const burin_sampling *);
    void (*adjust)(burin_sampler *, float *logits, const int32_t *tokens, int32_t n);
    int32_t (*filter)(burin_sampler *, int32_t n);
    struct {
        const char *name;
        size_t place;
        bool whole;
    } values[4];  // its text with -v
} sampling_step;

#define VALUE(name, field) {name, offsetof(burin_sampling, field), false}
#define WHOLE(name, field) {name, offsetof(burin_sampling, field), true}
static const sampling_step sampling_steps[] = {
    {"logit-bias", wants_bias, add_bias, NULL, {{NULL, 0, false}}},
    {"penalties",
     wants_penalties,
     penalize,
     NULL,
     {WHOLE(" last ", repeat_last_n), VALUE(" repeat ", repeat_penalty),
      VALUE(" presence ", presence_penalty), VALUE(" frequency ", frequency_penalty)}},
    {"dry",
     wants_dry,
     dry,
     NULL,
     {VALUE(" ", dry_multiplier), VALUE(" base ", dry_base), WHOLE(" allowed ", dry_allowed_length),
      WHOLE(" last ", dry_penalty_last_n)}},
    {"top-k", wants_top_k, NULL, take_top_k, {WHOLE(" ", top_k)}},
    {"typical", wants_typical, NULL, take_typical, {VALUE(" ", typical)}},
    {"top-p", wants_top_p, NULL, take_top_p, {VALUE(" ", top_p)}},
    {"min-p", wants_min_p, NULL, take_min_p, {VALUE(" ", min_p)}},
    {"xtc",
     wants_xtc,
     NULL,
     exclude_top_choices,
     {VALUE(" ", xtc_probability), VALUE(" threshold ", xtc_threshold)}},
    {"temperature",
     always,
     NULL,
     apply_temperature,
     {VALUE(" ", temperature), VALUE(" range ", dynatemp_range),
      VALUE(" exponent ", dynatemp_exponent)}},
    {"mirostat",
     wants_mirostat,
     NULL,
     take_unsurprising,
     {WHOLE(" ", mirostat), VALUE(" entropy ", mirostat_tau), VALUE(" rate ", mirostat_eta)}},
};
#undef VALUE
#undef WHOLE
enum { N_SAMPLING_STEPS = sizeof sampling_steps / sizeof *sampling_steps };

static size_t say_step(const sampling_step *step, const burin_sampling *s, char *out, size_t room) {
    size_t at = (size_t)snprintf(out, room, "%s", step->name);
    for (size_t i = 0;
         i < sizeof step->values / sizeof *step->values && step->values[i].name && at < room; i++) {
        const void *value = (const char *)s + step->values[i].place;
        double number =
            step->values[i].whole ? (double)*(const int64_t *)value : *(const double *)value;
        at += (size_t)snprintf(out + at, room - at, "%s%g", step->values[i].name, number);
    }
    return at;
}

BURIN_LINKAGE void burin_sampling_chain(const burin_sampling *s, char *out, size_t room) {
    size_t at = 0;
    for (const sampling_step *step = sampling_steps; step < sampling_steps + N_SAMPLING_STEPS;
         step++) {
        if (!step->wanted(s) || (step->filter && s->temperature == 0)) continue;
        if (at < room) at += say_step(step, s, out + at, room - at);
        if (at < room) at += (size_t)snprintf(out + at, room - at, ", ");
    }
    if (at < room) snprintf(out + at, room - at, s->temperature == 0 ? "the likeliest" : "draw");
}

BURIN_LINKAGE size_t burin_sampler_bytes(int32_t vocab_size, const void *tokenizer) {
    size_t text = tokenizer ? burin_decode_max(tokenizer) + BURIN_BREAKER_BYTES : 0;
    return (size_t)vocab_size * sizeof(burin_candidate) + text;
}

static void exp_plain(float *values, size_t n) {
    for (size_t i = 0; i < n; i++) values[i] = sf_exp(values[i]);
}

BURIN_LINKAGE void burin_sampler_init(burin_sampler *s, const burin_sampling *settings,
                                      int32_t vocab_size, const void *tokenizer, void *memory) {
    *s = (burin_sampler){
        .settings = *settings, .exp = exp_plain, .vocab_size = vocab_size, .candidates = memory};
    s->tokenizer = tokenizer, s->text = (char *)(s->candidates + vocab_size);
    if (s->settings.top_k > vocab_size) s->settings.top_k = vocab_size;
    s->mu = 2 * settings->mirostat_tau;
    burin_random_seed(&s->random, settings->seed);
}

BURIN_LINKAGE void burin_sampler_adjust(burin_sampler *s, float *logits, const int32_t *tokens,
                                        int32_t n) {
    for (const sampling_step *step = sampling_steps; step < sampling_steps + N_SAMPLING_STEPS;
         step++)
        if (step->adjust && step->wanted(&s->settings)) step->adjust(s, logits, tokens, n);
}

BURIN_LINKAGE int32_t burin_sampler_choose(burin_sampler *s, const float *logits) {
    if (s->settings.temperature == 0) return burin_argmax(logits, s->vocab_size);
    int32_t n = s->vocab_size;
    s->logits = logits;
    if (!wants_top_k(&s->settings)) take_all(s, n);
    for (const sampling_step *step = sampling_steps; step < sampling_steps + N_SAMPLING_STEPS;
         step++)
        if (step->filter && step->wanted(&s->settings)) n = step->filter(s, n);
    return draw(s, n);
}

BURIN_LINKAGE void burin_sampler_accept(burin_sampler *s) {
    s->mu -= s->settings.mirostat_eta * (s->surprise - s->settings.mirostat_tau);
}

BURIN_LINKAGE int32_t burin_sample(burin_sampler *s, float *logits, const int32_t *tokens,
                                   int32_t n_before) {
    burin_sampler_adjust(s, logits, tokens, n_before);
    int32_t token = burin_sampler_choose(s, logits);
    burin_sampler_accept(s);
    return token;
}

BURIN_LINKAGE void burin_mask_forbidden(burin_sampler *s, const burin_model *m,
                                        const burin_history *t, float *logits) {
    penalize_said(s, m, t, logits);
    ban_runs(m, t, t->tokens, t->n, m->no_repeat, logits);
    ban_runs(m, t, t->source, t->n_source, m->encoder_no_repeat, logits);
    ban_words(m, t, logits);
    ban_ends(m, t, logits);
    force_end(m, t, logits);
    never(logits, m->vocab_size, m->suppress, m->n_suppress);
    if (t->first) never(logits, m->vocab_size, m->begin_suppress, m->n_begin_suppress);
}
