// A leading axis of extent 1 (one text, one picture) carries no information: nodes work without it.
//
//   before   %y = add(%x, %b) : f32[1, T, 64]          after   %r = reshape(%x) {shape=[T, 64]}
//                                                              %a = add(%r, %b) : f32[T, 64]
//                                                              %y = reshape(%a) {shape=[1, T, 64]}
//
// Reshapes of neighbours cancel. Weights and reductions keep their ones: only the first axis of
// values of three axes and more is dropped, and that of lists of indices. Slices need nothing here:
// simplify_views moves them after the reshape.
#include "ir/operands.h"
#include "passes/simplify/simplify.h"

static bool is_one(const Dim *d) { return dim_is(d, 1); }

static bool has_unit(const Type *t) { return t->rank > 0 && is_one(t->dim[0]); }

static Node *without_first(Node *x, Node *before) {
    return build_reshape(cursor(before), x, x->type.rank - 1, x->type.dim + 1);
}

// Operands as long as the result lose their first axis with it; shorter ones broadcast as before.
static bool drop_from_operands(Node *n, Node **in, int rank) {
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i] || (n->in[i]->type.rank == rank && !has_unit(&n->in[i]->type))) return false;
    }
    for (int i = 0; i < n->n_in; i++)
        in[i] = n->in[i]->type.rank == rank ? without_first(n->in[i], n) : n->in[i];
    return true;
}

// The axes of an attribute, each one less; false if the first axis is one of them.
static bool shift_axes(const Node *n, const char *name, int64_t *axes, int *count) {
    const Attr *a = attr_find(n, name);
    *count = !a ? 0 : a->kind == ATTR_INT ? 1 : a->n;
    for (int i = 0; i < *count; i++) {
        axes[i] = (a->kind == ATTR_INT ? a->i : a->ints[i]) - 1;
        if (axes[i] < 0) return false;
    }
    return true;
}

static void set_axes(Node *n, const int64_t *axes, int count) {
    const Attr *axis = attr_find(n, "axis");
    if (axis && count) attr_set_int(n, "axis", axes[0]);
    if (attr_find(n, "axes")) attr_set_ints(n, "axes", axes, count);
}

static Node *again(Node *n, Node *const *in, const int64_t *axes, int count) {
    Node *by = node_again(n, n->op, n->n_in, in, n);
    set_axes(by, axes, count);
    return build_reshape(cursor(n), inferred(by), n->type.rank, n->type.dim);
}

static Node *on_first_operand(Node *n, const char *axis_name) {
    enum { MOST_OPERANDS = 16 };
    Node *in[MOST_OPERANDS];
    int64_t axes[MAX_RANK];
    int count = 0, rank = n->in[0]->type.rank;
    bool has_axes = axis_name && attr_find(n, axis_name);
    if (n->n_in > MOST_OPERANDS || rank < 3 || !has_unit(&n->in[0]->type)) return NULL;
    if (has_axes && !shift_axes(n, axis_name, axes, &count)) return NULL;
    return drop_from_operands(n, in, rank) ? again(n, in, axes, count) : NULL;
}

static Node *elementwise(Node *n) {
    Node *in[3];
    return n->n_in <= 3 && drop_from_operands(n, in, n->type.rank) ? again(n, in, NULL, 0) : NULL;
}

static Node *norm(Node *n) {
    Node *in[NORM_OPERANDS];
    for (int i = 0; i < n->n_in; i++) in[i] = n->in[i];
    in[NORM_X] = without_first(in[NORM_X], n);
    return in[NORM_WEIGHT]->type.rank == 1 ? again(n, in, NULL, 0) : NULL;
}

static Node *matmul(Node *n) {
    Node *in[2] = {n->in[0], n->in[1]};
    int rank = n->type.rank;
    if (n->in[0]->type.rank != rank && n->in[1]->type.rank != rank) return NULL;
    return drop_from_operands(n, in, rank) ? again(n, in, NULL, 0) : NULL;
}

// The first axis is that of the table's, or that of the indices.
static Node *gather(Node *n) {
    Node *in[2] = {n->in[0], n->in[1]};
    int64_t axis = node_axis(n);
    if (axis == 0 && in[1]->type.rank > 1 && has_unit(&in[1]->type))
        in[1] = without_first(in[1], n);
    else if (axis > 0 && in[0]->type.rank > 2 && has_unit(&in[0]->type))
        in[0] = without_first(in[0], n), axis--;
    else
        return NULL;
    return again(n, in, &axis, 1);
}

static Node *transpose(Node *n) {
    int rank;
    int64_t shorter[MAX_RANK];
    const int64_t *perm = attr_ints(n, "perm", &rank);
    if (perm[0] || rank < 3) return NULL;
    for (int i = 1; i < rank; i++) shorter[i - 1] = perm[i] - 1;
    return build_reshape(cursor(n), build_transpose(cursor(n), without_first(n->in[0], n), shorter),
                         rank, n->type.dim);
}

static Node *expand(Node *n) {
    Node *x = n->in[0];
    if (x->type.rank == n->type.rank && x->op != OP_reshape)
        return NULL;  // it is the shortest chain already
    if (x->type.rank == n->type.rank) x = without_first(x, n);
    return build_reshape(cursor(n), build_expand(cursor(n), x, n->type.rank - 1, n->type.dim + 1),
                         n->type.rank, n->type.dim);
}

static Node *iota(Node *n) {
    int axis = node_axis(n);
    if (axis == 0) return NULL;
    Node *by = build_iota(cursor_at(n, n->loc), n->type.rank - 1, n->type.dim + 1, axis - 1);
    return build_reshape(cursor(n), by, n->type.rank, n->type.dim);
}

// One of top_k's results
static Node *item(Node *n) {
    Node *top = n->in[0], *x = top->op == OP_top_k ? top->in[0] : NULL;
    int64_t axis;
    int count;
    if (!x || !has_unit(&x->type) || !shift_axes(top, "axis", &axis, &count) || !count) return NULL;
    Node *in = without_first(x, n), *by = node_again(top, OP_top_k, 1, &in, n);
    set_axes(by, &axis, 1);
    by = node_item(n->graph, inferred(by), (int)attr_int(n, "index", 0), n);
    return build_reshape(cursor(n), by, n->type.rank, n->type.dim);
}

Node *drop_unit_axis(Node *n) {
    if (n->type.dtype == DT_tuple || n->type.rank < 3 || !has_unit(&n->type)) return NULL;
    switch (n->op) {
        case OP_layer_normalization:
        case OP_rms_normalization:
            return norm(n);
        case OP_matmul:
            return matmul(n);
        case OP_gather:
            return gather(n);
        case OP_transpose:
            return transpose(n);
        case OP_expand:
            return expand(n);
        case OP_iota:
            return iota(n);
        case OP_item:
            return item(n);
        case OP_softmax:
        case OP_concat:
        case OP_gather_elements:
        case OP_scatter_elements:
            return on_first_operand(n, "axis");
        case OP_reduce_sum:
        case OP_reduce_mean:
        case OP_reduce_max:
        case OP_reduce_min:
            return on_first_operand(n, "axes");
        case OP_cast:
            return elementwise(n);
        default:
            return op_is_elementwise(n->op) ? elementwise(n) : NULL;
    }
}
