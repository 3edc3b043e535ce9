// Lowering: a graph with a layout becomes a program. The steps, in order:
//
//   select_kernels           nodes to views and kernels                (select*.c, kernel.c, view.c)
//   group_identical_kernels  kernels with equal signatures             (kernel_identity.c)
//   plan_states              KV caches and other states of a slot      (plan.c)
//   roll_layers              equal layers become a loop                (roll.c)
//   name_buffers             after their values                        (kernel_identity.c)
//   share_over_ranks         ranges of MPI ranks                       (ranks.c)
//   batch_sequences          kernels that run once per sequence        (sequences.c)
//   fuse_consumers           kernels that run on tiles of a producer   (tile_fusion.c)
//   plan_buffers             one arena                                 (plan.c)
//   place_barriers           where threads wait                        (schedule.c)
//   place_weights            fields, offsets                           (plan.c, weights.c)

#include <string.h>

#include "lower/lowering.h"

// The symbol of a program's rows: that of its first input of such a length, unless that is samples
// of sound, of which a row of a result has many. Other symbols (a batch of images) are no rows,
// since every thread would compute a single one.
static const Dim *find_rows(const Graph *g) {
    for (int i = 0; i < g->n_inputs; i++) {
        const Type *type = &g->inputs[i]->type;
        if (type->rank == 1 && type->dim[0]->kind == DIM_SYMBOL)
            return dtype_is_float(type->dtype) ? NULL : type->dim[0];
    }
    return NULL;
}

static const Dim *find_wanted(const Graph *g) {
    for (Node *n = g->first; n; n = n->next)
        if (n->op == OP_gather_rows && n->type.dim[0]->kind == DIM_SYMBOL) return n->type.dim[0];
    return NULL;
}

static int count_symbols(const Dim *d) {
    return d->a ? count_symbols(d->a) + count_symbols(d->b) : d->kind == DIM_SYMBOL;
}

// Those of an expression, too: 2 * T.
static void add_symbol(Program *p, const Dim *d) {
    if (d->a) add_symbol(p, d->a), add_symbol(p, d->b);
    if (d->kind != DIM_SYMBOL) return;
    for (int i = 0; i < p->n_symbols; i++)
        if (p->symbols[i] == d) return;
    p->symbols[p->n_symbols++] = d;
}

static void find_symbols(Program *p) {
    int n = 1;
    for (int i = 0; i < p->graph->n_inputs; i++)
        for (int j = 0; j < p->graph->inputs[i]->type.rank; j++)
            n += count_symbols(p->graph->inputs[i]->type.dim[j]);
    p->symbols = ARENA_ARRAY(p->arena, const Dim *, n);
    for (int i = 0; i < p->graph->n_inputs; i++)
        for (int j = 0; j < p->graph->inputs[i]->type.rank; j++)
            add_symbol(p, p->graph->inputs[i]->type.dim[j]);
}

static Program *program_new(Arena *arena, const Module *module, Graph *g,
                            const LowerOptions *options) {
    Program *p = ARENA_NEW(arena, Program);
    int n = count_places(g);
    *p = (Program){.arena = arena,
                   .module = module,
                   .graph = g,
                   .rows = find_rows(g),
                   .logit_rows = find_wanted(g),
                   .max_rows = 1};
    p->name = options->name ? options->name : module->name, p->prefix = "";
    if (p->rows) p->max_rows = dim_upper(p->rows);
    if (p->max_rows < 1 || p->max_rows > INT32_MAX)
        diag_fatal(NO_LOC,
                   "the graph %s would run over at most %lld rows\nhint: at least 1, in 31 bits",
                   g->name, (long long)p->max_rows);
    p->kernels = ARENA_ARRAY(arena, Kernel *, n + 1);
    p->buffers = ARENA_ARRAY(arena, Buffer *, n + 1);
    p->states = ARENA_ARRAY(arena, StateSlice *, n + 1);
    p->weights = ARENA_ARRAY(arena, PackedWeight *, n + 1);
    p->regions = ARENA_ARRAY(arena, Region, n + 1);
    p->data_dependent = ARENA_ARRAY(arena, const Dim *, n + 1);
    p->counters = ARENA_ARRAY(arena, const Dim *, n + 1);
    find_symbols(p);
    p->dynamic_sizes = !p->rows && p->n_symbols;
    return p;
}

static void choose_kernels(Lowering *l, Program *p, const LowerOptions *options) {
    *l = (Lowering){.program = p, .arena = p->arena, .graph = p->graph, .options = options};
    p->guarded = options->guarded;
    p->over_ranks = options->over_ranks, p->gather_above = options->gather_above,
    p->compared = options->compared;
    select_kernels(l);
    check_kernel_types(p);
    diag_stop_if_errors();
    group_identical_kernels(p);
}

static void place(Program *p) {
    name_buffers(p);
    share_over_ranks(p);
    batch_sequences(p);
    fuse_consumers(p);
    plan_buffers(p);
    place_barriers(p);
    place_weights(p);
}

Program *lower(Arena *arena, const Module *module, int index, const LowerOptions *options) {
    Program *p = program_new(arena, module, module->graphs[index], options);
    Lowering l;
    choose_kernels(&l, p, options);
    plan_states(&l);
    roll_layers(&l);
    place(p);
    return p;
}

// ----------------------------------------------------------------------------- encoder and decoder
bool graph_has_rows(const Graph *g) {
    for (int i = 0; i < g->n_inputs; i++)
        if (input_role(g->inputs[i]) == INPUT_SLOTS) return true;
    return false;
}

static bool leaves_memory(Graph *g) {
    EACH_NODE(n, g)
        if (n->op == OP_state && attr_int(n, "memory", 0)) return !graph_has_rows(g);
    return false;
}

// The encoder of a decoder with eyes: its rows go to the caller.
static bool sees(Graph *g) { return !strcmp(g->name, "picture") && !graph_has_rows(g); }

static bool is_encoder_graph(Graph *g) { return leaves_memory(g) || sees(g); }

static int find_graph(const Module *m, bool (*is_it)(Graph *)) {
    for (int i = 0; i < m->n_graphs; i++)
        if (is_it(m->graphs[i])) return i;
    return -1;
}

static bool is_decoder_graph(Graph *g) { return graph_has_rows(g); }

Program *lower_module(Arena *arena, const Module *module, const LowerOptions *options) {
    int encoder = find_graph(module, is_encoder_graph),
        decoder = find_graph(module, is_decoder_graph);
    if (encoder < 0 || decoder < 0) return lower(arena, module, decoder < 0 ? 0 : decoder, options);
    Program *e = program_new(arena, module, module->graphs[encoder], options);
    Program *d = program_new(arena, module, module->graphs[decoder], options);
    Lowering of_encoder, of_decoder;
    d->encoder = e;
    e->name = arena_printf(arena, "%s_encode", d->name), e->prefix = "encode_";
    choose_kernels(&of_encoder, e, options);
    choose_kernels(&of_decoder, d, options);
    plan_states(&of_decoder);
    adopt_states(e, d);
    roll_layers(&of_encoder);
    roll_layers(&of_decoder);
    share_weights(d);
    place(e);
    place(d);
    d->weights_offset = e->plan.weight_bytes;
    return d;
}
