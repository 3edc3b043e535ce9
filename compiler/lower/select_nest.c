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

// ---------------------------------------------------------------------------------- memory orders
static bool is_full(const Node *n, const View *v) {
    if (v->type.rank != n->type.rank || v->base == BASE_SCALAR || v->base == BASE_NONE)
        return false;
    for (int i = 0; i < v->type.rank; i++) {
        bool one = dim_is(n->type.dim[i], 1);
        if (n->op == OP_concat && i == node_axis(n)) continue;
        if (n->op != OP_pad && v->type.dim[i] != n->type.dim[i]) return false;
        if (!one && dim_is(v->stride[i], 0)) return false;
    }
    return true;
}

// ---- reductions: kept axes in the order of memory, reduced ones where they are

static bool is_reduction(const Node *n) {
    return op_info[n->op].eval == op_info[OP_reduce_sum].eval && n->type.dtype == DT_f32 &&
           n->in[0]->type.dtype == DT_f32;
}

static bool is_reduced(const Node *n, int axis) {
    int count;
    const int64_t *axes = attr_ints(n, "axes", &count);
    for (int i = 0; i < count; i++)
        if (axes[i] == axis) return true;
    return !count;
}

// The axis of the operand that axis `result` of the result is
static int operand_axis(const Node *n, int result) {
    if (attr_int(n, "keepdims", 1)) return result;
    int axis = 0;
    for (; is_reduced(n, axis) || result; axis++) result -= !is_reduced(n, axis);
    return axis;
}

// The operand's kept axes, as the result has them
static View kept_axes(const Node *n, const View *v) {
    View kept = *v;
    kept.type.rank = n->type.rank;
    for (int i = 0; i < n->type.rank; i++) {
        kept.type.dim[i] = n->type.dim[i];
        kept.stride[i] = v->stride[operand_axis(n, i)];
    }
    return kept;
}

static View reduced_operand(const Node *n, const View *v, const AxisOrder *o) {
    AxisOrder all = {.rank = v->type.rank};
    for (int i = 0; i < all.rank; i++) all.axis[i] = i;
    for (int i = 0; i < o->rank; i++)
        if (!is_reduced(n, operand_axis(n, i)))
            all.axis[operand_axis(n, i)] = operand_axis(n, o->axis[i]);
    return view_in_order(v, &all);
}

// Units of a reduction are the axes before the last of more than one element: its vectors are
// along that one.
static const Dim *reduction_units(Lowering *l, const Type *type) {
    int last = type->rank - 1;
    while (last > 0 && dim_is(type->dim[last], 1)) last--;
    return count_before(l, type, last < 0 ? 0 : last);
}

// The order that all operands of the result's shape are stored in. Graphs over rows keep theirs:
// rows come first.
static bool order_of_operands(const Lowering *l, const Node *n, const View *read,
                              AxisOrder *order) {
    bool found = false;
    if (is_reduction(n) && !l->program->rows && !l->places && output_index(l->graph, n) < 0 &&
        n->type.rank && read[0].base != BASE_SCALAR) {
        const View kept = kept_axes(n, &read[0]);
        *order = order_of(&kept);
        return !order_is_plain(order);
    }
    bool follows = is_pointwise(n) || n->op == OP_cast || n->op == OP_pad || n->op == OP_concat;
    if (!follows || l->program->rows || l->places || output_index(l->graph, n) >= 0 ||
        dtype_bits(n->type.dtype) < 8)
        return false;
    for (int i = 0; i < n->n_in; i++) {
        if (!is_full(n, &read[i])) continue;
        AxisOrder o = order_of(&read[i]);
        if (found && memcmp(&o, order, sizeof o)) return false;
        *order = o, found = true;
    }
    return found && !order_is_plain(order);
}

static void reorder_dims(Node *n, const char *name, const AxisOrder *o) {
    int count;
    const Dim *moved[MAX_RANK], *const *dims = attr_dims(n, name, &count);
    if (!dims) return;
    for (int i = 0; i < count; i++) moved[i] = dims[o->axis[i]];
    attr_set_dims(n, name, moved, count);
}

