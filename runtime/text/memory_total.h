// The largest memory need of a program's run, in the words of `burin build`: weights, caches for
// the positions that --ctx allows, work.
#ifndef BURIN_MEMORY_TOTAL_H
#define BURIN_MEMORY_TOTAL_H
#include "engine/forward.h"

enum { BURIN_MEMORY_TEXT = 160 };  // bytes of a text

// Writes "7.7 MB: weights 5.7, KV cache 1.6 for 512 positions, work 0.47" for sessions of these
// options whose slots hold `context` positions each.
void burin_memory_text(const burin_model *, const burin_options *, int32_t context,
                       char text[BURIN_MEMORY_TEXT]);
#endif
