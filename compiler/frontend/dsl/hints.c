// Hints of errors in names and calls: the likely name, the location of a block, the parameters of a
// call.
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/dsl/elaborate.h"
#include "frontend/dsl/foreign_syntax.h"
#include "util/text.h"

static const char *hint(Elaborator *e, const char *text) {
    return arena_message(e->arena, "\nhint: %s", text);
}

// ------------------------------------------------------------------------------------------ blocks
// Linear, LayerNorm and layer_norm are one name.
static bool same_letters(const char *a, const char *b, size_t n) {
    const char *end = b + n;
    for (;;) {
        while (*a == '_') a++;
        while (b < end && *b == '_') b++;
        if (!*a || b == end) return !*a && b == end;
        if (tolower((unsigned char)*a++) != tolower((unsigned char)*b++)) return false;
    }
}

// "\nblock NAME(" of a text: NAME, or NULL.
static const char *find_block(Arena *arena, const char *text, const char *name) {
    static const char start[] = "\nblock ";
    for (const char *at = text; (at = strstr(at, start));) {
        at += strlen(start);
        size_t n = strcspn(at, "(");
        if (same_letters(name, at, n)) return arena_strndup(arena, at, n);
    }
    return NULL;
}

// The file of dsl/std that has the block.
static const char *import_hint(Elaborator *e, const char *name) {
    const char *folder = arena_printf(e->arena, "%s/std",
                                      e->options->library ? e->options->library : "dsl"),
               *found = NULL;
    struct dirent **list = NULL;
    int n = scandir(folder, &list, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *file = list[i]->d_name;
        if (!found && text_ends_with(file, ".burin")) {
            size_t size;
            char *text = read_text_file(arena_printf(e->arena, "%s/%s", folder, file), &size);
            const char *block = find_block(e->arena, text, name);
            int stem = (int)(strlen(file) - strlen(".burin"));
            if (block)
                found =
                    arena_message(e->arena, "\nhint: import %.*s, then %s(...)", stem, file, block);
            free(text);
        }
        free(list[i]);
    }
    free(list);
    return found;
}

const char *unknown_block_hint(Elaborator *e, const char *name) {
    const char *habit = habit_of(name, strlen(name)), *near = nearest_visible(e, name, true);
    const char *import = habit ? NULL : import_hint(e, name);
    if (habit) return hint(e, habit);
    if (import) return import;
    return near ? arena_message(e->arena, "\nhint: did you mean \"%s\"?", near)
                : "\nhint: block NAME(x) { ... } defines one, import takes those of another file";
}

// ------------------------------------------------------------------------------------------- names
const char *unknown_name_hint(Elaborator *e, const Ast *x) {
    const Source *source = x->loc.source;
    const char *habit = habit_of(x->name, strlen(x->name));
    if (habit) return hint(e, habit);
    if (source && source->text && is_behind_slashes(source, x->loc.offset))
        return hint(e, "a comment begins with #; a // b divides and rounds down");
    if (config_has(e, x->name))
        return arena_message(e->arena, "\nhint: %s has it: config %s declares it", config_file(e),
                             x->name);
    const char *near = nearest_visible(e, x->name, false);
    return near ? arena_message(e->arena, "\nhint: did you mean \"%s\"?", near)
                : "\nhint: NAME = ... gives it a value, config NAME takes it from config.json";
}

const char *field_hint(Elaborator *e, const char *name) {
    const char *habit = habit_of(name, strlen(name));
    if (!strcmp(name, "T") || !strcmp(name, "mT"))
        return hint(e, "x^T exchanges the last two axes");
    return habit ? hint(e, habit)
                 : arena_message(e->arena, "\nhint: functions stand alone: %s(x)", name);
}

// ------------------------------------------------------------------------------------------- calls
const char *call_hint(Elaborator *e, const char *name, const char *const *parameters, int n) {
    const char *list = "";
    for (int i = 0; i < n; i++)
        list = arena_printf(e->arena, "%s%s%s", list, i ? ", " : "", parameters[i]);
    return arena_message(e->arena, "\nhint: %s(%s)", name, list);
}

const char *block_hint(Elaborator *e, const Ast *block) {
    int n = 0;
    const char **names = ARENA_ARRAY(e->arena, const char *, ast_count(block->list));
    for (const Ast *p = block->list; p; p = p->next)
        names[n++] = p->b ? arena_printf(e->arena, "%s = ...", p->name) : p->name;
    return call_hint(e, block->name, names, n);
}
