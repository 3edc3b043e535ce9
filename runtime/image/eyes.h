// Pictures as rows of a decoder: the bytes of a file in, the rows of the encoder out.
#ifndef BURIN_IMAGE_EYES_H
#define BURIN_IMAGE_EYES_H
#include "text/run.h"

// The number of the picture in run->sights; a picture that was seen is not encoded again. -1:
// *why has the reason, until the next call.
int32_t burin_see(burin_run *, const uint8_t *file, size_t bytes, const char **why);
// The same without its rows, which burin_see makes later: how many they are, and their ids.
int32_t burin_look(burin_run *, const uint8_t *file, size_t bytes, const char **why);
// The number of a picture that an earlier run has seen, whose rows a session has. -1: it cannot be
// one of this model.
int32_t burin_recall(burin_run *, uint64_t hash, int32_t lines, int32_t columns);
#endif
