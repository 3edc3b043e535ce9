// Masks as piecewise functions of the distance. See distance.h.
#include "passes/distance.h"

#include <math.h>
#include <string.h>

#include "ir/convert.h"
#include "kernels/plain.h"

typedef enum { ROLE_NONE, ROLE_QUERY, ROLE_KEY, ROLE_SEQUENCE } Role;

// A mask that is an input, and what its elements are taken to be.
typedef struct MaskInput {
    const Node *node;
    double element;
} MaskInput;

// The meaning of a value's axes: its index along an axis is the query or key position plus an
// offset.
typedef struct Roles {
    MaskInput *mask;  // NULL: inputs are not followed
    int rank;
    Role role[MAX_RANK];
    int64_t offset[MAX_RANK];
} Roles;

static bool follow(const Node *n, const Roles *r, Distance *d);

static bool gives_up(Distance *d, const Node *n) {
    if (!d->broke) d->broke = n;
    return false;
}

static bool is_linear(Distance *d, double q, double k, double c) {
    d->n = 1;
    d->piece[0] = (DistancePiece){NO_DISTANCE, q, k, c};
    return true;
}

static bool is_constant_piece(const DistancePiece *p) { return p->q == 0 && p->k == 0; }

static bool add_piece(Distance *d, DistancePiece p) {
    DistancePiece *last = d->n ? &d->piece[d->n - 1] : NULL;
    if (last && last->q == p.q && last->k == p.k && last->c == p.c) return true;
    if (last && last->from == p.from) d->n--;
    if (d->n == MAX_DISTANCE_PIECES) return false;
    d->piece[d->n++] = p;
    return true;
}

// ---------------------------------------------------------------------------- operations on pieces
static bool constant_result(Op op, double a, double b, double *r) {
    switch (op) {
        case OP_min:
            *r = a < b ? a : b;
            return true;
        case OP_max:
            *r = a > b ? a : b;
            return true;
        case OP_pow:
            *r = pow(a, b);
            return true;
        case OP_and:
            *r = a != 0 && b != 0;
            return true;
        case OP_or:
            *r = a != 0 || b != 0;
            return true;
        case OP_div:
            *r = a / b;
            return true;
        default:
            return false;
    }
}

static bool multiply(DistancePiece a, DistancePiece b, DistancePiece *r) {
    if (!is_constant_piece(&a)) {
        DistancePiece t = a;
        a = b, b = t;
    }
    *r = (DistancePiece){r->from, a.c * b.q, a.c * b.k, a.c * b.c};
    if (b.q == 0) r->q = 0;
    if (b.k == 0) r->k = 0;
    return is_constant_piece(&a);
}

// The value of a piece when its operation does not split it.
static bool combine_linear(Op op, DistancePiece a, DistancePiece b, DistancePiece *r) {
    switch (op) {
        case OP_add:
            *r = (DistancePiece){r->from, a.q + b.q, a.k + b.k, a.c + b.c};
            return true;
        case OP_sub:
            *r = (DistancePiece){r->from, a.q - b.q, a.k - b.k, a.c - b.c};
            return true;
        case OP_mul:
            return multiply(a, b, r);
        default:
            break;
    }
    if (op == OP_div && is_constant_piece(&b)) return multiply(a, (DistancePiece){.c = 1 / b.c}, r);
    *r = (DistancePiece){.from = r->from};
    return is_constant_piece(&a) && is_constant_piece(&b) && constant_result(op, a.c, b.c, &r->c);
}

static bool compares(Op op, double difference) {
    switch (op) {
        case OP_less:
            return difference < 0;
        case OP_less_or_equal:
            return difference <= 0;
        case OP_greater:
            return difference > 0;
        case OP_greater_or_equal:
            return difference >= 0;
        default:
            return difference == 0;
    }
}

// a ? b on [from, to]: their difference is slope * distance + c, so the answer changes at most
// around one distance.
static bool compare_pieces(Op op, DistancePiece a, DistancePiece b, int64_t from, int64_t to,
                           Distance *r) {
    double slope = a.q - b.q, c = a.c - b.c;
    if (isinf(a.c) && isinf(b.c) && a.c == b.c) c = 0;
    if (slope != -(a.k - b.k)) return false;
    if (slope == 0) return add_piece(r, (DistancePiece){from, 0, 0, compares(op, c)});
    double root = -c / slope;
    if (fabs(root) > 1e15) return false;
    int64_t below = (int64_t)ceil(root) - 1, above = (int64_t)floor(root) + 1;
    bool exact = below + 2 == above;
    if (below >= from &&
        !add_piece(r, (DistancePiece){from, 0, 0, compares(op, slope * ((double)below - root))}))
        return false;
    if (exact && below + 1 >= from && below + 1 <= to &&
        !add_piece(r, (DistancePiece){below + 1, 0, 0, compares(op, 0)}))
        return false;
    if (above > to) return true;
    return add_piece(r, (DistancePiece){above > from ? above : from, 0, 0,
                                        compares(op, slope * ((double)above - root))});
}

