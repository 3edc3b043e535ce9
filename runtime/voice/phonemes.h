// A sentence to phonemes, and phonemes to the ids of a voice's network.
#ifndef BURIN_PHONEMES_H
#define BURIN_PHONEMES_H
#include <stdint.h>

#include "engine/card.h"
#include "engine/voice.h"
#include "program/output.h"

// Adds the phonemes of a sentence, in UTF-8: words and marks of its clauses. NULL, or why
// espeak-ng, which some voices need, gives none.
const char *burin_add_phonemes(const burin_voice *, const char *sentence, size_t bytes,
                               burin_capture *phonemes);

// Ids of phonemes, with those around and between them. Returns their number, at most `most`, or
// most + 1 where there are more. Characters without an id are left out, and added to `unknown`.
int64_t burin_phoneme_ids(const burin_card *, const burin_voice *, const char *phonemes,
                          size_t bytes, int64_t *ids, int64_t most, burin_capture *unknown);
#endif
