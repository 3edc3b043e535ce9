// What kind of program a model becomes.
#ifndef BURIN_PROGRAM_KIND_H
#define BURIN_PROGRAM_KIND_H
#include "build/build.h"
#include "text/modes.h"

typedef struct ProgramKind {
    const char *name;                 // burin_modes_NAME of runtime/main/modes.c
    const struct burin_modes *modes;  // the descriptor names these
    const char *trial;                // arguments to try the program with
} ProgramKind;

// After build_lower.
const ProgramKind *program_kind(const Build *);
// The name of the modes that the output links; NULL: a library's model, or a draft for another
// model.
const char *program_modes(const Build *);
// Arguments to try the program with.
const char *program_trial(const Build *);
#endif
