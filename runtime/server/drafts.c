// Drafts of running answers: how many guesses are worth their rows, by the time that they take and
// by how many were right. Guesses change how many steps an answer takes, and nothing of its bytes.
#include "server/server.h"
#include "text/draft_model.h"

// A text is first taken for one whose guesses are mostly right; one whose guesses were wrong is
// tried again later.
static const double first_right = 0.7, learning = 0.15, recovery = 0.005;
static const double most_cost =
    0.03;  // of a model that reads a text, as a part of its tokens' time

void burin_drafts_open(burin_answer *a) {
    const burin_server *s = a->request->server;
    a->drafts = (burin_drafts){.right = first_right};
    if (s->drafts == BURIN_BY_MODEL) a->drafts.guesser = burin_guesser_open(&a->run);
}

void burin_drafts_close(burin_answer *a) {
    burin_guesser_close(a->drafts.guesser);
    a->drafts.guesser = NULL;
}

// The k-th guess is right with probability right^k, and saves a token's time then.
static int32_t worth(const burin_drafts *d, double token, double row, int32_t most) {
    int32_t n = 0;
    for (double p = d->right; n < most && p * token > row; p *= d->right) n++;
    return n;
}

static void ask_model(burin_answer *a, double token, double row, int32_t most) {
    burin_server *s = a->request->server;
    burin_drafts *d = &a->drafts;
    double cost = s->model_seconds > 0 ? s->model_seconds : token / 8,
           read = s->catch_up_seconds > 0 ? s->catch_up_seconds : token / 10;
    int32_t n = worth(d, token, row + cost, most), missed = burin_guesser_missed(d->guesser, &a->g);
    d->credit += most_cost * token;
    bool learns = burin_guesser_is_head(d->guesser) && s->catch_up_seconds <= 0;
    if (!n || (missed > BURIN_MOST_GUESSES + 1 && d->credit < read * missed && !learns)) return;
    uint64_t started = burin_nanoseconds();
    burin_guesser_follow(d->guesser, &a->g);
    uint64_t followed = burin_nanoseconds();
    if (missed > 0) s->catch_up_seconds = (double)(followed - started) / 1e9 / missed;
    if (missed > BURIN_MOST_GUESSES + 1) d->credit -= (double)(followed - started) / 1e9;
    d->n = burin_guesser_guess(d->guesser, &a->g, d->guess, n);
    double each = (double)(burin_nanoseconds() - followed) / 1e9 / (d->n + 1);
    s->model_seconds += (s->model_seconds > 0 ? 0.2 : 1) * (each - s->model_seconds);
    d->by_model = true;
}

void burin_drafts_guess(burin_answer *a, int32_t most, int writing) {
    const burin_server *s = a->request->server;
    burin_drafts *d = &a->drafts;
    double token = s->decode_seconds / writing,
           row = s->guess_seconds > 0 ? s->guess_seconds : token / 4;
    int64_t left = a->g.count - a->g.generated - 1, room = a->run.context - a->g.n_tokens;
    d->n = 0, d->by_model = false;
    if (s->drafts == BURIN_NO_GUESSES || token <= 0) return;
    if (most > left) most = (int32_t)left;
    if (most > room) most = (int32_t)room;
    if (s->command->draft_max && most > s->command->draft_max)
        most = (int32_t)s->command->draft_max;
    if (most > BURIN_MOST_GUESSES) most = BURIN_MOST_GUESSES;
    int32_t n = worth(d, token, row, most);
    if (n > 0)
        d->n = burin_draft_look_up(&a->g, d->guess, n,
                                   burin_guesser_is_head(d->guesser) ? BURIN_LONG_MATCH
                                   : d->guesser                      ? BURIN_SURE_MATCH
                                                                     : BURIN_SHORTEST_MATCH);
    if (!d->n && d->guesser && most > 0) ask_model(a, token, row, most);
    if (!d->n) d->right += recovery * (first_right - d->right);
}

void burin_drafts_learn(burin_answer *a, int32_t right) {
    burin_drafts *d = &a->drafts;
    for (int32_t i = 0; i < right; i++) d->right += learning * (1 - d->right);
    if (right < d->n) d->right -= learning * d->right;
    if (d->by_model) burin_guesser_learn(d->guesser, right == d->n);
}
