// Memory of rooms that a program has, and no library: where there is none the program ends
// (program/allocate.c).
#ifndef BURIN_ALLOCATE_H
#define BURIN_ALLOCATE_H
#include <stddef.h>

void *burin_allocate(size_t count,
                     size_t bytes);  // zeroed; ends the program when there is no memory
#endif
