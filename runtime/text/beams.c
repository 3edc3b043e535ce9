#include "text/beams.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/pow.h"
#include "program/output.h"

typedef enum stopping { STOP_BY_SCORE, STOP_WHEN_FULL, STOP_NEVER } stopping;

// A beam: the candidate of its next token, and its outcome.
typedef struct beam {
    float score;  // the sum of the logarithms of its tokens' probabilities
    int32_t slot, parent, token;
    bool ends;
} beam;

typedef struct ended_beam {
    float score;  // divided by length ** penalty
    int32_t n, *text;
} ended_beam;

typedef struct beam_search {
    burin_generation *g;
    int32_t n, most,
        forced;  // beams; tokens of a text, at most; tokens of the prompt that count as the text's
    double penalty;
    stopping stop;
    float *logits;  // [n][vocabulary]
    burin_row *rows;
    beam *beams, *candidates;  // [n]; [n_candidates], the best first
    int32_t n_beams, n_candidates, most_candidates;
    int32_t *texts, *next_texts;  // [n][most]
    ended_beam *ended;            // [n], the best first
    int32_t n_ended;
} beam_search;

static stopping stopping_of(const burin_command *c) {
    const char *s = c->early_stopping;
    if (!s || !strcmp(s, "false")) return STOP_BY_SCORE;
    if (!strcmp(s, "true")) return STOP_WHEN_FULL;
    if (!strcmp(s, "never")) return STOP_NEVER;
    burin_stop(BURIN_BAD_COMMAND_LINE, "--early-stopping %.60s: expected true, false or never", s);
}

static void open_search(beam_search *b, burin_generation *g) {
    const burin_run *run = g->run;
    const burin_model *m = run->model;
    int64_t room = run->context - g->n_tokens + 1;
    int32_t n_ends = m->n_eos + g->has_end;
    *b = (beam_search){
        .g = g, .n = (int32_t)run->command->beams, .forced = burin_forced_tokens(run)};
    b->stop = stopping_of(run->command);
    b->penalty = run->command->length_penalty;
    b->most = (int32_t)(g->count < room ? g->count : room);
    b->most_candidates = b->n * (n_ends ? 1 + n_ends : 2);
    b->logits = burin_allocate((size_t)b->n * (size_t)m->vocab_size, sizeof *b->logits);
    b->rows = burin_allocate((size_t)b->n, sizeof *b->rows);
    b->beams = burin_allocate((size_t)b->n, sizeof *b->beams);
    b->candidates = burin_allocate((size_t)b->most_candidates + 1, sizeof *b->candidates);
    b->texts = burin_allocate((size_t)b->n * (size_t)b->most, sizeof *b->texts);
    b->next_texts = burin_allocate((size_t)b->n * (size_t)b->most, sizeof *b->texts);
    b->ended = burin_allocate((size_t)b->n + 1, sizeof *b->ended);
}

static void close_search(beam_search *b) {
    for (int32_t i = 0; i < b->n_ended; i++) free(b->ended[i].text);
    free(b->logits);
    free(b->rows);
    free(b->beams);
    free(b->candidates);
    free(b->texts);
    free(b->next_texts);
    free(b->ended);
}

static int32_t *text_of(const beam_search *b, int32_t *texts, int32_t i) {
    return texts + (size_t)i * (size_t)b->most;
}

// -------------------------------------------------------------------------------------- candidates
// Log-probabilities, without forbidden tokens, after the sampler's penalties.
static void weigh_tokens(const beam_search *b, int32_t i, int32_t length, float *logits) {
    burin_generation *g = b->g;
    double total = burin_log_of_total(&g->sampler, logits);
    for (int32_t v = 0; v < g->sampler.vocab_size; v++)
        logits[v] = (float)((double)logits[v] - total);
    memcpy(g->tokens + g->n_tokens, text_of(b, b->texts, i), (size_t)length * sizeof *g->tokens);
    burin_sampler_adjust(&g->sampler, logits, g->tokens, g->n_tokens + length);
    const burin_history text = burin_generation_history(g, length, b->most);
    burin_mask_forbidden(&g->sampler, g->run->model, &text, logits);
    if (g->limit) g->limit(g->limit_context, g->tokens, g->n_tokens + length, logits);
}

static void offer(beam_search *b, beam c) {
    int32_t at = b->n_candidates;
    while (at > 0 && c.score > b->candidates[at - 1].score) at--;
    if (at == b->most_candidates) return;
    memmove(b->candidates + at + 1, b->candidates + at, (size_t)(b->n_candidates - at) * sizeof c);
    b->candidates[at] = c;
    if (b->n_candidates < b->most_candidates) b->n_candidates++;
}

static void find_candidates(beam_search *b, int32_t length) {
    int32_t vocabulary = b->g->sampler.vocab_size;
    b->n_candidates = 0;
    for (int32_t i = 0; i < b->n_beams; i++) {
        float *logits = b->logits + (size_t)i * (size_t)vocabulary;
        weigh_tokens(b, i, length, logits);
        for (int32_t v = 0; v < vocabulary; v++) {
            float score = logits[v] + b->beams[i].score;
            bool full = b->n_candidates == b->most_candidates;
            if (full && !(score > b->candidates[b->n_candidates - 1].score)) continue;
            if (score > -INFINITY) offer(b, (beam){.score = score, .parent = i, .token = v});
        }
    }
}

