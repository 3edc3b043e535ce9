// --beams N: the N most probable beginnings are extended together, and the answer is the most
// probable ended text. Scores, their order and the end of the search are those of transformers'
// generate() with num_beams.
#ifndef BURIN_BEAMS_H
#define BURIN_BEAMS_H
#include "text/generation.h"

// After g->tokens, which slot 0 has read; logits: of the last one. *text: the tokens of the answer,
// without an end token; the caller frees them. Returns their number. The slot is unchanged.
int32_t burin_beams_search(burin_generation *, const float *logits, int32_t **text);
#endif
