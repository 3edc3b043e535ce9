// --calibrate FILE: weights of the input columns of products for quantization.
#ifndef BURIN_DEBUG_CALIBRATE_H
#define BURIN_DEBUG_CALIBRATE_H
#include "build/build.h"

// After the passes: the model reads the file with its weights as they are, and the constants of
// b->module get the mean squares of the columns that they are multiplied by (Tensor.importance).
// Ends the run where the model cannot read it.
void calibrate(Build *b);
// Ends the run where --perplexity could not read its text, before the program is built.
void check_perplexity_text(const Build *b);
#endif
