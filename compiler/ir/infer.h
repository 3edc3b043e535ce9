// Shared by the files that infer types.
#ifndef BURIN_IR_INFER_H
#define BURIN_IR_INFER_H
#include "ir.h"

static inline const Type *operand(const Node *n, int i) { return &n->in[i]->type; }
// "op: message", then the operands' types as a note; returns false.
bool infer_mismatch(const Node *, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The attribute "axis", made to count from the front; false after a message.
bool infer_axis(Node *, int64_t absent, int rank, int *axis);
#endif
