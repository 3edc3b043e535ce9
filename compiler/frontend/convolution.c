// Convolutions: windows over the spatial axes (a view of the padded input), then a product.
//
//   [N, C, in..]  ->  windows [N, C, out.., kernel..] as rows [N, G, out, kernel * C/G]
//                     times weights [G, kernel * C/G, M/G]  ->  [N, M, out..]
//
// ONNX's importer and the builtins `convolve` and `convolve_transposed` of descriptions make the
// same nodes, so that lowering knows one form.
#include "frontend/convolution.h"

#include "ir/eval/eval.h"

void window_without_pads(Graph *g, Window *w) {
    for (int i = 0; i < MAX_RANK; i++)
        w->pads.low[i] = w->pads.high[i] = w->ceil_rest[i] = dim_const(g, 0);
}

// ------------------------------------------------------------------------------------------- views
Node *build_swap(Builder b, Node *x, int axis, int other) {
    int64_t perm[MAX_RANK];
    for (int i = 0; i < x->type.rank; i++) perm[i] = i == axis ? other : i == other ? axis : i;
    return build_transpose(b, x, perm);
}

Node *build_reverse(Builder b, Node *x, int axis) {
    const Dim *extent = x->type.dim[axis], *start = dim_sub(b.graph, extent, dim_const(b.graph, 1));
    return build_slice(b, x, (Slice){axis, start, extent, -1});
}

// The result's size is the sum of size and pads, without the minima and maxima of both steps: later
// equations need it in this form.
Node *build_pad(Builder b, Node *x, const PadDims *p, Node *value) {
    Graph *g = b.graph;
    const Dim *zero = dim_const(g, 0), *added[2][MAX_RANK];
    bool nothing = true;
    for (int i = 0; i < x->type.rank; i++) {
        added[0][i] = dim_binary(g, DIM_MAX, p->low[i], zero),
        added[1][i] = dim_binary(g, DIM_MAX, p->high[i], zero);
        nothing = nothing && added[0][i] == zero && added[1][i] == zero && !p->interior[i];
    }
    if (!nothing) {
        Node *n = build_begin(b, OP_pad, 2, (Node *[]){x, value});
        attr_set_dims(n, "low", added[0], x->type.rank);
        attr_set_dims(n, "high", added[1], x->type.rank);
        attr_set_ints(n, "interior", p->interior, x->type.rank);
        x = build_end(b, n);
    }
    for (int i = 0; i < x->type.rank; i++) {
        const Dim *first = dim_sub(g, zero, dim_binary(g, DIM_MIN, p->low[i], zero));
        const Dim *both = dim_binary(g, DIM_ADD, p->low[i], p->high[i]);
        const Dim *grown = dim_binary(g, DIM_ADD, added[0][i], added[1][i]);
        const Dim *extent = dim_binary(g, DIM_ADD, dim_sub(g, x->type.dim[i], grown), both);
        if (extent != x->type.dim[i]) x = build_slice(b, x, (Slice){i, first, extent, 1});
    }
    return x;
}

static bool is_window_of_one(const Window *w) {
    for (int i = 0; i < w->spatial; i++)
        if (w->kernel[i] != 1 || w->strides[i] != 1) return false;
    return true;
}

// Windows of one element: only the axes of the kernel are new.
static Node *single_windows(Builder b, Node *x, const Window *w) {
    const Dim *dims[MAX_RANK];
    int rank = x->type.rank;
    for (int i = 0; i < rank + w->spatial; i++)
        dims[i] = i < rank ? x->type.dim[i] : dim_const(b.graph, 1);
    return build_reshape(b, x, rank + w->spatial, dims);
}

Node *build_windows(Builder b, Node *x, const Window *w) {
    if (is_window_of_one(w)) return single_windows(b, x, w);
    Node *n = build_begin(b, OP_windows, 1, &x);
    attr_set_ints(n, "kernel", w->kernel, w->spatial);
    attr_set_ints(n, "strides", w->strides, w->spatial);
    attr_set_ints(n, "dilations", w->dilations, w->spatial);
    n = build_end(b, n);
    int axis = x->type.rank - w->spatial;
    for (int i = 0; i < w->spatial; i++) {
        dim_raise(n->type.dim[axis + i], 1);  // less than a window has no result
        // Padding by maxima hides that two such axes are equal: all of it, under the plain name of
        // its size.
        if (w->count[i] && w->count[i] != n->type.dim[axis + i])
            n = build_slice(b, n, (Slice){axis + i, dim_const(b.graph, 0), w->count[i], 1});
    }
    return n;
}

