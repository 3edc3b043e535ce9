// Loops over rows whose body acts lane by lane: one kernel (lower/scan.c, codegen/scan.c).
#ifndef BURIN_LOWER_SCAN_H
#define BURIN_LOWER_SCAN_H
#include "lower/lower.h"

enum { SCAN_AXES = 8 };

typedef enum { SCAN_OPERAND, SCAN_FORMULA, SCAN_REDUCTION } ScanKind;

// A value of the body. It varies along some axes of the scan: a bit of `axes` for each.
typedef struct ScanValue {
    ScanKind kind;
    const Node *node;
    bool is_read;  // by a result, directly or through others; the remaining fields are of these
    unsigned axes;
    // operands: the kernel's operand, elements from one row to the next, along each axis
    int operand;
    int64_t offset, row_stride, stride[SCAN_AXES];
    int state;  // the state that it is a part of, or -1
    // formulas and reductions (of one value)
    const Expr *expr;
    int n_in;
    const int *in;    // values
    unsigned states;  // that it reads, directly or through values that vary along the reduced axis
    // number of the pass over the reduced axis that computes it; other values and reductions are
    // complete before this pass
    int pass;
} ScanValue;

// A value that is stored: a state, or an element of a scanned result
typedef struct ScanResult {
    int value;
    bool is_state;
    int operand;  // of a state: the kernel's operand; of others: the kernel's result
    int64_t row_stride, stride[SCAN_AXES];
    int pass;  // that stores it, where it varies along the reduced axis
} ScanResult;

// Units are the outer axes, the first one slowest, times groups of `vectors` * 16 lanes.
typedef struct Scan {
    int n_axes, lane, reduced;  // reduced: -1 without one
    int64_t extent[SCAN_AXES];
    int vectors;
    int64_t units;
    int n_values, n_results, n_passes;
    ScanValue *values;  // in the order of the body
    ScanResult *results;
    int slot, position;  // operands
    const char *key;     // equal for equal scans
} Scan;

// Returns true if the value varies along the axis (-1: no axis).
static inline bool scan_has(const ScanValue *v, int axis) {
    return axis >= 0 && (v->axes >> axis & 1);
}

// Returns true if the result has an element for each element of the reduced axis.
static inline bool scan_stores_along(const Scan *s, const ScanResult *r) {
    return s->reduced >= 0 && r->stride[s->reduced];
}
#endif
