// The sampler: its generator against known numbers, its steps against plain definitions.
#include "sampler/sampler.h"

#include <math.h>
#include <stdlib.h>

#include "unit.h"

enum { N = 1000 };

static burin_candidate memory[N];

static const burin_sampling everything = {.temperature = 1,
                                          .top_p = 1,
                                          .typical = 1,
                                          .repeat_penalty = 1,
                                          .repeat_last_n = 64,
                                          .seed = 42};

static burin_sampler sampler_of(burin_sampling settings, int32_t n) {
    burin_sampler s;
    burin_sampler_init(&s, &settings, n, NULL, memory);
    return s;
}

static void fill(float *logits, int n, uint64_t seed) {
    burin_random r;
    burin_random_seed(&r, seed);
    for (int i = 0; i < n; i++) logits[i] = (float)(burin_random_unit(&r) * 10 - 5);
}

// splitmix64 of 0 is published; the outputs that follow from it were computed in Python.
static void generator_is_the_published_one(void) {
    burin_random r;
    burin_random_seed(&r, 0);
    CHECK(r.state[0] == 0xe220a8397b1dcdafu && r.state[3] == 0xf88bb8a8724c81ecu);
    CHECK(burin_random_next(&r) == 0x99ec5f36cb75f2b4u);
    CHECK(burin_random_next(&r) == 0xbf6e1f784956452au);
}

static void argmax_takes_the_lowest_of_equals(void) {
    float logits[40];
    for (int i = 0; i < 40; i++) logits[i] = (float)(i % 7);
    CHECK(burin_argmax(logits, 40) == 6);
    CHECK(burin_argmax(logits, 3) == 2);
    for (int i = 0; i < 40; i++) logits[i] = NAN;
    CHECK(burin_argmax(logits, 40) == 0);
    logits[33] = -1e30f;
    CHECK(burin_argmax(logits, 40) == 33);
    for (int i = 0; i < 40; i++) logits[i] = -INFINITY;
    CHECK(burin_argmax(logits, 40) == 0);
}

static void argmax_matches_a_plain_loop(void) {
    float logits[N];
    for (int n = 1; n < 100; n++) {
        fill(logits, n, (uint64_t)n);
        int best = 0;
        for (int i = 1; i < n; i++)
            if (logits[i] > logits[best]) best = i;
        CHECK(burin_argmax(logits, n) == best);
    }
}

static void temperature_zero_is_argmax(void) {
    float logits[N];
    fill(logits, N, 1);
    burin_sampling settings = everything;
    settings.temperature = 0;
    burin_sampler s = sampler_of(settings, N);
    CHECK(burin_sample(&s, logits, NULL, 0) == burin_argmax(logits, N));
}

// Each limit at its tightest leaves the likeliest alone.
static void tight_limits_are_argmax(void) {
    float logits[N];
    burin_sampling tight[3] = {everything, everything, everything};
    tight[0].top_k = 1;
    tight[1].top_p = 0;
    tight[2].min_p = 1;
    for (int i = 0; i < 3; i++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            fill(logits, N, seed);
            burin_sampler s = sampler_of(tight[i], N);
            CHECK(burin_sample(&s, logits, NULL, 0) == burin_argmax(logits, N));
        }
}

static int rank_of(const float *logits, int n, int token) {
    int rank = 0;
    for (int i = 0; i < n; i++)
        rank += logits[i] > logits[token] || (logits[i] == logits[token] && i < token);
    return rank;
}

static void top_k_stays_among_the_k_likeliest(void) {
    float logits[N];
    burin_sampling settings = everything;
    settings.top_k = 5;
    settings.temperature = 100;  // nearly even
    bool seen[5] = {0};
    for (uint64_t seed = 0; seed < 200; seed++) {
        fill(logits, N, 7);
        for (int i = 0; i < N; i += 3) logits[i] = logits[(i + 1) % N];  // ties
        settings.seed = seed;
        burin_sampler s = sampler_of(settings, N);
        int rank = rank_of(logits, N, burin_sample(&s, logits, NULL, 0));
        CHECK(rank < 5);
        if (rank < 5) seen[rank] = true;
    }
    for (int i = 0; i < 5; i++) CHECK(seen[i]);
}

