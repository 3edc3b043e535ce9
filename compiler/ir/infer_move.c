// Types of what moves elements without broadcasting: windows, padding, gathers and scatters by
// element or position, orders.
#include "ir/infer.h"

static bool is_index(const Type *t) { return t->dtype == DT_i32 || t->dtype == DT_i64; }

// A list of integers of exactly `count`, or NULL when it is absent; false after a message.
static bool read_list(const Node *n, const char *name, int count, const int64_t **list) {
    int found;
    *list = attr_ints(n, name, &found);
    if (!*list || found == count) return true;
    return infer_mismatch(n, "\"%s\" has %d integers, not %d", name, found, count);
}

// ((in - 1 - (kernel - 1) * dilation) / stride) + 1
static const Dim *window_count(Graph *g, const Dim *in, int64_t kernel, int64_t stride,
                               int64_t dilation) {
    const Dim *room = dim_sub(g, in, dim_const(g, (kernel - 1) * dilation + 1));
    return dim_binary(g, DIM_ADD, dim_binary(g, DIM_FLOORDIV, room, dim_const(g, stride)),
                      dim_const(g, 1));
}

bool infer_windows(Graph *g, Node *n, Type *result) {
    int axes;
    const Type *x = operand(n, 0);
    const int64_t *kernel = attr_ints(n, "kernel", &axes), *strides, *dilations;
    if (!kernel || axes > x->rank || x->rank + axes > MAX_RANK)
        return infer_mismatch(
            n, "\"kernel\" must list at most %d extents, and the result has at most %d axes",
            x->rank, MAX_RANK);
    if (!read_list(n, "strides", axes, &strides) || !read_list(n, "dilations", axes, &dilations))
        return false;
    *result = *x;
    result->rank = x->rank + axes;
    for (int i = 0, axis = x->rank - axes; i < axes; i++, axis++) {
        int64_t stride = strides ? strides[i] : 1, dilation = dilations ? dilations[i] : 1;
        if (kernel[i] < 1 || stride < 1 || dilation < 1 || kernel[i] > INT32_MAX ||
            stride > INT32_MAX || dilation > INT32_MAX)
            return infer_mismatch(n, "kernel, stride and dilation must be positive");
        if ((kernel[i] - 1) * dilation >= dim_upper(x->dim[axis]))
            return infer_mismatch(n, "axis %d of %s is shorter than the window", axis,
                                  dim_text(x->dim[axis]));
        result->dim[axis] = window_count(g, x->dim[axis], kernel[i], stride, dilation);
        result->dim[axis + axes] = dim_const(g, kernel[i]);
    }
    return true;
}

bool infer_pad(Graph *g, Node *n, Type *result) {
    const Type *x = operand(n, 0);
    int lows, highs;
    const Dim *const *low = attr_dims(n, "low", &lows), *const *high = attr_dims(n, "high", &highs);
    const int64_t *interior;
    if (!low || !high || lows != x->rank || highs != x->rank)
        return infer_mismatch(n, "\"low\" and \"high\" must be lists of %d dimensions", x->rank);
    if (!read_list(n, "interior", x->rank, &interior)) return false;
    if (operand(n, 1)->rank || operand(n, 1)->dtype != x->dtype)
        return infer_mismatch(n, "the value must be a scalar of x's type");
    *result = *x;
    for (int i = 0; i < x->rank; i++) {
        if (dim_lower(low[i]) < 0 || dim_lower(high[i]) < 0 || (interior && interior[i] < 0))
            return infer_mismatch(n, "a pad is negative");
        if (interior && interior[i]) {
            const Dim *gaps = dim_sub(g, x->dim[i], dim_const(g, 1));
            result->dim[i] = dim_binary(g, DIM_ADD, x->dim[i],
                                        dim_binary(g, DIM_MUL, gaps, dim_const(g, interior[i])));
        }
        result->dim[i] =
            dim_binary(g, DIM_ADD, result->dim[i], dim_binary(g, DIM_ADD, low[i], high[i]));
    }
    return true;
}

