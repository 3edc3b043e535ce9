// Values of integer tensors as expressions of their index. See index.h.
#include "ir/index.h"

#include <math.h>

#include "ir/convert.h"

enum { MOST_STEPS = 4000, LARGEST_TABLE = 1 << 16 };

typedef struct Walk {
    Graph *graph;
    int steps;  // left: shared subexpressions are walked again for every use
} Walk;

static const Dim *value_at(Walk *w, Node *n, const Dim *const *at);

static const Dim *truth(Walk *w, bool value) { return dim_const(w->graph, value); }

const Dim *index_symbol(Graph *g, int axis, const Dim *extent) {
    int64_t upper = dim_upper(extent);
    if (upper <= 1) return dim_const(g, 0);
    const Dim *d =
        dim_symbol(g, arena_printf(g->arena, "i%d:%s", axis, dim_text(extent)), 0, upper - 1);
    dim_tighten(d, upper - 1);
    return d;
}

// --------------------------------------------------------------------------------------- constants
static bool is_whole(double v) { return v == floor(v) && fabs(v) < 1e15; }

// A table over one or several axes: constant, or linear in each index.
static const Dim *linear_table(Walk *w, const Tensor *t, const Dim *const *at) {
    int64_t stride[MAX_RANK], size = 1;
    double first = dtype_load(t->dtype, t->data, 0), step[MAX_RANK];
    if (!is_whole(first)) return NULL;
    for (int i = t->rank - 1; i >= 0; i--) stride[i] = size, size *= t->dim[i];
    for (int i = 0; i < t->rank; i++) {
        step[i] = t->dim[i] > 1 ? dtype_load(t->dtype, t->data, stride[i]) - first : 0;
        if (!is_whole(step[i])) return NULL;
    }
    for (int64_t flat = 0; flat < size; flat++) {
        double expected = first;
        for (int i = 0; i < t->rank; i++)
            expected += step[i] * (double)(flat / stride[i] % t->dim[i]);
        if (dtype_load(t->dtype, t->data, flat) != expected) return NULL;
    }
    const Dim *r = dim_const(w->graph, (int64_t)first);
    for (int i = 0; i < t->rank; i++)
        r = dim_binary(w->graph, DIM_ADD, r,
                       dim_binary(w->graph, DIM_MUL, dim_const(w->graph, (int64_t)step[i]), at[i]));
    return r;
}

static const Dim *constant_at(Walk *w, const Node *n, const Dim *const *at) {
    const Tensor *t = n->value;
    int64_t flat = 0, index;
    if (!t || !t->data || !dtype_bits(t->dtype) || t->dtype == DT_string) return NULL;
    int64_t count = tensor_count(t);
    if (count < 1 || count > LARGEST_TABLE) return NULL;
    for (int i = 0; i < t->rank; i++) {
        if (!dim_is_const(at[i], &index)) return linear_table(w, t, at);
        if (index < 0 || index >= t->dim[i]) return NULL;
        flat = flat * t->dim[i] + index;
    }
    double v = dtype_load(t->dtype, t->data, flat);
    return is_whole(v) ? dim_const(w->graph, (int64_t)v) : NULL;
}

// ------------------------------------------------------------------------------------- elementwise
static const Dim *operand_at(Walk *w, const Node *n, int i, const Dim *const *at) {
    const Node *x = n->in[i];
    const Dim *here[MAX_RANK];
    int skip = n->type.rank - x->type.rank;
    for (int j = 0; j < x->type.rank; j++)
        here[j] = dim_is_const(x->type.dim[j], NULL) && dim_upper(x->type.dim[j]) == 1
                      ? dim_const(w->graph, 0)
                      : at[j + skip];
    return value_at(w, n->in[i], here);
}

// Whether it holds for all values of the symbols, or for none; NULL when that is open.
static const Dim *compare(Walk *w, Op op, const Dim *a, const Dim *b) {
    const Dim *difference = dim_sub(w->graph, a, b);
    int64_t low = dim_lower(difference), high = dim_upper(difference);
    switch (op) {
        case OP_equal:
            return low == 0 && high == 0 ? truth(w, true)
                   : low > 0 || high < 0 ? truth(w, false)
                                         : NULL;
        case OP_less:
            return high < 0 ? truth(w, true) : low >= 0 ? truth(w, false) : NULL;
        case OP_less_or_equal:
            return high <= 0 ? truth(w, true) : low > 0 ? truth(w, false) : NULL;
        case OP_greater:
            return low > 0 ? truth(w, true) : high <= 0 ? truth(w, false) : NULL;
        default:
            return low >= 0 ? truth(w, true) : high < 0 ? truth(w, false) : NULL;
    }
}

