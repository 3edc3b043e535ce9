// --dim and --max: "batch=1,seq=128" as dimensions of an ONNX model, fixed or bounded.
#include "build/dims.h"

#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "toolchain/process.h"

enum { MOST_DIMS = 64 };

static void read_list(OnnxOptions *out, Arena *arena, const char *option, const char *list,
                      bool fixed) {
    OnnxDim *dims = (OnnxDim *)out->dims;
    for (const char *p = list; p && *p;) {
        size_t length = strcspn(p, ","), name = strcspn(p, "=,");
        char *end;
        const char *number = p + name + 1;
        long long value = name < length ? strtoll(number, &end, 10) : 0;
        if (!name || name >= length || end != p + length || value < 1 || value > INT32_MAX)
            usage_error(
                "--%s=%s: expected NAME=N with N of 1 or more\n  hint: "
                "--%s=sequence_length=128,batch_size=1",
                option, list, option);
        if (out->n_dims == MOST_DIMS)
            usage_error("--%s names more than %d dimensions", option, MOST_DIMS);
        dims[out->n_dims++] = (OnnxDim){.name = arena_strndup(arena, p, name),
                                        .lower = fixed ? value : 1,
                                        .upper = value,
                                        .used = ARENA_NEW(arena, bool)};
        p += length + (p[length] == ',');
    }
}

static bool has_dim(const OnnxOptions *o, const char *name) {
    for (int i = 0; i < o->n_dims; i++)
        if (!strcmp(o->dims[i].name, name)) return true;
    return false;
}

static void bound_unnamed(Arena *arena, OnnxOptions *out, const OnnxDim *usual, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (has_dim(out, usual[i].name) || out->n_dims == MOST_DIMS) continue;
        OnnxDim *d = (OnnxDim *)&out->dims[out->n_dims++];
        *d = usual[i];
        d->used = ARENA_NEW(arena, bool);
        *d->used = true;
    }
}

void bound_voice(Arena *arena, OnnxOptions *out) {
    static const OnnxDim usual[] = {{.name = "batch_size", .lower = 1, .upper = 1},
                                    {.name = "phonemes", .lower = 1, .upper = 512},
                                    {.name = "range", .lower = 1, .upper = 1536}};
    bound_unnamed(arena, out, usual, sizeof usual / sizeof *usual);
}

void bound_listener(Arena *arena, OnnxOptions *out) {
    static const OnnxDim usual[] = {{.name = "batch_size", .lower = 1, .upper = 1},
                                    {.name = "sequence_length", .lower = 1, .upper = 320000}};
    bound_unnamed(arena, out, usual, sizeof usual / sizeof *usual);
}

void bound_detector(Arena *arena, OnnxOptions *out) {
    OnnxBind *binds = (OnnxBind *)out->binds;
    int sr = -1;
    for (int i = 0; i < out->n_binds; i++)
        if (!strcmp(binds[i].name, "sr")) sr = i;
    if (sr < 0)
        binds[sr = out->n_binds++] = (OnnxBind){.name = "sr", .is_number = true, .value = 16000};
    int64_t samples = binds[sr].value == 8000 ? 288 : 576;
    const OnnxDim usual[] = {
        {.name = "batch", .lower = 1, .upper = 1},
        {.name = "sequence", .lower = samples, .upper = samples},
        {.name = "input_0", .lower = 1, .upper = 1},
        {.name = "state_1", .lower = 1, .upper = 1},
        {.name = "input_1", .lower = samples, .upper = samples},
    };
    bound_unnamed(arena, out, usual, sizeof usual / sizeof *usual);
}

OnnxOptions onnx_options(Arena *arena, const Options *o) {
    OnnxOptions out = {.library = arena_printf(arena, "%s/dsl", burin_home(arena)),
                       .dims = ARENA_ARRAY(arena, OnnxDim, MOST_DIMS)};
    read_list(&out, arena, "dim", o->dim, true);
    read_list(&out, arena, "max", o->max, false);
    return out;
}

// The symbols of the inputs' shapes, each once: "batch, sequence".
static void list_symbols(Text *t, const Module *m) {
    Map listed;
    map_init(&listed, m->arena);
    for (int g = 0; g < m->n_graphs; g++)
        for (int i = 0; i < m->graphs[g]->n_inputs; i++) {
            const Type *type = &m->graphs[g]->inputs[i]->type;
            for (int axis = 0; axis < type->rank; axis++) {
                const Dim *d = type->dim[axis];
                if (d->kind != DIM_SYMBOL || map_get(&listed, d->name)) continue;
                map_put(&listed, d->name, (void *)d);
                text_add(t, "%s%s", t->length ? ", " : "", d->name);
            }
        }
}

void check_dims_used(const OnnxOptions *options, const Module *m) {
    for (int i = 0; i < options->n_dims; i++) {
        const OnnxDim *d = &options->dims[i];
        if (*d->used) continue;
        Text symbols = {0};
        list_symbols(&symbols, m);
        const char *list = arena_printf(m->arena, "%s", symbols.length ? symbols.data : "none");
        text_free(&symbols);
        diag_fatal(NO_LOC,
                   "the model has no dimension %s, which --dim or --max names\nhint: those that "
                   "are open: %s",
                   d->name, list);
    }
}
