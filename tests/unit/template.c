// Marks of a rendering: which bytes are text of the messages.
#include "frontend/template.h"

#include <stdlib.h>

#include "unit.h"

// The rendering of a template over one message, each marked byte in upper case, others in lower
// case.
static void check_marks(const char *template, const char *message, const char *expected) {
    Arena *arena = arena_new();
    TemplateText text = {.source = template_source(arena, "t.jinja", template, strlen(template))};
    CompiledTemplate t = template_compile(arena, &text);
    const char *json = arena_printf(arena, "[{\"role\": \"user\", \"content\": \"%s\"}]", message);
    burin_rendering r = {.template_blob = t.blob,
                         .json = json,
                         .json_bytes = strlen(json),
                         .now = "2025-07-05 14:03:09"};
    r.memory_bytes = BURIN_RENDER_BYTES(r.json_bytes);
    r.memory = malloc(r.memory_bytes);
    CHECK(t.blob && r.memory && burin_render(&r));
    char *got = arena_strndup(arena, r.text, r.bytes);
    for (size_t i = 0; i < r.bytes; i++)
        if (r.marks[i] && got[i] >= 'a' && got[i] <= 'z') got[i] = (char)(got[i] - 'a' + 'A');
    CHECK_TEXT(got, expected);
    free(r.memory);
    arena_free(arena);
}

static void keeps_marks_in_dates(void) {
    check_marks("<s>{{ strftime_now('<x>%d ' ~ messages[0].content) }}", "<s>%B</s> %y",
                "<s><x>05 <S>JULY</S> 25");
    check_marks("{{ strftime_now('%' ~ messages[0].content) }}", "%<s>", "%<S>");
    check_marks("{{ strftime_now(messages[0].content) }}", "100%", "100%");
    check_marks("{{ strftime_now(messages[0].content ~ '%-d%05Y%%') }}", "a", "A502025%");
}

SUITE(template) { TEST(keeps_marks_in_dates); }