// Division truncates and dimensions floor: the same unless signs differ.
static const Dim *divide(Walk *w, const Node *n, const Dim *a, const Dim *b) {
    if (dim_is_const(b, NULL) && dim_upper(b) == 1) return a;
    if (dtype_is_float(n->type.dtype) || dim_lower(a) < 0 || dim_lower(b) <= 0) return NULL;
    return dim_binary(w->graph, DIM_FLOORDIV, a, b);
}

static const Dim *binary(Walk *w, const Node *n, const Dim *a, const Dim *b) {
    switch (n->op) {
        case OP_add:
            return dim_binary(w->graph, DIM_ADD, a, b);
        case OP_sub:
            return dim_sub(w->graph, a, b);
        case OP_mul:
            return dim_binary(w->graph, DIM_MUL, a, b);
        case OP_div:
            return divide(w, n, a, b);
        case OP_mod:
            return dim_lower(b) > 0 ? dim_binary(w->graph, DIM_MOD, a, b) : NULL;
        case OP_fmod:
            return dim_lower(a) >= 0 && dim_lower(b) > 0 ? dim_binary(w->graph, DIM_MOD, a, b)
                                                         : NULL;
        case OP_min:
            return dim_binary(w->graph, DIM_MIN, a, b);
        case OP_max:
            return dim_binary(w->graph, DIM_MAX, a, b);
        default:
            return op_is_comparison(n->op) ? compare(w, n->op, a, b) : NULL;
    }
}

// and, or: one operand may decide alone.
static const Dim *logic(Walk *w, const Node *n, const Dim *const *at) {
    const Dim *a = operand_at(w, n, 0, at), *b = operand_at(w, n, 1, at);
    int64_t absorbing = n->op == OP_or, v;
    if (a && dim_is_const(a, &v)) return (v != 0) == absorbing ? truth(w, absorbing) : b;
    if (b && dim_is_const(b, &v)) return (v != 0) == absorbing ? truth(w, absorbing) : a;
    return NULL;
}

static const Dim *choose(Walk *w, const Node *n, const Dim *const *at) {
    const Dim *condition = operand_at(w, n, 0, at), *a, *b;
    int64_t v;
    if (condition && dim_is_const(condition, &v)) return operand_at(w, n, v ? 1 : 2, at);
    a = operand_at(w, n, 1, at);
    b = a ? operand_at(w, n, 2, at) : NULL;
    return a == b ? a : NULL;
}

// A quotient of floats, rounded down or up. Numbers of 23 bits are divided by f32 without meeting a
// whole number by rounding.
static const Dim *rounded_quotient(Walk *w, const Node *rounding, const Dim *const *at) {
    enum { LARGEST = 1 << 23 };
    const Node *n = rounding->in[0];
    if (n->op != OP_div || (n->type.dtype != DT_f32 && n->type.dtype != DT_f64)) return NULL;
    const Dim *a = operand_at(w, n, 0, at), *b = a ? operand_at(w, n, 1, at) : NULL;
    if (!b || dim_lower(a) < 0 || dim_upper(a) > LARGEST || dim_lower(b) <= 0 ||
        dim_upper(b) > LARGEST)
        return NULL;
    if (rounding->op == OP_ceil)
        a = dim_sub(w->graph, dim_binary(w->graph, DIM_ADD, a, b), dim_const(w->graph, 1));
    return dim_binary(w->graph, DIM_FLOORDIV, a, b);
}

static const Dim *unary(Walk *w, const Node *n, const Dim *const *at) {
    const Dim *x = operand_at(w, n, 0, at), *zero = dim_const(w->graph, 0);
    if (!x) return n->op == OP_floor || n->op == OP_ceil ? rounded_quotient(w, n, at) : NULL;
    switch (n->op) {
        case OP_neg:
            return dim_sub(w->graph, zero, x);
        case OP_abs:
            return dim_lower(x) >= 0 ? x : dim_upper(x) <= 0 ? dim_sub(w->graph, zero, x) : NULL;
        case OP_relu:
            return dim_binary(w->graph, DIM_MAX, x, zero);
        case OP_floor:
        case OP_ceil:
        case OP_round:
            return x;
        case OP_not:
            return compare(w, OP_equal, x, zero);
        default:
            return NULL;
    }
}

