#include "text/draft_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program/output.h"

// A guess of less probability is not made. Where both models draw with the same random number, less
// is enough.
static const float first_boldness = 0.15f, most_boldness = 0.02f, least_boldness = 0.6f;

typedef struct burin_guesser {
    const burin_model *model;
    burin_session *session;
    burin_sampler sampler;
    burin_row *rows;          // [max_rows]
    float *logits, *weights;  // [vocabulary]: of the newest row; what its softmax needs
    // tokens in the slot, without the text's first ones: it has this model's context
    int32_t *seen, n, skipped;
    float least_probability;
} burin_guesser;

// Code for the CPU of --cpu, if this model has some: either way it is right.
static const char *cpu_of(const burin_run *run, const burin_model *model) {
    for (int i = 0; i < model->n_variants; i++)
        if (!strcmp(model->variants[i].cpu, run->session->variant->cpu))
            return model->variants[i].cpu;
    return NULL;
}

struct burin_guesser *burin_guesser_open(const burin_run *run) {
    burin_guesser *d = burin_allocate(1, sizeof *d);
    const burin_model *m = d->model = run->model->draft;
    burin_command quiet = {.cpu = cpu_of(run, m), .threads = run->session->step.threads};
    size_t vocabulary = (size_t)burin_max(m->vocab_size, run->model->vocab_size);
    d->session = burin_open(m, &quiet, &(burin_options){.slots = 1, .pool = run->session->pool});
    d->rows = burin_allocate((size_t)m->max_rows, sizeof *d->rows);
    d->seen = burin_allocate((size_t)m->context, sizeof *d->seen);
    d->logits = burin_allocate(vocabulary, sizeof *d->logits);
    d->weights = burin_allocate(vocabulary, sizeof *d->weights);
    burin_run_open_sampler(run, &d->sampler);
    d->sampler.vocab_size = burin_min(m->vocab_size, run->model->vocab_size);
    d->least_probability = first_boldness;
    return d;
}

void burin_guesser_close(struct burin_guesser *d) {
    if (!d) return;
    burin_close(d->session);
    burin_run_close_sampler(&d->sampler);
    free(d->rows);
    free(d->seen);
    free(d->logits);
    free(d->weights);
    free(d);
}

// False: a token that this model does not have.
static bool read_in_draft(burin_guesser *d, const int32_t *tokens, int32_t n) {
    for (int32_t from = 0; from < n; from += d->model->max_rows) {
        int32_t count = burin_min(n - from, d->model->max_rows);
        for (int32_t i = 0; i < count; i++)
            d->rows[i] = (burin_row){tokens[from + i], 0, d->n + i, from + i == n - 1};
        if (burin_forward(d->session, d->rows, count, d->logits)) return false;
        memcpy(d->seen + d->n, tokens + from, (size_t)count * sizeof *d->seen);
        d->n += count;
    }
    return true;
}

// Reads the new part of the n tokens; leaves room for `most` drafts. A text beyond the context
// loses its first half.
static bool follow_text(burin_guesser *d, const int32_t *tokens, int32_t n, int32_t most) {
    int32_t kept = 0, context = d->model->context;
    if (n < d->skipped) d->skipped = 0;
    if (n - d->skipped + most > context) d->skipped = n - context / 2;
    tokens += d->skipped;
    n -= d->skipped;
    while (kept < d->n && kept < n - 1 && d->seen[kept] == tokens[kept]) kept++;
    kept = burin_slot_holds(d->session, 0, kept);
    burin_slot_truncate(d->session, 0, d->n = kept);
    return read_in_draft(d, tokens + kept, n - kept);
}

void burin_guesser_follow(struct burin_guesser *d, const burin_generation *g) {
    follow_text(d, g->tokens, g->n_tokens, 0);
}

int32_t burin_guesser_missed(const struct burin_guesser *d, const burin_generation *g) {
    return g->n_tokens - d->skipped - d->n;
}

void burin_guesser_learn(struct burin_guesser *d, bool all_right) {
    d->least_probability *= all_right ? 0.9f : 1.3f;
    if (d->least_probability < most_boldness) d->least_probability = most_boldness;
    if (d->least_probability > least_boldness) d->least_probability = least_boldness;
}

static bool is_sure_of(burin_guesser *d, int32_t token) {
    float sum = 0;
    int32_t n = d->sampler.vocab_size;
    for (int32_t i = 0; i < n; i++) d->weights[i] = d->logits[i] - d->logits[token];
    d->sampler.exp(d->weights, (size_t)n);
    for (int32_t i = 0; i < n; i++) sum += d->weights[i];
    return sum * d->least_probability < 1;
}

int32_t burin_guesser_guess(struct burin_guesser *d, const burin_generation *g, int32_t *guess,
                            int32_t most) {
    const burin_sampler *s = &g->sampler;
    int32_t n = 0;
    if (most > d->model->context / 2 - 1) most = d->model->context / 2 - 1;
    d->sampler.random = s->random;
    d->sampler.mu = s->mu;
    d->sampler.surprise = s->surprise;
    bool reads = most > 0 && follow_text(d, g->tokens, g->n_tokens, most);
    while (reads && n < most) {
        int32_t token = burin_sample(&d->sampler, d->logits, g->tokens, g->n_tokens + n);
        if (!is_sure_of(d, token)) break;
        g->tokens[g->n_tokens + n] = guess[n] = token;
        n++;
        if (n < most) reads = read_in_draft(d, &token, 1);
    }
    return n;
}
