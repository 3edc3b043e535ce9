// The sampler against an oracle's figures (tests/e2e/samplers.py). usage: sample TOKENIZER < CASES
// A line for each case whose logits or probabilities differ; status 1 when there is one.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/tokenizer.h"
#include "runtime/sampler/sampler.h"

enum { MOST = 512 };

typedef struct Sample {
    burin_sampling settings;
    burin_bias bias[MOST];
    const char *breakers[MOST];
    int32_t tokens[MOST], n_tokens, n;
    float logits[MOST];
    double adjusted[MOST], probability[MOST], mu[MOST];
} Sample;

#define FIELD(name) {#name, offsetof(burin_sampling, name), false}
#define COUNT(name) {#name, offsetof(burin_sampling, name), true}
static const struct {
    const char *name;
    size_t place;
    bool whole;
} fields[] = {FIELD(temperature),
              FIELD(top_p),
              FIELD(min_p),
              FIELD(typical),
              FIELD(repeat_penalty),
              FIELD(presence_penalty),
              FIELD(frequency_penalty),
              FIELD(dynatemp_range),
              FIELD(dynatemp_exponent),
              FIELD(xtc_probability),
              FIELD(xtc_threshold),
              FIELD(dry_multiplier),
              FIELD(dry_base),
              FIELD(mirostat_tau),
              FIELD(mirostat_eta),
              COUNT(top_k),
              COUNT(mirostat),
              COUNT(repeat_last_n),
              COUNT(dry_allowed_length),
              COUNT(dry_penalty_last_n)};
enum { N_FIELDS = sizeof fields / sizeof *fields };

static void read_setting(Sample *s, char *text) {
    char *value = strchr(text, '=');
    *value++ = 0;
    if (!strcmp(text, "bias")) {
        burin_bias *b = &s->bias[s->settings.n_bias++];
        if (sscanf(value, "%d:%f", &b->token, &b->bias) != 2) exit(2);
        return;
    }
    if (!strcmp(text, "breaker")) {
        s->breakers[s->settings.n_dry_breakers++] = value;
        return;
    }
    for (int i = 0; i < N_FIELDS; i++) {
        if (strcmp(text, fields[i].name)) continue;
        char *field = (char *)&s->settings + fields[i].place;
        if (fields[i].whole)
            *(int64_t *)field = atoll(value);
        else
            *(double *)field = atof(value);
        return;
    }
    exit(2);
}

// A word of the part of a line after this many bars.
static void read_word(Sample *s, int part, char *word) {
    char *at = word;
    if (part == 0) {
        read_setting(s, word);
    } else if (part == 1) {
        s->tokens[s->n_tokens++] = atoi(word);
    } else if (part == 2) {
        s->adjusted[s->n] = (double)(s->logits[s->n] = strtof(word, NULL));
        s->n++;
    } else {
        long token = strtol(at, &at, 10);
        if (token < 0 || token >= s->n) exit(2);
        *(part == 3 ? &s->adjusted[token] : &s->probability[token]) = strtod(at + 1, &at);
        if (*at == ':') s->mu[token] = strtod(at + 1, NULL);
    }
}

static bool differs(double a, double b) { return !(fabs(a - b) <= 2e-5 * fmax(fabs(b), 0.05)); }

// Draws are as near to 1 as possible: the last candidate is chosen, so that all others come before
// it.
static void choose_last(burin_random *r) {
    uint64_t ninth = 0x8e38e38e38e38e39u, fifth = 0xcccccccccccccccdu, x = UINT64_MAX * ninth;
    *r = (burin_random){{0, (x >> 7 | x << 57) * fifth, 0, 0}};
}

static int compare(Sample *s, const void *tokenizer, int line) {
    int wrong = 0;
    double total = 0, own[MOST] = {0};
    void *memory = calloc(1, burin_sampler_bytes(s->n, tokenizer));
    burin_sampler sampler;
    s->settings.bias = s->bias;
    s->settings.dry_breakers = s->breakers;
    burin_sampler_init(&sampler, &s->settings, s->n, tokenizer, memory);
    burin_sampler_adjust(&sampler, s->logits, s->tokens, s->n_tokens);
    for (int32_t i = 0; i < s->n; i++)
        if (differs((double)s->logits[i], s->adjusted[i]))
            wrong = printf("%d: logit %d is %g, not %g\n", line, i, (double)s->logits[i],
                           s->adjusted[i]);
    choose_last(&sampler.random);
    int32_t chosen = burin_sampler_choose(&sampler, s->logits), last = 0;
    while (sampler.candidates[last].token != chosen) last++;
    for (int32_t i = 0; i <= last; i++) {
        const burin_candidate *c = &sampler.candidates[i];
        total += own[c->token] = (double)c->weight;
    }
    for (int32_t i = 0; i < s->n; i++)
        if (differs(own[i] / total, s->probability[i]))
            wrong =
                printf("%d: token %d has %g, not %g\n", line, i, own[i] / total, s->probability[i]);
    burin_sampler_accept(&sampler);
    if (s->probability[chosen] == 0) wrong = printf("%d: token %d is chosen\n", line, chosen);
    if (s->settings.mirostat && differs(sampler.mu, s->mu[chosen]))
        wrong = printf("%d: mu is %g, not %g\n", line, sampler.mu, s->mu[chosen]);
    free(memory);
    return wrong != 0;
}

int main(int argc, char **argv) {
    static char text[1 << 16];
    if (argc != 2) {
        fprintf(stderr, "usage: sample TOKENIZER < CASES\n");
        return 2;
    }
    const Tokenizer *t = tokenizer_load(arena_new(), argv[1], 0);
    int wrong = 0, lines = 0;
    while (fgets(text, sizeof text, stdin)) {
        Sample s = {.settings = {.temperature = 1,
                                 .top_p = 1,
                                 .typical = 1,
                                 .repeat_penalty = 1,
                                 .dynatemp_exponent = 1,
                                 .xtc_threshold = 0.1,
                                 .dry_base = 1.75,
                                 .mirostat_tau = 5,
                                 .mirostat_eta = 0.1,
                                 .repeat_last_n = 64,
                                 .dry_allowed_length = 2,
                                 .dry_penalty_last_n = -1}};
        int part = 0;
        for (char *word = strtok(text, " \n"); word; word = strtok(NULL, " \n"))
            if (!strcmp(word, "|"))
                part++;
            else
                read_word(&s, part, word);
        wrong |= compare(&s, t->blob, ++lines);
    }
    printf("%d cases\n", lines);
    return wrong;
}