// ------------------------------------------------------------------------------------------ ending
static float by_length(const beam_search *b, float score, int32_t length) {
    return score / sf_pow((float)(length + b->forced), (float)b->penalty);
}

static void keep_ended(beam_search *b, const beam *c, int32_t length) {
    bool ends = burin_generation_ends(b->g, c->token);
    float score = by_length(b, c->score, length);
    int32_t at = b->n_ended;
    while (at > 0 && score > b->ended[at - 1].score) at--;
    if (at == b->n) return;
    if (b->n_ended == b->n) free(b->ended[--b->n_ended].text);
    memmove(b->ended + at + 1, b->ended + at, (size_t)(b->n_ended - at) * sizeof *b->ended);
    b->n_ended++;
    ended_beam *e = &b->ended[at];
    *e = (ended_beam){score, ends ? length - 1 : length,
                      burin_allocate((size_t)length, sizeof *e->text)};
    memcpy(e->text, text_of(b, b->texts, c->parent), (size_t)(length - 1) * sizeof *e->text);
    e->text[length - 1] = c->token;
}

// Ended ones among the first n candidates are kept if they are good enough; the first n unended
// ones are the next beams.
static void sort_candidates(beam_search *b, int32_t length) {
    bool full = b->stop == STOP_WHEN_FULL && b->n_ended == b->n;
    b->n_beams = 0;
    for (int32_t i = 0; i < b->n_candidates; i++) {
        beam *c = &b->candidates[i];
        c->ends = length == b->most || burin_generation_ends(b->g, c->token);
        if (c->ends && i < b->n && !full) keep_ended(b, c, length);
        if (!c->ends && b->n_beams < b->n) b->candidates[b->n_beams++] = *c;
    }
}

// Returns true if no beam can become better than the worst ended text.
static bool is_over(const beam_search *b, int32_t length) {
    if (!b->n_beams) return true;
    if (b->n_ended < b->n) return false;
    if (b->stop == STOP_WHEN_FULL) return true;
    int32_t longest = b->stop == STOP_NEVER && b->penalty > 0 ? b->most : length;
    return !(by_length(b, b->candidates[0].score, longest) > b->ended[b->n - 1].score);
}

// ------------------------------------------------------------------------------------------- slots
static int32_t free_slot(const bool *taken) {
    int32_t slot = 0;
    while (taken[slot]) slot++;
    return slot;
}

// The first child of a beam keeps its slot; later ones get copies, in slots of beams without
// children.
static void give_slots(beam_search *b) {
    bool taken[BURIN_MOST_BEAMS] = {false};
    for (int32_t i = 0; i < b->n_beams; i++) {
        int32_t slot = b->beams[b->candidates[i].parent].slot;
        b->candidates[i].slot = taken[slot] ? -1 : slot;
        taken[slot] = true;
    }
    for (int32_t i = 0; i < b->n_beams; i++) {
        beam *c = &b->candidates[i];
        if (c->slot >= 0) continue;
        c->slot = free_slot(taken);
        taken[c->slot] = true;
        burin_slot_copy(b->g->run->session, c->slot, b->beams[c->parent].slot);
    }
}

static void extend_beams(beam_search *b, int32_t length) {
    give_slots(b);
    for (int32_t i = 0; i < b->n_beams; i++) {
        beam *c = &b->candidates[i];
        int32_t *text = text_of(b, b->next_texts, i);
        memcpy(text, text_of(b, b->texts, c->parent), (size_t)(length - 1) * sizeof *text);
        text[length - 1] = c->token;
        b->rows[i] =
            (burin_row){c->token, c->slot, burin_slot_length(b->g->run->session, c->slot), true};
    }
    memcpy(b->beams, b->candidates, (size_t)b->n_beams * sizeof *b->beams);
    int32_t *old = b->texts;
    b->texts = b->next_texts;
    b->next_texts = old;
    burin_run *run = b->g->run;
    burin_status status = burin_forward(run->session, b->rows, b->n_beams, b->logits);
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
    if (run->recording) burin_run_record_rows(run, b->logits, b->n_beams);
}

static void search(beam_search *b) {
    bool stopped = false;
    for (int32_t length = 1; length <= b->most && !stopped; length++) {
        find_candidates(b, length - 1);
        sort_candidates(b, length);
        stopped = is_over(b, length) || (b->g->run->stop && *b->g->run->stop);
        if (!stopped) extend_beams(b, length);
    }
}

int32_t burin_beams_search(burin_generation *g, const float *logits, int32_t **text) {
    beam_search b;
    int32_t n = 0, kept = burin_slot_length(g->run->session, 0);
    open_search(&b, g);
    b.n_beams = 1;
    memcpy(b.logits, logits, (size_t)g->sampler.vocab_size * sizeof *logits);
    if (b.most > 0) search(&b);
    if (b.n_ended) {
        n = b.ended[0].n;
        g->beam_score = b.ended[0].score;
        *text = b.ended[0].text;
        b.ended[0].text = NULL;
        if (g->run->command->verbose)
            burin_note("beams: %d of %d ended, the best with a score of %.6f", b.n_ended, b.n,
                       (double)b.ended[0].score);
    }
    g->full = !b.n_ended || (n == b.most && b.most < g->count);
    close_search(&b);
    burin_slot_truncate(g->run->session, 0, burin_slot_holds(g->run->session, 0, kept));
    return n;
}