// To a truth: whether it is not 0.
static const Dim *cast(Walk *w, const Node *n, const Dim *const *at) {
    const Dim *x = operand_at(w, n, 0, at), *equal;
    if (!x && !dtype_is_float(n->type.dtype) && n->type.dtype != DT_bool)
        return rounded_quotient(w, n, at);
    if (!x || n->type.dtype != DT_bool || n->in[0]->type.dtype == DT_bool) return x;
    equal = compare(w, OP_equal, x, dim_const(w->graph, 0));
    return equal ? truth(w, !dim_upper(equal)) : NULL;
}

// The square root of a known square: the side of an image of this many patches.
static const Dim *square_root(Walk *w, const Node *n, const Dim *const *at) {
    const Tensor *power = n->op == OP_pow ? n->in[1]->value : NULL;
    int64_t square;
    if (n->op == OP_pow &&
        (!power || tensor_count(power) != 1 || dtype_load(power->dtype, power->data, 0) != 0.5))
        return NULL;
    const Dim *x = operand_at(w, n, 0, at);
    if (!x || !dim_is_const(x, &square) || square < 0) return NULL;
    double root = sqrt((double)square);
    return is_whole(root) ? dim_const(w->graph, (int64_t)root) : NULL;
}

static const Dim *elementwise(Walk *w, const Node *n, const Dim *const *at) {
    const Dim *a, *b;
    if (n->op == OP_sqrt || n->op == OP_pow) return square_root(w, n, at);
    if (n->op == OP_and || n->op == OP_or) return logic(w, n, at);
    if (n->op == OP_where) return choose(w, n, at);
    if (n->n_in == 1) return unary(w, n, at);
    if (n->n_in != 2) return NULL;
    a = operand_at(w, n, 0, at);
    b = a ? operand_at(w, n, 1, at) : NULL;
    return b ? binary(w, n, a, b) : NULL;
}

// ----------------------------------------------------------------------------------- data movement
static const Dim *transpose(Walk *w, const Node *n, const Dim *const *at) {
    int rank;
    const int64_t *perm = attr_ints(n, "perm", &rank);
    const Dim *here[MAX_RANK];
    for (int i = 0; i < rank; i++) here[perm[i]] = at[i];
    return value_at(w, n->in[0], here);
}

static const Dim *slice(Walk *w, const Node *n, const Dim *const *at) {
    const Dim *here[MAX_RANK];
    int axis = node_axis(n);
    for (int i = 0; i < n->type.rank; i++) here[i] = at[i];
    const Dim *step = dim_const(w->graph, attr_int(n, "step", 1));
    here[axis] = dim_binary(w->graph, DIM_ADD, attr_dim(n, "start"),
                            dim_binary(w->graph, DIM_MUL, step, at[axis]));
    return value_at(w, n->in[0], here);
}

// Axes that both shapes have, apart from ones, keep their index; else the flat index is divided
// anew.
static const Dim *reshape(Walk *w, const Node *n, const Dim *const *at) {
    Graph *g = w->graph;
    const Type *from = &n->in[0]->type, *to = &n->type;
    const Dim *here[MAX_RANK], *one = dim_const(g, 1), *zero = dim_const(g, 0);
    int i = 0, j = 0;
    while (i < from->rank || j < to->rank) {
        if (i < from->rank && from->dim[i] == one)
            here[i++] = zero;
        else if (j < to->rank && to->dim[j] == one)
            j++;
        else if (i < from->rank && j < to->rank && from->dim[i] == to->dim[j])
            here[i++] = at[j++];
        else
            break;
    }
    if (i == from->rank && j == to->rank) return value_at(w, n->in[0], here);
    const Dim *flat = zero;
    for (j = 0; j < to->rank; j++)
        flat = dim_binary(g, DIM_ADD, dim_binary(g, DIM_MUL, flat, to->dim[j]), at[j]);
    for (i = from->rank - 1; i >= 0; i--) {
        here[i] = i ? dim_binary(g, DIM_MOD, flat, from->dim[i]) : flat;
        flat = dim_binary(g, DIM_FLOORDIV, flat, from->dim[i]);
    }
    return value_at(w, n->in[0], here);
}

