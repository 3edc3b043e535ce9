// Ops along the last axis work on a matrix of rows, whatever the axes before it are: a batch of
// texts is a list of rows.
//
//   before   %y = matmul(%x, %w) : f32[B, T, 64]       after   %r = reshape(%x) {shape=[B * T, 96]}
//                                                              %m = matmul(%r, %w) : f32[B * T, 64]
//                                                              %y = reshape(%m) {shape=[B, T, 64]}
//
// Products by weights, norms and lookups begin it; elementwise neighbours follow if one operand is
// such a matrix and all others have its shape or are vectors, and the reshapes between them cancel.
// The first axis must be a batch: the first axis of an input of several. (Tokens whose heads are
// normalized, [T, heads, d], are rows already.)
#include "ir/operands.h"
#include "passes/simplify/simplify.h"

static bool is_matrix_of_rows(const Type *t) {
    return t->rank == 2 && !dim_is_const(t->dim[0], NULL) && dim_is_const(t->dim[1], NULL);
}

static bool begins_with_batch(const Node *n) {
    const Graph *g = n->graph;
    for (int i = 0; i < g->n_inputs; i++) {
        const Type *t = &g->inputs[i]->type;
        if (t->rank > 1 && t->dim[0] == n->type.dim[0] && !is_matrix_of_rows(t)) return true;
    }
    return false;
}

static const Dim *count_rows(const Node *n) {
    const Dim *rows = dim_const(n->graph, 1);
    for (int i = 0; i + 1 < n->type.rank; i++)
        rows = dim_binary(n->graph, DIM_MUL, rows, n->type.dim[i]);
    return rows;
}

static Node *as_matrix(Node *x, Node *before) {
    const Dim *dims[] = {count_rows(x), width_dim(x)};
    return build_reshape(cursor(before), x, 2, dims);
}

// The same on other operands, in the shape that it had.
static Node *over(Node *n, Node *const *in) {
    return build_reshape(cursor(n), inferred(node_again(n, n->op, n->n_in, in, n)), n->type.rank,
                         n->type.dim);
}

static Node *matmul(Node *n) {
    Node *in[] = {n->in[0], n->in[1]};
    if (!is_weight(in[1]) || is_weight(in[0]) || in[1]->type.rank != 2) return NULL;
    in[0] = as_matrix(in[0], n);
    return over(n, in);
}

static Node *norm(Node *n) {
    Node *in[NORM_OPERANDS];
    for (int i = 0; i < n->n_in; i++) in[i] = n->in[i];
    for (int i = NORM_WEIGHT; i < n->n_in; i++)
        if (in[i] && in[i]->type.rank != 1) return NULL;
    in[NORM_X] = as_matrix(in[NORM_X], n);
    return over(n, in);
}

static Node *gather(Node *n) {
    Node *in[] = {n->in[0], n->in[1]};
    if (!is_weight(in[0]) || in[0]->type.rank != 2 || node_axis(n)) return NULL;
    in[1] = build_reshape(cursor(n), in[1], 1, (const Dim *[]){count_rows(n)});
    return over(n, in);
}

// Returns true if it has the axes of `n`, of which the last may be one.
static bool has_axes_of(const Node *n, const Node *x) {
    bool same =
        x->type.rank == n->type.rank && (width_dim(x) == width_dim(n) || dim_is(width_dim(x), 1));
    for (int i = 0; same && i + 1 < n->type.rank; i++) same = x->type.dim[i] == n->type.dim[i];
    return same;
}

// A matrix of rows under another shape.
static bool is_rows(const Node *x) {
    return x->op == OP_reshape && x->in[0]->type.rank == 2 && width_dim(x->in[0]) == width_dim(x);
}

static Node *elementwise(Node *n) {
    Node *in[3];
    bool any = false;
    for (int i = 0; i < n->n_in; i++) {
        Node *x = in[i] = n->in[i];
        if (x->type.rank <= 1) continue;
        if (!has_axes_of(n, x) || (is_view(x->op) && !is_rows(x))) return NULL;
        any |= is_rows(x);
    }
    for (int i = 0; any && i < n->n_in; i++)
        if (in[i]->type.rank > 1) in[i] = as_matrix(in[i], n);
    return any ? over(n, in) : NULL;
}

static Node *reduction(Node *n) {
    if (!is_rows(n->in[0]) || !reduces_last_axis_only(n) || !attr_int(n, "keepdims", 1))
        return NULL;
    Node *x = as_matrix(n->in[0], n);
    Node *by = node_make(n->graph, n->op, n->loc, 1, &x, n);
    attr_set_ints(by, "axes", (int64_t[]){1}, 1);
    return build_reshape(cursor(n), inferred(by), n->type.rank, n->type.dim);
}

Node *merge_row_axes(Node *n) {
    if (n->type.dtype == DT_tuple || n->type.rank < 3 || !begins_with_batch(n)) return NULL;
    switch (n->op) {
        case OP_matmul:
            return matmul(n);
        case OP_layer_normalization:
        case OP_rms_normalization:
            return norm(n);
        case OP_gather:
            return gather(n);
        case OP_reduce_sum:
        case OP_reduce_mean:
        case OP_reduce_max:
            return reduction(n);
        default:
            return op_is_elementwise(n->op) || n->op == OP_cast ? elementwise(n) : NULL;
    }
}
