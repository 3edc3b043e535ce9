// The kind of output that -o names: a program, a library or a folder of C, and its C names.
#ifndef BURIN_OUTPUT_NAME_H
#define BURIN_OUTPUT_NAME_H
#include "cli/options.h"
#include "toolchain/toolchain.h"

bool output_is_wheel(const char *output);
OutputKind output_kind(const char *output);
// Ends the run (status 2) when the name promises something that burin does not write, or cannot be
// one of C.
void check_output_name(Arena *, const Machine *, const char *output);
// The name of -o, or the model's; a program for Windows has its ending.
const char *output_name(Arena *, const Options *, const Machine *);
// What programs of a model are named: [a-z][a-z0-9_]*. examples/austen/ gives austen,
// path/9Lives.v2.onnx model_9lives. A folder of ONNX files names them.
const char *model_name(Arena *, const Options *);
// The prefix of C names for a file's name; it avoids the runtime's names. path/encoder.a gives
// model_encoder.
const char *symbol_name(Arena *, const char *path);
#endif
