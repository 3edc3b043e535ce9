// The table of operations, made from ops.def.
#include <string.h>

#include "ir.h"

#define OP(name, least, most, rows, attrs, infer, eval, scalar, help) \
    bool infer(Graph *, Node *, Type *);                              \
    void eval(EvalContext *, Node *);
#include "ops.def"
#undef OP

const OpInfo op_info[OP_COUNT] = {
#define OP(name, least, most, rows, attrs, infer, eval, scalar, help) \
    [OP_##name] = {#name, least, most, rows, attrs, infer, eval, scalar, help},
#include "ops.def"
#undef OP
};

bool op_find(const char *name, Op *op) {
    for (int i = 0; i < OP_COUNT; i++)
        if (!strcmp(op_info[i].name, name)) return *op = (Op)i, true;
    return false;
}

bool op_is_elementwise(Op op) { return op_info[op].scalar != NULL; }

bool op_is_comparison(Op op) {
    return op == OP_less || op == OP_less_or_equal || op == OP_greater || op == OP_greater_or_equal || op == OP_equal;
}

bool op_is_logical(Op op) { return op == OP_and || op == OP_or || op == OP_not; }
