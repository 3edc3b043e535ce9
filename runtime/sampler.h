// Choosing the next token: the same on every CPU and for any number of threads.
//
// The order of steps: repeat penalty, temperature, top-k, min-p, top-p, draw. Candidates are ordered by logit, ties by the
// lower id; probabilities use the contract's exp; sums are double and in a fixed order; the generator is xoshiro256** seeded by
// splitmix64. Temperature 0 takes the likeliest token. A NaN counts as minus infinity.
#ifndef BURIN_SAMPLER_H
#define BURIN_SAMPLER_H
#include "options.h"
#include "program.h"

typedef struct burin_random {
    uint64_t state[4];
} burin_random;

BURIN_LINKAGE void burin_random_seed(burin_random *, uint64_t seed);
BURIN_LINKAGE uint64_t burin_random_next(burin_random *);
BURIN_LINKAGE double burin_random_unit(burin_random *);  // [0, 1), 53 bits

typedef struct burin_candidate {
    float logit, weight;  // weight: e^((logit - the largest) / temperature)
    int32_t token;
} burin_candidate;

typedef struct burin_sampler {
    burin_sampling settings;
    void (*exp)(float *values, size_t n);  // e^x in place: a CPU's own code for the contract's function
    burin_random random;
    int32_t vocab_size;
    burin_candidate *candidates;  // [vocab_size]
} burin_sampler;

enum { BURIN_PENALIZED_TOKENS = 64 };  // how far back the repeat penalty looks

BURIN_LINKAGE size_t burin_sampler_bytes(int32_t vocab_size);
BURIN_LINKAGE void burin_sampler_init(burin_sampler *, const burin_sampling *, int32_t vocab_size, void *memory);

// Takes away what the model never says, or not as its first token.
BURIN_LINKAGE void burin_suppress(const burin_model *, float *logits, bool first);

// Chooses by logits [vocab_size], which it may change; `before`: the tokens so far.
BURIN_LINKAGE int32_t burin_sample(burin_sampler *, float *logits, const int32_t *before, int32_t n_before);
BURIN_LINKAGE int32_t burin_argmax(const float *logits, int32_t n);
#endif
