// Operators that move elements: padding, tiling, blocks of pixels, reversed sequences. All are
// views, pads and gathers.
#include <string.h>

#include "frontend/onnx/operators/compose.h"

// ----------------------------------------------------------------------------------------- padding
// Where element i of a padded axis comes from.
static int64_t source_of(const char *mode, int64_t i, int64_t n) {
    if (!strcmp(mode, "edge")) return i < 0 ? 0 : i >= n ? n - 1 : i;
    if (!strcmp(mode, "wrap")) return (i % n + n) % n;
    int64_t period = n > 1 ? 2 * (n - 1) : 1, at = (i % period + period) % period;  // reflect
    return at < n ? at : period - at;
}

enum { MOST_INDICES = 1 << 24 };

// Where element i of a padded axis comes from, as positions that a run computes: the axis has a
// size of the run.
static Node *sources(OnnxCall *c, const char *mode, const Dim *n, const Dim *low,
                     const Dim *count) {
    Type shape = {.dtype = DT_i64, .rank = 1, .dim = {count}};
    Node *at = onnx_cast(c, onnx_index_along(c, &shape, 0), DT_i64),
         *extent = onnx_number_of(c, n, DT_i64);
    Node *in[] = {ONNX_BINARY(c, OP_sub, at, onnx_number_of(c, low, DT_i64)), extent};
    if (!strcmp(mode, "edge")) return onnx_formula(c, in, 2, "max(0, min(sub($1, 1), $0))");
    if (!strcmp(mode, "wrap")) return onnx_formula(c, in, 2, "mod($0, $1)");
    Node *period = onnx_formula(c, &extent, 1, "max(1, mul(2, sub($0, 1)))");
    Node *turns[] = {onnx_formula(c, (Node *[]){in[0], period}, 2, "mod($0, $1)"), period};
    return onnx_formula(c, turns, 2, "min($0, abs(sub($1, $0)))");
}

static Node *constant_sources(OnnxCall *c, const char *mode, int64_t n, int64_t low,
                              int64_t count) {
    int64_t *index = ARENA_ARRAY(c->graph->arena, int64_t, count + 1);
    for (int64_t i = 0; i < count; i++) index[i] = source_of(mode, i - low, n);
    return onnx_integers(c, index, count);
}

static Node *pad_by_index(OnnxCall *c, Node *x, const char *mode, const PadDims *p) {
    Graph *g = c->graph;
    for (int axis = 0; axis < x->type.rank; axis++) {
        const Dim *extent = x->type.dim[axis],
                  *added = dim_binary(g, DIM_ADD, p->low[axis], p->high[axis]);
        const Dim *padded = dim_binary(g, DIM_ADD, extent, added);
        int64_t n, low, count, high;
        if (dim_is_const(p->low[axis], &low) && dim_is_const(p->high[axis], &high) && !low && !high)
            continue;
        if (dim_upper(extent) < 1 || dim_upper(padded) < 0 || dim_upper(padded) > MOST_INDICES)
            onnx_fatal(c, "cannot pad axis %d of %s", axis, type_text(&x->type));
        bool known = dim_is_const(extent, &n) && dim_is_const(p->low[axis], &low) &&
                     dim_is_const(padded, &count);
        dim_raise(extent, 1);
        x = onnx_take(c, x,
                      known ? constant_sources(c, mode, n, low, count)
                            : sources(c, mode, extent, p->low[axis], padded),
                      axis);
    }
    return x;
}

