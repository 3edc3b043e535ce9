// Pictures of the command line, and a prompt that shows them.
#ifndef BURIN_SHOWN_PROMPT_H
#define BURIN_SHOWN_PROMPT_H
#include "text/run.h"

// The number of the picture in this file; ends the program with a message if it cannot be read.
int32_t burin_see_file(burin_run *, const char *path);

// The tokens of the prompt with the pictures of --image. Their marks come before the prompt, unless
// it has marks itself. `empty`: there was no text.
burin_tokens burin_read_shown_prompt(burin_run *, bool *empty);
#endif
