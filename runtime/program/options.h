// The command line of a program, from one table: names, kinds, ranges and the text of --help.
#ifndef BURIN_OPTIONS_H
#define BURIN_OPTIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/sampling_settings.h"

// What kind of program a model becomes: each takes its own options.
typedef enum burin_kind {
    BURIN_DECODER = 1,          // tokens in, logits out, one after the other
    BURIN_NETWORK = 2,          // tensors in, tensors out
    BURIN_EMBEDDER = 4,         // a network that also takes texts, and gives the embedding of each
    BURIN_ENCODER_DECODER = 8,  // a source in, then as a decoder
    BURIN_TRANSCRIBER = 32,     // an encoder-decoder that takes recordings
    // a network that also takes texts, and gives labels, or words for masks
    BURIN_LABELLER = 16,
    BURIN_CLASSIFIER = 64,  // a network that also takes pictures, and gives labels
    BURIN_SPEAKER = 128,    // a network that also takes texts, and gives speech
    BURIN_LISTENER = 512,   // a network that also takes recordings, and gives texts or labels
    BURIN_SEER = 256,       // a decoder that also takes pictures
} burin_kind;

enum { BURIN_MOST_OPTIONS = 256, BURIN_MOST_OF_LIST = 64, BURIN_MOST_BEAMS = 64 };

// The values of an option that may be given several times.
typedef struct burin_texts {
    const char *text[BURIN_MOST_OF_LIST];
    int n;
} burin_texts;

// --serve
typedef struct burin_server_options {
    const char *address;                 // HOST:PORT or a path; "": the default; NULL: no server
    const char *host, *alias, *origins;  // NULL: the default
    const char *log_format;              // "text", "json", "none"; NULL: text
    burin_texts keys;                    // API keys; none: requests need no key
    const char *cache_dir, *slot_save_path;  // folders; NULL: none
    const char *replay;                      // a file with a receipt; NULL: none
    int64_t cache_ram, cache_disk;           // MiB; 0: none, the default
    bool show_slots, metrics;                // answer /slots, /metrics
    int64_t port, queue;                     // -1: the default
    int64_t slots, max_tokens, max_body, max_messages, max_connections, timeout;  // 0: the default
} burin_server_options;

typedef struct burin_command {
    const char *prompt, *prompt_file, *tokens, *decoder_tokens;  // what to read; NULL: not given
    // a conversation: a file, its first message
    const char *messages, *system;
    const char *media_path;             // folder of pictures that messages name; NULL: none
    const char *history;                // lines of earlier conversations
    const char *tool_choice;            // auto, none, required
    const char *draft;                  // where guesses of the next tokens come from
    const char *session;                // tokens and state from run to run
    const char *grammar, *json_schema;  // rules, or a file
    const char *positions;              // of --bench; NULL: some
    const char *logits_file, *perplexity_file, *cpu;
    const char *attention_file, *layers;  // layers NULL: all
    char **texts;                         // of an embedder: n_texts; recordings of a transcriber
    int n_texts;
    const char *rank;                       // of an embedder: the query
    const char *embeddings;                 // of --rank: a saved .npy of the lines
    double threshold;                       // of objects in a picture; -1: the default
    int64_t most_texts;                     // of --rank, of labels; 0: the default
    int64_t batch_size;                     // texts in a step; 0: the default
    const char *prompt_name, *prompt_text;  // prefix of each text of an embedder
    const char *format;                     // of embeddings: "text", "json", "npy"
    burin_texts inputs;                     // NAME=F.npy, or F.npy
    burin_texts images;                     // pictures before a prompt
    burin_texts stops;                      // strings that end a text
    burin_texts dry_breakers;               // none: the usual ones
    burin_texts biases;                     // "15043+1.5,29-inf"
    const char *output, *dims;
    int64_t count;                            // -1: the default
    int64_t beams;                            // 0: none
    double length_penalty;                    // of beams
    const char *early_stopping;               // early stopping: "true", "false", "never"
    int64_t draft_max;                        // guesses at once; 0: the default
    int64_t prefill;                          // tokens of --bench's prompt; 0: the usual
    int64_t logprobs;                         // -1: none
    int64_t threads, context, chunk, window;  // 0: the default
    const char *shares;                       // of ranks: "3,1"
    const char *over, *resume;                // "mpi"; a file
    int64_t rank_timeout;                     // seconds; 0: the default
    bool rank_messages, numa;        // between ranks of one machine, too; a rank beside each memory
    bool given[BURIN_MOST_OPTIONS];  // by the row of the table of options (option_rows.h)
    burin_sampling sampling;
    bool lines;  // each line of prompt_file is a prompt
    bool chat, raw, session_read_only, json, json_object, tokenize, pieces;
    const char *decode;      // ids that --tokenize turns into a text
    const char *profile;     // NULL: off; "": printed; else also a trace in this file
    const char *completion;  // a shell's name; NULL: none is printed
    const char *help;        // a group of options; "": the usual ones; NULL: no help
    burin_server_options server;
    const char *language;  // of a recording: "en"; NULL: detected
    bool csv, vad,
        condition;         // of a recording: a table; silence skipped; windows know the text before
    bool word_timestamps;  // of a recording: times of words
    bool translate, srt, vtt;  // to English; subtitles
    const char *voice,
        *phonemes;        // of speech: who speaks; what, in place of a text; NULL: not given
    double speed, noise;  // factors of speech [1]
    bool pair;            // two texts after the other are one
    bool info, verify, bench, roofline, logits_hash, random, similarity, shift, ignore_eos, verbose,
        help_all, version;
} burin_command;

// Ends the program with status 2 and a hint for a syntax error, with status 1 for invalid values.
burin_command burin_command_line(burin_kind, int argc, char **argv);
// Ends the program with status 2 where options exclude or lack each other; notes those without
// effect. burin_command_line calls it.
void burin_check_options(burin_kind, const burin_command *);
// A hash over the options that affect a line's result.
uint64_t burin_command_sum(const burin_command *);
void burin_print_help(burin_kind, const char *model_name,
                      const char *group);  // usage and the usual options; or a group's
void burin_print_completion(burin_kind, const char *shell);  // ends the program for other shells
void burin_print_all_help(burin_kind, const char *model_name);
#endif
