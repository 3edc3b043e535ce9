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
#include "ir/convert.h"
#include "ir/operands.h"
#include "lower/select.h"

// --------------------------------------------------------------------------------------- the chain
// The views from the windows to the rows of the product, in order
enum { MOST_LINKS = 8, CHANNELS = 1, MOST_TAPS = 256, MOST_EPILOGUE = 8 };
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

// -------------------------------------------------------------------------- rows and their sums
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
    if (product->op != OP_matmul_packed) return false;
    const Node *pack = product->in[PRODUCT_WEIGHTS];
    return pack->op == OP_pack && dtype_is_float(pack->type.dtype);
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

// The strides of a constant through views, which may not be selected yet
static bool constant_strides(Lowering *l, const Node *n, View *v) {
    View from;
    if (n->op == OP_constant) {
        *v = view_contiguous(l, &n->type);
        return true;
    }
    return (n->op == OP_transpose || n->op == OP_reshape) && constant_strides(l, n->in[0], &from) &&
           view_derive(l, n, &from, v);
}

// A depthwise product: [.., C, pixels, taps] by weights [C, taps, 1], which are stored [taps, C]
static bool is_depthwise(Lowering *l, Node *product) {
    Node *w = product->in[1];
    const int rank = product->type.rank;
    int64_t channels, taps;
    if (product->op != OP_matmul || product->type.dtype != DT_f32 || w->type.rank != 3 ||
        rank < 3 || output_index(l->graph, product) >= 0)
        return false;
    View v;
    return constant_strides(l, w, &v) && dim_is(product->type.dim[rank - 1], 1) &&
           product->type.dim[rank - 3] == v.type.dim[0] && dim_is_const(v.type.dim[0], &channels) &&
           dim_is_const(v.type.dim[1], &taps) && taps <= MOST_TAPS && channels > 1 &&
           dim_is(v.stride[0], 1) && (taps == 1 || dim_is(v.stride[1], channels));
}

static bool is_read_by_depthwise(Lowering *l, const Node *rows) {
    if (rows->op != OP_reshape || rows->type.dtype != DT_f32 || rows->type.rank < 3 ||
        node_uses(rows) != rows->n_users)
        return false;
    for (int i = 0; i < rows->n_users; i++)
        if (rows->users[i]->in[0] != rows || rows->users[i]->op != OP_matmul ||
            !is_depthwise(l, rows->users[i]))
            return false;
    return rows->n_users > 0;
}

// Windows [.., C, out.., kernel..] as axes of pixels, then of taps; the channels are adjacent.
static bool depthwise_axes(Lowering *l, const View *v, const Node *rows, View *x, int *row_axes) {
    const int rank = rows->type.rank;
    const Dim *channels = rows->type.dim[rank - 3];
    int64_t taps;
    int channel = -1, tap, n_taps;
    if (!dim_is_const(rows->type.dim[rank - 1], &taps) || v->row_index || v->base == BASE_SCALAR)
        return false;
    const Dim *before = dim_const(l->graph, 1), *wanted = count_before(l, &rows->type, rank - 3);
    tap = first_tap_axis(v, taps);
    for (int i = 0; i < tap && channel < 0; i++) {
        if (before == wanted && v->type.dim[i] == channels) channel = i;
        before = dim_binary(l->graph, DIM_MUL, before, v->type.dim[i]);
    }
    if (channel < 0 || !dim_is(v->stride[channel], 1)) return false;
    View pixels = *v;
    int n = 0;
    for (int i = 0; i < tap; i++)
        if (i != channel) pixels.type.dim[n] = v->type.dim[i], pixels.stride[n++] = v->stride[i];
    *x = *v;
    x->type.rank = 0;
    *row_axes = add_axes(l->graph, x, &pixels, 0, n);
    n_taps = add_axes(l->graph, x, v, tap, v->type.rank);
    return *row_axes <= WINDOW_AXES && n_taps <= WINDOW_AXES;
}

static bool suits_depthwise(Lowering *l, const View *v, const Node *rows) {
    View x;
    int row_axes;
    return depthwise_axes(l, v, rows, &x, &row_axes);
}

// Derives the views of a chain from its value with the channels last, which is copied if it is
// stored otherwise; `suits` checks the last view first.
typedef bool SuitsFunction(Lowering *, const View *, const Node *rows);

