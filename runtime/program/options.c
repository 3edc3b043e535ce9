// The reader of the table of options.
#include "program/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/hash.h"
#include "program/option_find.h"
#include "program/option_rows.h"
#include "program/output.h"

static _Noreturn void bad_command_line(const char *what, const char *hint_before,
                                       const char *name) {
    burin_stop(BURIN_BAD_COMMAND_LINE, "%s\nhint: %s%s", what, hint_before, name);
}

// An option as it was written.
typedef struct given {
    const option *option;
    char name[64];
    const char *value;
} given;

static _Noreturn void out_of_range(const given *g) {
    const option *o = g->option;
    if (o->most >= huge)
        burin_stop(BURIN_BAD_COMMAND_LINE, "%s %s: expected a number from %g", g->name, g->value,
                   o->least);
    burin_stop(BURIN_BAD_COMMAND_LINE, "%s %s: expected a number from %g to %g", g->name, g->value,
               o->least, o->most);
}

// 0,8 and 90% and 4k are numbers to their writers: the hint has them as they are written here.
static _Noreturn void not_a_number(const given *g, double real, const char *end) {
    double factor = !strcmp(end, "%") ? 0.01 : !strcmp(end, "k") || !strcmp(end, "K") ? 1024 : 0;
    if (end != g->value && factor > 0)
        burin_stop(BURIN_BAD_COMMAND_LINE, "%s %s: not a number\nhint: %s %g", g->name, g->value,
                   g->name, real * factor);
    if (end != g->value && *end == ',')
        burin_stop(BURIN_BAD_COMMAND_LINE, "%s %s: not a number\nhint: %s %.*s.%s", g->name,
                   g->value, g->name, (int)(end - g->value), g->value, end + 1);
    burin_stop(BURIN_BAD_COMMAND_LINE, "%s %s: not a number\nhint: %s %s", g->name, g->value,
               g->name, g->option->argument);
}

static void set_number(void *place, const given *g) {
    const option *o = g->option;
    char *end;
    double real = strtod(g->value, &end);
    if (end == g->value || *end) not_a_number(g, real, end);
    if (!(real >= o->least && real <= o->most)) out_of_range(g);
    if (o->kind == REAL) {
        *(double *)place = real;
        return;
    }
    if (real != floor(real))
        burin_stop(BURIN_BAD_COMMAND_LINE, "%s %s: not a whole number", g->name, g->value);
    *(int64_t *)place = (int64_t)real;
}

static void set_seed(burin_command *c, const given *g) {
    char *end;
    errno = 0;
    c->sampling.seed = strtoull(g->value, &end, 0);
    c->sampling.has_seed = true;
    if (end == g->value || *end || errno || *g->value == '-')
        burin_stop(BURIN_BAD_COMMAND_LINE, "%s %s: not a whole number from 0 to 2^64 - 1", g->name,
                   g->value);
}

static void add_to_list(burin_texts *list, const given *g) {
    if (!*g->value)
        burin_stop(BURIN_BAD_COMMAND_LINE, "%s takes a text that is not empty", g->name);
    if (list->n == BURIN_MOST_OF_LIST)
        burin_stop(BURIN_BAD_COMMAND_LINE, "%s: at most %d of them", g->name, BURIN_MOST_OF_LIST);
    list->text[list->n++] = g->value;
}

static void set_option(burin_command *c, const given *g) {
    void *place = (char *)c + g->option->place;
    c->given[g->option - options] = true;
    switch (g->option->kind) {
        case FLAG:
            *(bool *)place = true;
            break;
        case TEXT:
            *(const char **)place = g->value;
            break;
        case SEED:
            set_seed(c, g);
            break;
        case OPTIONAL:
            *(const char **)place = g->value ? g->value : "";
            break;
        case LIST:
            add_to_list(place, g);
            break;
        case INTEGER:
        case REAL:
            set_number(place, g);
            break;
    }
}

