// Memory of a program; where there is none, the program ends with a message (base/allocate.h:
// burin_allocate).
#ifndef BURIN_PROGRAM_ALLOCATE_H
#define BURIN_PROGRAM_ALLOCATE_H
#include "base/allocate.h"

void *burin_map_memory(size_t bytes);      // zeroed pages
void *burin_try_map_memory(size_t bytes);  // the same; NULL: there is no memory
#endif