static void reorder_ints(Node *n, const char *name, const AxisOrder *o) {
    int count;
    int64_t moved[MAX_RANK];
    const int64_t *ints = attr_ints(n, name, &count);
    if (!ints) return;
    for (int i = 0; i < count; i++) moved[i] = ints[o->axis[i]];
    attr_set_ints(n, name, moved, count);
}

// A copy of the node with its axes in the order of memory, for the kernel
static Node *node_in_order(Lowering *l, const Node *n, const AxisOrder *o) {
    Node *m = ARENA_NEW(l->arena, Node);
    *m = *n;
    m->attrs = NULL;
    attr_copy(m, n);
    m->type = type_in_order(&n->type, o);
    if (n->op == OP_pad) reorder_dims(m, "low", o), reorder_dims(m, "high", o);
    if (n->op == OP_pad) reorder_ints(m, "interior", o);
    for (int i = 0; n->op == OP_concat && i < o->rank; i++)
        if (o->axis[i] == node_axis(n)) attr_set_int(m, "axis", i);
    return m;
}

static View operand_in_order(Lowering *l, const Node *n, const View *v, const AxisOrder *o) {
    if (v->base == BASE_SCALAR || v->base == BASE_NONE || !v->type.rank) return *v;
    if (n->op == OP_pad || n->op == OP_concat) return view_in_order(v, o);
    if (is_reduction(n)) return reduced_operand(n, v, o);
    Type shape = n->type;
    shape.dtype = v->type.dtype;
    View full = view_broadcast(l, *v, &shape);
    return view_in_order(&full, o);
}

// A result that is stored in the order of the operands, so that its kernel goes through memory.
static void select_ordered(Lowering *l, Node *n, const View *read, const AxisOrder *o) {
    Node *seen = node_in_order(l, n, o);
    View in[n->n_in + 1];
    for (int i = 0; i < n->n_in; i++) in[i] = operand_in_order(l, n, &read[i], o);
    if (is_pointwise(n) && join_depthwise(l, n, in, o)) return;
    Kernel *k = kernel_new(l, FAMILY_NEST, n, n->n_in);
    int *order = ARENA_ARRAY(l->arena, int, o->rank);
    memcpy(order, o->axis, (size_t)o->rank * sizeof *order);
    k->attrs = seen->attrs, k->order = order;
    memcpy(k->in, in, (size_t)n->n_in * sizeof *in);
    share_nest(l, k, seen);
    if (is_reduction(n))
        k->share = share_by(SHARE_OUTER, reduction_units(l, &seen->type)),
        k->in[0].own_part = false;
    View result = {0};
    for (int i = 0; is_pointwise(n) && i < n->n_in && !result.buffer; i++)
        if (may_overwrite_view(l, n->in[i], &k->in[i], k, &seen->type)) result = k->in[i];
    if (!result.buffer) {
        result = view_contiguous(l, &seen->type);
        result.base = BASE_BUFFER, result.buffer = buffer_new(l, &seen->type, false);
    }
    kernel_give(l, k, 0, NULL, result);
    set_view(l, n, view_out_of_order(&result, o));
}

void select_nest(Lowering *l, Node *n) {
    View read[n->n_in + 1];
    AxisOrder order;
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i] && n->in[i]->op == OP_pack)
            diag_fatal(n->loc, "%s has no kernel that reads packed weights\nnote: %%%s",
                       op_info[n->op].name, n->name);
    }
    for (int i = 0; i < n->n_in; i++)
        read[i] = !n->in[i]            ? (View){0}
                  : reads_scalar(n, i) ? view_operand(l, n->in[i])
                                       : memory_operand(l, n->in[i]);
    if (order_of_operands(l, n, read, &order)) {
        select_ordered(l, n, read, &order);
        return;
    }
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
