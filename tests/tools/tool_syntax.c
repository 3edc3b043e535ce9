// tool_syntax FILE.jinja...: the syntax of tool calls that each template shows, a line for each
// part.
#include "grammar/tool_syntax.h"

#include <stdio.h>
#include <string.h>

#include "frontend/template.h"

static void print_part(const char *name, const char *text) {
    if (!text) return;
    printf("  %-13s ", name);
    for (; *text; text++) {
        if (*text == BURIN_SHAPE_WORD)
            printf("{word}");
        else if (*text == '\n')
            printf("\\n");
        else
            putchar(*text);
    }
    puts("|");
}

static void print_shape(const burin_tool_syntax *s) {
    static const char *const kinds[] = {"none", "json", "tagged", "python", "braced"};
    printf("  %s\n", kinds[s->kind]);
    print_part("begin", s->begin);
    print_part("call", s->call);
    print_part("name_end", s->name_end);
    print_part("key", s->key);
    print_part("key_end", s->key_end);
    print_part("other_key_end", s->other_key_end);
    print_part("value_end", s->value_end);
    print_part("call_end", s->call_end);
    print_part("between", s->between);
    print_part("end", s->end);
    if (s->prompted) puts("  prompted");
}

int main(int argc, char **argv) {
    Arena *arena = arena_new();
    for (int i = 1; i < argc; i++) {
        TemplateText text;
        burin_tool_syntax shape = {0};
        printf("%s\n", argv[i]);
        if (!template_find(arena, argv[i], &text)) continue;
        CompiledTemplate t = template_compile(arena, &text);
        if (t.blob) burin_tool_syntax_find(&shape, t.blob);
        print_shape(&shape);
        burin_tool_syntax_free(&shape);
    }
    arena_free(arena);
    return 0;
}
