// The table `gguf = ["olmo2", ...]` of a description, evaluated as a definition: no checkpoint, no graph.
#include "frontend/checkpoint/gguf_table.h"

#include <stdlib.h>
#include <string.h>

#include "frontend/dsl/elaborate.h"
#include "util/text.h"

// The architecture a description's table is for, from its line `gguf = ["olmo2", ...`; NULL when it has none.
static const char *table_name(Arena *arena, const char *path) {
    static const char start[] = "\ngguf = [\"";
    size_t size;
    char *text = read_text_file(path, &size);
    const char *at = strstr(text, start), *name = NULL;
    if (at) at += sizeof start - 1, name = arena_strndup(arena, at, strcspn(at, "\"\n"));
    free(text);
    return name;
}

static const char *text_of(Value v) { return v.kind == V_STRING ? v.s : NULL; }

static bool read_pairs(Elaborator *e, Value list, GgufPairs *pairs) {
    if (list.kind != V_LIST) return false;
    pairs->items = ARENA_ARRAY(e->arena, GgufPair, list.list.n);
    for (int i = 0; i < list.list.n; i++) {
        Value pair = list.list.items[i];
        if (pair.kind != V_LIST || pair.list.n < 2) return false;
        GgufPair p = {text_of(pair.list.items[0]), text_of(pair.list.items[1]),
                      pair.list.n > 2 ? text_of(pair.list.items[2]) : NULL};
        if (!p.gguf || !p.name) return false;
        pairs->items[pairs->n++] = p;
    }
    return true;
}

static bool read_changes(Value list, unsigned *changes) {
    static const char *const names[] = {"rotary", "norms", "matrices", "groups", "query scale"};
    for (int i = 0; list.kind == V_LIST && i < list.list.n; i++) {
        const char *name = text_of(list.list.items[i]);
        size_t j = 0;
        while (j < sizeof names / sizeof *names && (!name || strcmp(name, names[j]))) j++;
        if (j == sizeof names / sizeof *names) return false;
        *changes |= 1u << j;
    }
    return list.kind == V_LIST;
}

static bool read_parts(Elaborator *e, Value v, GgufTable *t) {
    enum { PARTS = 6 };
    GgufPairs *const lists[] = {&t->tensors, &t->needed, &t->further, &t->flags};
    bool whole = v.kind == V_LIST && v.list.n == PARTS;
    for (int i = 0; whole && i < 4; i++) whole = read_pairs(e, v.list.items[i + 1], lists[i]);
    return whole && read_changes(v.list.items[PARTS - 1], &t->changes);
}

static const GgufTable *read_table(Elaborator *e, const Description *d) {
    File *f = file_load(e, d->path, NO_LOC);
    Declaration *declared = f ? file_find(f, "gguf") : NULL;
    if (!declared || e->errors) diag_stop();
    Frame frame = {.file = f};
    map_init(&frame.variables, e->arena);
    e->frame = &frame;
    GgufTable *t = ARENA_NEW(e->arena, GgufTable);
    *t = (GgufTable){.model_type = d->name, .class_name = d->n_classes ? d->classes[0] : d->name};
    if (!read_parts(e, config_value(e, declared), t))
        report(e, declared->ast->loc,
               "gguf must be an architecture, four lists of pairs, and a list of changes\nhint: std/gguf.burin");
    if (e->errors) diag_stop();
    return t;
}

const GgufTable *gguf_table(Arena *arena, const char *library, const char *architecture, const char **known) {
    Descriptions all = dsl_descriptions(arena, library);
    DslOptions options = {.library = library};
    Elaborator e = {.arena = arena, .options = &options, .scope = "", .weights_end = &e.weights};
    Map *maps[] = {&e.files, &e.configs, &e.reported, &e.constants, &e.used_tensors, &e.sizes};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) map_init(maps[i], arena);
    *known = "";
    for (int i = 0; i < all.n; i++) {
        const char *name = table_name(arena, all.items[i].path);
        if (name && !strcmp(name, architecture)) return read_table(&e, &all.items[i]);
        if (name) *known = arena_printf(arena, "%s%s%s", *known, **known ? ", " : "", name);
    }
    return NULL;
}
