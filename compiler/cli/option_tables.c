// The tables of commands and options, from their files.
#include "cli/option_tables.h"

enum {
    BUILD = 1 << COMMAND_build,
    RUN = 1 << COMMAND_run | 1 << COMMAND_serve,
    CHECK = 1 << COMMAND_check,
    INSPECT = 1 << COMMAND_inspect,
    BENCH = 1 << COMMAND_bench,
    TEMPLATE = 1 << COMMAND_template,
    TOKENIZE = 1 << COMMAND_tokenize,
    REPORT = 1 << COMMAND_report,
    DIFF = 1 << COMMAND_diff,
    EXPLAIN = 1 << COMMAND_explain,
    PLAN = 1 << COMMAND_plan,
    MODEL = BUILD | RUN | CHECK | INSPECT | BENCH | REPORT | EXPLAIN | PLAN,
    ALL = (1 << COMMAND_COUNT) - 1,
};

const CommandRow commands[COMMAND_COUNT] = {
#define COMMAND(name, ...) {#name, __VA_ARGS__, false},
#define LISTING(name, ...) {#name, __VA_ARGS__, true},
#include "cli/commands.def"
#undef COMMAND
};

const OptionRow options[] = {
#define OPTION(field, ...) {offsetof(Options, field), __VA_ARGS__},
#include "cli/options.def"
#undef OPTION
};
const int n_options = sizeof options / sizeof *options;
