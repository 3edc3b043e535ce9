// Names of tensors as newer versions of transformers write them, as the published files name them
// (newer_names.def), and the one tensor whose module differs between families: the correction of
// expert scores is found under each of its names.
#include <string.h>

#include "frontend/checkpoint/reader.h"
#include "util/text.h"

typedef struct Renaming {
    const char *types, *newer, *older;
} Renaming;

static const Renaming renamings[] = {
#define NAME(types, newer, older) {types, newer, older},
#include "frontend/checkpoint/newer_names.def"
#undef NAME
};

// Returns true if the blank-separated list has the word. No list has an empty one.
static bool has_word(const char *list, const char *word) {
    size_t n = strlen(word);
    if (!n) return false;
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return true;
    return false;
}

// Where the part begins in the name, at a dot or at the beginning; NULL: nowhere.
static const char *find_part(const char *name, const char *part) {
    for (const char *at = strstr(name, part); at; at = strstr(at + 1, part))
        if (at == name || at[-1] == '.') return at;
    return NULL;
}

const char *checkpoint_older_name(const Checkpoint *c, const char *name) {
    for (size_t i = 0; c->architecture && i < sizeof renamings / sizeof *renamings; i++) {
        const Renaming *r = &renamings[i];
        const char *at = has_word(r->types, c->architecture) ? find_part(name, r->newer) : NULL;
        if (at)
            name = arena_printf(c->arena, "%.*s%s%s", (int)(at - name), name, r->older,
                                at + strlen(r->newer));
    }
    return name;
}

// "model.layers.1.mlp." of "model.layers.1.mlp.gate.e_score_correction_bias": its parent module.
static const char *place_of_correction(const Checkpoint *c, const char *name, const char *end) {
    static const char *const inside[] = {".moe_statics", ".gate", ".router", ".experts"};
    size_t n = strlen(name) - strlen(end), before;
    do {
        before = n;
        for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
            size_t length = strlen(inside[i]);
            if (n > length && !strncmp(name + n - length, inside[i], length)) n -= length;
        }
    } while (n < before);
    return arena_strndup(c->arena, name, n);
}

static void name_correction(Checkpoint *c, StoredTensor *t) {
    static const char end[] = ".e_score_correction_bias";
    static const char *const inside[] = {"", ".gate", ".router", ".moe_statics",
                                         ".gate.moe_statics"};
    if (!text_ends_with(t->tensor.name, end)) return;
    const char *place = place_of_correction(c, t->tensor.name, end);
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        const char *name = arena_printf(c->arena, "%s%s%s", place, inside[i], end);
        if (!map_get(&c->by_name, name)) map_put(&c->by_name, name, t);
    }
}

void checkpoint_take_newer_names(Checkpoint *c) {
    for (int i = 0; i < c->n_tensors && c->architecture; i++) {
        StoredTensor *t = (StoredTensor *)c->tensors[i];  // the tensor is its first member
        const char *name = checkpoint_older_name(c, t->tensor.name);
        if (name != t->tensor.name && !map_get(&c->by_name, name)) checkpoint_rename(c, t, name);
    }
    for (int i = 0; i < c->n_tensors; i++) name_correction(c, (StoredTensor *)c->tensors[i]);
}
