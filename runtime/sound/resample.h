// Another sample rate by a windowed sinc (the formula is in README.md).
#ifndef BURIN_RESAMPLE_H
#define BURIN_RESAMPLE_H
#include "sound/wav.h"

// Replaces the samples by ceil(n * rate / sound->rate) others; both rates are in BURIN_LEAST_RATE
// to BURIN_MOST_RATE.
void burin_resample(burin_sound *, int32_t rate);
#endif