bool infer_gather_elements(Graph *g, Node *n, Type *result) {
    (void)g;
    const Type *x = operand(n, 0), *index = operand(n, 1);
    int axis;
    if (!is_index(index) || index->rank != x->rank)
        return infer_mismatch(n, "the index must be i32 or i64, of the rank of x");
    if (!infer_axis(n, 0, x->rank, &axis)) return false;
    *result = *index;
    result->dtype = x->dtype;
    return true;
}

// Sizes whose difference is known and not 0. Others may turn out to be equal.
static bool surely_differ(Graph *g, const Dim *a, const Dim *b) {
    int64_t difference;
    return dim_is_const(dim_sub(g, a, b), &difference) && difference != 0;
}

bool infer_gather_nd(Graph *g, Node *n, Type *result) {
    const Type *x = operand(n, 0), *index = operand(n, 1);
    int64_t batch = attr_int(n, "batch_dims", 0), depth;
    if (!is_index(index) || !index->rank || !dim_is_const(index->dim[index->rank - 1], &depth))
        return infer_mismatch(n, "the index must be i32 or i64, its last axis constant");
    if (batch < 0 || batch >= index->rank || batch + depth > x->rank)
        return infer_mismatch(n, "%lld positions after %lld batch axes of a value of rank %d",
                              (long long)depth, (long long)batch, x->rank);
    if (index->rank - 1 + x->rank - batch - depth > MAX_RANK)
        return infer_mismatch(n, "the result has more than %d axes", MAX_RANK);
    for (int i = 0; i < batch; i++)
        if (surely_differ(g, x->dim[i], index->dim[i]))
            return infer_mismatch(n, "batch axis %d of the index must be %s", i,
                                  dim_text(x->dim[i]));
    *result = type_scalar(x->dtype);
    for (int i = 0; i + 1 < index->rank; i++) result->dim[result->rank++] = index->dim[i];
    for (int i = (int)(batch + depth); i < x->rank; i++) result->dim[result->rank++] = x->dim[i];
    return true;
}

// Updates of scatter_nd are [the index without its last axis, x's axes after the indexed ones].
static bool updates_fit(Graph *g, Node *n, int depth) {
    const Type *x = operand(n, 0), *index = operand(n, 1), *updates = operand(n, 2);
    int outer = index->rank - 1;
    if (updates->rank != outer + x->rank - depth)
        return infer_mismatch(n, "updates must have rank %d", outer + x->rank - depth);
    for (int i = 0; i < updates->rank; i++) {
        const Dim *expected = i < outer ? index->dim[i] : x->dim[depth + i - outer];
        if (surely_differ(g, updates->dim[i], expected))
            return infer_mismatch(n, "axis %d of updates must be %s", i, dim_text(expected));
    }
    return true;
}

// An update for each index; indices within x but along the axis.
static bool elements_fit(Graph *g, Node *n, int axis) {
    const Type *x = operand(n, 0), *index = operand(n, 1), *updates = operand(n, 2);
    if (index->rank != x->rank || updates->rank != x->rank)
        return infer_mismatch(n, "operands differ in rank");
    for (int i = 0; i < x->rank; i++) {
        int64_t more;
        if (surely_differ(g, index->dim[i], updates->dim[i]))
            return infer_mismatch(n, "axis %d of updates must be %s, as in the index", i,
                                  dim_text(index->dim[i]));
        if (i != axis && dim_is_const(dim_sub(g, index->dim[i], x->dim[i]), &more) && more > 0)
            return infer_mismatch(n, "axis %d of the index is longer than %s, that of x", i,
                                  dim_text(x->dim[i]));
    }
    return true;
}

