// C interface of the network NAME, compiled by burin.
//
//     NAME_options options = {.threads = 2};
//     size_t bytes = NAME_state_bytes(&options);
//     void *memory = aligned_alloc(NAME_ALIGNMENT, bytes);          // all the memory it will ever use
//     NAME_state state;
//     int status = NAME_init(&state, &options, memory, bytes);
//     if (status) fprintf(stderr, "%s\n", NAME_error_text(status));
//
// tensors of the model
//     status = NAME_run(&state, inputs, dims, outputs);
//     NAME_close(&state);                                            // ends its threads
//
// Nothing allocates after NAME_init. One state serves one caller at a time; several states may run
// side by side. Threads do not survive a fork: in the child such a state is an error (NAME_FORKED),
// which opens one of its own instead.
#ifndef NAME_LIBRARY_H
#define NAME_LIBRARY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// constants of the model

enum { NAME_ALIGNMENT = 64 };

// A default value of an input: ones (a mask that hides nothing), zeros, or 0, 1, 2 ... along the
// last axis (positions). Every input must be given to NAME_run.
enum { NAME_NEEDED, NAME_ONES, NAME_ZEROS, NAME_COUNTING };

typedef struct NAME_tensor {
    const char *name, *type;  // "f32", "i64", "bool" (a byte), ...: row-major
    int rank;
    int64_t dims[8];      // below 0: not fixed
    const char *shape;    // in words: "[batch, seq]"; equal names are equal numbers
    int usually;          // NAME_NEEDED, ...
    int64_t least, most;  // values that an integer input may have; any when least > most
} NAME_tensor;

const NAME_tensor *NAME_inputs(int *n);
const NAME_tensor *NAME_outputs(int *n);

typedef struct NAME_options {
    int32_t threads;  // 0: the physical cores that this process may use
    const char
        *cpu;  // one of the CPUs that the library carries code for; NULL: the best that runs here
    const int64_t *dims;  // of the largest run: the dimensions of all its inputs. NULL: a batch of
                          // 1 of the largest it was built for
} NAME_options;

#include "library_shared.h"

// `dims`: the dimensions of all inputs, one after the other; `output_dims`: those of all outputs,
// written in the same way.
int NAME_shapes(const int64_t dims[], int64_t output_dims[]);

// Computes the outputs into the caller's memory. The same inputs give the same bits on any of the
// CPUs and with any number of threads. Inputs and outputs are aligned for their elements.
int NAME_run(NAME_state *, const void *const inputs[], const int64_t dims[], void *const outputs[]);

#include "library_labels.h"

#ifdef __cplusplus
}
#endif
#endif
