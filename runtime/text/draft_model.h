// Guesses by a second model, which was built into the program by --draft. It reads the same tokens in a slot of its own, and
// chooses by the same settings and the same random numbers as the first: so that sampled guesses are right, too, where the
// models agree.
#ifndef BURIN_DRAFT_MODEL_H
#define BURIN_DRAFT_MODEL_H
#include "text/generation.h"

struct burin_guesser *burin_guesser_open(const burin_run *);
void burin_guesser_close(struct burin_guesser *);

// Reads what is new of g->tokens; guessing does, too. Worth a call of its own where there is much, as a prompt.
void burin_guesser_follow(struct burin_guesser *, const burin_generation *);
void burin_guesser_learn(struct burin_guesser *, bool all_right);  // of its last guesses: it becomes bolder, or more careful

// Guesses that follow g->tokens, at most so many: fewer where it is unsure. May write them behind g->tokens.
int32_t burin_guesser_guess(struct burin_guesser *, const burin_generation *, int32_t *guess, int32_t most);
#endif