// ------------------------------------------------------------------------------------ convolutions
// [N, C, out.., kernel..] to [N, G, out, kernel * C/G]: sums run over the taps, and for each tap
// over the channels, which are adjacent in memory where results of products are
static Node *window_rows(Builder b, Node *x, int spatial, int64_t groups) {
    Graph *g = b.graph;
    int64_t perm[MAX_RANK];
    const Dim *dims[4] = {x->type.dim[0], dim_const(g, groups), dim_const(g, 1), NULL};
    const Dim *depth = dim_binary(g, DIM_FLOORDIV, x->type.dim[1], dims[1]);
    for (int i = 0; i < spatial; i++) {
        dims[2] = dim_binary(g, DIM_MUL, dims[2], x->type.dim[2 + i]);
        depth = dim_binary(g, DIM_MUL, depth, x->type.dim[2 + spatial + i]);
    }
    dims[3] = depth;
    if (groups == 1) {  // N, out.., kernel.., C
        for (int i = 0; i < x->type.rank; i++)
            perm[i] = i == 0 ? 0 : i + 1 < x->type.rank ? i + 1 : 1;
        return build_reshape(b, build_transpose(b, x, perm), 4, dims);
    }
    // one spatial axis more is needed for the groups: the windows are made a matrix of positions by
    // taps first
    const Dim *taps = dim_const(g, 1);
    for (int i = 0; i < spatial; i++)
        taps = dim_binary(g, DIM_MUL, taps, x->type.dim[2 + spatial + i]);
    const Dim *split[5] = {dims[0], dims[1], dim_binary(g, DIM_FLOORDIV, x->type.dim[1], dims[1]),
                           dims[2], taps};
    Node *grouped = build_reshape(b, x, 5, split);
    return build_reshape(b, build_transpose(b, grouped, (int64_t[]){0, 1, 3, 4, 2}), 4, dims);
}

// A weight of the file in another order of its axes: computed now, under its name.
static Node *reordered_weight(Builder b, Node *w, Node *view) {
    const Tensor *value = w->value && w->value->data ? eval_constant_node(view) : NULL;
    if (!value) return view;
    Tensor *t = ARENA_NEW(b.graph->arena, Tensor);
    *t = *value;
    t->name = w->value->name;
    return node_constant(b.graph, t, view->loc, b.before);
}

// [M, C/G, kernel..] to [M, kernel.., C/G]. Casts and zero points stay around the constant.
static Node *taps_first(Builder b, Node *w) {
    int64_t perm[MAX_RANK] = {0};
    if (w->op == OP_cast) return build_cast(b, taps_first(b, w->in[0]), w->type.dtype);
    if (w->op == OP_sub && w->in[0]->type.rank == w->type.rank)
        return build_binary(b, OP_sub, taps_first(b, w->in[0]), w->in[1]);
    for (int i = 1; i < w->type.rank; i++) perm[i] = i + 1 < w->type.rank ? i + 1 : 1;
    Node *view = build_transpose(b, w, perm);
    return w->op == OP_constant ? reordered_weight(b, w, view) : view;
}

// One tap a channel, [M, 1, kernel..] to [M, kernel, 1]. A constant is stored [kernel, M], as f32:
// channels are adjacent, as in memory.
static Node *depthwise_columns(Builder b, Node *w) {
    int64_t perm[MAX_RANK] = {0};
    const int rank = w->type.rank;
    const Dim *taps = dim_const(b.graph, 1);
    if (w->op == OP_cast && w->in[0]->op == OP_constant && w->type.dtype == DT_f32)
        w = reordered_weight(b, w->in[0], w);
    for (int i = 2; i < rank; i++) taps = dim_binary(b.graph, DIM_MUL, taps, w->type.dim[i]);
    for (int i = 0; i < rank; i++) perm[i] = i + 2 < rank ? i + 2 : rank - 1 - i;
    Node *view = build_transpose(b, w, perm);
    if (w->op == OP_constant) view = reordered_weight(b, w, view);
    const Dim *dims[] = {taps, w->type.dim[0], dim_const(b.graph, 1)};
    return build_swap(b, build_reshape(b, view, 3, dims), 0, 1);
}

// [M, kernel.., C/G] to [G, kernel * C/G, M/G]
static Node *weight_columns(Builder b, Node *w, int64_t groups) {
    Graph *g = b.graph;
    const Dim *dims[3] = {dim_const(g, groups),
                          dim_binary(g, DIM_FLOORDIV, w->type.dim[0], dim_const(g, groups)),
                          dim_const(g, 1)};
    for (int i = 1; i < w->type.rank; i++)
        dims[2] = dim_binary(g, DIM_MUL, dims[2], w->type.dim[i]);
    return build_swap(b, build_reshape(b, w, 3, dims), 1, 2);
}