static const Dim *gather(Walk *w, const Node *n, const Dim *const *at) {
    Node *x = n->in[0], *index = n->in[1];
    int axis = node_axis(n), more = index->type.rank;
    const Dim *here[MAX_RANK], *picked = value_at(w, index, at + axis);
    if (!picked) return NULL;
    if (dim_upper(picked) < 0) picked = dim_binary(w->graph, DIM_ADD, picked, x->type.dim[axis]);
    if (dim_lower(picked) < 0) return NULL;
    for (int i = 0; i < x->type.rank; i++)
        here[i] = i < axis ? at[i] : i == axis ? picked : at[i + more - 1];
    return value_at(w, x, here);
}

// The operand of a concatenation at an index inside it for any values of its symbols.
static const Dim *within_concat(Walk *w, const Node *n, const Dim **here, int axis) {
    for (int i = 0; i < n->n_in; i++) {
        const Dim *extent = n->in[i]->type.dim[axis], *past = dim_sub(w->graph, here[axis], extent);
        if (dim_lower(here[axis]) < 0) return NULL;
        if (i + 1 == n->n_in || dim_upper(past) < 0) return value_at(w, n->in[i], here);
        if (dim_lower(past) < 0) return NULL;
        here[axis] = past;
    }
    return NULL;
}

// Operands that are one expression: the value of each, continued to where the last one is.
static const Dim *across_concat(Walk *w, const Node *n, const Dim *const *at, int axis) {
    const Dim *here[MAX_RANK], *whole = NULL, *offset = dim_const(w->graph, 0), *last = offset;
    for (int i = 0; i < n->type.rank; i++) here[i] = at[i];
    for (int i = 0; i + 1 < n->n_in; i++)
        last = dim_binary(w->graph, DIM_ADD, last, n->in[i]->type.dim[axis]);
    here[axis] = dim_sub(w->graph, at[axis], last);
    whole = value_at(w, n->in[n->n_in - 1], here);
    for (int i = 0; whole && i + 1 < n->n_in; i++) {
        int64_t extent;
        if (!dim_is_const(n->in[i]->type.dim[axis], &extent) || extent > 4) return NULL;
        for (int64_t j = 0; j < extent; j++) {
            here[axis] = dim_const(w->graph, j);
            const Dim *own = value_at(w, n->in[i], here),
                      *place = dim_binary(w->graph, DIM_ADD, offset, here[axis]);
            here[axis] = dim_sub(w->graph, place, last);
            if (!own || own != value_at(w, n->in[n->n_in - 1], here)) return NULL;
        }
        offset = dim_binary(w->graph, DIM_ADD, offset, n->in[i]->type.dim[axis]);
    }
    return whole;
}

static const Dim *concat(Walk *w, const Node *n, const Dim *const *at) {
    const Dim *here[MAX_RANK];
    int axis = node_axis(n);
    for (int i = 0; i < n->type.rank; i++) here[i] = at[i];
    const Dim *r = within_concat(w, n, here, axis);
    return r ? r : across_concat(w, n, at, axis);
}

// ------------------------------------------------------------------------------- tuples of indices
// The tuple at `at` (all axes of `indices` but its last), each component an expression.
static bool tuple_at(Walk *w, Node *indices, const Dim *const *at, int length, const Dim **tuple) {
    const Dim *here[MAX_RANK];
    int outer = indices->type.rank - 1;
    for (int i = 0; i < outer; i++) here[i] = at[i];
    for (int i = 0; i < length; i++) {
        here[outer] = dim_const(w->graph, i);
        tuple[i] = value_at(w, indices, here);
        if (!tuple[i] || dim_lower(tuple[i]) < 0) return false;
    }
    return true;
}

static const Dim *gather_elements(Walk *w, const Node *n, const Dim *const *at) {
    const Dim *here[MAX_RANK];
    int axis = node_axis(n);
    for (int i = 0; i < n->type.rank; i++) here[i] = at[i];
    here[axis] = value_at(w, n->in[1], at);
    return here[axis] && dim_lower(here[axis]) >= 0 ? value_at(w, n->in[0], here) : NULL;
}

static int tuple_length(const Node *indices) {
    int64_t length = 0;
    int rank = indices->type.rank;
    return rank > 0 && dim_is_const(indices->type.dim[rank - 1], &length) && length <= MAX_RANK
               ? (int)length
               : 0;
}

