// Files mapped read-only, known in one place: pages that were read can be given back (a checkpoint
// may be larger than memory), and a file that becomes shorter while it is read ends the run with a
// message.
#ifndef BURIN_MAPPING_H
#define BURIN_MAPPING_H
#include <stddef.h>
#include <stdint.h>

// The whole file, until mapping_remove; "" when it is empty. Ends the run with a message when it
// cannot be mapped.
const void *mapping_open(const char *path, uint64_t *size);
void mapping_remove(const void *data);
// Returns the whole pages of [data, data + bytes) to the system: they are read again from the file
// when needed. Does nothing unless the range lies in one mapping.
void mapping_forget(const void *data, size_t bytes);
// From now on SIGBUS in a mapping is diag_fatal: the file lost its end, or its disk cannot be read.
void mapping_watch(void);
#endif
