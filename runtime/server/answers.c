// Answers: queued for each choice of a request, opened when they get a slot.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chat/tool_calls.h"
#include "server/server.h"

void burin_answers_open(burin_request *q) {
    burin_server *s = q->server;
    if (s->draining) burin_request_fail(q, 503, NULL, "the server is about to stop");
    if (s->n_queued && s->n_queued + q->n_answers > s->limits.queue)
        burin_request_fail(q, 503, NULL, "%d answers wait already: try again later", s->n_queued);
    q->answers = burin_allocate((size_t)q->n_answers, sizeof *q->answers);
    for (int i = 0; i < q->n_answers; i++) {
        burin_answer *a = &q->answers[i];
        a->request = q, a->index = i, a->n_prompt = q->n_prompt;
        *s->queue_end = a;
        s->queue_end = &a->next;
        s->n_queued++;
    }
}

// Its memory, and the sampler with random numbers of its own. The slot holds the first `cached`
// tokens of the prompt.
void burin_answer_open(burin_answer *a, int32_t slot, int32_t cached) {
    burin_request *q = a->request;
    burin_generation *g = &a->g;
    a->run = *q->server->base;
    a->run.command = &q->command, a->run.slot = slot;
    *g = (burin_generation){.run = &a->run, .quiet = true, .count = q->command.count};
    burin_generation_open(g);
    if (!q->thinking) g->constraint = burin_form_open(q);
    g->calls = q->has_tools, g->marks = q->has_tools ? q->tools.marks : NULL;
    if (q->logprobs >= 0) burin_logprobs_open(g, q->logprobs);
    burin_run_restart_sampler(&a->run, &g->sampler, q->command.sampling.seed + (uint64_t)a->index);
    g->answer = burin_allocate(1, g->answer_room = 256);
    if (q->echo) burin_generation_put(g, q->echo, q->echo_bytes);
    memcpy(g->tokens, q->prompt, (size_t)q->n_prompt * sizeof *g->tokens);
    g->n_tokens = q->n_prompt;
    if (q->chat) burin_generation_find_end(g);
    burin_generation_start(g);
    burin_drafts_open(a);
    burin_pictures_pass(a, cached);
    a->cached = cached, a->state = ANSWER_READING;
}

// Reasoning is unconstrained: the form applies from its end on.
void burin_answer_follow_form(burin_answer *a) {
    burin_generation *g = &a->g;
    if (g->constraint || !a->request->grammar || !memmem(g->answer, g->answer_bytes, "</think>", 8))
        return;
    g->constraint = burin_form_open(a->request);
    burin_constraint_start(g->constraint, false);
}

static bool has_text(const burin_answer *a, const char *text) {
    return memmem(a->g.answer, a->g.answer_bytes, text, strlen(text)) != NULL;
}

// Reasoning begins in the prompt or with the answer.
static bool thinks(const burin_answer *a) {
    return a->request->thinking || (a->g.answer_bytes >= 7 && !memcmp(a->g.answer, "<think>", 7));
}

void burin_answer_note_thought(burin_answer *a) {
    bool channels = a->request->has_tools && a->request->tools.form == BURIN_TOOLS_CHANNELS;
    bool inside = channels ? !has_text(a, "<|channel|>final") && has_text(a, "<|channel|>analysis")
                           : thinks(a) && !has_text(a, "</think>");
    if (inside) a->thought = (int32_t)a->g.generated;
}

long long burin_request_thought(const burin_request *q) {
    long long n = 0;
    for (int i = 0; i < q->n_answers; i++) n += q->answers[i].thought;
    return n;
}

// The tokens of </think> are all that may follow, one after the other.
void burin_answer_end_thought(burin_answer *a, float *logits) {
    const burin_request *q = a->request;
    const burin_generation *g = &a->g;
    if (q->thinking_budget < 0 || !thinks(a) || a->forced == q->end_of_thought.n ||
        (!a->forced && (g->generated < q->thinking_budget || has_text(a, "</think>"))))
        return;
    int32_t token = q->end_of_thought.id[a->forced++];
    for (int32_t i = 0; i < q->server->model->vocab_size; i++)
        logits[i] = i == token ? 0 : -INFINITY;
}

void burin_answer_close(burin_answer *a) {
    free(a->logprobs.data), free(a->streamed.item.data), free(a->streamed.name.data);
    a->streamed = (burin_streamed){0};
    a->logprobs = (burin_capture){0};
    if (!a->g.run) return;
    burin_drafts_close(a);
    burin_logprobs_close(&a->g);
    burin_generation_close(&a->g);
    free(a->g.answer);
    a->g = (burin_generation){0};
}

static void ignore_call(void *context, int number, burin_call_part name, burin_call_part arguments,
                        bool whole) {
    (void)context, (void)number, (void)name, (void)arguments, (void)whole;
}

bool burin_answer_has_call(const burin_answer *a) {
    burin_capture content = {0};
    int n = burin_read_tool_calls(&a->request->tools, a->g.answer, a->g.answer_bytes, &content,
                                  &(burin_call_reader){.call = ignore_call});
    free(content.data);
    return n > 0;
}
