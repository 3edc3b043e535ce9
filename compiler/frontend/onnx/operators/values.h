// The rows of values.def as a table, for the importer and for tests.
#ifndef ONNX_VALUES_H
#define ONNX_VALUES_H
#include <stdint.h>

static const struct OnnxValues {
    const char *operator, * attribute, *words;  // words: NULL for a range of integers
    int64_t least, most;
} ONNX_VALUES[] = {
#define WORDS(operator, attribute, words)       {operator, attribute, words, 0, 0},
#define RANGE(operator, attribute, least, most) {operator, attribute, NULL, least, most},
#include "frontend/onnx/operators/values.def"
#undef WORDS
#undef RANGE
};
typedef struct OnnxValues OnnxValues;
enum { ONNX_N_VALUES = sizeof ONNX_VALUES / sizeof *ONNX_VALUES };
#endif
