// The rows of commands.def and options.def, for those who read the command line and those who tell
// of it.
#ifndef BURIN_CLI_OPTION_TABLES_H
#define BURIN_CLI_OPTION_TABLES_H
#include <stddef.h>
#include <stdio.h>

#include "cli/options.h"

typedef enum { FLAG, TEXT, COUNT, SIZE, WORDS } OptionKind;

typedef struct {
    const char *name, *arguments, *help, *example;
    bool is_listing;  // also a KIND of `burin list`
} CommandRow;

typedef struct {
    size_t field;
    OptionKind kind;
    const char *name;
    char letter;
    const char *argument;
    unsigned commands;  // bits of the commands that take it
    const char *help;
} OptionRow;

extern const CommandRow commands[COMMAND_COUNT];
extern const OptionRow options[];
extern const int n_options;

static inline bool option_is_of(const OptionRow *o, Command c) { return o->commands & 1u << c; }

// Warns of options that have no effect on this command line, and ends the run with status 2 where
// one makes no sense without another (option_rules.def).
void options_check_rules(const Options *);

void print_overview(FILE *);       // help.c
void print_command_help(Command);  // bits of the commands that need it
#endif
