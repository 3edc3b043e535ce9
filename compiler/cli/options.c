// Reads the command line by its two tables.
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/option_tables.h"
#include "cli/program_options.h"
#include "ir.h"
#include "util/diag.h"
#include "util/hash.h"
#include "version.h"

void usage_error(const char *format, ...) {
    va_list args;
    Text text = {0};
    va_start(args, format);
    text_vspell(&text, format, args);
    va_end(args);
    fprintf(stderr, "burin: error: %s\n", text.data);
    exit(2);
}

void options_of_passes(Text *t, const Options *given) {
    static const char *const names[] = {"quant", "requantize", "activations", "kv", "ctx", "chunk"};
    for (int i = 0; i < n_options; i++) {
        const OptionRow *o = &options[i];
        const void *field = (const char *)given + o->field;
        bool changes = false;
        for (size_t j = 0; j < sizeof names / sizeof *names; j++)
            changes |= !strcmp(o->name, names[j]);
        if (!changes) continue;
        if (o->kind == FLAG && *(const bool *)field) text_add(t, " --%s", o->name);
        if (o->kind == TEXT && *(const char *const *)field)
            text_spell(t, " --%s=%s", o->name, *(const char *const *)field);
        if (o->kind == COUNT && *(const int64_t *)field)
            text_add(t, " --%s=%lld", o->name, (long long)*(const int64_t *)field);
    }
}

// ----------------------------------------------------------------------------------------- parsing
typedef struct {
    Options *to;
    char **argv;
    int argc, at;
    bool only_operands;  // after --
} Line;

static const OptionRow *find_option(Command c, const char *name, size_t length) {
    for (int i = 0; i < n_options; i++)
        if (option_is_of(&options[i], c) && strlen(options[i].name) == length &&
            !strncmp(options[i].name, name, length))
            return &options[i];
    return NULL;
}

static const OptionRow *find_letter(Command c, char letter) {
    for (int i = 0; i < n_options; i++)
        if (option_is_of(&options[i], c) && options[i].letter == letter) return &options[i];
    return NULL;
}

static void refuse_unknown(Command c, const char *word) {
    const char **names = calloc((size_t)n_options, sizeof *names), *near;
    char name[64];
    int n = 0;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word + strspn(word, "-"));
    for (int i = 0; i < n_options; i++)
        if (option_is_of(&options[i], c)) names[n++] = options[i].name;
    if (c == COMMAND_build && is_program_option(word))
        usage_error(
            "burin build has no option %s\n  hint: it is one of the program's, `./PROGRAM %s`; or "
            "`burin run MODEL %s`",
            word, word, word);
    if ((near = nearest_name(name, names, (size_t)n)))
        usage_error("burin %s has no option %s\n  hint: did you mean --%s?", commands[c].name, word,
                    near);
    usage_error("burin %s has no option %s\n  hint: `burin %s --help` lists them", commands[c].name,
                word, commands[c].name);
}

// Stops with the right spelling of numbers such as 4k and 64MB in the hint.
static _Noreturn void refuse_number(const OptionRow *o, const char *text, const char *expected) {
    size_t digits = strspn(text, "0123456789");
    const char *unit = digits && text[digits] ? strchr("kKmMgG", text[digits]) : NULL;
    const char *rest = unit ? text + digits + 1 : "-";
    bool size = !*rest || !strcasecmp(rest, "b") || !strcasecmp(rest, "ib");
    if (size && o->kind == SIZE && (*rest || islower((unsigned char)text[digits])))
        usage_error("--%s=%s: expected %s\n  hint: did you mean %.*s%c?", o->name, text, expected,
                    (int)digits, text, toupper(text[digits]));
    if (size && digits < 7 && toupper(text[digits]) == 'K')
        usage_error("--%s=%s: expected %s\n  hint: did you mean %lld?", o->name, text, expected,
                    strtoll(text, NULL, 10) * 1024);
    usage_error("--%s=%s: expected %s", o->name, text, expected);
}

static int64_t read_count(const OptionRow *o, const char *text) {
    char *end;
    long long v = strtoll(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || v < 1 || v > INT32_MAX)
        refuse_number(o, text, "a whole number from 1 to 2147483647");
    return v;
}

bool size_parse(const char *text, uint64_t *bytes) {
    static const char units[] = "KMG";
    char *end;
    unsigned long long v = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    *bytes = (uint64_t)v << shift;
    return isdigit((unsigned char)*text) && (!*end || (unit && !end[1])) &&
           v <= (unsigned long long)INT64_MAX >> shift;
}

