// Checks what options need, exclude and change (option_rules.h): nothing on a command line is
// ignored silently.
#include "program/option_rules.h"

#include <stdio.h>
#include <string.h>

#include "engine/hash.h"
#include "program/option_rows.h"
#include "program/output.h"

static bool has_option_text(const option *o) { return o->kind == TEXT || o->kind == OPTIONAL; }
static const char *text_of_option(const option *o, const burin_command *c) {
    return *(const char *const *)((const char *)c + o->place);
}

static const option *find_given(const burin_command *c, const char *name) {
    for (int i = 0; i < N_OPTIONS; i++)
        if (c->given[i] && !strcmp(options[i].name, name)) return &options[i];
    return NULL;
}

// A name of a rule: of an option, PROMPT or TEXTS
static bool is_given(const burin_command *c, const char *name) {
    if (!strcmp(name, "PROMPT")) return c->prompt != NULL;
    if (!strcmp(name, "TEXTS")) return c->n_texts > 0;
    return find_given(c, name) && (strcmp(name, "--beams") || c->beams > 1);
}

// The next of the names with blanks between; false after the last.
static bool next_name(const char **names, char name[40]) {
    *names += strspn(*names, " ");
    size_t n = strcspn(*names, " ");
    snprintf(name, 40, "%.*s", (int)n, *names);
    *names += n;
    return n > 0;
}

static bool first_given(const burin_command *c, const char *names, char name[40]) {
    while (next_name(&names, name))
        if (is_given(c, name)) return true;
    return false;
}

// "--positions 0,16": as it was given, or with the name of its value
static void spell_given(const burin_command *c, const char *name, size_t size, char *to) {
    const option *o = find_given(c, name);
    const char *value = !o ? NULL : has_option_text(o) ? text_of_option(o, c) : o->argument;
    snprintf(to, size, "%s%s%s", name, value && *value ? " " : "", value ? value : "");
}

static const char *spell_other(const char *name) {
    if (!strcmp(name, "PROMPT")) return "the prompt";
    return strcmp(name, "TEXTS") ? name : "the texts";
}

static void check_option_rule(const burin_command *c, const option_rule *rule) {
    char name[40], other[40], spelled[200] = "";
    if (!first_given(c, rule->options, name)) return;
    if (first_given(c, rule->others, other) == (rule->kind == NEEDS)) return;
    bool names_one = rule->hint[strlen(rule->hint) - 1] == ' ';
    if (names_one && rule->kind == NEEDS)
        spell_given(c, name, sizeof spelled, spelled);
    else if (names_one)
        snprintf(spelled, sizeof spelled, "%s", spell_other(other));
    burin_stop(BURIN_BAD_COMMAND_LINE, "%s\nhint: %s%s", rule->message, rule->hint, spelled);
}

static _Noreturn void bad_command_line(const char *what, const char *hint) {
    burin_stop(BURIN_BAD_COMMAND_LINE, "%s\nhint: %s", what, hint);
}

static void check_format(burin_kind program, const burin_command *c) {
    if (!c->format) return;
    bool npy = !strcmp(c->format, "npy");
    if (!npy && strcmp(c->format, "text") && strcmp(c->format, "json"))
        burin_stop(BURIN_BAD_COMMAND_LINE, "--format %s: expected text, json or npy", c->format);
    if (npy && program & (L | H))
        bad_command_line("--format npy: expected text or json", "--format json");
    if (npy && c->rank) bad_command_line("--rank prints texts", "--rank QUERY -f FILE");
    if (program & D && !c->tokenize)
        bad_command_line("--format without --tokenize", "--tokenize TEXT");
}

static void check_inputs(burin_kind program, const burin_command *c) {
    bool together = program & D;  // a file follows a prompt, and both may begin a chat
    int text =
        together ? c->prompt || c->prompt_file : (c->prompt != NULL) + (c->prompt_file != NULL);
    int inputs = text + (c->tokens != NULL) + (c->n_texts > 0 && program != BURIN_TRANSCRIBER) +
                 (c->chat && !text) + (c->messages != NULL);
    if (c->similarity && c->n_texts != 2)
        bad_command_line("--similarity compares two texts", "--similarity A B");
    if (c->rank && program & P && c->n_texts + (c->prompt_file != NULL) == 0)
        bad_command_line("--rank needs pictures", "--rank TEXT -f FILE");
    if (inputs > 1)
        bad_command_line("more than one input",
                         "give one of a prompt, -f FILE, --tokens, --chat and --messages");
    if (c->json && c->chat && text)
        bad_command_line("--chat --json reads its messages from standard input",
                         "leave out the prompt");
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
        burin_stop(BURIN_BAD_COMMAND_LINE,
                   "--history is of a conversation\nhint: --chat --history %s", c->history);
}

