// Convolutions and pooling: windows over the spatial axes (a view of the padded input), then a
// product or a reduction.
//
//   Conv     windows [N, C, out.., kernel..] as rows [N, G, out, kernel * C/G], by weights
//            [G, kernel * C/G, M/G]
//   MaxPool  reduce_max over the kernel axes; AveragePool: reduce_sum over the number inside
#include "frontend/onnx/operators/window.h"

#include <math.h>
#include <string.h>

#include "ir/eval/eval.h"

void onnx_read_list(const OnnxCall *c, const char *name, int n, int64_t absent, int64_t *list) {
    int found;
    const int64_t *given = onnx_ints(c, name, &found);
    if (given && found != n) onnx_fatal(c, "%s has %d values for %d spatial axes", name, found, n);
    for (int i = 0; i < n; i++) {
        list[i] = given ? given[i] : absent;
        if (list[i] < 0 || list[i] > INT32_MAX)
            onnx_fatal(c, "%s has the value %lld, expected 0 to %d", name, (long long)list[i],
                       INT32_MAX);
    }
}

// SAME: as many windows as strides fit, the odd element at the end (UPPER) or the beginning
// (LOWER).
static void same_pads(const OnnxCall *c, Window *w, int i, const Dim *in, bool lower) {
    const Dim *out = divided_up(c, in, w->strides[i]);
    const Dim *total = dim_sub(
        c->graph, plus(c, scaled(c, plus(c, out, -1), w->strides[i]), reach_of(w, i) + 1), in);
    total = at_least_0(c, total);
    w->count[i] = out;
    const Dim *less = dim_binary(c->graph, DIM_FLOORDIV, total, size(c, 2)),
              *more = dim_sub(c->graph, total, less);
    w->pads.low[2 + i] = lower ? more : less, w->pads.high[2 + i] = lower ? less : more;
}

void onnx_read_pads(const OnnxCall *c, Window *w, const Node *x) {
    const char *automatic = onnx_string(c, "auto_pad", "NOTSET");
    int64_t pads[2 * MAX_RANK];
    onnx_read_list(c, "pads", 2 * w->spatial, 0, pads);
    for (int i = 0; i < w->spatial; i++) {
        if (!strncmp(automatic, "SAME", 4))
            same_pads(c, w, i, x->type.dim[2 + i], !strcmp(automatic, "SAME_LOWER"));
        else if (strcmp(automatic, "VALID"))
            w->pads.low[2 + i] = size(c, pads[i]),
                            w->pads.high[2 + i] = size(c, pads[w->spatial + i]);
    }
}

Window onnx_read_window(const OnnxCall *c, const Node *x, const Node *weights) {
    Window w = {.spatial = x->type.rank - 2};
    if (w.spatial < 1 || w.spatial > MAX_SPATIAL)
        onnx_fatal(c, "takes [N, C] and 1 to %d spatial axes, not %s", MAX_SPATIAL,
                   type_text(&x->type));
    for (int i = 0; i < MAX_RANK; i++) w.pads.low[i] = w.pads.high[i] = w.ceil_rest[i] = size(c, 0);
    onnx_read_list(c, "kernel_shape", w.spatial, 0, w.kernel);
    onnx_read_list(c, "strides", w.spatial, 1, w.strides);
    onnx_read_list(c, "dilations", w.spatial, 1, w.dilations);
    for (int i = 0; i < w.spatial; i++) {
        if (weights) w.kernel[i] = onnx_extent(c, weights, 2 + i);
        if (!w.kernel[i] || !w.strides[i] || !w.dilations[i])
            onnx_fatal(c, "kernel, strides and dilations must be positive");
    }
    return w;
}

static bool is_window_of_one(const Window *w) {
    for (int i = 0; i < w->spatial; i++)
        if (w->kernel[i] != 1 || w->strides[i] != 1) return false;
    return true;
}

// Windows of one element: only the axes of the kernel are new.
static Node *single_windows(OnnxCall *c, Node *x, const Window *w) {
    const Dim *dims[MAX_RANK];
    int rank = x->type.rank;
    for (int i = 0; i < rank + w->spatial; i++) dims[i] = i < rank ? x->type.dim[i] : size(c, 1);
    return onnx_shape_to(c, x, rank + w->spatial, dims);
}

