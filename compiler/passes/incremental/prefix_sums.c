// Sums of all rows so far are recurrences: a loop over the rows, whose state is the sum (loop.c
// keeps it).
//
//   before   %c = cast(%text) {to=i32} : i32[1, T]               (of truths)
//            %y = cum_sum(%c) {axis=1} : i32[1, T]
//   after    %l = loop(_, _, 0, %rows) {states=1, counter=i, extent=T, body=graph (%sum: f32[1, 1], %rows: f32[T, 1])
//                -> (%next, %next)}                              %next = add(%sum, slice(%rows) {start=i, extent=1})
//            %y = cast(reshape(item(%l) {index=1})) {to=i32} : i32[1, T]
//
// So positions that skip padding, which are a count of the tokens that are none, run token by
// token. Sums of numbers, and of truths as integers: f32 counts them exactly.
#include "ir/control.h"
#include "passes/incremental/incremental.h"

static bool counts_exactly(const Node *x) {
    if (x->type.dtype == DT_f32) return true;
    while (x->op == OP_cast && x->in[0]->type.dtype != DT_bool) x = x->in[0];
    return x->op == OP_cast;
}

// All other axes are constant.
static bool sums_rows(const Node *n, const Dim *rows) {
    if (n->op != OP_cum_sum || attr_int(n, "reverse", 0) || !counts_exactly(n->in[0])) return false;
    int axis = node_axis(n);
    for (int i = 0; i < n->type.rank; i++)
        if (i == axis ? n->type.dim[i] != rows : !dim_is_const(n->type.dim[i], NULL)) return false;
    return true;
}

// One step: the sum before it, and its own row.
static Graph *step(Node *n, const Node *rows, const Dim *counter) {
    Graph *body = graph_new_nested(n->graph, "sum");
    const Dim *one[] = {dim_const(body, 1), rows->type.dim[1]};
    Node *sum = graph_add_input(body, "sum", type_of(DT_f32, 2, one), n->loc);
    Node *all = graph_add_input(body, "rows", rows->type, n->loc);
    Node *own = build_slice(cursor(NULL), all, (Slice){0, counter, one[0], 1});
    Node *next = inferred(node_make(body, OP_add, n->loc, 2, (Node *[]){sum, own}, NULL));
    graph_add_output(body, next, "next");
    graph_add_output(body, attr_int(n, "exclusive", 0) ? sum : next, "sum");
    return body;
}

static Node *loop_over(Node *n, Node *rows) {
    Graph *g = n->graph;
    const Dim *extent = rows->type.dim[0], *counter = loop_counter(g, extent),
              *first[] = {dim_const(g, 1), rows->type.dim[1]};
    Node *zero = build_expand(cursor(n), node_scalar(g, DT_f32, 0, n->loc, n), 2, first);
    Node *loop = node_make(g, OP_loop, n->loc, 4, (Node *[]){NULL, NULL, zero, rows}, n);
    attr_set_graph(loop, "body", step(n, rows, counter));
    attr_set_int(loop, "states", 1);
    attr_set_dims(loop, "counter", &counter, 1);
    attr_set_dims(loop, "extent", &extent, 1);
    attr_set_dims(loop, "length", &extent, 1);
    return node_item(g, inferred(loop), 1, n);
}

// Moves the axis of the rows first, joins all other axes after it; and back.
static Node *recurrence(Node *n) {
    Graph *g = n->graph;
    int axis = node_axis(n), rank = n->type.rank;
    int64_t there[MAX_RANK], back[MAX_RANK];
    const Dim *moved[MAX_RANK], *width = dim_const(g, 1);
    for (int i = 0; i < rank; i++) there[i] = i ? i - (i <= axis) : axis;
    for (int i = 0; i < rank; i++) back[there[i]] = i, moved[i] = n->type.dim[there[i]];
    for (int i = 1; i < rank; i++) width = dim_binary(g, DIM_MUL, width, moved[i]);
    Node *x = build_transpose(cursor(n), build_cast(cursor(n), n->in[0], DT_f32), there);
    Node *sums = loop_over(n, build_reshape(cursor(n), x, 2, (const Dim *[]){moved[0], width}));
    return build_cast(cursor(n),
                      build_transpose(cursor(n), build_reshape(cursor(n), sums, rank, moved), back),
                      n->type.dtype);
}

bool turn_sums_into_loops(Graph *g, const Dim *rows) {
    bool changed = false;
    EACH_NODE(n, g) {
        if (!sums_rows(n, rows)) continue;
        node_become(n, recurrence(n));
        changed = true;
    }
    graph_sweep(g);
    return changed;
}
