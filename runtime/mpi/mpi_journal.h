// --resume: a file that keeps the result of each item, as soon as it is known, in any order.
#ifndef BURIN_JOURNAL_H
#define BURIN_JOURNAL_H
#include "engine/program.h"

// The printed output of an item, followed by its handed-over results.
typedef struct burin_result {
    uint64_t printed, given;  // bytes
    char *data;               // the holder's
} burin_result;

typedef struct burin_journal burin_journal;

// `command`: a sum over the options that decide what items give. Ends the program when the file is
// another run's, or cannot be written. A last result that was cut is forgotten. All others take
// NULL for no journal.
burin_journal *burin_journal_open(const char *path, const burin_model *, uint64_t command);
// A copy of an item's result, if its `sum`, over its input, is unchanged.
bool burin_journal_find(const burin_journal *, int64_t index, uint64_t sum, burin_result *);
void burin_journal_add(burin_journal *, int64_t index, uint64_t sum, const burin_result *);
void burin_journal_close(burin_journal *);
#endif
