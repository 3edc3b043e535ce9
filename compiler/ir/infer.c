// Types of results from types of operands, one function a kind of op (named in ops.def). Each sets *result and returns true, or
// reports what does not fit and returns false. Attributes that must be there were checked before (node_infer).
#include "ir/infer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/format.h"
#include "ir/operands.h"

static const Type *operand(const Node *n, int i) { return &n->in[i]->type; }
static const Type *type_or_null(const Node *n, int i) { return operand_or_null(n, i) ? operand(n, i) : NULL; }

bool infer_mismatch(const Node *n, const char *format, ...) {
    Text text = {0};
    text_add(&text, "%s: ", op_info[n->op].name);
    va_list args;
    va_start(args, format);
    text_vspell(&text, format, args);
    va_end(args);
    if (n->n_in) text_add(&text, "\nnote: operands are ");
    for (int i = 0; i < n->n_in; i++) text_add(&text, "%s%s", i ? ", " : "", n->in[i] ? type_text(&n->in[i]->type) : "none");
    diag_error(n->loc, "%-s", text.data);
    text_free(&text);
    return false;
}

static bool is_integer(DType t) { return !dtype_is_float(t) && t <= DT_u2 && t != DT_bool; }

static bool read_axis(const Node *n, int64_t axis, int rank, int *result) {
    *result = 0;
    if (axis < -rank || axis >= rank) return infer_mismatch(n, "axis %lld of a value of rank %d", (long long)axis, rank);
    *result = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

bool infer_axis(Node *n, int64_t absent, int rank, int *result) {
    int64_t axis = attr_int(n, "axis", absent);
    if (!read_axis(n, axis, rank, result)) return false;
    if (axis < 0) attr_set_int(n, "axis", *result);
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------- leaves
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
    if (!dims || rank > MAX_RANK) return infer_mismatch(n, "\"dims\" must be a list of at most %d dimensions", MAX_RANK);
    if (!infer_axis(n, 0, rank, &axis)) return false;
    *result = type_of(DT_i32, rank, dims);
    return true;
}

bool infer_random(Graph *g, Node *n, Type *result) {
    (void)g;
    int rank;
    const Dim *const *dims = attr_dims(n, "dims", &rank);
    if (rank > MAX_RANK) return infer_mismatch(n, "\"dims\" must be a list of at most %d dimensions", MAX_RANK);
    *result = type_of(DT_f32, rank, dims);
    return true;
}

bool infer_size(Graph *g, Node *n, Type *result) {
    int count;
    const Dim *const *dims = attr_dims(n, "dims", &count);
    bool vector = attr_int(n, "vector", 0);
    if (!dims || (!vector && count != 1))
        return infer_mismatch(n, "\"dims\" must be a list of dimensions, of one unless \"vector\"");
    *result = vector ? type_of(DT_i64, 1, (const Dim *const[]){dim_const(g, count)}) : type_scalar(DT_i64);
    return true;
}

bool infer_item(Graph *g, Node *n, Type *result) {
    (void)g;
    int64_t i = attr_int(n, "index", 0);
    if (n->in[0]->type.dtype != DT_tuple) return infer_mismatch(n, "the operand has one result, item takes a tuple");
    if (i < 0 || i >= n->in[0]->n_items) return infer_mismatch(n, "index %lld of %d results", (long long)i, n->in[0]->n_items);
    *result = n->in[0]->items[i];
    return true;
}

// ----------------------------------------------------------------------------------------------------------------- elementwise
bool infer_same(Graph *g, Node *n, Type *result) {
    (void)g;
    int axis;
    if (operand(n, 0)->dtype == DT_tuple) return infer_mismatch(n, "the operand has several results, choose one with item");
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
    return infer_mismatch(n, "%s and %s differ in width", dtype_name(operand(n, 0)->dtype), dtype_name(result->dtype));
}

// Dimensions of all operands from `first` on, broadcast.
static bool broadcast_operands(Graph *g, Node *n, int first, Type *result) {
    *result = *operand(n, first);
    for (int i = first + 1; i < n->n_in; i++) {
        Type so_far = *result;
        if (!type_broadcast(g, &so_far, operand(n, i), result)) return infer_mismatch(n, "shapes do not broadcast");
    }
    return true;
}

bool infer_broadcast(Graph *g, Node *n, Type *result) {
    for (int i = 1; i < n->n_in; i++)
        if (operand(n, i)->dtype != operand(n, 0)->dtype) return infer_mismatch(n, "operands differ in element type");
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
    if (operand(n, 1)->dtype != operand(n, 2)->dtype) return infer_mismatch(n, "the two choices differ in element type");
    if (!broadcast_operands(g, n, 0, result)) return false;
    result->dtype = operand(n, 1)->dtype;
    return true;
}

// DT_COUNT: a constant, which takes the type of what it meets. DT_tuple: types differ.
static DType merge_dtypes(DType a, DType b) { return a == b || b == DT_COUNT ? a : a == DT_COUNT ? b : DT_tuple; }

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
    if (t == DT_tuple) return infer_mismatch(n, "the formula names an operand that is not there, or mixes element types");
    if (!broadcast_operands(g, n, 0, result)) return false;
    result->dtype = t == DT_COUNT ? operand(n, 0)->dtype : t;
    return true;
}

