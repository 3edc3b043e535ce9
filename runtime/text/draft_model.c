#include "text/draft_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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
    // For a head: the states of the first model's newest rows, [BURIN_KEPT_STATES][width], a row's
    // by its position, with its position and token; the vectors of the rows to read. NULL: no head.
    float *states;
    burin_row *state_of;
    burin_embedding *vectors;  // [max_rows]
} burin_guesser;

// Code for the CPU of --cpu, if this model has some: either way it is right.
static const char *cpu_of(const burin_run *run, const burin_model *model) {
    for (int i = 0; i < model->n_variants; i++)
        if (!strcmp(model->variants[i].cpu, run->session->variant->cpu))
            return model->variants[i].cpu;
    return NULL;
}

static void open_head(burin_guesser *d) {
    const burin_model *m = d->model;
    d->states = burin_allocate(BURIN_KEPT_STATES * (size_t)m->row_vectors, sizeof *d->states);
    d->state_of = burin_allocate(BURIN_KEPT_STATES, sizeof *d->state_of);
    d->vectors = burin_allocate((size_t)m->max_rows, sizeof *d->vectors);
    for (int i = 0; i < BURIN_KEPT_STATES; i++) d->state_of[i].position = -1;
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
    if (m->row_vectors) open_head(d);
    return d;
}

void burin_guesser_close(struct burin_guesser *d) {
    if (!d) return;
    size_t bytes = d->session->memory_bytes;
    burin_close(d->session);
    munmap(d->session, bytes);
    burin_run_close_sampler(&d->sampler);
    free(d->states);
    free(d->state_of);
    free(d->vectors);
    free(d->rows);
    free(d->seen);
    free(d->logits);
    free(d->weights);
    free(d);
}

// ------------------------------------------------------------------------------------------ states
bool burin_guesser_is_head(const struct burin_guesser *d) { return d && d->states; }

static float *kept_state(burin_guesser *d, int32_t position) {
    return d->states + (size_t)(position % BURIN_KEPT_STATES) * (size_t)d->model->row_vectors;
}

void burin_guesser_see(struct burin_guesser *d, const burin_session *s, const burin_row *rows,
                       int32_t n, int32_t slot) {
    if (!burin_guesser_is_head(d)) return;
    size_t width = (size_t)d->model->row_vectors;
    for (int32_t i = 0; i < n; i++) {
        if (rows[i].slot != slot) continue;
        d->state_of[rows[i].position % BURIN_KEPT_STATES] = rows[i];
        memcpy(kept_state(d, rows[i].position), s->step.row_states + (size_t)i * width,
               width * sizeof *d->states);
    }
}

static bool has_state(const burin_guesser *d, int32_t position, int32_t token) {
    const burin_row *row = &d->state_of[position % BURIN_KEPT_STATES];
    return row->position == position && row->token == token;
}

// The first position from which on all states of the n tokens are there; n: none.
static int32_t first_state(const burin_guesser *d, const int32_t *tokens, int32_t n) {
    while (n > 0 && has_state(d, n - 1, tokens[n - 1])) n--;
    return n;
}

// ------------------------------------------------------------------------------------------- rows
// The vectors of `count` rows from position d->n of the slot on. The head's own for a row of a
// guess: the state of the row before it.
static const burin_embedding *vectors_of(burin_guesser *d, int32_t count, bool guessed) {
    if (!d->states) return NULL;
    for (int32_t i = 0; i < count; i++) d->vectors[i].vector = kept_state(d, d->skipped + d->n + i);
    if (guessed)
        d->vectors[0].vector = d->session->step.row_states +
                               (size_t)(d->session->step.rows - 1) * (size_t)d->model->row_states;
    return d->vectors;
}

// False: a token that this model does not have.
static bool read_in_draft(burin_guesser *d, const int32_t *tokens, int32_t n, bool guessed) {
    for (int32_t from = 0; from < n; from += d->model->max_rows) {
        int32_t count = burin_min(n - from, d->model->max_rows);
        for (int32_t i = 0; i < count; i++)
            d->rows[i] = (burin_row){tokens[from + i], 0, d->n + i, from + i == n - 1};
        if (burin_forward_embedded(d->session, d->rows, vectors_of(d, count, guessed), count,
                                   d->logits))
            return false;
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
    return read_in_draft(d, tokens + kept, n - kept, false);
}

// The same of a head, whose row i has the token after row i: a slot that lacks states begins anew
// after them.
static bool follow_states(burin_guesser *d, const int32_t *tokens, int32_t n, int32_t most) {
    int32_t rows = n - 1, first = first_state(d, tokens, rows), context = d->model->context,
            kept = 0;
    if (first >= rows) return false;
    while (kept < d->n && d->skipped + kept < rows - 1 &&
           d->seen[kept] == tokens[d->skipped + kept + 1])
        kept++;
    bool full = rows - d->skipped + most > context;
    if (full || d->skipped >= rows || first > d->skipped + kept) {
        d->skipped = burin_max(first, rows - context / 2);
        kept = 0;
    }
    d->n = kept;
    return follow_text(d, tokens + 1, rows, most);
}

static bool follow_generation(burin_guesser *d, const burin_generation *g, int32_t most) {
    return (d->states ? follow_states : follow_text)(d, g->tokens, g->n_tokens, most);
}

void burin_guesser_follow(struct burin_guesser *d, const burin_generation *g) {
    follow_generation(d, g, 0);
}

int32_t burin_guesser_missed(const struct burin_guesser *d, const burin_generation *g) {
    int32_t missed = g->n_tokens - d->skipped - d->n;
    return d->states ? burin_min(missed, BURIN_KEPT_STATES) : missed;
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
    bool reads = most > 0 && follow_generation(d, g, most);
    int32_t rows = d->n;
    while (reads && n < most) {
        int32_t token = burin_sample(&d->sampler, d->logits, g->tokens, g->n_tokens + n);
        if (!is_sure_of(d, token)) break;
        g->tokens[g->n_tokens + n] = guess[n] = token;
        n++;
        if (n < most) reads = read_in_draft(d, &token, 1, true);
    }
    if (d->states) d->n = rows;  // rows of guesses are read again, with the model's own states
    return n;
}