static Node *windows(OnnxCall *c, Node *x, const Window *w) {
    if (is_window_of_one(w)) return single_windows(c, x, w);
    Node *n = onnx_emit_make(c, OP_windows, 1, &x);
    attr_set_ints(n, "kernel", w->kernel, w->spatial);
    attr_set_ints(n, "strides", w->strides, w->spatial);
    attr_set_ints(n, "dilations", w->dilations, w->spatial);
    onnx_finish(c, n);
    int axis = x->type.rank - w->spatial;
    for (int i = 0; i < w->spatial; i++) {
        dim_raise(n->type.dim[axis + i], 1);  // less than a window has no result
        // Padding by maxima hides that two such axes are equal: all of it, under the plain name of
        // its size.
        if (w->count[i] && w->count[i] != n->type.dim[axis + i])
            n = onnx_slice_at(c, n, axis + i, size(c, 0), w->count[i]);
    }
    return n;
}

// ------------------------------------------------------------------------------------ convolutions
// [N, C, out.., kernel..] to [N, G, out, kernel * C/G]: sums run over the taps, and for each tap
// over the channels, which are adjacent in memory where results of products are
static Node *window_rows(OnnxCall *c, Node *x, int spatial, int64_t groups) {
    Graph *g = c->graph;
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
        return onnx_shape_to(c, onnx_permute(c, x, perm), 4, dims);
    }
    // one spatial axis more is needed for the groups: the windows are made a matrix of positions by
    // taps first
    const Dim *taps = dim_const(g, 1);
    for (int i = 0; i < spatial; i++)
        taps = dim_binary(g, DIM_MUL, taps, x->type.dim[2 + spatial + i]);
    const Dim *split[5] = {dims[0], dims[1], dim_binary(g, DIM_FLOORDIV, x->type.dim[1], dims[1]),
                           dims[2], taps};
    Node *grouped = onnx_shape_to(c, x, 5, split);
    return onnx_shape_to(c, onnx_permute(c, grouped, (int64_t[]){0, 1, 3, 4, 2}), 4, dims);
}

// A weight of the file in another order of its axes: computed now, under its name.
static Node *reordered_weight(OnnxCall *c, Node *w, Node *view) {
    const Tensor *value = w->value && w->value->data ? eval_constant_node(view) : NULL;
    if (!value) return view;
    Tensor *t = ARENA_NEW(c->graph->arena, Tensor);
    *t = *value;
    t->name = w->value->name;
    return node_constant(c->graph, t, view->loc, NULL);
}

// [M, C/G, kernel..] to [M, kernel.., C/G]. Casts and zero points stay around the constant.
static Node *taps_first(OnnxCall *c, Node *w) {
    int64_t perm[MAX_RANK] = {0};
    if (w->op == OP_cast) return onnx_cast(c, taps_first(c, w->in[0]), w->type.dtype);
    if (w->op == OP_sub && w->in[0]->type.rank == w->type.rank)
        return ONNX_BINARY(c, OP_sub, taps_first(c, w->in[0]), w->in[1]);
    for (int i = 1; i < w->type.rank; i++) perm[i] = i + 1 < w->type.rank ? i + 1 : 1;
    Node *view = onnx_permute(c, w, perm);
    return w->op == OP_constant ? reordered_weight(c, w, view) : view;
}

// One tap a channel, [M, 1, kernel..] to [M, kernel, 1]. A constant is stored [kernel, M], as f32:
// channels are adjacent, as in memory.
static Node *depthwise_columns(OnnxCall *c, Node *w) {
    int64_t perm[MAX_RANK] = {0};
    const int rank = w->type.rank;
    const Dim *taps = dim_const(c->graph, 1);
    if (w->op == OP_cast && w->in[0]->op == OP_constant && w->type.dtype == DT_f32)
        w = reordered_weight(c, w->in[0], w);
    for (int i = 2; i < rank; i++) taps = dim_binary(c->graph, DIM_MUL, taps, w->type.dim[i]);
    for (int i = 0; i < rank; i++) perm[i] = i + 2 < rank ? i + 2 : rank - 1 - i;
    Node *view = onnx_permute(c, w, perm);
    if (w->op == OP_constant) view = reordered_weight(c, w, view);
    const Dim *dims[] = {taps, w->type.dim[0], dim_const(c->graph, 1)};
    return onnx_swap(c, onnx_shape_to(c, view, 3, dims), 0, 1);
}