// ------------------------------------------------------------------------------------------------------------------ reductions
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

// ----------------------------------------------------------------------------------------------------------------------- views
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
    return infer_mismatch(n, "%s elements cannot take the shape %s", dim_text(before), type_text(result));
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
        return infer_mismatch(n, "\"start\" and \"extent\" must be one dimension each, \"step\" not zero");
    if (!infer_axis(n, 0, result->rank, &axis)) return false;
    const Dim *steps = dim_binary(g, DIM_MUL, dim_sub(g, extent, dim_const(g, 1)), dim_const(g, step));
    const Dim *last = dim_binary(g, DIM_ADD, start, steps), *size = result->dim[axis];
    bool some = dim_lower(extent) > 0, outside = dim_upper(start) < 0 || dim_lower(dim_sub(g, start, size)) > 0 ||
                                                 dim_upper(extent) < 0 ||
                                                 (some && (dim_upper(last) < 0 || dim_lower(dim_sub(g, last, size)) >= 0));
    if (outside)
        return infer_mismatch(n, "%s elements from %s are outside of axis %d", dim_text(extent), dim_text(start), axis);
    result->dim[axis] = extent;
    return true;
}

// --------------------------------------------------------------------------------------------------------------- data movement
bool infer_gather(Graph *g, Node *n, Type *result) {
    (void)g;
    const Type *x = operand(n, 0), *index = operand(n, 1);
    int axis;
    if (!is_integer(index->dtype)) return infer_mismatch(n, "indices must be integers");
    if (!infer_axis(n, 0, x->rank, &axis)) return false;
    if (n->in[0]->op == OP_pack && (axis || n->in[0]->n_in > 1))
        return infer_mismatch(n, "only rows of one packed matrix are found");
    if (x->rank + index->rank - 1 > MAX_RANK) return infer_mismatch(n, "the result has more than %d axes", MAX_RANK);
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
        if (x->dtype != result->dtype || x->rank != result->rank) return infer_mismatch(n, "operands differ in type or rank");
        for (int j = 0; j < x->rank; j++)
            if (j != axis && x->dim[j] != result->dim[j]) return infer_mismatch(n, "operands differ in axis %d", j);
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
    if (!type_broadcast(g, &a, &b, result)) return infer_mismatch(n, "batch dimensions do not broadcast");
    if (rows) result->dim[result->rank++] = rows;
    if (columns) result->dim[result->rank++] = columns;
    return true;
}

// ----------------------------------------------------------------------------------------------------------------- fused forms
static bool check_norm_weights(const Node *n, int first) {
    const Type *x = operand(n, 0);
    if (!x->rank || !dtype_is_float(x->dtype)) return infer_mismatch(n, "takes floats of rank 1 or more");
    for (int i = first; i < n->n_in; i++) {
        if (!n->in[i]) continue;
        const Type *w = operand(n, i);
        if (w->rank != 1 || w->dim[0] != x->dim[x->rank - 1] || w->dtype != x->dtype)
            return infer_mismatch(n, "weights must be %s[%s]", dtype_name(x->dtype), dim_text(x->dim[x->rank - 1]));
    }
    return true;
}

bool infer_norm(Graph *g, Node *n, Type *result) {
    (void)g;
    *result = *operand(n, 0);
    return check_norm_weights(n, NORM_WEIGHT);
}

