// Embeddings as they are printed: lines of numbers, JSON, or rows of a .npy array.
#ifndef BURIN_IMAGE_EMBEDDINGS_H
#define BURIN_IMAGE_EMBEDDINGS_H
#include "program/npy.h"
#include "program/options.h"

typedef struct burin_embeddings {
    const burin_command *command;
    int64_t width;
    bool array;  // --format npy or --output
    burin_npy npy;
    char path[4096];
} burin_embeddings;

// `name`: of the file in --output.
void burin_embeddings_open(burin_embeddings *, const burin_command *, const char *name,
                           int64_t width);
// `what`: the field of JSON that `named` is in.
void burin_embeddings_add(burin_embeddings *, const char *what, const char *named,
                          const float *values);
void burin_embeddings_close(burin_embeddings *);
#endif
