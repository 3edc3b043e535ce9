// Files mapped read-only, known in one place so that pages that were read can be given back: a checkpoint may be larger than
// memory.
#ifndef BURIN_MAPPING_H
#define BURIN_MAPPING_H
#include <stddef.h>

void mapping_add(const void *data, size_t bytes);
void mapping_remove(const void *data);
// Gives back the whole pages of [data, data + bytes): they are read again from the file when needed. Nothing happens unless all
// of it lies in one mapping.
void mapping_forget(const void *data, size_t bytes);
#endif
