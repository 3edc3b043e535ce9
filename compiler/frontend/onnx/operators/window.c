// Convolutions (frontend/convolution.c) and pooling: windows over the spatial axes (a view of the
// padded input), then a product or a reduction.
//
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
    const Dim *out = dim_divided_up(c->graph, in, w->strides[i]);
    const Dim *total =
        dim_sub(c->graph,
                dim_plus(c->graph, dim_times(c->graph, dim_plus(c->graph, out, -1), w->strides[i]),
                         reach_of(w, i) + 1),
                in);
    total = dim_at_least_0(c->graph, total);
    w->count[i] = out;
    const Dim *less = dim_binary(c->graph, DIM_FLOORDIV, total, dim_const(c->graph, 2)),
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
            w->pads.low[2 + i] = dim_const(c->graph, pads[i]),
                            w->pads.high[2 + i] = dim_const(c->graph, pads[w->spatial + i]);
    }
}

Window onnx_read_window(const OnnxCall *c, const Node *x, const Node *weights) {
    Window w = {.spatial = x->type.rank - 2};
    if (w.spatial < 1 || w.spatial > MAX_SPATIAL)
        onnx_fatal(c, "takes [N, C] and 1 to %d spatial axes, not %s", MAX_SPATIAL,
                   type_text(&x->type));
    window_without_pads(c->graph, &w);
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

void onnx_check_groups(OnnxCall *c, const Node *x, const Node *weights, int64_t inputs,
                       int64_t filters, int64_t groups) {
    onnx_infer_fixed_size(c, x->type.dim[1], inputs);
    if (groups < 1 || inputs % groups || filters % groups || onnx_extent(c, x, 1) != inputs)
        onnx_fatal(c, "%lld groups of %s by weights %s", (long long)groups, type_text(&x->type),
                   type_text(&weights->type));
}

Node *onnx_convolve(OnnxCall *c, Node *x, Node *weights, const Window *w, int64_t groups,
                    double pad) {
    int64_t inputs;
    if (__builtin_mul_overflow(onnx_extent(c, weights, 1), groups, &inputs)) inputs = -1;
    onnx_check_groups(c, x, weights, inputs, onnx_extent(c, weights, 0), groups);
    return build_convolution(onnx_builder(c), x, weights, w, groups, pad);
}

static Node *padded_with(OnnxCall *c, Node *x, const PadDims *p, double value) {
    return build_pad(onnx_builder(c), x, p, onnx_scalar(c, x->type.dtype, value));
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
    Node *y = build_channel_bias(onnx_builder(c),
                                 onnx_convolve(c, x, weights, &w, onnx_int(c, "group", 1), 0), bias,
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
        sums = build_channel_bias(onnx_builder(c), sums, onnx_cast(c, onnx_node(c, 8), DT_i32),
                                  spatial);
    Node *scale = onnx_node(c, 4);
    if (scale->type.rank == 1 && scale->type.dim[0] != dim_const(c->graph, 1))
        scale = build_per_channel(onnx_builder(c), scale, spatial);
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
        const Dim *room = dim_plus(c->graph, dim_binary(g, DIM_ADD, first, w->pads.high[2 + i]),
                                   -reach_of(w, i) - 1);
        const Dim *count = dim_plus(c->graph, dim_divided_up(c->graph, room, w->strides[i]), 1);
        count = dim_binary(g, DIM_MIN, count, dim_divided_up(c->graph, first, w->strides[i]));
        w->count[i] = count;
        w->ceil_rest[i] = dim_at_least_0(
            c->graph,
            dim_sub(g, dim_times(c->graph, dim_plus(c->graph, count, -1), w->strides[i]), room));
    }
}

static PadDims pads_and_rest(const OnnxCall *c, const Window *w) {
    PadDims p = w->pads;
    for (int i = 0; i < w->spatial; i++)
        p.high[2 + i] = dim_binary(c->graph, DIM_ADD, p.high[2 + i], w->ceil_rest[i]);
    return p;
}

static Node *reduce_windows(OnnxCall *c, Op op, Node *x, const Window *w) {
    int64_t axes[MAX_SPATIAL];
    for (int i = 0; i < w->spatial; i++) axes[i] = 2 + w->spatial + i;
    return onnx_reduce_over(c, op, build_windows(onnx_builder(c), x, w), axes, w->spatial, false);
}

static Window pool_window(OnnxCall *c, const Node *x) {
    Window w = onnx_read_window(c, x, NULL);
    onnx_read_pads(c, &w, x);
    add_ceil(c, &w, x);
    return w;
}

static Node *pool_sum(OnnxCall *c, Node *x, const Window *w) {
    PadDims p = pads_and_rest(c, w);
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
        for (int i = 0; i < MAX_RANK; i++)
            rest.pads.low[i] = rest.pads.high[i] = dim_const(c->graph, 0);
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
    Node *v = build_windows(onnx_builder(c), x, w);
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
    PadDims p = pads_and_rest(c, &w);
    Node *y = reduce_windows(c, OP_reduce_max, padded_with(c, x, &p, lowest(x->type.dtype)), &w);
    onnx_result(c, 0, onnx_permute(c, y, (int64_t[]){0, 2, 3, 1}));
}

void onnx_max_pool(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    Window w = pool_window(c, x);
    PadDims p = pads_and_rest(c, &w);
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
    PadDims rest = {0};
    for (int i = 0; i < MAX_RANK; i++) rest.low[i] = rest.high[i] = dim_const(c->graph, 0);
    for (int i = 0; i < w.spatial; i++) {
        const Dim *out = dim_plus(
            c->graph, dim_times(c->graph, dim_plus(c->graph, x->type.dim[2 + i], -1), w.strides[i]),
            w.kernel[i]);
        own.dim[2 + i] = out =
            dim_sub(g, out, dim_binary(g, DIM_ADD, w.pads.low[2 + i], w.pads.high[2 + i]));
        if (given) rest.high[2 + i] = dim_sub(g, dim_const(c->graph, shape[2 + i]), out);
    }
    const Dim *count = type_count(g, &own), *updates = type_count(g, &x->type);
    Type flat = {.dtype = x->type.dtype, .rank = 1, .dim = {count}};
    Node *zeros = onnx_expand_to(c, onnx_scalar(c, x->type.dtype, 0), &flat);
    Node *in[] = {zeros, onnx_shape_to(c, index, 1, &updates), onnx_shape_to(c, x, 1, &updates)};
    Node *y = onnx_emit_make(c, OP_scatter_elements, 3, in);
    attr_set_int(y, "axis", 0);
    onnx_result(c, 0, padded_with(c, onnx_reshape(c, onnx_finish(c, y), &own), &rest, 0));
}
