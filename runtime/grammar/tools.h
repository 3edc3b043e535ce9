// Tools of messages as a grammar: text, and calls in the form that the model's template has taught it. The names are those of
// the tools, the arguments what their schemas describe.
#ifndef BURIN_TOOLS_H
#define BURIN_TOOLS_H
#include <stdbool.h>
#include <stddef.h>

typedef enum burin_tool_form {
    BURIN_TOOLS_FREE,       // another: nothing is held
    BURIN_TOOLS_TAGGED,     // <tool_call>{"name": ..., "arguments": ...}</tool_call>: Hermes, Qwen
    BURIN_TOOLS_BARE,       // {"name": ..., "parameters": ...} is the whole answer: Llama 3
    BURIN_TOOLS_LISTED,     // [TOOL_CALLS][{"name": ..., "arguments": ...}]: Mistral
    BURIN_TOOLS_ARGUMENTS,  // [TOOL_CALLS]name[ARGS]{...}: Mistral from 2025 on
    BURIN_TOOLS_MARKUP,     // <tool_call><function=name><parameter=key>value</parameter></function></tool_call>: Qwen3-Coder
    BURIN_TOOLS_SEED,       // the same in <seed:tool_call>: Seed-OSS
    BURIN_TOOLS_KEYS,       // <tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>: GLM
    BURIN_TOOLS_PYTHON,     // [name(key=value, ...), ...] is the whole answer: Llama 3.2 and 4 as asked in Python
    BURIN_TOOLS_CHANNELS,   // <|channel|>commentary to=functions.name <|constrain|>json<|message|>{...}: gpt-oss
} burin_tool_form;

typedef enum burin_tool_choice { BURIN_CALLS_ALLOWED, BURIN_CALLS_REQUIRED } burin_tool_choice;

// Special tokens whose text a grammar of tools has; ends with NULL.
extern const char *const burin_tool_marks[];

burin_tool_form burin_tool_form_of(const void *template_blob, size_t bytes);

// The grammar in GBNF, which the caller frees. NULL: the messages have no tools (error is empty), or a mistake.
char *burin_tools_grammar(const char *name, const char *json, size_t bytes, burin_tool_form, burin_tool_choice, char *error,
                          size_t room);
#endif
