// Reasons of a failed compiler or linker that are neither its own nor burin's. `said`: the text of
// the job's log.
#ifndef BURIN_BLAME_H
#define BURIN_BLAME_H
#include "toolchain/process.h"

// Each ends the run if it is the reason of the failure: a disk too full for the job's output, a
// missing header of the C library or static library (many systems have it in a package of its own).
void explain_full_disk(const Job *, const char *said);
void explain_missing_header(const Job *, const char *said);
void explain_missing_library(const Job *, const char *said);
#endif
