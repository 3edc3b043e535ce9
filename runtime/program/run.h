// One run of a program: a model opened for one slot, the tokens it has read, and what is recorded of its logits.
#ifndef BURIN_RUN_H
#define BURIN_RUN_H
#include <signal.h>

#include "base/allocate.h"
#include "engine/forward.h"
#include "npy.h"
#include "options.h"
#include "sampler/sampler.h"

struct burin_tools_text;
struct burin_tool_format;

typedef struct burin_run {
    const burin_model *model;
    const burin_command *command;
    burin_session *session;
    int32_t slot;            // of the session
    int32_t context, chunk;  // tokens in the slot, rows at once: the model's, or fewer by --ctx and --chunk
    burin_row *rows;         // [chunk]
    float *logits;           // [chunk][vocab_size]
    bool recording;          // every row's logits are hashed, and written to `npy` with --logits
    uint64_t hash;
    burin_npy npy;
    volatile sig_atomic_t *stop;  // NULL, or ends the reading of a prompt, and the answer, when it is set
} burin_run;

// Opens the model with the options of the command line. Every mistake ends the program with a sentence and status 1.
void burin_run_open(burin_run *, const burin_model *, const burin_command *);
void burin_run_close(burin_run *);
// What the command line leaves open: how many tokens to generate, and how.
int64_t burin_run_count(const burin_run *);
double burin_run_temperature(const burin_run *);

uint64_t burin_random_seed_now(void);  // below 2^53
// The sampler that the command line asks for; the seed is random when none is given.
void burin_run_open_sampler(const burin_run *, burin_sampler *);
void burin_run_restart_sampler(const burin_run *, burin_sampler *, uint64_t seed);  // as if it were opened with this seed
void burin_run_close_sampler(burin_sampler *);

// What --grammar asks for; NULL: nothing.
struct burin_constraint *burin_run_constraint(const burin_run *);
// What the tools of messages in JSON ask for: their calls in the template's form, which it opens. NULL: nothing.
struct burin_constraint *burin_tools_constraint(const burin_run *, const struct burin_tools_text *, struct burin_tool_format *);

void burin_run_record(burin_run *);  // starts --logits and --logits-hash, once the input is known to be good

// Reads n tokens into the slot, a chunk of rows at a time. Returns the logits of the last one; NULL: run->stop came before it.
float *burin_run_read(burin_run *, const int32_t *tokens, int32_t n);

void burin_run_record_rows(burin_run *, float *logits, int32_t rows);  // when run->recording: rows that burin_run_score gave

// The same for one chunk (n <= run->chunk), with the logits of its first `wanted` rows in run->logits.
void burin_run_score(burin_run *, const int32_t *tokens, int32_t n, int32_t wanted);

// A session by the options of the command line, without a run: for a network. Every mistake ends the program with a sentence.
burin_session *burin_open(const burin_model *, const burin_command *, const burin_options *sizes);
void burin_close(burin_session *);  // prints --profile

void burin_out_of_context(const burin_run *, const char *what, int64_t tokens);  // ends the program, names both numbers
const char *burin_cpu_names(const burin_model *);                                // "x86-64, x86-64-v3", best last

burin_kind burin_kind_of(const burin_model *);

// What a program of each kind does; they return the exit status.
int burin_run_text(const burin_model *, const burin_command *);      // of a decoder: one of burin_generate ...
int burin_run_network(const burin_model *, const burin_command *);   // network_program.c
void burin_note_seed(const burin_network *, const burin_command *);  // says that --seed has no effect, where it has none
int burin_embed(const burin_model *, const burin_command *);         // embed.c
int burin_label(const burin_model *, const burin_command *);         // labels.c
int burin_generate(burin_run *);                                     // generate.c
#ifdef BURIN_SERVER
int burin_serve(burin_run *);  // runtime/server
#else
#define burin_serve NULL
#endif
int burin_perplexity(burin_run *);                                        // perplexity.c
int burin_bench(burin_run *);                                             // bench.c
void burin_bench_encoder(burin_run *);                                    // of an encoder-decoder's --bench
void burin_show_roofline(burin_run *, const int32_t *tokens, int32_t n);  // roofline.c: of a step of one row, and of some of n
// attention_dump.c: what --attention asks for, recorded from the first step on and written at the end.
const burin_trace *burin_attention_open(const burin_session *, const burin_command *);
void burin_attention_close(const burin_session *);
// profile.c. `file`: "" or where a trace goes. Counters of the CPU, where they may be read, are those of threads made later.
void burin_profile_open(burin_profile *, const char *file, int threads);
void burin_profile_close(burin_profile *, const burin_model *, const char *file, int threads);  // prints it
void burin_counters_open(void);
#endif
