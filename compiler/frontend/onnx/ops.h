// The handlers of op_table.c, by the file that owns them.
#ifndef BURIN_ONNX_OPS_H
#define BURIN_ONNX_OPS_H
#include "frontend/onnx/import.h"

// op_math.c
OnnxHandler onnx_unary, onnx_gelu, onnx_swish, onnx_is_nan, onnx_binary, onnx_pow, onnx_variadic, onnx_where, onnx_cast_op,
    onnx_identity;
// op_shape.c
OnnxHandler onnx_concat, onnx_constant_op, onnx_constant_of_shape, onnx_expand, onnx_flatten, onnx_gather, onnx_range,
    onnx_reshape_op, onnx_shape, onnx_size, onnx_slice, onnx_split, onnx_squeeze, onnx_transpose, onnx_trilu, onnx_unsqueeze;
// op_nn.c
OnnxHandler onnx_gemm, onnx_layer_normalization, onnx_matmul, onnx_reduce, onnx_rms_normalization, onnx_softmax;
#endif
