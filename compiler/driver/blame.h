// Why a compiler or linker failed, where neither it nor burin is to blame. `said`: the text of the job's log.
#ifndef BURIN_BLAME_H
#define BURIN_BLAME_H
#include "driver/process.h"

// Each ends the run when that is why the job failed.
void blame_full_disk(const Job *, const char *said);  // also by what is free where the job wrote
void blame_missing_library(const Job *,
                           const char *said);  // the static C library, which many systems have in a package of its own
#endif
