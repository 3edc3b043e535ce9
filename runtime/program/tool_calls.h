// Calls of tools in an answer that obeys their grammar (grammar/tools.h), as OpenAI's API prints them.
#ifndef BURIN_TOOL_CALLS_H
#define BURIN_TOOL_CALLS_H
#include "grammar/tools.h"
#include "output.h"

// Prints the fields of an answer's message: role, reasoning_content, tool_calls, content. Returns true if it calls tools.
// `format`: of its calls; NULL: it has none. (messages.c)
bool burin_print_message(const burin_tool_format *format, const char *text, size_t bytes);

// Prints `, "tool_calls": [...]` where there are calls, and returns their number. What is no call, or only a part of one, is
// added to `content`, whose data the caller frees.
int burin_print_tool_calls(const burin_tool_format *, const char *text, size_t bytes, burin_capture *content);
#endif
