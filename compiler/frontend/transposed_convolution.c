// Transposed convolutions. Along an axis of stride s the outputs are s phases, each of which is a
// plain convolution by every s-th tap of the kernel: all phases are filters of one convolution,
// whose results are interleaved.
//
//   before   ConvTranspose(x [N, C, W], w [C, M, 2 s]) {strides=[s]}
//   after    y = convolution of x by [s M, C, 2]              : [N, s M, W + 1]
//            reshape to [N, s, M, W + 1], transpose           : [N, M, W + 1, s]
//            reshape, slice                                   : [N, M, W s]
//
// Taps that a phase lacks, where s does not divide the kernel, are zero weights. Groups, dilations
// and weights that the run computes are a convolution of the input with zeros between its elements.
#include "frontend/convolution.h"
#include "ir/eval/eval.h"

// [C, M/G, kernel..] to [M, C/G, kernel..], the kernel turned around
static Node *turned_weights(Builder b, Node *w, int64_t groups) {
    Graph *g = b.graph;
    int rank = w->type.rank;
    for (int i = 2; i < rank; i++) w = build_reverse(b, w, i);
    const Dim *dims[MAX_RANK] = {dim_const(g, groups),
                                 dim_binary(g, DIM_FLOORDIV, w->type.dim[0], dim_const(g, groups))};
    for (int i = 1; i < rank; i++) dims[i + 1] = w->type.dim[i];
    Node *grouped = build_swap(b, build_reshape(b, w, rank + 1, dims), 1, 2);
    const Dim *shape[MAX_RANK] = {dim_binary(g, DIM_MUL, dims[0], dims[2]), dims[1]};
    for (int i = 2; i < rank; i++) shape[i] = dims[i + 1];
    return build_reshape(b, grouped, rank, shape);
}

// --------------------------------------------------------------------------------- phases
// Phases of each spatial axis: `blocks` blocks of `stride` outputs, of which the result is `extent`
// from `skip` on. A block of outputs reads `taps` inputs, from `low` before the input on.
typedef struct Phases {
    int spatial, filters, channels;
    int64_t stride[MAX_SPATIAL], kernel[MAX_SPATIAL], taps[MAX_SPATIAL], skip[MAX_SPATIAL];
    const Dim *extent[MAX_SPATIAL], *blocks[MAX_SPATIAL];
} Phases;

static bool read_phases(Builder b, const Window *w, const int64_t *strides, const Node *x,
                        Phases *p) {
    Graph *g = b.graph;
    for (int i = 0; i < w->spatial; i++) {
        int64_t low, s = strides[i], k = w->kernel[i];
        const Dim *in = x->type.dim[2 + i];
        if (!dim_is_const(w->pads.low[2 + i], &low) || low < 0 || w->dilations[i] != 1)
            return false;
        const Dim *inserted =
            dim_plus(b.graph, dim_times(b.graph, dim_plus(b.graph, in, -1), s), low - (k - 1) + 1);
        p->stride[i] = s, p->kernel[i] = k, p->taps[i] = (k + s - 1) / s;
        p->skip[i] = s - 1 - low % s;
        p->extent[i] =
            w->count[i] ? w->count[i] : dim_binary(g, DIM_ADD, inserted, w->pads.high[2 + i]);
        p->blocks[i] = dim_divided_up(b.graph, dim_plus(b.graph, p->extent[i], p->skip[i]), s);
    }
    return true;
}

// The weight of a filter's phases and taps; 0: the kernel has no such tap
static float phase_weight(const Phases *p, const float *w, int64_t filter, int64_t channel,
                          int64_t phases, int64_t taps) {
    int64_t at = 0, unit = 1;
    for (int i = p->spatial - 1; i >= 0; i--) {
        int64_t phase = phases % p->stride[i], tap = taps % p->taps[i];
        int64_t turned = p->stride[i] * tap + p->stride[i] - 1 - phase;
        phases /= p->stride[i], taps /= p->taps[i];
        if (turned >= p->kernel[i]) return 0;
        at += (p->kernel[i] - 1 - turned) * unit;
        unit *= p->kernel[i];
    }
    return w[(channel * p->filters + filter) * unit + at];
}

