// The beginning of conversations that a program has read before it runs (burin build --prompt): a
// session after the weights, valid on every CPU, and the system message that it is of.
#ifndef BURIN_PROMPT_CACHE_H
#define BURIN_PROMPT_CACHE_H
#include "text/run.h"

// The session's tokens (0: there is none), and its bytes.
int32_t burin_prompt_cache_size(const burin_model *, size_t *bytes);
bool burin_prompt_cache_intact(const burin_model *);
// The system message of conversations that have none, terminated; NULL: there is none.
const char *burin_prompt_system(const burin_model *);
// Loads the session into the slot if more of these tokens are in it than the slot keeps. Returns
// how many the slot can keep now; the last one is read again, for its logits.
int32_t burin_prompt_cache_use(const burin_run *, int32_t slot, const int32_t *ids, int32_t n,
                               int32_t kept);
#endif
