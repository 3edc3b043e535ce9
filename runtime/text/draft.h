// Drafting: guesses of the next tokens are read together with the newest one, in one step of
// several rows. Each row's logits have the bits that they have alone, and tokens are chosen from
// them one after the other as always; so guesses change how many steps a text takes, and nothing of
// the text. Wrong ones are taken out of the slot again.
#ifndef BURIN_DRAFT_H
#define BURIN_DRAFT_H
#include "text/generation.h"

typedef enum burin_guess_source {
    BURIN_NO_GUESSES,
    BURIN_BY_LOOKUP,
    BURIN_BY_MODEL
} burin_guess_source;
// By --draft and the models in the program; ends the program where the model cannot have drafts.
burin_guess_source burin_draft_source(const burin_run *);
// The continuation of the latest longest earlier match of the text's end, of at least `shortest`
// tokens. Returns its number of tokens.
int32_t burin_draft_look_up(const burin_generation *, int32_t *guess, int32_t most,
                            int32_t shortest);
// sure: a model need not be asked; long: nor a head
enum { BURIN_SHORTEST_MATCH = 2, BURIN_SURE_MATCH = 4, BURIN_LONG_MATCH = 12 };

// Without --draft, only the tokens that a grammar forces are guessed; NULL without a grammar.
struct burin_draft *burin_draft_open(burin_run *, bool has_grammar);
void burin_draft_close(struct burin_draft *);

void burin_draft_start(struct burin_draft *);       // of a text: nothing is guessed yet
float *burin_draft_read(burin_generation *);        // reads the newest token; logits after it
void burin_draft_finish(const burin_generation *);  // removes unaccepted drafts from the slot
void burin_draft_statistics(const struct burin_draft *);
#endif