static void top_p_keeps_the_fewest(void) {
    // probabilities 0.5, 0.25, 0.125, 0.125
    const float halves[4] = {-3 * 0.6931472f, -0.6931472f, -2 * 0.6931472f, -3 * 0.6931472f};
    burin_sampling settings = everything;
    settings.top_p = 0.7;
    int count[4] = {0};
    burin_sampler s = sampler_of(settings, 4);
    for (int i = 0; i < 3000; i++) {
        float logits[4];
        memcpy(logits, halves, sizeof logits);
        count[burin_sample(&s, logits, NULL, 0)]++;
    }
    CHECK(count[0] == 0 && count[3] == 0);
    CHECK(abs(count[1] - 2000) < 150 && abs(count[2] - 1000) < 150);
}

// Two of four equal tokens are exactly half of the probability: a third is one too many.
static void top_p_exactly_reached_is_enough(void) {
    burin_sampling settings = everything;
    settings.top_p = 0.5;
    int count[4] = {0}, seen = 0;
    burin_sampler s = sampler_of(settings, 4);
    for (int i = 0; i < 1000; i++) {
        float logits[4] = {1, 1, 1, 1};
        count[burin_sample(&s, logits, NULL, 0)]++;
    }
    for (int i = 0; i < 4; i++) seen += count[i] > 0;
    CHECK(seen == 2);
}

static void min_p_cuts_the_tail(void) {
    burin_sampling settings = everything;
    settings.min_p = 0.3;
    burin_sampler s = sampler_of(settings, 3);
    int count[3] = {0};
    for (int i = 0; i < 1000; i++) {
        float logits[3] = {0, -1, -2};  // 1, 0.37, 0.14 of the likeliest
        count[burin_sample(&s, logits, NULL, 0)]++;
    }
    CHECK(count[2] == 0 && count[1] > 150 && count[0] > 600);
}

static void probabilities_are_softmax(void) {
    burin_sampling settings = everything;
    settings.temperature = 2;
    burin_sampler s = sampler_of(settings, 3);
    int count[3] = {0};
    double weight[3] = {1, exp(-0.5), exp(-1)}, sum = weight[0] + weight[1] + weight[2];
    for (int i = 0; i < 20000; i++) {
        float logits[3] = {2, 1, 0};
        count[burin_sample(&s, logits, NULL, 0)]++;
    }
    for (int i = 0; i < 3; i++) CHECK(fabs(count[i] - 20000 * weight[i] / sum) < 300);
}

static void repeated_tokens_lose(void) {
    burin_sampling settings = everything;
    settings.temperature = 0;
    settings.repeat_penalty = 2;
    burin_sampler s = sampler_of(settings, 3);
    int32_t before[3] = {0, 0, 2};
    float logits[3] = {3, 2, -1};
    CHECK(burin_sample(&s, logits, before, 3) == 1);
    CHECK(logits[0] == 1.5f && logits[1] == 2 && logits[2] == -2);  // once each
    int32_t old[100] = {0};
    for (int i = 1; i < 100; i++) old[i] = 2;
    logits[0] = 3;
    CHECK(burin_sample(&s, logits, old, 100) == 0);  // too long ago
}

