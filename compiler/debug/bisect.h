// What both --bisect and --reduce ask: what a module computes, and how far a pass took that.
#ifndef BURIN_DEBUG_BISECT_H
#define BURIN_DEBUG_BISECT_H
#include "build/build.h"
#include "debug/check_inputs.h"
#include "passes/pass.h"

// Values by graph and name: what the outputs are, or every value.
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
// The output that is farthest from what it was, in units of what rounding explains; NULL when they have none in common.
const TracedValue *trace_compare(const Trace *before, const Trace *after, Difference *);

// Shrinks the graphs of `before` as long as the pass does to them what it did, and writes them to -o. No error may have
// been reported before: the pass would stop at it.
void reduce(Build *, const Module *before, Pass);
// What a pass does to a module, tried in a process of its own.
typedef enum { PASS_KEEPS, PASS_CHANGES, PASS_REFUSES, PASS_CRASHES } PassEffect;
PassEffect pass_effect(const Build *, const Module *, Pass);
#endif
