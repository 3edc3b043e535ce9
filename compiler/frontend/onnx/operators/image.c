// Operators that read an image at computed places: every tap is a gather by position, weighted and
// summed.
#include <string.h>

#include "frontend/onnx/operators/compose.h"

// [N, C, spatial..] to [N, spatial.., C], so that a position names all channels.
static Node *channels_last(OnnxCall *c, Node *x) {
    int64_t perm[MAX_RANK] = {0};
    for (int i = 1; i < x->type.rank; i++) perm[i] = i + 1 < x->type.rank ? i + 1 : 1;
    return onnx_permute(c, x, perm);
}

// x [N, spatial.., C] at whole numbers index[axis] [N, P] (floats inside the image): [N, P, C]
static Node *read_taps(OnnxCall *c, Node *x, Node *const *index, int spatial) {
    Node *positions[MAX_SPATIAL];
    for (int i = 0; i < spatial; i++) {
        const Dim *dims[] = {index[i]->type.dim[0], index[i]->type.dim[1], dim_const(c->graph, 1)};
        positions[i] = onnx_cast(c, onnx_shape_to(c, index[i], 3, dims), DT_i64);
    }
    Node *n =
        onnx_emit_make(c, OP_gather_nd, 2, (Node *[]){x, onnx_join(c, positions, spatial, 2)});
    attr_set_int(n, "batch_dims", 1);
    return onnx_finish(c, n);
}

static Node *times_weight(OnnxCall *c, Node *taps, Node *weight) {
    const Dim *dims[] = {weight->type.dim[0], weight->type.dim[1], dim_const(c->graph, 1)};
    return ONNX_BINARY(c, OP_mul, taps, onnx_shape_to(c, weight, 3, dims));
}

// -------------------------------------------------------------------------------------- GridSample
typedef struct Sampler {
    int spatial, taps;  // taps along each axis: 1 nearest, 2 linear, 4 cubic
    const char *padding;
    bool align_corners;
    int64_t extent[MAX_SPATIAL];
} Sampler;

// A coordinate beyond the borders, reflected between them.
static Node *reflected(OnnxCall *c, Node *x, const Sampler *s, int axis) {
    double low = s->align_corners ? 0 : -0.5, range = (double)s->extent[axis] - 1 - 2 * low;
    if (strcmp(s->padding, "reflection") || range <= 0) return x;
    return ONNX_FORMULA(c, x,
                        "where(or(less($0, %a), greater($0, %a)), add(%a, sub(%a, "
                        "abs(sub(mod(sub($0, %a), %a), %a)))), $0)",
                        low, low + range, low, range, low, 2 * range, range);
}

// An index of a tap, brought inside the image.
static Node *inside(OnnxCall *c, Node *x, const Sampler *s, int axis) {
    return ONNX_FORMULA(c, reflected(c, x, s, axis), "max(0, min(%a, $0))",
                        (double)s->extent[axis] - 1);
}

// A coordinate before its taps are chosen: linear and nearest stay between the borders.
static Node *border(OnnxCall *c, Node *x, const Sampler *s, int axis) {
    if (s->taps == 4) return x;
    if (!strcmp(s->padding, "reflection")) return reflected(c, x, s, axis);
    return inside(c, x, s, axis);
}

// The weight of tap t (from -1 for cubic) at fraction f.
static Node *tap_weight(OnnxCall *c, Node *f, int taps, int t) {
    if (taps == 2) return t ? f : ONNX_FORMULA(c, f, "sub(1, $0)");
    Node *x = ONNX_FORMULA(c, f, "abs(sub($0, %a))", (double)t);
    if (t == 0 || t == 1)
        return ONNX_FORMULA(c, x, "add(mul(mul(sub(mul(1.25, $0), 2.25), $0), $0), 1)");
    return ONNX_FORMULA(c, x, "add(mul(add(mul(add(mul(-0.75, $0), 3.75), $0), -6), $0), 3)");
}

typedef struct Tap {
    Node *index[MAX_SPATIAL], *weight;
} Tap;

