// Reading the report's data: absent fields are NULL, "" or 0.
#ifndef BURIN_REPORT_WORDS_H
#define BURIN_REPORT_WORDS_H
#include <jansson.h>

#include "util/arena.h"

const json_t *words_get(const json_t *object, const char *key);
const char *words_text(const json_t *object, const char *key);
double words_number(const json_t *object, const char *key);
const char *words_function(const json_t *program,
                           const json_t *kernel);  // name of a kernel's function

// burin explain MODEL WHAT: a module of the model, or a value. Ends the run with a message if there
// is no such name.
void explain_part(Arena *, const json_t *root, const char *what);
#endif
