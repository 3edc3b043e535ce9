// Options by their names.
#ifndef BURIN_OPTION_FIND_H
#define BURIN_OPTION_FIND_H
#include "program/options.h"

// The row in the table of options that the name has in this kind of program. Stops with a hint
// where there is none.
int burin_find_option(burin_kind program, const char *name);
#endif
