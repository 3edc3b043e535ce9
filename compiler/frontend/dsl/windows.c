// The builtins over windows: pad, sliding_windows, convolve, convolve_transposed.
//
//   convolve(x, w, stride = 2, padding = [1, [0, 1]])
//
// A size is a number for all spatial axes or a list with one for each; padding may be [before,
// after] for an axis. Operands are checked here, so that messages name what the caller wrote; the
// nodes are those of ONNX's Conv and ConvTranspose (frontend/convolution.h).
#include "frontend/convolution.h"
#include "frontend/dsl/elaborate.h"
#include "util/diag.h"

// -------------------------------------------------------------------------------------- arguments
// A number for each of n axes, at least `least`.
static bool read_sizes(Elaborator *e, Value v, Loc at, const char *what, int n, int64_t least,
                       int64_t *sizes) {
    const bool list = v.kind == V_LIST;
    if (list && v.list.n != n)
        return report(e, at, "%s has %d numbers, expected %d: one for each axis", what, v.list.n,
                      n),
               false;
    for (int i = 0; i < n; i++) {
        if (!want_int(e, list ? v.list.items[i] : v, at, what, &sizes[i])) return false;
        if (sizes[i] < least || sizes[i] > INT32_MAX)
            return report(e, at, "%s has the value %lld, expected %lld to %d", what,
                          (long long)sizes[i], (long long)least, INT32_MAX),
                   false;
    }
    return true;
}

// The padding of n axes from `first` on.
static bool read_padding(Elaborator *e, Value v, Loc at, int first, int n, PadDims *pads) {
    const bool list = v.kind == V_LIST;
    if (list && v.list.n != n)
        return report(e, at, "padding has %d elements, expected %d: one for each axis", v.list.n,
                      n),
               false;
    for (int i = 0; i < n; i++) {
        Value one = list ? v.list.items[i] : v;
        const bool pair = one.kind == V_LIST;
        if (pair && one.list.n != 2)
            return report(e, at, "padding of an axis has %d numbers, expected [before, after]",
                          one.list.n),
                   false;
        pads->low[first + i] = want_dim(e, pair ? one.list.items[0] : one, at, "padding");
        if (!pads->low[first + i]) return false;
        pads->high[first + i] =
            pair ? want_dim(e, one.list.items[1], at, "padding") : pads->low[first + i];
        if (!pads->high[first + i]) return false;
    }
    return true;
}

static Value absent_is(Value v, int64_t number) { return v.kind == V_NULL ? VALUE_INT(number) : v; }

// ------------------------------------------------------------------------------------------ nodes
static Node *finish_or_stop(void *elaborator, Node *n) {
    Elaborator *e = elaborator;
    if (++e->n_nodes > MAX_NODES)
        report(e, n->loc, "the graph has more than %d nodes", MAX_NODES);
    else if (node_infer(n))
        return n;
    diag_stop();
}

// Makes several nodes in turn, of operands that are checked.
static Builder builder_of(Elaborator *e, Loc at) {
    Builder b = tensor_builder(e, at);
    if (!e->builder) b.finish = finish_or_stop;
    return b;
}

// A window with these sizes fits into every axis of a known size.
static bool window_fits(Elaborator *e, Loc at, const Node *x, const Window *w) {
    for (int i = 0; i < w->spatial; i++) {
        const Dim *in = x->type.dim[2 + i];
        const Dim *all = dim_binary(e->graph, DIM_ADD, in, w->pads.low[2 + i]);
        all = dim_binary(e->graph, DIM_ADD, all, w->pads.high[2 + i]);
        if (dim_upper(all) <= reach_of(w, i))
            return report(e, at, "a window of %lld elements does not fit into %s",
                          (long long)reach_of(w, i) + 1, value_text(e, value_of_dim(all))),
                   false;
    }
    return true;
}

// --------------------------------------------------------------------------------------- windows
Value run_pad(Elaborator *e, Loc at, const Value *a) {
    PadDims pads = {0};
    double value;
    if (!want_tensor(e, a[0], at, "the operand of pad")) return VALUE(V_ERROR);
    const int rank = a[0].node->type.rank;
    if (a[1].kind != V_LIST || a[1].list.n > rank)
        return report(e, at, "pad needs a list with the padding of at most %d last axes", rank);
    for (int i = 0; i < rank; i++) pads.low[i] = pads.high[i] = dim_const(e->graph, 0);
    if (!read_padding(e, a[1], at, rank - a[1].list.n, a[1].list.n, &pads)) return VALUE(V_ERROR);
    if (a[2].kind != V_NULL && !value_is_number(a[2]))
        return report(e, at, "the value of pad must be a number");
    value = a[2].kind == V_NULL ? 0 : value_number(a[2]);
    if (already_reported(e, place(e, at))) return VALUE(V_ERROR);
    Builder b = builder_of(e, at);
    Node *x = a[0].node;
    return tensor_value(build_pad(b, x, &pads, build_scalar(b, x->type.dtype, value)));
}

