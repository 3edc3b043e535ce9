// The interface of an emitted model to the program's main.c, the thread pool and the C API: one
// descriptor, `burin_model`.
#ifndef BURIN_PROGRAM_H
#define BURIN_PROGRAM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/limits.h"

enum { BURIN_ABI = 8 };

#if !defined(__unix__) && !defined(__APPLE__) && !defined(_WIN32)
#define BURIN_BARE 1  // no operating system (bare.h)
#endif

// Libraries include the runtime's sources into one file and define this as `static`: two models can
// share one host program.
#ifndef BURIN_LINKAGE
#define BURIN_LINKAGE
#endif

typedef struct burin_row {
    int32_t token, slot, position;
    bool wants_logits;
} burin_row;

// A row of a picture, in the order of lines; vector NULL: the row is its token.
typedef struct burin_embedding {
    const float *vector;     // eyes->width values
    int32_t row;             // its number in the picture
    int32_t lines, columns;  // of rows; 0: they are in no grid
} burin_embedding;

// A kernel of the emitted code, for --profile and `burin check`: its function's name and the source
// it came from; for
// --roofline what one call reads of weights, and computes: in all, and for each row more; of cached
// keys nothing. 0: not known.
typedef struct burin_kernel {
    const char *name, *location;
    double weight_bytes, operations, row_operations;
    bool integers;  // products of int8
} burin_kernel;

// One query of an attention: its row of the step, that row's position, and how many keys there are
// up to the last that it sees.
typedef struct burin_query {
    int row, position, head, heads, keys;
} burin_query;

// Observers of a step; NULL ones are not called.
typedef struct burin_trace {
    void *context;
    // `burin check`: the emitted code hands over each kernel's result, whole rows, from one thread
    // after a barrier.
    void (*record)(void *context, const char *value, int layer, const float *data, int rows,
                   int columns, int row_stride);
    // --attention: a step begins; then where the shares of a query's keys are to be written, or
    // NULL. An attention begins with head 0 of row 0. Both from one thread. `end`: after a step of
    // the decoder or network.
    void (*begin)(void *context, bool encoder);
    float *(*query)(void *context, const burin_query *);
    void (*end)(void *context);
} burin_trace;

// One forward call, shared by its threads. Every pointer but `logits` (aligned for float) is
// 64-byte aligned.
typedef struct burin_step {
    const unsigned char *weights;  // the packed weights, mapped
    unsigned char *arena;          // buffers that threads share: burin_model.row_bytes * max_rows
    unsigned char *local;          // a thread's own single row: + thread * burin_model.local_bytes
    unsigned char *state;  // + slot * burin_model.slot_bytes: KV caches and other per-slot state
    const int32_t *token, *slot, *position;  // [rows]
    const int32_t *
        source_last;  // [rows] of an encoder-decoder: the last row that the slot's encoder has left
    const int32_t *embedded;   // [rows] of a model with eyes: 1 where `embeddings` has the row
    const float *embeddings;   // [rows][width]; of a head that guesses: of every row
    const int32_t *last_seen;  // [rows] the last position that a row attends to
    const int32_t *axes;       // [rows][3] time, line and column that the rotary embedding takes
    const int32_t
        *logit_rows;  // [n_logit_rows] indices of the rows whose logits are wanted, ascending
    int rows, n_logit_rows, max_rows, threads;
    float *logits;  // [n_logit_rows][vocab_size]
    unsigned char
        *scratch;  // burin_model.scratch_bytes: buffers whose size does not grow with the rows
    const void *const
        *inputs;  // of a network (burin_network): its tensors, and the values of its symbols
    void *const *outputs;
    const int64_t *symbols;
    const int32_t *sequence_rows;  // [n_sequences] rows of each text, one after the other;
                                   // n_sequences 0: all rows are one's
    int n_sequences;
    uint64_t seed;                    // of random operators
    int64_t *data_dependent;          // the sizes that the run finds out, for its caller
    struct burin_barrier *barrier;    // runtime/engine/threads.h
    struct burin_profile *profile;    // NULL: off; runtime/engine/profile.h
    const burin_trace *trace;         // NULL: off
    const struct burin_ranks *ranks;  // NULL: this process does all of it; runtime/engine/ranks.h
    float *row_states;                // [rows][burin_model.row_states]
} burin_step;