static bool with_channels_last(Lowering *l, Node *last, const Node *rows, SuitsFunction *suits) {
    Chain c;
    if (l->program->rows || l->places || !find_chain(last, &c)) return false;
    if (suits(l, view_of(last), rows)) return true;
    Node *x = c.link[0]->in[0];
    const AxisOrder order = order_with_last(x->type.rank, CHANNELS);
    View from = view_operand(l, x);
    if (x->type.rank < 3 || from.base == BASE_SCALAR ||
        !derive_chain(l, &c, view_in_memory_order(l, &x->type, &order)) ||
        !suits(l, &c.view[c.n - 1], rows))
        return false;
    copy_in_order(l, x, from, &order);
    if (!derive_chain(l, &c, *view_of(x))) return false;
    for (int i = 0; i < c.n; i++) set_view(l, c.link[i], c.view[i]);
    return true;
}

static bool suits_products(Lowering *l, const View *v, const Node *rows) {
    View merged;
    int64_t depth;
    int row_axes;
    return dim_is_const(rows->type.dim[rows->type.rank - 1], &depth) &&
           merge_axes(l, v, depth, &merged, &row_axes);
}

bool leave_to_products(Lowering *l, Node *rows) {
    return (is_read_by_products(rows) &&
            with_channels_last(l, rows->in[0], rows, suits_products)) ||
           (is_read_by_depthwise(l, rows) &&
            with_channels_last(l, rows->in[0], rows, suits_depthwise));
}

// -------------------------------------------------------------------------------------- borders
// A pad of zeros around the two spatial axes of x [N, C, H, W] is not computed where convolutions
// alone read it: their kernels take zeros for taps outside x.
enum { BORDER_ROWS = 3, FEWEST_CHANNELS = 16, MOST_CHANNELS = 1024 };

static bool is_zero_pad(const Node *n) {
    int count;
    const Dim *const *low = attr_dims(n, "low", &count), *const *high =
                                                             attr_dims(n, "high", &count);
    const int64_t *interior = attr_ints(n, "interior", &count);
    const Node *x = n->in[0], *value = n->in[1];
    if (n->type.rank != 4 || n->type.dtype != DT_f32 || value->op != OP_constant || !value->value ||
        tensor_count(value->value) != 1 || x->op == OP_constant ||
        dtype_load(DT_f32, value->value->data, 0) != 0)
        return false;
    for (int i = 0; i < 4; i++) {
        int64_t first;
        bool none = dim_is(low[i], 0) && dim_is(high[i], 0);
        if ((interior && interior[i]) || (i < 2 && !none) || !dim_is_const(low[i], &first) ||
            first < 0 || dim_lower(high[i]) < 0)
            return false;
    }
    return true;
}

// Windows [N, C, out, out, kernel, kernel] of x, with the channels last: rows N, out, out and terms
// kernel, kernel, C
static View bordered_axes(Lowering *l, const Node *windows, View x) {
    int n;
    const int64_t *strides = attr_ints(windows, "strides", &n),
                  *dilations = attr_ints(windows, "dilations", &n);
    View v = x;
    v.type.rank = 6;
    for (int i = 0; i < 2; i++) {
        v.type.dim[1 + i] = windows->type.dim[2 + i], v.type.dim[3 + i] = windows->type.dim[4 + i];
        v.stride[1 + i] = dim_binary(l->graph, DIM_MUL, x.stride[2 + i],
                                     dim_const(l->graph, strides ? strides[i] : 1));
        v.stride[3 + i] = dim_binary(l->graph, DIM_MUL, x.stride[2 + i],
                                     dim_const(l->graph, dilations ? dilations[i] : 1));
    }
    v.type.dim[0] = x.type.dim[0], v.type.dim[5] = x.type.dim[1], v.stride[5] = x.stride[1];
    return v;
}

// Returns true if the axes of a view, but for those of one element, are these.
static bool has_axes(const View *v, const View *expected) {
    int i = 0, j = 0;
    for (;; i++, j++) {
        while (i < v->type.rank && dim_is(v->type.dim[i], 1)) i++;
        while (j < expected->type.rank && dim_is(expected->type.dim[j], 1)) j++;
        if (i == v->type.rank || j == expected->type.rank) break;
        if (v->type.dim[i] != expected->type.dim[j] || v->stride[i] != expected->stride[j])
            return false;
    }
    return i == v->type.rank && j == expected->type.rank;
}