static const Dim *gather_nd(Walk *w, const Node *n, const Dim *const *at) {
    const Dim *here[MAX_RANK];
    Node *x = n->in[0], *indices = n->in[1];
    int length = tuple_length(indices), outer = indices->type.rank - 1;
    if (!length || attr_int(n, "batch_dims", 0) || !tuple_at(w, indices, at, length, here))
        return NULL;
    for (int i = length; i < x->type.rank; i++) here[i] = at[outer + i - length];
    return value_at(w, x, here);
}

bool index_covers(Node *scatter) {
    const Dim *symbols[MAX_RANK] = {0}, *tuple[MAX_RANK];
    Walk w = {scatter->graph, MOST_STEPS};
    Node *x = scatter->in[0], *indices = scatter->in[1];
    int length = tuple_length(indices);
    if (!length || indices->type.rank - 1 != length ||
        *attr_string(scatter, "reduction", "none") != 'n')
        return false;
    for (int i = 0; i < length; i++) {
        if (indices->type.dim[i] != x->type.dim[i]) return false;
        symbols[i] = index_symbol(w.graph, i, indices->type.dim[i]);
    }
    if (!tuple_at(&w, indices, symbols, length, tuple)) return false;
    for (int i = 0; i < length; i++)
        if (tuple[i] != symbols[i]) return false;
    return true;
}

// A sum of a value that is constant along the axis is a product.
static const Dim *cum_sum(Walk *w, const Node *n, const Dim *const *at) {
    Graph *g = w->graph;
    const Dim *here[MAX_RANK];
    int axis = node_axis(n);
    bool exclusive = attr_int(n, "exclusive", 0), reverse = attr_int(n, "reverse", 0);
    for (int i = 0; i < n->type.rank; i++) here[i] = at[i];
    here[axis] = index_symbol(g, axis + MAX_RANK, n->type.dim[axis]);
    const Dim *value = value_at(w, n->in[0], here);
    if (!value || (here[axis]->kind == DIM_SYMBOL && dim_has_symbol(value, here[axis])))
        return NULL;
    const Dim *count = reverse ? dim_sub(g, n->type.dim[axis], at[axis]) : at[axis];
    if (exclusive == reverse) count = dim_binary(g, DIM_ADD, count, dim_const(g, reverse ? -1 : 1));
    return dim_binary(g, DIM_MUL, value, count);
}

// The extremes of a value that is constant along the axes are the value; its sum is a product.
static const Dim *reduce(Walk *w, const Node *n, const Dim *const *at) {
    const Node *x = n->in[0];
    int n_axes;
    const int64_t *axes = attr_ints(n, "axes", &n_axes);
    bool keeps = attr_int(n, "keepdims", 0), reduced[MAX_RANK] = {0};
    const Dim *here[MAX_RANK], *count = dim_const(w->graph, 1);
    for (int i = 0; i < n_axes; i++) reduced[axes[i]] = true;
    for (int i = 0, from = 0; i < x->type.rank; i++) {
        here[i] = reduced[i] ? index_symbol(w->graph, i + MAX_RANK, x->type.dim[i]) : at[from];
        if (reduced[i]) count = dim_binary(w->graph, DIM_MUL, count, x->type.dim[i]);
        from += keeps || !reduced[i];
    }
    const Dim *value = dim_lower(count) > 0 ? value_at(w, n->in[0], here) : NULL;
    for (int i = 0; value && i < x->type.rank; i++)
        if (reduced[i] && here[i]->kind == DIM_SYMBOL && dim_has_symbol(value, here[i]))
            return NULL;
    return value && n->op == OP_reduce_sum ? dim_binary(w->graph, DIM_MUL, value, count) : value;
}

// A list whose elements grow by one step, or are all equal, has one expression for all elements.
static const Dim *size_at(Walk *w, const Node *n, const Dim *const *at) {
    int count;
    int64_t index = 0;
    const Dim *const *dims = attr_dims(n, "dims", &count);
    if (!n->type.rank || dim_is_const(at[0], &index))
        return index < 0 || index >= count ? NULL : dims[index];
    if (count < 1) return NULL;
    const Dim *step = count > 1 ? dim_sub(w->graph, dims[1], dims[0]) : dim_const(w->graph, 0);
    for (int i = 2; i < count; i++)
        if (dim_sub(w->graph, dims[i], dims[i - 1]) != step) return NULL;
    return dim_binary(w->graph, DIM_ADD, dims[0], dim_binary(w->graph, DIM_MUL, step, at[0]));
}

