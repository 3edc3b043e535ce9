// The command line: commands.def and options.def as types, and how it is read.
#ifndef BURIN_CLI_OPTIONS_H
#define BURIN_CLI_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>

#include "util/text.h"

typedef enum {
#define COMMAND(name, ...) COMMAND_##name,
#include "cli/commands.def"
#undef COMMAND
    COMMAND_COUNT
} Command;

enum { MOST_WORDS = 32 };
typedef struct OptionWords {  // of an option that can be given again
    const char *word[MOST_WORDS];
    int n;
} OptionWords;

typedef struct Options {
    Command command;
    const char *model;
    const char *files[4];   // several ONNX files: the model first
    const char *folder;     // that they were found in; NULL: they were named
    bool tokenizer_beside;  // the tokenizer is one of the model's folder, nobody named it
    int n_files;
    char **rest;  // `run`: arguments of the program; NULL-terminated
    int n_rest;
#define FLAG                     bool
#define TEXT                     const char *
#define COUNT                    int64_t
#define SIZE                     int64_t
#define WORDS                    OptionWords
#define OPTION(field, kind, ...) kind field;
#include "cli/options.def"
#undef OPTION
#undef FLAG
#undef TEXT
#undef COUNT
#undef SIZE
#undef WORDS
} Options;

// Ends the run with status 2 and a hint when the line cannot be understood; prints help or the
// version with status 0.
void options_read(Options *, int argc, char **argv);
void options_open_onnx_folder(Options *);  // onnx_folder.c: the files of a folder in its place

// A hash over every option of the line except --verbose, seeded by h: the key of a program in the
// cache. Files that options name count by name alone.
uint64_t options_key(const Options *, uint64_t h);
void options_of_passes(
    Text *, const Options *);  // those given that change what passes do: " --quant=q8_0 --ctx=64"
bool size_parse(const char *text, uint64_t *bytes);  // 512, 64M, 2G
// Ends the run with status 2: a message in the style of diag.h.
_Noreturn void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
#endif