// A prompt's token that the model never writes (an image's) has no logit.
static void tokens_without_a_logit_change_nothing(void) {
    burin_sampling settings = everything;
    settings.repeat_penalty = 2;
    settings.presence_penalty = settings.frequency_penalty = 1;
    settings.dry_multiplier = settings.dry_base = 2;
    settings.dry_penalty_last_n = -1;
    settings.dry_allowed_length = 1;
    const burin_model model = {
        .vocab_size = 3, .input_vocab_size = 8, .no_repeat = 2, .encoder_no_repeat = 2};
    const burin_model penalizing = {
        .vocab_size = 3, .input_vocab_size = 8, .repetition_penalty = 2};
    int32_t before[5] = {0, 7, 0, 7, 0};
    burin_history text = {
        .tokens = before, .source = before, .n = 5, .n_source = 5, .generated = 1};
    float logits[8] = {3, 2, 1, 50, 50, 50, 50, 50};
    burin_sampler s = sampler_of(settings, 3);
    for (int i = 0; i < 8; i++) memory[i].token = 123, memory[i].logit = 123;
    burin_mask_forbidden(&s, &model, &text, logits);
    int32_t chosen = burin_sample(&s, logits, before, 5);
    CHECK(chosen >= 0 && chosen < 3);
    s = sampler_of(everything, 3);
    burin_mask_forbidden(&s, &penalizing, &text, logits);
    for (int i = 3; i < 8; i++)
        CHECK(logits[i] == 50 && memory[i].token == 123 && memory[i].logit == 123);
}

static void same_seed_same_tokens(void) {
    float logits[N];
    burin_sampling settings = {.temperature = 0.8,
                               .top_k = 40,
                               .top_p = 0.95,
                               .min_p = 0.05,
                               .typical = 1,
                               .repeat_penalty = 1.1,
                               .repeat_last_n = 64,
                               .seed = 7};
    int32_t first[50];
    for (int run = 0; run < 2; run++) {
        burin_sampler s = sampler_of(settings, N);
        for (int i = 0; i < 50; i++) {
            fill(logits, N, (uint64_t)i);
            int32_t token = burin_sample(&s, logits, first, i);
            if (run) CHECK(token == first[i]);
            first[i] = token;
        }
    }
}

static void nothing_sensible_is_still_a_token(void) {
    float logits[5] = {NAN, NAN, NAN, NAN, NAN};
    burin_sampler s = sampler_of(everything, 5);
    int32_t token = burin_sample(&s, logits, NULL, 0);
    CHECK(token >= 0 && token < 5);
    float infinite[3] = {0, INFINITY, 0};
    burin_sampler t = sampler_of(everything, 3);
    CHECK(burin_sample(&t, infinite, NULL, 0) == 1);
}

// ---- the other steps, at eight logits whose probabilities are 0.4027 0.2443 0.1482 0.0899 0.0545
// 0.0331 0.0201 0.0074 ----

enum { EIGHT = 8 };
static const float eight[EIGHT] = {2, 1.5f, 1, 0.5f, 0, -0.5f, -1, -2};

// Bit i: token i was drawn in 3000 tries.
static unsigned drawn(burin_sampling settings) {
    unsigned seen = 0;
    burin_sampler s = sampler_of(settings, EIGHT);
    for (int i = 0; i < 3000; i++) {
        float logits[EIGHT];
        memcpy(logits, eight, sizeof eight);
        seen |= 1u << burin_sample(&s, logits, NULL, 0);
    }
    return seen;
}

// |-log p - 1.5959| ascends over 1, 2, 0, 3 ...: they add up to 0.2443, 0.3925, 0.7952
static void typical_keeps_the_expected(void) {
    burin_sampling settings = everything;
    settings.typical = 0.2;
    CHECK(drawn(settings) == 0x2);
    settings.typical = 0.39;
    CHECK(drawn(settings) == 0x6);
    settings.typical = 0.5;
    CHECK(drawn(settings) == 0x7);
    settings.typical = 0.39;
    settings.min_p = 0.9;  // of the likeliest that is left
    CHECK(drawn(settings) == 0x2);
}

