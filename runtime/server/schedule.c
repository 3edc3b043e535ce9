// The scheduler: one forward call has a row of every running answer, and rows of waiting prompts in
// the order of arrival. The number of prompt rows keeps a step within twice the time of one without
// them. Requests wait in one queue; the first one gets the next free slot.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/server.h"
#include "text/prompt_cache.h"

// ---- slots ----
static int32_t common_tokens(const burin_slot *slot, const burin_request *q) {
    int32_t n = 0;
    while (n < slot->n && n < q->n_prompt - 1 && slot->tokens[n] == q->prompt[n]) n++;
    return n;
}

// How much of the prompt the slot can keep.
static int32_t reusable_tokens(const burin_server *s, int32_t slot, const burin_request *q) {
    return burin_slot_holds(s->base->session, slot, common_tokens(&s->slots[slot], q));
}

enum {
    WORTH_KEEPING = 16,
    WORTH_SPARING = 64
};  // tokens: of a prompt, to be found; of a slot, not to be lost

// The free slot that was not used for longest, among those that hold most of the prompt if there
// are any, and unless that slot would lose much else: its state is copied then. -1: all are at
// work.
static int32_t choose_slot(const burin_server *s, const burin_request *q, int32_t *cached) {
    int32_t best = -1, oldest = -1, most = 0;
    for (int32_t i = 0; i < s->limits.slots; i++) {
        if (s->slots[i].answer) continue;
        int32_t n = reusable_tokens(s, i, q);
        if (n < WORTH_KEEPING) n = 0;
        if (oldest < 0 || s->slots[i].used < s->slots[oldest].used) oldest = i;
        if (best < 0 || n > most || (n == most && s->slots[i].used < s->slots[best].used))
            best = i, most = n;
    }
    if (best >= 0 && s->slots[best].n > most + WORTH_SPARING) best = oldest;
    if (best >= 0) *cached = reusable_tokens(s, best, q);
    return best;
}

// Copies the state of a slot that holds more of the prompt than this one, also of one that is at
// work.
static int32_t copy_longer_prefix(burin_server *s, int32_t to, const burin_request *q,
                                  int32_t cached) {
    for (int32_t i = 0; i < s->limits.slots; i++) {
        int32_t n = i == to ? 0 : reusable_tokens(s, i, q);
        if (n < cached + WORTH_KEEPING) continue;
        burin_slot_copy(s->base->session, to, i);
        cached = n;
    }
    return cached;
}

static void take_slot(burin_server *s, burin_answer *a, int32_t slot, int32_t cached) {
    burin_slot *own = &s->slots[slot];
    const burin_request *q = a->request;
    burin_store_keep(s, slot, cached);
    cached = copy_longer_prefix(s, slot, q, cached);
    cached = burin_store_load(s, slot, q, cached);
    cached = burin_prompt_cache_use(s->base, slot, q->prompt, q->n_prompt, cached);
    while (cached && burin_pictures_divide(q, cached)) cached--;
    burin_slot_truncate(s->base->session, slot, cached);
    memcpy(own->tokens, q->prompt, (size_t)cached * sizeof *own->tokens);
    own->n = cached, own->saved = 0, own->answer = a, own->used = ++s->count;
    burin_answer_open(a, slot, cached);
    s->counters.cached_tokens += (uint64_t)cached;
}

static void admit(burin_server *s) {
    while (s->queue) {
        burin_answer *a = s->queue;
        int32_t cached = 0, slot = choose_slot(s, a->request, &cached);
        if (slot < 0) return;
        s->queue = a->next;
        if (!s->queue) s->queue_end = &s->queue;
        s->n_queued--;
        a->next = NULL;
        burin_answer **end = &s->working;
        while (*end) end = &(*end)->next;
        *end = a;
        s->n_working++;
        take_slot(s, a, slot, cached);
    }
}

static void leave_list(burin_answer **list, burin_answer *a) {
    while (*list && *list != a) list = &(*list)->next;
    if (*list) *list = a->next;
    a->next = NULL;
}

void burin_answer_drop(burin_answer *a) {
    burin_server *s = a->request->server;
    if (a->state == ANSWER_QUEUED) {
        leave_list(&s->queue, a);
        s->queue_end = &s->queue;
        while (*s->queue_end) s->queue_end = &(*s->queue_end)->next;
        s->n_queued--;
    } else if (a->state != ANSWER_ENDED) {
        leave_list(&s->working, a);
        s->n_working--;
        s->slots[a->run.slot].answer = NULL;
    }
    a->state = ANSWER_ENDED;
}