// Returns true if the windows are read by products alone, in the order of bordered_axes.
static bool windows_suit(Lowering *l, Node *windows) {
    int axes;
    Node *at = windows;
    Chain c;
    attr_ints(windows, "kernel", &axes);
    while (at->op != OP_matmul_packed) {
        Node *user = node_only_user(at);
        if (at->op == OP_reshape && is_read_by_products(at)) break;
        if (!user || (user->op != OP_reshape && user->op != OP_transpose)) return false;
        at = user;
    }
    const AxisOrder order = order_with_last(4, CHANNELS);
    View padded = view_in_memory_order(l, &windows->in[0]->type, &order), rows;
    if (axes != 2 || at->op != OP_reshape || !find_chain(at->in[0], &c) ||
        !derive_chain(l, &c, padded) || view_derive(l, at, &c.view[c.n - 1], &rows))
        return false;
    const View expected = bordered_axes(l, windows, padded);
    return has_axes(&c.view[c.n - 1], &expected);
}

bool is_border(Lowering *l, const Node *pad) {
    int64_t channels;
    if (l->program->rows || l->places || !is_zero_pad(pad) || node_uses(pad) != pad->n_users ||
        !dim_is_const(pad->type.dim[CHANNELS], &channels) || channels < FEWEST_CHANNELS ||
        channels > MOST_CHANNELS)
        return false;
    for (int i = 0; i < pad->n_users; i++)
        if (pad->users[i]->op != OP_windows || !windows_suit(l, pad->users[i])) return false;
    return pad->n_users > 0;
}

// A border has the strides of the padded value, but no memory.
void select_pad(Lowering *l, Node *n) {
    const AxisOrder order = order_with_last(n->type.rank, CHANNELS);
    if (!l->borders[n->mark]) {
        select_nest(l, n);
        return;
    }
    View from = view_operand(l, n->in[0]);
    if (!dim_is(from.stride[CHANNELS], 1)) copy_in_order(l, n->in[0], from, &order);
    set_view(l, n, view_in_memory_order(l, &n->type, &order));
}

View windows_operand(Lowering *l, Node *rows, int *row_axes, const Node **border) {
    View merged;
    Chain c;
    if (find_chain(rows->in[0], &c) && c.link[0]->in[0]->op == OP_pad &&
        l->borders[c.link[0]->in[0]->mark]) {
        *border = c.link[0];
        *row_axes = BORDER_ROWS;
        return bordered_axes(l, c.link[0], *view_of(c.link[0]->in[0]->in[0]));
    }
    int64_t depth = dim_upper(rows->type.dim[rows->type.rank - 1]);
    merge_axes(l, view_of(rows->in[0]), depth, &merged, row_axes);
    return merged;
}

// --------------------------------------------------------------------------------------- depthwise
// The result of a depthwise product [.., C, pixels, 1] as it is stored: [pixels, C]
void select_matmul(Lowering *l, Node *n) {
    Node *rows = n->in[0], *last = view_of(rows)             ? rows
                                   : rows->op == OP_constant ? NULL
                                                             : rows->in[0];
    View x;
    int row_axes;
    if (!last || (last == rows &&
                  (!is_depthwise(l, n) || !with_channels_last(l, rows, rows, suits_depthwise)))) {
        select_nest(l, n);
        return;
    }
    depthwise_axes(l, view_of(last), rows, &x, &row_axes);
    const int rank = n->type.rank, channels = rank - 3;
    AxisOrder o = order_with_last(rank, channels);
    for (int i = channels; i + 1 < rank; i++) o.axis[i] = i + 1;
    const Type stored = type_in_order(&n->type, &o);
    const Dim *pixels = type_count(l->graph, &stored);
    pixels = dim_binary(l->graph, DIM_FLOORDIV, pixels, stored.dim[rank - 1]);
    Kernel *k = kernel_new(l, FAMILY_DEPTHWISE, n, 2);
    int *order = ARENA_ARRAY(l->arena, int, rank);
    memcpy(order, o.axis, (size_t)rank * sizeof *order);
    k->row_axes = row_axes, k->order = order;
    k->in[0] = x, k->in[1] = view_operand(l, n->in[1]);
    k->share = share_by(SHARE_OUTER, pixels);
    View y = view_contiguous(l, &(Type){DT_f32, 2, {pixels, stored.dim[rank - 1]}});
    y.base = BASE_BUFFER, y.buffer = buffer_new(l, &y.type, false);
    kernel_give(l, k, 0, NULL, y);
    View shaped = view_contiguous(l, &stored);
    shaped.base = BASE_BUFFER, shaped.buffer = y.buffer, shaped.own_part = true;
    set_view(l, n, view_out_of_order(&shaped, &o));
}

