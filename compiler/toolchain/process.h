// Other programs: found on PATH, run several at a time, their complaints kept until one fails; and
// the folders burin works in.
#ifndef BURIN_PROCESS_H
#define BURIN_PROCESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/arena.h"

// A command line that grows; `words` is NULL-terminated.
typedef struct CommandLine {
    Arena *arena;
    const char **words;
    int n, capacity;
} CommandLine;

void command_add(CommandLine *, const char *word);
void command_add_words(CommandLine *, const char *words);  // split at spaces
void command_addf(CommandLine *, const char *format, ...) __attribute__((format(printf, 2, 3)));

typedef struct Job {
    CommandLine line;
    const char *what;  // for progress and errors: "compiling for x86-64-v3"
    // file for its standard error, in a folder that is removed, as is everything it leaves in
    // TMPDIR
    const char *log;
    const char *output;  // a file that it makes, named in its line; or NULL
    const char
        *emitted;  // a C file of ours that it compiles, or NULL: an error in it is a bug of burin
    pid_t pid;
    double started;
} Job;

// Runs the jobs, at most `at_once` at a time; the first failure ends the run with its output.
void jobs_run(Job *, int n, int at_once, bool verbose);
// Runs one command; true on success. Its output is in the file `log`.
bool process_succeeds(const CommandLine *, const char *log, bool verbose);
int processors(void);

// Full path of a program on PATH, or NULL.
const char *find_program(Arena *, const char *name);
// The folder with runtime/ and dsl/: $BURIN_HOME, the source tree around the executable, or
// PREFIX/share/burin.
const char *burin_home(Arena *);
// A new private folder under $TMPDIR, removed when the run stops on an error; remove_tree when it
// is done.
const char *work_folder(Arena *);
void make_folder(const char *path);  // and those above it

// From now on SIGINT, SIGTERM and SIGHUP end the run: processes stopped, partial outputs removed.
void catch_signals(void);
void release_signals(void);  // before exec

// A bar on a terminal, of runs longer than a second: the step, how much of it is done, and how long
// the rest may take. NULL: done.
void progress(const char *what, double fraction);
void progress_bytes(const char *what, uint64_t done, uint64_t total);
#endif
