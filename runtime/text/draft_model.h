// Guesses by a second model, which was built into the program by --draft. It reads the same tokens
// in a slot of its own, and chooses by the same settings and the same random numbers as the first:
// so that sampled guesses are right, too, where the models agree.
//
// A head of the first model (--draft=mtp) reads pairs: the state that the model left in a row, and
// the token after that row. It needs the states of each step (burin_guesser_see), keeps the newest,
// and begins anew at the first that it has: guesses may become worse by that, never the text. For
// rows of its own guesses it takes its own states.
#ifndef BURIN_DRAFT_MODEL_H
#define BURIN_DRAFT_MODEL_H
#include "text/generation.h"

enum { BURIN_KEPT_STATES = 512, BURIN_GUESSES_OF_HEAD = 3 };

struct burin_guesser *burin_guesser_open(const burin_run *);
bool burin_guesser_is_head(const struct burin_guesser *);
// The rows of a step of the first model that are of this slot; NULL and no head: nothing.
void burin_guesser_see(struct burin_guesser *, const burin_session *, const burin_row *rows,
                       int32_t n, int32_t slot);
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