// [M, kernel.., C/G] to [G, kernel * C/G, M/G]
static Node *weight_columns(OnnxCall *c, Node *w, int64_t groups) {
    Graph *g = c->graph;
    const Dim *dims[3] = {dim_const(g, groups),
                          dim_binary(g, DIM_FLOORDIV, w->type.dim[0], dim_const(g, groups)),
                          dim_const(g, 1)};
    for (int i = 1; i < w->type.rank; i++)
        dims[2] = dim_binary(g, DIM_MUL, dims[2], w->type.dim[i]);
    return onnx_swap(c, onnx_shape_to(c, w, 3, dims), 1, 2);
}

static Node *padded_with(OnnxCall *c, Node *x, const OnnxPadDims *p, double value) {
    return onnx_pad_by_dims(c, x, p, onnx_scalar(c, x->type.dtype, value));
}

// Windows of x times weights [M, kernel.., C]: [N, M, out..]
static Node *multiply_windows(OnnxCall *c, Node *x, Node *weights, const Window *w) {
    Node *padded = windows(c, x, w), *rows = window_rows(c, padded, w->spatial, 1);
    const Dim *dims[MAX_RANK] = {x->type.dim[0], weights->type.dim[0]};
    const Dim *flat[3] = {rows->type.dim[0], rows->type.dim[2], rows->type.dim[3]};
    const Dim *shape[2] = {weights->type.dim[0], rows->type.dim[3]};
    Node *matrix = onnx_swap(c, onnx_shape_to(c, weights, 2, shape), 0, 1);
    Node *y = ONNX_BINARY(c, OP_matmul, onnx_shape_to(c, rows, 3, flat), matrix);
    for (int i = 0; i < w->spatial; i++) dims[2 + i] = padded->type.dim[2 + i];
    return onnx_shape_to(c, onnx_swap(c, y, 1, 2), 2 + w->spatial, dims);
}

// The same by groups: weights [M, C/G, kernel..]
static Node *multiply_by_groups(OnnxCall *c, Node *x, Node *weights, const Window *w,
                                int64_t groups) {
    const bool depthwise = groups == onnx_extent(c, x, 1) && x->type.dtype == DT_f32 &&
                           groups == onnx_extent(c, weights, 0);
    const Dim *dims[MAX_RANK] = {x->type.dim[0], weights->type.dim[0]};
    Node *columns = depthwise ? depthwise_columns(c, weights)
                              : weight_columns(c, taps_first(c, weights), groups);
    Node *padded = windows(c, x, w), *rows = window_rows(c, padded, w->spatial, groups);
    for (int i = 0; i < w->spatial; i++) dims[2 + i] = padded->type.dim[2 + i];
    return onnx_shape_to(c, onnx_swap(c, ONNX_BINARY(c, OP_matmul, rows, columns), 2, 3),
                         2 + w->spatial, dims);
}

// A few groups of several channels: products of slices of the channels, one after the other
enum { MOST_GROUPS = 64 };

static bool has_wide_groups(const Node *x, const Node *weights, int64_t groups) {
    const Node *w = weights->op == OP_cast ? weights->in[0] : weights;
    return groups > 1 && groups <= MOST_GROUPS && w->op == OP_constant && w->value &&
           w->value->data && x->type.dtype == DT_f32 && !dim_is(weights->type.dim[1], 1);
}

static Node *multiply_slices(OnnxCall *c, Node *x, Node *weights, const Window *w, int64_t groups) {
    Node *parts[MOST_GROUPS];
    const int64_t channels = onnx_extent(c, x, 1) / groups,
                  filters = onnx_extent(c, weights, 0) / groups;
    weights = taps_first(c, weights);
    for (int64_t g = 0; g < groups; g++)
        parts[g] = multiply_windows(c, onnx_slice_from(c, x, 1, g * channels, channels),
                                    onnx_slice_from(c, weights, 0, g * filters, filters), w);
    return build_concat(onnx_builder(c), (int)groups, parts, 1);
}

