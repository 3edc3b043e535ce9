// tool_calls TEMPLATE ANSWER [MESSAGES]: the tool calls in an answer, as a program prints them,
// their number, and the rest of the answer; or the reason why they have no grammar. TEMPLATE: a
// Jinja file, or a text that names its syntax. MESSAGES: JSON with the tools.
#include "chat/tool_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/template.h"
#include "program/output.h"

static void open_format(Arena *arena, burin_tool_format *f, const char *template) {
    TemplateText text;
    if (!strstr(template, ".jinja")) {
        burin_tool_format_open(f, template, strlen(template));
        return;
    }
    if (!template_find(arena, template, &text)) exit(2);
    CompiledTemplate t = template_compile(arena, &text);
    if (!t.blob) exit(2);
    burin_tool_format_open(f, t.blob, t.bytes);
}

int main(int argc, char **argv) {
    Arena *arena = arena_new();
    burin_tool_format f;
    burin_capture content = {0};
    char error[512];
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: tool_calls TEMPLATE ANSWER [MESSAGES]\n");
        return 2;
    }
    open_format(arena, &f, argv[1]);
    if (argc == 4) {
        char *rules =
            burin_tools_grammar(&f, &(burin_tools_text){"messages", argv[3], strlen(argv[3])},
                                BURIN_CALLS_ALLOWED, error, sizeof error);
        if (!rules && *error) {
            puts(error);
            return 1;
        }
        free(rules);
    }
    int n = burin_print_tool_calls(&f, argv[2], strlen(argv[2]), &content);
    burin_print("\n%d ", n);
    burin_print_json_string(content.data, content.n);
    burin_print("\n");
    burin_flush();
    free(content.data);
    burin_tool_format_close(&f);
    arena_free(arena);
    return 0;
}
