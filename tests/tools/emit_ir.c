// Emits the program of a graph in IR text: emit_ir FILE.ir FOLDER [NAME]. Writes NAME.c,
// NAME_plan.h, NAME_model.c and NAME.weights.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen.h"
#include "ir_text.h"

static void sink(void *file, const void *bytes, size_t n) { fwrite(bytes, 1, n, file); }

static void write_text(Arena *arena, const char *folder, const char *file, Text *t) {
    write_file(arena_printf(arena, "%s/%s", folder, file), t->data, t->length);
    text_free(t);
}

static void write_model(Arena *arena, const Program *p, const char *folder, Text *t) {
    const Target *cpus[8];
    const char *list = getenv("CPUS");
    int n = 0;
    for (char *name = strtok(arena_strdup(arena, list ? list : "x86-64-v3"), ","); name && n < 8;
         name = strtok(NULL, ","))
        cpus[n++] = target_find(name, false);
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
    const char *name = argc > 3 ? argv[3] : "model";
    Graph *g = load_ir_text(arena, argv[1]);
    Module m = {.arena = arena,
                .name = name,
                .graphs = &g,
                .n_graphs = 1,
                .description = "llama.burin",
                .bos = -1,
                .context = 64};
    LowerOptions options = {.over_ranks = getenv("OVER_RANKS") != NULL,
                            .guarded = getenv("GUARDED") != NULL};
    Program *p = lower(arena, &m, 0, &options);
    name_functions(p);
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
