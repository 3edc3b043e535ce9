// The handlers that operators.def names.
#ifndef BURIN_ONNX_OPS_H
#define BURIN_ONNX_OPS_H
#include "frontend/onnx/import.h"

#define ROW(name, least, most, since, handler, argument) OnnxHandler handler;
#include "frontend/onnx/operators.def"
#undef ROW

// What onnx_reduce_formula is told.
enum { ONNX_REDUCE_L1, ONNX_REDUCE_L2, ONNX_REDUCE_LOG_SUM, ONNX_REDUCE_LOG_SUM_EXP, ONNX_REDUCE_SUM_SQUARE };
#endif
