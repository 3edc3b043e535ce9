// Errors, warnings and notes with a location. Lines and columns are computed only when something is
// printed.
//
// A message may have several lines: the first is the error, the source excerpt with its caret
// follows it, and every further line is printed after the excerpt ("note: ...", "hint: ..."). Say
// what is wrong, what was expected, and what to do:
//
//     diag_fatal(loc, "unknown function \"rms_nrm\"\nhint: did you mean \"rms_norm\"?");
//
// Names and texts from outside arrive by %s, which escapes control characters and line ends
// (base/escape.h). %-s takes lines of our own ("\nhint: ..."), made by arena_message if they
// contain such names.
#ifndef BURIN_DIAG_H
#define BURIN_DIAG_H
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A file that locations point into. `text` is NULL for a binary file (an ONNX model, a checkpoint).
typedef struct Source {
    const char *name;
    const char *text;
    size_t size;
} Source;

#define SOURCE_OF_LINES \
    SIZE_MAX  // as `size`, without a text: offsets are line << 12 | column (read back from an IR
              // dump)

// Where a value comes from. Text: byte offset and length. ONNX: offset is the node's index, scope
// its name. `scope` is the dotted name of the place in the model ("model.layers.3.self_attn"), or
// NULL.
typedef struct Loc {
    const Source *source;
    uint32_t offset, length;
    const char *scope;
} Loc;

#define NO_LOC ((Loc){0})
static inline Loc loc_file(const Source *s) { return (Loc){.source = s}; }

void diag_error(Loc, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diag_warning(Loc, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diag_note(Loc, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Prints the error and ends the run (diag_stop).
_Noreturn void diag_fatal(Loc, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Ends the run: removes the files registered with diag_remove_on_stop, then exits with status 1 (or
// returns to diag_guard).
_Noreturn void diag_stop(void);
void diag_stop_if_errors(void);  // after a phase that reports several errors

void diag_remove_on_stop(const char *path);  // a partial output: file, or folder with its files
void diag_keep(const char *path);            // the output is complete: do not remove it any more
void diag_remove_outputs(void);              // removes registered files when a signal ends the run

// Between the two calls another thread's end of the run does not interrupt this thread: while it
// makes or moves something registered. They nest. A thread that never releases ends the run alone:
// other threads wait where they would report or register.
void diag_hold(void);
void diag_release(void);

// Fuzzers and tests: after `if (setjmp(*diag_guard()) == 0)` diag_stop comes back here instead of
// exiting. NULL-safe to reset with diag_unguard.
jmp_buf *diag_guard(void);
void diag_unguard(void);

// "file:line:column" of a location, or "file, node 12 (name)", or ""; a static buffer.
const char *loc_text(Loc);
// The candidate nearest to `name` by edit distance, or NULL when none is near.
const char *nearest_name(const char *name, const char *const *candidates, size_t n);
const char *name_list(const char *const *names, size_t n);  // "a, b, c"; a static buffer
#endif