static void check_option_values(const burin_command *c) {
    if (c->over && strcmp(c->over, "mpi"))
        burin_stop(BURIN_BAD_COMMAND_LINE, "--over %s: expected mpi\nhint: --over=mpi", c->over);
    if (c->sampling.mirostat == 1)
        bad_command_line("--mirostat 1: expected 0, off, or 2", "--mirostat 2");
}

static void note_without_effect(const burin_command *c, const char *names, const char *why) {
    char name[40];
    while (next_name(&names, name))
        if (find_given(c, name)) burin_note("%s has no effect: %s", name, why);
}

static void say_without_effect(burin_kind program, const burin_command *c) {
    bool writes = program & G, measures = c->bench || c->perplexity_file;
    bool greedy =
        c->sampling.temperature == 0 || (program & (S | T) && c->sampling.temperature < 0);
    const struct {
        bool holds;
        const char *why, *names;
    } rows[] = {
        {writes && measures, c->bench ? "--bench writes no text" : "--perplexity writes no text",
         OF_TEXTS DRAWING},
        {writes && greedy && !measures,
         "the likeliest token is taken each time; --temp 0.8 samples", DRAWING},
        {writes && c->beams > 1 && !measures && program != BURIN_TRANSCRIBER,
         "--beams looks for the likeliest text", "--temp " DRAWING},
        {writes && c->beams <= 1, "it is for --beams", "--length-penalty --early-stopping"},
        {writes && !greedy && c->sampling.mirostat == 2, "--mirostat takes its place", TRUNCATING},
        {writes && c->sampling.dry_multiplier == 0, "--dry-multiplier is 0", OF_DRY},
        {c->bench, "--bench measures alone", "--output --hash --similarity --format --rank"},
        {!c->bench && !c->random, "it is for --random and --bench", "--dim"},
        {program == BURIN_EMBEDDER && !c->rank, "it is for --rank", "--top-k"},
        {c->similarity && !c->bench, "--similarity prints one number", "--format"},
    };
    if (c->help || c->help_all || c->info || c->version) return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].holds) note_without_effect(c, rows[i].names, rows[i].why);
    if (writes && c->bench && (c->prompt || c->prompt_file || c->tokens))
        burin_note("the prompt has no effect: --bench reads tokens of its own");
}

void burin_check_options(burin_kind program, const burin_command *c) {
    check_format(program, c);
    check_option_values(c);
    check_inputs(program, c);
    check_history(c);
    for (size_t i = 0; i < sizeof option_rules / sizeof *option_rules; i++)
        check_option_rule(c, &option_rules[i]);
    for (size_t i = 0; i < sizeof rules_of_recordings / sizeof *rules_of_recordings; i++)
        if (program == BURIN_TRANSCRIBER) check_option_rule(c, &rules_of_recordings[i]);
    say_without_effect(program, c);
}

static uint64_t add_option_value(uint64_t sum, const option *o, const burin_command *c) {
    const void *place = (const char *)c + o->place;
    const burin_texts *list = place;
    const char *text = has_option_text(o) ? text_of_option(o, c) : NULL;
    sum = burin_hash_bytes(sum, o->name, strlen(o->name) + 1);
    if (text) return burin_hash_bytes(sum, text, strlen(text) + 1);
    for (int i = 0; o->kind == LIST && i < list->n; i++)
        sum = burin_hash_bytes(sum, list->text[i], strlen(list->text[i]) + 1);
    if (o->kind == SEED) sum = burin_hash_bytes(sum, &c->sampling.seed, sizeof c->sampling.seed);
    return o->kind == INTEGER || o->kind == REAL ? burin_hash_bytes(sum, place, sizeof(int64_t))
                                                 : sum;
}

static bool is_name_in(const char *names, const char *wanted) {
    char name[40];
    while (next_name(&names, name))
        if (!strcmp(name, wanted)) return true;
    return false;
}

uint64_t burin_command_sum(const burin_command *c) {
    uint64_t sum = burin_hash_start;
    for (int i = 0; i < N_OPTIONS; i++)
        if (c->given[i] && !is_name_in(options_without_result, options[i].name))
            sum = add_option_value(sum, &options[i], c);
    return sum;
}