// Windows of x times weights [M, kernel.., C]: [N, M, out..]
static Node *multiply_windows(Builder b, Node *x, Node *weights, const Window *w) {
    Node *padded = build_windows(b, x, w), *rows = window_rows(b, padded, w->spatial, 1);
    const Dim *dims[MAX_RANK] = {x->type.dim[0], weights->type.dim[0]};
    const Dim *flat[3] = {rows->type.dim[0], rows->type.dim[2], rows->type.dim[3]};
    const Dim *shape[2] = {weights->type.dim[0], rows->type.dim[3]};
    Node *matrix = build_swap(b, build_reshape(b, weights, 2, shape), 0, 1);
    Node *y = build_binary(b, OP_matmul, build_reshape(b, rows, 3, flat), matrix);
    for (int i = 0; i < w->spatial; i++) dims[2 + i] = padded->type.dim[2 + i];
    return build_reshape(b, build_swap(b, y, 1, 2), 2 + w->spatial, dims);
}

// The same by groups: weights [M, C/G, kernel..]
static Node *multiply_by_groups(Builder b, Node *x, Node *weights, const Window *w,
                                int64_t groups) {
    const bool depthwise = dim_is(x->type.dim[1], groups) && x->type.dtype == DT_f32 &&
                           dim_is(weights->type.dim[0], groups);
    const Dim *dims[MAX_RANK] = {x->type.dim[0], weights->type.dim[0]};
    Node *columns = depthwise ? depthwise_columns(b, weights)
                              : weight_columns(b, taps_first(b, weights), groups);
    Node *padded = build_windows(b, x, w), *rows = window_rows(b, padded, w->spatial, groups);
    for (int i = 0; i < w->spatial; i++) dims[2 + i] = padded->type.dim[2 + i];
    return build_reshape(b, build_swap(b, build_binary(b, OP_matmul, rows, columns), 2, 3),
                         2 + w->spatial, dims);
}

// A few groups of several channels: products of slices of the channels, one after the other
enum { MOST_GROUPS = 64 };

static bool has_wide_groups(const Node *x, const Node *weights, int64_t groups) {
    const Node *w = weights->op == OP_cast ? weights->in[0] : weights;
    return groups > 1 && groups <= MOST_GROUPS && w->op == OP_constant && w->value &&
           w->value->data && x->type.dtype == DT_f32 && !dim_is(weights->type.dim[1], 1);
}

static Node *slice_from(Builder b, Node *x, int axis, int64_t start, int64_t extent) {
    Graph *g = b.graph;
    return build_slice(b, x, (Slice){axis, dim_const(g, start), dim_const(g, extent), 1});
}

static Node *multiply_slices(Builder b, Node *x, Node *weights, const Window *w, int64_t groups) {
    Node *parts[MOST_GROUPS];
    const int64_t channels = dim_upper(x->type.dim[1]) / groups,
                  filters = dim_upper(weights->type.dim[0]) / groups;
    weights = taps_first(b, weights);
    for (int64_t g = 0; g < groups; g++)
        parts[g] = multiply_windows(b, slice_from(b, x, 1, g * channels, channels),
                                    slice_from(b, weights, 0, g * filters, filters), w);
    return build_concat(b, (int)groups, parts, 1);
}

Node *build_convolution(Builder b, Node *x, Node *weights, const Window *w, int64_t groups,
                        double pad) {
    Node *padded = build_pad(b, x, &w->pads, build_scalar(b, x->type.dtype, pad));
    if (groups == 1) return multiply_windows(b, padded, taps_first(b, weights), w);
    return has_wide_groups(x, weights, groups) ? multiply_slices(b, padded, weights, w, groups)
                                               : multiply_by_groups(b, padded, weights, w, groups);
}

Node *build_per_channel(Builder b, Node *v, int spatial) {
    const Dim *dims[MAX_RANK] = {v->type.dim[0]};
    for (int i = 1; i <= spatial; i++) dims[i] = dim_const(b.graph, 1);
    return v->type.rank == 1 ? build_reshape(b, v, 1 + spatial, dims) : v;
}

Node *build_channel_bias(Builder b, Node *y, Node *bias, int spatial) {
    return bias ? build_binary(b, OP_add, y, build_per_channel(b, bias, spatial)) : y;
}