bool infer_skip_norm(Graph *g, Node *n, Type *result) {
    if (!type_equal(operand(n, 0), operand(n, 1))) return infer_mismatch(n, "the value and its residual differ in type");
    Type *items = ARENA_ARRAY(g->arena, Type, 2);
    items[0] = items[1] = *operand(n, 0);
    n->items = items, n->n_items = 2;
    *result = type_scalar(DT_tuple);
    return check_norm_weights(n, SKIP_NORM_WEIGHT);
}

// Width of a head when `width` is `heads` of them; NULL when it does not divide.
static const Dim *head_width(Graph *g, const Dim *width, int64_t heads) {
    const Dim *h = dim_const(g, heads);
    return heads > 0 && dim_divides(g, h, width) ? dim_binary(g, DIM_FLOORDIV, width, h) : NULL;
}

bool infer_rotary(Graph *g, Node *n, Type *result) {
    const Type *x = operand(n, 0), *cosine = operand(n, 1), *sine = operand(n, 2);
    if (x->rank != 2 || cosine->rank != 2) return infer_mismatch(n, "takes x [T, heads * d], cos [T, r/2] and sin [T, r/2]");
    if (!type_equal(cosine, sine) || cosine->dtype != x->dtype)
        return infer_mismatch(n, "cos and sin must have one type, that of x");
    const Dim *d = head_width(g, x->dim[1], attr_int(n, "num_heads", 0));
    if (!d)
        return infer_mismatch(n, "the width %s is not %lld heads", dim_text(x->dim[1]), (long long)attr_int(n, "num_heads", 0));
    const Dim *turned = dim_binary(g, DIM_MUL, cosine->dim[1], dim_const(g, 2));
    if (dim_upper(turned) > dim_upper(d))
        return infer_mismatch(n, "turns %s elements of heads of %s", dim_text(turned), dim_text(d));
    if (!dim_broadcast(g, x->dim[0], cosine->dim[0])) return infer_mismatch(n, "x and cos differ in rows");
    *result = *x;
    return true;
}

// [S, G d] or a state [slots, G, context, d]: the width of one head, or NULL.
static const Dim *kv_head_width(Graph *g, const Type *t, int64_t heads) {
    int64_t stored;
    if (t->rank == 2) return head_width(g, t->dim[1], heads);
    return t->rank == 4 && dim_is_const(t->dim[1], &stored) && stored == heads ? t->dim[3] : NULL;
}

// Sequences one after the other, all as long: the attribute `batch`, one without it.
static bool check_batch(Graph *g, Node *n, const Type *q, const Type *k) {
    const Dim *batch = attr_dim(n, "batch");
    const Type *mask = type_or_null(n, ATTENTION_MASK);
    if (!batch) batch = dim_const(g, 1);
    if (!dim_divides(g, batch, q->dim[0]) || (k->rank == 2 && !dim_divides(g, batch, k->dim[0])))
        return infer_mismatch(n, "%s rows are not those of %s sequences", dim_text(q->dim[0]), dim_text(batch));
    if (mask && (k->rank != 2 || mask->rank != 2 || mask->dim[0] != batch ||
                 dim_binary(g, DIM_MUL, mask->dim[0], mask->dim[1]) != k->dim[0]))
        return infer_mismatch(n, "the mask must be [batch, keys of a sequence]");
    return true;
}

bool infer_attention(Graph *g, Node *n, Type *result) {
    int64_t heads = attr_int(n, "num_heads", 0), groups = attr_int(n, "num_kv_heads", 0);
    const Type *q = operand(n, ATTENTION_QUERY), *k = operand(n, ATTENTION_KEY), *v = operand(n, ATTENTION_VALUE);
    if (heads < 1 || groups < 1 || heads % groups)
        return infer_mismatch(n, "%lld heads over %lld key heads", (long long)heads, (long long)groups);
    const Dim *d = q->rank == 2 ? head_width(g, q->dim[1], heads) : NULL, *dk = kv_head_width(g, k, groups);
    const Dim *e = kv_head_width(g, v, groups);
    if (!d || !dk || !e || d != dk)
        return infer_mismatch(n, "takes q [T, H d], k [S, G d] and v [S, G e], or states [slots, G, context, d]");
    if (k->rank != v->rank) return infer_mismatch(n, "keys and values must both be states or both be plain");
    if (k->rank == 2 && k->dim[0] != v->dim[0]) return infer_mismatch(n, "keys and values differ in number");
    if (k->rank == 4 && !(operand_or_null(n, ATTENTION_SLOT) && operand_or_null(n, ATTENTION_POSITION)))
        return infer_mismatch(n, "attention over states needs slot and position");
    if (k->rank == 2 && (operand_or_null(n, ATTENTION_SLOT) || operand_or_null(n, ATTENTION_POSITION)))
        return infer_mismatch(n, "slot and position are of attention over states");
    if (!check_batch(g, n, q, k)) return false;
    const Type *sinks = type_or_null(n, ATTENTION_SINKS);
    if (sinks && (sinks->rank != 1 || !dim_is(sinks->dim[0], heads))) return infer_mismatch(n, "the sinks must be [heads]");
    *result = *q;
    result->dim[1] = dim_binary(g, DIM_MUL, e, dim_const(g, heads));
    return true;
}

