// Guesses by a second model, which was built into the program by --draft. It reads the same tokens
// in a slot of its own, and chooses by the same settings and the same random numbers as the first:
// so that sampled guesses are right, too, where the models agree.
#ifndef BURIN_DRAFT_MODEL_H
#define BURIN_DRAFT_MODEL_H
#include "text/generation.h"

struct burin_guesser *burin_guesser_open(const burin_run *);
void burin_guesser_close(struct burin_guesser *);

// Reads the new part of g->tokens; drafting does too. Worth a call of its own for a long part, such
// as a prompt.
void burin_guesser_follow(struct burin_guesser *, const burin_generation *);
int32_t burin_guesser_missed(const struct burin_guesser *,
                             const burin_generation *);  // tokens that it has not read
void burin_guesser_learn(
    struct burin_guesser *,
    bool all_right);  // of its last guesses: it becomes bolder, or more careful

// Drafts after g->tokens, at most this many: fewer where it is unsure. May write them after
// g->tokens.
int32_t burin_guesser_guess(struct burin_guesser *, const burin_generation *, int32_t *guess,
                            int32_t most);
#endif
