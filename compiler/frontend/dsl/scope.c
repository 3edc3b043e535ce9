// Scopes, variables, locations and errors.
//
// A node made inside dsl/std carries the location of the call in the model's own file: that is the
// line its author knows. An error is reported there too, with a note that names the line inside
// std, and once a place: thirty layers say it once.
#include <string.h>

#include "frontend/dsl/elaborate.h"

Loc place(const Elaborator *e, Loc at) {
    if (e->builder) return e->builder->loc;
    const Frame *f = e->frame;
    while (f && at.source != e->main->source && f->caller) at = f->call, f = f->caller;
    at.scope = *e->scope ? e->scope : NULL;
    return at;
}

static const char *place_key(const Elaborator *e, Loc at) {
    return arena_printf(e->arena, "%s:%u", at.source ? at.source->name : "", at.offset);
}

bool already_reported(Elaborator *e, Loc at) {
    return map_get(&e->reported, place_key(e, place(e, at)));
}

void mark_reported(Elaborator *e, Loc at) {
    map_put(&e->reported, place_key(e, place(e, at)), e);
    e->errors++;
}

// The location of the call of the block that contains `where`, if it is a block of the model's own
// file.
Loc called_from(const Elaborator *e, Loc where) {
    const Frame *f = e->frame;
    while (f && f->file != e->main && f->caller) f = f->caller;
    return f && f->caller && where.source == e->main->source ? f->call : NO_LOC;
}

static const char *with_note(Elaborator *e, const char *message, const char *note, Loc at) {
    return arena_message(e->arena, "%-s\nnote: %s %s", message, note, loc_text(at));
}

void report_at(Elaborator *e, Loc where, Loc inside, Loc called, const char *message) {
    if (inside.source != where.source || inside.offset != where.offset)
        message = with_note(e, message, "in", inside);
    if (called.source) message = with_note(e, message, "called from", called);
    diag_error(where, "%-s", message);
}

Value report(Elaborator *e, Loc at, const char *format, ...) {
    if (already_reported(e, at)) return VALUE(V_ERROR);
    va_list args;
    va_start(args, format);
    const char *message = arena_vmessage(e->arena, format, args);
    va_end(args);
    Loc where = place(e, at);
    mark_reported(e, at);
    report_at(e, where, at, called_from(e, where), message);
    return VALUE(V_ERROR);
}

const char *scope_join(Elaborator *e, const char *scope, const char *name) {
    if (!*scope || !*name) return *name ? name : scope;
    return arena_printf(e->arena, "%s.%s", scope, name);
}

Value *variable_find(const Frame *f, const char *name) { return map_get(&f->variables, name); }

void variable_set(Elaborator *e, const char *name, Value v) {
    Value *slot = variable_find(e->frame, name);
    if (!slot) map_put(&e->frame->variables, name, slot = ARENA_NEW(e->arena, Value));
    *slot = v;
}

static bool is_function(const Declaration *d) { return d->ast->kind == AST_BLOCK; }

const char *nearest_visible(Elaborator *e, const char *name, bool functions) {
    int n_builtins = 0, n = 0;
    if (strlen(name) < 3) return NULL;
    const char *const *builtins = builtin_names(&n_builtins);
    const Map *names = &e->frame->file->names, *variables = &e->frame->variables;
    const char **all = ARENA_ARRAY(e->arena, const char *, names->n + variables->n + n_builtins);
    for (int i = 0; i < names->n; i++)
        if (is_function(names->entries[i].value) == functions) all[n++] = names->entries[i].key;
    for (int i = 0; !functions && i < variables->n; i++) all[n++] = variables->entries[i].key;
    for (int i = 0; functions && i < n_builtins; i++) all[n++] = builtins[i];
    return nearest_name(name, all, (size_t)n);
}