// x padded and windowed, times weights: [N, M, out..]
Node *onnx_convolve(OnnxCall *c, Node *x, Node *weights, const Window *w, int64_t groups,
                    double pad) {
    int64_t read;
    if (!__builtin_mul_overflow(onnx_extent(c, weights, 1), groups, &read))
        onnx_infer_fixed_size(c, x->type.dim[1], read);
    int64_t channels = onnx_extent(c, x, 1), filters = onnx_extent(c, weights, 0);
    if (groups < 1 || channels % groups || filters % groups ||
        onnx_extent(c, weights, 1) * groups != channels)
        onnx_fatal(c, "%lld groups of %s by weights %s", (long long)groups, type_text(&x->type),
                   type_text(&weights->type));
    Node *padded = padded_with(c, x, &w->pads, pad);
    if (groups == 1) return multiply_windows(c, padded, taps_first(c, weights), w);
    return has_wide_groups(x, weights, groups) ? multiply_slices(c, padded, weights, w, groups)
                                               : multiply_by_groups(c, padded, weights, w, groups);
}

// A value for each channel: [M] to [M, 1, ..]
static Node *per_channel(OnnxCall *c, Node *b, int spatial) {
    const Dim *dims[MAX_RANK] = {b->type.dim[0]};
    for (int i = 1; i <= spatial; i++) dims[i] = dim_const(c->graph, 1);
    return b->type.rank == 1 ? onnx_shape_to(c, b, 1 + spatial, dims) : b;
}

Node *onnx_add_bias(OnnxCall *c, Node *y, Node *bias, int spatial) {
    return bias ? ONNX_BINARY(c, OP_add, y, per_channel(c, bias, spatial)) : y;
}

// Floats of 16 bits are computed in f32 and rounded once.
Node *onnx_widened(OnnxCall *c, int i) {
    if (!onnx_operand(c, i)) return NULL;
    Node *x = onnx_node(c, i);
    return onnx_cast(c, x, onnx_wide(x->type.dtype));
}

void onnx_conv(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_widened(c, 0), *weights = onnx_widened(c, 1), *bias = onnx_widened(c, 2);
    Window w = onnx_read_window(c, x, weights);
    onnx_read_pads(c, &w, x);
    Node *y = onnx_add_bias(c, onnx_convolve(c, x, weights, &w, onnx_int(c, "group", 1), 0), bias,
                            w.spatial);
    onnx_result(c, 0, onnx_cast(c, y, onnx_node(c, 0)->type.dtype));
}

// ----------------------------------------------------------------------------------- channels last
// [N, .., C] to [N, C, ..] if the node's attribute puts channels last, and back
Node *onnx_channels_first(OnnxCall *c, Node *x) {
    int64_t perm[MAX_RANK] = {0, x->type.rank - 1};
    for (int i = 2; i < x->type.rank; i++) perm[i] = i - 1;
    return onnx_int(c, "channels_last", 0) ? onnx_permute(c, x, perm) : x;
}

Node *onnx_channels_back(OnnxCall *c, Node *x) {
    int64_t perm[MAX_RANK] = {0};
    for (int i = 1; i < x->type.rank; i++) perm[i] = i + 1 < x->type.rank ? i + 1 : 1;
    return onnx_int(c, "channels_last", 0) ? onnx_permute(c, x, perm) : x;
}

// Operand i less its zero point, as i32.
static Node *centred(OnnxCall *c, int i, int zero_point, int spatial) {
    Node *x = onnx_cast(c, onnx_node(c, i), DT_i32);
    if (!onnx_operand(c, zero_point)) return x;
    Node *z = onnx_cast(c, onnx_node(c, zero_point), DT_i32);
    if (z->type.rank == 1 && spatial) {  // one for each filter: [M, 1, 1..]
        const Dim *one = dim_const(c->graph, 1),
                  *dims[MAX_RANK] = {z->type.dim[0], one, one, one, one, one, one, one};
        bool single = z->type.dim[0] == one;
        z = onnx_shape_to(c, z, single ? 0 : 2 + spatial, dims);
    }
    return ONNX_BINARY(c, OP_sub, x, z);
}

