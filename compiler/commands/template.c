// burin template: a chat template over messages, as a program renders it.
#include "frontend/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "program/output.h"
#include "util/text.h"

enum { MOST_MESSAGES = 64 << 20 };

static void read_messages(const char *path, Text *out) {
    char part[1 << 16];
    size_t n;
    if (strcmp(path, "-")) {
        char *text = read_text_file(path, &n);
        text_append(out, text, n);
        free(text);
        return;
    }
    while ((n = fread(part, 1, sizeof part, stdin)) > 0) {
        text_append(out, part, n);
        if (out->length > MOST_MESSAGES)
            diag_fatal(NO_LOC, "standard input: more than 64 MB of messages");
    }
}

static CompiledTemplate compiled(Arena *arena, const char *path) {
    TemplateText text;
    if (!template_find(arena, path, &text))
        diag_fatal(NO_LOC, "there is no chat template in %s\nhint: give a file of Jinja", path);
    CompiledTemplate t = template_compile(arena, &text);
    if (!t.blob) diag_fatal(t.place, "%s", t.problem);
    return t;
}

int render_template(Arena *arena, const Options *o) {
    Text messages = {0};
    if (!o->messages)
        usage_error(
            "burin template needs --messages=FILE\n  hint: a list [{\"role\": \"user\", "
            "\"content\": \"Hi\"}]");
    const CompiledTemplate t = compiled(arena, o->model);
    read_messages(o->messages, &messages);
    burin_rendering r = {.template_blob = t.blob,
                         .json = messages.data ? messages.data : "",
                         .json_bytes = messages.length};
    r.json_name = strcmp(o->messages, "-") ? o->messages : "standard input";
    r.template_name = o->model;
    r.now = o->now;
    r.bos = o->bos;
    r.eos = o->eos;
    r.memory_bytes = BURIN_RENDER_BYTES(r.json_bytes);
    r.memory = malloc(r.memory_bytes);
    if (!r.memory) diag_fatal(NO_LOC, "out of memory");
    if (!burin_render(&r)) diag_fatal(NO_LOC, "%s", r.error);
    burin_print_text(r.text, r.bytes);
    burin_flush();
    free(r.memory);
    text_free(&messages);
    return 0;
}
