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
#include <string.h>

#include "frontend/onnx/operators/window.h"
#include "ir/eval/eval.h"

// [C, M/G, kernel..] to [M, C/G, kernel..], the kernel turned around
static Node *turned_weights(OnnxCall *c, Node *w, int64_t groups) {
    Graph *g = c->graph;
    int rank = w->type.rank;
    if (rank >= MAX_RANK || groups < 1)
        onnx_fatal(c, "weights %s in %lld groups", type_text(&w->type), (long long)groups);
    for (int i = 2; i < rank; i++) w = onnx_reverse(c, w, i);
    const Dim *dims[MAX_RANK] = {dim_const(g, groups),
                                 dim_binary(g, DIM_FLOORDIV, w->type.dim[0], dim_const(g, groups))};
    for (int i = 1; i < rank; i++) dims[i + 1] = w->type.dim[i];
    Node *grouped = onnx_swap(c, onnx_shape_to(c, w, rank + 1, dims), 1, 2);
    const Dim *shape[MAX_RANK] = {dim_binary(g, DIM_MUL, dims[0], dims[2]), dims[1]};
    for (int i = 2; i < rank; i++) shape[i] = dims[i + 1];
    return onnx_shape_to(c, grouped, rank, shape);
}

// The pads of a transposed convolution: given, or what output_shape and auto_pad leave over.
static void transposed_pads(OnnxCall *c, Window *w, const Node *x) {
    const char *automatic = onnx_string(c, "auto_pad", "NOTSET");
    int64_t rest[MAX_SPATIAL], shape[MAX_SPATIAL];
    int given;
    onnx_read_pads(c, w, x);
    onnx_read_list(c, "output_padding", w->spatial, 0, rest);
    onnx_ints(c, "output_shape", &given);
    if (given == w->spatial + 2) onnx_fatal(c, "output_shape must list the spatial axes only");
    onnx_read_list(c, "output_shape", w->spatial, -0, shape);
    for (int i = 0; i < w->spatial; i++) {
        const Dim *in = x->type.dim[2 + i];
        const Dim *full =
            plus(c, scaled(c, plus(c, in, -1), w->strides[i]), reach_of(w, i) + 1 + rest[i]);
        bool same = !strncmp(automatic, "SAME", 4);
        w->count[i] = same && !given ? scaled(c, in, w->strides[i]) : NULL;
        if (given || same) {
            const Dim *total =
                dim_sub(c->graph, full, given ? size(c, shape[i]) : scaled(c, in, w->strides[i]));
            if (!given) total = at_least_0(c, total);
            const Dim *spare = at_least_0(c, total),
                      *less = dim_binary(c->graph, DIM_FLOORDIV, spare, size(c, 2));
            bool more_first =
                given ? strcmp(automatic, "SAME_UPPER") : !strcmp(automatic, "SAME_LOWER");
            const Dim *low = more_first ? dim_sub(c->graph, spare, less) : less;
            w->pads.low[2 + i] = low, w->pads.high[2 + i] = dim_sub(c->graph, total, low);
        }
        w->pads.low[2 + i] = dim_sub(c->graph, size(c, reach_of(w, i)), w->pads.low[2 + i]);
        w->pads.high[2 + i] =
            dim_sub(c->graph, size(c, reach_of(w, i) + rest[i]), w->pads.high[2 + i]);
        w->pads.interior[2 + i] = w->strides[i] - 1;
        w->strides[i] = 1;
    }
}

// --------------------------------------------------------------------------------- phases
// Phases of each spatial axis: `blocks` blocks of `stride` outputs, of which the result is `extent`
// from `skip` on. A block of outputs reads `taps` inputs, from `low` before the input on.
typedef struct Phases {
    int spatial, filters, channels;
    int64_t stride[MAX_SPATIAL], kernel[MAX_SPATIAL], taps[MAX_SPATIAL], skip[MAX_SPATIAL];
    const Dim *extent[MAX_SPATIAL], *blocks[MAX_SPATIAL];
} Phases;

