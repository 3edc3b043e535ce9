// Emits the program of a graph in IR text: emit_ir FILE.ir FOLDER [NAME]. Writes NAME.c, NAME_plan.h, NAME_model.c and
// NAME.weights. Constants that the text names by hash get numbers of their own: a fixed sequence that starts from the hash.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen.h"
#include "ir/convert.h"

static uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

// Numbers near zero; norm weights (one axis) near one.
static void fill(Arena *arena, Node *n) {
    Tensor *t = ARENA_NEW(arena, Tensor);
    int64_t count = 1;
    *t = (Tensor){.dtype = n->type.dtype, .rank = n->type.rank, .name = n->name};
    for (int i = 0; i < t->rank; i++) dim_is_const(n->type.dim[i], &t->dim[i]), count *= t->dim[i];
    t->bytes = dtype_bytes(t->dtype, count);
    void *data = arena_alloc(arena, t->bytes);
    uint64_t state = n->hash * 977;
    for (int64_t i = 0; i < count; i++) {
        double v = (next_random(&state) % 2001 - 1000.0) / 4000;
        dtype_store(t->dtype, data, i, t->rank == 1 ? 1 + v : v);
    }
    t->data = data;
    const Attr *name = attr_find(n, "name");
    if (name) t->name = name->s;
    n->value = t;
}

static void sink(void *file, const void *bytes, size_t n) { fwrite(bytes, 1, n, file); }

static void write_text(Arena *arena, const char *folder, const char *file, Text *t) {
    write_file(arena_printf(arena, "%s/%s", folder, file), t->data, t->length);
    text_free(t);
}

static void write_model(Arena *arena, const Program *p, const char *folder, Text *t) {
    const Target *cpus[8];
    const char *list = getenv("CPUS");
    int n = 0;
    for (char *name = strtok(arena_strdup(arena, list ? list : "x86-64-v3"), ","); name && n < 8; name = strtok(NULL, ","))
        cpus[n++] = target_find(name);
    emit_dispatch(p,
                  &(DispatchOptions){.cpus = cpus,
                                     .n_cpus = n,
                                     .identity = "0",
                                     .info = "",
                                     .weights_symbol = "model_weights",
                                     .descriptor = "burin_model_this"},
                  t);
    write_text(arena, folder, arena_printf(arena, "%s_model.c", p->module->name), t);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    Arena *arena = arena_new();
    size_t size;
    const char *text = read_text_file(argv[1], &size), *name = argc > 3 ? argv[3] : "model";
    Source source = {.name = argv[1], .text = text, .size = size};
    Graph *g = graph_parse(&source, NULL);
    if (!g) diag_stop();
    EACH_NODE(n, g) if (n->op == OP_constant && !n->value) fill(arena, n);
    Module m = {.arena = arena, .name = name, .graphs = &g, .n_graphs = 1, .description = "llama.burin", .bos = -1};
    LowerOptions options = {0};
    Program *p = lower(arena, &m, 0, &options);
    Text t = {0};
    emit_program(p, &t);
    write_text(arena, argv[2], arena_printf(arena, "%s.c", name), &t);
    emit_header(p, &t);
    write_text(arena, argv[2], arena_printf(arena, "%s_plan.h", name), &t);
    write_model(arena, p, argv[2], &t);
    FILE *weights = fopen(arena_printf(arena, "%s/%s.weights", argv[2], name), "wb");
    if (!weights) diag_fatal(NO_LOC, "cannot write the weights");
    weights_write(p, sink, weights);
    fclose(weights);
    plan_print(&t, p);
    fputs(t.data, stdout);
    text_free(&t);
    graph_free(g);
    arena_free(arena);
    return 0;
}
