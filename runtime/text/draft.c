#include "text/draft.h"

#include <stdlib.h>
#include <string.h>

#include "program/output.h"
#include "text/draft_model.h"

enum { FEWEST_GUESSES = 2, LONGEST_MATCH = 16, MOST_REPEATED = 8 };
enum { COLD_STEPS = 2 };  // by the model: its pages come from the file, so they are not weighed
enum { FIRST_PAUSE = 32, LONGEST_PAUSE = 512, STEPS_ALONE = 3 };
// The cost of a draft model, less its gain, is at most this part of the tokens' own time; until its
// reading is measured, a token costs this part of a step.
static const double most_cost = 0.03, first_reading = 0.1;

// Measures whether drafting pays: `alone` is the time of a one-row step. The gain of a step with
// drafts is its tokens' time alone, less its own.
typedef struct burin_draft {
    burin_run *run;
    struct burin_guesser *guesser;  // NULL: looks up
    // the newest token and n drafts after it, of which `right` were accepted so far
    int32_t *row, n, used;
    bool asked, by_model;  // this step had a drafter that costs time; it was the model
    bool looks_up;         // false: only forced tokens of a grammar are guessed
    bool forced;           // the guesses of this step are such tokens
    int32_t forced_length, forced_guesses, forced_right;  // at most in a step; lately
    int32_t followed;            // tokens of this text that the model has read
    int32_t read;                // tokens that were chosen and read
    int32_t most, length;        // guesses of a step: at most, and now
    double alone, took, gained;  // nanoseconds; took: by the last step
    double credit, reading;      // allowed cost of the model; cost of a token that it reads
    int32_t steps_alone, steps_by_model, pause, next_pause;
    // of recurrences: their states when the slot had kept_length rows; NULL: the model has none
    unsigned char *kept;
    int32_t kept_length;
    int64_t steps, guesses, right, tokens;
} burin_draft;

// A program with a draft in it uses it, unless it is told otherwise.
static burin_guess_source asked_source(const burin_run *run) {
    const char *given = run->command->draft;
    bool has_model = run->model->draft && run->command->beams <= 1;
    if (!given) return has_model ? BURIN_BY_MODEL : BURIN_NO_GUESSES;
    if (!strcmp(given, "lookup")) return BURIN_BY_LOOKUP;
    if (!strcmp(given, "none")) return BURIN_NO_GUESSES;
    if (!strcmp(given, "model") && has_model) return BURIN_BY_MODEL;
    if (has_model)
        burin_stop(BURIN_BAD_COMMAND_LINE, "--draft %.60s: expected model, lookup or none", given);
    burin_stop(BURIN_BAD_COMMAND_LINE,
               "--draft %.60s: expected lookup\nhint: burin build MODEL --draft SMALL puts a model "
               "that guesses into the program",
               given);
}

burin_guess_source burin_draft_source(const burin_run *run) {
    burin_guess_source how = asked_source(run);
    if (how == BURIN_NO_GUESSES && run->command->draft_max)
        burin_note("--draft-max has no effect: it is for --draft");
    return how;
}

struct burin_draft *burin_draft_open(burin_run *run, bool has_grammar) {
    const burin_command *c = run->command;
    burin_guess_source how = burin_draft_source(run);
    bool jumps = has_grammar && !c->draft && c->beams <= 1;
    if (how == BURIN_NO_GUESSES && !jumps) return NULL;
    burin_draft *d = burin_allocate(1, sizeof *d);
    d->looks_up = how != BURIN_NO_GUESSES;
    if (how == BURIN_BY_MODEL) d->guesser = burin_guesser_open(run);
    d->run = run;
    run->guesser = d->guesser;
    int32_t usual = burin_guesser_is_head(d->guesser) ? BURIN_GUESSES_OF_HEAD : 16;
    d->most = d->looks_up && c->draft_max ? (int32_t)c->draft_max : usual;
    if (d->most > run->chunk - 1) d->most = run->chunk - 1;
    d->row = burin_allocate((size_t)run->chunk, sizeof *d->row);
    size_t bytes = burin_recurrence_bytes(run->model);
    if (bytes && d->most > 0) d->kept = burin_allocate(1, bytes);
    d->length = d->forced_length = FEWEST_GUESSES;
    d->next_pause = FIRST_PAUSE;
    return d;
}

void burin_draft_close(struct burin_draft *d) {
    if (d) {
        d->run->guesser = NULL;
        burin_guesser_close(d->guesser);
        free(d->row);
        free(d->kept);
    }
    free(d);
}

void burin_draft_start(struct burin_draft *d) {
    if (d) d->n = d->used = d->read = d->followed = 0, d->forced = false;
}

