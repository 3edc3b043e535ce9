// The operators that are imported (operators.def). A handler writes the operator as a formula over
// the core ops; names and meaning are those of onnx.ai's operator reference.

#include "frontend/onnx/operators/ops.h"

#define ROW_IN(domain, name, ...) {name, domain, __VA_ARGS__},
#define ROW(...)                  ROW_IN("", __VA_ARGS__)
static const OnnxOp ROWS[] = {
#include "frontend/onnx/operators/operators.def"
};
#undef ROW
#undef ROW_IN

const OnnxOp *onnx_op_find(const BurinOnnx__Operation *p) {
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (onnx_is_operator(p, ROWS[i].domain, ROWS[i].name)) return &ROWS[i];
    return NULL;
}
