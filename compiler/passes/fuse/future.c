// Follows a value over queries and keys down to masks and constants.
//
//   before   %m = where(less_or_equal(%k, %q), %s, -inf)     after   the same: at later keys
//            %p = mul(sigmoid(%m), %g)                               %m is -inf and %p is 0
#include "passes/fuse/future.h"

#include <math.h>

#include "passes/axes.h"

typedef struct Search {
    int steps;    // nodes that may still be looked at
    bool own;     // the value at the query's own key, in place of that at later keys
    bool finite;  // minus infinity counts as a large finite number
} Search;

static bool future_of(const Node *n, KeyAxes a, Search *s, double *v);

KeyAxes axes_of_operand(const Node *n, int i, KeyAxes a) {
    int more = n->type.rank - n->in[i]->type.rank;
    return (KeyAxes){a.query - more, varies_along(n->in[i], a.key - more) ? a.key - more : -1};
}

static int axis_before_view(const Node *n, int axis) {
    int count;
    if (n->op == OP_transpose) return axis < 0 ? axis : (int)attr_ints(n, "perm", &count)[axis];
    if (n->op == OP_expand) return axis - (n->type.rank - n->in[0]->type.rank);
    if (n->op == OP_slice || axis < 0) return axis;
    return same_axis(n->graph, &n->type, axis, &n->in[0]->type);
}

bool axes_before_view(const Node *n, KeyAxes *a) {
    if (n->op == OP_slice && (node_axis(n) == a->key || node_axis(n) == a->query)) return false;
    KeyAxes before = {axis_before_view(n, a->query), axis_before_view(n, a->key)};
    if (n->op == OP_reshape && (before.key < 0 || (before.query < 0 && varies_along(n, a->query))))
        return false;
    if (!varies_along(n->in[0], before.key)) before.key = -1;
    *a = before;
    return true;
}

// Returns true if distance 0 has one number.
static bool own_by_distance(const Distance *d, double *v) {
    int i = d->n - 1;
    while (i > 0 && d->piece[i].from > 0) i--;
    if (i < 0 || d->piece[i].q != 0 || d->piece[i].k != 0) return false;
    *v = d->piece[i].c;
    return true;
}

// One number at all distances below 0
static bool future_by_distance(const Node *n, KeyAxes a, Search *s, double *v) {
    Distance d;
    if (a.key != n->type.rank - 1 || a.query != n->type.rank - 2 || !distance_of(n, &d))
        return false;
    if (s->own) return own_by_distance(&d, v);
    for (int i = 0; i < d.n && d.piece[i].from < 0; i++) {
        const DistancePiece *p = &d.piece[i];
        bool far = p->q == 0 && p->k == 0 && p->c <= VERY_NEGATIVE;
        double c = far ? -INFINITY : p->c;
        s->finite |= far && isfinite(p->c);
        if (p->q != 0 || p->k != 0 || (i && c != *v)) return false;
        *v = c;
    }
    return d.n > 0;
}

// ------------------------------------------------------------------------------------- own position
static bool is_position(const Node *n, KeyAxes a) {
    return n->op == OP_iota && (node_axis(n) == a.query || node_axis(n) == a.key);
}

// Returns true if two values are one formula of positions, so that they are equal where query and
// key are one position.
static bool equal_at_own_key(const Node *x, KeyAxes of_x, const Node *y, KeyAxes of_y, Search *s) {
    double v, w;
    if (--s->steps < 0) return false;
    if (is_view(x->op))
        return axes_before_view(x, &of_x) && equal_at_own_key(x->in[0], of_x, y, of_y, s);
    if (is_view(y->op))
        return axes_before_view(y, &of_y) && equal_at_own_key(x, of_x, y->in[0], of_y, s);
    if (is_position(x, of_x) || is_position(y, of_y))
        return is_position(x, of_x) && is_position(y, of_y);
    if (match_scalar(x, &v)) return match_scalar(y, &w) && v == w;
    bool formula = op_is_elementwise(x->op) && x->op != OP_elementwise;
    if ((!formula && x->op != OP_cast) || x->op != y->op || x->n_in != y->n_in ||
        x->type.dtype != y->type.dtype)
        return false;
    for (int i = 0; i < x->n_in; i++)
        if (!equal_at_own_key(x->in[i], axes_of_operand(x, i, of_x), y->in[i],
                              axes_of_operand(y, i, of_y), s))
            return false;
    return true;
}