static int64_t read_size(const OptionRow *o, const char *text) {
    uint64_t bytes;
    if (!size_parse(text, &bytes) || !bytes)
        refuse_number(o, text, "a size in bytes, or with K, M or G: 64M");
    return (int64_t)bytes;
}

static void add_word(OptionWords *words, const OptionRow *o, const char *value) {
    if (words->n == MOST_WORDS) usage_error("--%s: at most %d of them", o->name, MOST_WORDS);
    words->word[words->n++] = value;
}

// Lists of NAME=VALUE grow: "--dim=h=1 --dim=w=2" is "--dim=h=1,w=2". Of other options the last
// counts.
static const char *joined(const OptionRow *o, const char *before, const char *value) {
    static const char *const lists[] = {"dim", "max", "bind"};
    bool is_list = false;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        is_list = is_list || !strcmp(o->name, lists[i]);
    }
    if (!is_list || !before) return value;
    char *both;
    if (asprintf(&both, "%s,%s", before, value) < 0) abort();
    return both;
}

static void set_option(Options *to, const OptionRow *o, const char *value) {
    void *field = (char *)to + o->field;
    switch (o->kind) {
        case FLAG:
            *(bool *)field = true;
            break;
        case TEXT:
            *(const char **)field = joined(o, *(const char **)field, value);
            break;
        case COUNT:
            *(int64_t *)field = read_count(o, value);
            break;
        case SIZE:
            *(int64_t *)field = read_size(o, value);
            break;
        case WORDS:
            add_word(field, o, value);
            break;
    }
}

// The value of an option: after its =, or the next word.
static const char *value_of(Line *l, const OptionRow *o, const char *attached) {
    if (o->kind == FLAG) {
        if (attached) usage_error("--%s takes no value", o->name);
        return NULL;
    }
    const char *value = attached ? attached : l->at < l->argc ? l->argv[l->at++] : NULL;
    if (!value || !*value)
        usage_error("--%s needs a value: --%s=%s", o->name, o->name, o->argument);
    return value;
}

// Words that the command does not know are the program's.
static bool takes_rest(Command c) { return c == COMMAND_run || c == COMMAND_serve; }

static void pass_on(Line *l, char *word) { l->to->rest[l->to->n_rest++] = word; }

static bool is_onnx(const char *word) {
    size_t length = strlen(word);
    return length > 5 && !strcmp(word + length - 5, ".onnx");
}

static void read_operand(Line *l, char *word) {
    if (!*commands[l->to->command].arguments)
        usage_error("burin %s takes no MODEL, but \"%s\" is given", commands[l->to->command].name,
                    word);
    int n = l->to->n_files, most = sizeof l->to->files / sizeof *l->to->files;
    if (!l->to->model) {
        l->to->model = l->to->files[l->to->n_files++] = word;
    } else if (n < most && ((is_onnx(word) && is_onnx(l->to->model)) ||
                            (l->to->command == COMMAND_diff && n == 1))) {
        l->to->files[l->to->n_files++] = word;
    } else if (takes_rest(l->to->command) ||
               ((l->to->command == COMMAND_tokenize || l->to->command == COMMAND_explain ||
                 l->to->command == COMMAND_help) &&
                !l->to->n_rest)) {
        pass_on(l, word);
    } else {
        usage_error("one MODEL at a time: \"%s\" and \"%s\" are given", l->to->model, word);
    }
}

// `burin run` has --draft for a model that goes into the program, and the program has it for its
// ways to guess.
static bool is_of_program(const Line *l, const OptionRow *o, const char *value) {
    return takes_rest(l->to->command) && !strcmp(o->name, "draft") && value &&
           strcmp(value, "mtp") && access(value, F_OK);
}

static void read_option(Line *l, const OptionRow *o, const char *attached, char *word) {
    const char *value = value_of(l, o, attached);
    if (!is_of_program(l, o, value)) {
        set_option(l->to, o, value);
        return;
    }
    pass_on(l, word);
    if (!attached) pass_on(l, l->argv[l->at - 1]);
}