void onnx_conv_integer(OnnxCall *c, int argument) {
    (void)argument;
    int spatial = onnx_type(c, 0).rank - 2;
    Node *x = centred(c, 0, 2, 0), *weights = centred(c, 1, 3, spatial);
    Window w = onnx_read_window(c, x, weights);
    onnx_read_pads(c, &w, x);
    onnx_result(c, 0, onnx_convolve(c, x, weights, &w, onnx_int(c, "group", 1), 0));
}

// x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, bias; channels_last
// (com.microsoft): x and y only
void onnx_qlinear_conv(OnnxCall *c, int argument) {
    (void)argument;
    onnx_check_scale(c, 6);
    int spatial = onnx_type(c, 0).rank - 2;
    Node *x = onnx_channels_first(c, centred(c, 0, 2, 0)), *weights = centred(c, 3, 5, spatial);
    Window w = onnx_read_window(c, x, weights);
    onnx_read_pads(c, &w, x);
    Node *sums = onnx_convolve(c, x, weights, &w, onnx_int(c, "group", 1), 0);
    if (onnx_operand(c, 8))
        sums = onnx_add_bias(c, sums, onnx_cast(c, onnx_node(c, 8), DT_i32), spatial);
    Node *scale = onnx_node(c, 4);
    if (scale->type.rank == 1 && scale->type.dim[0] != dim_const(c->graph, 1))
        scale = per_channel(c, scale, spatial);
    Node *in[] = {onnx_cast(c, sums, DT_f32), onnx_node(c, 1), scale, onnx_node(c, 6)};
    Node *y =
        onnx_quantized(c, onnx_formula(c, in, 4, "div(mul($0, mul($1, $2)), $3)"), onnx_node(c, 7));
    onnx_result(c, 0, onnx_channels_back(c, y));
}

// ----------------------------------------------------------------------------------------- pooling
// ceil_mode: a last window that begins inside the input or its first pad.
static void add_ceil(OnnxCall *c, Window *w, const Node *x) {
    for (int i = 0; onnx_int(c, "ceil_mode", 0) && i < w->spatial; i++) {
        Graph *g = c->graph;
        const Dim *first = dim_binary(g, DIM_ADD, x->type.dim[2 + i], w->pads.low[2 + i]);
        const Dim *room =
            plus(c, dim_binary(g, DIM_ADD, first, w->pads.high[2 + i]), -reach_of(w, i) - 1);
        const Dim *count = plus(c, divided_up(c, room, w->strides[i]), 1);
        count = dim_binary(g, DIM_MIN, count, divided_up(c, first, w->strides[i]));
        w->count[i] = count;
        w->ceil_rest[i] =
            at_least_0(c, dim_sub(g, scaled(c, plus(c, count, -1), w->strides[i]), room));
    }
}

static OnnxPadDims pads_and_rest(const OnnxCall *c, const Window *w) {
    OnnxPadDims p = w->pads;
    for (int i = 0; i < w->spatial; i++)
        p.high[2 + i] = dim_binary(c->graph, DIM_ADD, p.high[2 + i], w->ceil_rest[i]);
    return p;
}

static Node *reduce_windows(OnnxCall *c, Op op, Node *x, const Window *w) {
    int64_t axes[MAX_SPATIAL];
    for (int i = 0; i < w->spatial; i++) axes[i] = 2 + w->spatial + i;
    return onnx_reduce_over(c, op, windows(c, x, w), axes, w->spatial, false);
}

static Window pool_window(OnnxCall *c, const Node *x) {
    Window w = onnx_read_window(c, x, NULL);
    onnx_read_pads(c, &w, x);
    add_ceil(c, &w, x);
    return w;
}

static Node *pool_sum(OnnxCall *c, Node *x, const Window *w) {
    OnnxPadDims p = pads_and_rest(c, w);
    return reduce_windows(c, OP_reduce_sum, padded_with(c, x, &p, 0), w);
}

