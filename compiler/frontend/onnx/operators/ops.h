// The handlers that operators.def names.
#ifndef BURIN_ONNX_OPS_H
#define BURIN_ONNX_OPS_H
#include "frontend/onnx/import.h"

#define ROW_IN(domain, name, least, most, since, results, handler, ...) OnnxHandler handler;
#define ROW(...)                                                        ROW_IN("", __VA_ARGS__)
#include "frontend/onnx/operators/operators.def"
#undef ROW
#undef ROW_IN

// What onnx_window is told.
enum { ONNX_HANN, ONNX_HAMMING, ONNX_BLACKMAN };
#endif
