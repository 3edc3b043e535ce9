// burin help: the overview, a command's options, topics, and the same tables as completion for
// shells and as a manual page.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/option_tables.h"
#include "commands/commands.h"
#include "passes/pass.h"
#include "passes/recipe.h"
#include "toolchain/cache.h"
#include "toolchain/toolchain.h"
#include "version.h"

// -------------------------------------------------------------------------------------------- help
enum { COLUMNS = 80, OPTION_COLUMN = 28, TOPIC_COLUMN = 21 };

// A row: the left part, then the text from a column on to COLUMNS, broken at spaces.
static void print_row(FILE *out, const char *left, int column, const char *text) {
    if (fprintf(out, "%-*s", column - 1, left) < column)
        fputc(' ', out);
    else
        fprintf(out, "\n%*s", column, "");
    const int room = COLUMNS - column;
    while ((int)strlen(text) > room) {
        int end = room;
        while (end && text[end] != ' ') end--;
        if (!end) break;
        fprintf(out, "%.*s\n%*s", end, text, column, "");
        text += end + 1;
    }
    fprintf(out, "%s\n", text);
}

void print_overview(FILE *out) {
    fputs(
        "burin compiles one Transformer into one standalone program.\n\n"
        "usage: burin COMMAND [MODEL] [options]\n\n",
        out);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        char left[64];
        if (commands[i].is_listing) continue;
        snprintf(left, sizeof left, "  %-8s %s", commands[i].name, commands[i].arguments);
        print_row(out, left, OPTION_COLUMN, commands[i].help);
    }
    fputs(
        "\nMODEL is a Hugging Face folder, a .gguf or a llama2.c .bin file, an .onnx file\n"
        "(or those of an encoder and its decoder), a .burin description with --weights,\n"
        "or a dumped .ir. `burin COMMAND --help` lists the options of a command,\n"
        "`burin --version` names the version.\n\n"
        "  burin run examples/austen \"It was\" -n 100\n"
        "  burin build examples/austen -o austen --target=aarch64-linux-gnu\n\n"
        "environment:\n"
        "  XDG_CACHE_HOME    burin/ in it keeps compiled objects and the programs of\n"
        "                    `burin run` [~/.cache]\n"
        "  BURIN_CACHE_SIZE  its limit; the least recently used files go [" CACHE_SIZE
        "]\n"
        "  BURIN_CC          the clang that compiles [clang-19, or another that can]\n"
        "  BURIN_OPTIMIZE    1: -O1 for every build\n"
        "  TMPDIR            folder of temporary files\n",
        out);
}

static bool offers(Command c, const char *option) {
    for (int i = 0; i < n_options; i++)
        if (!strcmp(options[i].name, option)) return option_is_of(&options[i], c);
    return false;
}

static void print_passes(void) {
    printf("\ngroups of passes, in order (`burin list passes` lists all):\n");
    for (int i = 0; i < GROUP_COUNT; i++) {
        char left[32];
        snprintf(left, sizeof left, "  %s", group_info[i].name);
        print_row(stdout, left, TOPIC_COLUMN, group_info[i].help);
    }
}

void print_command_help(Command c) {
    printf("usage: burin %s %s%s\n\n%s\n\n", commands[c].name, commands[c].arguments,
           *commands[c].arguments ? " [options]" : "", commands[c].help);
    for (int i = 0; i < n_options; i++) {
        const OptionRow *o = &options[i];
        char left[64], letter[8] = "    ";
        if (!option_is_of(o, c)) continue;
        if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(left, sizeof left, "  %s--%s%s%s", letter, o->name, o->argument ? "=" : "",
                 o->argument ? o->argument : "");
        print_row(stdout, left, OPTION_COLUMN, o->help);
    }
    if (offers(c, "stop-after")) print_passes();
    printf("\nexample:\n  %s\n", commands[c].example);
}

// ------------------------------------------------------------------------------------------ topics
typedef struct Topic {
    const char *name, *help, *text;
    void (*more)(Arena *);  // or NULL
} Topic;

static void more_formats(Arena *arena) { (void)arena, list_formats(); }
static void more_passes(Arena *arena) { (void)arena, list_passes(); }

static void print_bash(Arena *);
static void print_zsh(Arena *);
static void print_manual(Arena *);

static const Topic topics[] = {
#define TOPIC(...) {__VA_ARGS__},
#include "commands/topics.def"
#undef TOPIC
};
enum { N_TOPICS = sizeof topics / sizeof *topics };

static void print_topics(void) {
    printf("\ntopics of `burin help TOPIC`:\n");
    for (int i = 0; i < N_TOPICS; i++) {
        char left[32];
        snprintf(left, sizeof left, "  %s", topics[i].name);
        print_row(stdout, left, TOPIC_COLUMN, topics[i].help);
    }
}

