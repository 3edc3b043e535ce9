// Why a compiler or linker failed, where neither it nor burin is to blame. `said`: the text of the job's log.
#ifndef BURIN_BLAME_H
#define BURIN_BLAME_H
#include "toolchain/process.h"

// Each ends the run when that is why the job failed: a disk too full for what the job writes, a header of the C library or a
// static library that is not there (many systems have it in a package of its own).
void explain_full_disk(const Job *, const char *said);
void explain_missing_header(const Job *, const char *said);
void explain_missing_library(const Job *, const char *said);
#endif
