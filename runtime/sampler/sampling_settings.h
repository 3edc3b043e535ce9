// Settings of the sampler, shared by the command line of a program, a library's caller and the
// sampler.
#ifndef BURIN_SAMPLING_SETTINGS_H
#define BURIN_SAMPLING_SETTINGS_H
#include <stdbool.h>
#include <stdint.h>

// Addends of tokens' logits.
typedef struct burin_bias {
    int32_t token;
    float bias;
} burin_bias;

// How tokens are chosen: names, formulas and defaults are those of llama.cpp.
typedef struct burin_sampling {
    double temperature;  // below 0: the default
    double top_p, min_p, typical, repeat_penalty, presence_penalty, frequency_penalty;
    double dynatemp_range, dynatemp_exponent, xtc_probability, xtc_threshold;
    double dry_multiplier, dry_base, mirostat_tau, mirostat_eta;
    int64_t top_k, mirostat;
    int64_t repeat_last_n, dry_allowed_length, dry_penalty_last_n;  // -1: all tokens
    const burin_bias *bias;
    const char *const *dry_breakers;
    int32_t n_bias, n_dry_breakers;
    uint64_t seed;
    bool has_seed;
} burin_sampling;

#define BURIN_SAMPLING_USUAL  \
    {.temperature = -1,       \
     .top_p = 0.95,           \
     .min_p = 0.05,           \
     .typical = 1,            \
     .repeat_penalty = 1,     \
     .dynatemp_exponent = 1,  \
     .xtc_threshold = 0.1,    \
     .dry_base = 1.75,        \
     .mirostat_tau = 5,       \
     .mirostat_eta = 0.1,     \
     .top_k = 40,             \
     .repeat_last_n = 64,     \
     .dry_allowed_length = 2, \
     .dry_penalty_last_n = -1}
#endif