// ---- epilogues of depthwise convolutions: elementwise consumers, on the sums in registers

static bool is_sum_of(const Lowering *l, const Node *n, const Kernel *k) {
    for (; n != k->node; n = n->in[0])
        if (!shares_memory(n) || node_uses(n) != 1 || n->op == OP_slice || n->op == OP_expand ||
            n->op == OP_windows)
            return false;
    return node_uses(n) == 1 && output_index(l->graph, n) < 0;
}

// A number, a value for each channel, or rows like the result's
static bool epilogue_view(Lowering *l, const Kernel *k, View *v) {
    const View *y = &k->out[0];
    int last = v->type.rank - 1;
    if (v->type.dtype != DT_f32) return false;
    if (v->base == BASE_SCALAR || v->base == BASE_NONE) return v->base == BASE_SCALAR;
    View dense = view_contiguous(l, &v->type);
    bool by_channel = last >= 0 && dim_is(v->stride[last], 1), full = true;
    for (int i = 0; i <= last; i++) {
        bool one = dim_is(v->type.dim[i], 1);
        by_channel = by_channel && (i == last || one || dim_is(v->stride[i], 0));
        full = full && (one || v->stride[i] == dense.stride[i]);
    }
    if (!by_channel && !full) return false;
    v->type.rank = by_channel ? 1 : 2;
    v->type.dim[0] = y->type.dim[by_channel], v->type.dim[1] = y->type.dim[1];
    v->stride[0] = by_channel ? dim_const(l->graph, 1) : y->stride[0];
    v->stride[1] = dim_const(l->graph, 1);
    return true;
}

static const Expr *formula_of(Arena *a, const Node *n, const int *argument) {
    const Expr *e = attr_expr(n, "expr"), *args[MOST_EPILOGUE];
    for (int i = 0; i < n->n_in; i++) args[i] = expr_arg(a, argument[i]);
    return e ? expr_substitute(a, e, args) : expr_op(a, n->op, n->n_in, args);
}

bool join_depthwise(Lowering *l, Node *n, const View *ordered, const AxisOrder *o) {
    Program *p = l->program;
    Kernel *k = p->n_kernels ? p->kernels[p->n_kernels - 1] : NULL;
    View in[MOST_EPILOGUE + 2];
    int argument[MOST_EPILOGUE], n_in = 2, sum = -1;
    if (!k || k->family != FAMILY_DEPTHWISE || k->n_in > 2 || n->n_in > MOST_EPILOGUE ||
        n->type.dtype != DT_f32)
        return false;
    in[0] = k->in[0], in[1] = k->in[1];
    for (int i = 0; i < n->n_in; i++) {
        bool is_sum = ordered[i].base == BASE_BUFFER && ordered[i].buffer == k->out[0].buffer;
        if (is_sum && (sum >= 0 || !is_sum_of(l, n->in[i], k))) return false;
        View v = ordered[i];
        if (!epilogue_view(l, k, &v)) return false;
        argument[i] = is_sum ? 0 : n_in - 1;
        if (is_sum) sum = i;
        if (!is_sum) in[n_in++] = v;
    }
    if (sum < 0) return false;
    Node *with = ARENA_NEW(l->arena, Node);
    *with = *k->node;
    with->attrs = NULL;
    attr_set_expr(with, "epilogue", formula_of(l->arena, n, argument));
    int *order = ARENA_ARRAY(l->arena, int, o->rank);
    memcpy(order, o->axis, (size_t)o->rank * sizeof *order);
    k->attrs = with->attrs, k->order = order, k->node = n, k->n_in = n_in;
    k->in = ARENA_ARRAY(l->arena, View, n_in);
    memcpy(k->in, in, (size_t)n_in * sizeof *in);
    const Type stored = type_in_order(&n->type, o);
    View y = view_contiguous(l, &stored);
    y.base = BASE_BUFFER, y.buffer = k->out[0].buffer;
    set_view(l, n, view_out_of_order(&y, o));
    return true;
}
