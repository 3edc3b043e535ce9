// The state of a server: /metrics for Prometheus, /props, /slots.
#include <string.h>

#include "program/output.h"
#include "server/server.h"

static void need_option(burin_request *q, bool given, const char *option) {
    if (!given) burin_request_fail(q, 501, NULL, "this server was started without %s", option);
}

static void print_metric(const char *name, const char *type, const char *help, double value) {
    burin_print("# HELP burin_%-s %-s\n# TYPE burin_%-s %-s\nburin_%-s %.17g\n", name, help, name,
                type, name, value);
}

void burin_handle_metrics(burin_request *q) {
    const burin_server *s = q->server;
    const burin_counters *c = &s->counters;
    burin_capture body = {0};
    need_option(q, s->command->server.metrics, "--metrics");
    burin_capture *before = burin_capture_into(&body);
    print_metric("requests_total", "counter", "Requests.", (double)c->requests);
    print_metric("requests_failed_total", "counter", "Requests that got an error.",
                 (double)c->failed);
    print_metric("requests_cancelled_total", "counter", "Requests whose client left.",
                 (double)c->cancelled);
    print_metric("answers_total", "counter", "Answers that ended.", (double)c->answers);
    print_metric("prompt_tokens_total", "counter", "Tokens of prompts that were read.",
                 (double)c->prompt_tokens);
    print_metric("cached_tokens_total", "counter", "Tokens of prompts that a slot held.",
                 (double)c->cached_tokens);
    print_metric("completion_tokens_total", "counter", "Tokens that were written.",
                 (double)c->completion_tokens);
    print_metric("prompt_seconds_total", "counter", "Time of steps with rows of prompts.",
                 c->prompt_seconds);
    print_metric("completion_seconds_total", "counter", "Time of other steps.",
                 c->completion_seconds);
    print_metric("steps_total", "counter", "Forward calls.", (double)c->steps);
    print_metric("guesses_total", "counter", "Drafted tokens.", (double)c->guesses);
    print_metric("right_guesses_total", "counter", "Drafted tokens that were right.",
                 (double)c->right_guesses);
    print_metric("rows_total", "counter", "Rows of forward calls.", (double)c->rows);
    if (!s->jobs) print_metric("slots", "gauge", "Answers at once, at most.", s->limits.slots);
    print_metric("slots_busy", "gauge", "Answers that are being written.", s->n_working);
    print_metric("queued", "gauge", "Answers that wait for a slot.", s->n_queued);
    print_metric("uptime_seconds", "gauge", "Time since the start.",
                 (double)(burin_nanoseconds() - s->started) / 1e9);
    burin_capture_into(before);
    burin_reply(q, 200, &body, "text/plain; version=0.0.4");
}

void burin_handle_props(burin_request *q) {
    const burin_server *s = q->server;
    const burin_model *m = s->model;
    burin_capture body = {0}, *before = burin_capture_into(&body);
    burin_print("{\"model_alias\": ");
    burin_print_json_string(s->name, strlen(s->name));
    burin_print(
        ", \"identity\": \"%-s\", \"cpu\": \"%-s\", \"threads\": %d, \"total_slots\": %d, "
        "\"default_generation_settings\": {\"n_ctx\": %d, \"temperature\": %.9g, \"top_k\": %lld, "
        "\"top_p\": %.9g, "
        "\"min_p\": %.9g}, \"n_vocab\": %d, \"chat_template\": %-s, \"modalities\": {\"vision\": "
        "%-s, \"audio\": false}}",
        m->identity, s->base->session->variant->cpu, s->base->session->step.threads,
        s->limits.slots, s->base->context, burin_run_temperature(s->base),
        (long long)s->command->sampling.top_k, s->command->sampling.top_p,
        s->command->sampling.min_p, m->vocab_size, m->template_bytes ? "true" : "false",
        m->eyes ? "true" : "false");
    burin_capture_into(before);
    burin_reply(q, 200, &body, NULL);
}

void burin_handle_slots(burin_request *q) {
    const burin_server *s = q->server;
    burin_capture body = {0};
    need_option(q, s->command->server.show_slots, "--slots");
    burin_capture *before = burin_capture_into(&body);
    burin_print("[");
    for (int32_t i = 0; i < s->limits.slots; i++) {
        const burin_answer *a = s->slots[i].answer;
        burin_print(
            "%s{\"id\": %d, \"n_ctx\": %d, \"n_tokens\": %d, \"is_processing\": %-s, \"n_prompt\": "
            "%d, "
            "\"n_decoded\": %lld}",
            i ? ", " : "", i, s->base->context, s->slots[i].n, a ? "true" : "false",
            a ? a->n_prompt : 0, a ? (long long)a->g.generated : 0);
    }
    burin_print("]");
    burin_capture_into(before);
    burin_reply(q, 200, &body, NULL);
}
