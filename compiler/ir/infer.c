// Types of results from types of operands, one function for each kind of op (named in ops.def).
// Each sets *result and returns true, or reports a mismatch and returns false. node_infer has
// already checked required attributes.
#include "ir/infer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool infer_mismatch(const Node *n, const char *format, ...) {
    Text text = {0};
    text_add(&text, "%s: ", op_info[n->op].name);
    va_list args;
    va_start(args, format);
    text_vspell(&text, format, args);
    va_end(args);
    if (n->n_in) text_add(&text, "\nnote: operands are ");
    for (int i = 0; i < n->n_in; i++)
        text_add(&text, "%s%s", i ? ", " : "", n->in[i] ? type_text(&n->in[i]->type) : "none");
    diag_error(n->loc, "%-s", text.data);
    text_free(&text);
    return false;
}

static bool is_integer(DType t) { return !dtype_is_float(t) && t <= DT_u2 && t != DT_bool; }

static bool read_axis(const Node *n, int64_t axis, int rank, int *result) {
    *result = 0;
    if (axis < -rank || axis >= rank)
        return infer_mismatch(n, "axis %lld of a value of rank %d", (long long)axis, rank);
    *result = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

bool infer_axis(Node *n, int64_t absent, int rank, int *result) {
    int64_t axis = attr_int(n, "axis", absent);
    if (!read_axis(n, axis, rank, result)) return false;
    if (axis < 0) attr_set_int(n, "axis", *result);
    return true;
}

// ------------------------------------------------------------------------------------------ leaves
bool infer_given(Graph *g, Node *n, Type *result) {
    (void)g;
    *result = n->type;
    return true;
}

bool infer_constant(Graph *g, Node *n, Type *result) {
    if (n->value) *result = type_of_tensor(g, n->value);
    return true;
}

bool infer_iota(Graph *g, Node *n, Type *result) {
    (void)g;
    int rank, axis;
    const Dim *const *dims = attr_dims(n, "dims", &rank);
    if (!dims || rank > MAX_RANK)
        return infer_mismatch(n, "\"dims\" must be a list of at most %d dimensions", MAX_RANK);
    if (!infer_axis(n, 0, rank, &axis)) return false;
    *result = type_of(DT_i32, rank, dims);
    return true;
}

bool infer_random(Graph *g, Node *n, Type *result) {
    (void)g;
    int rank;
    const Dim *const *dims = attr_dims(n, "dims", &rank);
    if (rank > MAX_RANK)
        return infer_mismatch(n, "\"dims\" must be a list of at most %d dimensions", MAX_RANK);
    *result = type_of(DT_f32, rank, dims);
    return true;
}

bool infer_size(Graph *g, Node *n, Type *result) {
    int count;
    const Dim *const *dims = attr_dims(n, "dims", &count);
    bool vector = attr_int(n, "vector", 0);
    if (!dims || (!vector && count != 1))
        return infer_mismatch(n, "\"dims\" must be a list of dimensions, of one unless \"vector\"");
    *result = vector ? type_of(DT_i64, 1, (const Dim *const[]){dim_const(g, count)})
                     : type_scalar(DT_i64);
    return true;
}

bool infer_item(Graph *g, Node *n, Type *result) {
    (void)g;
    int64_t i = attr_int(n, "index", 0);
    if (n->in[0]->type.dtype != DT_tuple)
        return infer_mismatch(n, "the operand has one result, item takes a tuple");
    if (i < 0 || i >= n->in[0]->n_items)
        return infer_mismatch(n, "index %lld of %d results", (long long)i, n->in[0]->n_items);
    *result = n->in[0]->items[i];
    return true;
}

// ------------------------------------------------------------------------------------- elementwise
bool infer_same(Graph *g, Node *n, Type *result) {
    (void)g;
    int axis;
    if (operand(n, 0)->dtype == DT_tuple)
        return infer_mismatch(n, "the operand has several results, choose one with item");
    bool has_axis = attr_find(n, "axis") || (n->op == OP_softmax && operand(n, 0)->rank);
    if (has_axis && !infer_axis(n, -1, operand(n, 0)->rank, &axis)) return false;
    *result = *operand(n, 0);
    return true;
}

bool infer_f32(Graph *g, Node *n, Type *result) {
    if (operand(n, 0)->dtype != DT_f32) return infer_mismatch(n, "takes f32");
    return infer_same(g, n, result);
}

bool infer_bool(Graph *g, Node *n, Type *result) {
    if (operand(n, 0)->dtype != DT_bool) return infer_mismatch(n, "takes bool");
    return infer_same(g, n, result);
}

bool infer_cast(Graph *g, Node *n, Type *result) {
    (void)g;
    const Attr *to = attr_find(n, "to");
    *result = *operand(n, 0);
    result->dtype = to->dtype;
    return true;
}

bool infer_bit_cast(Graph *g, Node *n, Type *result) {
    if (!infer_cast(g, n, result)) return false;
    if (dtype_bits(result->dtype) == dtype_bits(operand(n, 0)->dtype)) return true;
    return infer_mismatch(n, "%s and %s differ in width", dtype_name(operand(n, 0)->dtype),
                          dtype_name(result->dtype));
}

// Dimensions of all operands from `first` on, broadcast.
static bool broadcast_operands(Graph *g, Node *n, int first, Type *result) {
    *result = *operand(n, first);
    for (int i = first + 1; i < n->n_in; i++) {
        Type so_far = *result;
        if (!type_broadcast(g, &so_far, operand(n, i), result))
            return infer_mismatch(n, "shapes do not broadcast");
    }
    return true;
}

bool infer_broadcast(Graph *g, Node *n, Type *result) {
    for (int i = 1; i < n->n_in; i++)
        if (operand(n, i)->dtype != operand(n, 0)->dtype)
            return infer_mismatch(n, "operands differ in element type");
    return broadcast_operands(g, n, 0, result);
}

bool infer_integers(Graph *g, Node *n, Type *result) {
    if (!is_integer(operand(n, 0)->dtype)) return infer_mismatch(n, "takes integers");
    return infer_broadcast(g, n, result);
}

bool infer_compare(Graph *g, Node *n, Type *result) {
    if (!infer_broadcast(g, n, result)) return false;
    result->dtype = DT_bool;
    return true;
}

bool infer_where(Graph *g, Node *n, Type *result) {
    if (operand(n, 0)->dtype != DT_bool) return infer_mismatch(n, "the condition must be bool");
    if (operand(n, 1)->dtype != operand(n, 2)->dtype)
        return infer_mismatch(n, "the two choices differ in element type");
    if (!broadcast_operands(g, n, 0, result)) return false;
    result->dtype = operand(n, 1)->dtype;
    return true;
}

// DT_COUNT: a constant, which adopts the other operand's type. DT_tuple: types differ.
static DType merge_dtypes(DType a, DType b) {
    return a == b || b == DT_COUNT ? a : a == DT_COUNT ? b : DT_tuple;
}

static DType expr_dtype(const Node *n, const Expr *e) {
    if (e->kind == EXPR_ARG) return e->arg < n->n_in ? operand(n, e->arg)->dtype : DT_tuple;
    if (e->kind == EXPR_CONST) return DT_COUNT;
    DType t = DT_COUNT;
    for (int i = e->op == OP_where; i < e->n; i++) t = merge_dtypes(t, expr_dtype(n, e->in[i]));
    if (e->op == OP_where && expr_dtype(n, e->in[0]) != DT_bool) return DT_tuple;
    bool compares = op_info[e->op].infer == infer_compare;
    return compares && t != DT_tuple ? DT_bool : t;
}

bool infer_elementwise(Graph *g, Node *n, Type *result) {
    const Expr *e = attr_expr(n, "expr");
    if (!e) return infer_mismatch(n, "\"expr\" must be a formula");
    DType t = expr_dtype(n, e);
    if (t == DT_tuple)
        return infer_mismatch(
            n, "the formula names an operand that is not there, or mixes element types");
    if (!broadcast_operands(g, n, 0, result)) return false;
    result->dtype = t == DT_COUNT ? operand(n, 0)->dtype : t;
    return true;
}

// -------------------------------------------------------------------------------------- reductions
bool infer_reduce(Graph *g, Node *n, Type *result) {
    int count, axis;
    const int64_t *axes = attr_ints(n, "axes", &count);
    const Type *x = operand(n, 0);
    bool reduced[MAX_RANK] = {false}, keep = attr_int(n, "keepdims", 1);
    if (!axes && count) return infer_mismatch(n, "\"axes\" must be a list of integers");
    int64_t *counted = ARENA_ARRAY(g->arena, int64_t, count + 1);
    bool negative = false;
    for (int i = 0; i < count; i++) {
        if (!read_axis(n, axes[i], x->rank, &axis)) return false;
        negative |= axes[i] < 0;
        counted[i] = axis;
        reduced[axis] = true;
    }
    if (negative) attr_set_ints(n, "axes", counted, count);
    *result = type_scalar(x->dtype);
    for (int i = 0; i < x->rank; i++) {
        if (!reduced[i])
            result->dim[result->rank++] = x->dim[i];
        else if (keep)
            result->dim[result->rank++] = dim_const(g, 1);
    }
    return true;
}

// ------------------------------------------------------------------------------------------- views
static bool read_shape(Node *n, Type *result) {
    int rank;
    const Dim *const *dims = attr_dims(n, "shape", &rank);
    if (attr_find(n, "shape")->kind != ATTR_DIMS || rank > MAX_RANK)
        return infer_mismatch(n, "\"shape\" must be a list of at most %d dimensions", MAX_RANK);
    *result = type_of(operand(n, 0)->dtype, rank, dims);
    return true;
}

bool infer_reshape(Graph *g, Node *n, Type *result) {
    if (!read_shape(n, result)) return false;
    const Dim *before = type_count(g, operand(n, 0)), *after = type_count(g, result);
    if (before == after) return true;
    return infer_mismatch(n, "%s elements cannot take the shape %s", dim_text(before),
                          type_text(result));
}

bool infer_expand(Graph *g, Node *n, Type *result) {
    Type shape;
    if (!read_shape(n, &shape)) return false;
    if (!type_broadcast(g, operand(n, 0), &shape, result) || !type_equal(result, &shape))
        return infer_mismatch(n, "does not broadcast to %s", type_text(&shape));
    return true;
}

bool infer_transpose(Graph *g, Node *n, Type *result) {
    (void)g;
    const Type *x = operand(n, 0);
    int count;
    bool seen[MAX_RANK] = {false};
    const int64_t *perm = attr_ints(n, "perm", &count);
    if (count != x->rank) return infer_mismatch(n, "\"perm\" must list %d axes", x->rank);
    *result = *x;
    for (int i = 0; i < count; i++) {
        if (perm[i] < 0 || perm[i] >= count || seen[perm[i]])
            return infer_mismatch(n, "\"perm\" is not a permutation of the axes");
        seen[perm[i]] = true;
        result->dim[i] = x->dim[perm[i]];
    }
    return true;
}

bool infer_slice(Graph *g, Node *n, Type *result) {
    const Dim *start = attr_dim(n, "start"), *extent = attr_dim(n, "extent");
    int axis;
    int64_t step = attr_int(n, "step", 1);
    *result = *operand(n, 0);
    if (!start || !extent || !step)
        return infer_mismatch(
            n, "\"start\" and \"extent\" must be one dimension each, \"step\" not zero");
    if (!infer_axis(n, 0, result->rank, &axis)) return false;
    const Dim *steps =
        dim_binary(g, DIM_MUL, dim_sub(g, extent, dim_const(g, 1)), dim_const(g, step));
    const Dim *last = dim_binary(g, DIM_ADD, start, steps), *size = result->dim[axis];
    bool some = dim_lower(extent) > 0,
         outside = dim_upper(start) < 0 || dim_lower(dim_sub(g, start, size)) > 0 ||
                   dim_upper(extent) < 0 ||
                   (some && (dim_upper(last) < 0 || dim_lower(dim_sub(g, last, size)) >= 0));
    if (outside)
        return infer_mismatch(n, "%s elements from %s are outside of axis %d", dim_text(extent),
                              dim_text(start), axis);
    result->dim[axis] = extent;
    return true;
}

// ----------------------------------------------------------------------------------- data movement
bool infer_gather(Graph *g, Node *n, Type *result) {
    (void)g;
    const Type *x = operand(n, 0), *index = operand(n, 1);
    int axis;
    if (!is_integer(index->dtype)) return infer_mismatch(n, "indices must be integers");
    if (!infer_axis(n, 0, x->rank, &axis)) return false;
    if (n->in[0]->op == OP_pack && (axis || n->in[0]->n_in > 1))
        return infer_mismatch(n, "only rows of one packed matrix are found");
    if (x->rank + index->rank - 1 > MAX_RANK)
        return infer_mismatch(n, "the result has more than %d axes", MAX_RANK);
    *result = type_scalar(x->dtype);
    for (int i = 0; i < axis; i++) result->dim[result->rank++] = x->dim[i];
    for (int i = 0; i < index->rank; i++) result->dim[result->rank++] = index->dim[i];
    for (int i = axis + 1; i < x->rank; i++) result->dim[result->rank++] = x->dim[i];
    return true;
}

bool infer_concat(Graph *g, Node *n, Type *result) {
    int axis;
    *result = *operand(n, 0);
    if (!infer_axis(n, 0, result->rank, &axis)) return false;
    for (int i = 1; i < n->n_in; i++) {
        const Type *x = operand(n, i);
        if (x->dtype != result->dtype || x->rank != result->rank)
            return infer_mismatch(n, "operands differ in type or rank");
        for (int j = 0; j < x->rank; j++)
            if (j != axis && x->dim[j] != result->dim[j])
                return infer_mismatch(n, "operands differ in axis %d", j);
        result->dim[axis] = dim_binary(g, DIM_ADD, result->dim[axis], x->dim[axis]);
    }
    return true;
}

bool infer_matmul(Graph *g, Node *n, Type *result) {
    Type a = *operand(n, 0), b = *operand(n, 1);
    if (!a.rank || !b.rank) return infer_mismatch(n, "takes values of rank 1 or more");
    if (a.dtype != b.dtype) return infer_mismatch(n, "operands differ in element type");
    const Dim *inner = a.dim[a.rank - 1], *rows = a.rank > 1 ? a.dim[a.rank - 2] : NULL;
    const Dim *columns = b.rank > 1 ? b.dim[b.rank - 1] : NULL;
    if (inner != b.dim[b.rank > 1 ? b.rank - 2 : 0])
        return infer_mismatch(n, "inner dimensions %s and %s differ", dim_text(inner),
                              dim_text(b.dim[b.rank > 1 ? b.rank - 2 : 0]));
    a.rank = a.rank > 2 ? a.rank - 2 : 0, b.rank = b.rank > 2 ? b.rank - 2 : 0;
    if (!type_broadcast(g, &a, &b, result))
        return infer_mismatch(n, "batch dimensions do not broadcast");
    if (rows) result->dim[result->rank++] = rows;
    if (columns) result->dim[result->rank++] = columns;
    return true;
}
