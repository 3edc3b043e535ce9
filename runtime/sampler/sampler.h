// Choosing the next token: the same on every CPU and for any number of threads.
//
// The order of steps: logit bias, penalties, DRY, top-k, typical, top-p, min-p, XTC, temperature,
// draw; with mirostat: bias, penalties, DRY, temperature, mirostat, draw. Each works on the result
// of the previous step. Candidates are ordered by logit, ties by the lower id; probabilities use
// the contract's exp; sums are double and in a fixed order; the generator is xoshiro256** seeded by
// splitmix64. Temperature 0 takes the most probable token. A NaN counts as minus infinity.
#ifndef BURIN_SAMPLER_H
#define BURIN_SAMPLER_H
#include "engine/program.h"
#include "sampling_settings.h"

typedef struct burin_random {
    uint64_t state[4];
} burin_random;

BURIN_LINKAGE void burin_random_seed(burin_random *, uint64_t seed);
BURIN_LINKAGE uint64_t burin_random_next(burin_random *);
BURIN_LINKAGE double burin_random_unit(burin_random *);  // [0, 1), 53 bits

typedef struct burin_candidate {
    // weight: e^((logit - the largest) / temperature); key: the order of candidates
    float logit, weight, key;
    int32_t token;
} burin_candidate;

// The default breakers of DRY, which no repetition crosses: texts of at most BURIN_BREAKER_BYTES.
enum { BURIN_BREAKER_BYTES = 64, BURIN_DRY_BREAKERS = 4 };
static const char *const burin_dry_breakers[BURIN_DRY_BREAKERS] = {"\n", ":", "\"", "*"};

typedef struct burin_sampler {
    burin_sampling settings;
    void (*exp)(float *values,
                size_t n);  // e^x in place: a CPU's own code for the contract's function
    burin_random random;
    int32_t vocab_size;
    const float *logits;          // [vocab_size], while it chooses
    burin_candidate *candidates;  // [vocab_size]
    const void *tokenizer;        // what DRY's breakers are found by; NULL: they are not
    char *text;                   // of a token, and BURIN_BREAKER_BYTES
    double mu,
        surprise;  // of mirostat, in bits: the largest that is taken, that of the chosen token
} burin_sampler;

// The settings' lists stay the caller's; their tokens are in the vocabulary.
BURIN_LINKAGE size_t burin_sampler_bytes(int32_t vocab_size, const void *tokenizer);
BURIN_LINKAGE void burin_sampler_init(burin_sampler *, const burin_sampling *, int32_t vocab_size,
                                      const void *tokenizer, void *memory);

// The text so far, which the limits of a model depend on.
typedef struct burin_history {
    const int32_t *tokens,
        // all tokens, including those of the prompt; an encoder's source, or a decoder's prompt
        *source;
    int32_t n, n_source, generated;  // generated: number of tokens from the model
    // true if the next token is the first generated one, or the last with room
    bool first, last;
} burin_history;

// Masks forbidden tokens and applies the repetition penalties.
BURIN_LINKAGE void burin_mask_forbidden(burin_sampler *, const burin_model *, const burin_history *,
                                        float *logits);

static inline bool burin_has_logit(int32_t vocabulary, int32_t token) {
    return token >= 0 && token < vocabulary;
}

// Chooses by logits [vocab_size], which it may change; `before`: the tokens so far. Tokens without
// a logit (a model may read tokens that it never writes) take part in repetitions and have no
// penalty.
BURIN_LINKAGE int32_t burin_sample(burin_sampler *, float *logits, const int32_t *before,
                                   int32_t n_before);
// Its three parts: the steps over logits, once; a choice, as often as wanted; the last choice is
// the one.
BURIN_LINKAGE void burin_sampler_adjust(burin_sampler *, float *logits, const int32_t *before,
                                        int32_t n_before);
BURIN_LINKAGE int32_t burin_sampler_choose(burin_sampler *, const float *logits);
BURIN_LINKAGE void burin_sampler_accept(burin_sampler *);

// The steps that these settings take, with their values: "top-k 40, top-p 0.95, temperature 0.8,
// draw".
BURIN_LINKAGE void burin_sampling_chain(const burin_sampling *, char *out, size_t room);
BURIN_LINKAGE int32_t burin_argmax(const float *logits, int32_t n);
#endif