static bool read_phases(const OnnxCall *c, const Window *w, const int64_t *strides, const Node *x,
                        Phases *p) {
    Graph *g = c->graph;
    for (int i = 0; i < w->spatial; i++) {
        int64_t low, s = strides[i], k = w->kernel[i];
        const Dim *in = x->type.dim[2 + i];
        if (!dim_is_const(w->pads.low[2 + i], &low) || low < 0 || w->dilations[i] != 1)
            return false;
        const Dim *inserted = plus(c, scaled(c, plus(c, in, -1), s), low - (k - 1) + 1);
        p->stride[i] = s, p->kernel[i] = k, p->taps[i] = (k + s - 1) / s;
        p->skip[i] = s - 1 - low % s;
        p->extent[i] =
            w->count[i] ? w->count[i] : dim_binary(g, DIM_ADD, inserted, w->pads.high[2 + i]);
        p->blocks[i] = divided_up(c, plus(c, p->extent[i], p->skip[i]), s);
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
static Node *phase_weights(OnnxCall *c, const Phases *p, const Tensor *w, const char *name) {
    int64_t phases = 1, taps = 1, at = 0;
    Tensor *t = ARENA_NEW(c->graph->arena, Tensor);
    *t = (Tensor){.dtype = DT_f32, .rank = 2 + p->spatial, .name = name};
    for (int i = 0; i < p->spatial; i++)
        phases *= p->stride[i], taps *= p->taps[i], t->dim[2 + i] = p->taps[i];
    t->dim[0] = phases * p->filters, t->dim[1] = p->channels;
    t->bytes = dtype_bytes(DT_f32, tensor_count(t));
    float *values = arena_alloc(c->graph->arena, t->bytes + 1);
    for (int64_t phase = 0; phase < phases; phase++)
        for (int64_t m = 0; m < p->filters; m++)
            for (int64_t n = 0; n < p->channels * taps; n++)
                values[at++] = phase_weight(p, w->data, m, n / taps, phase, n % taps);
    t->data = values;
    return node_constant(c->graph, t, c->loc, NULL);
}

// [M] to [phases M]
static Node *repeated_bias(OnnxCall *c, Node *bias, const Dim *filters, const Dim *all) {
    const Dim *dims[] = {dim_binary(c->graph, DIM_FLOORDIV, all, filters), filters};
    Type wide = type_of(bias->type.dtype, 2, dims);
    return onnx_shape_to(c, onnx_expand_to(c, bias, &wide), 1, &all);
}

// [N, phases M, blocks..] to [N, M, extent..]
static Node *interleaved(OnnxCall *c, const Phases *p, Node *y) {
    const Dim *split[MAX_RANK] = {y->type.dim[0]}, *joined[MAX_RANK];
    int64_t perm[MAX_RANK] = {0, 1 + p->spatial};
    joined[0] = y->type.dim[0], joined[1] = split[1 + p->spatial] = size(c, p->filters);
    for (int i = 0; i < p->spatial; i++) {
        split[1 + i] = size(c, p->stride[i]), split[2 + p->spatial + i] = p->blocks[i];
        perm[2 + 2 * i] = 2 + p->spatial + i, perm[3 + 2 * i] = 1 + i;
        joined[2 + i] = scaled(c, p->blocks[i], p->stride[i]);
    }
    y = onnx_permute(c, onnx_shape_to(c, y, 2 + 2 * p->spatial, split), perm);
    y = onnx_shape_to(c, y, 2 + p->spatial, joined);
    for (int i = 0; i < p->spatial; i++)
        y = onnx_slice_at(c, y, 2 + i, size(c, p->skip[i]), p->extent[i]);
    return y;
}

// NULL: not by phases
static Node *convolve_by_phases(OnnxCall *c, Node *x, Node *weights, Node *bias, const Window *w,
                                const int64_t *strides) {
    const Node *constant = weights->op == OP_cast ? weights->in[0] : weights;
    Phases p = {.spatial = w->spatial};
    if (constant->op != OP_constant || !constant->value || !constant->value->data ||
        x->type.dtype != DT_f32 || 2 + 2 * w->spatial > MAX_RANK ||
        !read_phases(c, w, strides, x, &p))
        return NULL;
    const Tensor *value = weights->op == OP_cast ? eval_constant_node(weights) : constant->value;
    if (!value || value->dtype != DT_f32) return NULL;
    p.channels = (int)onnx_extent(c, weights, 0), p.filters = (int)onnx_extent(c, weights, 1);
    Window plain = {.spatial = w->spatial};
    for (int i = 0; i < MAX_RANK; i++)
        plain.pads.low[i] = plain.pads.high[i] = plain.ceil_rest[i] = size(c, 0);
    for (int i = 0; i < p.spatial; i++) {
        int64_t low = dim_lower(w->pads.low[2 + i]) / p.stride[i];
        plain.kernel[i] = p.taps[i], plain.strides[i] = plain.dilations[i] = 1;
        plain.pads.low[2 + i] = size(c, low);
        plain.pads.high[2 + i] =
            dim_sub(c->graph, plus(c, p.blocks[i], p.taps[i] - low - 1), x->type.dim[2 + i]);
    }
    Node *phases = phase_weights(c, &p, value, constant->value->name);
    if (bias) bias = repeated_bias(c, bias, size(c, p.filters), phases->type.dim[0]);
    Node *y = onnx_convolve(c, x, phases, &plain, 1, 0);
    return interleaved(c, &p, onnx_add_bias(c, y, bias, p.spatial));
}

void onnx_conv_transpose(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_widened(c, 0), *weights = onnx_widened(c, 1), *bias = onnx_widened(c, 2);
    int64_t groups = onnx_int(c, "group", 1), strides[MAX_RANK];
    Window w = onnx_read_window(c, x, weights);
    if (groups < 1 || onnx_extent(c, weights, 0) % groups)
        onnx_fatal(c, "%lld groups of weights %s", (long long)groups, type_text(&weights->type));
    memcpy(strides, w.strides, sizeof strides);
    transposed_pads(c, &w, x);
    Node *y = groups == 1 ? convolve_by_phases(c, x, weights, bias, &w, strides) : NULL;
    if (!y)
        y = onnx_add_bias(c, onnx_convolve(c, x, turned_weights(c, weights, groups), &w, groups, 0),
                          bias, w.spatial);
    onnx_result(c, 0, onnx_cast(c, y, onnx_node(c, 0)->type.dtype));
}
