// What --dim and --max say of the dimensions of an ONNX model.
#ifndef BURIN_DIMS_H
#define BURIN_DIMS_H
#include "cli/options.h"
#include "frontend/onnx.h"

OnnxOptions onnx_options(Arena *, const Options *);
void bound_voice(Arena *, OnnxOptions *);  // adds bounds that suit a voice
void check_dims_used(const OnnxOptions *,
                     const Module *);  // a dimension that the model does not have ends the run
#endif