bool infer_cache_append(Graph *g, Node *n, Type *result) {
    const Type *state = operand(n, APPEND_STATE), *rows = operand(n, APPEND_ROWS);
    int64_t heads = attr_int(n, "heads", 0);
    if (state->rank != 4 || rows->rank != 2 || kv_head_width(g, rows, heads) != kv_head_width(g, state, heads) ||
        !kv_head_width(g, state, heads))
        return infer_mismatch(n, "takes a state [slots, heads, context, d] and rows [R, heads * d]");
    const Type *slot = type_or_null(n, APPEND_SLOT), *position = type_or_null(n, APPEND_POSITION);
    if (!slot != !position || (slot && (slot->rank != 1 || position->rank != 1)))
        return infer_mismatch(n, "slot and position must be i32[R], both or none");
    *result = *state;
    return true;
}

// Rows, or a state and where each row is.
bool infer_earlier_rows(Graph *g, Node *n, Type *result) {
    const Type *x = operand(n, 0);
    (void)g;
    if (attr_int(n, "back", 0) < 0) return infer_mismatch(n, "\"back\" is negative");
    if (x->dtype != DT_f32) return infer_mismatch(n, "takes rows of f32");
    const Type *slot = type_or_null(n, EARLIER_SLOT), *position = type_or_null(n, EARLIER_POSITION);
    if (!slot && !position) {
        *result = *x;
        return x->rank == 2 || infer_mismatch(n, "takes x [R, n], or a state [slots, 1, context, n] with slot and position");
    }
    if (x->rank != 4 || !dim_is(x->dim[1], 1) || !slot || !position || slot->rank != 1 || !type_equal(slot, position))
        return infer_mismatch(n, "takes x [R, n], or a state [slots, 1, context, n] with slot and position");
    *result = type_of(x->dtype, 2, (const Dim *[]){slot->dim[0], x->dim[3]});
    return true;
}

bool infer_select_rows(Graph *g, Node *n, Type *result) {
    const Type *x = operand(n, 0), *wanted = operand(n, 1);
    if (x->rank != 2 || wanted->rank != 1 || wanted->dtype != DT_bool || wanted->dim[0] != x->dim[0])
        return infer_mismatch(n, "takes x [R, width] and wanted bool[R]");
    *result = *x;
    result->dim[0] = dim_symbol(g, "L", 0, dim_upper(x->dim[0]));
    return true;
}

static bool read_format(const Node *n, DType *format) {
    const char *name = attr_string(n, "format", "");
    bool known = dtype_parse(name, format), rows = n->op == OP_quantize_rows && dtype_is_rows(*format);
    if (known && (dtype_is_float(*format) || rows || (n->op == OP_pack && dtype_is_block(*format)))) return true;
    return infer_mismatch(n, "unknown format \"%s\"", name);
}

bool infer_quantize_rows(Graph *g, Node *n, Type *result) {
    (void)g;
    const Type *x = operand(n, 0);
    DType format;
    if (!read_format(n, &format)) return false;
    if (!x->rank || x->dtype != DT_f32) return infer_mismatch(n, "takes f32 rows");
    *result = *x;
    result->dtype = format;
    return true;
}