// ---- one step ----
typedef struct step_plan {
    int rows, wanted, decodes, guesses;  // decodes: answers that are being written
} step_plan;

static void add_row(burin_server *s, step_plan *p, burin_answer *a, int32_t token,
                    bool wants_logits) {
    burin_slot *slot = &s->slots[a->run.slot];
    if (s->vectors) s->vectors[p->rows] = token < 0 ? burin_pictures_next(a) : (burin_embedding){0};
    s->rows[p->rows++] = (burin_row){.token = token < 0 ? s->model->eyes->token : token,
                                     .slot = a->run.slot,
                                     .position = slot->n,
                                     .wants_logits = wants_logits};
    slot->tokens[slot->n++] = token;
    if (wants_logits) s->wanted[p->wanted++] = a;
}

// Rows of prompts beside answers that are being written.
static int32_t rows_for_prompts(const burin_server *s, const step_plan *p) {
    enum { FEWEST_ROWS = 8 };
    int32_t most = s->base->chunk > p->rows ? s->base->chunk - p->rows : 1;
    if (!p->decodes || s->row_seconds <= 0 || s->decode_seconds <= 0) return most;
    double rows = s->decode_seconds / s->row_seconds;
    return rows < FEWEST_ROWS ? burin_min(FEWEST_ROWS, most) : rows < most ? (int32_t)rows : most;
}

static void read_rows(burin_server *s, step_plan *p, burin_answer *a, int32_t most, int32_t *room) {
    const burin_slot *slot = &s->slots[a->run.slot];
    const burin_request *q = a->request;
    int32_t from = slot->n;
    if (s->vectors && p->rows && s->vectors[p->rows - 1].vector && q->prompt[from] < 0) return;
    for (; slot->n < a->n_prompt; most--, --*room) {
        int32_t at = slot->n;
        bool whole = at == from || !burin_pictures_divide(q, at);
        bool ends = most <= 0 || *room <= 0 || (at == q->n_system && at > from);
        if (whole && ends) return;
        add_row(s, p, a, q->prompt[at], at == a->n_prompt - 1);
    }
}

// Each prompt gets an equal share of the rows, and what those before it have not used: a long one
// does not hold up a short one.
static void plan_prompts(burin_server *s, step_plan *p) {
    int32_t room = rows_for_prompts(s, p), readers = 0;
    for (const burin_answer *a = s->working; a; a = a->next) readers += a->state == ANSWER_READING;
    for (burin_answer *a = s->working; a && room > 0; a = a->next) {
        if (a->state != ANSWER_READING) continue;
        read_rows(s, p, a, burin_max(1, room / readers), &room);
        readers--;
    }
}

// Guesses go into rows that are left, in equal shares.
static void plan_guesses(burin_server *s, step_plan *p, burin_answer *a, int writing) {
    int32_t room = s->base->chunk - p->rows - writing, left = BURIN_MOST_GUESS_ROWS - p->guesses;
    burin_drafts_guess(a, burin_min(burin_min(room, left), BURIN_MOST_GUESS_ROWS / writing),
                       writing);
    for (int32_t i = 0; i < a->drafts.n; i++) add_row(s, p, a, a->drafts.guess[i], true);
    p->guesses += a->drafts.n;
}

static void plan_step(burin_server *s, step_plan *p) {
    int writing = 0;
    for (const burin_answer *a = s->working; a; a = a->next) writing += a->state == ANSWER_WRITING;
    for (burin_answer *a = s->working; a; a = a->next) {
        if (a->state != ANSWER_WRITING) continue;
        add_row(s, p, a, a->g.tokens[a->g.n_tokens - 1], true);
        p->decodes++;
        plan_guesses(s, p, a, writing);
    }
    plan_prompts(s, p);
}

