// The settings of an answer, from the fields of a request's body: names and ranges of OpenAI's API,
// and llama-server's names for the rest. Absent fields take the values of the server's command
// line.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/server.h"

// ---- numbers ----
typedef struct setting {
    const char *name;
    size_t offset;  // of a double in burin_sampling
    double least, most;
} setting;

#define AT_SAMPLING(field) offsetof(burin_sampling, field)
static const setting settings[] = {
    {"temperature", AT_SAMPLING(temperature), 0, 100},
    {"top_p", AT_SAMPLING(top_p), 0, 1},
    {"min_p", AT_SAMPLING(min_p), 0, 1},
    {"typical_p", AT_SAMPLING(typical), 0, 1},
    {"repeat_penalty", AT_SAMPLING(repeat_penalty), 1e-3, 1e3},
    {"repetition_penalty", AT_SAMPLING(repeat_penalty), 1e-3, 1e3},
    {"presence_penalty", AT_SAMPLING(presence_penalty), -1e3, 1e3},
    {"frequency_penalty", AT_SAMPLING(frequency_penalty), -1e3, 1e3},
    {"dynatemp_range", AT_SAMPLING(dynatemp_range), 0, 100},
    {"dynatemp_exponent", AT_SAMPLING(dynatemp_exponent), 0, 1e3},
    {"xtc_probability", AT_SAMPLING(xtc_probability), 0, 1},
    {"xtc_threshold", AT_SAMPLING(xtc_threshold), 0, 1},
    {"dry_multiplier", AT_SAMPLING(dry_multiplier), 0, 1e3},
    {"dry_base", AT_SAMPLING(dry_base), 1, 1e3},
    {"mirostat_tau", AT_SAMPLING(mirostat_tau), 0, 1e3},
    {"mirostat_eta", AT_SAMPLING(mirostat_eta), 0, 1e3},
};

static const setting whole_settings[] = {
    {"top_k", AT_SAMPLING(top_k), 0, 1e9},
    {"mirostat", AT_SAMPLING(mirostat), 0, 2},
    {"repeat_last_n", AT_SAMPLING(repeat_last_n), -1, 1e9},
    {"dry_allowed_length", AT_SAMPLING(dry_allowed_length), 0, 1e9},
    {"dry_penalty_last_n", AT_SAMPLING(dry_penalty_last_n), -1, 1e9},
};

static void read_numbers(burin_request *q, burin_sampling *s) {
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        double *to = (double *)(void *)((char *)s + settings[i].offset);
        *to = burin_body_number(q, settings[i].name, *to, settings[i].least, settings[i].most);
    }
    for (size_t i = 0; i < sizeof whole_settings / sizeof *whole_settings; i++) {
        const setting *w = &whole_settings[i];
        int64_t *to = (int64_t *)(void *)((char *)s + w->offset);
        *to = burin_body_integer(q, w->name, *to, (int64_t)w->least, (int64_t)w->most);
    }
    if (s->mirostat == 1)
        burin_request_fail(q, 400, "mirostat", "\"mirostat\" is 1: expected 0 (off) or 2");
    if (s->temperature < 0) s->temperature = burin_run_temperature(q->server->base);
}

// A seed of -1 is a random one, as llama-server's.
static void read_seed(burin_request *q, burin_sampling *s) {
    const burin_value *given = burin_body_field(q, q->body, "seed");
    if (given && given->kind == BURIN_BIG) {
        errno = 0;
        s->seed = strtoull(given->text, NULL, 10), s->has_seed = true;
        if (errno || *given->text == '-' || s->seed == UINT64_MAX)
            burin_request_fail(q, 400, "seed", "\"seed\" must be from -2^63 to 2^64 - 2");
    } else if (given) {
        int64_t seed = burin_body_integer(q, "seed", 0, INT64_MIN, INT64_MAX);
        s->seed = (uint64_t)seed, s->has_seed = seed != -1;
    }
    if (!s->has_seed) s->seed = burin_random_seed_now(), s->has_seed = true;
}

// ---- texts that end an answer ----
static void add_stop(burin_request *q, burin_value text, size_t *at) {
    enum { LONGEST_STOP = 512 };
    burin_texts *stops = &q->command.stops;
    if (text.kind != BURIN_STRING)
        burin_request_fail(q, 400, "stop", "\"stop\" must be a string or a list of strings");
    if (text.length > LONGEST_STOP || memchr(text.text, 0, text.length))
        burin_request_fail(q, 400, "stop",
                           "a text of \"stop\" has more than %d bytes, or a zero byte",
                           LONGEST_STOP);
    if (!text.length) return;
    if (stops->n == BURIN_MOST_STOPS)
        burin_request_fail(q, 400, "stop", "\"stop\" has more than %d texts", BURIN_MOST_STOPS);
    memcpy(q->stop_texts + *at, text.text, text.length);
    stops->text[stops->n++] = q->stop_texts + *at;
    *at += text.length + 1;
}

