// How a network's program uses texts, if its weights have a card (engine/card.h).
#ifndef BURIN_MODEL_CARD_H
#define BURIN_MODEL_CARD_H
#include "engine/card.h"
#include "engine/listener.h"
#include "engine/picture.h"
#include "engine/program.h"
#include "engine/voice.h"
#include "program/options.h"

const burin_card *burin_card_of(const burin_model *);  // NULL: none
const char *burin_card_label(const burin_card *, uint32_t i);
const char *burin_card_pair_prompt(
    const burin_card *);  // NULL: two texts are put together as tokens
// Pictures in: their preprocessing; NULL: takes none.
const burin_picture *burin_card_picture(const burin_model *);
const burin_pairing *burin_card_pairing(const burin_model *);  // of pictures and texts, or NULL
// Texts in, speech out: its settings; NULL: does not speak.
const burin_voice *burin_card_voice(const burin_model *);
// Recordings in, characters or labels out: their form; NULL: takes none.
const burin_listener *burin_card_listener(const burin_model *);
bool burin_labels(const burin_model *);  // texts in, labels or words out

// The prefix of a text: --prompt, --prompt-name, or the default of the model. `names` (they end
// with NULL): names of the model's prompts that take precedence over its default, for a query, say.
// "" without a prefix. Ends the program for names that the model lacks.
const char *burin_prompt_before(const burin_model *, const burin_command *,
                                const char *const *names);
#endif