// ------------------------------------------------------------------------------------------ lookup
// Tokens before `i` that equal the last ones before `end`.
static int32_t matches(const int32_t *tokens, int32_t i, int32_t end) {
    int32_t n = 0;
    while (n < LONGEST_MATCH && n < i && tokens[i - 1 - n] == tokens[end - 1 - n]) n++;
    return n;
}

int32_t burin_draft_look_up(const burin_generation *g, int32_t *guess, int32_t most,
                            int32_t shortest) {
    const int32_t *tokens = g->tokens;
    int32_t n = g->n_tokens, best = shortest - 1, at = 0;
    for (int32_t i = n - 1; i >= shortest && best < LONGEST_MATCH; i--) {
        if (tokens[i - 1] != tokens[n - 1]) continue;
        int32_t match = matches(tokens, i, n);
        if (match > best) {
            best = match;
            at = i;
        }
    }
    if (!at) return 0;
    if (most > 2 * best) most = 2 * best;
    // a repetition continues
    for (int32_t i = 0; i < most; i++) {
        guess[i] = at + i < n ? tokens[at + i] : guess[at + i - n];
        if (guess[i] < 0) return i;  // a picture's row
    }
    return most;
}

// ------------------------------------------------------------------------------------ does it pay?
static void weigh_step(burin_draft *d) {
    double gain = (d->used + 1) * d->alone - d->took;
    if (d->forced) d->forced_length = d->used == d->n ? 2 * d->forced_length : d->used + 1;
    if (!d->took || d->forced) return;
    d->credit += most_cost * (d->used + 1) * d->alone + (d->by_model ? gain : 0);
    if (!d->asked) {
        d->alone = d->alone ? d->alone + (d->took - d->alone) / 8 : d->took;
        d->steps_alone++;
        if (d->pause) d->pause--;
        return;
    }
    bool cold = d->by_model && d->steps_by_model++ < COLD_STEPS;
    if (!cold) d->gained = 0.9 * d->gained + gain;
    if (d->by_model && d->n) burin_guesser_learn(d->guesser, d->used == d->n);
    d->length = d->used == d->n ? 2 * d->length : d->used + 1;
    if (d->length < FEWEST_GUESSES) d->length = FEWEST_GUESSES;
    if (d->length > d->most) d->length = d->most;
    if (d->gained > 2 * d->alone) d->next_pause = FIRST_PAUSE;
    if (d->gained > -d->alone) return;
    d->gained = 0;
    d->pause = d->next_pause;
    d->length = FEWEST_GUESSES;
    if (d->next_pause < LONGEST_PAUSE) d->next_pause *= 2;
}

// Rows of the slot that a step reads once more, before the newest token: those that recurrences
// have forgotten with a wrong guess.
static int32_t rows_to_repeat(const burin_generation *g) {
    const burin_draft *d = g->draft;
    int32_t right = g->n_tokens - 1;
    return d->kept && burin_slot_length(g->run->session, 0) > right ? right - d->kept_length : 0;
}

static int32_t most_guesses(const burin_generation *g) {
    int32_t repeated = rows_to_repeat(g);
    if (repeated > MOST_REPEATED) return 0;
    int64_t room = g->run->context - g->n_tokens, wanted = g->count - g->generated - 1;
    if (wanted < room) room = wanted;
    if (room > g->run->chunk - 1 - repeated) room = g->run->chunk - 1 - repeated;
    return g->draft->most < room ? g->draft->most : (int32_t)room;
}

static int32_t room_for_guesses(const burin_generation *g) {
    const burin_draft *d = g->draft;
    if (!d->looks_up || d->pause || d->steps_alone < STEPS_ALONE) return 0;
    int32_t room = most_guesses(g);
    return room < d->length ? room : d->length;
}

// Tokens that the grammar leaves no choice but to write, unless most of such guesses were wrong: a
// model may prefer shorter tokens. Old counts fade.
static int32_t forced_tokens(burin_generation *g) {
    enum { MANY = 64 };
    burin_draft *d = g->draft;
    int32_t most = most_guesses(g);
    if (d->forced_length > d->most) d->forced_length = d->most;
    if (d->forced_length < most) most = d->forced_length;
    if (d->forced_guesses >= MANY) {
        if (4 * d->forced_right < d->forced_guesses) return 0;
        d->forced_guesses /= 2, d->forced_right /= 2;
    }
    return g->constraint && most > 0 ? burin_constraint_forced(g->constraint, d->row + 1, most) : 0;
}

// -------------------------------------------------------------------------------------------- rows
// Tokens that drafting does not read by itself.
static int32_t missed_by_model(const burin_draft *d, const burin_generation *g) {
    int32_t missed = g->n_tokens - d->followed;
    if (burin_guesser_is_head(d->guesser)) missed = burin_min(missed, BURIN_KEPT_STATES);
    return missed > d->most + 1 ? missed : 0;
}

