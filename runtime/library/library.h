// C interface of the model NAME, compiled by burin.
//
//     NAME_options options = {.slots = 2};
//     size_t bytes = NAME_state_bytes(&options);
//     void *memory = aligned_alloc(NAME_ALIGNMENT, bytes);          // all the memory it will ever use
//     NAME_state state;
//     int status = NAME_init(&state, &options, memory, bytes);
//     if (status) fprintf(stderr, "%s\n", NAME_error_text(status));
//
//     float logits[NAME_VOCAB_SIZE];
//     NAME_row row = {.token = 1, .slot = 0, .position = 0, .wants_logits = true};
//     status = NAME_forward(&state, &row, 1, logits);
//     NAME_close(&state);                                            // ends its threads
//
// Nothing allocates after NAME_init. One state serves one caller at a time; several states may run
// side by side. Threads do not survive a fork: in the child such a state is an error (NAME_FORKED),
// which opens one of its own instead.
#ifndef NAME_LIBRARY_H
#define NAME_LIBRARY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// constants of the model

enum { NAME_ALIGNMENT = 64 };

// One token of one sequence. A slot holds a sequence; a row's position is its slot's length, so
// rows of a slot count upwards.
typedef struct NAME_row {
    int32_t token, slot, position;
    bool wants_logits;
} NAME_row;

typedef struct NAME_options {
    int32_t slots;     // sequences held at once; 0: 1
    int32_t max_rows;  // rows computed at once, at most NAME_MAX_ROWS; 0: that many. NAME_forward
                       // takes any number
    int32_t threads;   // 0: the physical cores that this process may use
    const char
        *cpu;  // one of the CPUs that the library carries code for; NULL: the best that runs here
} NAME_options;

#include "library_shared.h"

// Computes n rows of any slots. The logits of rows with wants_logits follow each other:
// [wanted][NAME_VOCAB_SIZE]. The same rows give the same bits alone, in a batch, in any number of
// calls, on any of the CPUs and with any number of threads. After an error nothing has changed.
int NAME_forward(NAME_state *, const NAME_row *rows, int n, float *logits);

// An encoder-decoder reads a source before the first row of a slot, which then begins anew: n
// tokens, or the encoder's inputs with their dimensions, in order. Each slot has its own source.
// NAME_first_tokens writes at most `capacity` of the tokens that the decoder begins with, and
// returns their number.
int NAME_read_source(NAME_state *, int slot, const int32_t *tokens, int n);
int NAME_read_inputs(NAME_state *, int slot, const void *const inputs[], const int64_t dims[]);
int NAME_first_tokens(int32_t *tokens, int capacity);

// The token that begins a text, or -1; the tokens that end one: writes at most `capacity` of them,
// and returns their number.
int32_t NAME_begin_token(void);
int NAME_end_tokens(int32_t *tokens, int capacity);

int NAME_slot_reset(NAME_state *, int slot);
int NAME_slot_truncate(NAME_state *, int slot,
                       int length);  // keeps the first `length` tokens; may be NAME_BEHIND_WINDOW
int NAME_slot_copy(NAME_state *, int to, int from);
int NAME_slot_length(const NAME_state *, int slot);  // negative: an error

// A slot as bytes, to resume from in another process or on another machine: the continuation has
// the same bits. Bytes of another model are refused (NAME_OTHER_MODEL), and so are damaged bytes
// (NAME_BAD_SAVED); the slot then keeps its state.
size_t NAME_slot_saved_bytes(const NAME_state *, int slot);  // 0: an error
int NAME_slot_save(const NAME_state *, int slot, void *memory, size_t bytes);
int NAME_slot_load(NAME_state *, int slot, const void *memory, size_t bytes);

// Choosing the next token: logit bias, penalties, DRY, top-k, typical, top-p, min-p, XTC,
// temperature, one draw; with the same settings the tokens that the model's program chooses. 0
// turns a setting off, or is its usual value where one is named: (0: 64); settings NULL: those in
// brackets without.
typedef struct NAME_bias {
    int32_t token;
    float bias;  // added to its logit
} NAME_bias;

typedef struct NAME_sampling {
    double temperature;     // 0: always the likeliest token (0.8)
    double top_p;           // the fewest that make up this share of the probability (0.95)
    double min_p;           // none below this share of the likeliest (0.05)
    double repeat_penalty;  // (0)
    int32_t top_k;          // number of most probable tokens to choose from (40)
    uint64_t seed;          // (0)
    double presence_penalty, frequency_penalty, typical;
    double xtc_probability, xtc_threshold;     // (0: 0.1)
    double dynatemp_range, dynatemp_exponent;  // (0: 1)
    double dry_multiplier, dry_base;           // (0: 1.75)
    double mirostat_tau, mirostat_eta;         // of mirostat 2 (0: 5, 0.1)
    int32_t mirostat;                          // 2: in place of top-k to XTC
    int32_t repeat_last_n;       // tokens that the penalties look at (0: 64); negative: all
    int32_t dry_allowed_length;  // (0: 2)
    int32_t dry_penalty_last_n;  // (0: all)
    int32_t n_bias;
    const NAME_bias *bias;  // stays where it is as long as the sampler is used
} NAME_sampling;

typedef struct NAME_sampler {
    void *sampler;  // in the memory given to NAME_sampler_init
} NAME_sampler;

size_t NAME_sampler_bytes(void);
int NAME_sampler_init(NAME_sampler *, const NAME_sampling *, void *memory,
                      size_t bytes);  // memory aligned to 16
// The next token, or an error below 0. `logits` [NAME_VOCAB_SIZE] may be changed; `tokens`: the n
// so far.
int32_t NAME_sample(NAME_sampler *, float *logits, const int32_t *tokens, int n);

// An id as text, when the model has a tokenizer; otherwise 0 bytes. NAME_decode appends to a text:
// `*decoder` is 0 where one begins; `bytes` holds NAME_decode_max() bytes.
size_t NAME_decode_max(void);
size_t NAME_decode(int *decoder, int32_t id, char *bytes);

#include "library_answers.h"

#ifdef __cplusplus
}
#endif
#endif
