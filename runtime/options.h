// The command line of a program, from one table: names, kinds, ranges and the text of --help.
#ifndef BURIN_OPTIONS_H
#define BURIN_OPTIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct burin_sampling {
    double temperature;  // below 0: the default
    double top_p, min_p, repeat_penalty;
    int64_t top_k;
    uint64_t seed;
    bool has_seed;
} burin_sampling;

// What kind of program a model becomes: each takes its own options.
typedef enum burin_kind {
    BURIN_DECODER = 1,          // tokens in, logits out, one after the other
    BURIN_NETWORK = 2,          // tensors in, tensors out
    BURIN_EMBEDDER = 4,         // a network that also takes texts, and gives the embedding of each
    BURIN_ENCODER_DECODER = 8,  // a source in, then as a decoder
} burin_kind;

enum { BURIN_MOST_INPUTS = 64, BURIN_MOST_STOPS = 16, BURIN_MOST_OPTIONS = 256 };

typedef struct burin_command {
    const char *prompt, *prompt_file, *tokens, *decoder_tokens;  // what to read; NULL: not given
    const char *messages, *system;                               // a conversation: a file, what it begins with
    const char *positions;                                       // of --bench; NULL: some
    const char *logits_file, *perplexity_file, *cpu;
    char **texts;  // of an embedder: n_texts
    int n_texts;
    const char *format;                     // of embeddings: "text", "json", "npy"
    const char *inputs[BURIN_MOST_INPUTS];  // NAME=F.npy, or F.npy
    int n_inputs;
    const char *stops[BURIN_MOST_STOPS];  // strings that end a text
    int n_stops;
    const char *output, *dims;
    int64_t count;                            // -1: the default
    int64_t threads, context, chunk, window;  // 0: the default
    bool given[BURIN_MOST_OPTIONS];           // by the row of the table of options (option_rows.h)
    burin_sampling sampling;
    bool chat, json, tokenize, pieces;
    const char *decode;  // ids that --tokenize turns into a text
    bool info, verify, bench, profile, logits_hash, random, similarity, shift, ignore_eos, verbose, help, version;
} burin_command;

// Ends the program with status 2 and a hint for what is no command line, with status 1 for values that make no sense.
burin_command burin_command_line(burin_kind, int argc, char **argv);
void burin_print_help(burin_kind, const char *model_name);  // usage and options
#endif