// 0, 1 and 2 reach 0.1: 2 stays
static void xtc_excludes_top_choices(void) {
    burin_sampling settings = everything;
    settings.xtc_probability = 1;
    settings.xtc_threshold = 0.1;
    CHECK(drawn(settings) == 0xfc);
    settings.xtc_threshold = 0.3;  // one alone reaches it
    CHECK(drawn(settings) == 0xff);
    settings.xtc_threshold = 0.1;
    settings.xtc_probability = 0.5;
    CHECK(drawn(settings) == 0xff);
    settings.top_k = 2;
    CHECK(drawn(settings) == 0x3);
}

static void chain_ends_with_temperature(void) {
    burin_sampling settings = everything;
    settings.temperature = 100;
    settings.top_p = 0.6;  // 0.4027 + 0.2443, however hot
    CHECK(drawn(settings) == 0x3);
    settings.top_p = 1;
    settings.min_p = 0.36;
    CHECK(drawn(settings) == 0x7);
}

// Entropy 1.5959 of log 8: 0.76746, so 0.5 + 0.76746 and 0.5 + 0.76746^2 degrees
static void temperature_follows_entropy(void) {
    static const float weights[2][EIGHT] = {
        {1, 0.674023f, 0.454307f, 0.306214f, 0.206395f, 0.139115f, 0.093767f, 0.042599f},
        {1, 0.631826f, 0.399204f, 0.252228f, 0.159364f, 0.10069f, 0.063619f, 0.025397f}};
    for (int e = 0; e < 2; e++) {
        burin_sampling settings = everything;
        settings.dynatemp_range = 0.5;
        settings.dynatemp_exponent = e + 1;
        burin_sampler s = sampler_of(settings, EIGHT);
        burin_sampler_choose(&s, eight);
        for (int i = 0; i < EIGHT; i++) CHECK(fabsf(memory[i].weight - weights[e][i]) < 2e-6f);
    }
}

// Surprises 1.312 2.034 2.755 ... bits: the first two are below 2.1; mu then moves by the error.
static void mirostat_bounds_surprise(void) {
    burin_sampling settings = everything;
    settings.mirostat = 2;
    settings.mirostat_tau = 1.05;
    settings.mirostat_eta = 0;
    CHECK(drawn(settings) == 0x3);
    settings.mirostat_eta = 0.5;
    settings.mirostat_tau = 0.1;  // none: the likeliest
    burin_sampler s = sampler_of(settings, EIGHT);
    CHECK(burin_sampler_choose(&s, eight) == 0);
    CHECK(fabs(s.surprise) < 1e-9);
    burin_sampler_accept(&s);
    CHECK(fabs(s.mu - (0.2 + 0.5 * 0.1)) < 1e-9);
    settings.mirostat_tau = 50;
    s = sampler_of(settings, EIGHT);
    int32_t token = burin_sampler_choose(&s, eight);
    CHECK(fabs(s.surprise - (1.3121 + (2 - (double)eight[token]) / 0.6931472)) < 2e-4);
}

static void penalties_count(void) {
    burin_sampling settings = everything;
    settings.temperature = 0;
    settings.presence_penalty = 0.5;
    settings.frequency_penalty = 0.25;
    settings.repeat_penalty = 2;
    burin_sampler s = sampler_of(settings, EIGHT);
    const int32_t before[5] = {7, 0, 7, 7, 1};
    float logits[EIGHT];
    memcpy(logits, eight, sizeof eight);
    burin_sampler_adjust(&s, logits, before, 5);
    CHECK(logits[0] == 0.25f && logits[1] == 0 && logits[2] == 1 && logits[7] == -5.25f);
    settings.repeat_last_n = 1;
    s = sampler_of(settings, EIGHT);
    memcpy(logits, eight, sizeof eight);
    burin_sampler_adjust(&s, logits, before, 5);
    CHECK(logits[0] == 2 && logits[1] == 0 && logits[7] == -2);
}

