// One run of a program: a model opened for one slot, its tokens, and recorded logits.
#ifndef BURIN_RUN_H
#define BURIN_RUN_H
#include <signal.h>

#include "base/allocate.h"
#include "engine/forward.h"
#include "program/npy.h"
#include "program/options.h"
#include "text/sights.h"

typedef struct burin_run {
    const burin_model *model;
    const burin_command *command;
    burin_session *session;
    int32_t slot;  // of the session
    int32_t context,
        chunk;  // tokens in the slot, rows at once: the model's, or fewer by --ctx and --chunk
    burin_row *rows;  // [chunk]
    float *logits;    // [chunk][vocab_size]
    bool recording;   // every row's logits are hashed, and written to `npy` with --logits
    uint64_t hash;
    burin_npy npy;
    burin_sights sights;            // pictures that the model has seen
    struct burin_guesser *guesser;  // sees the states of each step; NULL: nothing does
    burin_embedding *vectors;       // [chunk] of a model with eyes: rows of pictures, or tokens
    volatile sig_atomic_t
        *stop;  // NULL, or ends the reading of a prompt, and the answer, when it is set
} burin_run;

// Opens the model with the options of the command line. Every mistake ends the program with a
// sentence and status 1.
void burin_run_open(burin_run *, const burin_model *, const burin_command *);
void burin_run_close(burin_run *);
// Defaults of the command line: the number of tokens to generate, and the sampler.
int64_t burin_run_count(const burin_run *);
double burin_run_temperature(const burin_run *);

void burin_run_record(
    burin_run *);  // starts --logits and --logits-hash, once the input is known to be good

// Reads n tokens into the slot, a chunk of rows at a time. Returns the logits of the last one;
// NULL: run->stop came before it.
float *burin_run_read(burin_run *, const int32_t *tokens, int32_t n);

void burin_run_record_rows(burin_run *, float *logits,
                           int32_t rows);  // when run->recording: rows that burin_run_score gave

// The same for one chunk (n <= run->chunk), with the logits of its rows first to end - 1 in
// run->logits.
void burin_run_score(burin_run *, const int32_t *tokens, int32_t n, int32_t first, int32_t end);

// A session by the options of the command line, without a run: for a network. Every mistake ends
// the program with a sentence.
burin_session *burin_open(const burin_model *, const burin_command *, const burin_options *sizes);
void burin_close(burin_session *);  // prints --profile

void burin_out_of_context(const burin_run *, const char *what,
                          int64_t tokens);         // ends the program, names both numbers
const char *burin_cpu_names(const burin_model *);  // "x86-64, x86-64-v3", best last

#ifdef BURIN_SERVER
int burin_serve(burin_run *);  // runtime/server
int burin_serve_recordings(burin_run *);
int burin_replay(burin_run *);  // --replay
struct burin_card;
// Of an encoder; `card`: of its head, or NULL: it embeds.
int burin_serve_texts(const burin_model *, const burin_command *, const struct burin_card *);
int burin_serve_voice(const burin_model *, const burin_command *);
int burin_serve_listener(const burin_model *, const burin_command *);
#else
#define burin_serve            NULL
#define burin_serve_recordings NULL
#define burin_replay           NULL
#endif
#endif