static const Dim *value_at(Walk *w, Node *n, const Dim *const *at) {
    if (--w->steps < 0) return NULL;
    switch (n->op) {
        case OP_constant:
            return constant_at(w, n, at);
        case OP_size:
            return size_at(w, n, at);
        case OP_iota:
            return at[node_axis(n)];
        case OP_cast:
            return cast(w, n, at);
        case OP_transpose:
            return transpose(w, n, at);
        case OP_slice:
            return slice(w, n, at);
        case OP_reshape:
            return reshape(w, n, at);
        case OP_expand:
            return operand_at(w, n, 0, at);
        case OP_gather:
            return gather(w, n, at);
        case OP_concat:
            return concat(w, n, at);
        case OP_gather_elements:
            return gather_elements(w, n, at);
        case OP_gather_nd:
            return gather_nd(w, n, at);
        case OP_cum_sum:
            return cum_sum(w, n, at);
        case OP_reduce_max:
        case OP_reduce_min:
        case OP_reduce_sum:
            return reduce(w, n, at);
        default:
            return op_is_elementwise(n->op) ? elementwise(w, n, at) : NULL;
    }
}

const Dim *index_value(Node *n, const Dim *const *at) {
    Walk w = {n->graph, MOST_STEPS};
    return value_at(&w, n, at);
}

const Dim *index_expression(Node *n, const Dim **symbols) {
    for (int i = 0; i < n->type.rank; i++) symbols[i] = index_symbol(n->graph, i, n->type.dim[i]);
    return index_value(n, symbols);
}

// ---------------------------------------------------------------------------------------- emission
static Node *emit_counter(const Dim *symbol, const IndexTarget *t) {
    int axis = 0;
    const Dim *dims[MAX_RANK];
    while (axis < t->type.rank && t->symbols[axis] != symbol) axis++;
    if (axis == t->type.rank) return NULL;
    for (int i = axis; i < t->type.rank; i++)
        dims[i - axis] = i == axis ? t->type.dim[i] : dim_const(t->at.graph, 1);
    return build_iota(t->at, t->type.rank - axis, dims, 0);
}

static bool has_index(const Dim *value, const IndexTarget *t) {
    for (int i = 0; i < t->type.rank; i++)
        if (t->symbols[i]->kind == DIM_SYMBOL && dim_has_symbol(value, t->symbols[i])) return true;
    return false;
}

static Node *emit_value(const Dim *value, const IndexTarget *t) {
    static const Op ops[] = {[DIM_ADD] = OP_add, [DIM_MUL] = OP_mul, [DIM_FLOORDIV] = OP_div,
                             [DIM_MOD] = OP_mod, [DIM_MIN] = OP_min, [DIM_MAX] = OP_max};
    int64_t constant;
    if (dim_is_const(value, &constant)) return build_scalar(t->at, t->type.dtype, (double)constant);
    if (!has_index(value, t)) return build_cast(t->at, build_size(t->at, value), t->type.dtype);
    if (value->kind == DIM_SYMBOL) {
        Node *n = emit_counter(value, t);
        return n ? build_cast(t->at, n, t->type.dtype) : NULL;
    }
    if (value->kind == DIM_FLOORDIV && dim_lower(value->a) < 0) return NULL;
    Node *in[2] = {emit_value(value->a, t), emit_value(value->b, t)};
    return in[0] && in[1] ? build_op(t->at, ops[value->kind], 2, in) : NULL;
}

int index_cost(const Dim *value) {
    if (value->kind == DIM_CONST) return 0;
    return value->kind == DIM_SYMBOL ? 2 : 1 + index_cost(value->a) + index_cost(value->b);
}

// Floats are counted as integers first.
Node *index_emit(const Dim *value, const IndexTarget *target) {
    IndexTarget t = *target;
    Graph *g = t.at.graph;
    if (dtype_is_float(t.type.dtype)) t.type.dtype = DT_i64;
    if (!dim_is_const(value, NULL) && t.type.dtype == DT_bool) return NULL;
    Node *x = emit_value(value, &t);
    if (!x) return NULL;
    x = build_cast(t.at, x, target->type.dtype);
    if (type_equal(&x->type, &target->type)) return x;
    bool only_ones = type_count(g, &x->type) == type_count(g, &t.type);
    return (only_ones ? build_reshape : build_expand)(t.at, x, t.type.rank, t.type.dim);
}