// sliding_windows(x, kernel, stride, dilation): [.., n] to [.., windows, kernel]; lists: over as
// many last axes
Value run_sliding_windows(Elaborator *e, Loc at, const Value *a) {
    int64_t kernel[MAX_RANK], strides[MAX_RANK], dilations[MAX_RANK];
    const int n = a[1].kind == V_LIST ? a[1].list.n : 1;
    if (!want_tensor(e, a[0], at, "the operand of sliding_windows")) return VALUE(V_ERROR);
    const int rank = a[0].node->type.rank;
    if (n < 1 || n > rank || n > MAX_SPATIAL)
        return report(e, at, "sliding_windows over %d axes, but the tensor has %d", n, rank);
    if (!read_sizes(e, a[1], at, "the kernel", n, 1, kernel) ||
        !read_sizes(e, absent_is(a[2], 1), at, "the stride", n, 1, strides) ||
        !read_sizes(e, absent_is(a[3], 1), at, "the dilation", n, 1, dilations))
        return VALUE(V_ERROR);
    Builder b = tensor_builder(e, at);
    Node *w = build_begin(b, OP_windows, 1, (Node *[]){a[0].node});
    attr_set_ints(w, "kernel", kernel, n);
    attr_set_ints(w, "strides", strides, n);
    if (a[3].kind != V_NULL) attr_set_ints(w, "dilations", dilations, n);
    w = build_end(b, w);
    for (int i = 0; w && i < n; i++)
        dim_raise(w->type.dim[rank - n + i], 1);  // less than a window: no result
    return tensor_value(w);
}

// ---------------------------------------------------------------------------------- convolutions
// A convolution's operands: x [N, C, in..], weights of as many axes, and the arguments that both
// forms have.
typedef struct Convolution {
    Node *x, *weights;
    Window window;
    int64_t groups;
    bool single;  // x was [C, in..]
} Convolution;

static bool read_operands(Elaborator *e, Loc at, const Value *a, Convolution *c) {
    if (!want_tensor(e, a[0], at, "the operand of a convolution") ||
        !want_tensor(e, a[1], at, "the weights of a convolution"))
        return false;
    const Type *x = &a[0].node->type, *w = &a[1].node->type;
    c->window.spatial = w->rank - 2;
    c->single = x->rank == w->rank - 1;
    if (w->rank < 3 || w->rank > 2 + MAX_SPATIAL || (!c->single && x->rank != w->rank))
        return report(e, at,
                      "weights %s by %s\nhint: weights are [filters, channels, kernel..] of 1 to "
                      "%d axes, x is [channels, ..] with as many",
                      arena_strdup(e->arena, type_text(w)), type_text(x), MAX_SPATIAL),
               false;
    if (!dtype_is_float(x->dtype) || !dtype_is_float(w->dtype))
        return report(e, at, "convolutions are of floats, not of %s by %s",
                      arena_strdup(e->arena, type_text(x)), type_text(w)),
               false;
    for (int i = 0; i < w->rank; i++)
        if (!dim_is_const(w->dim[i], &(int64_t){0}))
            return report(e, at, "the sizes of weights %s must be known", type_text(w)), false;
    return true;
}

static bool read_window_arguments(Elaborator *e, Loc at, Value stride, Value padding,
                                  Value dilation, Value groups, Convolution *c) {
    Window *w = &c->window;
    const int n = w->spatial;
    window_without_pads(e->graph, w);
    if (!read_sizes(e, absent_is(stride, 1), at, "the stride", n, 1, w->strides) ||
        !read_sizes(e, absent_is(dilation, 1), at, "the dilation", n, 1, w->dilations) ||
        !read_padding(e, absent_is(padding, 0), at, 2, n, &w->pads) ||
        !read_sizes(e, absent_is(groups, 1), at, "groups", 1, 1, &c->groups))
        return false;
    return true;
}

static bool channels_fit(Elaborator *e, Loc at, const Node *x, const Node *weights, int64_t inputs,
                         int64_t filters, int64_t groups) {
    const Dim *channels = x->type.dim[x->type.rank - weights->type.rank + 1];
    if (dim_is(channels, inputs) && inputs % groups == 0 && filters % groups == 0) return true;
    return report(e, at, "%lld channels in %lld groups by weights %s\nnote: x is %s",
                  (long long)dim_upper(channels), (long long)groups,
                  arena_strdup(e->arena, type_text(&weights->type)), type_text(&x->type)),
           false;
}

