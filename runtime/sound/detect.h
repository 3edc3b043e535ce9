// Where somebody speaks: the spans of a recording, by the probability of each window.
#ifndef BURIN_DETECT_H
#define BURIN_DETECT_H
#include <stdint.h>

#include "engine/program.h"
#include "program/options.h"

// Prints the spans of each recording; returns the exit status.
int burin_detect_speech(const burin_model *, const burin_command *);

typedef struct burin_speech_span {
    int64_t start, end;  // samples
} burin_speech_span;

// Finds the spans of a recording of n samples with these probabilities, one for each `window`
// samples. `spans` has room for one for each two windows, and one more. Returns how many there are.
int64_t burin_find_speech(const float *probability, int64_t n, int32_t window, int32_t rate,
                          burin_speech_span *spans);
#endif
