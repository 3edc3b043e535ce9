// Which function computes each kernel: kernels of equal lines have one, whatever they are called
// with.
#include <string.h>

#include "codegen/parameters.h"

typedef struct Functions {
    Program *p;
    Map *texts, *helpers,
        *names;  // functions and helpers of both graphs by their lines; the names that are taken
    int *of_signature;  // function + 1, or 0
} Functions;

typedef void LineWriter(Text *, const Program *, const Kernel *);

static const char *lines_of(const Program *p, const Kernel *k, LineWriter *write) {
    Text t = {0};
    if (write) write(&t, p, k);
    const char *copy = arena_strndup(p->arena, t.data ? t.data : "", t.length);
    text_free(&t);
    return copy;
}

// "$(m, y)" to "store_add_512(m, y)"
static const char *with_name(Arena *arena, const char *lines, char mark, const char *name) {
    Text t = {0};
    text_add(&t, "%s", "");
    for (const char *c = lines; *c; c++)
        if (*c == mark)
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
    write_signature(&t, &ps, "KERNEL", f->name, f->body);
    text_add(&t, "%s", f->body);
    const char *copy = arena_strndup(p->arena, t.data, t.length);
    text_free(&t);
    return copy;
}

static const char *unused_name(Arena *arena, const Map *names, const char *name) {
    const char *candidate = name;
    for (int i = 2; map_get(names, candidate); i++)
        candidate = arena_printf(arena, "%s_%d", name, i);
    return candidate;
}

// Adds the lines of a helper that no function before has to `before`; returns its name.
static const char *add_helper(Functions *fs, const char *lines, const char *name, char mark,
                              const char **before) {
    Arena *arena = fs->p->arena;
    const char *known = *lines ? map_get(fs->helpers, lines) : name;
    if (known) return known;
    name = unused_name(arena, fs->names, name);
    map_put(fs->names, name, fs);
    map_put(fs->helpers, lines, (void *)name);
    *before = arena_printf(arena, "%s%s", *before, with_name(arena, lines, mark, name));
    return name;
}

// The lines of a kernel with its helpers' names.
static KernelFunction function_of(Functions *fs, const Kernel *k) {
    Program *p = fs->p;
    const KernelWriter *w = &kernel_writers[k->family];
    KernelFunction f = {"@", k, .before = "", .body = lines_of(p, k, w->body)};
    const char *lines[MOST_HELPERS];
    for (int i = 0; i < MOST_HELPERS; i++) lines[i] = lines_of(p, k, w->helpers[i].lines);
    for (int i = 0; i < MOST_HELPERS && w->helpers[i].mark; i++) {
        const HelperWriter *h = &w->helpers[i];
        const char *name = add_helper(fs, lines[i], h->name(p, k), h->mark, &f.before);
        for (int j = i + 1; j < MOST_HELPERS; j++)
            lines[j] = with_name(p->arena, lines[j], h->mark, name);
        f.body = with_name(p->arena, f.body, h->mark, name);
    }
    return f;
}

static int add_function(Functions *fs, const Kernel *k) {
    Program *p = fs->p;
    KernelFunction f = function_of(fs, k);
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
    f.body = with_name(p->arena, f.body, '@', f.name);
    map_put(fs->names, f.name, p);
    *next = f;
    return (int)(next - p->functions);
}

// Variables of forward() hide functions of their name.
static void name_functions_of(Program *p, Functions fs) {
    fs.p = p;
    fs.of_signature = ARENA_ARRAY(p->arena, int, p->n_signatures + 1);
    p->functions = ARENA_ARRAY(p->arena, KernelFunction, p->n_signatures + 1);
    for (int i = 0; i < p->n_buffers; i++) map_put(fs.names, p->buffers[i]->name, p);
    for (int i = 0; i < p->n_kernels; i++) {
        Kernel *k = p->kernels[i];
        if (!fs.of_signature[k->signature])
            fs.of_signature[k->signature] = add_function(&fs, k) + 1;
        k->function = fs.of_signature[k->signature] - 1;
        p->functions[k->function].uses++;
    }
}

void name_functions(Program *p) {
    Map names, texts, helpers;
    map_init(&names, p->arena);
    map_init(&texts, p->arena);
    map_init(&helpers, p->arena);
    Functions fs = {.texts = &texts, .helpers = &helpers, .names = &names};
    if (p->encoder) name_functions_of(p->encoder, fs);
    name_functions_of(p, fs);
}