// [C, M, kernel..] to [phases M, C, taps..]
static Node *phase_weights(Builder b, const Phases *p, const Tensor *w, const char *name) {
    int64_t phases = 1, taps = 1, at = 0;
    Tensor *t = ARENA_NEW(b.graph->arena, Tensor);
    *t = (Tensor){.dtype = DT_f32, .rank = 2 + p->spatial, .name = name};
    for (int i = 0; i < p->spatial; i++)
        phases *= p->stride[i], taps *= p->taps[i], t->dim[2 + i] = p->taps[i];
    t->dim[0] = phases * p->filters, t->dim[1] = p->channels;
    t->bytes = dtype_bytes(DT_f32, tensor_count(t));
    float *values = arena_alloc(b.graph->arena, t->bytes + 1);
    for (int64_t phase = 0; phase < phases; phase++)
        for (int64_t m = 0; m < p->filters; m++)
            for (int64_t n = 0; n < p->channels * taps; n++)
                values[at++] = phase_weight(p, w->data, m, n / taps, phase, n % taps);
    t->data = values;
    return node_constant(b.graph, t, b.loc, b.before);
}

// [M] to [phases M]
static Node *repeated_bias(Builder b, Node *bias, const Dim *filters, const Dim *all) {
    const Dim *dims[] = {dim_binary(b.graph, DIM_FLOORDIV, all, filters), filters};
    return build_reshape(b, build_expand(b, bias, 2, dims), 1, &all);
}

// [N, phases M, blocks..] to [N, M, extent..]
static Node *interleaved(Builder b, const Phases *p, Node *y) {
    const Dim *split[MAX_RANK] = {y->type.dim[0]}, *joined[MAX_RANK];
    int64_t perm[MAX_RANK] = {0, 1 + p->spatial};
    joined[0] = y->type.dim[0], joined[1] = split[1 + p->spatial] = dim_const(b.graph, p->filters);
    for (int i = 0; i < p->spatial; i++) {
        split[1 + i] = dim_const(b.graph, p->stride[i]), split[2 + p->spatial + i] = p->blocks[i];
        perm[2 + 2 * i] = 2 + p->spatial + i, perm[3 + 2 * i] = 1 + i;
        joined[2 + i] = dim_times(b.graph, p->blocks[i], p->stride[i]);
    }
    y = build_transpose(b, build_reshape(b, y, 2 + 2 * p->spatial, split), perm);
    y = build_reshape(b, y, 2 + p->spatial, joined);
    for (int i = 0; i < p->spatial; i++)
        y = build_slice(b, y, (Slice){2 + i, dim_const(b.graph, p->skip[i]), p->extent[i], 1});
    return y;
}

// NULL: not by phases
static Node *convolve_by_phases(Builder b, Node *x, Node *weights, Node *bias, const Window *w,
                                const int64_t *strides) {
    const Node *constant = weights->op == OP_cast ? weights->in[0] : weights;
    Phases p = {.spatial = w->spatial};
    if (constant->op != OP_constant || !constant->value || !constant->value->data ||
        x->type.dtype != DT_f32 || 2 + 2 * w->spatial > MAX_RANK ||
        !read_phases(b, w, strides, x, &p))
        return NULL;
    const Tensor *value = weights->op == OP_cast ? eval_constant_node(weights) : constant->value;
    if (!value || value->dtype != DT_f32) return NULL;
    p.channels = (int)dim_upper(weights->type.dim[0]),
    p.filters = (int)dim_upper(weights->type.dim[1]);
    Window plain = {.spatial = w->spatial};
    window_without_pads(b.graph, &plain);
    for (int i = 0; i < p.spatial; i++) {
        int64_t low = dim_lower(w->pads.low[2 + i]) / p.stride[i];
        plain.kernel[i] = p.taps[i], plain.strides[i] = plain.dilations[i] = 1;
        plain.pads.low[2 + i] = dim_const(b.graph, low);
        plain.pads.high[2 + i] = dim_sub(
            b.graph, dim_plus(b.graph, p.blocks[i], p.taps[i] - low - 1), x->type.dim[2 + i]);
    }
    Node *phases = phase_weights(b, &p, value, constant->value->name);
    if (bias) bias = repeated_bias(b, bias, dim_const(b.graph, p.filters), phases->type.dim[0]);
    Node *y = build_convolution(b, x, phases, &plain, 1, 0);
    return interleaved(b, &p, build_channel_bias(b, y, bias, p.spatial));
}

Node *build_transposed_convolution(Builder b, Node *x, Node *weights, Node *bias, const Window *w,
                                   const int64_t *strides, int64_t groups) {
    Node *y = groups == 1 ? convolve_by_phases(b, x, weights, bias, w, strides) : NULL;
    if (y) return y;
    y = build_convolution(b, x, turned_weights(b, weights, groups), w, groups, 0);
    return build_channel_bias(b, y, bias, w->spatial);
}
