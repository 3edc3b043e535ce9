// libFuzzer target: the tool calls that a chat template shows, their grammar, and an answer read by
// it; the answer follows a zero byte.
#include <stdlib.h>

#include "chat/tool_calls.h"
#include "frontend/template.h"
#include "grammar/grammar.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char TOOLS[] =
    "{\"messages\": [], \"tools\": [{\"name\": \"look\", \"parameters\": {\"type\": \"object\", "
    "\"properties\": {\"city\": "
    "{\"type\": \"string\"}, \"days\": {\"type\": \"integer\"}, \"to\": {\"type\": [\"string\", "
    "\"null\"]}}, \"required\": "
    "[\"city\"]}}, {\"name\": \"now\"}]}";

static void check_grammar(burin_tool_format *f) {
    char error[512];
    burin_grammar g;
    char *text = burin_tools_grammar(f, &(burin_tools_text){"tools", TOOLS, sizeof TOOLS - 1},
                                     BURIN_CALLS_ALLOWED, error, sizeof error);
    if (text && !burin_grammar_parse(&g, "tools", text, strlen(text))) abort();
    if (text) burin_grammar_free(&g);
    free(text);
}

static void use(Arena *arena, const char *path) {
    TemplateText text;
    burin_tool_format f;
    burin_capture content = {0}, printed = {0};
    if (!template_find(arena, path, &text)) return;
    const char *zero = memchr(text.source->text, 0, text.source->size);
    size_t bytes = zero ? (size_t)(zero - text.source->text) : text.source->size;
    TemplateText first = {.source = template_source(arena, "fuzz", text.source->text, bytes)};
    CompiledTemplate t = template_compile(arena, &first);
    if (!t.blob) return;
    burin_tool_format_open(&f, t.blob, t.bytes);
    check_grammar(&f);
    burin_capture *before = burin_capture_into(&printed);
    if (zero) burin_print_tool_calls(&f, zero + 1, text.source->size - bytes - 1, &content);
    burin_capture_into(before);
    free(content.data), free(printed.data);
    burin_tool_format_close(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_import(data, size, use);
    return 0;
}
