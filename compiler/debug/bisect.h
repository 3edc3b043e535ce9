// Common functions of --bisect and --reduce: a module's values, and how far a pass moved them.
#ifndef BURIN_DEBUG_BISECT_H
#define BURIN_DEBUG_BISECT_H
#include "build/build.h"
#include "debug/check_inputs.h"
#include "passes/pass.h"

// Values by graph and name: the outputs, or every value.
typedef struct TracedValue {
    const Node *node;            // as long as no pass runs
    const char *graph, *output;  // names; output NULL: of no output
    const Tensor *exact, *contract;
} TracedValue;

typedef struct Trace {
    Arena *arena;
    bool all;
    TracedValue *values;
    int n, capacity;
} Trace;

void trace_module(Trace *, const Options *, const Module *, bool all);
void trace_free(Trace *);
// The output that moved farthest, in units of the rounding error; NULL without a common output.
const TracedValue *trace_compare(const Trace *before, const Trace *after, Difference *);

// Shrinks the graphs of `before` as long as the pass still does the same to them, and writes them
// to -o. No error may have been reported before: the pass would stop at it.
void reduce(Build *, const Module *before, Pass);
// Tries a pass on a module, in a process of its own.
typedef enum { PASS_KEEPS, PASS_CHANGES, PASS_REFUSES, PASS_CRASHES } PassEffect;
PassEffect pass_effect(const Build *, const Module *, Pass);
#endif