static Tap make_tap(OnnxCall *c, const Sampler *s, Node *const *coordinate, int number) {
    Tap tap = {0};
    bool zeros = !strcmp(s->padding, "zeros");
    for (int axis = 0; axis < s->spatial; axis++, number /= s->taps) {
        Node *x = coordinate[axis],
             *at = s->taps == 1 ? ONNX_UNARY(c, OP_round, x) : ONNX_UNARY(c, OP_floor, x),
             *w = NULL;
        int t = number % s->taps - (s->taps == 4);
        if (s->taps > 1) {
            w = tap_weight(c, ONNX_BINARY(c, OP_sub, x, at), s->taps, t);
            at = ONNX_FORMULA(c, at, "add($0, %a)", (double)t);
        }
        if (zeros) {
            Node *known = ONNX_FORMULA(
                c, at, "where(and(greater_or_equal($0, 0), less_or_equal($0, %a)), 1, 0)",
                (double)(s->extent[axis] - 1));
            w = w ? ONNX_BINARY(c, OP_mul, w, known) : known;
        }
        tap.index[axis] = inside(c, at, s, axis);
        if (w) tap.weight = tap.weight ? ONNX_BINARY(c, OP_mul, tap.weight, w) : w;
    }
    return tap;
}

// Sum over the taps of x [N, C, spatial..] at coordinates [N, P]: [N, P, C]
static Node *sample(OnnxCall *c, Node *x, const Sampler *s, Node *const *coordinate) {
    int numbers = 1;
    Node *sum = NULL, *last = channels_last(c, x);
    for (int i = 0; i < s->spatial; i++) numbers *= s->taps;
    for (int i = 0; i < numbers; i++) {
        Tap tap = make_tap(c, s, coordinate, i);
        Node *value = read_taps(c, last, tap.index, s->spatial);
        if (tap.weight) value = times_weight(c, value, tap.weight);
        sum = sum ? ONNX_BINARY(c, OP_add, sum, value) : value;
    }
    return sum;
}

// x [N, C, spatial..], grid [N, out.., axes], whose last axis lists x, y, z
void onnx_grid_sample(OnnxCall *c, int argument) {
    (void)argument;
    Graph *g = c->graph;
    Node *given = onnx_node(c, 0), *x = onnx_cast(c, given, onnx_wide(given->type.dtype));
    Node *grid = onnx_cast(c, onnx_node(c, 1), x->type.dtype), *coordinate[MAX_SPATIAL];
    const char *mode = onnx_string(c, "mode", "linear");
    bool nearest = !strcmp(mode, "nearest"), cubic = strstr(mode, "cubic");
    Sampler s = {.spatial = x->type.rank - 2, .taps = nearest ? 1 : cubic ? 4 : 2};
    s.padding = onnx_string(c, "padding_mode", "zeros"),
    s.align_corners = onnx_int(c, "align_corners", 0);
    if (s.spatial < 1 || s.spatial > MAX_SPATIAL || grid->type.rank != x->type.rank)
        onnx_fatal(c, "takes [N, C, spatial..] and a grid of its rank, not %s and %s",
                   type_text(&x->type), type_text(&grid->type));
    const Dim *points = dim_const(g, 1), *dims[MAX_RANK] = {x->type.dim[0], x->type.dim[1]};
    for (int i = 0; i < s.spatial; i++)
        points = dim_binary(g, DIM_MUL, points, dims[2 + i] = grid->type.dim[1 + i]);
    const Dim *flat[] = {grid->type.dim[0], points},
              *shape[] = {flat[0], points, dim_const(g, s.spatial)};
    grid = onnx_shape_to(c, grid, 3, shape);
    for (int i = 0; i < s.spatial; i++) {
        double n = (double)(s.extent[i] = onnx_extent(c, x, 2 + i));
        Node *at = onnx_shape_to(c, onnx_slice_from(c, grid, 2, s.spatial - 1 - i, 1), 2, flat);
        at = s.align_corners ? ONNX_FORMULA(c, at, "mul(div(add($0, 1), 2), %a)", n - 1)
                             : ONNX_FORMULA(c, at, "div(sub(mul(add($0, 1), %a), 1), 2)", n);
        if (nearest) at = ONNX_UNARY(c, OP_round, at);
        coordinate[i] = strcmp(s.padding, "zeros") ? border(c, at, &s, i) : at;
    }
    Node *y = onnx_swap(c, sample(c, x, &s, coordinate), 1, 2);
    onnx_result(c, 0, onnx_cast(c, onnx_shape_to(c, y, 2 + s.spatial, dims), given->type.dtype));
}