// Returns true if an op gives one number wherever its two operands are equal integers.
static bool value_of_equals(Op op, double *v) {
    *v = op == OP_equal || op == OP_less_or_equal || op == OP_greater_or_equal;
    return *v != 0 || op == OP_less || op == OP_greater || op == OP_sub;
}

static bool own_of_equals(const Node *n, KeyAxes a, Search *s, double *v) {
    return s->own && n->n_in == 2 && value_of_equals(n->op, v) &&
           equal_at_own_key(n->in[0], axes_of_operand(n, 0, a), n->in[1], axes_of_operand(n, 1, a),
                            s);
}

// ------------------------------------------------------------------------------------- elementwise
static bool future_of_unary(Op op, double x, double *v) {
    switch (op) {
        case OP_cast:
        case OP_round_f16:
        case OP_round_bf16:
            *v = x;
            return true;
        case OP_neg:
            *v = -x;
            return true;
        case OP_abs:
            *v = fabs(x);
            return true;
        case OP_not:
            *v = x == 0;
            return true;
        case OP_exp:
            *v = exp(x);
            return true;
        case OP_sigmoid:
            *v = 1 / (1 + exp(-x));
            return true;
        case OP_relu:
            *v = x > 0 ? x : 0;
            return true;
        case OP_sqrt:
            *v = sqrt(x);
            return true;
        default:
            *v = 0;  // odd functions, and those that vanish at minus infinity as well
            return (x == 0 && (op == OP_tanh || op == OP_sin)) ||
                   ((x == 0 || x == -INFINITY) &&
                    (op == OP_silu || op == OP_gelu || op == OP_gelu_tanh));
    }
}

static bool future_of_both(Op op, double x, double y, double *v) {
    switch (op) {
        case OP_add:
            *v = x + y;
            break;
        case OP_sub:
            *v = x - y;
            break;
        case OP_mul:
            *v = x == 0 || y == 0 ? 0 : x * y;
            break;
        case OP_div:
            *v = x / y;
            break;
        case OP_max:
            *v = fmax(x, y);
            break;
        case OP_min:
            *v = fmin(x, y);
            break;
        case OP_and:
            *v = x != 0 && y != 0;
            break;
        case OP_or:
            *v = x != 0 || y != 0;
            break;
        case OP_pow:
            *v = pow(x, y);
            break;
        case OP_mod:
        case OP_fmod:
            *v = x == 0 && y != 0 ? 0 : NAN;
            break;
        case OP_equal:
            *v = x == y;
            break;
        default:
            return false;
    }
    return !isnan(*v);
}

// Truncates a number to an integer type's.
static bool settle(const Type *type, double *v) {
    if (type->dtype == DT_bool)
        *v = *v != 0;
    else if (!dtype_is_float(type->dtype))
        *v = trunc(*v);
    return true;
}

// Where one operand alone decides.
static bool future_of_one(Op op, double x, bool first, double *v) {
    *v = x;
    if (x == -INFINITY) return op == OP_add || op == OP_min || (op == OP_sub && first);
    if (x == 0) return op == OP_mul || op == OP_and || (op == OP_div && first);
    return op == OP_or;
}

static bool future_of_where(const Node *n, KeyAxes a, Search *s, double *v) {
    double which, other;
    if (future_of(n->in[0], axes_of_operand(n, 0, a), s, &which)) {
        int i = which != 0 ? 1 : 2;
        return future_of(n->in[i], axes_of_operand(n, i, a), s, v);
    }
    return future_of(n->in[1], axes_of_operand(n, 1, a), s, v) &&
           future_of(n->in[2], axes_of_operand(n, 2, a), s, &other) && *v == other;
}