// ---------------------------------------------------------------------------- operations on wholes
static int64_t end_of(const Distance *d, int i) {
    return i + 1 < d->n ? d->piece[i + 1].from - 1 : INT64_MAX;
}

// Calls for every range on which a and b (and c) are each one piece.
typedef bool PieceFunction(Op, const DistancePiece *const *in, int64_t from, int64_t to,
                           Distance *r);

static bool combine(Op op, int n, const Distance *const *in, PieceFunction *f, Distance *r) {
    int at[3] = {0};
    int64_t from = NO_DISTANCE;
    for (;;) {
        const DistancePiece *piece[3];
        int64_t to = INT64_MAX;
        for (int i = 0; i < n; i++) {
            piece[i] = &in[i]->piece[at[i]];
            if (end_of(in[i], at[i]) < to) to = end_of(in[i], at[i]);
        }
        if (!f(op, piece, from, to, r)) return false;
        if (to == INT64_MAX) return true;
        for (int i = 0; i < n; i++) at[i] += end_of(in[i], at[i]) == to;
        from = to + 1;
    }
}

static bool binary_piece(Op op, const DistancePiece *const *in, int64_t from, int64_t to,
                         Distance *r) {
    DistancePiece p = {.from = from};
    if (op_is_comparison(op)) return compare_pieces(op, *in[0], *in[1], from, to, r);
    return combine_linear(op, *in[0], *in[1], &p) && add_piece(r, p);
}

static bool select_piece(Op op, const DistancePiece *const *in, int64_t from, int64_t to,
                         Distance *r) {
    (void)op, (void)to;
    DistancePiece p = *in[in[0]->c != 0 ? 1 : 2];
    p.from = from;
    return is_constant_piece(in[0]) && add_piece(r, p);
}

static bool abs_piece(Op op, const DistancePiece *const *in, int64_t from, int64_t to,
                      Distance *r) {
    (void)op;
    DistancePiece p = *in[0], zero = {0};
    Distance sign = {0};
    if (!compare_pieces(OP_less, p, zero, from, to, &sign)) return false;
    for (int i = 0; i < sign.n; i++) {
        double s = sign.piece[i].c != 0 ? -1 : 1;
        if (!add_piece(r, (DistancePiece){sign.piece[i].from, s * p.q, s * p.k, s * p.c}))
            return false;
    }
    return true;
}

static bool unary_piece(Op op, const DistancePiece *const *in, int64_t from, int64_t to,
                        Distance *r) {
    DistancePiece p = *in[0];
    p.from = from;
    switch (op) {
        case OP_abs:
            return abs_piece(op, in, from, to, r);
        case OP_neg:
            return add_piece(r, (DistancePiece){from, -p.q, -p.k, -p.c});
        case OP_not:
            return is_constant_piece(&p) && add_piece(r, (DistancePiece){from, 0, 0, p.c == 0});
        case OP_relu:
            return is_constant_piece(&p) &&
                   add_piece(r, (DistancePiece){from, 0, 0, p.c > 0 ? p.c : 0});
        case OP_cast:
            return add_piece(r, p);
        case OP_round_f16:
            return is_constant_piece(&p) &&
                   add_piece(r, (DistancePiece){from, 0, 0, sf_from_f16(f16_from_real(p.c))});
        case OP_round_bf16:
            return is_constant_piece(&p) &&
                   add_piece(r, (DistancePiece){from, 0, 0, sf_from_bf16(bf16_from_real(p.c))});
        default:
            return false;
    }
}

// A cast to bool asks whether the value is not zero.
static bool bool_piece(Op op, const DistancePiece *const *in, int64_t from, int64_t to,
                       Distance *r) {
    (void)op;
    DistancePiece zero = {0};
    Distance equal = {0};
    if (!compare_pieces(OP_equal, *in[0], zero, from, to, &equal)) return false;
    for (int i = 0; i < equal.n; i++) {
        if (!add_piece(r, (DistancePiece){equal.piece[i].from, 0, 0, equal.piece[i].c == 0}))
            return false;
    }
    return true;
}

