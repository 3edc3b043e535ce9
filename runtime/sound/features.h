// Frames of mel bands as the feature extractors of listeners compute them (formulas: README.md).
#ifndef BURIN_FEATURES_H
#define BURIN_FEATURES_H
#include "engine/listener.h"

// How many frames n samples have; those of a fixed number count as far as there is sound.
int64_t burin_features_count(const burin_features *, int64_t n);
// The samples of as many frames, at most.
int64_t burin_features_samples(const burin_features *, int64_t frames);
// Computes [frames][n_mels] of n samples: burin_features_count, or the fixed number.
void burin_features_compute(const burin_features *, int32_t sample_rate, const float *samples,
                            int64_t n, float *out);
#endif
