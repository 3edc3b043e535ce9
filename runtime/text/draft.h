// Drafting: guesses of the next tokens are read together with the newest one, in one step of
// several rows. Each row's logits have the bits that they have alone, and tokens are chosen from
// them one after the other as always; so guesses change how many steps a text takes, and nothing of
// the text. Wrong ones are taken out of the slot again.
#ifndef BURIN_DRAFT_H
#define BURIN_DRAFT_H
#include "text/generation.h"

// NULL without --draft.
struct burin_draft *burin_draft_open(const burin_run *);
void burin_draft_close(struct burin_draft *);

void burin_draft_start(struct burin_draft *);       // of a text: nothing is guessed yet
float *burin_draft_read(burin_generation *);        // reads the newest token; logits after it
void burin_draft_finish(const burin_generation *);  // removes unaccepted drafts from the slot
void burin_draft_statistics(const struct burin_draft *);
#endif