// ------------------------------------------------------------------------------------------ leaves
static bool of_iota(const Node *n, const Roles *r, Distance *d) {
    int axis = node_axis(n);
    double offset = (double)r->offset[axis];
    return is_linear(d, r->role[axis] == ROLE_QUERY, r->role[axis] == ROLE_KEY, offset);
}

static bool of_mask(const Node *n, const Roles *r, Distance *d) {
    if (!r->mask || input_role(n) != INPUT_MASK || (r->mask->node && r->mask->node != n))
        return gives_up(d, n);
    for (int i = 0; i < r->rank; i++) {
        Role wanted = i + 1 == r->rank ? ROLE_KEY : ROLE_SEQUENCE;
        if (r->offset[i] || (!dim_is(n->type.dim[i], 1) && r->role[i] != wanted))
            return gives_up(d, n);
    }
    r->mask->node = n;
    return is_linear(d, 0, 0, r->mask->element);
}

static int axis_with(const Roles *r, Role role) {
    for (int i = 0; i < r->rank; i++) {
        if (r->role[i] == role) return i;
    }
    return -1;
}

// A table over queries and keys: a function of the distance when it is constant along its
// diagonals.
static bool of_table(const Node *n, const Roles *r, Distance *d) {
    const Tensor *t = n->value;
    int query = axis_with(r, ROLE_QUERY), key = axis_with(r, ROLE_KEY);
    if (query < 0 || key < 0 || !t || !t->data || !dtype_bits(t->dtype)) return gives_up(d, n);
    int64_t stride[MAX_RANK], size = 1, rows = t->dim[query], columns = t->dim[key];
    for (int i = t->rank - 1; i >= 0; i--) stride[i] = size, size *= t->dim[i];
    if (size != rows * columns) return gives_up(d, n);
    int64_t shift = r->offset[query] - r->offset[key];
    for (int64_t distance = 1 - columns; distance < rows; distance++) {
        int64_t q = distance > 0 ? distance : 0, k = q - distance;
        double first = dtype_load(t->dtype, t->data, q * stride[query] + k * stride[key]);
        for (; q < rows && k < columns; q++, k++) {
            if (dtype_load(t->dtype, t->data, q * stride[query] + k * stride[key]) != first)
                return gives_up(d, n);
        }
        int64_t from = distance == 1 - columns ? NO_DISTANCE : distance + shift;
        if (!add_piece(d, (DistancePiece){from, 0, 0, first})) return gives_up(d, n);
    }
    return true;
}

// ---------------------------------------------------------------------------------------- operands
static Roles roles_of_operand(const Roles *r, const Node *operand) {
    Roles result = {.rank = operand->type.rank, .mask = r->mask};
    for (int i = 1; i <= operand->type.rank && i <= r->rank; i++) {
        if (dim_is(operand->type.dim[operand->type.rank - i], 1)) continue;
        result.role[operand->type.rank - i] = r->role[r->rank - i];
        result.offset[operand->type.rank - i] = r->offset[r->rank - i];
    }
    return result;
}

static bool follow_transpose(const Node *n, const Roles *r, Distance *d) {
    int count;
    const int64_t *perm = attr_ints(n, "perm", &count);
    Roles in = {.rank = count, .mask = r->mask};
    for (int i = 0; i < count; i++)
        in.role[perm[i]] = r->role[i], in.offset[perm[i]] = r->offset[i];
    return follow(n->in[0], &in, d);
}

// Only axes of extent 1 may come or go.
static bool follow_reshape(const Node *n, const Roles *r, Distance *d) {
    const Type *from = &n->type, *to = &n->in[0]->type;
    Roles in = {.rank = to->rank, .mask = r->mask};
    int i = 0, j = 0;
    while (i < from->rank || j < to->rank) {
        if (i < from->rank && dim_is(from->dim[i], 1)) {
            i++;
        } else if (j < to->rank && dim_is(to->dim[j], 1)) {
            j++;
        } else {
            if (i == from->rank || j == to->rank || from->dim[i] != to->dim[j])
                return gives_up(d, n);
            in.role[j] = r->role[i], in.offset[j++] = r->offset[i++];
        }
    }
    return follow(n->in[0], &in, d);
}

