// C interface of the network NAME, compiled by burin.
//
//     NAME_options options = {.threads = 2};
//     size_t bytes = NAME_state_bytes(&options);
//     void *memory = aligned_alloc(NAME_ALIGNMENT, bytes);          // all the memory it will ever use
//     NAME_state state;
//     int status = NAME_init(&state, &options, memory, bytes);
//     if (status) fprintf(stderr, "%s\n", NAME_error_text(status));
//
//     const void *inputs[] = {pixels};                              // in the order of NAME_inputs
//     int64_t dims[] = {1, 3, 224, 224};                            // of all inputs, one after the other
//     void *outputs[] = {logits};                                   // in the order of NAME_outputs
//     status = NAME_run(&state, inputs, dims, outputs);
//     NAME_close(&state);                                            // ends its threads
//
// Nothing allocates after NAME_init. One state serves one caller at a time; several states may run side by side.
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

// What an input is for, when a caller has nothing better: ones (a mask that hides nothing), zeros, or 0, 1, 2 ... along the
// last axis (positions). Every input must be given to NAME_run.
enum { NAME_NEEDED, NAME_ONES, NAME_ZEROS, NAME_COUNTING };

typedef struct NAME_tensor {
    const char *name, *type;  // "f32", "i64", "bool" (a byte), ...: row-major
    int rank;
    int64_t dims[8];      // below 0: not fixed
    const char *shape;    // in words: "[batch, seq]"; a name stands for the same number everywhere
    int usually;          // NAME_NEEDED, ...
    int64_t least, most;  // values that an integer input may have; any when least > most
} NAME_tensor;

const NAME_tensor *NAME_inputs(int *n);
const NAME_tensor *NAME_outputs(int *n);

typedef struct NAME_options {
    int32_t threads;      // 0: the physical cores that this process may use
    const char *cpu;      // one of the CPUs that the library carries code for; NULL: the best that runs here
    const int64_t *dims;  // of the largest run: the dimensions of all its inputs. NULL: the largest it was built for
} NAME_options;

typedef struct NAME_state {
    void *session;  // in the memory given to NAME_init
} NAME_state;

// What the functions return: 0, or one of these. Numbers stay when others are added.
enum {
    NAME_BAD_ABI = -1,
    NAME_BAD_OPTION = -2,
    NAME_BAD_CPU = -3,
    NAME_CPU_TOO_OLD = -4,
    NAME_BAD_ALIGNMENT = -5,
    NAME_SMALL_MEMORY = -6,
    NAME_NO_THREADS = -7,
    NAME_BAD_SHAPE = -14,  // dimensions that the network does not take, or that contradict each other
    NAME_BAD_VALUE = -15,  // an integer outside of its input's least and most
    NAME_NOT_OPEN = -100,
};
const char *NAME_error_text(int status);

size_t NAME_state_bytes(const NAME_options *);  // 0: an option is out of range. NULL: the defaults
int NAME_init(NAME_state *, const NAME_options *, void *memory, size_t bytes);  // alignment and size are checked
void NAME_close(NAME_state *);

// `dims`: the dimensions of all inputs, one after the other; `output_dims`: those of all outputs, written in the same way.
int NAME_shapes(const int64_t dims[], int64_t output_dims[]);

// Computes the outputs into the caller's memory. The same inputs give the same bits on any of the CPUs and with any number of
// threads. Inputs and outputs are aligned for their elements.
int NAME_run(NAME_state *, const void *const inputs[], const int64_t dims[], void *const outputs[]);

// The ids of a text, when the network has a tokenizer (an encoder of sentences: they are its input_ids); otherwise -1. Writes
// at most `capacity` ids and returns how many there are; `memory` holds NAME_encode_memory(bytes) bytes, aligned to 16.
size_t NAME_encode_memory(size_t text_bytes);
int64_t NAME_encode(const char *text, size_t bytes, int32_t *ids, size_t capacity, void *memory);

// What the library is.
int NAME_abi_version(void);       // NAME_ABI_VERSION of the header it was built with
const char *NAME_identity(void);  // 16 hex digits over architecture, weights and options
const char *NAME_cpu(const NAME_state *);

#ifdef __cplusplus
}
#endif
#endif
