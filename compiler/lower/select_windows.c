// Convolutions: products whose rows are windows of a value. The windows are read where they are,
// never copied:
//
//   %w = windows(%x) {kernel=[3, 3]} : f32[1, 64, 16, 16, 3, 3]  view of %x
//   %t = transpose(%w) : f32[16, 16, 3, 3, 64]  view, strides [1152, 64, 1152, 64, 1]
//   %r = reshape(%t) {shape=[256, 576]}         no strides: left to the product
//   %y = matmul_packed(%r, %pack)               rows [16, 16], sums over [3, 192]
//
// The innermost axis of the sum must be adjacent in memory. Where it is not (channels of an image
// of the caller), the value before the windows is copied once with its channels last.
#include "ir/operands.h"
#include "lower/select.h"

// --------------------------------------------------------------------------------------- the chain
// The views from the windows to the rows of the product, in order
enum { MOST_LINKS = 8, CHANNELS = 1 };
typedef struct Chain {
    int n;
    Node *link[MOST_LINKS];  // windows first
    View view[MOST_LINKS];
} Chain;

static bool is_link(const Node *n) {
    return n->op == OP_reshape || n->op == OP_transpose || n->op == OP_slice || n->op == OP_windows;
}

static bool find_chain(Node *last, Chain *c) {
    Node *nodes[MOST_LINKS];
    int n = 0;
    for (Node *at = last;; at = at->in[0]) {
        if (n == MOST_LINKS || !is_link(at)) return false;
        nodes[n++] = at;
        if (at->op == OP_windows) break;
    }
    c->n = n;
    for (int i = 0; i < n; i++) c->link[i] = nodes[n - 1 - i];
    return true;
}

static bool derive_chain(Lowering *l, Chain *c, View from) {
    for (int i = 0; i < c->n; i++) {
        if (!view_derive(l, c->link[i], &from, &c->view[i])) return false;
        from = c->view[i];
    }
    return true;
}

// ------------------------------------------------------------------------------ rows and their sums
// Adds an axis, or extends the last one by it.
static void add_axis(Graph *g, View *v, int from, const Dim *extent, const Dim *stride) {
    int last = v->type.rank - 1;
    if (dim_is(extent, 1)) return;
    if (last >= from && v->stride[last] == dim_binary(g, DIM_MUL, stride, extent)) {
        v->type.dim[last] = dim_binary(g, DIM_MUL, v->type.dim[last], extent);
        v->stride[last] = stride;
        return;
    }
    v->type.dim[v->type.rank] = extent;
    v->stride[v->type.rank++] = stride;
}

// Adds axes [first, end) of a view, at least one.
static int add_axes(Graph *g, View *to, const View *v, int first, int end) {
    int from = to->type.rank;
    for (int i = first; i < end; i++) add_axis(g, to, from, v->type.dim[i], v->stride[i]);
    if (to->type.rank == from) {
        to->type.dim[from] = dim_const(g, 1);
        to->stride[to->type.rank++] = dim_const(g, 1);
    }
    return to->type.rank - from;
}

// The trailing axes that make up a sum of `depth` terms begin here; -1: none do.
static int first_tap_axis(const View *v, int64_t depth) {
    int64_t count = 1, extent;
    int axis = v->type.rank;
    while (axis > 0 && count < depth) {
        if (!dim_is_const(v->type.dim[axis - 1], &extent) || !extent) return -1;
        count *= extent, axis--;
    }
    return count == depth ? axis : -1;
}

// The rows of a product as few axes: those of the rows, then those of the sums
static bool merge_axes(Lowering *l, const View *v, int64_t depth, View *merged, int *row_axes) {
    int axis = first_tap_axis(v, depth), taps;
    if (axis < 0 || v->row_index || v->base == BASE_SCALAR) return false;
    *merged = *v;
    merged->type.rank = 0;
    *row_axes = add_axes(l->graph, merged, v, 0, axis);
    taps = add_axes(l->graph, merged, v, axis, v->type.rank);
    return *row_axes <= WINDOW_AXES && taps <= WINDOW_AXES &&
           dim_is(merged->stride[merged->type.rank - 1], 1);
}

// ---------------------------------------------------------------------------------------- products
static bool multiplies_floats(const Node *product) {
    const Node *pack = product->in[PRODUCT_WEIGHTS];
    return product->op == OP_matmul_packed && pack->op == OP_pack &&
           dtype_is_float(pack->type.dtype);
}

// Returns true if only products of floats read it, as their rows.
static bool is_read_by_products(const Node *rows) {
    if (rows->op != OP_reshape || rows->type.dtype != DT_f32 || node_uses(rows) != rows->n_users)
        return false;
    for (int i = 0; i < rows->n_users; i++)
        if (!multiplies_floats(rows->users[i]) || rows->users[i]->in[PRODUCT_X] != rows)
            return false;
    return rows->n_users > 0;
}

bool leave_to_products(Lowering *l, Node *rows) {
    Chain c;
    View merged;
    int64_t depth;
    int row_axes;
    if (l->program->rows || l->places || !is_read_by_products(rows) ||
        !dim_is_const(rows->type.dim[rows->type.rank - 1], &depth) || !find_chain(rows->in[0], &c))
        return false;
    if (merge_axes(l, view_of(rows->in[0]), depth, &merged, &row_axes)) return true;
    Node *x = c.link[0]->in[0];
    const AxisOrder order = order_with_last(x->type.rank, CHANNELS);
    View from = view_operand(l, x);
    if (x->type.rank < 3 || from.base == BASE_SCALAR ||
        !derive_chain(l, &c, view_in_memory_order(l, &x->type, &order)) ||
        !merge_axes(l, &c.view[c.n - 1], depth, &merged, &row_axes))
        return false;
    copy_in_order(l, x, from, &order);
    if (!derive_chain(l, &c, *view_of(x))) return false;
    for (int i = 0; i < c.n; i++) set_view(l, c.link[i], c.view[i]);
    return true;
}

View windows_operand(Lowering *l, Node *rows, int *row_axes) {
    View merged;
    int64_t depth = dim_upper(rows->type.dim[rows->type.rank - 1]);
    merge_axes(l, view_of(rows->in[0]), depth, &merged, row_axes);
    return merged;
}
