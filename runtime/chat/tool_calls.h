// Calls of tools in an answer that obeys their grammar (grammar/tools.h), as OpenAI's API prints
// them.
#ifndef BURIN_TOOL_CALLS_H
#define BURIN_TOOL_CALLS_H
#include "grammar/tools.h"
#include "program/output.h"

// Prints the fields of an answer's message: role, reasoning_content, tool_calls, content. Returns
// true if it calls tools. `format`: of its calls; NULL: it has none. `thinking`: the prompt ends
// within reasoning. (messages.c)
bool burin_print_message(const burin_tool_format *format, bool thinking, const char *text,
                         size_t bytes);
bool burin_ends_in_thoughts(const char *prompt, size_t bytes);

// An answer's reasoning, without its marks, and the text after it.
typedef struct burin_answer_parts {
    const char *reasoning;
    size_t reasoning_bytes;
    const char *rest;
    size_t rest_bytes;
    bool thought;  // there is reasoning, perhaps of no bytes
} burin_answer_parts;
burin_answer_parts burin_split_channels(const char *text,
                                        size_t bytes);  // of an answer in channels
// `ended`: nothing follows the text; else bytes that may belong to a mark are left out.
burin_answer_parts burin_split_answer(const char *text, size_t bytes, bool thinking, bool ended);

typedef struct burin_call_part {
    const char *text;
    size_t bytes;
} burin_call_part;

typedef struct burin_call_reader {
    void *context;
    void (*call)(void *context, int number, burin_call_part name, burin_call_part arguments,
                 bool whole);
    bool open;  // wants a call that the answer ends within, too, whose arguments are the beginning
                // of an object
} burin_call_reader;

// Reads the calls in their order, and returns the number of whole ones. `content` as below.
int burin_read_tool_calls(const burin_tool_format *, const char *text, size_t bytes,
                          burin_capture *content, const burin_call_reader *);
// Bytes of a text that is still being written which are no call and no beginning of one, whatever
// follows.
size_t burin_text_before_calls(const burin_tool_format *, const char *text, size_t bytes);

// Prints `, "tool_calls": [...]` if there are calls, and returns their number. All other text, and
// parts of calls, are added to `content`, whose data the caller frees.
void burin_print_call_id(const burin_tool_format *, int number);
int burin_print_tool_calls(const burin_tool_format *, const char *text, size_t bytes,
                           burin_capture *content);
#endif
