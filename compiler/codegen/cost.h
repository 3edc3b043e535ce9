// What kernels compute and move, from their operands.
#ifndef BURIN_COST_H
#define BURIN_COST_H
#include "codegen/codegen.h"

typedef struct StepSizes {
    int64_t rows, keys;  // rows of a step; positions that attention reads in the mean. Of a network
                         // its largest run
    const int64_t *symbols;  // of a network: the sizes of a run instead, or NULL
} StepSizes;
typedef struct Cost {
    double operations;           // multiplications, additions and functions
    double weight_bytes, bytes;  // read of weights; read and written of everything else
} Cost;
Cost kernel_cost(const Program *, const Kernel *, const StepSizes *);  // of one kernel in a step
// Mean cost of an emitted call: the layers of a loop may differ in the bytes they read.
Cost call_cost(const Program *, const Kernel *first, const StepSizes *);
bool computes_integers(const Kernel *);  // products over rows of int8, dense or by experts
bool takes_integers(const Kernel *);     // a product over rows of int8
int iteration_of(const Program *,
                 int position);  // of the loop over layers, of a kernel; -1 outside
#endif