// pads, value, axes: attributes before opset 11, operands since
void onnx_pad_op(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    int n, rank = x->type.rank, n_axes = rank;
    int64_t axes[MAX_RANK];
    const int64_t *given = onnx_ints(c, "pads", &n);
    const Dim *const *list = given ? NULL : onnx_need_elements(c, 1, &n, "the list of pads");
    const char *mode = onnx_string(c, "mode", "constant");
    for (int i = 0; i < rank; i++) axes[i] = i;
    if (onnx_operand(c, 3)) n_axes = onnx_int_list(c, 3, axes, MAX_RANK, "the axes");
    if (n != 2 * n_axes) onnx_fatal(c, "%d pads for %d axes", n, n_axes);
    PadDims pads = {0};
    for (int i = 0; i < rank; i++) pads.low[i] = pads.high[i] = dim_const(c->graph, 0);
    for (int i = 0; i < n_axes; i++) {
        int axis = onnx_axis(c, axes[i], rank);
        pads.low[axis] = given ? dim_const(c->graph, given[i]) : list[i];
        pads.high[axis] = given ? dim_const(c->graph, given[n_axes + i]) : list[n_axes + i];
    }
    if (strcmp(mode, "constant")) {
        onnx_result(c, 0, pad_by_index(c, x, mode, &pads));
        return;
    }
    Node *value = onnx_operand(c, 2)
                      ? onnx_reshape(c, onnx_node(c, 2), &(Type){.dtype = x->type.dtype})
                      : onnx_scalar(c, x->type.dtype, onnx_float(c, "value", 0));
    onnx_result(c, 0, build_pad(onnx_builder(c), x, &pads, value));
}

// The axes' middle: cut off on both sides, or padded by zeros.
void onnx_center_crop_pad(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    int64_t shape[MAX_RANK];
    int n = onnx_int_list(c, 1, shape, MAX_RANK, "the shape"), n_axes;
    const int64_t *axes = onnx_ints(c, "axes", &n_axes);
    if (n != (axes ? n_axes : x->type.rank))
        onnx_fatal(c, "%d dimensions for %d axes", n, axes ? n_axes : x->type.rank);
    OnnxPads pads = {0};
    for (int i = 0; i < n; i++) {
        int axis = onnx_axis(c, axes ? axes[i] : i, x->type.rank);
        if (shape[i] < 0 || shape[i] > INT32_MAX)
            onnx_fatal(c, "the shape has the dimension %lld, expected 0 to %d", (long long)shape[i],
                       INT32_MAX);
        int64_t more = shape[i] - onnx_extent(c, x, axis);
        pads.low[axis] = more >= 0 ? more / 2 : -(-more / 2);
        pads.high[axis] = more - pads.low[axis];
    }
    onnx_result(c, 0, onnx_pad_with(c, x, &pads, 0));
}

// ------------------------------------------------------------------------------------------- views
// [a, b] tiled [r, s] is [r, a, s, b] flattened.
void onnx_tile(OnnxCall *c, int argument) {
    (void)argument;
    Graph *g = c->graph;
    Node *x = onnx_node(c, 0);
    int n, rank = x->type.rank;
    const Dim *const *repeats = onnx_need_elements(c, 1, &n, "the list of repeats"),
                     *one = dim_const(g, 1);
    if (n != rank) onnx_fatal(c, "%d repeats of a value of rank %d", n, rank);
    for (int axis = 0; axis < rank; axis++) {  // axis by axis, so that ranks stay low
        if (dim_upper(repeats[axis]) < 0)
            onnx_fatal(c, "cannot repeat axis %d %s times, expected 0 or more", axis,
                       dim_text(repeats[axis]));
        if (repeats[axis] == one) continue;
        const Dim *apart[3] = {one, one, one}, *dims[MAX_RANK];
        for (int i = 0; i < rank; i++) {
            int part = i < axis ? 0 : 2;
            apart[part] = dim_binary(g, DIM_MUL, apart[part], x->type.dim[i]);
            dims[i] =
                i == axis ? dim_binary(g, DIM_MUL, x->type.dim[i], repeats[axis]) : x->type.dim[i];
        }
        Type repeated = {
            .dtype = x->type.dtype, .rank = 3, .dim = {apart[0], repeats[axis], apart[2]}};
        x = onnx_expand_to(c, onnx_shape_to(c, x, 3, apart), &repeated);
        x = onnx_shape_to(c, x, rank, dims);
    }
    onnx_result(c, 0, x);
}