// theta [N, axes, axes + 1] times the places (x, y, (z,) 1) of an image of the given size
void onnx_affine_grid(OnnxCall *c, int argument) {
    (void)argument;
    Graph *g = c->graph;
    Node *theta = onnx_node(c, 0);
    int64_t size[MAX_RANK], points = 1;
    int n = onnx_int_list(c, 1, size, MAX_RANK, "the size") - 2;
    bool align = onnx_int(c, "align_corners", 0);
    if (n < 2 || n > MAX_SPATIAL) onnx_fatal(c, "the size must be [N, C, H, W] or [N, C, D, H, W]");
    const Dim *dims[MAX_RANK] = {theta->type.dim[0]};
    for (int i = 0; i < n; i++) points *= size[2 + i], dims[1 + i] = dim_const(g, size[2 + i]);
    dims[1 + n] = dim_const(g, n);
    double *place = ARENA_ARRAY(g->arena, double, points *(n + 1) + 1);
    for (int64_t p = 0; p < points; p++) {
        int64_t rest = p;
        for (int i = n - 1; i >= 0; rest /= size[2 + i], i--) {
            double extent = (double)size[2 + i], at = (double)(rest % size[2 + i]);
            place[p * (n + 1) + n - 1 - i] =
                align ? (extent > 1 ? 2 * at / (extent - 1) - 1 : 0) : (2 * at + 1) / extent - 1;
        }
        place[p * (n + 1) + n] = 1;
    }
    Node *base = onnx_numbers(c, theta->type.dtype, 2, (int64_t[]){points, n + 1}, place);
    Node *y = ONNX_BINARY(c, OP_matmul, base, onnx_swap(c, theta, 1, 2));
    onnx_result(c, 0, onnx_shape_to(c, y, n + 2, dims));
}

// ---------------------------------------------------------------------------------------- RoiAlign
// Places of the samples of one axis: start + (bin + (sample + 0.5) / samples) * size, [R, bins *
// samples]
static Node *roi_places(OnnxCall *c, Node *start, Node *size, int64_t bins, int64_t samples) {
    double *at = ARENA_ARRAY(c->graph->arena, double, bins *samples + 1);
    for (int64_t i = 0; i < bins * samples; i++)
        at[i] = (double)(i / samples) + ((double)(i % samples) + 0.5) / (double)samples;
    Node *steps = onnx_numbers(c, start->type.dtype, 2, (int64_t[]){1, bins * samples}, at);
    Node *in[] = {
        start, ONNX_BINARY(c, OP_div, size, onnx_scalar(c, size->type.dtype, (double)bins)), steps};
    return onnx_formula(c, in, 3, "add($0, mul($2, $1))");
}

// [R, a] as [R, a, b] flattened: each element for all of the other axis (by rows), or the reverse.
static Node *cross(OnnxCall *c, Node *x, const Dim *other, bool rows) {
    Graph *g = c->graph;
    const Dim *n = x->type.dim[1], *one = dim_const(g, 1),
              *dims[] = {x->type.dim[0], rows ? n : one, rows ? one : n};
    Type wide = {
        .dtype = x->type.dtype, .rank = 3, .dim = {dims[0], rows ? n : other, rows ? other : n}};
    const Dim *flat[] = {dims[0], dim_binary(g, DIM_MUL, n, other)};
    return onnx_shape_to(c, onnx_expand_to(c, onnx_shape_to(c, x, 3, dims), &wide), 2, flat);
}

enum { MOST_BINS = 65536 };