static void read_stops(burin_request *q, const char *name) {
    const burin_value *v = burin_body_field(q, q->body, name);
    size_t bytes = 1, at = 0;
    if (!v) return;
    if (v->kind != BURIN_LIST) {
        bytes += v->kind == BURIN_STRING ? v->length : 0;
        q->stop_texts = burin_allocate(1, bytes);
        add_stop(q, *v, &at);
        return;
    }
    for (uint32_t i = 0; i < v->list->n; i++)
        bytes += v->list->items[i].kind == BURIN_STRING ? (size_t)v->list->items[i].length + 1 : 0;
    q->stop_texts = burin_allocate(1, bytes);
    for (uint32_t i = 0; i < v->list->n; i++) add_stop(q, v->list->items[i], &at);
}

// ---- {"15043": -100} ----
static void read_biases(burin_request *q, burin_sampling *s) {
    const burin_value *v = burin_body_dict(q, "logit_bias");
    if (!v) return;
    burin_bias *biases = burin_allocate(v->dict->n, sizeof *biases);
    s->bias = biases;  // the request's
    q->command.biases.n = 0;
    for (uint32_t i = 0; i < v->dict->n; i++) {
        burin_value key = v->dict->pairs[i].key, value = v->dict->pairs[i].value;
        char digits[16] = "", *end = digits;
        if (key.kind == BURIN_STRING && key.length < sizeof digits)
            memcpy(digits, key.text, key.length);
        long id = strtol(digits, &end, 10);
        if (end == digits || *end || id < 0 || id >= q->server->model->vocab_size)
            burin_request_fail(q, 400, "logit_bias",
                               "\"logit_bias\": a key must be a token's id, from 0 to %d",
                               q->server->model->vocab_size - 1);
        bool number = burin_is_number(value) && value.kind != BURIN_BOOL;
        if (!number || !(fabs(burin_number(value)) <= 1e6))
            burin_request_fail(q, 400, "logit_bias",
                               "\"logit_bias\": the value of %ld must be a number from -1e6 to 1e6",
                               id);
        double bias = burin_number(value);  // -100 bans, as OpenAI's
        biases[s->n_bias++] = (burin_bias){(int32_t)id, bias <= -100 ? -INFINITY : (float)bias};
    }
}

// Fields that would change the answer, and that this server does not have.
static void refuse_others(burin_request *q) {
    static const char *const fields[][2] = {
        {"functions", "give them as \"tools\""},
        {"function_call", "give it as \"tool_choice\""},
        {"audio", "this server answers in text"},
        {"best_of", "give \"n\""},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (burin_body_field(q, q->body, fields[i][0]))
            burin_request_fail(q, 400, fields[i][0], "\"%s\" is not taken: %s", fields[i][0],
                               fields[i][1]);
}

void burin_settings_read(burin_request *q, int64_t max_tokens) {
    const burin_server *server = q->server;
    burin_command *c = &q->command;
    *c = *server->command;
    c->draft = "none", c->draft_max = 0, c->stops.n = 0, c->logits_file = NULL,
    c->logits_hash = false, c->json = false, c->verbose = false;
    read_numbers(q, &c->sampling);
    read_seed(q, &c->sampling);
    read_stops(q, "stop");
    read_biases(q, &c->sampling);
    c->ignore_eos = burin_body_bool(q, "ignore_eos", c->ignore_eos);
    c->count = max_tokens < server->limits.max_tokens ? max_tokens : server->limits.max_tokens;
    q->n_answers = (int)burin_body_integer(q, "n", 1, 1, BURIN_MOST_CHOICES);
    q->logprobs = -1;
    q->stream = burin_body_bool(q, "stream", false);
    q->thinking_budget = burin_body_integer(q, "thinking_budget_tokens", -1, -1, INT32_MAX);
    if (q->thinking_budget >= 0) {
        const burin_encoding end = {.text = "</think>", .bytes = 8, .whole = true};
        q->end_of_thought = burin_encode_text(server->tokenizer, &end);
    }
    const burin_value *options = burin_body_dict(q, "stream_options"),
                      *usage = options ? burin_body_field(q, *options, "include_usage") : NULL;
    if (usage && usage->kind != BURIN_BOOL)
        burin_request_fail(q, 400, "stream_options.include_usage",
                           "\"stream_options.include_usage\" must be a boolean");
    q->include_usage = q->receipt || (usage && usage->integer);
    refuse_others(q);
}