static void read_word(Line *l, char *word) {
    Command c = l->to->command;
    const OptionRow *o = NULL;
    const char *attached = NULL;
    if (l->only_operands || word[0] != '-' || !word[1]) {
        read_operand(l, word);
        return;
    }
    if (!strcmp(word, "--")) {
        l->only_operands = true;
        return;
    }
    if (word[1] == '-') {
        size_t length = strcspn(word + 2, "=");
        o = find_option(c, word + 2, length);
        if (word[2 + length]) attached = word + 3 + length;
    } else if ((o = find_letter(c, word[1])) && word[2]) {
        attached = word + 2 + (word[2] == '=');
    }
    if (o) {
        read_option(l, o, attached, word);
    } else if (takes_rest(c)) {
        pass_on(l, word);
    } else {
        refuse_unknown(c, word);
    }
}

static bool asks_for_help(const char *word) {
    return !strcmp(word, "--help") || !strcmp(word, "-h");
}

static Command read_command(const char *word) {
    const char *names[COMMAND_COUNT], *near;
    if (asks_for_help(word)) {
        print_overview(stdout);
        exit(0);
    }
    if (!strcmp(word, "--version")) {
        printf("burin %s\n", BURIN_VERSION);
        exit(0);
    }
    for (int i = 0; i < COMMAND_COUNT; i++) {
        names[i] = commands[i].name;
        if (!strcmp(word, names[i])) return (Command)i;
    }
    near = nearest_name(word, names, COMMAND_COUNT);
    if (near)
        usage_error("there is no command \"%s\"\n  hint: did you mean `burin %s`?", word, near);
    if (word[0] == '-')
        usage_error("%s comes before the command\n  hint: burin COMMAND MODEL %s ...", word, word);
    if (!access(word, F_OK))
        usage_error("there is no command \"%s\"\n  hint: `burin build %s` compiles it", word, word);
    usage_error("there is no command \"%s\"\n  hint: `burin --help` lists them", word);
}

// `burin list KIND` is the command KIND.
static Command read_kind(const char *word) {
    const char *names[COMMAND_COUNT], *near;
    int n = 0;
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (!commands[i].is_listing) continue;
        if (word && !strcmp(word, commands[i].name)) return (Command)i;
        names[n++] = commands[i].name;
    }
    near = word ? nearest_name(word, names, n) : NULL;
    if (near)
        usage_error("there is no list of \"%s\"\n  hint: did you mean `burin list %s`?", word,
                    near);
    Text kinds = {0};
    for (int i = 0; i < n; i++) text_add(&kinds, "%s%s", i ? ", " : "", names[i]);
    usage_error("burin list takes one of %s\n  hint: burin list targets", kinds.data);
}

void options_read(Options *to, int argc, char **argv) {
    *to = (Options){0};
    if (argc < 2) {
        print_overview(stderr);
        exit(2);
    }
    to->command = read_command(argv[1]);
    to->rest = calloc((size_t)argc + 1, sizeof *to->rest);
    Line l = {.to = to, .argv = argv, .argc = argc, .at = 2};
    if (to->command == COMMAND_list && (argc < 3 || !asks_for_help(argv[2]))) {
        to->command = read_kind(argc < 3 ? NULL : argv[2]);
        l.at++;
    }
    while (l.at < argc) read_word(&l, argv[l.at++]);
    if (to->help) {
        print_command_help(to->command);
        exit(0);
    }
    if (*commands[to->command].arguments && *commands[to->command].arguments != '[' && !to->model)
        usage_error("burin %s needs a MODEL\n  hint: %s", commands[to->command].name,
                    commands[to->command].example);
    options_check_rules(to);
}

static uint64_t key_TEXT(const char *const *text, uint64_t h) {
    return *text ? hash_bytes(*text, strlen(*text) + 1, h + 1) : hash_bytes("", 1, h);
}
static uint64_t key_FLAG(const bool *flag, uint64_t h) { return hash_bytes(flag, sizeof *flag, h); }
static uint64_t key_COUNT(const int64_t *count, uint64_t h) {
    return hash_bytes(count, sizeof *count, h);
}
static uint64_t key_SIZE(const int64_t *bytes, uint64_t h) {
    return hash_bytes(bytes, sizeof *bytes, h);
}
static uint64_t key_WORDS(const OptionWords *words, uint64_t h) {
    for (int i = 0; i < words->n; i++) h = key_TEXT(&words->word[i], h);
    return hash_bytes(&words->n, sizeof words->n, h);
}

uint64_t options_key(const Options *options, uint64_t h) {
    Options o = *options;
    o.verbose = false;
#define OPTION(field, kind, ...) h = key_##kind(&o.field, h);
#include "cli/options.def"
#undef OPTION
    return h;
}