typedef struct line {
    burin_kind program;
    int argc;
    char **argv;
} line;

// A prompt of several words without quotes: the hint has them all, up to the next option.
static _Noreturn void stop_at_second_prompt(const char *first, const line *l, const char *second) {
    char words[200];
    size_t n = (size_t)snprintf(words, sizeof words, "%.100s", first);
    int i = 1;
    while (i < l->argc && l->argv[i] != second) i++;
    for (; i < l->argc && l->argv[i][0] != '-' && n < sizeof words; i++)
        n += (size_t)snprintf(words + n, sizeof words - n, " %s", l->argv[i]);
    burin_stop(BURIN_BAD_COMMAND_LINE, "more than one prompt\nhint: put it in quotes: %s \"%s\"",
               burin_program_name, words);
}

// Parses one option at argv[i], `--name value` or `--name=value`; returns the index of the last
// used argument.
static int read_option(burin_command *c, const line *l, int i) {
    char **argv = l->argv;
    given g;
    size_t length = strcspn(argv[i], "=");
    g.value = argv[i][length] ? argv[i] + length + 1 : NULL;
    if (length >= sizeof g.name) length = sizeof g.name - 1;
    memcpy(g.name, argv[i], length);
    g.name[length] = 0;
    g.option = &options[burin_find_option(l->program, g.name)];
    bool is_flag = g.option->kind == FLAG || g.option->kind == OPTIONAL;
    if (g.option->kind == FLAG && g.value)
        burin_stop(BURIN_BAD_COMMAND_LINE, "%s takes no value", g.name);
    if (!is_flag && !g.value && i + 1 < l->argc) g.value = argv[++i];
    if (!is_flag && !g.value)
        burin_stop(BURIN_BAD_COMMAND_LINE, "%s needs a value\nhint: %s %s", g.name, g.name,
                   g.option->argument);
    if (g.option->place == AT(prompt) && c->prompt) stop_at_second_prompt(c->prompt, l, g.value);
    set_option(c, &g);
    return i;
}

// Texts are stored over parsed words of the command line.
static void set_prompt(burin_command *c, const line *l, char *text) {
    if (c->help && !*c->help) {
        c->help = text;  // --help GROUP
        return;
    }
    if (c->server.address && !*c->server.address) {
        c->server.address = text;  // --serve HOST:PORT
        return;
    }
    if (l->program & (E | L | T | P | V | H)) {
        l->argv[c->n_texts++] = text;
        c->texts = l->argv;
        return;
    }
    if (l->program == BURIN_NETWORK)
        burin_stop(BURIN_BAD_COMMAND_LINE,
                   "\"%s\" is no option\nhint: inputs are .npy files: --input NAME=F.npy%s", text,
                   strstr(text, ".npy") ? "" : "; --info names them");
    if (c->prompt) stop_at_second_prompt(c->prompt, l, text);
    c->prompt = text;
}

static void check_format(const burin_command *c) {
    static const char *const formats[] = {"text", "json", "npy"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!c->format || !strcmp(c->format, formats[i])) return;
    burin_stop(BURIN_BAD_COMMAND_LINE, "--format %s: expected text, json or npy", c->format);
}

// --over: lines, or a batch, that are independent of each other.
static void check_over(burin_kind program, const burin_command *c) {
    const char *alone = c->shares            ? "--shares"
                        : c->session         ? "--session"
                        : c->attention_file  ? "--attention"
                        : c->perplexity_file ? "--perplexity"
                        : c->bench           ? "--bench"
                        : c->similarity      ? "--similarity"
                        : c->logits_file     ? "--logits"
                                             : NULL;
    if (c->resume && !c->over)
        bad_command_line("--resume without --over", "--over=mpi --resume ", "F");
    if (!c->over) return;
    if (strcmp(c->over, "mpi"))
        burin_stop(BURIN_BAD_COMMAND_LINE, "--over %s: expected mpi\nhint: --over=mpi", c->over);
    if (!alone && program & G && c->logits_hash) alone = "--logits-hash";
    if (alone)
        bad_command_line("--over gives lines of a file to ranks, each alone", "leave out ", alone);
    if (c->prompt || c->tokens || c->n_texts || c->chat || c->messages)
        bad_command_line("--over gives lines of a file to ranks", "--over=mpi -f ", "FILE");
}

