// Renders chat templates and compares; prints what differs, with status 1 then.
//
//   templates FILE.json               of tests/templates/generate.py
//   templates --shared FOLDER         a folder for each template, with template.jinja and expected.json, and their cases.json
//   templates --write FILE.json FOLDER   writes each template as a file
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/template.h"
#include "util/json.h"
#include "util/text.h"

typedef struct {
    Arena *arena;
    const char *now, *bos, *eos, *name;
    int texts, raised, refused, wrong;
} Run;

static const char *text_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

static void differs(Run *run, const char *kind, const char *got, const char *expected) {
    if (run->wrong++ < 20)
        printf("%s: %s\n  got      %s\n  expected %s\n", run->name, kind, got, expected);
}

static bool same_text(const burin_rendering *r, const json_t *expected) {
    return r->bytes == json_string_length(expected) &&
           !memcmp(r->text, json_string_value(expected), r->bytes);
}

// The result of one rendering: "text", or "raised", or any error.
static void compare(Run *run, const burin_rendering *r, bool rendered, const json_t *expected) {
    const json_t *text = json_object_get(expected, "text");
    const char *raised = text_of(expected, "raised");
    if (text) {
        run->texts++;
        if (!rendered || !same_text(r, text))
            differs(run, "text", rendered ? r->text : r->error, json_string_value(text));
    } else if (raised) {
        run->raised++;
        if (rendered || !r->raised || strcmp(r->error, raised))
            differs(run, "raised", rendered ? r->text : r->error, raised);
    } else {
        run->refused++;
        if (rendered || !*r->error || r->raised)
            differs(run, "error", rendered ? r->text : r->error, text_of(expected, "error"));
    }
}

static void render(Run *run, const CompiledTemplate *t, const json_t *input,
                   const json_t *expected) {
    char *json = json_dumps(input, JSON_COMPACT);
    burin_rendering r = {.as_given = true,
                         .template_blob = t->blob,
                         .json = json,
                         .json_bytes = strlen(json),
                         .json_name = "input",
                         .now = run->now};
    if (run->bos) r.bos = run->bos;
    if (run->eos) r.eos = run->eos;
    r.memory_bytes = BURIN_RENDER_BYTES(r.json_bytes);
    r.memory = malloc(r.memory_bytes);
    compare(run, &r, burin_render(&r), expected);
    free(r.memory);
    free(json);
}

// A case of our own: it contains the template's text.
static void run_case(Run *run, const json_t *all, const json_t *item) {
    const char *wrong = text_of(item, "wrong");
    TemplateText text = {.source =
                             template_source(run->arena, "template", text_of(item, "template"),
                                             strlen(text_of(item, "template")))};
    CompiledTemplate t = template_compile(run->arena, &text);
    run->name = text_of(item, "template");
    if (wrong) {
        run->refused++;
        if (t.blob) differs(run, "compiles", "a template", wrong);
    } else if (!t.blob) {
        differs(run, "does not compile", t.problem, json_dumps(item, JSON_COMPACT));
    } else {
        render(run, &t, json_object_get(all, "input"), item);
    }
}

static json_t *load(const char *path) {
    json_error_t error;
    json_t *json = json_load_file(path, 0, &error);
    if (!json) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        exit(2);
    }
    return json;
}

static const json_t *case_named(const json_t *cases, const char *name) {
    for (size_t i = 0; i < json_array_size(cases); i++)
        if (!strcmp(text_of(json_array_get(cases, i), "name"), name))
            return json_array_get(cases, i);
    return NULL;
}

// The words of shared data for an error raised by a template.
static json_t *expected_of(const json_t *result) {
    bool raised = json_is_true(json_object_get(result, "raised_by_template"));
    return raised ? json_pack("{s:s}", "raised", text_of(result, "error")) : json_deep_copy(result);
}

static void run_folder(Run *run, const char *root, const char *folder, const json_t *all) {
    TemplateText text;
    const char *name, *place = arena_printf(run->arena, "%s/%s", root, folder);
    json_t *expected = load(arena_printf(run->arena, "%s/expected.json", place));
    const json_t *result;
    run->bos = text_of(expected, "bos_token");
    run->eos = text_of(expected, "eos_token");
    template_find(run->arena, arena_printf(run->arena, "%s/template.jinja", place), &text);
    CompiledTemplate t = template_compile(run->arena, &text);
    run->name = folder;
    if (!t.blob) return differs(run, "does not compile", t.problem, folder);
    json_object_foreach(json_object_get(expected, "results"), name, result) {
        json_t *words = expected_of(result);
        run->name = arena_printf(run->arena, "%s %s", folder, name);
        render(run, &t, case_named(json_object_get(all, "cases"), name), words);
        json_decref(words);
    }
    json_decref(expected);
}

static void run_folders(Run *run, const char *root, const json_t *all) {
    struct dirent **list;
    int n = scandir(root, &list, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *jinja = arena_printf(run->arena, "%s/%s/template.jinja", root, list[i]->d_name);
        if (!access(jinja, R_OK)) run_folder(run, root, list[i]->d_name, all);
        free(list[i]);
    }
    free(list);
}

// A file for each template of our own.
static int write_all(const json_t *all, const char *folder) {
    const json_t *cases = json_object_get(all, "cases");
    Arena *arena = arena_new();
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *text = json_object_get(json_array_get(cases, i), "template");
        write_file(arena_printf(arena, "%s/%zu.jinja", folder, i), json_string_value(text),
                   json_string_length(text));
    }
    return 0;
}

int main(int argc, char **argv) {
    Run run = {.arena = arena_new()};
    bool shared = argc == 3 && !strcmp(argv[1], "--shared");
    if (argc == 4 && !strcmp(argv[1], "--write")) return write_all(load(argv[2]), argv[3]);
    if (argc != 2 && !shared) {
        fprintf(stderr,
                "usage: templates FILE.json | --shared FOLDER | --write FILE.json FOLDER\n");
        return 2;
    }
    json_t *all = load(shared ? arena_printf(run.arena, "%s/cases.json", argv[2]) : argv[1]);
    run.now = text_of(all, "now");
    if (shared) run_folders(&run, argv[2], all);
    for (size_t i = 0; !shared && i < json_array_size(json_object_get(all, "cases")); i++) {
        run.bos = text_of(all, "bos");
        run.eos = text_of(all, "eos");
        run_case(&run, all, json_array_get(json_object_get(all, "cases"), i));
    }
    printf("%d texts, %d raised, %d refused, %d wrong\n", run.texts, run.raised, run.refused,
           run.wrong);
    return run.wrong != 0;
}