// x [N, C, H, W], regions [R, 4], batch index [R]: the mean (or maximum) of bilinear samples in
// each bin
void onnx_roi_align(OnnxCall *c, int argument) {
    (void)argument;
    Graph *g = c->graph;
    Node *x = onnx_node(c, 0), *regions = onnx_node(c, 1), *coordinate[2], *corner[4];
    int64_t bins[] = {onnx_int(c, "output_height", 1), onnx_int(c, "output_width", 1)},
            samples = onnx_int(c, "sampling_ratio", 0);
    bool half = strcmp(onnx_string(c, "coordinate_transformation_mode",
                                   c->opset < 16 ? "output_half_pixel" : "half_pixel"),
                       "output_half_pixel");
    bool maximum = !strcmp(onnx_string(c, "mode", "avg"), "max");
    if (samples < 1)
        onnx_fatal(c, "takes a sampling_ratio above 0: the number of samples must be known");
    for (int i = 0; i < 2; i++)
        if (bins[i] < 1 || bins[i] > MOST_BINS || samples > MOST_BINS)
            onnx_fatal(c, "%lld bins of %lld samples, expected 1 to %d of each", (long long)bins[i],
                       (long long)samples, MOST_BINS);
    Sampler s = {.spatial = 2,
                 .taps = 2,
                 .padding = "border",
                 .extent = {onnx_extent(c, x, 2), onnx_extent(c, x, 3)}};
    for (int i = 0; i < 4; i++)
        corner[i] = ONNX_FORMULA(c, onnx_slice_from(c, regions, 1, i, 1), "sub(mul($0, %a), %a)",
                                 onnx_float(c, "spatial_scale", 1), half ? 0.5 : 0.0);
    const Dim *side[] = {dim_const(g, bins[0] * samples), dim_const(g, bins[1] * samples)};
    Node *known = NULL;
    for (int i = 0; i < 2; i++) {
        Node *size = ONNX_BINARY(c, OP_sub, corner[3 - i], corner[1 - i]);
        if (!half) size = ONNX_FORMULA(c, size, "max($0, 1)");
        Node *at = cross(c, roi_places(c, corner[1 - i], size, bins[i], samples), side[!i], i == 0);
        double n = (double)s.extent[i];
        Node *near = ONNX_FORMULA(
            c, at, "where(and(greater_or_equal($0, -1), less_or_equal($0, %a)), 1, 0)", n);
        known = known ? ONNX_BINARY(c, OP_mul, known, near) : near;
        coordinate[i] = ONNX_FORMULA(c, at, "max(0, min(%a, $0))", n - 1);
    }
    Node *chosen = onnx_take(c, x, onnx_node(c, 2), 0), *y = NULL;
    const Dim *b[] = {dim_const(g, bins[0]), dim_const(g, bins[1])}, *r = dim_const(g, samples),
              *rois = regions->type.dim[0];
    const Dim *apart[] = {rois, b[0], r, b[1], r, x->type.dim[1]};
    if (!maximum) {
        y = times_weight(c, sample(c, chosen, &s, coordinate), known);
        y = onnx_reduce_over(c, OP_reduce_mean, onnx_shape_to(c, y, 6, apart), (int64_t[]){2, 4}, 2,
                             false);
    } else {  // the maximum of the four weighted neighbours of every sample
        Node *last = channels_last(c, chosen);
        for (int i = 0; i < 4; i++) {
            Tap tap = make_tap(c, &s, coordinate, i);
            Node *value = times_weight(
                c, times_weight(c, read_taps(c, last, tap.index, 2), tap.weight), known);
            y = y ? ONNX_BINARY(c, OP_max, y, value) : value;
        }
        y = onnx_reduce_over(c, OP_reduce_max, onnx_shape_to(c, y, 6, apart), (int64_t[]){2, 4}, 2,
                             false);
    }
    onnx_result(c, 0, onnx_permute(c, y, (int64_t[]){0, 3, 1, 2}));
}

// -------------------------------------------------------------------------------------- DeformConv
typedef struct Deform {
    int64_t kernel[2], strides[2], dilations[2], pads[4], out[2], groups, offset_groups;
} Deform;

static void read_pair(const OnnxCall *c, const char *name, int n, int64_t absent, int64_t *list) {
    int found;
    const int64_t *given = onnx_ints(c, name, &found);
    if (given && found != n) onnx_fatal(c, "%s has %d values, expected %d", name, found, n);
    for (int i = 0; i < n; i++) list[i] = given ? given[i] : absent;
}

// The position of tap (ky, kx) of every output before the offsets, along one axis: [1, kh * kw * oh
// * ow]
static Node *deform_base(OnnxCall *c, const Deform *d, int axis, DType dtype) {
    int64_t taps = d->kernel[0] * d->kernel[1], places = d->out[0] * d->out[1];
    double *at = ARENA_ARRAY(c->graph->arena, double, taps *places + 1);
    for (int64_t i = 0; i < taps * places; i++) {
        int64_t tap = i / places, place = i % places;
        int64_t k = axis ? tap % d->kernel[1] : tap / d->kernel[1],
                o = axis ? place % d->out[1] : place / d->out[1];
        at[i] = (double)(o * d->strides[axis] - d->pads[axis] + k * d->dilations[axis]);
    }
    return onnx_numbers(c, dtype, 2, (int64_t[]){1, taps * places}, at);
}