// An option that looks at each token as it is chosen, or at one slot.
static const char *one_text_at_a_time(const burin_command *c) {
    return c->grammar         ? "--grammar"
           : c->json_schema   ? "--json-schema"
           : c->json_object   ? "--json-object"
           : c->logprobs >= 0 ? "--logprobs"
           : c->session       ? "--session"
           : c->draft         ? "--draft"
           : c->shift         ? "--shift"
                              : NULL;
}

static void check_history(const burin_command *c) {
#ifndef BURIN_EDITOR
    if (c->history)
        burin_stop(BURIN_BAD_COMMAND_LINE,
                   "--history: this program has no line editor\nhint: burin build MODEL "
                   "--line-editor=libedit; rlwrap %s --chat",
                   burin_program_name);
#endif
    if (c->history && !c->chat && (c->prompt || c->prompt_file || c->tokens || c->messages))
        bad_command_line("--history is of a conversation", "--chat --history ", c->history);
}

static bool is_given(const burin_command *c, const char *name) {
    for (int i = 0; i < N_OPTIONS; i++)
        if (c->given[i] && !strcmp(options[i].name, name)) return true;
    return false;
}

// Options that only a run on tensors (--input) takes.
static void check_recordings(burin_kind program, const burin_command *c) {
    static const char *const others[] = {
        "--tokens",      "--decoder-tokens", "--beams",           "--top-k",
        "--top-p",       "--min-p",          "--typical",         "--logit-bias",
        "--stop",        "--grammar",        "--ignore-eos",      "--json-schema",
        "--json-object", "--mirostat",       "--xtc-probability", "--dynatemp-range"};
    static const char *const own[] = {"--language", "--translate", "--prompt",
                                      "--srt",      "--vtt",       "--json",
                                      "--csv",      "--vad",       "--condition"};
    if (program != BURIN_TRANSCRIBER || c->bench) return;
    for (size_t i = 0; !c->inputs.n && i < sizeof others / sizeof *others; i++)
        if (is_given(c, others[i]))
            bad_command_line("that is not for recordings", "leave out ", others[i]);
    for (size_t i = 0; c->inputs.n && i < sizeof own / sizeof *own; i++)
        if (is_given(c, own[i]))
            bad_command_line("that is for recordings, not for --input", "leave out ", own[i]);
    if (c->inputs.n && c->n_texts)
        bad_command_line("more than one input", "give recordings or ", "--input");
}

// Requests to a server bring the settings of their own answers.
static void check_server(const burin_command *c) {
    static const char *const others[] = {
        "-n",         "--stop",        "--grammar",    "--json-schema", "--json-object", "--json",
        "--logprobs", "--session",     "--beams",      "--shift",       "--chat",        "--raw",
        "--messages", "--tokens",      "-f",           "--system",      "--tool-choice", "--bench",
        "--logits",   "--logits-hash", "--perplexity", "--attention",   "--srt",         "--vtt",
        "--csv",      "--translate",   "--output",     "--phonemes"};
    if (!c->server.address && !c->server.replay) return;
    if (c->server.address && c->server.replay)
        bad_command_line("--replay needs no server", "leave out ", "--serve");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_given(c, others[i]))
            bad_command_line("each request says what its answer is like", "leave out ", others[i]);
    if (c->n_texts)
        bad_command_line("requests bring texts and recordings", "leave out ", c->texts[0]);
}

