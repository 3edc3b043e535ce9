// The first steps of the sampler, which change logits. Each works in time proportional to the
// tokens that it looks at; the candidates, which nothing needs yet, count.
#ifndef BURIN_SAMPLER_LOGITS_H
#define BURIN_SAMPLER_LOGITS_H
#include <string.h>

#include "kernels/pow.h"
#include "sampler.h"
#include "tokenizer/tokenizer.h"

static void add_bias(burin_sampler *s, float *logits, const int32_t *tokens, int32_t n) {
    (void)tokens, (void)n;
    for (int32_t i = 0; i < s->settings.n_bias; i++)
        logits[s->settings.bias[i].token] += s->settings.bias[i].bias;
}

// The last `most` of `n` tokens, all if `most` is below 0.
static int32_t last_tokens(int64_t most, int32_t n) {
    return most < 0 || most > n ? n : (int32_t)most;
}

// Tokens in the text are penalized once by repeat and presence, and for each occurrence by
// frequency.
static void penalize(burin_sampler *s, float *logits, const int32_t *tokens, int32_t n) {
    float repeat = (float)s->settings.repeat_penalty,
          presence = (float)s->settings.presence_penalty,
          frequency = (float)s->settings.frequency_penalty;
    int32_t last = last_tokens(s->settings.repeat_last_n, n);
    burin_candidate *count = s->candidates;
    tokens += n - last;
    for (int32_t i = 0; i < last; i++)
        if (burin_has_logit(s->vocab_size, tokens[i])) count[tokens[i]].token = 0;
    for (int32_t i = 0; i < last; i++)
        if (burin_has_logit(s->vocab_size, tokens[i])) count[tokens[i]].token++;
    for (int32_t i = 0; i < last; i++) {
        if (!burin_has_logit(s->vocab_size, tokens[i])) continue;
        float *logit = &logits[tokens[i]], times = (float)count[tokens[i]].token;
        if (times == 0) continue;
        *logit = *logit > 0 ? *logit / repeat : *logit * repeat;
        *logit -= times * frequency + presence;
        count[tokens[i]].token = 0;
    }
}

// ------------------------------------------------------------------------------- DRY: don't repeat
// yourself
static size_t token_text(const burin_sampler *s, int32_t token) {
    burin_decoder inside = {.started = true};
    return burin_decode(s->tokenizer, &inside, token, s->text);
}

static bool starts(const char *text, size_t bytes, const char *with) {
    size_t n = 0;
    while (with[n] && n < bytes && text[n] == with[n]) n++;
    return !with[n];
}

// The end of the first breaker that begins in the first `begins` bytes; 0: there is none.
static size_t find_breaker(const burin_sampler *s, size_t begins, size_t bytes) {
    for (size_t at = 0; at < begins; at++)
        for (int32_t i = 0; i < s->settings.n_dry_breakers; i++)
            if (starts(s->text + at, bytes - at, s->settings.dry_breakers[i]))
                return at + strlen(s->settings.dry_breakers[i]);
    return 0;
}

// The number of last tokens, at most `most`, after the last breaker. Reads backwards: `owner` is
// the number of tokens after the one that a byte belongs to, for the few bytes that a breaker may
// begin before.
static int32_t tokens_behind_breaker(burin_sampler *s, const int32_t *tokens, int32_t n,
                                     int32_t most) {
    int32_t owner[BURIN_BREAKER_BYTES] = {0};
    char front[BURIN_BREAKER_BYTES];
    size_t kept = 0;
    for (int32_t i = 0; i < most; i++) {
        size_t bytes = token_text(s, tokens[n - 1 - i]);
        memcpy(s->text + bytes, front, kept);
        size_t end = find_breaker(s, bytes, bytes + kept);
        if (end) return end <= bytes ? i : owner[end - 1 - bytes];
        size_t now = bytes + kept < BURIN_BREAKER_BYTES ? bytes + kept : BURIN_BREAKER_BYTES,
               own = bytes < now ? bytes : now;
        memmove(owner + own, owner, (now - own) * sizeof *owner);
        for (size_t at = 0; at < own; at++) owner[at] = i;
        memcpy(front, s->text, now);
        kept = now;
    }
    return most;
}

static bool contains_breaker(const burin_sampler *s, int32_t token) {
    size_t bytes = token_text(s, token);
    return find_breaker(s, bytes, bytes) > 0;
}

// Notes for each token the longest repetition that it would continue, and 1: of at most `limit`
// tokens.
static void find_repetitions(const burin_sampler *s, const int32_t *tokens, int32_t n,
                             int32_t limit) {
    burin_candidate *longest = s->candidates;
    for (int32_t i = 0; i < n; i++)
        if (burin_has_logit(s->vocab_size, tokens[i])) longest[tokens[i]].token = 0;
    for (int32_t k = 1; k < n; k++) {
        int32_t length = 0;
        if (!burin_has_logit(s->vocab_size, tokens[n - k])) continue;
        while (length < limit && length + k < n &&
               tokens[n - 1 - length] == tokens[n - 1 - length - k])
            length++;
        int32_t *best = &longest[tokens[n - k]].token;
        if (length >= s->settings.dry_allowed_length && *best <= length) *best = length + 1;
    }
}

// A repetition longer than that is penalized no more: base^exponent stays a float.
static int32_t largest_exponent(double base) {
    return base > 1.000001 ? (int32_t)(127 / log2_double(base)) : 0;
}

static void dry(burin_sampler *s, float *logits, const int32_t *tokens, int32_t n) {
    const burin_sampling *set = &s->settings;
    int32_t last = last_tokens(set->dry_penalty_last_n, n);
    if (last <= set->dry_allowed_length) return;
    int64_t limit = set->dry_allowed_length + largest_exponent(set->dry_base);
    if (limit > last) limit = last;
    tokens += n - last;
    bool breaks = s->tokenizer && set->n_dry_breakers;
    if (breaks) limit = tokens_behind_breaker(s, tokens, last, (int32_t)limit);
    if (limit < set->dry_allowed_length) return;
    find_repetitions(s, tokens, last, (int32_t)limit);
    for (int32_t i = 0; i < last; i++) {
        if (!burin_has_logit(s->vocab_size, tokens[i])) continue;
        int32_t *length = &s->candidates[tokens[i]].token;
        double penalty = set->dry_multiplier;
        if (*length && !(breaks && contains_breaker(s, tokens[i]))) {
            for (int32_t e = *length - 1 - (int32_t)set->dry_allowed_length; e > 0; e--)
                penalty *= set->dry_base;
            logits[tokens[i]] -= (float)penalty;
        }
        *length = 0;
    }
}
#endif
