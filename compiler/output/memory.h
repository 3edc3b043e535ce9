// --max-ram, --max-flash, and the table of what goes where.
#ifndef BURIN_OUTPUT_MEMORY_H
#define BURIN_OUTPUT_MEMORY_H
#include "build/build.h"

// Ends the run when the model needs more than --max-ram or --max-flash allow, and says what would make it fit: that is tried.
void memory_check(const Build *);
// Of a machine without an operating system, whose library is made of these objects: what goes where. Ends the run when flash
// does not hold the code as well.
void memory_of_library(const Build *, const Objects *);
#endif