// Each line is a text of its own, and several are written at once.
static void check_lines(const burin_command *c) {
    const char *alone = c->session           ? "--session"
                        : c->shift           ? "--shift"
                        : c->beams > 1       ? "--beams"
                        : c->draft           ? "--draft"
                        : c->tokens          ? "--tokens"
                        : c->logits_file     ? "--logits"
                        : c->logits_hash     ? "--logits-hash"
                        : c->attention_file  ? "--attention"
                        : c->messages        ? "--messages"
                        : c->images.n        ? "--image"
                        : c->chat            ? "--chat"
                        : c->perplexity_file ? "--perplexity"
                        : c->bench           ? "--bench"
                        : c->tokenize        ? "--tokenize"
                        : c->prompt          ? "the prompt"
                        : c->over            ? "--lines: --over reads lines by itself"
                                             : NULL;
    if (c->lines && alone)
        bad_command_line("--lines writes a text for each line", "leave out ", alone);
    if (!c->lines && !c->server.address && is_given(c, "--parallel"))
        bad_command_line("--parallel is for --lines and --serve", "--lines -f FILE ",
                         "--parallel N");
}

static void check_combination(burin_kind program, const burin_command *c) {
    bool together = program & D;  // a file follows a prompt, and both may begin a chat
    int text =
        together ? c->prompt || c->prompt_file : (c->prompt != NULL) + (c->prompt_file != NULL);
    int inputs = text + (c->tokens != NULL) + (c->n_texts > 0 && program != BURIN_TRANSCRIBER) +
                 (c->chat && !text) + (c->messages != NULL);
    check_format(c);
    if (program & (L | H) && c->format && !strcmp(c->format, "npy"))
        bad_command_line("--format npy: expected text or json", "--format ", "json");
    if (c->prompt_name && c->prompt_text)
        bad_command_line("two prompts", "give one of --prompt-name and ", "--prompt");
    if (c->similarity && c->n_texts != 2)
        bad_command_line("--similarity compares two texts", "--similarity A ", "B");
    if (c->rank && (c->tokens || c->similarity || c->output || c->logits_hash ||
                    (c->format && !strcmp(c->format, "npy"))))
        bad_command_line("--rank prints texts", "--rank QUERY ", "-f FILE");
    if (c->rank && program & P && c->n_texts + (c->prompt_file != NULL) == 0)
        bad_command_line("--rank needs pictures", "--rank TEXT -f ", "FILE");
    if (c->embeddings && (!c->rank || c->over || c->n_texts))
        bad_command_line("--embeddings is for --rank over a saved file",
                         "--rank QUERY --embeddings F.npy -f ", "FILE");
    if (inputs > 1)
        bad_command_line("more than one input",
                         "give one of a prompt, -f FILE, --tokens, --chat and ", "--messages");
    if (c->phonemes && (inputs || c->inputs.n))
        bad_command_line("more than one input", "give a text or ", "--phonemes");
    if (c->raw && (c->chat || c->messages))
        bad_command_line("--raw continues a text", "leave out ", c->chat ? "--chat" : "--messages");
    if ((c->pieces || (c->format && program & D)) && !c->tokenize)
        bad_command_line(c->pieces ? "--pieces without --tokenize" : "--format without --tokenize",
                         "--tokenize ", "TEXT");
    if (c->json && c->tokens) bad_command_line("--json is for a text", "leave out ", "--tokens");
    if (c->json && c->chat && text)
        bad_command_line("--chat --json reads its messages from standard input", "leave out the ",
                         "prompt");
    if (c->logprobs >= 0 && !c->json)
        bad_command_line("--logprobs without --json", "--json ", "--logprobs N");
    if (c->perplexity_file && inputs)
        bad_command_line("--perplexity reads its own file", "leave out the ", "prompt");
    if ((c->perplexity_file || c->bench) && (c->logits_file || c->logits_hash))
        bad_command_line("logits are recorded while a prompt is read and continued", "leave out ",
                         c->bench ? "--bench" : "--perplexity");
    if ((c->grammar != NULL) + (c->json_schema != NULL) + c->json_object > 1)
        bad_command_line("more than one form of the text",
                         "give one of --grammar, --json-schema and ", "--json-object");
    const char *alone = one_text_at_a_time(c);
    if (c->beams > 1 && alone)
        bad_command_line("--beams reads several texts at once", "leave out ", alone);
    check_history(c);
    check_recordings(program, c);
    check_server(c);
    if (c->session_read_only && !c->session)
        bad_command_line("--session-read-only without --session", "--session F ",
                         "--session-read-only");
    check_over(program, c);
    check_lines(c);
    if (c->sampling.mirostat == 1)
        bad_command_line("--mirostat 1: expected 0, off, or 2", "--mirostat ", "2");
    if (c->prefill && !c->bench)
        bad_command_line("--prefill without --bench", "--bench ", "--prefill N");
    if (c->roofline && !c->bench)
        bad_command_line("--roofline without --bench", "--bench ", "--roofline");
    if (c->positions && !c->bench)
        bad_command_line("--positions without --bench", "--bench --positions ", c->positions);
    if (c->layers && !c->attention_file)
        bad_command_line("--layers without --attention", "--attention F.npy --layers ", c->layers);
    if (c->attention_file && (c->bench || c->perplexity_file))
        bad_command_line("--attention looks at one text", "leave out ",
                         c->bench ? "--bench" : "--perplexity");
    if (c->window && !c->perplexity_file)
        bad_command_line("--window without --perplexity", "--perplexity F.txt ", "--window N");
}

