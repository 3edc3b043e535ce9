// Kernel selection: every node becomes a view of existing memory, or one kernel.
//
//   %qkv = matmul_packed(%n, %wqkv)          matmul kernel into a new buffer, threads divide the panels
//   %q = slice(%qkv) ...                     view
//   %c = gather(%cos_table, %position)       view: row r is row position[r] of the table (only rotary_embedding reads it)
//   %qr = rotary_embedding(%q, %c, %s)       rotary kernel, in place: it is the only reader of %q
//   %t = skip_rms_normalization(%o, %x, %w)  norm kernel, the sum overwrites %x
//
// This file has the order of nodes, views, and the table of selectors: select_rows.c,
// select_attention.c, select_windows.c (convolutions), select_nest.c (no tuned kernel),
// data_dependent.c, control.c. kernel.c has their common parts.
#include "lower/select.h"

#include <limits.h>

// -------------------------------------------------------------------------------- leaves and views
static void select_input(Lowering *l, Node *n) {
    View v = view_contiguous(l, &n->type);
    v.base = BASE_INPUT, v.input = n;
    set_view(l, n, v);
}

static void select_state(Lowering *l, Node *n) {
    Program *p = l->program;
    StateSlice *s = ARENA_NEW(l->arena, StateSlice);
    *s = (StateSlice){.node = n, .index = p->n_states};
    p->states[p->n_states++] = s;
    View v = view_contiguous(l, &n->type);
    v.base = BASE_STATE, v.state = s;
    set_view(l, n, v);
}

static void select_nothing(Lowering *l, Node *n) { (void)l, (void)n; }

// A view that no strides can express is one of a row-major copy. An output of the graph is always
// written by a kernel.
static void select_view(Lowering *l, Node *n) {
    View from = view_operand(l, n->in[0]), v;
    if (from.base == BASE_SCALAR) {
        const Type one = {.dtype = n->type.dtype};
        from.type = one, from.offset = dim_const(l->graph, 0);
        v = view_broadcast(l, from, &n->type);
    } else if (!view_derive(l, n, &from, &v)) {
        if (leave_to_products(l, n)) return;
        if (!copy_for_view(l, n, &from)) from = view_copy(l, n->in[0], from);
        view_derive(l, n, &from, &v);
    }
    int output = output_index(l->graph, n);
    if (output < 0 || (n->op == OP_reshape && v.base == BASE_OUTPUT && v.output == output))
        set_view(l, n, v);
    else
        copy_to_output(l, n, v);
}

static void select_item(Lowering *l, Node *n) {
    if (!view_of(n))
        diag_fatal(n->loc, "no kernel gives result %d of %s", (int)attr_int(n, "index", 0),
                   op_info[n->in[0]->op].name);
    (void)l;
}

// --------------------------------------------------------------------------------------------- ops
static const struct {
    Op op;
    SelectFunction *select;
} selectors[] = {
    {OP_input, select_input},
    {OP_constant, select_nothing},
    {OP_pack, select_nothing},
    {OP_state, select_state},
    {OP_item, select_item},
    {OP_reshape, select_view},
    {OP_transpose, select_view},
    {OP_slice, select_view},
    {OP_expand, select_view},
    {OP_windows, select_view},
    {OP_gather, select_gather},
    {OP_cast, select_cast},
    {OP_rms_normalization, select_norm},
    {OP_layer_normalization, select_norm},
    {OP_skip_rms_normalization, select_skip_norm},
    {OP_skip_layer_normalization, select_skip_norm},
    {OP_quantize_rows, select_quantize},
    {OP_gather_rows, select_gather_rows},
    {OP_rotary_embedding, select_rotary},
    {OP_cache_append, select_append},
    {OP_shift_rows, select_shift_rows},
    {OP_attention, select_attention},
    {OP_key_products, select_kept_keys},
    {OP_key_sums, select_kept_keys},
    {OP_top_k, select_top_k},
    {OP_nonzero, select_nonzero},
    {OP_unique, select_unique},
    {OP_non_max_suppression, select_suppression},
    {OP_loop, select_loop},
    {OP_if, select_if},
    {OP_pad, select_pad},
    {OP_matmul, select_matmul},
    {OP_matmul_packed, select_matmul_packed},
    {OP_expert_matmul, select_expert_matmul},
};

static SelectFunction *selector_of(Op op) {
    for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++)
        if (selectors[i].op == op) return selectors[i].select;
    return select_nest;
}

// --------------------------------------------------------------------------------------- last uses
// Node numbers, then for each the last node that reads it: a view's readers are its operand's too.
static void number_nodes(Lowering *l) {
    int n_nodes = 0;
    EACH_NODE(n, l->graph) n->mark = n_nodes++, n->scratch = NULL;
    l->last_use = ARENA_ARRAY(l->arena, int, n_nodes + 1);
    l->borders = ARENA_ARRAY(l->arena, bool, n_nodes + 1);
    EACH_NODE(n, l->graph) l->borders[n->mark] = n->op == OP_pad && is_border(l, n);
    for (int i = 0; i < l->graph->n_outputs; i++) l->last_use[l->graph->outputs[i]->mark] = n_nodes;
    for (Node *n = l->graph->last; n; n = n->prev)
        for (int i = 0; i < n->n_in; i++) {
            if (!n->in[i]) continue;
            int *last = &l->last_use[n->in[i]->mark],
                use = reads_through(l, n) && l->last_use[n->mark] > n->mark ? l->last_use[n->mark]
                                                                            : n->mark;
            if (use > *last) *last = use;
        }
}

// Outputs that no kernel writes: inputs, constants, and values that are an output already.
static void copy_to_outputs(Lowering *l) {
    for (int i = 0; i < l->graph->n_outputs; i++) {
        Node *n = l->graph->outputs[i];
        View from = n->op == OP_constant ? view_operand(l, n)
                    : view_of(n)         ? *view_of(n)
                                         : (View){0};
        bool written = from.base == BASE_OUTPUT && from.output == i;
        if (written || from.base == BASE_NONE || from.base == BASE_STATE ||
            from.base == BASE_BUFFER)
            continue;
        Kernel *k = kernel_new(l, FAMILY_NEST, n, 1);
        View to = view_contiguous(l, &n->type);
        k->copies = true, k->in[0] = from;
        bool bytes = dtype_bits(n->type.dtype) >= 8;
        k->share = share_by(SHARE_OUTER, bytes ? count_before(l, &n->type, n->type.rank - 1)
                                               : dim_const(l->graph, 1));
        to.base = BASE_OUTPUT, to.output = i;
        kernel_give(l, k, 0, NULL, to);
    }
}

// Outer values outlive the body: no kernel of it overwrites them.
Lowering body_begin(Lowering *l, Graph *body, const View *inputs, const View *places) {
    Lowering around = *l;
    l->graph = body, l->places = places;
    number_nodes(l);
    for (int i = 0; i < body->n_inputs; i++) {
        l->last_use[body->inputs[i]->mark] = INT_MAX;
        set_view(l, body->inputs[i], inputs[i]);
    }
    EACH_NODE(n, body)
        if (n->op != OP_input) selector_of(n->op)(l, n);
    return around;
}

void select_kernels(Lowering *l) {
    number_nodes(l);
    EACH_NODE(n, l->graph) selector_of(n->op)(l, n);
    copy_to_outputs(l);
}
