// Shared by the files that infer types.
#ifndef BURIN_IR_INFER_H
#define BURIN_IR_INFER_H
#include "ir.h"

// "op: message", then the operands' types as a note; returns false.
bool infer_mismatch(const Node *, const char *format, ...) __attribute__((format(printf, 2, 3)));
// An axis attribute, counted from the end when negative; false after a message when there is no such axis.
bool infer_read_axis(const Node *, int64_t axis, int rank, int *result);
#endif
