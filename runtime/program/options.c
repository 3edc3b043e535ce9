// The reader of the table of options.
#include "program/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/option_find.h"
#include "program/option_rows.h"
#include "program/output.h"

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
                   (double)o->least);
    burin_stop(BURIN_BAD_COMMAND_LINE, "%s %s: expected a number from %g to %g", g->name, g->value,
               (double)o->least, (double)o->most);
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
    if (!((float)real >= o->least && (float)real <= o->most)) out_of_range(g);
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
    burin_check_options(program, &c);
    return c;
}