// A reshape to six axes, their order changed, and a reshape to four.
static void regroup(OnnxCall *c, Node *x, const Dim *const *apart, const int64_t *perm) {
    Graph *g = c->graph;
    Node *y = onnx_permute(c, onnx_shape_to(c, x, 6, apart), perm);
    const Dim *const *d = y->type.dim, *dims[] = {d[0], d[1], d[2], d[3]};
    if (perm[2] == 3 || perm[2] == 4) {  // [N, C, H, b, W, b]
        dims[2] = dim_binary(g, DIM_MUL, d[2], d[3]), dims[3] = dim_binary(g, DIM_MUL, d[4], d[5]);
    } else {  // [N, b, b, C, H, W]
        dims[1] = dim_binary(g, DIM_MUL, d[1], dim_binary(g, DIM_MUL, d[2], d[3])), dims[2] = d[4],
        dims[3] = d[5];
    }
    onnx_result(c, 0, onnx_shape_to(c, y, 4, dims));
}

static const Dim *block_size(OnnxCall *c) {
    int64_t size = onnx_int(c, "blocksize", 1);
    if (size < 1) onnx_fatal(c, "blocksize is %lld, expected one above 0", (long long)size);
    return dim_const(c->graph, size);
}

void onnx_depth_to_space(OnnxCall *c, int argument) {
    (void)argument;
    Graph *g = c->graph;
    Node *x = onnx_node(c, 0);
    const Dim *block = block_size(c), *const *d = x->type.dim;
    const Dim *depth = dim_binary(g, DIM_FLOORDIV, d[1], dim_binary(g, DIM_MUL, block, block));
    if (!strcmp(onnx_string(c, "mode", "DCR"), "DCR"))
        regroup(c, x, (const Dim *[]){d[0], block, block, depth, d[2], d[3]},
                (int64_t[]){0, 3, 4, 1, 5, 2});
    else
        regroup(c, x, (const Dim *[]){d[0], depth, block, block, d[2], d[3]},
                (int64_t[]){0, 1, 4, 2, 5, 3});
}

void onnx_space_to_depth(OnnxCall *c, int argument) {
    (void)argument;
    Graph *g = c->graph;
    Node *x = onnx_node(c, 0);
    const Dim *block = block_size(c), *const *d = x->type.dim;
    const Dim *h = dim_binary(g, DIM_FLOORDIV, d[2], block),
              *w = dim_binary(g, DIM_FLOORDIV, d[3], block);
    const Dim *apart[] = {d[0], d[1], h, block, w, block};
    bool channel_first = !strcmp(onnx_string(c, "mode", "DCR"), "CRD");
    const int64_t *order =
        channel_first ? (int64_t[]){0, 1, 3, 5, 2, 4} : (int64_t[]){0, 3, 5, 1, 2, 4};
    Node *y = onnx_permute(c, onnx_shape_to(c, x, 6, apart), order);
    const Dim *dims[] = {d[0], dim_binary(g, DIM_MUL, d[1], dim_binary(g, DIM_MUL, block, block)),
                         h, w};
    onnx_result(c, 0, onnx_shape_to(c, y, 4, dims));
}

// Of each sequence of the batch the first `length` elements backwards: gather by where(i < length,
// length - 1 - i, i).
void onnx_reverse_sequence(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0), *length = onnx_cast(c, onnx_node(c, 1), DT_i64);
    int batch = (int)onnx_int(c, "batch_axis", 1), time = (int)onnx_int(c, "time_axis", 0);
    if (batch + time != 1)
        onnx_fatal(c, "batch_axis is %d, time_axis %d, expected one 0 and one 1", batch, time);
    const Dim *dims[MAX_RANK];
    for (int i = 0; i < x->type.rank; i++)
        dims[i] = i == batch ? x->type.dim[i] : dim_const(c->graph, 1);
    Node *in[] = {onnx_cast(c, onnx_index_along(c, &x->type, time), DT_i64),
                  onnx_shape_to(c, length, x->type.rank, dims)};
    Node *index = onnx_formula(c, in, 2, "where(less($0, $1), sub(sub($1, 1), $0), $0)");
    Node *n = onnx_emit_make(c, OP_gather_elements, 2, (Node *[]){x, index});
    attr_set_int(n, "axis", time);
    onnx_result(c, 0, onnx_finish(c, n));
}

enum { MOST_COLUMNS = 1 << 24 };  // elements of all blocks