bool infer_scatter(Graph *g, Node *n, Type *result) {
    const Type *x = operand(n, 0), *index = operand(n, 1), *updates = operand(n, 2);
    int axis;
    int64_t depth;
    *result = *x;
    if (!is_index(index) || updates->dtype != x->dtype)
        return infer_mismatch(n, "takes x, indices (i32 or i64) and updates of the type of x");
    if (n->op == OP_scatter_elements)
        return infer_axis(n, 0, x->rank, &axis) && elements_fit(g, n, axis);
    if (!index->rank || !dim_is_const(index->dim[index->rank - 1], &depth) || depth > x->rank)
        return infer_mismatch(n,
                              "the last axis of the index must be constant, at most the rank of x");
    return updates_fit(g, n, (int)depth);
}

bool infer_nonzero(Graph *g, Node *n, Type *result) {
    const Dim *extent = attr_dim(n, "extent");
    if (!extent || extent->kind != DIM_SYMBOL)
        return infer_mismatch(n, "\"extent\" must be a symbol");
    *result = type_scalar(DT_i64);
    result->rank = 2, result->dim[0] = dim_const(g, operand(n, 0)->rank), result->dim[1] = extent;
    return true;
}

bool infer_unique(Graph *g, Node *n, Type *result) {
    const Type *x = operand(n, 0);
    const Dim *extent = attr_dim(n, "extent");
    int axis;
    if (!extent || extent->kind != DIM_SYMBOL)
        return infer_mismatch(n, "\"extent\" must be a symbol");
    if (!infer_axis(n, 0, x->rank, &axis)) return false;
    Type *items = ARENA_ARRAY(g->arena, Type, 4);
    for (int i = 1; i < 4; i++) items[i] = type_of(DT_i64, 1, i == 2 ? &x->dim[axis] : &extent);
    items[0] = *x, items[0].dim[axis] = extent;
    n->items = items, n->n_items = 4;
    *result = type_scalar(DT_tuple);
    return true;
}

bool infer_suppression(Graph *g, Node *n, Type *result) {
    const Type *boxes = operand(n, 0), *scores = operand(n, 1);
    const Dim *extent = attr_dim(n, "extent");
    if (!extent || extent->kind != DIM_SYMBOL)
        return infer_mismatch(n, "\"extent\" must be a symbol");
    bool fits = boxes->rank == 3 && scores->rank == 3 && boxes->dim[2] == dim_const(g, 4) &&
                boxes->dim[0] == scores->dim[0] && boxes->dim[1] == scores->dim[2];
    if (!fits) return infer_mismatch(n, "takes boxes [B, N, 4] and scores [B, C, N]");
    *result = type_of(DT_i64, 2, (const Dim *const[]){extent, dim_const(g, 3)});
    return true;
}

// ------------------------------------------------------------------------------------------ orders
bool infer_arg_reduce(Graph *g, Node *n, Type *result) {
    const Type *x = operand(n, 0);
    int axis;
    if (!infer_axis(n, 0, x->rank, &axis)) return false;
    *result = type_scalar(DT_i64);
    for (int i = 0; i < x->rank; i++) {
        if (i != axis)
            result->dim[result->rank++] = x->dim[i];
        else if (attr_int(n, "keepdims", 1))
            result->dim[result->rank++] = dim_const(g, 1);
    }
    return true;
}

bool infer_top_k(Graph *g, Node *n, Type *result) {
    const Type *x = operand(n, 0);
    const Dim *extent = attr_dim(n, "extent");
    int axis;
    if (!infer_axis(n, -1, x->rank, &axis)) return false;
    if (!extent || dim_upper(dim_sub(g, extent, x->dim[axis])) > 0)
        return infer_mismatch(n, "\"extent\" must be one dimension, at most %s",
                              dim_text(x->dim[axis]));
    Type *items = ARENA_ARRAY(g->arena, Type, 2);
    items[0] = *x, items[0].dim[axis] = extent;
    items[1] = items[0], items[1].dtype = DT_i64;
    n->items = items, n->n_items = 2;
    *result = type_scalar(DT_tuple);
    return true;
}