// How many elements each window counts: a sum over ones, known at compile time.
static Node *pool_count(OnnxCall *c, const Node *x, const Window *w, bool pads_count) {
    Type shape = {.dtype = DT_f32,
                  .rank = x->type.rank,
                  .dim = {dim_const(c->graph, 1), dim_const(c->graph, 1)}};
    for (int i = 2; i < shape.rank; i++) shape.dim[i] = x->type.dim[i];
    Node *ones = onnx_expand_to(c, onnx_scalar(c, DT_f32, 1), &shape);
    Window rest = *w;
    if (pads_count) {
        ones = padded_with(c, ones, &w->pads, 1);
        for (int i = 0; i < MAX_RANK; i++) rest.pads.low[i] = rest.pads.high[i] = size(c, 0);
    }
    return pool_sum(c, ones, &rest);
}

Node *onnx_average_of_windows(OnnxCall *c, Node *x) {
    Window w = pool_window(c, x);
    Node *count =
        onnx_cast(c, pool_count(c, x, &w, onnx_int(c, "count_include_pad", 0)), x->type.dtype);
    return ONNX_BINARY(c, OP_div, pool_sum(c, x, &w), count);
}

void onnx_average_pool(OnnxCall *c, int argument) {
    (void)argument;
    onnx_result(
        c, 0,
        onnx_cast(c, onnx_average_of_windows(c, onnx_widened(c, 0)), onnx_node(c, 0)->type.dtype));
}

void onnx_lp_pool(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_widened(c, 0);
    Window w = pool_window(c, x);
    double p = (double)onnx_int(c, "p", 2);
    Node *powers = ONNX_FORMULA(c, x, "pow(abs($0), %a)", p);
    Node *y = ONNX_FORMULA(c, pool_sum(c, powers, &w), "pow($0, %a)", 1 / p);
    onnx_result(c, 0, onnx_cast(c, y, onnx_node(c, 0)->type.dtype));
}

static double lowest(DType t) {
    return dtype_is_float(t) ? -INFINITY
           : t == DT_i8      ? -128
           : t == DT_i16     ? -32768
           : t == DT_i32     ? INT32_MIN
                             : 0;
}

// The position in x (without pads, over all its elements; storage_order 1: columns first) of each
// window's maximum.
static Node *pool_positions(OnnxCall *c, Node *x, const Window *w) {
    Graph *g = c->graph;
    int rank = x->type.rank;
    Node *position = NULL;
    const Dim *unit = dim_const(g, 1);
    bool columns_first = onnx_int(c, "storage_order", 0) && w->spatial == 2;
    for (int i = rank - 1; i >= 0; i--) {
        int axis = columns_first && i >= 2 ? rank + 1 - i : i;
        Node *here = onnx_cast(c, onnx_index_along(c, &x->type, axis), DT_i64);
        Node *step = ONNX_BINARY(c, OP_mul, here, onnx_number_of(c, unit, DT_i64));
        position = position ? ONNX_BINARY(c, OP_add, position, step) : step;
        unit = dim_binary(g, DIM_MUL, unit, x->type.dim[axis]);
    }
    return position;
}

// The kernel axes of windows as one: [N, C, out.., taps]
static Node *flat_windows(OnnxCall *c, Node *x, const Window *w) {
    Node *v = windows(c, x, w);
    const Dim *dims[MAX_RANK], *taps = dim_const(c->graph, 1);
    for (int i = 0; i < 2 + w->spatial; i++) dims[i] = v->type.dim[i];
    for (int i = 0; i < w->spatial; i++)
        taps = dim_binary(c->graph, DIM_MUL, taps, v->type.dim[2 + w->spatial + i]);
    dims[2 + w->spatial] = taps;
    return onnx_shape_to(c, v, 3 + w->spatial, dims);
}

