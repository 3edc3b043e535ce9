// Calls of tools in an answer that obeys their grammar (grammar/tools.h), as OpenAI's API prints them.
#ifndef BURIN_TOOL_CALLS_H
#define BURIN_TOOL_CALLS_H
#include <stddef.h>

#include "grammar/tools.h"

// Prints `, "tool_calls": [...]` where there are calls, and returns their number. *content: where the first one begins, else
// `bytes`. Arguments that stand between tags stay in the text: these forms have no calls here.
int burin_print_tool_calls(burin_tool_form, const char *text, size_t bytes, size_t *content);
#endif