_Noreturn static void refuse_topic(const char *name) {
    const char *names[N_TOPICS];
    for (int i = 0; i < N_TOPICS; i++) names[i] = topics[i].name;
    const char *near = nearest_name(name, names, N_TOPICS);
    if (near)
        usage_error("there is no topic \"%s\"\n  hint: did you mean `burin help %s`?", name, near);
    usage_error("there is no topic \"%s\"\n  hint: `burin help` lists them", name);
}

int help(Arena *arena, const Options *o) {
    const char *name = o->n_rest ? arena_printf(arena, "%s-%s", o->model, o->rest[0]) : o->model;
    if (!name) {
        print_overview(stdout);
        print_topics();
        return 0;
    }
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i].name) || (Command)i == COMMAND_passes ||
            (Command)i == COMMAND_formats || (Command)i == COMMAND_targets)
            continue;
        print_command_help((Command)i);
        return 0;
    }
    for (int i = 0; i < N_TOPICS; i++) {
        if (strcmp(name, topics[i].name)) continue;
        fputs(topics[i].text, stdout);
        if (topics[i].more) topics[i].more(arena);
        return 0;
    }
    refuse_topic(name);
}

// -------------------------------------------------------------------------------------- completion
// The words that an argument can be, "ir|c": NULL when it names a kind of value.
static const char *choices_of(const OptionRow *o) {
    return o->argument && islower((unsigned char)*o->argument) && strchr(o->argument, '|')
               ? o->argument
               : NULL;
}

static void print_words(const char *choices) {
    for (; *choices; choices++) putchar(*choices == '|' ? ' ' : *choices);
}

static void print_pass_names(void) {
    for (int i = 0; i < GROUP_COUNT; i++) printf("%s ", group_info[i].name);
    for (int i = 0; i < PASS_COUNT; i++) printf("%s ", pass_info[i].name);
}

static void print_listing_names(void) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].is_listing) printf("%s ", commands[i].name);
}

static void print_topic_names(void) {
    for (int i = 0; i < N_TOPICS; i++) printf("%s ", topics[i].name);
}

static void print_target_names(void) {
    for (int i = 0; i < n_machines; i++) printf("%s ", machines[i].triple);
}

static void print_cpu_names(void) {
    printf("native ");
    for (int i = 0; i < n_targets; i++) printf("%s ", targets[i].name);
}

static void print_quant_names(void) {
    Arena *arena = arena_new();
    for (const char *c = quant_names(arena); *c; c++)
        if (*c != ',') putchar(*c);
    arena_free(arena);
}

static void print_cache_formats(void) { printf("f32 f16 q8_0"); }

static void print_choices(void);
// Values that tables have, by an option's name or its argument; NULL: free.
typedef void PrintValues(void);
static PrintValues *values_of(const OptionRow *o) {
    static const struct {
        const char *name;
        PrintValues *print;
    } rows[] = {{"target", print_target_names},
                {"mcpu", print_cpu_names},
                {"quant", print_quant_names},
                {"draft-quant", print_quant_names},
                {"kv", print_cache_formats}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(o->name, rows[i].name)) return rows[i].print;
    if (o->argument && !strcmp(o->argument, "PASS")) return print_pass_names;
    return choices_of(o) ? print_choices : NULL;
}

static const OptionRow *choosing;  // of print_choices
static void print_choices(void) { print_words(choices_of(choosing)); }

static void print_values(const OptionRow *o) {
    choosing = o;
    values_of(o)();
}

static void print_bash_values(void) {
    for (int i = 0; i < n_options; i++) {
        if (!values_of(&options[i])) continue;
        printf("        --%s) values=\"", options[i].name);
        print_values(&options[i]);
        printf("\" ;;\n");
    }
}

// "=" divides words in bash: after it the value is a word of its own.
static void print_bash(Arena *arena) {
    (void)arena;
    printf(
        "# bash completion of burin, made by `burin help bash`\n_burin() {\n"
        "    local current=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" "
        "words= values=\n"
        "    [ \"$current\" = \"=\" ] && current=\n"
        "    [ \"$before\" = \"=\" ] && before=\"${COMP_WORDS[COMP_CWORD-2]}\"\n"
        "    if [ \"$COMP_CWORD\" = 1 ]; then\n        words=\"");
    for (int i = 0; i < COMMAND_COUNT; i++) printf("%s ", commands[i].name);
    printf("--help --version\"\n    else\n        case $before in\n");
    print_bash_values();
    printf("        help) words=\"");
    print_topic_names();
    printf("\" ;;\n        list) words=\"");
    print_listing_names();
    printf("\" ;;\n        esac\n        case $current in -*) case ${COMP_WORDS[1]} in\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        printf("            %s) words=\"", commands[i].name);
        for (int j = 0; j < n_options; j++)
            if (option_is_of(&options[j], (Command)i))
                printf("--%s%s ", options[j].name, options[j].kind == FLAG ? "" : "=");
        printf("\" ;;\n");
    }
    printf(
        "        esac ;; esac\n    fi\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"${values:-$words}\" -- \"$current\")\n"
        "    case ${COMPREPLY[0]-} in *=) compopt -o nospace ;; esac\n"
        "}\ncomplete -o default -F _burin burin\n");
}