// Adds the axis N of one picture, and reads the kernel's sizes.
static void complete(Builder b, const Value *a, Convolution *c) {
    c->x = a[0].node;
    const Dim *dims[MAX_RANK] = {dim_const(b.graph, 1)};
    for (int i = 0; c->single && i < c->x->type.rank; i++) dims[1 + i] = c->x->type.dim[i];
    if (c->single) c->x = build_reshape(b, c->x, c->x->type.rank + 1, dims);
    c->weights = build_cast(b, a[1].node, c->x->type.dtype);
    for (int i = 0; i < c->window.spatial; i++)
        c->window.kernel[i] = dim_upper(c->weights->type.dim[2 + i]);
}

static Value result_of(Builder b, const Convolution *c, Node *y) {
    return tensor_value(c->single ? build_reshape(b, y, y->type.rank - 1, y->type.dim + 1) : y);
}

// x [C, in..] or [N, C, in..] by weights [M, C/G, kernel..]: [M, out..] or [N, M, out..]
Value run_convolve(Elaborator *e, Loc at, const Value *a) {
    Convolution c = {0};
    if (!read_operands(e, at, a, &c) || !read_window_arguments(e, at, a[2], a[3], a[4], a[5], &c) ||
        already_reported(e, place(e, at)))
        return VALUE(V_ERROR);
    const Type *w = &a[1].node->type;
    int64_t inputs;
    if (__builtin_mul_overflow(dim_upper(w->dim[1]), c.groups, &inputs)) inputs = -1;
    if (!channels_fit(e, at, a[0].node, a[1].node, inputs, dim_upper(w->dim[0]), c.groups))
        return VALUE(V_ERROR);
    Builder b = builder_of(e, at);
    complete(b, a, &c);
    if (!window_fits(e, at, c.x, &c.window)) return VALUE(V_ERROR);
    return result_of(b, &c, build_convolution(b, c.x, c.weights, &c.window, c.groups, 0));
}

// The pads of the convolution that a transposed one is, over x with zeros between its elements.
static void transpose_pads(Graph *g, Window *w, const int64_t *rest) {
    for (int i = 0; i < w->spatial; i++) {
        const Dim **low = &w->pads.low[2 + i], **high = &w->pads.high[2 + i];
        *low = dim_sub(g, dim_const(g, reach_of(w, i)), *low);
        *high = dim_sub(g, dim_const(g, reach_of(w, i) + rest[i]), *high);
        w->pads.interior[2 + i] = w->strides[i] - 1;
        w->strides[i] = 1;
    }
}

static bool result_is_positive(Elaborator *e, Loc at, const Convolution *c) {
    for (int i = 0; i < c->window.spatial; i++) {
        const Window *w = &c->window;
        const Dim *in = c->x->type.dim[2 + i];
        const Dim *all = dim_plus(
            e->graph, dim_times(e->graph, dim_plus(e->graph, in, -1), w->pads.interior[2 + i] + 1),
            1);
        all = dim_binary(e->graph, DIM_ADD, all, w->pads.low[2 + i]);
        all = dim_binary(e->graph, DIM_ADD, all, w->pads.high[2 + i]);
        if (dim_upper(all) <= reach_of(w, i))
            return report(e, at, "the padding leaves nothing of %s", type_text(&c->x->type)), false;
    }
    return true;
}

// x [C, in..] or [N, C, in..] by weights [C, M/G, kernel..]: [M, out..] or [N, M, out..]
Value run_convolve_transposed(Elaborator *e, Loc at, const Value *a) {
    Convolution c = {0};
    int64_t rest[MAX_RANK], strides[MAX_RANK], filters;
    if (!read_operands(e, at, a, &c) || !read_window_arguments(e, at, a[2], a[3], a[5], a[6], &c) ||
        !read_sizes(e, absent_is(a[4], 0), at, "output_padding", c.window.spatial, 0, rest) ||
        already_reported(e, place(e, at)))
        return VALUE(V_ERROR);
    const Type *w = &a[1].node->type;
    if (__builtin_mul_overflow(dim_upper(w->dim[1]), c.groups, &filters)) filters = 1;
    if (!channels_fit(e, at, a[0].node, a[1].node, dim_upper(w->dim[0]), filters, c.groups))
        return VALUE(V_ERROR);
    Builder b = builder_of(e, at);
    complete(b, a, &c);
    for (int i = 0; i < c.window.spatial; i++) strides[i] = c.window.strides[i];
    transpose_pads(e->graph, &c.window, rest);
    if (!result_is_positive(e, at, &c)) return VALUE(V_ERROR);
    Node *y = build_transposed_convolution(b, c.x, c.weights, NULL, &c.window, strides, c.groups);
    return result_of(b, &c, y);
}
