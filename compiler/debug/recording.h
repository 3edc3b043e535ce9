// Values that another framework recorded, by name: an .npz as numpy.savez and
// numpy.savez_compressed write it, a folder of .npy files, or one .npy. The name of a value is its
// file's, without .npy.
#ifndef BURIN_DEBUG_RECORDING_H
#define BURIN_DEBUG_RECORDING_H
#include "ir.h"

typedef struct Recording {
    Arena *arena;
    const char *path;
    Tensor *values;  // names are set
    int n;
} Recording;

// Each ends the run with a message if the file cannot be read.
Recording *recording_read(Arena *, const char *path);
void recording_add_file(Recording *, const char *name, const char *path);
void recording_add(Recording *,
                   const Tensor *);  // not copied; a value of the same name is replaced

const Tensor *recording_find(const Recording *,
                             const char *name);  // NULL when absent, or without a recording
#endif
