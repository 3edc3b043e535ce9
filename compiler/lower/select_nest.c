// Ops without a tuned kernel: a loop nest printed from the op's meaning (codegen/nest.c), and the
// ranges of its threads.
#include "lower/select.h"

// Returns true if row r of the result needs only row r of the operands: the op's row behaviour,
// provided that its axes exclude axis 0.
static bool nest_is_by_rows(const Node *n) {
    if (!n->type.rank) return false;
    switch (op_info[n->op].rows) {
        case ROWS_EACH:
            return true;
        case ROWS_INDEX:
            return n->in[1]->type.rank >= 1 && attr_int(n, "axis", 0) == 0;
        case ROWS_VIEW:
            return n->op == OP_slice && attr_int(n, "axis", 0) != 0;
        case ROWS_INNER: {
            const Attr *axes = attr_find(n, "axes");
            if (!axes) return attr_int(n, "axis", -1) != 0;
            for (int i = 0; i < axes->n; i++)
                if (axes->ints[i] == 0) return false;
            return true;
        }
        default:
            return false;
    }
}

// Without rows, threads share all axes but the last; a softmax along another axis is shared by the
// axes before it. An op that runs along one axis is shared by the axes before it; a scatter by
// positions is one thread's.
static int64_t outer_axes(const Node *n) {
    if (n->op == OP_scatter_nd || n->op == OP_size) return 0;
    if (n->op == OP_cum_sum || n->op == OP_cum_prod || n->op == OP_scatter_elements)
        return node_axis(n);
    int64_t axis = n->op == OP_softmax ? node_axis(n) : n->type.rank - 1;
    if (n->op == OP_softmax && axis != n->type.rank - 1) return axis > 0 ? 1 : 0;
    return axis < 0 ? 0 : axis;
}

static bool is_pointwise(const Node *n) {
    return op_is_elementwise(n->op) || n->op == OP_elementwise;
}

// Returns true if a unit of the nest reads only the operand elements at the positions of its
// result.
static bool reads_in_step(const Node *n, const View *v) {
    int n_axes;
    const int64_t *axes = attr_ints(n, "axes", &n_axes);
    Type cast = v->type;
    cast.dtype = n->type.dtype;
    if (v->base != BASE_BUFFER || !view_is_contiguous(n->graph, v)) return false;
    if (is_pointwise(n) || n->op == OP_cast) return type_equal(&cast, &n->type);
    bool reduces = op_info[n->op].eval == op_info[OP_reduce_sum].eval && n->type.rank > 1 &&
                   n->type.rank == v->type.rank;
    return reduces && n_axes == 1 && axes[0] == n->type.rank - 1;
}

static void share_nest(Lowering *l, Kernel *k, const Node *n) {
    bool rows = is_rows(l, &n->type) && nest_is_by_rows(n);
    k->share = rows ? share_by(SHARE_ROWS, n->type.dim[0])
                    : share_by(SHARE_OUTER, count_before(l, &n->type, outer_axes(n)));
    k->replicated_if_one_row = rows && output_index(l->graph, n) < 0;
    if (dtype_bits(n->type.dtype) < 8)
        k->share = share_by(SHARE_OUTER, dim_const(l->graph, 1));  // bytes that elements share
    if (n->op == OP_concat && !rows) k->share.count = count_before(l, &n->type, node_axis(n));
    for (int i = 0; i < k->n_in; i++) {
        const Type *type = &k->in[i].type;
        bool same_rows = rows && type->rank == n->type.rank && type->dim[0] == n->type.dim[0] &&
                         n->op != OP_gather;
        k->in[i].own_part = same_rows || reads_in_step(n, &k->in[i]);
    }
}

// Nests that print a formula have a scalar in their text; so have concatenations and the value of a
// pad. All others read memory.
static bool reads_scalar(const Node *n, int i) {
    return is_pointwise(n) || n->op == OP_cast || n->op == OP_concat || (n->op == OP_pad && i == 1);
}

void select_nest(Lowering *l, Node *n) {
    View read[n->n_in + 1];
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i] && n->in[i]->op == OP_pack)
            diag_fatal(n->loc, "%s has no kernel that reads packed weights\nnote: %%%s",
                       op_info[n->op].name, n->name);
    }
    for (int i = 0; i < n->n_in; i++)
        read[i] = !n->in[i]            ? (View){0}
                  : reads_scalar(n, i) ? view_operand(l, n->in[i])
                                       : memory_operand(l, n->in[i]);
    Kernel *k = kernel_new(l, FAMILY_NEST, n, n->n_in);
    for (int i = 0; i < n->n_in; i++) k->in[i] = read[i];
    share_nest(l, k, n);
    for (int i = 0; is_pointwise(n) && i < n->n_in; i++) {
        if (!may_overwrite(l, n->in[i], k, &n->type)) continue;
        kernel_give(l, k, 0, n, *view_of(n->in[i]));
        return;
    }
    kernel_give(l, k, 0, n, view_result(l, n, &n->type, k->replicated_if_one_row));
}

// values and indices: two results of the same shape
void select_top_k(Lowering *l, Node *n) {
    View x = memory_operand(l, n->in[0]);
    Kernel *k = kernel_new(l, FAMILY_NEST, n, 1);
    k->in[0] = x;
    bool rows = is_rows(l, &n->items[0]) && node_axis(n) == 1 && n->items[0].rank == 2;
    k->share = rows ? share_rows(l, &n->items[0])
                    : share_by(SHARE_OUTER, count_before(l, &n->items[0], node_axis(n)));
    k->replicated_if_one_row = rows && output_index(l->graph, item_of(n, 0)) < 0 &&
                               output_index(l->graph, item_of(n, 1)) < 0;
    k->in[0].own_part = rows;
    for (int i = 0; i < 2; i++) {
        Node *item = item_of(n, i);
        kernel_give(l, k, i, item,
                    view_result(l, item ? item : n, &n->items[i], k->replicated_if_one_row));
    }
}