static bool follow_slice(const Node *n, const Roles *r, Distance *d) {
    int64_t start;
    int axis = node_axis(n);
    if (!dim_is_const(attr_dim(n, "start"), &start) || attr_int(n, "step", 1) != 1)
        return gives_up(d, n);
    Roles in = *r;
    in.offset[axis] += start;
    return follow(n->in[0], &in, d);
}

static bool is_whole(const Distance *d) {
    for (int i = 0; i < d->n; i++) {
        const DistancePiece *p = &d->piece[i];
        if (p->q != floor(p->q) || p->k != floor(p->k) || p->c != floor(p->c)) return false;
    }
    return true;
}

static bool follow_operands(const Node *n, const Roles *r, Distance *d) {
    Distance in[3] = {0};
    const Distance *all[3] = {&in[0], &in[1], &in[2]};
    for (int i = 0; i < n->n_in; i++) {
        Roles roles = roles_of_operand(r, n->in[i]);
        if (!follow(n->in[i], &roles, &in[i])) return gives_up(d, in[i].broke);
    }
    bool to_bool = n->op == OP_cast && n->type.dtype == DT_bool;
    PieceFunction *f = to_bool        ? bool_piece
                       : n->n_in == 1 ? unary_piece
                       : n->n_in == 2 ? binary_piece
                                      : select_piece;
    bool whole = n->type.dtype != DT_bool && !dtype_is_float(n->type.dtype);
    // i // 8 of integers, or i / 8.0 made an integer, is constant over stretches of positions: no
    // line
    if (whole && (n->op == OP_div || (n->op == OP_cast && !is_whole(&in[0]))))
        return gives_up(d, n);
    return combine(n->op, n->n_in, all, f, d) || gives_up(d, n);
}

static bool follow(const Node *n, const Roles *r, Distance *d) {
    double v;
    if (match_scalar(n, &v)) return is_linear(d, 0, 0, v);
    switch (n->op) {
        case OP_constant:
            return of_table(n, r, d);
        case OP_iota:
            return of_iota(n, r, d);
        case OP_input:
            return of_mask(n, r, d);
        case OP_transpose:
            return follow_transpose(n, r, d);
        case OP_reshape:
            return follow_reshape(n, r, d);
        case OP_slice:
            return follow_slice(n, r, d);
        case OP_expand: {
            Roles in = roles_of_operand(r, n->in[0]);
            return follow(n->in[0], &in, d);
        }
        default:
            return op_is_elementwise(n->op) || n->op == OP_cast ? follow_operands(n, r, d)
                                                                : gives_up(d, n);
    }
}

static bool follow_axes(const Node *n, MaskInput *mask, Distance *d) {
    *d = (Distance){0};
    Roles r = {.rank = n->type.rank, .mask = mask};
    if (r.rank >= 3 && !dim_is(n->type.dim[0], 1)) r.role[0] = ROLE_SEQUENCE;
    if (r.rank >= 1 && !dim_is(n->type.dim[r.rank - 1], 1)) r.role[r.rank - 1] = ROLE_KEY;
    if (r.rank >= 2 && !dim_is(n->type.dim[r.rank - 2], 1)) r.role[r.rank - 2] = ROLE_QUERY;
    return follow(n, &r, d);
}

bool distance_of(const Node *n, Distance *d) { return follow_axes(n, NULL, d); }

bool distance_with_mask(const Node *n, double element, const Node **mask, Distance *d) {
    MaskInput input = {.element = element};
    bool follows = follow_axes(n, &input, d);
    *mask = input.node;
    return follows;
}

// ------------------------------------------------------------------------------------- the reading
bool distance_is_condition(const Distance *d) {
    for (int i = 0; i < d->n; i++) {
        if (!is_constant_piece(&d->piece[i])) return false;
    }
    return true;
}

bool distance_allows(const Distance *d, bool added, Interval *allowed) {
    int intervals = 0;
    bool before = false;
    for (int i = 0; i < d->n; i++) {
        double v = d->piece[i].c;
        if (!is_constant_piece(&d->piece[i]) || (added && v != 0 && !(v <= VERY_NEGATIVE)))
            return false;
        bool open = added ? v == 0 : v != 0;
        if (open && !before) allowed->from = d->piece[i].from, intervals++;
        if (open) allowed->to = end_of(d, i);
        before = open;
    }
    return intervals == 1;
}