// In single quotes, inside of [] and before a colon.
static void print_zsh_text(const char *text) {
    for (; *text; text++) {
        if (*text == '\'')
            printf("'\\''");
        else if (strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void print_zsh_option(const OptionRow *o) {
    printf("            '%s--%s%s[", o->kind == WORDS ? "*" : "", o->name,
           o->kind == FLAG ? "" : "=");
    print_zsh_text(o->help);
    printf("]");
    if (o->argument) {
        printf(":");
        print_zsh_text(o->argument);
        printf(values_of(o) ? ":(" : ":_files");
        if (values_of(o)) print_values(o), printf(")");
    }
    printf("' \\\n");
}

static void print_zsh(Arena *arena) {
    (void)arena;
    printf(
        "#compdef burin\n# zsh completion of burin, made by `burin help zsh`\n_burin() {\n    "
        "local -a commands\n    "
        "commands=(\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        printf("        '%s:", commands[i].name);
        print_zsh_text(commands[i].help);
        printf("'\n");
    }
    printf(
        "    )\n    if ((CURRENT == 2)); then\n        _describe command commands\n        "
        "return\n    fi\n    case $words[2] "
        "in\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        printf("        %s) _arguments \\\n", commands[i].name);
        for (int j = 0; j < n_options; j++)
            if (option_is_of(&options[j], (Command)i)) print_zsh_option(&options[j]);
        printf("            '*:");
        if (i == COMMAND_help)
            printf("topic:("), print_topic_names(), printf(")' ;;\n");
        else if (i == COMMAND_list)
            printf("kind:("), print_listing_names(), printf(")' ;;\n");
        else
            printf("file:_files' ;;\n");
    }
    printf("    esac\n}\n_burin \"$@\"\n");
}

// -------------------------------------------------------------------------------------- the manual
static void print_roff(const char *text) {
    for (const char *c = text; *c; c++) {
        if (*c == '\\')
            printf("\\e");
        else if (*c == '-')
            printf("\\-");
        else if ((*c == '.' || *c == '\'') && (c == text || c[-1] == '\n'))
            printf("\\&%c", *c);
        else
            putchar(*c);
    }
}

static void print_roff_option(const OptionRow *o) {
    printf(".TP\n");
    if (o->letter) printf("\\fB\\-%c\\fR, ", o->letter);
    printf("\\fB\\-\\-");
    print_roff(o->name);
    printf("\\fR%s", o->argument ? "=\\fI" : "");
    if (o->argument) print_roff(o->argument);
    printf("%s\n", o->argument ? "\\fR" : "");
    print_roff(o->help);
    printf("\n");
}

static void print_roff_command(Command c) {
    printf(".SS burin %s ", commands[c].name);
    print_roff(commands[c].arguments);
    printf("\n");
    print_roff(commands[c].help);
    printf(".\n.PP\n.EX\n");
    print_roff(commands[c].example);
    printf("\n.EE\n");
    for (int i = 0; i < n_options; i++)
        if (option_is_of(&options[i], c)) print_roff_option(&options[i]);
}

static void print_manual(Arena *arena) {
    (void)arena;
    printf(
        ".\\\" made by `burin help man`\n.TH BURIN 1 \"\" \"burin %s\" \"User Commands\"\n.SH "
        "NAME\n"
        "burin \\- compiles one Transformer into one standalone program\n.SH SYNOPSIS\n"
        ".B burin\n.I COMMAND\n[\\fIMODEL\\fR] [\\fIoptions\\fR]\n.SH COMMANDS\n",
        BURIN_VERSION);
    for (int i = 0; i < COMMAND_COUNT; i++) print_roff_command((Command)i);
    printf(
        ".SH ENVIRONMENT\n.TP\n.B XDG_CACHE_HOME\nhas burin/, where compiled objects and programs "
        "of `burin run` are kept "
        "(default ~/.cache).\n.TP\n.B BURIN_CACHE_SIZE\nlimits it (default " CACHE_SIZE
        ").\n"
        ".TP\n.B BURIN_CC\nnames the clang that compiles.\n.TP\n.B BURIN_OPTIMIZE\n1 is \\-O1 for "
        "every build.\n.TP\n.B "
        "BURIN_HOME\nis a folder with runtime/ and dsl/.\n"
        ".TP\n.B TMPDIR\nis where builds work.\n.SH EXIT STATUS\n0; 1 for a mistake in what was "
        "given, or where a check "
        "finds one; 2 for a command line that is wrong.\n");
    for (int i = 0; i < N_TOPICS; i++) {
        if (!*topics[i].text) continue;
        printf(".SH TOPIC: ");
        print_roff(topics[i].name);
        printf("\n.nf\n");
        print_roff(topics[i].text);
        printf(".fi\n");
    }
}
