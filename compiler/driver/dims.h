#ifndef BURIN_DIMS_H
#define BURIN_DIMS_H
#include "driver/options.h"
#include "frontend/onnx.h"

OnnxOptions onnx_options(Arena *, const Options *);
#endif