// The same emitted text compiled for one CPU level.
typedef struct burin_variant {
    const char *cpu;          // a name in `burin targets`: "x86-64-v3", "armv8.2-a+dotprod"
    const char *needs;        // features in words, for --cpu and messages
    bool (*supported)(void);  // CPUID or HWCAP
    void (*forward)(const burin_step *, int thread);  // one thread's part of a step
    void (*exp)(float *values, size_t n);  // e^x in place, for the sampler; NULL: its own
    void (*encode)(const burin_step *,
                   int thread);  // of the encoder, over one sequence; NULL: none
} burin_variant;

// The default value of an input.
typedef enum burin_absent {
    BURIN_NEEDED,    // required input
    BURIN_ONES,      // a mask that hides nothing
    BURIN_ZEROS,     // token types
    BURIN_COUNTING,  // positions: 0, 1, 2 ... along the last axis
} burin_absent;

// A graph that is no decoder: named tensors in, named tensors out, sizes by symbols. A dimension of
// 0 or more is that number; -1 - k is dimension(k, symbols), and the first n_symbols of these are
// the symbols themselves.
typedef struct burin_tensor {
    const char *name, *type;  // "f32", "i64", ...
    int rank;
    int64_t dim[8];
    const char *shape;  // in words: "[batch, seq + 1]"
    burin_absent absent;
    int64_t least, most;  // of the values of an integer input that chooses rows of a table; any
                          // value when least > most
} burin_tensor;

typedef struct burin_symbol {
    const char *name;
    int64_t lower, upper;
    int input,
        axis;  // where its value is seen, as factor * value + offset; input -1: data-dependent
    int64_t factor, offset;
} burin_symbol;

typedef struct burin_network {
    const burin_tensor *inputs, *outputs;
    int n_inputs, n_outputs;
    const burin_symbol *symbols;
    int n_symbols, n_data_dependent;  // symbols of the inputs, followed by data-dependent ones
    int rows;                         // rows: the symbol that burin_step.rows is, or -1
    int64_t (*dimension)(int k, const int64_t *symbols);
    int tokens, embedding;  // the input that takes the ids of a text, the output that is its
                            // embedding; -1: none
    size_t (*scratch_bytes)(const int64_t *symbols);  // of one run; NULL: burin_model.scratch_bytes
    bool random;                                      // has random operators: the seed matters
    bool texts;  // a run may have several texts (burin_network_run_sequences)
} burin_network;

// What runs once for a sequence, before a slot's first row: it reads tensors, of which one may be
// the source's tokens, and leaves `length` rows (keys and values that the decoder attends to) in
// the slot's state. It works in the memory of the steps.
typedef struct burin_encoder {
    const burin_network *net;  // its inputs; no outputs
    int64_t length;            // a dimension of `net`
    int32_t max_rows;
    size_t row_bytes, local_bytes, scratch_bytes;
} burin_encoder;

// A part of a slot's state: `parts` (heads) of part_bytes each, in blocks of 16 positions. Parts
// without positions are one whole block.
typedef enum burin_layout { BURIN_WHOLE, BURIN_BY_POSITION, BURIN_BY_LANE } burin_layout;
enum { BURIN_STATE_BLOCK = 16 };  // positions
typedef struct burin_state_part {
    size_t offset;
    int32_t parts;
    burin_layout
        layout;  // in a block: positions one after the other, or side by side, lane_bytes each
    int32_t lane_bytes;
    size_t part_bytes, block_bytes;
    bool of_source;  // positions are those that an encoder has left
    // 0, or sliding window in rows, current row included: the state is a ring buffer of its last
    // rows, or of a recurrence (BURIN_WHOLE) its last row alone
    int32_t window;
} burin_state_part;

