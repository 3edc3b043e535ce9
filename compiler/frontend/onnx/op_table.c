// The operators that are imported: one row each. To add one: its row, its handler in op_math.c, op_shape.c or op_nn.c, a case
// in tests/unit/onnx.c. A handler writes the operator as a formula over the core ops; names and meaning are those of onnx.ai's
// operator reference.
#include <string.h>

#include "frontend/onnx/ops.h"

#define ROW(name, least, most, since, handler, argument) {name, "", least, most, since, handler, argument}
static const OnnxOp ROWS[] = {
    // elementwise
    ROW("Abs", 1, 1, 1, onnx_unary, OP_abs),
    ROW("Ceil", 1, 1, 1, onnx_unary, OP_ceil),
    ROW("Cos", 1, 1, 7, onnx_unary, OP_cos),
    ROW("Erf", 1, 1, 9, onnx_unary, OP_erf),
    ROW("Exp", 1, 1, 1, onnx_unary, OP_exp),
    ROW("Floor", 1, 1, 1, onnx_unary, OP_floor),
    ROW("Log", 1, 1, 1, onnx_unary, OP_log),
    ROW("Neg", 1, 1, 1, onnx_unary, OP_neg),
    ROW("Not", 1, 1, 1, onnx_unary, OP_not),
    ROW("Reciprocal", 1, 1, 1, onnx_unary, OP_reciprocal),
    ROW("Relu", 1, 1, 1, onnx_unary, OP_relu),
    ROW("Round", 1, 1, 11, onnx_unary, OP_round),
    ROW("Sigmoid", 1, 1, 1, onnx_unary, OP_sigmoid),
    ROW("Sin", 1, 1, 7, onnx_unary, OP_sin),
    ROW("Sqrt", 1, 1, 1, onnx_unary, OP_sqrt),
    ROW("Tanh", 1, 1, 1, onnx_unary, OP_tanh),
    ROW("Gelu", 1, 1, 20, onnx_gelu, 0),
    ROW("Swish", 1, 1, 24, onnx_swish, 0),
    ROW("IsNaN", 1, 1, 9, onnx_is_nan, 0),
    ROW("Add", 2, 2, 1, onnx_binary, OP_add),
    ROW("And", 2, 2, 1, onnx_binary, OP_and),
    ROW("Div", 2, 2, 1, onnx_binary, OP_div),
    ROW("Equal", 2, 2, 1, onnx_binary, OP_equal),
    ROW("Greater", 2, 2, 1, onnx_binary, OP_greater),
    ROW("GreaterOrEqual", 2, 2, 12, onnx_binary, OP_greater_or_equal),
    ROW("Less", 2, 2, 1, onnx_binary, OP_less),
    ROW("LessOrEqual", 2, 2, 12, onnx_binary, OP_less_or_equal),
    ROW("Mul", 2, 2, 1, onnx_binary, OP_mul),
    ROW("Or", 2, 2, 1, onnx_binary, OP_or),
    ROW("Pow", 2, 2, 1, onnx_pow, 0),
    ROW("Sub", 2, 2, 1, onnx_binary, OP_sub),
    ROW("Max", 1, -1, 1, onnx_variadic, OP_max),
    ROW("Min", 1, -1, 1, onnx_variadic, OP_min),
    ROW("Sum", 1, -1, 1, onnx_variadic, OP_add),
    ROW("Where", 3, 3, 9, onnx_where, 0),
    ROW("Cast", 1, 1, 1, onnx_cast_op, 0),
    ROW("Identity", 1, 1, 1, onnx_identity, 0),
    ROW("Dropout", 1, 3, 1, onnx_identity, 0),

    // shapes and data movement
    ROW("Concat", 1, -1, 1, onnx_concat, 0),
    ROW("Constant", 0, 0, 1, onnx_constant_op, 0),
    ROW("ConstantOfShape", 1, 1, 9, onnx_constant_of_shape, 0),
    ROW("Expand", 2, 2, 8, onnx_expand, 0),
    ROW("Flatten", 1, 1, 1, onnx_flatten, 0),
    ROW("Gather", 2, 2, 1, onnx_gather, 0),
    ROW("Range", 3, 3, 11, onnx_range, 0),
    ROW("Reshape", 2, 2, 5, onnx_reshape_op, 0),
    ROW("Shape", 1, 1, 1, onnx_shape, 0),
    ROW("Size", 1, 1, 1, onnx_size, 0),
    ROW("Slice", 1, 5, 1, onnx_slice, 0),
    ROW("Split", 1, 2, 1, onnx_split, 0),
    ROW("Squeeze", 1, 2, 1, onnx_squeeze, 0),
    ROW("Transpose", 1, 1, 1, onnx_transpose, 0),
    ROW("Trilu", 1, 2, 14, onnx_trilu, 0),
    ROW("Unsqueeze", 1, 2, 1, onnx_unsqueeze, 0),

    // networks
    ROW("Gemm", 2, 3, 1, onnx_gemm, 0),
    ROW("LayerNormalization", 2, 3, 17, onnx_layer_normalization, 0),
    ROW("MatMul", 2, 2, 1, onnx_matmul, 0),
    ROW("RMSNormalization", 2, 2, 23, onnx_rms_normalization, 0),
    ROW("ReduceMax", 1, 2, 1, onnx_reduce, OP_reduce_max),
    ROW("ReduceMean", 1, 2, 1, onnx_reduce, OP_reduce_mean),
    ROW("ReduceMin", 1, 2, 1, onnx_reduce, OP_reduce_min),
    ROW("ReduceProd", 1, 2, 1, onnx_reduce, OP_reduce_prod),
    ROW("ReduceSum", 1, 2, 1, onnx_reduce, OP_reduce_sum),
    ROW("SimplifiedLayerNormalization", 2, 2, 1, onnx_rms_normalization, 0),
    ROW("Softmax", 1, 1, 1, onnx_softmax, 0),
};
#undef ROW

const OnnxOp *onnx_op_find(const char *domain, const char *name) {
    if (!strcmp(domain, "ai.onnx")) domain = "";
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (!strcmp(ROWS[i].name, name) && !strcmp(ROWS[i].domain, domain)) return &ROWS[i];
    return NULL;
}
