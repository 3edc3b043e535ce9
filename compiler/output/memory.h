// --max-ram, --max-flash, and the table of memory by kind.
#ifndef BURIN_OUTPUT_MEMORY_H
#define BURIN_OUTPUT_MEMORY_H
#include "build/build.h"

// Ends the run if the model needs more than --max-ram or --max-flash allow, and suggests options
// that it has tried.
void memory_check(const Build *);
// For a machine without an operating system, whose library consists of these objects: the table of
// memory. Ends the run if flash is too small for the code as well.
void memory_of_library(const Build *, const Objects *);
#endif
