// The compiled model as a shared object in this process, its trace on: what check and --calibrate
// run.
#ifndef BURIN_COMPILED_MODEL_H
#define BURIN_COMPILED_MODEL_H
#include "build/build.h"
#include "engine/program.h"

typedef void ForwardFunction(const burin_step *, int thread);

typedef struct CompiledModel {
    ForwardFunction *forward, *encode;  // encode: NULL without an encoder
    const unsigned char *weights;
} CompiledModel;

// Before the sources are written: the program is for the best of its CPUs that this machine is, or
// the run ends with `none`.
void compiled_model_for_here(Build *, const char *none);
// Compiles and loads what build_sources wrote to the folder, and maps the weights.
CompiledModel compiled_model_open(Build *, const char *folder);
void compiled_model_close(CompiledModel *, const Build *);

// The node of a result's name in the trace, in a layer or outside (-1). NULL: no node has it.
const Node *compiled_model_node(const Program *, const char *name, int layer);

// Memory of a step, each byte `fill`; and scratch memory, as large as the largest run of a network
// needs, which may be more than there is: pages come as they are touched.
unsigned char *compiled_model_memory(uint64_t bytes, int fill);
unsigned char *compiled_model_scratch(uint64_t bytes);
void compiled_model_free_scratch(void *memory, uint64_t bytes);
#endif