// Means that follow the machine's current speed. What guesses cost fades while there are none, so
// that a disturbed measurement is made again.
static void note_time(burin_server *s, const step_plan *p, double seconds) {
    static const double weight = 0.2, fading = 0.99;
    int reading = p->rows - p->decodes - p->guesses;
    s->counters.steps++, s->counters.rows += (uint64_t)p->rows;
    s->counters.prompt_tokens += (uint64_t)reading, s->counters.guesses += (uint64_t)p->guesses;
    double *mean = reading      ? &s->row_seconds
                   : p->guesses ? &s->guess_seconds
                                : &s->decode_seconds,
           now = seconds;
    if (reading)
        now = (p->decodes ? seconds - s->decode_seconds - p->guesses * s->guess_seconds : seconds) /
              reading;
    else if (p->guesses)
        now = fmin(seconds - s->decode_seconds, s->decode_seconds) / p->guesses;
    if (!p->guesses) s->guess_seconds *= fading, s->model_seconds *= fading;
    if (now > 0) *mean = *mean > 0 ? *mean + weight * (now - *mean) : now;
    if (reading)
        s->counters.prompt_seconds += seconds;
    else
        s->counters.completion_seconds += seconds;
}

static void answer_ended(burin_answer *a, const char *finish) {
    burin_request *q = a->request;
    a->finish = finish;
    burin_generation_finish(&a->g);
    burin_answer_drop(a);
    q->server->counters.answers++;
    if (q->stream && q->http) q->api->ended(a);
    if (++q->n_ended == q->n_answers) q->done = true;
}

static void take_token(burin_server *s, burin_answer *a, float *logits) {
    burin_generation *g = &a->g;
    burin_request *q = a->request;
    if (!q->first) q->first = burin_nanoseconds();
    a->state = ANSWER_WRITING;
    if (!g->count) {
        answer_ended(a, "length");
        return;
    }
    burin_capture *before = burin_capture_into(&a->logprobs);
    burin_answer_end_thought(a, logits);
    bool goes_on = burin_generation_next(g, logits);
    burin_capture_into(before);
    burin_answer_follow_form(a);
    burin_answer_note_thought(a);
    s->counters.completion_tokens += goes_on;
    if (g->failure)
        burin_request_abort(q, 500, g->failure);
    else if (!goes_on || g->stopped || (q->has_tools && q->one_call && burin_answer_has_call(a)))
        answer_ended(a, "stop");
    else if (g->generated == g->count || g->n_tokens > a->run.context)
        answer_ended(a, "length");
    else if (q->stream && q->http)
        q->api->text(a);
}

// Tokens are chosen from the rows of an answer one after the other, until one differs from the
// guess that the next row is of; the slot forgets the rows after it.
static int take_tokens(burin_server *s, int first) {
    burin_answer *a = s->wanted[first];
    burin_slot *slot = &s->slots[a->run.slot];
    int32_t n = a->drafts.n, right = 0, base = slot->n - n;
    for (bool goes_on = a->state != ANSWER_ENDED; goes_on;) {
        take_token(s, a, s->logits + (size_t)(first + right) * (size_t)s->model->vocab_size);
        goes_on = a->state == ANSWER_WRITING && right < n &&
                  a->g.tokens[a->g.n_tokens - 1] == a->drafts.guess[right];
        right += goes_on;
    }
    if (n) {
        burin_drafts_learn(a, right);
        s->counters.right_guesses += (uint64_t)right;
        slot->n = base + right;
        burin_slot_truncate(s->base->session, a->run.slot, slot->n);
        a->drafts.n = 0;
    }
    return first + 1 + n;
}

bool burin_server_step(burin_server *s) {
    step_plan p = {0};
    admit(s);
    plan_step(s, &p);
    if (!p.rows) return false;
    uint64_t before = burin_nanoseconds();
    burin_status status =
        burin_forward_embedded(s->base->session, s->rows, s->vectors, p.rows, s->logits);
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
    for (burin_answer *a = s->working; a; a = a->next)
        burin_guesser_see(a->drafts.guesser, s->base->session, s->rows, p.rows, a->run.slot);
    note_time(s, &p, (double)(burin_nanoseconds() - before) / 1e9);
    for (int i = 0; i < p.wanted;) i = take_tokens(s, i);
    for (const burin_answer *a = s->store ? s->working : NULL; a; a = a->next)
        if (a->state == ANSWER_READING && s->slots[a->run.slot].n == a->request->n_system)
            burin_store_keep_system(s, a->run.slot);
    return true;
}

// Requests that are computed part by part take turns: a long one does not delay the others.
bool burin_job_step(burin_server *s) {
    burin_request *next = NULL;
    for (burin_request *q = s->requests; q; q = q->next)
        if (q->work && q->http && !q->done && (!next || q->turn < next->turn)) next = q;
    if (!next) return false;
    next->turn = ++s->count;
    s->counters.steps++;
    burin_request_try(next, next->work);
    return true;
}
