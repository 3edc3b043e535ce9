// JSON files with errors that point at line and column.
#ifndef BURIN_UTIL_JSON_H
#define BURIN_UTIL_JSON_H
#include <jansson.h>

#include "util/arena.h"
#include "util/diag.h"

// Lives as long as the arena. Syntax errors and duplicate keys end the run; a source without text
// names byte offsets.
const json_t *json_read(Arena *, const Source *, const char *text, size_t size);
// A file that may be there, and whose mistakes are others' to report: NULL then. The caller decrefs
// it. Where an integer is too large for jansson, all numbers are real.
json_t *json_beside(const char *folder, const char *name);
json_t *json_own(Arena *, json_t *);  // released with the arena
#endif
