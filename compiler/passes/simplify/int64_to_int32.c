// Integers of 64 bits whose values fit into 32 are computed in 32: what exporters compute masks and
// positions with.
//
//   before   %a = cast(%i) {to=i64} : i64[T]            after   %s = sub(%i, %j) : i32[T, T]
//            %b = cast(%j) {to=i64} : i64[T, 1]                 %m = greater(%s, 0) : bool[T, T]
//            %m = greater(sub(%a, %b), 0)
//
// That they fit is proved by intervals: counters and dimensions are bounded.
#include <math.h>

#include "ir/convert.h"
#include "passes/simplify/simplify.h"

enum { DEEPEST = 24, LARGEST_TABLE = 1 << 16 };

typedef struct Range {
    double low, high;
} Range;

static bool range_of(const Node *n, Range *r, int depth);

static bool range_of_constant(const Node *n, Range *r) {
    const Tensor *t = n->value;
    if (!t || !t->data || !dtype_bits(t->dtype) || t->dtype == DT_string) return false;
    int64_t count = tensor_count(t);
    if (count < 1 || count > LARGEST_TABLE) return false;
    *r = (Range){INFINITY, -INFINITY};
    for (int64_t i = 0; i < count; i++) {
        double v = dtype_load(t->dtype, t->data, i);
        if (isnan(v)) return false;
        r->low = fmin(r->low, v);
        r->high = fmax(r->high, v);
    }
    return true;
}

static bool range_of_size(const Node *n, Range *r) {
    int count;
    const Dim *const *dims = attr_dims(n, "dims", &count);
    *r = (Range){INFINITY, -INFINITY};
    for (int i = 0; i < count; i++) {
        r->low = fmin(r->low, (double)dim_lower(dims[i]));
        r->high = fmax(r->high, (double)dim_upper(dims[i]));
    }
    return count > 0;
}

static Range corners(double a, double b, double c, double d) {
    return (Range){fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d))};
}

static bool combine(Op op, Range a, Range b, Range *r) {
    switch (op) {
        case OP_add:
            return *r = (Range){a.low + b.low, a.high + b.high}, true;
        case OP_sub:
            return *r = (Range){a.low - b.high, a.high - b.low}, true;
        case OP_mul:
            return *r = corners(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high),
                   true;
        case OP_min:
            return *r = (Range){fmin(a.low, b.low), fmin(a.high, b.high)}, true;
        case OP_max:
            return *r = (Range){fmax(a.low, b.low), fmax(a.high, b.high)}, true;
        case OP_where:
            return *r = (Range){fmin(a.low, b.low), fmax(a.high, b.high)}, true;
        default:
            return false;
    }
}

static bool range_of_operands(const Node *n, Range *r, int depth) {
    Range a, b;
    bool select = n->op == OP_where;
    if (n->n_in < 2 + select || !range_of(n->in[select], &a, depth) ||
        !range_of(n->in[select + 1], &b, depth))
        return false;
    return combine(n->op, a, b, r);
}

static bool range_of_unary(const Node *n, Range *r, int depth) {
    Range a;
    if (!range_of(n->in[0], &a, depth)) return false;
    *r = a;
    if (n->op == OP_neg) *r = (Range){-a.high, -a.low};
    if (n->op == OP_abs) *r = (Range){0, fmax(fabs(a.low), fabs(a.high))};
    return true;
}

static bool range_of(const Node *n, Range *r, int depth) {
    if (n->type.dtype == DT_bool) return *r = (Range){0, 1}, true;
    if (depth == DEEPEST) return false;
    switch (n->op) {
        case OP_constant:
            return range_of_constant(n, r);
        case OP_iota:
            *r = (Range){0, (double)dim_upper(n->type.dim[node_axis(n)]) - 1};
            return true;
        case OP_size:
            return range_of_size(n, r);
        case OP_neg:
        case OP_abs:
        case OP_reshape:
        case OP_transpose:
        case OP_slice:
        case OP_expand:
            return range_of_unary(n, r, depth + 1);
        case OP_cast:
            return !dtype_is_float(n->in[0]->type.dtype) && range_of_unary(n, r, depth + 1);
        default:
            return range_of_operands(n, r, depth + 1);
    }
}

static bool fits(const Node *n) {
    Range r;
    return range_of(n, &r, 0) && r.low >= INT32_MIN && r.high <= INT32_MAX;
}

// --------------------------------------------------------------------------------------- rewriting
static bool widens(const Node *n) {
    return n->op == OP_cast && n->type.dtype == DT_i64 &&
           (n->in[0]->type.dtype == DT_i32 || n->in[0]->type.dtype == DT_bool);
}

static bool has_narrow_form(const Node *n) {
    return widens(n) || ((n->op == OP_constant || n->op == OP_size) && fits(n));
}

// The same integers in 32 bits
static Node *narrowed(Node *before, Node *n) {
    return build_cast(cursor(before), widens(n) ? n->in[0] : n, DT_i32);
}

// Views of a widened value are widened views, but for axes of extent 1 that are only put in front
// (leading_ones.c).
static Node *narrow_view(Node *n) {
    if (n->op == OP_slice || (n->op == OP_reshape && n->type.rank && dim_is(n->type.dim[0], 1)) ||
        !widens(n->in[0]))
        return NULL;
    return build_cast(cursor(n), inferred(node_again(n, n->op, n->n_in, n->in[0]->in, n)), DT_i64);
}

static Node *narrow_operation(Node *n) {
    Node *in[3];
    bool widened = false, compares = n->type.dtype == DT_bool;
    if (!op_is_elementwise(n->op) || n->n_in > 3 || n->op == OP_div || n->op == OP_mod ||
        n->op == OP_pow)
        return NULL;
    if (!compares && !fits(n)) return NULL;
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i]->type.dtype != DT_i64) continue;
        if (!has_narrow_form(n->in[i])) return NULL;
        widened |= widens(n->in[i]);
    }
    if (!widened) return NULL;
    for (int i = 0; i < n->n_in; i++)
        in[i] = n->in[i]->type.dtype == DT_i64 ? narrowed(n, n->in[i]) : n->in[i];
    return build_cast(cursor(n), inferred(node_again(n, n->op, n->n_in, in, n)), n->type.dtype);
}

Node *narrow_integers(Node *n) {
    if (n->op == OP_cast && widens(n->in[0]))
        return build_cast(cursor(n), n->in[0]->in[0], n->type.dtype);
    if (is_view(n->op) && n->type.dtype == DT_i64) return narrow_view(n);
    bool has_wide = false;
    for (int i = 0; i < n->n_in; i++) has_wide |= n->in[i] && n->in[i]->type.dtype == DT_i64;
    return has_wide ? narrow_operation(n) : NULL;
}