// An attribute of n integers from `least` on; `least` each where it is absent.
static const int64_t *list_of(OnnxCall *c, const char *name, int n, int64_t least) {
    int found;
    const int64_t *given = onnx_ints(c, name, &found);
    int64_t *list = ARENA_ARRAY(c->graph->arena, int64_t, n);
    if (given && found != n) onnx_fatal(c, "%s has %d values, expected %d", name, found, n);
    for (int i = 0; i < n; i++) {
        list[i] = given ? given[i] : least;
        if (list[i] < least || list[i] > MOST_COLUMNS)
            onnx_fatal(c, "%s has the value %lld, expected %lld to %d", name, (long long)list[i],
                       (long long)least, MOST_COLUMNS);
    }
    return list;
}

// Columns of overlapping blocks, summed: [N, C * prod(block), L] scattered into the padded image.
void onnx_col2im(OnnxCall *c, int argument) {
    (void)argument;
    Graph *g = c->graph;
    Node *x = onnx_node(c, 0);
    int64_t image[MAX_RANK], block[MAX_RANK], padded[MAX_RANK], count[MAX_RANK];
    int n = onnx_int_list(c, 1, image, 4, "the image shape"),
        m = onnx_int_list(c, 2, block, 4, "the block shape");
    if (n != m || n < 1) onnx_fatal(c, "the image has %d dimensions, the block %d", n, m);
    const int64_t *strides = list_of(c, "strides", n, 1),
                  *dilations = list_of(c, "dilations", n, 1), *pads = list_of(c, "pads", 2 * n, 0);
    int64_t taps = 1, places = 1, size = 1;
    OnnxPads cut = {0};
    for (int i = 0; i < n; i++) {
        if (image[i] < 1 || block[i] < 1 || image[i] > MOST_COLUMNS || block[i] > MOST_COLUMNS)
            onnx_fatal(c, "an image of %lld in blocks of %lld, expected 1 to %d",
                       (long long)image[i], (long long)block[i], MOST_COLUMNS);
        padded[i] = image[i] + pads[i] + pads[n + i];
        cut.low[2 + i] = -pads[i], cut.high[2 + i] = -pads[n + i];
        count[i] = (padded[i] - dilations[i] * (block[i] - 1) - 1) / strides[i] + 1;
        taps *= block[i], places *= count[i], size *= padded[i];
        if (count[i] < 1 || taps > MOST_COLUMNS || places > MOST_COLUMNS ||
            taps * places > MOST_COLUMNS || size > INT32_MAX)
            onnx_fatal(c, "%lld blocks of %lld elements, expected 1 to %d elements in all",
                       (long long)count[i], (long long)taps, MOST_COLUMNS);
    }
    int64_t *index = ARENA_ARRAY(g->arena, int64_t, taps *places + 1);
    for (int64_t t = 0; t < taps; t++)
        for (int64_t p = 0; p < places; p++) {
            int64_t at = 0, unit = 1, tap = t, place = p;
            for (int i = n - 1; i >= 0; unit *= padded[i], tap /= block[i], place /= count[i], i--)
                at += unit * (place % count[i] * strides[i] + tap % block[i] * dilations[i]);
            index[t * places + p] = at;
        }
    const Dim *batch = x->type.dim[0],
              *channels = dim_binary(g, DIM_FLOORDIV, x->type.dim[1], dim_const(g, taps));
    Type flat = {.dtype = x->type.dtype,
                 .rank = 3,
                 .dim = {batch, channels, dim_const(g, taps * places)}},
         whole = flat;
    whole.dim[2] = dim_const(g, size);
    Node *where = onnx_expand_to(c, onnx_integers(c, index, taps * places), &flat);
    Node *zeros = onnx_expand_to(c, onnx_scalar(c, x->type.dtype, 0), &whole);
    Node *y = onnx_emit_make(c, OP_scatter_elements, 3,
                             (Node *[]){zeros, where, onnx_reshape(c, x, &flat)});
    attr_set_int(y, "axis", 2);
    attr_set_string(y, "reduction", "add");
    Type result = {.dtype = x->type.dtype, .rank = 2 + n, .dim = {batch, channels}};
    for (int i = 0; i < n; i++) result.dim[2 + i] = dim_const(g, padded[i]);
    onnx_result(c, 0, onnx_pad_with(c, onnx_reshape(c, onnx_finish(c, y), &result), &cut, 0));
}