// com.microsoft: channels last, in bytes
void onnx_ms_nhwc_max_pool(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_permute(c, onnx_node(c, 0), (int64_t[]){0, 3, 1, 2});
    Window w = pool_window(c, x);
    OnnxPadDims p = pads_and_rest(c, &w);
    Node *y = reduce_windows(c, OP_reduce_max, padded_with(c, x, &p, lowest(x->type.dtype)), &w);
    onnx_result(c, 0, onnx_permute(c, y, (int64_t[]){0, 2, 3, 1}));
}

void onnx_max_pool(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    Window w = pool_window(c, x);
    OnnxPadDims p = pads_and_rest(c, &w);
    Node *padded = padded_with(c, x, &p, lowest(x->type.dtype));
    onnx_result(c, 0, reduce_windows(c, OP_reduce_max, padded, &w));
    if (c->proto->n_output < 2 || !*c->proto->output[1]) return;
    Node *places = padded_with(c, pool_positions(c, x, &w), &p, 0);
    Node *best = onnx_emit_make(c, OP_arg_max, 1, (Node *[]){flat_windows(c, padded, &w)});
    attr_set_int(best, "axis", -1);
    Node *chosen = onnx_emit_make(c, OP_gather_elements, 2,
                                  (Node *[]){flat_windows(c, places, &w), onnx_finish(c, best)});
    attr_set_int(chosen, "axis", -1);
    chosen = onnx_finish(c, chosen);
    onnx_result(c, 1, onnx_shape_to(c, chosen, chosen->type.rank - 1, chosen->type.dim));
}

// The reduction over all spatial axes.
void onnx_global_pool(OnnxCall *c, int op) {
    Node *x = onnx_widened(c, 0);
    int64_t axes[MAX_RANK], p = onnx_int(c, "p", 2);
    int n = 0;
    for (int i = 2; i < x->type.rank; i++) axes[n++] = i;
    if (op == OP_reduce_sum) x = ONNX_FORMULA(c, x, "pow(abs($0), %a)", (double)p);
    Node *y = onnx_reduce_over(c, (Op)op, x, axes, n, true);
    if (op == OP_reduce_sum) y = ONNX_FORMULA(c, y, "pow($0, %a)", 1 / (double)p);
    onnx_result(c, 0, onnx_cast(c, y, onnx_node(c, 0)->type.dtype));
}

// Values back to the places that MaxPool's indices name; zero elsewhere.
void onnx_max_unpool(OnnxCall *c, int argument) {
    (void)argument;
    Graph *g = c->graph;
    Node *x = onnx_node(c, 0), *index = onnx_node(c, 1);
    Window w = onnx_read_window(c, x, NULL);
    onnx_read_pads(c, &w, x);
    int64_t shape[MAX_RANK];
    bool given = onnx_operand(c, 2);
    if (given && onnx_int_list(c, 2, shape, x->type.rank, "the output shape") != x->type.rank)
        onnx_fatal(c, "the output shape must list %d dimensions", x->type.rank);
    Type own = x->type;
    OnnxPadDims rest = {0};
    for (int i = 0; i < MAX_RANK; i++) rest.low[i] = rest.high[i] = size(c, 0);
    for (int i = 0; i < w.spatial; i++) {
        const Dim *out =
            plus(c, scaled(c, plus(c, x->type.dim[2 + i], -1), w.strides[i]), w.kernel[i]);
        own.dim[2 + i] = out =
            dim_sub(g, out, dim_binary(g, DIM_ADD, w.pads.low[2 + i], w.pads.high[2 + i]));
        if (given) rest.high[2 + i] = dim_sub(g, size(c, shape[2 + i]), out);
    }
    const Dim *count = type_count(g, &own), *updates = type_count(g, &x->type);
    Type flat = {.dtype = x->type.dtype, .rank = 1, .dim = {count}};
    Node *zeros = onnx_expand_to(c, onnx_scalar(c, x->type.dtype, 0), &flat);
    Node *in[] = {zeros, onnx_shape_to(c, index, 1, &updates), onnx_shape_to(c, x, 1, &updates)};
    Node *y = onnx_emit_make(c, OP_scatter_elements, 3, in);
    attr_set_int(y, "axis", 0);
    onnx_result(c, 0, padded_with(c, onnx_reshape(c, onnx_finish(c, y), &own), &rest, 0));
}
