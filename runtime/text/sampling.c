// The settings of sampling on the command line, made ready for a model.
#include "text/sampling.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "program/output.h"
#include "text/prompt.h"
#include "text/run.h"

uint64_t burin_random_seed_now(void) {
    uint64_t seed = burin_nanoseconds() ^ (uint64_t)time(NULL) << 32 ^ (uint64_t)getpid() << 16;
    return seed * 0x9e3779b97f4a7c15u >> 11;
}

static _Noreturn void bad_bias(const char *text) {
    burin_stop(BURIN_BAD_COMMAND_LINE,
               "--logit-bias %.60s: expected ids with what is added to their logits\nhint: %s",
               text, "--logit-bias 15043+1.5,29-inf");
}

// One of "15043+1,29-inf"; returns the rest.
static const char *parse_bias(const char *text, const burin_model *m, burin_bias *bias) {
    char *sign, *end;
    long id = strtol(text, &sign, 10);
    if (sign == text || (*sign != '+' && *sign != '-')) bad_bias(text);
    double value = strtod(sign, &end);
    if (end == sign || (*end && *end != ',') || value != value) bad_bias(text);
    if (id < 0 || id >= m->vocab_size)
        burin_stop(BURIN_USER_MISTAKE, "--logit-bias: token %ld is outside the vocabulary, 0 to %d",
                   id, m->vocab_size - 1);
    *bias = (burin_bias){(int32_t)id, (float)value};
    return *end ? end + 1 : end;
}

// The sampler's own list: that of the settings (a server's request), then --logit-bias.
static void parse_biases(const burin_run *run, burin_sampling *s) {
    const burin_texts *list = &run->command->biases;
    size_t most = 0;
    for (int i = 0; i < list->n; i++) {
        most++;
        for (const char *c = list->text[i]; *c; c++) most += *c == ',';
    }
    if (!most && !s->n_bias) return;
    burin_bias *biases = burin_allocate(most + (size_t)s->n_bias, sizeof *biases);
    if (s->n_bias) memcpy(biases, s->bias, (size_t)s->n_bias * sizeof *biases);
    for (int i = 0; i < list->n; i++)
        for (const char *c = list->text[i]; *c;)
            c = parse_bias(c, run->model, &biases[s->n_bias++]);
    s->bias = biases;
}

static void set_breakers(const burin_texts *given, burin_sampling *s) {
    s->dry_breakers = burin_dry_breakers;
    s->n_dry_breakers = BURIN_DRY_BREAKERS;
    if (!given->n) return;
    s->dry_breakers = given->text;
    s->n_dry_breakers = given->n;
    if (given->n == 1 && !strcmp(given->text[0], "none")) s->n_dry_breakers = 0;
    for (int i = 0; i < given->n; i++)
        if (strlen(given->text[i]) > BURIN_BREAKER_BYTES)
            burin_stop(BURIN_BAD_COMMAND_LINE, "--dry-sequence-breaker %.30s...: at most %d bytes",
                       given->text[i], BURIN_BREAKER_BYTES);
}

static burin_sampling sampling_of(const burin_run *run) {
    burin_sampling s = run->command->sampling;
    s.temperature = burin_run_temperature(run);
    if (!s.has_seed) s.seed = burin_random_seed_now();
    set_breakers(&run->command->dry_breakers, &s);
    parse_biases(run, &s);
    return s;
}

void burin_run_open_sampler(const burin_run *run, burin_sampler *sampler) {
    const burin_model *model = run->model;
    const void *tokenizer = model->tokenizer_bytes ? burin_tokenizer_of(model) : NULL;
    const burin_sampling settings = sampling_of(run);
    void *memory = burin_allocate(1, burin_sampler_bytes(model->vocab_size, tokenizer));
    burin_sampler_init(sampler, &settings, model->vocab_size, tokenizer, memory);
    if (run->session->variant->exp) sampler->exp = run->session->variant->exp;
}

void burin_run_restart_sampler(const burin_run *run, burin_sampler *sampler, uint64_t seed) {
    burin_sampling settings = sampler->settings;
    settings.seed = seed;
    burin_sampler_init(sampler, &settings, run->model->vocab_size, sampler->tokenizer,
                       sampler->candidates);
    if (run->session->variant->exp) sampler->exp = run->session->variant->exp;
}

void burin_run_close_sampler(burin_sampler *sampler) {
    free((void *)sampler->settings.bias);
    free(sampler->candidates);
}
