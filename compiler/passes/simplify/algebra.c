// Algebra that keeps every bit.
#include <math.h>
#include <stdlib.h>

#include "passes/simplify/simplify.h"

static bool same_type(const Node *a, const Node *b) { return type_equal(&a->type, &b->type); }

static bool is_exactly(const Node *n, double value) {
    double v;
    return match_scalar(n, &v) && v == value && signbit(v) == signbit(value);
}

static bool is_integer(const Node *n) { return !dtype_is_float(n->type.dtype); }

// x, when `n` is a binary node with x on one side and a neutral element on the other.
static Node *other_side(Node *n, double neutral, bool either) {
    if (is_exactly(n->in[1], neutral) && same_type(n, n->in[0])) return n->in[0];
    if (either && is_exactly(n->in[0], neutral) && same_type(n, n->in[1])) return n->in[1];
    return NULL;
}

// x + 0.0 turns -0.0 into 0.0, so only x + -0.0 is x; integers have one zero.
static Node *simplify_add(Node *n) {
    Node *x = other_side(n, is_integer(n) ? 0.0 : -0.0, true);
    if (x) return x;
    if (n->in[1]->op == OP_neg) return build_binary(cursor(n), OP_sub, n->in[0], n->in[1]->in[0]);
    if (n->in[0]->op == OP_neg) return build_binary(cursor(n), OP_sub, n->in[1], n->in[0]->in[0]);
    return NULL;
}

static Node *simplify_sub(Node *n) {
    if (n->in[1]->op == OP_neg) return build_binary(cursor(n), OP_add, n->in[0], n->in[1]->in[0]);
    return other_side(n, 0.0, false);
}

// Division by a power of two is multiplication by its inverse, exactly.
static Node *simplify_div(Node *n) {
    double v;
    int exponent;
    Node *x = other_side(n, 1.0, false);
    if (x) return x;
    if (is_integer(n) || n->in[1]->op != OP_constant || !match_scalar(n->in[1], &v) || v == 0) return NULL;
    if (fabs(frexp(v, &exponent)) != 0.5 || abs(exponent) > 14) return NULL;
    Node *inverse = node_scalar(n->graph, n->type.dtype, 1 / v, n->loc, n);
    Node *by = build_binary(cursor(n), OP_mul, n->in[0], inverse);
    return same_type(n, by) ? by : NULL;
}

static Node *simplify_pow(Node *n) {
    if (is_exactly(n->in[1], 1.0) && same_type(n, n->in[0])) return n->in[0];
    if (is_exactly(n->in[1], 2.0) && same_type(n, n->in[0])) return build_binary(cursor(n), OP_mul, n->in[0], n->in[0]);
    return NULL;
}

static Node *simplify_logic(Node *n) {
    bool absorbing = n->op == OP_or;
    Node *x = other_side(n, absorbing ? 0.0 : 1.0, true);
    if (x) return x;
    for (int i = 0; i < 2; i++) {
        if (is_exactly(n->in[i], absorbing) && same_type(n, n->in[i])) return n->in[i];
    }
    return NULL;
}

static Node *simplify_where(Node *n) {
    double v;
    if (n->in[1] == n->in[2] && same_type(n, n->in[1])) return n->in[1];
    if (n->in[0]->op == OP_not)
        return build_op(cursor_at(n, n->loc), OP_where, 3, (Node *[]){n->in[0]->in[0], n->in[2], n->in[1]});
    if (!match_scalar(n->in[0], &v)) return NULL;
    Node *chosen = n->in[v != 0 ? 1 : 2];
    return same_type(n, chosen) ? chosen : NULL;
}

// Elementwise ops broadcast by themselves: an operand need not be expanded for them.
static Node *drop_expand(Node *n) {
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i]->op != OP_expand) continue;
        Type so_far = n->in[i]->in[0]->type, joined;
        bool fits = true;
        for (int j = 0; fits && j < n->n_in; j++) {
            if (j == i) continue;
            fits = type_broadcast(n->graph, &so_far, &n->in[j]->type, &joined);
            so_far = joined;
        }
        joined.dtype = n->type.dtype;
        if (n->n_in < 2 || !fits || !type_equal(&joined, &n->type)) continue;
        Node *in[3];
        for (int j = 0; j < n->n_in; j++) in[j] = j == i ? n->in[i]->in[0] : n->in[j];
        return build_op(cursor_at(n, n->loc), n->op, n->n_in, in);
    }
    return NULL;
}

static Node *simplify_cast(Node *n) { return same_type(n, n->in[0]) ? n->in[0] : NULL; }

static Node *like(const Node *n, Node *x, Node *before) {
    Node *by = node_make(x->graph, n->op, n->loc, 1, &x, before);
    attr_copy(by, n);
    return inferred(by);
}

// What is rounded already; and before views rather than behind them, so that these cancel.
static Node *simplify_rounding(Node *n) {
    Node *x = n->in[0];
    if (x->op == n->op) return is_implied(n) || !is_implied(x) ? x : like(n, x->in[0], n);
    bool swaps = (x->op == OP_reshape || x->op == OP_transpose || x->op == OP_expand) && node_uses(x) == 1;
    return swaps ? like(x, like(n, x->in[0], n), n) : NULL;
}

static bool counts(const Node *n) {
    const Node *exact = match_quantized((Node *)n);
    if (exact) n = exact;
    while (is_view(n->op) || is_rounding(n)) n = n->in[0];
    return n->op == OP_cast && !dtype_is_float(n->in[0]->type.dtype);
}

// Positions times frequencies: a sum of one product needs no contraction (a zero may change its sign).
static Node *outer_product(Node *n) {
    if (!counts(n->in[0]) && !counts(n->in[1])) return NULL;
    if (n->in[0]->type.rank < 2 || n->in[1]->type.rank < 2 || !dim_is(width_dim(n->in[0]), 1)) return NULL;
    Node *by = build_binary(cursor(n), OP_mul, n->in[0], n->in[1]);
    return same_type(n, by) ? by : NULL;
}

static Node *by_op(Node *n) {
    switch (n->op) {
        case OP_matmul:
            return outer_product(n);
        case OP_add:
            return simplify_add(n);
        case OP_sub:
            return simplify_sub(n);
        case OP_mul:
            return other_side(n, 1.0, true);
        case OP_div:
            return simplify_div(n);
        case OP_pow:
            return simplify_pow(n);
        case OP_and:
        case OP_or:
            return simplify_logic(n);
        case OP_where:
            return simplify_where(n);
        case OP_cast:
            return simplify_cast(n);
        case OP_round_f16:
        case OP_round_bf16:
            return simplify_rounding(n);
        case OP_neg:
        case OP_not:
            return n->in[0]->op == n->op ? n->in[0]->in[0] : NULL;
        default:
            return NULL;
    }
}

Node *simplify_algebra(Node *n) {
    Node *by = by_op(n);
    return by || !op_is_elementwise(n->op) || n->n_in > 3 ? by : drop_expand(n);
}
