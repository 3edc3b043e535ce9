// Tokens that a model's own settings forbid, or forbid for now: the logits processors of
// transformers' generate().
#ifndef BURIN_SAMPLER_LIMITS_H
#define BURIN_SAMPLER_LIMITS_H
#include <string.h>

#include "sampler.h"

static void never(float *logits, int32_t vocabulary, const int32_t *tokens, int32_t n) {
    for (int32_t i = 0; i < n; i++)
        if (burin_has_logit(vocabulary, tokens[i])) logits[tokens[i]] = -INFINITY;
}

// Each token once, however often it is there; not where the caller has a penalty of its own.
static void penalize_said(burin_sampler *s, const burin_model *m, const burin_history *t,
                          float *logits) {
    float penalty = m->repetition_penalty;
    if (penalty <= 0 || s->settings.repeat_penalty != 1) return;
    for (int32_t i = 0; i < t->n; i++)
        if (burin_has_logit(m->vocab_size, t->tokens[i]))
            s->candidates[t->tokens[i]].logit = logits[t->tokens[i]];
    for (int32_t i = 0; i < t->n; i++) {
        if (!burin_has_logit(m->vocab_size, t->tokens[i])) continue;
        float logit = s->candidates[t->tokens[i]].logit;
        logits[t->tokens[i]] = logit < 0 ? logit * penalty : logit / penalty;
    }
}

// Tokens that would complete an n-gram of `text` for a second time.
static void ban_runs(const burin_model *m, const burin_history *t, const int32_t *text, int32_t n,
                     int32_t run, float *logits) {
    if (run < 1 || t->n < run - 1) return;
    const int32_t *last = t->tokens + t->n - (run - 1);
    for (int32_t i = 0; i + run <= n; i++)
        if (!memcmp(text + i, last, (size_t)(run - 1) * sizeof *last))
            never(logits, m->vocab_size, text + i + run - 1, 1);
}

// For each sequence its length, then its tokens: the last one is forbidden after the others.
static void ban_words(const burin_model *m, const burin_history *t, float *logits) {
    for (int32_t i = 0; i < m->n_bad_words; i += 1 + m->bad_words[i]) {
        int32_t n = m->bad_words[i];
        const int32_t *word = m->bad_words + i + 1;
        if (n > t->n || memcmp(t->tokens + t->n - (n - 1), word, (size_t)(n - 1) * sizeof *word))
            continue;
        never(logits, m->vocab_size, word + n - 1, 1);
    }
}

static void ban_ends(const burin_model *m, const burin_history *t, float *logits) {
    if (t->n >= m->min_length && t->generated >= m->min_new_tokens) return;
    never(logits, m->vocab_size, m->eos, m->n_eos);
}

static void force_end(const burin_model *m, const burin_history *t, float *logits) {
    if (!m->n_forced_end || !t->last) return;
    for (int32_t v = 0; v < m->vocab_size; v++) logits[v] = v == *m->forced_end ? 0 : -INFINITY;
}
#endif