// x, weights, offsets [N, groups * kh * kw * 2, oh, ow], bias, mask: a convolution whose taps are
// moved and weighted
void onnx_deform_conv(OnnxCall *c, int argument) {
    (void)argument;
    Graph *g = c->graph;
    Node *x = onnx_node(c, 0), *w = onnx_node(c, 1), *offset = onnx_node(c, 2);
    Deform d = {.groups = onnx_int(c, "group", 1), .offset_groups = onnx_int(c, "offset_group", 1)};
    read_pair(c, "strides", 2, 1, d.strides), read_pair(c, "dilations", 2, 1, d.dilations),
        read_pair(c, "pads", 4, 0, d.pads);
    for (int i = 0; i < 2; i++)
        d.kernel[i] = onnx_extent(c, w, 2 + i), d.out[i] = onnx_extent(c, offset, 2 + i);
    int64_t channels = onnx_extent(c, x, 1), filters = onnx_extent(c, w, 0),
            taps = d.kernel[0] * d.kernel[1];
    int64_t places = d.out[0] * d.out[1],
            each = d.offset_groups > 0 ? channels / d.offset_groups : 0;
    if (d.offset_groups < 1 || channels % d.offset_groups || d.groups < 1 || channels % d.groups ||
        filters % d.groups)
        onnx_fatal(c,
                   "%lld channels for %lld filters do not fall into %lld groups (%lld of offsets)",
                   (long long)channels, (long long)filters, (long long)d.groups,
                   (long long)d.offset_groups);
    const Dim *n = x->type.dim[0], *points = dim_const(g, taps * places), *flat[] = {n, points};
    const Dim *moves[] = {n, dim_const(g, d.offset_groups), dim_const(g, taps), dim_const(g, 2),
                          dim_const(g, places)};
    offset = onnx_shape_to(c, offset, 5, moves);
    Node **parts = ARENA_ARRAY(g->arena, Node *, d.offset_groups), *coordinate[2];
    Sampler s = {.spatial = 2,
                 .taps = 2,
                 .padding = "zeros",
                 .extent = {onnx_extent(c, x, 2), onnx_extent(c, x, 3)}};
    for (int64_t group = 0; group < d.offset_groups; group++) {
        Node *own = onnx_slice_from(c, offset, 1, group, 1);
        for (int i = 0; i < 2; i++)
            coordinate[i] =
                ONNX_BINARY(c, OP_add, onnx_shape_to(c, onnx_slice_from(c, own, 3, i, 1), 2, flat),
                            deform_base(c, &d, i, x->type.dtype));
        Node *y = sample(c, onnx_slice_from(c, x, 1, group * each, each), &s, coordinate);
        if (onnx_operand(c, 4)) {
            Node *mask = onnx_slice_from(c, onnx_node(c, 4), 1, group * taps, taps);
            y = times_weight(c, y, onnx_shape_to(c, mask, 2, flat));
        }
        parts[group] = y;
    }
    // [N, taps * places, C] to [N, G, C/G * taps, places], by weights [G, M/G, C/G * taps]
    Node *columns = onnx_swap(c, onnx_join(c, parts, (int)d.offset_groups, 2), 1, 2);
    const Dim *apart[] = {n, dim_const(g, d.groups), dim_const(g, channels / d.groups * taps),
                          dim_const(g, places)};
    const Dim *rows[] = {apart[1], dim_const(g, filters / d.groups), apart[2]},
              *dims[] = {n, w->type.dim[0], NULL, NULL};
    Node *y = ONNX_BINARY(c, OP_matmul, onnx_shape_to(c, w, 3, rows),
                          onnx_shape_to(c, columns, 4, apart));
    for (int i = 0; i < 2; i++) dims[2 + i] = dim_const(g, d.out[i]);
    y = onnx_shape_to(c, y, 4, dims);
    const Dim *channel[] = {dims[1], dim_const(g, 1), dim_const(g, 1)};
    if (onnx_operand(c, 3))
        y = ONNX_BINARY(c, OP_add, y, onnx_shape_to(c, onnx_node(c, 3), 3, channel));
    onnx_result(c, 0, y);
}