static void biases_are_added(void) {
    static const burin_bias bias[] = {{0, -INFINITY}, {7, 5}, {7, 1}};
    burin_sampling settings = everything;
    settings.temperature = 0;
    settings.bias = bias;
    settings.n_bias = 3;
    burin_sampler s = sampler_of(settings, EIGHT);
    float logits[EIGHT];
    memcpy(logits, eight, sizeof eight);
    CHECK(burin_sample(&s, logits, NULL, 0) == 7 && logits[7] == 4);
}

// 0 1 2 3 5 1 2 3: 5 followed 1 2 3, of which 2 tokens are allowed: 0.5 * 1.75^(3 - 2). A match of
// 3 alone is free.
static void dry_punishes_what_goes_on(void) {
    const int32_t tokens[8] = {0, 1, 2, 3, 5, 1, 2, 3};
    burin_sampling settings = everything;
    settings.dry_multiplier = 0.5;
    settings.dry_base = 1.75;
    settings.dry_allowed_length = 2;
    settings.dry_penalty_last_n = -1;
    burin_sampler s = sampler_of(settings, EIGHT);
    float logits[EIGHT];
    memcpy(logits, eight, sizeof eight);
    burin_sampler_adjust(&s, logits, tokens, 8);
    for (int i = 0; i < EIGHT; i++) CHECK(logits[i] == (i == 5 ? -0.5f - 0.875f : eight[i]));
    s.settings.dry_penalty_last_n = 6;  // 2 3 5 1 2 3
    memcpy(logits, eight, sizeof eight);
    burin_sampler_adjust(&s, logits, tokens, 8);
    CHECK(logits[5] == -1);
    s.settings.dry_allowed_length = 4;
    memcpy(logits, eight, sizeof eight);
    burin_sampler_adjust(&s, logits, tokens, 8);
    CHECK(!memcmp(logits, eight, sizeof eight));
}

// The same token again and again: however long, the penalty stays a number.
static void dry_stays_finite(void) {
    static int32_t tokens[4000];
    burin_sampling settings = everything;
    settings.dry_multiplier = 1;
    settings.dry_base = 1.75;
    settings.dry_allowed_length = 2;
    settings.dry_penalty_last_n = -1;
    burin_sampler s = sampler_of(settings, EIGHT);
    float logits[EIGHT] = {0};
    burin_sampler_adjust(&s, logits, tokens, 4000);
    CHECK(logits[0] < -1e30f && logits[0] > -INFINITY);
}

static void chain_is_printed(void) {
    char chain[512];
    burin_sampling settings = everything;
    settings.top_k = 40;
    settings.min_p = 0.05;
    settings.temperature = 0.8;
    burin_sampling_chain(&settings, chain, sizeof chain);
    CHECK_TEXT(chain, "top-k 40, min-p 0.05, temperature 0.8 range 0 exponent 0, draw");
    char little[8];
    burin_sampling_chain(&settings, little, sizeof little);
    CHECK_TEXT(little, "top-k 4");
}

SUITE(sampler) {
    TEST(typical_keeps_the_expected);
    TEST(xtc_excludes_top_choices);
    TEST(chain_ends_with_temperature);
    TEST(temperature_follows_entropy);
    TEST(mirostat_bounds_surprise);
    TEST(penalties_count);
    TEST(biases_are_added);
    TEST(dry_punishes_what_goes_on);
    TEST(dry_stays_finite);
    TEST(chain_is_printed);
    TEST(generator_is_the_published_one);
    TEST(argmax_takes_the_lowest_of_equals);
    TEST(argmax_matches_a_plain_loop);
    TEST(temperature_zero_is_argmax);
    TEST(tight_limits_are_argmax);
    TEST(top_k_stays_among_the_k_likeliest);
    TEST(top_p_keeps_the_fewest);
    TEST(top_p_exactly_reached_is_enough);
    TEST(min_p_cuts_the_tail);
    TEST(probabilities_are_softmax);
    TEST(repeated_tokens_lose);
    TEST(tokens_without_a_logit_change_nothing);
    TEST(same_seed_same_tokens);
    TEST(nothing_sensible_is_still_a_token);
}
