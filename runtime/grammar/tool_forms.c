#include "tool_forms.h"

#include <string.h>

#define PARAMETERS                                                                           \
    .key = "<parameter=", .key_end = ">", .other_key_end = ">", .value_end = "</parameter>", \
    .between = " ", .end = ""

// The first row counts of which the template has both words and not the third.
static const struct {
    const char *has, *also, *not;
    burin_tool_form form;
    burin_tool_syntax shape;
} tool_forms[] = {
    // Seed-OSS
    {"<function=",
     "<seed:tool_call>",
     NULL,
     BURIN_TOOLS_SHAPED,
     {.kind = BURIN_SHAPE_TAGGED,
      .begin = "",
      .call = "<seed:tool_call> <function=",
      .name_end = "> ",
      .call_end = " </function> </seed:tool_call>",
      PARAMETERS}},
    // Qwen3-Coder, Nemotron 3
    {"<function=",
     "<parameter=",
     NULL,
     BURIN_TOOLS_SHAPED,
     {.kind = BURIN_SHAPE_TAGGED,
      .begin = "",
      .call = "<tool_call> <function=",
      .name_end = "> ",
      .call_end = " </function> </tool_call>",
      PARAMETERS}},
    // GLM 4.5
    {"<arg_key>",
     NULL,
     NULL,
     BURIN_TOOLS_SHAPED,
     {.kind = BURIN_SHAPE_TAGGED,
      .begin = "",
      .call = "<tool_call>",
      .name_end = "\n",
      .key = "<arg_key>",
      .key_end = "</arg_key> <arg_value>",
      .other_key_end = "</arg_key> <arg_value>",
      .value_end = "</arg_value>",
      .call_end = " </tool_call>",
      .between = " ",
      .end = ""}},
    {"<|channel|>commentary", NULL, NULL, BURIN_TOOLS_CHANNELS, {0}},
    {"[func_name1(", NULL, NULL, BURIN_TOOLS_PYTHON, {0}},
    {"[TOOL_CALLS]", NULL, "[ARGS]", BURIN_TOOLS_LISTED, {0}},
    {"\"parameters\": ", "ipython", "<function=", BURIN_TOOLS_BARE, {0}},
    // Mistral from 2025 on
    {"[TOOL_CALLS]",
     NULL,
     NULL,
     BURIN_TOOLS_SHAPED,
     {.kind = BURIN_SHAPE_JSON,
      .begin = "",
      .call = "[TOOL_CALLS]",
      .name_end = "[ARGS] ",
      .call_end = "",
      .between = "",
      .end = ""}},
    // Granite 3
    {"<|tool_call|> followed by a JSON list",
     NULL,
     NULL,
     BURIN_TOOLS_SHAPED,
     {.kind = BURIN_SHAPE_JSON,
      .begin = "<|tool_call|> [",
      .call = " { \"name\" : \"",
      .name_end = "\" , \"arguments\" : ",
      .call_end = " }",
      .between = " ,",
      .end = " ]"}},
    // Hermes and many others
    {"<tool_call>",
     NULL,
     "<function=",
     BURIN_TOOLS_SHAPED,
     {.kind = BURIN_SHAPE_JSON,
      .begin = "",
      .call = "<tool_call> { \"name\" : \"",
      .name_end = "\" , \"arguments\" : ",
      .call_end = " } </tool_call>",
      .between = " ",
      .end = ""}},
};

static bool has_word(const void *blob, size_t bytes, const char *word) {
    return memmem(blob, bytes, word, strlen(word)) != NULL;
}

burin_tool_form burin_tool_form_known(const void *blob, size_t bytes,
                                      const burin_tool_syntax **shape) {
    *shape = NULL;
    for (size_t i = 0; i < sizeof tool_forms / sizeof *tool_forms; i++) {
        if (!has_word(blob, bytes, tool_forms[i].has) ||
            (tool_forms[i].also && !has_word(blob, bytes, tool_forms[i].also)) ||
            (tool_forms[i].not&&has_word(blob, bytes, tool_forms[i].not)))
            continue;
        if (tool_forms[i].form == BURIN_TOOLS_SHAPED) *shape = &tool_forms[i].shape;
        return tool_forms[i].form;
    }
    return BURIN_TOOLS_FREE;
}
