// Pictures in prompts: the description of a model's eyes (dsl/eyes), its graph before the
// decoder's, and the settings of its processor.
#ifndef BURIN_FRONTEND_EYES_H
#define BURIN_FRONTEND_EYES_H
#include "frontend/checkpoint.h"
#include "frontend/tokenizer.h"
#include "ir.h"

// The description of the eyes of the model whose text part this is; NULL: there is none.
// `rest`: the model's encoder of pictures.
const char *eyes_description(Arena *, const Checkpoint *text, const Checkpoint *rest);

// Puts the graph of the eyes before the decoder's, whose rows take vectors in place of tokens, and
// sets module->eyes. False: a warning has named the setting that is not supported, and nothing has
// changed.
bool eyes_add(Module *, const char *description, const Checkpoint *text, const Checkpoint *rest,
              const Tokenizer *);
#endif
