// Algebra that keeps every bit.
//
//   before   %z = neg(%y)                                       after   %a = sub(%x, %y)
//            %a = add(%x, %z)                                           %p = mul(%x, %x)
//            %p = pow(%x, 2)                                            %h = mul(%x, 0.25)
//            %h = div(%x, 4)
//
// A pattern is a row; rules about types, a number's bits or views are functions below.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "passes/simplify/simplify.h"

static bool same_type(const Node *a, const Node *b) { return type_equal(&a->type, &b->type); }

static bool is_exactly(const Node *n, double value) {
    double v;
    return match_scalar(n, &v) && v == value && signbit(v) == signbit(value);
}

// ------------------------------------------------------------------------------------------- rules
typedef enum { ALL, INTEGERS } Elements;

// A letter is any value, twice the same value; a number is a constant of this value alone, y=0 a
// constant that has a letter. `swaps`: the operands of the pattern may be in either order.
static const struct {
    const char *pattern, *replacement;
    bool swaps;
    Elements of;
} rules[] = {
    {"add(x, -0)", "x", true, ALL},  // x + 0.0 turns -0.0 into 0.0
    {"add(x, 0)", "x", true, INTEGERS},
    {"add(x, neg(y))", "sub(x, y)", true, ALL},
    {"sub(x, neg(y))", "add(x, y)", false, ALL},
    {"sub(x, 0)", "x", false, ALL},
    {"mul(x, 1)", "x", true, ALL},
    {"div(x, 1)", "x", false, ALL},
    {"pow(x, 1)", "x", false, ALL},
    {"pow(x, 2)", "mul(x, x)", false, ALL},
    {"and(x, 1)", "x", true, ALL},
    {"and(x, y=0)", "y", true, ALL},
    {"or(x, 0)", "x", true, ALL},
    {"or(x, y=1)", "y", true, ALL},
    {"neg(neg(x))", "x", false, ALL},
    {"not(not(x))", "x", false, ALL},
    {"where(c, x, x)", "x", false, ALL},
    {"where(not(c), x, y)", "where(c, y, x)", false, ALL},
    {"where(1, x, y)", "x", false, ALL},
    {"where(0, x, y)", "y", false, ALL},
};
enum { LETTERS = 26, MOST_OPERANDS = 3 };

// The rest of the pattern's text if the value fits, else NULL.
static const char *pattern_fits(const char *p, Node *n, Node **bound);

static const char *pattern_fits_op(const char *p, Op op, Node *const *in, int n_in, Node **bound) {
    size_t length = strlen(op_info[op].name);
    if (strncmp(p, op_info[op].name, length) || p[length] != '(') return NULL;
    p += length + 1;
    for (int i = 0; p && i < n_in; i++) {
        p = pattern_fits(p, in[i], bound);
        if (p && i + 1 < n_in) p = *p == ',' ? p + 2 : NULL;
    }
    return p && *p == ')' ? p + 1 : NULL;
}

static const char *pattern_fits(const char *p, Node *n, Node **bound) {
    char *end;
    if (islower(p[0]) && islower(p[1])) return pattern_fits_op(p, n->op, n->in, n->n_in, bound);
    if (islower(p[0])) {
        Node **value = &bound[p[0] - 'a'];
        bool same = !*value || *value == n;
        *value = n;
        return !same ? NULL : p[1] == '=' ? pattern_fits(p + 2, n, bound) : p + 1;
    }
    double value = strtod(p, &end);
    return is_exactly(n, value) ? end : NULL;
}

static Op op_of(const char *p) {
    Op op = 0;
    while (strncmp(p, op_info[op].name, strlen(op_info[op].name)) ||
           p[strlen(op_info[op].name)] != '(')
        op++;
    return op;
}

// A letter's value, or an op of letters.
static Node *replaced(const char *p, Node *n, Node *const *bound) {
    if (!islower(p[1])) return bound[*p - 'a'];
    Node *in[MOST_OPERANDS];
    int n_in = 0;
    Op op = op_of(p);
    for (p = strchr(p, '(') + 1; n_in < MOST_OPERANDS && *p; p += strspn(p + 1, ", )") + 1)
        in[n_in++] = bound[*p - 'a'];
    return build_op(cursor_at(n, n->loc), op, n_in, in);
}

static Node *by_rule(Node *n) {
    bool two = n->n_in == 2, integer = !dtype_is_float(n->type.dtype);
    Node *swapped[] = {two ? n->in[1] : NULL, n->in[0]};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].of == INTEGERS && !integer) continue;
        for (int turn = 0; turn <= (rules[i].swaps && two); turn++) {
            Node *bound[LETTERS] = {NULL};
            if (!pattern_fits_op(rules[i].pattern, n->op, turn ? swapped : n->in, n->n_in, bound))
                continue;
            Node *by = replaced(rules[i].replacement, n, bound);
            if (same_type(n, by)) return by;
        }
    }
    return NULL;
}

// --------------------------------------------------------------------------------------- functions
// Division by a power of two is multiplication by its inverse, exactly.
static Node *simplify_div(Node *n) {
    double v;
    int exponent;
    if (!dtype_is_float(n->type.dtype) || n->in[1]->op != OP_constant ||
        !match_scalar(n->in[1], &v) || v == 0)
        return NULL;
    if (fabs(frexp(v, &exponent)) != 0.5 || abs(exponent) > 14) return NULL;
    Node *inverse = node_scalar(n->graph, n->type.dtype, 1 / v, n->loc, n);
    Node *by = build_binary(cursor(n), OP_mul, n->in[0], inverse);
    return same_type(n, by) ? by : NULL;
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

// Rounded values move before views rather than after them, so that views cancel.
static Node *simplify_rounding(Node *n) {
    Node *x = n->in[0];
    if (x->op == n->op) return is_implied(n) || !is_implied(x) ? x : like(n, x->in[0], n);
    bool swaps =
        (x->op == OP_reshape || x->op == OP_transpose || x->op == OP_expand) && node_uses(x) == 1;
    return swaps ? like(x, like(n, x->in[0], n), n) : NULL;
}

static bool counts(const Node *n) {
    const Node *exact = match_quantized((Node *)n);
    if (exact) n = exact;
    while (is_view(n->op) || is_rounding(n)) n = n->in[0];
    return n->op == OP_cast && !dtype_is_float(n->in[0]->type.dtype);
}

// Positions times frequencies: a sum of one product needs no contraction (a zero may change its
// sign).
static Node *outer_product(Node *n) {
    if (!counts(n->in[0]) && !counts(n->in[1])) return NULL;
    if (n->in[0]->type.rank < 2 || n->in[1]->type.rank < 2 || !dim_is(width_dim(n->in[0]), 1))
        return NULL;
    Node *by = build_binary(cursor(n), OP_mul, n->in[0], n->in[1]);
    return same_type(n, by) ? by : NULL;
}

static Node *by_op(Node *n) {
    switch (n->op) {
        case OP_matmul:
            return outer_product(n);
        case OP_div:
            return simplify_div(n);
        case OP_cast:
            return simplify_cast(n);
        case OP_round_f16:
        case OP_round_bf16:
            return simplify_rounding(n);
        default:
            return NULL;
    }
}

Node *simplify_algebra(Node *n) {
    bool elementwise = op_is_elementwise(n->op) && n->n_in <= MOST_OPERANDS;
    Node *by = elementwise ? by_rule(n) : NULL;
    if (!by) by = by_op(n);
    return by || !elementwise ? by : drop_expand(n);
}
