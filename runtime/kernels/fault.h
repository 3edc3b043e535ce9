// Faults that tests put into kernels, to see that other tests notice them (tests/lib.sh,
// home_with_fault). No program has one.
#ifndef BURIN_FAULT_H
#define BURIN_FAULT_H

#ifndef FAULT_K_DESCENDING
#define FAULT_K_DESCENDING 0  // 1: float products of several rows add from the last k to the first
#endif
#ifndef FAULT_EPSILON
#define FAULT_EPSILON 0  // is added to the epsilon of norms
#endif
#ifndef FAULT_DELAY
#define FAULT_DELAY \
    0  // 1: a thread waits at random after each kernel, so that races show (engine/profile.h)
#endif
#ifndef FAULT_ROW_SUM
#define FAULT_ROW_SUM \
    0  // is added to the sums of rows of int8, by which offsets of weights are taken away
#endif
#endif