// A head's few rows are read once to learn what they cost.
static bool may_ask_model(const burin_draft *d, const burin_generation *g) {
    double token = d->reading ? d->reading : first_reading * d->alone;
    int32_t missed = missed_by_model(d, g);
    if (burin_guesser_is_head(d->guesser) && (!missed || !d->reading)) return true;
    return d->guesser && d->credit >= token * missed;
}

// A head is as sure as most repetitions.
static int32_t shortest_match(const burin_draft *d, bool model) {
    if (!model) return BURIN_SHORTEST_MATCH;
    return burin_guesser_is_head(d->guesser) ? BURIN_LONG_MATCH : BURIN_SURE_MATCH;
}

static void catch_up(burin_draft *d, const burin_generation *g) {
    int32_t missed = missed_by_model(d, g);
    uint64_t started = burin_nanoseconds();
    if (!missed) return;
    burin_guesser_follow(d->guesser, g);
    double took = (double)(burin_nanoseconds() - started);
    d->reading = took / missed;
    d->credit -= took;
}

// Reads the newest token and the guesses after it. A wrong guess of the last step leaves the slot
// first: caches of positions become shorter, recurrences get the states that were kept, and read
// the right tokens since then again.
static void read_row(burin_generation *g) {
    burin_draft *d = g->draft;
    burin_run *run = g->run;
    int32_t repeated = rows_to_repeat(g), right = g->n_tokens - 1, n = d->n + 1;
    if (repeated)
        burin_recurrences_put_back(run->session, 0, d->kept, d->kept_length);
    else
        burin_slot_truncate(run->session, 0, right);
    if (d->kept && d->n && !repeated) {
        d->kept_length = right;
        burin_recurrences_keep(run->session, 0, d->kept);
    }
    memmove(d->row + repeated, d->row, (size_t)n * sizeof *d->row);
    memcpy(d->row, g->tokens + right - repeated, (size_t)repeated * sizeof *d->row);
    burin_run_score(run, d->row, repeated + n, repeated, repeated + n);
    memmove(d->row, d->row + repeated, (size_t)n * sizeof *d->row);
}

static void read_ahead(burin_generation *g) {
    burin_draft *d = g->draft;
    int32_t room = room_for_guesses(g);
    uint64_t started = burin_nanoseconds();
    d->used = 0;
    d->row[0] = g->tokens[g->n_tokens - 1];
    int32_t forced = forced_tokens(g);
    bool model = !forced && room > 0 && may_ask_model(d, g);
    d->forced = forced > 0;
    d->forced_guesses += forced;
    d->n = forced     ? forced
           : room > 0 ? burin_draft_look_up(g, d->row + 1, room, shortest_match(d, model))
                      : 0;
    d->by_model = model && !d->n;
    if (d->by_model) {
        catch_up(d, g);
        started = burin_nanoseconds();  // that is no cost of this guess
        d->n = burin_guesser_guess(d->guesser, g, d->row + 1, room);
        d->followed = g->n_tokens;
    }
    d->asked = d->n || d->by_model;
    read_row(g);
    d->took = (double)(burin_nanoseconds() - started);
    d->steps++;
    d->guesses += d->n;
}

float *burin_draft_read(burin_generation *g) {
    burin_draft *d = g->draft;
    if (d->used < d->n && d->row[d->used + 1] == g->tokens[g->n_tokens - 1]) {
        d->used++;
        d->right++;
        d->forced_right += d->forced;
    } else {
        weigh_step(d);
        read_ahead(g);
    }
    d->read = g->n_tokens;
    d->tokens++;
    float *logits = g->run->logits + (size_t)d->used * (size_t)g->run->model->vocab_size;
    if (g->run->recording) burin_run_record_rows(g->run, logits, 1);
    return logits;
}

void burin_draft_finish(const burin_generation *g) {
    burin_session *s = g->run->session;
    const burin_draft *d = g->draft;
    if (!d || !d->read || burin_slot_length(s, 0) <= d->read) return;
    if (d->kept) {
        burin_recurrences_put_back(s, 0, d->kept, d->kept_length);
        burin_run_score(g->run, g->tokens + d->kept_length, d->read - d->kept_length, 0, 0);
    } else {
        burin_slot_truncate(s, 0, d->read);
    }
}

void burin_draft_statistics(const struct burin_draft *d) {
    if (!d || !d->steps) return;
    burin_note("drafts: %lld of %lld guesses were right, %.2f tokens a step", (long long)d->right,
               (long long)d->guesses, (double)d->tokens / (double)d->steps);
}