// ---- options without effect ----

// Options that change nothing where `because` holds; their names with blanks between.
typedef struct idle {
    bool because;
    const char *why;
    const char *names;
} idle;

#define TRUNCATING "--top-k --top-p --min-p --typical --xtc-probability --xtc-threshold "
#define DRAWING \
    TRUNCATING  \
    "--dynatemp-range --dynatemp-exp --mirostat --mirostat-ent --mirostat-lr --seed "

static void note_without_effect(const burin_command *c, const char *names, const char *why) {
    char name[40];
    for (size_t n; *(names += strspn(names, " ")); names += n) {
        n = strcspn(names, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, names);
        if (is_given(c, name)) burin_note("%s has no effect: %s", name, why);
    }
}

static void say_without_effect(burin_kind program, const burin_command *c) {
    bool writes = program & G, measures = c->bench || c->perplexity_file;
    bool greedy =
        c->sampling.temperature == 0 || (program & (S | T) && c->sampling.temperature < 0);
    const idle rows[] = {
        {writes && measures, c->bench ? "--bench writes no text" : "--perplexity writes no text",
         "-n --temp --repeat-penalty --presence-penalty --frequency-penalty --repeat-last-n "
         "--dry-multiplier --logit-bias --ignore-eos --shift --stop --grammar --json-schema "
         "--json-object --json --logprobs --session --draft --draft-max --beams " DRAWING},
        {writes && greedy && !measures,
         "the likeliest token is taken each time; --temp 0.8 samples", DRAWING},
        {writes && c->beams > 1 && !measures, "--beams looks for the likeliest text",
         "--temp " DRAWING},
        {writes && c->beams <= 1, "it is for --beams", "--length-penalty --early-stopping"},
        {writes && !greedy && c->sampling.mirostat == 2, "--mirostat takes its place", TRUNCATING},
        {writes && c->sampling.dry_multiplier == 0, "--dry-multiplier is 0",
         "--dry-base --dry-allowed-length --dry-penalty-last-n --dry-sequence-breaker"},
        {c->bench, "--bench measures alone", "--output --hash --similarity --format --rank"},
        {!c->bench && !c->random, "it is for --random and --bench", "--dim"},
        {program == BURIN_EMBEDDER && !c->rank, "it is for --rank", "--top-k"},
        {c->similarity && !c->bench, "--similarity prints one number", "--format"},
    };
    if (c->help || c->help_all || c->info || c->version) return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].because) note_without_effect(c, rows[i].names, rows[i].why);
    if (writes && c->bench && (c->prompt || c->prompt_file || c->tokens))
        burin_note("the prompt has no effect: --bench reads tokens of its own");
}

