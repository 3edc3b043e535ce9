// Inputs of `burin check` for the graphs of a module: --input, --tokens, a recording, and the
// results of earlier graphs.
#ifndef BURIN_DEBUG_CHECK_INPUTS_H
#define BURIN_DEBUG_CHECK_INPUTS_H
#include "cli/options.h"
#include "debug/interpret_both.h"
#include "debug/recording.h"

typedef struct CheckInputs {
    Arena *arena;
    const Recording *recorded;  // or NULL
    Recording given;            // --input, and the outputs of graphs before
    const char *tokens;         // --tokens, or NULL
    bool invented;              // missing values are generated, instead of an error
    int64_t size;               // that symbols have then
    int64_t memory;             // rows that an encoder left
} CheckInputs;

CheckInputs check_inputs(Arena *, const Options *, const Recording *);
// A value for each input of the graph, of its type and rank. The context gets the symbols that
// their shapes tell.
const Tensor **check_inputs_of(CheckInputs *, const Graph *, EvalContext *);
void check_inputs_add(CheckInputs *, const char *name, const Tensor *);  // copied

// The graphs of a module, in order, over these inputs; outputs of a graph are inputs of later ones.
void check_walk(CheckInputs *, const Module *, InterpretBoth *, InterpretBothVisit *, void *user);

int64_t check_size(const Dim *, EvalContext *);  // 0 or the least for symbols that nothing told
#endif