static bool future_elementwise(const Node *n, KeyAxes a, Search *s, double *v) {
    double x, y;
    if (n->op == OP_where) return future_of_where(n, a, s, v);
    if (own_of_equals(n, a, s, v)) return true;
    bool first = future_of(n->in[0], axes_of_operand(n, 0, a), s, &x);
    if (n->n_in == 1) return first && future_of_unary(n->op, x, v) && settle(&n->type, v);
    if (n->n_in != 2) return false;
    if (first && future_of_one(n->op, x, true, v)) return true;
    bool second = future_of(n->in[1], axes_of_operand(n, 1, a), s, &y);
    if (second && future_of_one(n->op, y, false, v)) return true;
    return first && second && future_of_both(n->op, x, y, v) && settle(&n->type, v);
}

// Zeros that a product mixes with other zeros, of other heads: the keys are no terms of its sums.
static bool future_of_product(const Node *n, KeyAxes a, Search *s, double *v) {
    int rank = n->type.rank;
    for (int i = 0; i < 2; i++) {
        KeyAxes of = axes_of_operand(n, i, a);
        bool summed = i ? a.key == rank - 2 : a.key == rank - 1;
        if (!summed && of.key >= 0 && future_of(n->in[i], of, s, v) && *v == 0) return true;
    }
    return false;
}

static bool future_of_all(const Node *n, KeyAxes a, Search *s, double *v) {
    double other;
    if (node_axis(n) == a.key || node_axis(n) == a.query) return false;
    for (int i = 0; i < n->n_in; i++)
        if (!future_of(n->in[i], a, s, i ? &other : v) || (i && other != *v)) return false;
    return true;
}

// Returns true if no large negative number is added to the score of the query's own key. A
// condition that depends on the inputs might add one; scores themselves are small.
static bool own_is_seen(const Node *n, KeyAxes a, Search *s) {
    double v;
    if (--s->steps < 0) return false;
    if (future_of(n, a, s, &v)) return fabs(v) < -VERY_NEGATIVE;
    if (is_view(n->op)) return axes_before_view(n, &a) && own_is_seen(n->in[0], a, s);
    if (!op_is_elementwise(n->op) && n->op != OP_cast) return true;
    bool chosen = n->op == OP_where && future_of(n->in[0], axes_of_operand(n, 0, a), s, &v);
    for (int i = n->op == OP_where; i < n->n_in; i++) {
        if (chosen && i != (v != 0 ? 1 : 2)) continue;
        if (!own_is_seen(n->in[i], axes_of_operand(n, i, a), s)) return false;
    }
    return true;
}

// Returns true if later keys are hidden from every row. A row whose keys are all hidden by the same
// large number weighs all of them, later keys as well: at least its own key has to be seen.
static bool is_hidden(const Node *n, KeyAxes a, Search *s) {
    double v;
    Search later = {.steps = s->steps}, own = {.steps = s->steps, .own = true};
    bool hidden = future_of(n, a, &later, &v) && v == -INFINITY;
    s->steps = later.steps;
    return hidden && (!later.finite || own_is_seen(n, a, &own));
}

static bool future_of(const Node *n, KeyAxes a, Search *s, double *v) {
    if (--s->steps < 0) return false;
    if (!match_scalar(n, v) && !future_by_distance(n, a, s, v)) {
        if (is_view(n->op)) {
            if (!axes_before_view(n, &a) || !future_of(n->in[0], a, s, v)) return false;
        } else if (n->op == OP_softmax) {
            if (node_axis(n) != a.key || !is_hidden(n->in[0], a, s)) return false;
            *v = 0;
        } else if (n->op == OP_matmul) {
            return future_of_product(n, a, s, v);
        } else if (n->op == OP_concat) {
            return future_of_all(n, a, s, v);
        } else if (!op_is_elementwise(n->op) && n->op != OP_cast) {
            return false;
        } else if (!future_elementwise(n, a, s, v)) {
            return false;
        }
    }
    if (*v > VERY_NEGATIVE) return true;
    s->finite |= isfinite(*v);
    *v = -INFINITY;
    return true;
}

bool future_value(const Node *n, KeyAxes a, double *v) {
    Search s = {.steps = 2000};
    return future_of(n, a, &s, v) && (*v != -INFINITY || is_hidden(n, a, &s));
}
