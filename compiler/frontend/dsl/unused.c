// Tensors of the checkpoint that the description did not use, such as a scale or a norm of queries.
// Their effect would be left out, so they are an error for descriptions that ship with burin.
// Exceptions: ignored_tensors.def, the description's list `unused`, copies of used tensors, and
// extra layers that predict more tokens ahead.
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "frontend/dsl/elaborate.h"
#include "util/text.h"

static bool is_ignored(const Tensor *t) {
    static const struct {
        const char *pattern;
        int rank;
    } known[] = {
#define TENSOR(pattern, rank) {pattern, rank},
#include "frontend/dsl/ignored_tensors.def"
#undef TENSOR
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((known[i].rank < 0 || known[i].rank == t->rank) &&
            !fnmatch(known[i].pattern, t->name, 0))
            return true;
    return false;
}

// `unused = ["*.key_global.*"]` in the description.
static bool is_listed(Value list, const char *name) {
    for (int i = 0; list.kind == V_LIST && i < list.list.n; i++)
        if (list.list.items[i].kind == V_STRING && !fnmatch(list.list.items[i].s, name, 0))
            return true;
    return false;
}

static bool is_same(const Tensor *a, const Tensor *b) {
    return a->dtype == b->dtype && a->rank == b->rank &&
           !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim) &&
           !memcmp(a->data, b->data, a->bytes);
}

// All elements alike, as of a matrix that was never trained: it is no copy of another such.
static bool is_constant(const Tensor *t) {
    size_t size = (size_t)dtype_bits(t->dtype) / 8;
    return !size || t->bytes <= size ||
           !memcmp(t->data, (const char *)t->data + size, t->bytes - size);
}

// A table that is tied to another, and stored twice.
static bool is_copy(const Elaborator *e, const Tensor *t) {
    t = checkpoint_find(e->options->checkpoint, t->name);
    if (t->rank != 2 || is_constant(t)) return false;
    for (const WeightUse *u = e->weights; u; u = u->next)
        if (u->found && is_same(u->found, t)) return true;
    return false;
}

// A separate head in a model with a tied one. A quantized one is used, as its library does; a plain
// one is ignored, but may have been meant.
static bool is_own_head(const Tensor *t) { return !strcmp(t->name, "lm_head.weight"); }

// Some quantizers give every matrix a bias, of zeros where the model has none.
static bool is_zero_bias(const Tensor *t) {
    const char *bytes = t->data;
    return t->rank == 1 && text_ends_with(t->name, ".bias") && !*bytes &&
           !memcmp(bytes, bytes + 1, t->bytes - 1);
}

// model.layers.61.*, where model.layers.61.eh_proj joins the last state with the next token's
// embedding.
static bool is_of_layer_ahead(const Elaborator *e, const char *name) {
    unsigned layer;
    return sscanf(name, "model.layers.%9u.", &layer) == 1 &&
           checkpoint_find(e->options->checkpoint,
                           arena_printf(e->arena, "model.layers.%u.eh_proj.weight", layer));
}

static Value listed_unused(Elaborator *e) {
    Declaration *d = file_find(e->main, "unused");
    return d && d->ast->kind == AST_DEFINITION ? config_value(e, d) : VALUE(V_NULL);
}

void weights_report_unused(Elaborator *e) {
    enum { LISTED = 4 };
    const Checkpoint *c = e->options->checkpoint;
    Value listed = listed_unused(e);
    const char *names = "", *file = e->main->source->name;
    int n = 0;
    for (int i = 0; i < c->n_tensors; i++) {
        const Tensor *t = c->tensors[i];
        if (map_get(&e->used_tensors, t->name)) continue;
        bool ignored = is_ignored(t) && !(is_own_head(t) && checkpoint_is_quantized(t));
        if (ignored || is_listed(listed, t->name) || is_of_layer_ahead(e, t->name) ||
            is_zero_bias(t) || is_copy(e, t))
            continue;
        if (n++ < LISTED)
            names = arena_printf(e->arena, "%s%s%s", names, *names ? ", " : "", t->name);
    }
    if (!n) return;
    const char *message =
        arena_printf(e->arena, "%s does not use %d of the %d tensors of %s: %s%s", file, n,
                     c->n_tensors, weights_file_name(c), names, n > LISTED ? ", ..." : "");
    if (description_name(e) == file) {
        diag_warning(NO_LOC, "%s", message);
        return;
    }
    e->errors++;
    diag_error(NO_LOC,
               "%s\nhint: the model computes with them, this description would not; if they do not "
               "matter, a copy of it with "
               "--weights only warns",
               message);
}
