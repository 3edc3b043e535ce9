// When each token of a window is said: cross-attention of the model's alignment heads, and the
// cheapest monotonic path through it.
#ifndef BURIN_ALIGNMENT_H
#define BURIN_ALIGNMENT_H
#include "sound/decode.h"

// Writes when each of the n_tokens - n_first generated tokens ends, in seconds from the window's
// start. `frames`: of the window, those with sound. Reads the window's tokens again.
void burin_align_window(const burin_decoding *, int64_t frames, double *seconds);

// The path: for each of `rows` tokens the first of `columns` steps that is its. `weights` are
// [rows][columns]; a larger one is a better match.
void burin_align_path(const float *weights, int32_t rows, int32_t columns, int32_t *first);
#endif
