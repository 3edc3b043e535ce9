// Blocks called by another frontend: no model, no checkpoint; nodes are made, placed and typed by
// its builder.
#include "frontend/dsl/formula.h"

Elaborator *formulas_open(Arena *arena, const char *library, const char *path) {
    Elaborator *e = ARENA_NEW(arena, Elaborator);
    DslOptions *options = ARENA_NEW(arena, DslOptions);
    *options = (DslOptions){.library = library};
    *e = (Elaborator){.arena = arena, .options = options, .scope = ""};
    elaborator_begin(e);
    file_load(e, path, NO_LOC);
    if (e->errors) diag_stop();
    return e;
}

const Ast *formulas_block(const Elaborator *e, const char *name) {
    const Declaration *d = file_find_block(e->main, name);
    return d ? d->ast : NULL;
}

static Value rounded(Value v) { return v.kind == V_FLOAT ? VALUE_FLOAT((float)v.f) : v; }

static void bind_default(Elaborator *e, const Ast *parameter) {
    if (parameter->b && !variable_find(e->frame, parameter->name))
        variable_set(e, parameter->name, rounded(evaluate(e, parameter->b)));
}

Value formula_call(Elaborator *e, const Builder *b, const char *block,
                   const FormulaArgument *arguments, int n) {
    const Declaration *d = file_find_block(e->main, block);
    Frame outer = {.file = d->file}, frame = {.caller = &outer, .file = d->file, .depth = 1};
    map_init(&frame.variables, e->arena);
    e->builder = b;
    e->graph = b->graph;
    e->frame = &frame;
    e->steps = 0;
    for (int i = 0; i < n; i++) variable_set(e, arguments[i].name, arguments[i].value);
    for (const Ast *p = d->ast->list; p; p = p->next) bind_default(e, p);
    Value v = expand_block(e, d->ast, d->ast);
    diag_stop_if_errors();
    e->frame = NULL;
    return v;
}