burin_command burin_command_line(burin_kind program, int argc, char **argv) {
    line l = {program, argc, argv};
    burin_command c;  // 4 KB: as an initializer it would be a constant of the program
    memset(&c, 0, sizeof c);
    c.count = c.logprobs = c.server.port = c.server.queue = -1;
    c.threshold = -1;
    c.length_penalty = c.speed = c.noise = 1;
    c.sampling = (burin_sampling)BURIN_SAMPLING_USUAL;
    bool options = true;
    if (argc > 0 && argv[0]) {
        const char *slash = strrchr(argv[0], '/');
        burin_program_name = slash ? slash + 1 : argv[0];
    }
    for (int i = 1; i < argc; i++) {
        if (options && !strcmp(argv[i], "--"))
            options = false;
        else if (options && argv[i][0] == '-' && argv[i][1])
            i = read_option(&c, &l, i);
        else if (options && !(program & (T | P | H)) && !strcmp(argv[i], "-"))
            c.prompt_file = "-";
        else
            set_prompt(&c, &l, argv[i]);
    }
    check_combination(program, &c);
    say_without_effect(program, &c);
    return c;
}

static uint64_t sum_of_value(uint64_t sum, const option *o, const burin_command *c) {
    const void *place = (const char *)c + o->place;
    const burin_texts *list = place;
    const char *text = o->kind == TEXT || o->kind == OPTIONAL ? *(const char *const *)place : NULL;
    sum = burin_hash_bytes(sum, o->name, strlen(o->name) + 1);
    if (text) return burin_hash_bytes(sum, text, strlen(text) + 1);
    for (int i = 0; o->kind == LIST && i < list->n; i++)
        sum = burin_hash_bytes(sum, list->text[i], strlen(list->text[i]) + 1);
    if (o->kind == SEED) sum = burin_hash_bytes(sum, &c->sampling.seed, sizeof c->sampling.seed);
    return o->kind == INTEGER || o->kind == REAL ? burin_hash_bytes(sum, place, sizeof(int64_t))
                                                 : sum;
}

uint64_t burin_command_sum(const burin_command *c) {
    static const char *const elsewhere[] = {"-f",
                                            "--input",
                                            "-t",
                                            "--cpu",
                                            "--over",
                                            "--resume",
                                            "--rank-timeout",
                                            "--rank-messages",
                                            "--numa",
                                            "--output",
                                            "--profile",
                                            "-v",
                                            "--chunk",
                                            "--draft",
                                            "--draft-max",
                                            "--serve",
                                            "--replay",
                                            "--host",
                                            "--port",
                                            "--api-key",
                                            "--parallel",
                                            "--queue",
                                            "--max-body",
                                            "--max-messages",
                                            "--max-connections",
                                            "--timeout",
                                            "--alias",
                                            "--cors-origins",
                                            "--cache-ram",
                                            "--cache-dir",
                                            "--cache-disk",
                                            "--slot-save-path",
                                            "--slots",
                                            "--metrics",
                                            "--log-format"};
    uint64_t sum = burin_hash_start;
    for (int i = 0; i < N_OPTIONS; i++) {
        bool counts = c->given[i];
        for (size_t j = 0; j < sizeof elsewhere / sizeof *elsewhere; j++)
            counts &= strcmp(elsewhere[j], options[i].name) != 0;
        if (counts) sum = sum_of_value(sum, &options[i], c);
    }
    return sum;
}
