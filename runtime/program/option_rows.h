// The table of options: a row each, with the field of burin_command that it sets and its line of --help. Only options.c reads
// it.
#ifndef BURIN_OPTION_ROWS_H
#define BURIN_OPTION_ROWS_H
#include "options.h"

typedef enum kind { FLAG, INTEGER, REAL, SEED, TEXT, LIST, OPTIONAL } kind;

// S: an encoder-decoder, which has a source; G: all that generate; A: all.
enum {
    D = BURIN_DECODER,
    N = BURIN_NETWORK | BURIN_EMBEDDER,
    E = BURIN_EMBEDDER,
    S = BURIN_ENCODER_DECODER,
    G = D | S,
    A = G | N
};

typedef struct option {
    unsigned programs;  // the kinds of programs that take it
    const char *name, *alias, *argument;
    kind kind;
    size_t place;        // in burin_command
    double least, most;  // INTEGER and REAL
    const char *help;
} option;

#define AT(field) offsetof(burin_command, field)
static const double huge = 1e15;
static const option options[] = {
    {E, "-f", "--file", "FILE", TEXT, AT(prompt_file), 0, 0, "read texts from FILE, one a line; - is standard input"},
    {E, "--tokens", NULL, "1,2,3", TEXT, AT(tokens), 0, 0, "token ids instead of a text"},
    {E, "--format", NULL, "KIND", TEXT, AT(format), 0, 0,
     "text (a line each), json (a line each, with its token ids), npy (all in one array)"},
    {E, "--similarity", NULL, NULL, FLAG, AT(similarity), 0, 0, "print the cosine of the embeddings of two texts"},
    {E, "--rank", NULL, "QUERY", TEXT, AT(rank), 0, 0,
     "print the texts that are nearest to QUERY, the nearest first, with their cosines; --format json: with their lines"},
    {E, "--top-k", NULL, "K", INTEGER, AT(most_texts), 1, 1e9, "texts that --rank prints (default 10)"},
    {N | S, "--input", NULL, "NAME=F.npy", LIST, AT(inputs), 0, 0,
     "the values of an input; --input F.npy where there is only one; with one axis more: a batch"},
    {N, "--output", "-o", "DIR", TEXT, AT(output), 0, 0, "write each output to DIR/NAME.npy (a / in a name becomes _)"},
    {N, "--random", NULL, NULL, FLAG, AT(random), 0, 0, "the same random values every time for inputs that are not given"},
    {N, "--seed", "-s", "S", SEED, AT(sampling.seed), 0, 0,
     "of random operators: the same numbers for the same seed (default 0)"},
    {N, "--dim", NULL, "NAME=N,...", TEXT, AT(dims), 0, 0, "sizes of --random and --bench that no input tells (default 16)"},
    {G, "-n", "--count", "N", INTEGER, AT(count), 0, 1e15,
     "tokens to generate (default 256, or what the model says); 0 only reads"},
    {D, "-f", "--file", "FILE", TEXT, AT(prompt_file), 0, 0,
     "read the prompt from FILE, every byte of it; - is standard input"},
    {S, "-f", "--file", "FILE", TEXT, AT(prompt_file), 0, 0, "read sources from FILE, one a line; - is standard input"},
    {G, "--tokens", NULL, "1,2,3", TEXT, AT(tokens), 0, 0, "token ids instead of text; prints ids"},
    {S, "--decoder-tokens", NULL, "0,5", TEXT, AT(decoder_tokens), 0, 0,
     "what the decoder begins with, instead of the model's own"},
    {D, "--tokenize", NULL, NULL, FLAG, AT(tokenize), 0, 0,
     "print the ids of the prompt, or of each line of -f FILE or standard input"},
    {D, "--pieces", NULL, NULL, FLAG, AT(pieces), 0, 0,
     "with --tokenize: a line for each id, with the bytes it stands for: id, from, to, piece"},
    {D, "--decode", NULL, "1,2,3", TEXT, AT(decode), 0, 0, "print the text of these ids"},
    {D, "--format", NULL, "KIND", TEXT, AT(format), 0, 0, "of --tokenize: text, or json, a line for each text"},
    {D, "--chat", NULL, NULL, FLAG, AT(chat), 0, 0, "talk: a line is a message, its answer follows; /help says more"},
    {D, "--messages", NULL, "M.json", TEXT, AT(messages), 0, 0,
     "answer a conversation: a list of messages, or an object with messages, tools ...; - is standard input"},
    {D, "--system", NULL, "TEXT", TEXT, AT(system), 0, 0, "what --chat begins with: how to behave"},
    {D, "--draft", NULL, "lookup", TEXT, AT(draft), 0, 0,
     "guess the next tokens by what followed the last ones earlier in the text: faster where it repeats itself, the same text"},
    {D, "--draft-max", NULL, "N", INTEGER, AT(draft_max), 1, 64, "guesses at once, at most (16)"},
    {D, "--session", "--prompt-cache", "F", TEXT, AT(session), 0, 0,
     "go on from F, where there is one, and keep there what was read and written; without a prompt its text goes on"},
    {D, "--session-read-only", "--prompt-cache-ro", NULL, FLAG, AT(session_read_only), 0, 0, "leave F as it is"},
    {D, "--json", NULL, NULL, FLAG, AT(json), 0, 0, "print the text as JSON, or the answer to --messages, its reasoning apart"},
    {D, "--logprobs", NULL, "N", INTEGER, AT(logprobs), 0, 100,
     "with --json: the logarithm of each token's probability, and those of the N likeliest"},
    {G, "--temp", "--temperature", "T", REAL, AT(sampling.temperature), 0, 1e6,
     "0 takes the likeliest token; 1 samples as trained (0.8; of an encoder-decoder 0)"},
    {G, "--top-k", NULL, "K", INTEGER, AT(sampling.top_k), 0, 1e9, "sample among the K likeliest (40); 0: among all"},
    {G, "--top-p", NULL, "P", REAL, AT(sampling.top_p), 0, 1, "the fewest that make up P of the probability (0.95); 1: all"},
    {G, "--min-p", NULL, "P", REAL, AT(sampling.min_p), 0, 1, "none below P times the likeliest (0.05); 0: all"},
    {G, "--typical", "--typical-p", "P", REAL, AT(sampling.typical), 0, 1,
     "those whose surprise is nearest the expected, that make up P (1: off)"},
    {G, "--repeat-penalty", NULL, "R", REAL, AT(sampling.repeat_penalty), 1e-3, 1e3,
     "make the last tokens less likely (1: off)"},
    {G, "--presence-penalty", NULL, "X", REAL, AT(sampling.presence_penalty), -1e3, 1e3,
     "take X from the logit of each of the last tokens (0)"},
    {G, "--frequency-penalty", NULL, "X", REAL, AT(sampling.frequency_penalty), -1e3, 1e3,
     "take X for each time that it stands there (0)"},
    {G, "--repeat-last-n", NULL, "N", INTEGER, AT(sampling.repeat_last_n), -1, 1e9,
     "the last tokens of these three: so many (64); -1: all"},
    {G, "--dry-multiplier", NULL, "X", REAL, AT(sampling.dry_multiplier), 0, 1e3,
     "DRY: take X * base^(length - allowed) from what would continue a repeated sequence (0: off)"},
    {G, "--dry-base", NULL, "X", REAL, AT(sampling.dry_base), 1, 1e3, "of DRY (1.75)"},
    {G, "--dry-allowed-length", NULL, "N", INTEGER, AT(sampling.dry_allowed_length), 0, 1e9,
     "of DRY: tokens that may repeat for nothing (2)"},
    {G, "--dry-penalty-last-n", NULL, "N", INTEGER, AT(sampling.dry_penalty_last_n), -1, 1e9,
     "of DRY: among the last N tokens (-1: all; 0: off)"},
    {G, "--dry-sequence-breaker", NULL, "TEXT", LIST, AT(dry_breakers), 0, 0,
     "of DRY: no repetition reaches across it; in place of a newline, : \" and *; none: without"},
    {G, "--xtc-probability", NULL, "P", REAL, AT(sampling.xtc_probability), 0, 1,
     "XTC: with this chance leave out all tokens that reach the threshold but the least likely of them (0: off)"},
    {G, "--xtc-threshold", NULL, "P", REAL, AT(sampling.xtc_threshold), 0, 1, "of XTC (0.1; above 0.5: off)"},
    {G, "--dynatemp-range", NULL, "T", REAL, AT(sampling.dynatemp_range), 0, 1e6,
     "temperature from --temp - T to --temp + T, by how uncertain the next token is (0: off)"},
    {G, "--dynatemp-exp", NULL, "X", REAL, AT(sampling.dynatemp_exponent), 0, 1e3, "its exponent (1)"},
    {G, "--mirostat", NULL, "N", INTEGER, AT(sampling.mirostat), 0, 2,
     "2: mirostat 2.0 in place of top-k, typical, top-p, min-p and XTC (0: off)"},
    {G, "--mirostat-ent", NULL, "X", REAL, AT(sampling.mirostat_tau), 0, 1e3,
     "of mirostat: the surprise it aims at, in bits (5)"},
    {G, "--mirostat-lr", NULL, "X", REAL, AT(sampling.mirostat_eta), 0, 1e3, "of mirostat: how fast it learns (0.1)"},
    {G, "--logit-bias", "-l", "ID+X", LIST, AT(biases), 0, 0,
     "add X to a token's logit: 15043+1, 15043-1, 15043-inf; several times, or with commas"},
    {G, "--seed", "-s", "S", SEED, AT(sampling.seed), 0, 0,
     "same seed, same text, on every CPU and thread count (default: random)"},
    {G, "--stop", NULL, "TEXT", LIST, AT(stops), 0, 0, "end before this text; may be given several times"},
    {G, "--grammar", "--grammar-file", "F.gbnf", TEXT, AT(grammar), 0, 0,
     "the text follows a grammar in llama.cpp's notation: a file, or the rules themselves"},
    {G, "--json-schema", "-j", "F.json", TEXT, AT(json_schema), 0, 0,
     "the text is JSON that a schema describes: a file, or the schema itself"},
    {G, "--json-object", NULL, NULL, FLAG, AT(json_object), 0, 0, "the text is a JSON object"},
    {G, "--ignore-eos", NULL, NULL, FLAG, AT(ignore_eos), 0, 0, "go on after the end of a text"},
    {G, "--ctx", NULL, "N", INTEGER, AT(context), 1, 1e9, "use only N of the context that was built"},
    {D, "--shift", NULL, NULL, FLAG, AT(shift), 0, 0,
     "when the context is full, drop the older half, read the rest again, go on"},
    {A, "-t", "--threads", "N", INTEGER, AT(threads), 1, 1024, "threads (default: the cores this process may use)"},
    {G, "--chunk", NULL, "N", INTEGER, AT(chunk), 1, 1e9, "rows at once while reading the prompt, at most as built"},
    {A, "--cpu", NULL, "NAME", TEXT, AT(cpu), 0, 0, "run the code for this CPU (--info lists them)"},
    {G, "--logits", NULL, "F.npy", TEXT, AT(logits_file), 0, 0,
     "write the logits of every row, the prompt's too: [rows, vocabulary] f32"},
    {G, "--logits-hash", NULL, NULL, FLAG, AT(logits_hash), 0, 0, "print a 64-bit hash of the same logits"},
    {D, "--perplexity", NULL, "F.txt", TEXT, AT(perplexity_file), 0, 0, "perplexity of a text, in windows read alone"},
    {D, "--window", NULL, "N", INTEGER, AT(window), 2, 1e9, "tokens in a window of --perplexity (default: 256 or the context)"},
    {N, "--hash", "--logits-hash", NULL, FLAG, AT(logits_hash), 0, 0, "print a 64-bit hash of all outputs"},
    {N, "--bench", NULL, NULL, FLAG, AT(bench), 0, 0,
     "how long a run takes, the median of many; on random inputs where none are given"},
    {G, "--bench", NULL, NULL, FLAG, AT(bench), 0, 0,
     "tokens a second, reading and writing, and the time of matrix products, at several positions"},
    {G, "--prefill", NULL, "N", INTEGER, AT(prefill), 1, 1e9, "tokens of the prompt that --bench reads (default 128)"},
    {G, "--positions", NULL, "16,120", TEXT, AT(positions), 0, 0, "the positions of --bench (default: 0, 16, 120, 512 ...)"},
    {A, "--profile", NULL, "[=F.json]", OPTIONAL, AT(profile), 0, 0,
     "time in each kernel, with the source it came from; F.json: threads, kernels and waits for Perfetto or chrome://tracing"},
    {A, "--info", NULL, NULL, FLAG, AT(info), 0, 0, "what this program is: model, passes, memory, CPUs"},
    {A, "--verify", NULL, NULL, FLAG, AT(verify), 0, 0, "read all weights: are they as they were built?"},
    {A, "-v", "--verbose", NULL, FLAG, AT(verbose), 0, 0, "speed and settings on stderr, also when it is no terminal"},
    {A, "-h", "--help", NULL, FLAG, AT(help), 0, 0, "this text"},
    {A, "--version", NULL, NULL, FLAG, AT(version), 0, 0, "name and identity"},
};
enum { N_OPTIONS = sizeof options / sizeof *options };
_Static_assert(N_OPTIONS <= (int)BURIN_MOST_OPTIONS, "burin_command has a place for each option");
#endif
