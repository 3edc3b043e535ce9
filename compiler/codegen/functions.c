// Which function computes each kernel: kernels of equal lines have one, whatever they are called with.
#include <string.h>

#include "codegen/parameters.h"

typedef struct Functions {
    Program *p;
    Map *texts, *names;  // functions of both graphs by their lines; the names that are taken
    int *of_kind;        // function + 1, or 0
} Functions;

typedef void LineWriter(Text *, const Program *, const Kernel *);

static const char *lines_of(const Program *p, const Kernel *k, LineWriter *write) {
    Text t = {0};
    if (write) write(&t, p, k);
    const char *copy = arena_strndup(p->arena, t.data ? t.data : "", t.length);
    text_free(&t);
    return copy;
}

// "@_store" to "matmul_bf16_192x512_add_store"
static const char *with_name(Arena *arena, const char *lines, const char *name) {
    Text t = {0};
    text_add(&t, "%s", "");
    for (const char *c = lines; *c; c++)
        if (*c == '@')
            text_add(&t, "%s", name);
        else
            text_append(&t, c, 1);
    const char *copy = arena_strndup(arena, t.data, t.length);
    text_free(&t);
    return copy;
}

// What tells functions apart
static const char *identity_of(const Program *p, const KernelFunction *f) {
    Text t = {0};
    const Parameters ps = parameters_of(p, f->first);
    text_add(&t, "%s", f->before), write_signature(&t, &ps, f->name, f->body), text_add(&t, "%s", f->body);
    const char *copy = arena_strndup(p->arena, t.data, t.length);
    text_free(&t);
    return copy;
}

static const char *unused_name(Arena *arena, const Map *names, const char *name) {
    const char *candidate = name;
    for (int i = 2; map_get(names, candidate); i++) candidate = arena_printf(arena, "%s_%d", name, i);
    return candidate;
}

static int add_function(Functions *fs, const Kernel *k) {
    Program *p = fs->p;
    const KernelWriter *w = &kernel_writers[k->family];
    KernelFunction f = {"@", k, .before = lines_of(p, k, w->before), .body = lines_of(p, k, w->body)};
    const char *identity = identity_of(p, &f);
    KernelFunction *known = map_get(fs->texts, identity), *next = &p->functions[p->n_functions];
    if (known >= p->functions && known < next) return (int)(known - p->functions);
    map_put(fs->texts, identity, next);
    p->n_functions++;
    if (known) {
        *next = (KernelFunction){known->name, k, known->before, known->body, .of_encoder = true};
        return (int)(next - p->functions);
    }
    f.name = unused_name(p->arena, fs->names, function_name(p, k));
    f.before = with_name(p->arena, f.before, f.name), f.body = with_name(p->arena, f.body, f.name);
    map_put(fs->names, f.name, p);
    *next = f;
    return (int)(next - p->functions);
}

// Variables of forward() hide functions of their name.
static void name_functions_of(Program *p, Map *names, Map *texts) {
    Functions fs = {p, texts, names, .of_kind = ARENA_ARRAY(p->arena, int, p->n_kinds + 1)};
    p->functions = ARENA_ARRAY(p->arena, KernelFunction, p->n_kinds + 1);
    for (int i = 0; i < p->n_buffers; i++) map_put(names, p->buffers[i]->name, p);
    for (int i = 0; i < p->n_kernels; i++) {
        Kernel *k = p->kernels[i];
        if (!fs.of_kind[k->kind]) fs.of_kind[k->kind] = add_function(&fs, k) + 1;
        k->function = fs.of_kind[k->kind] - 1;
        p->functions[k->function].uses++;
    }
}

void name_functions(Program *p) {
    Map names, texts;
    map_init(&names, p->arena), map_init(&texts, p->arena);
    if (p->encoder) name_functions_of(p->encoder, &names, &texts);
    name_functions_of(p, &names, &texts);
}
