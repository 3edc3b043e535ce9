// A network inside of the compiler: its descriptor for the runtime, and its inputs as tensors for
// the interpreter.
#ifndef BURIN_NETWORK_SHAPES_H
#define BURIN_NETWORK_SHAPES_H
#include "codegen/codegen.h"

// One network at a time: `dimension` of the descriptor has no context of its own.
const burin_network *network_of(const Program *);

// The inputs of a run, in the arena.
const Tensor **network_inputs(Arena *, const Program *, const void *const *data,
                              const int64_t *symbols);
// The value of a symbol of the program among those of a run; its least where it is none.
int64_t network_symbol(const Program *, const Dim *symbol, const int64_t *symbols);
#endif
