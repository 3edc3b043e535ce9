// --beams N: the N likeliest beginnings are read on together, and the likeliest text of those that end is the answer. Scores,
// their order and when the search is over are those of transformers' generate() with num_beams.
#ifndef BURIN_BEAMS_H
#define BURIN_BEAMS_H
#include "text/generation.h"

// Behind g->tokens, which slot 0 has read; logits: of the last of them. *text: the tokens of the answer, without one that ends
// it; the caller frees them. Returns how many. The slot is left as it was.
int32_t burin_beams_search(burin_generation *, const float *logits, int32_t **text);
#endif
