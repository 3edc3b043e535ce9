// What --dim and --max say of the dimensions of an ONNX model.
#ifndef BURIN_DIMS_H
#define BURIN_DIMS_H
#include "cli/options.h"
#include "frontend/onnx.h"

OnnxOptions onnx_options(Arena *, const Options *);
// Sizes that no option names: of a voice one text at a time, of 512 ids and 1536 frames of sound at
// most; of a listener one recording at a time, of 20 s at most.
void bound_voice(Arena *, OnnxOptions *);
void bound_listener(Arena *, OnnxOptions *);
// A detector of speech takes one window, of 16,000 samples a second, or 8,000 with --bind=sr=8000.
void bound_detector(Arena *, OnnxOptions *);
void check_dims_used(const OnnxOptions *,
                     const Module *);  // a dimension that the model does not have ends the run
#endif
