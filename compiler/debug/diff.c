// burin diff A B: two dumps, two models, a dump and a model, or two folders of C that burin wrote.
// Exit status 1 when they differ.
#include "debug/diff.h"

#include <stdio.h>
#include <string.h>

#include "build/build.h"
#include "ir/dump.h"
#include "passes/pass.h"

static Module *load(Arena *arena, const Options *o, const char *path) {
    if (text_ends_with(path, ".ir")) return module_load(arena, path);
    Options *own = ARENA_NEW(arena, Options);
    *own = *o;
    own->model = own->files[0] = path;
    own->n_files = 1;
    Build *b = ARENA_NEW(arena, Build);
    *b = build_new(arena, own);
    b->passes.stop_after = PASS_infer;
    build_open(b);
    build_load(b);
    build_passes(b);
    return b->module;
}

int diff(Arena *arena, const Options *o) {
    Sides s = {.arena = arena, .a = o->files[0], .b = o->files[1], .all = o->diff_verbose};
    if (o->n_files != 2) usage_error("burin diff compares two: burin diff A B");
    bool code = is_code_folder(arena, s.a);
    int differences;
    if (code != is_code_folder(arena, s.b))
        usage_error("%s is a folder of C, and %s is none", code ? s.a : s.b, code ? s.b : s.a);
    if (code) {
        differences = diff_code(&s, s.a, s.b);
    } else {
        const Module *a = load(arena, o, s.a), *b = load(arena, o, s.b);
        differences = diff_graphs(&s, a, b);
        differences += diff_weights(&s, a, b);
    }
    return differences ? 1 : 0;
}