bool infer_pack(Graph *g, Node *n, Type *result) {
    bool transposed = attr_int(n, "transposed", 0), interleave = attr_int(n, "interleave", 0);
    const Dim *columns = dim_const(g, 0), *k = NULL;
    int64_t experts = attr_int(n, "experts", 1), of_one = experts > 0 ? n->n_in / experts : 0;
    *result = type_scalar(DT_f32);
    if (!read_format(n, &result->dtype)) return false;
    if (!of_one || of_one * experts != n->n_in) return infer_mismatch(n, "takes as many weights of each expert");
    for (int i = 0; i < n->n_in; i++) {
        const Type *w = operand(n, i);
        if (w->rank != 2) return infer_mismatch(n, "takes weights of rank 2");
        if (k && w->dim[!transposed] != k) return infer_mismatch(n, "weights differ in K");
        if (interleave && w->dim[transposed] != operand(n, 0)->dim[transposed])
            return infer_mismatch(n, "interleaved weights differ in N");
        if (w->dim[transposed] != operand(n, i % (int)of_one)->dim[transposed]) return infer_mismatch(n, "experts differ in N");
        k = w->dim[!transposed];
        columns = dim_binary(g, DIM_ADD, columns, w->dim[transposed]);
    }
    result->rank = 2, result->dim[0] = columns, result->dim[1] = k;
    return true;
}

// Operands of the epilogue: [N], [R, N] or a scalar.
static bool check_epilogue(Graph *g, const Node *n, const Type *result) {
    const Expr *e = attr_expr(n, "epilogue");
    int sums = attr_int(n, "glu", 0) ? 2 : 1, first = product_epilogue(n), operands = n->n_in - first + sums;
    if (sums == 2 && !e) return infer_mismatch(n, "\"glu\" needs an epilogue that joins $0 and $1");
    if (e && expr_max_arg(e) >= operands)
        return infer_mismatch(n, "the epilogue names $%d of %d operands", expr_max_arg(e), operands);
    if (!e && n->n_in > first) return infer_mismatch(n, "has operands but no epilogue");
    for (int i = first; i < n->n_in; i++) {
        Type r;
        if (!type_broadcast(g, result, operand(n, i), &r) || !type_equal(&r, result))
            return infer_mismatch(n, "operand %d of the epilogue does not broadcast to %s", i, type_text(result));
    }
    return true;
}

// Rows by the packed weights of `experts` matrices: the type of x with the product's columns.
static bool infer_product(Graph *g, Node *n, int64_t experts, Type *result) {
    const Type *x = operand(n, PRODUCT_X), *w = operand(n, PRODUCT_WEIGHTS);
    int64_t columns = attr_int(n, "columns", 0);
    const Dim *expected = dim_const(g, experts * (attr_int(n, "glu", 0) ? 2 * columns : columns));
    if (!x->rank || w->rank != 2 || x->dim[x->rank - 1] != w->dim[1])
        return infer_mismatch(n, "takes x [R, K] and packed weights [N, K]");
    if (w->dim[0] != expected)
        return infer_mismatch(n, "the packed weights have %s columns, not %s", dim_text(w->dim[0]), dim_text(expected));
    if (x->dtype == DT_q8_rows && !(format_of(w->dtype) && format_takes_integers(format_of(w->dtype))))
        return infer_mismatch(n, "rows of int8 need weights in blocks");
    if (x->dtype == DT_i8_rows && !(format_of(w->dtype) && format_is_exact(format_of(w->dtype))))
        return infer_mismatch(n, "rows of integers need weights that are integers");
    *result = *x;
    result->dim[x->rank - 1] = dim_const(g, columns);
    if (dtype_is_rows(x->dtype)) result->dtype = DT_f32;
    return true;
}

bool infer_matmul_packed(Graph *g, Node *n, Type *result) {
    return infer_product(g, n, 1, result) && check_epilogue(g, n, result);
}

// Rows [.., K] meet each of their k experts, rows [.., k, K] one each.
bool infer_expert_matmul(Graph *g, Node *n, Type *result) {
    const Type *x = operand(n, PRODUCT_X), *index = operand(n, EXPERT_INDEX);
    const Node *pack = n->in[PRODUCT_WEIGHTS];
    if (!infer_product(g, n, pack->op == OP_pack ? attr_int(pack, "experts", 1) : 1, result)) return false;
    bool fits = index->dtype == DT_i32 && index->rank && (x->rank == index->rank || x->rank == index->rank + 1);
    for (int i = 0; fits && i < x->rank - 1; i++) fits = x->dim[i] == index->dim[i];
    if (!fits || index->rank == MAX_RANK) return infer_mismatch(n, "takes x [.., K] or [.., k, K] and index i32[.., k]");
    const Dim *columns = result->dim[x->rank - 1];
    result->rank = index->rank + 1;
    memcpy(result->dim, index->dim, sizeof index->dim);
    result->dim[index->rank] = columns;
    return check_epilogue(g, n, result);
}