typedef struct burin_model {
    uint32_t abi;
    const char *name, *identity;  // identity: 16 hex digits over architecture, weights and options
    const char *info;             // text of --info: passes, flags, sizes
    int32_t vocab_size, context, max_rows;
    int32_t bos, eos[BURIN_MOST_EOS], n_eos;
    size_t row_bytes, local_bytes, slot_bytes, weight_bytes, arena_lower_bound;
    size_t step_weight_bytes;  // of the weights: the packed matrices, which every step of one row
                               // reads
    size_t tokenizer_offset, tokenizer_bytes;  // in the weights; 0 bytes: none
    // the chat template (template.h), or a network's card (card.h)
    size_t template_offset, template_bytes;
    size_t sums_offset;             // in the weights: burin_sums (integrity.h); 0: none
    const burin_variant *variants;  // best last
    int n_variants;
    const unsigned char *(*weights)(void);  // address of the packed weights
    const burin_kernel
        *kernels;  // every kernel of the emitted code, by the number it gives to burin_profile_mark
    int n_kernels;
    size_t scratch_bytes;
    const burin_network *net;      // NULL: a decoder
    const burin_encoder *encoder;  // NULL: none
    const int32_t
        *start;  // tokens that a decoder with an encoder begins with, unless it is told others
    // max_length: tokens of a generated sequence, these included; 0: as requested
    int32_t n_start, max_length;
    const int32_t *suppress,
        *begin_suppress;  // tokens that are never generated, or not as the first
    int32_t n_suppress, n_begin_suppress;
    const int32_t *forced_end;  // [n_forced_end], 0 or 1: the last token of a text that is as long
                                // as it may be
    // no_repeat: length of n-grams that occur once in a text; 0: unlimited
    int32_t n_forced_end, no_repeat;
    int32_t encoder_no_repeat;  // length of n-grams that must not repeat the source
    const int32_t *bad_words;   // [n_bad_words]: forbidden sequences, each after its length
    int32_t n_bad_words;
    int32_t min_length,
        min_new_tokens;  // tokens of a text before it may end; of its generated part
    // repetition penalty of each token in the text; 0: none
    float repetition_penalty;
    const burin_state_part *states;  // all of a slot
    int32_t n_states;
    const struct burin_model
        *draft;  // a smaller one with the same tokens, which guesses for this one; NULL: none
    const struct burin_speech *speech;  // recordings to text (sound/speech.h); NULL: takes none
    const struct burin_eyes *eyes;      // pictures in prompts (engine/picture.h); NULL: takes none
    const struct burin_modes *modes;    // of a program: its modes (text/modes.h); NULL: a library
    int32_t input_vocab_size;  // rows of the embedding, where they are not vocab_size; 0: they are
    // width of the state that each row leaves for a head that guesses tokens; 0: none
    int32_t row_states;
    // width of the vector that each row needs beside its token: of such a head; 0: none
    int32_t row_vectors;
} burin_model;

// Ids that a decoder may read, 0 to this number less 1: a model may read tokens that it never
// writes (an image's), vocab_size is the number of its logits.
static inline int32_t burin_input_vocabulary(const burin_model *m) {
    return m->input_vocab_size ? m->input_vocab_size : m->vocab_size;
}

static inline int burin_min(int a, int b) { return a < b ? a : b; }
static inline int burin_max(int a, int b) { return a > b ? a : b; }

// Quotients of sizes that may be below 0 or by 0 round towards minus infinity, as the compiler's
// do; by 0 they are 0.
static inline int64_t burin_floor_div(int64_t a, int64_t b) {
    return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int64_t burin_floor_mod(int64_t a, int64_t b) {
    return b == 0 ? 0 : a - b * burin_floor_div(a, b);
}

extern const burin_model burin_model_this;  // the program's own; libraries name theirs NAME_model
#endif
