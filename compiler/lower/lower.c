// Lowering: a graph with a layout becomes a program. The steps, in order:
//
//   select_kernels   nodes to views and kernels                  (select.c, view.c)
//   name_kernels     equal kernels are one function              (key.c)
//   plan_states      KV caches and other states of a slot        (plan.c)
//   roll_layers      equal layers are a loop                     (roll.c)
//   name_buffers     after their values                          (key.c)
//   plan_buffers     one arena                                   (plan.c)
//   place_barriers   where threads wait                          (schedule.c)
//   place_weights    fields, offsets                             (plan.c, weights.c)
#include <string.h>

#include "lower/lowering.h"

// The rows of a program: the symbol on axis 0 of its tokens, or of its first input that has one.
static const Dim *find_rows(const Graph *g) {
    for (int i = 0; i < g->n_inputs; i++) {
        const Type *type = &g->inputs[i]->type;
        if (type->rank && type->dim[0]->kind == DIM_SYMBOL) return type->dim[0];
    }
    return NULL;
}

static const Dim *find_wanted(const Graph *g) {
    for (Node *n = g->first; n; n = n->next)
        if (n->op == OP_select_rows && n->type.dim[0]->kind == DIM_SYMBOL) return n->type.dim[0];
    return NULL;
}

static void add_symbol(Program *p, const Dim *d) {
    if (d->kind != DIM_SYMBOL) return;
    for (int i = 0; i < p->n_symbols; i++)
        if (p->symbols[i] == d) return;
    p->symbols[p->n_symbols++] = d;
}

static void find_symbols(Program *p) {
    p->symbols = ARENA_ARRAY(p->arena, const Dim *, p->graph->n_inputs *MAX_RANK + 1);
    for (int i = 0; i < p->graph->n_inputs; i++)
        for (int j = 0; j < p->graph->inputs[i]->type.rank; j++) add_symbol(p, p->graph->inputs[i]->type.dim[j]);
}

static int count_nodes(Graph *g) {
    int n = 0;
    EACH_NODE(node, g) n += 1 + node->n_in;
    return n;
}

Program *lower(Arena *arena, const Module *module, int index, const LowerOptions *options) {
    Graph *g = module->graphs[index];
    Program *p = ARENA_NEW(arena, Program);
    int n = count_nodes(g);
    *p = (Program){.arena = arena, .module = module, .graph = g, .rows = find_rows(g), .wanted = find_wanted(g), .max_rows = 1};
    if (p->rows) p->max_rows = dim_upper(p->rows);
    p->kernels = ARENA_ARRAY(arena, Kernel *, n + 1);
    p->buffers = ARENA_ARRAY(arena, Buffer *, n + 1);
    p->states = ARENA_ARRAY(arena, StateSlice *, n + 1);
    p->pieces = ARENA_ARRAY(arena, WeightPiece *, n + 1);
    find_symbols(p);
    Lowering l = {.program = p, .arena = arena, .graph = g, .options = options};
    select_kernels(&l);
    diag_stop_if_errors();
    name_kernels(&l);
    plan_states(&l);
    roll_layers(&l);
    name_buffers(p);
    plan_buffers(p);
    place_barriers(p);
    place_weights(p);
    check_max_ram(p, options);
    return p;
}
