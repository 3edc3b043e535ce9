// The experts that a row selects: a mask that allows k of each row's E numbers, and values that are
// zero outside of the mask.
//
//   %rank = reduce_sum(where(or(other > this, other == this and first), 1, 0))   how many come before: of equal ones the first
//   %mask = less(%rank, 2)                                                       the two highest
//   %p = where(%mask, %scores, 0)      div(%p, %sum)      softmax(where(%mask, %scores, -inf))
//   add(%p, %q)                                                                  the selection of either
//   %mask[:, 0:6]                                                                the selected ones of the first six, possibly none
#include <math.h>
#include <string.h>

#include "ir/convert.h"
#include "passes/experts/mixture.h"

static bool is_number(const Node *n, double value) {
    double v;
    while (n->op == OP_cast || n->op == OP_expand || n->op == OP_reshape) n = n->in[0];
    return match_scalar(n, &v) && (v == value || (isinf(v) && v == value));
}

// x with an axis of one at `axis`; NULL when it is not that.
static Node *inserted(Node *n, int axis) {
    while (n->op == OP_expand) n = n->in[0];
    if (n->op != OP_reshape || n->type.rank != 3 || n->in[0]->type.rank != 2 ||
        !dim_is(n->type.dim[axis], 1))
        return NULL;
    return n->in[0];
}

static bool is_iota(const Node *n, int axis) {
    while (n->op == OP_expand || n->op == OP_cast) n = n->in[0];
    return n->op == OP_iota && node_axis(n) == axis && n->type.rank == 3;
}

// less(a, b) or greater(b, a)
static bool match_less(const Node *n, Node **a, Node **b) {
    if (n->op != OP_less && n->op != OP_greater) return false;
    *a = n->in[n->op == OP_greater], *b = n->in[n->op == OP_less];
    return true;
}

// other > this: the scores, [T, 1, E] and [T, E, 1]
static Node *match_above(const Node *n) {
    Node *this, *other;
    if (!match_less(n, &this, &other)) return NULL;
    Node *scores = inserted(this, 2);
    return scores && inserted(other, 1) == scores ? scores : NULL;
}

static bool match_tie(const Node *n, const Node *scores) {
    for (int i = 0; n->op == OP_and && i < 2; i++) {
        Node *a, *b, *tie = n->in[i];
        if (tie->op != OP_equal || !match_less(n->in[!i], &a, &b) || !is_iota(a, 2) ||
            !is_iota(b, 1))
            continue;
        for (int j = 0; j < 2; j++)
            if (inserted(tie->in[j], 1) == scores && inserted(tie->in[!j], 2) == scores)
                return true;
    }
    return false;
}

// How many of a row's scores come before each: the count of a strict order.
static bool match_rank(Node *n) {
    n = before_rounding(n);
    while (n->op == OP_reshape) n = before_rounding(n->in[0]);
    if (n->op != OP_reduce_sum || !reduces_last_axis_only(n)) return false;
    n = before_rounding(n->in[0]);
    if (n->op == OP_where && is_number(n->in[1], 1) && is_number(n->in[2], 0))
        n = n->in[0];
    else if (n->op == OP_cast && n->in[0]->type.dtype == DT_bool)
        n = n->in[0];
    for (int i = 0; n->op == OP_or && i < 2; i++) {
        Node *scores = match_above(n->in[i]);
        if (scores && match_tie(n->in[!i], scores)) return true;
    }
    return false;
}

static bool match_highest(Node *n, Choice *c) {
    double k;
    int64_t columns;
    Node *rank, *most;
    if (n->op == OP_slice && n->type.rank == 2 && node_axis(n) == 1 &&
        dim_is_const(n->type.dim[1], &columns)) {
        if (!match_highest(n->in[0], c)) return false;
        c->mask = n, c->fewer = true;
        c->k = c->k < columns ? c->k : columns;
        return true;
    }
    if (n->type.rank != 2 || !match_less(n, &rank, &most) || !match_scalar(most, &k) ||
        !match_rank(rank))
        return false;
    c->mask = n, c->k = int64_of_double(ceil(k));
    return c->k > 0;
}

static bool either(Node *n, Choice *c, int depth) {
    Choice a = *c, b = *c;
    if (!find_choice(n->in[0], &a, depth) || !find_choice(n->in[1], &b, depth) || a.index ||
        b.index)
        return false;
    c->mask = build_binary(cursor(c->before), OP_or, a.mask, b.mask), c->k = a.k + b.k,
    c->fewer = a.fewer || b.fewer;
    return true;
}

// A value that is `otherwise` outside of the mask
static bool match_masked(Node *n, double otherwise, Choice *c) {
    return n->op == OP_where && is_number(n->in[2], otherwise) && match_highest(n->in[0], c);
}

// Zeros, except for values scattered to the indices of top_k
static bool match_scattered(const Node *n, Choice *c) {
    bool is_chosen = n->op == OP_scatter_elements && node_axis(n) == 1 && is_number(n->in[0], 0) &&
                     is_chosen_index(n->in[1]) &&
                     !strcmp(attr_string(n, "reduction", "none"), "none");
    if (!is_chosen || n->in[1]->type.dim[0] != n->type.dim[0]) return false;
    c->index = n->in[1];
    return dim_is_const(c->index->type.dim[1], &c->k);
}

bool find_choice(Node *n, Choice *c, int depth) {
    n = before_rounding(n);
    if (depth == 0 || n->type.rank != 2) return false;
    if (match_masked(n, 0, c) || match_scattered(n, c)) return true;
    switch (n->op) {
        case OP_where:
            return is_number(n->in[2], 0) && find_choice(n->in[1], c, depth - 1);
        case OP_mul:
            return find_choice(n->in[0], c, depth - 1) || find_choice(n->in[1], c, depth - 1);
        case OP_div:
        case OP_cast:
            return find_choice(n->in[0], c, depth - 1);
        case OP_softmax:
            return attr_int(n, "axis", 1) == 1 &&
                   match_masked(before_rounding(n->in[0]), -INFINITY, c);
        case OP_add:
            return either(n, c, depth - 1);
        default:
            return false;
    }
}
