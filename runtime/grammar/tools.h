// Tools of messages as a grammar: text, and calls in the form that the model's template has taught
// it. The names are those of the tools, the arguments what their schemas describe.
#ifndef BURIN_TOOLS_H
#define BURIN_TOOLS_H
#include <stdbool.h>
#include <stddef.h>

#include "schema.h"
#include "tool_syntax.h"

typedef enum burin_tool_form {
    BURIN_TOOLS_FREE,      // another: nothing is held
    BURIN_TOOLS_SHAPED,    // as the template itself renders or describes calls: tool_syntax.h
    BURIN_TOOLS_BARE,      // {"name": ..., "parameters": ...} is the whole answer: Llama 3
    BURIN_TOOLS_LISTED,    // [TOOL_CALLS][{"name": ..., "arguments": ...}]: Mistral
    BURIN_TOOLS_PYTHON,    // [name(key=value, ...), ...] is the whole answer: Llama 3.2 and 4 as
                           // asked in Python
    BURIN_TOOLS_CHANNELS,  // <|channel|>commentary to=functions.name
                           // <|constrain|>json<|message|>{...}: gpt-oss
} burin_tool_form;

typedef enum burin_tool_choice { BURIN_CALLS_ALLOWED, BURIN_CALLS_REQUIRED } burin_tool_choice;

typedef struct burin_tool_format {
    burin_tool_form form;
    burin_tool_syntax shape;
    // special tokens with one of these texts are text for a grammar of tools; ends with NULL
    const char *marks[16];
    burin_growing texts;  // of the last grammar: the form of arguments between tags
    // of the turn whose calls are printed, so that their ids differ from those of other turns; 0:
    // ids are call_0, call_1, ...
    uint64_t turn;
    // restrictions that the last grammar does not enforce (BURIN_CALLS_ALLOWED), or ""
    char missed[256];
} burin_tool_format;

// Of a compiled template, or of the text of one, where nothing is rendered.
void burin_tool_format_open(burin_tool_format *, const void *template_blob, size_t bytes);
void burin_tool_format_close(burin_tool_format *);

// The form of this argument of this tool between tags: 't' text, 'j' JSON, 'e' either.
char burin_tool_argument_kind(const burin_tool_format *, const char *tool, size_t tool_bytes,
                              const char *key, size_t key_bytes);

typedef struct burin_tools_text {
    const char *name, *json;  // messages with tools; name: for errors
    size_t bytes;
} burin_tools_text;

// The grammar in GBNF, which the caller frees. NULL: the messages have no tools (error is empty),
// or a mistake.
char *burin_tools_grammar(burin_tool_format *, const burin_tools_text *, burin_tool_choice,
                          char *error, size_t room);
#endif
