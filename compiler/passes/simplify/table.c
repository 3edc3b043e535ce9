// A lookup by a function of one bounded integer becomes a lookup in a table of that function.
//
//   before   %d = sub(%keys, %queries) : i32[T, T]           after   %t = constant : i32[2 * T - 1] (buckets by distance)
//            ... abs, log, min, where: T5's buckets                  %b = gather(%t, add(%d, 511))
//            %y = gather(%bias, %b)                                  %y = gather(%bias, %b)
//
// The function is evaluated here, with correctly rounded logarithms: a step between two buckets
// must not move.
#include <math.h>

#include "ir/index.h"
#include "passes/simplify/simplify.h"

enum { LARGEST_TABLE = 1 << 16, DEEPEST = 24 };

// --------------------------------------------------------------------------------- the one integer
typedef struct Cone {
    Node *leaf;
    const Dim *value;  // of the leaf
    bool rounds;       // floats, or selects: more than integer arithmetic
} Cone;

static bool find_leaf(Node *n, Cone *c, int depth);

static bool take_leaf(Node *n, Cone *c) {
    const Dim *symbols[MAX_RANK];
    if (dtype_is_float(n->type.dtype) || n->type.dtype == DT_bool) return false;
    const Dim *value = index_expression(n, symbols);
    if (!value) return false;
    if (!c->leaf) c->leaf = n, c->value = value;
    return c->value == value &&
           type_count(n->graph, &n->type) == type_count(n->graph, &c->leaf->type);
}

// Views that change no order and repeat nothing.
static bool keeps_elements(const Node *n) {
    return n->op == OP_cast || n->op == OP_reshape ||
           (n->op == OP_expand &&
            type_count(n->graph, &n->type) == type_count(n->graph, &n->in[0]->type));
}

static bool find_leaf(Node *n, Cone *c, int depth) {
    double v;
    if (match_scalar(n, &v) || take_leaf(n, c)) return true;
    if (depth == DEEPEST || (!keeps_elements(n) && (!op_is_elementwise(n->op) || n->n_in > 3)))
        return false;
    c->rounds |= n->op == OP_where || dtype_is_float(n->type.dtype);
    for (int i = 0; i < n->n_in; i++) {
        if (!find_leaf(n->in[i], c, depth + 1)) return false;
    }
    return true;
}

// -------------------------------------------------------------------------------------- evaluation
static bool binary_value(Op op, double a, double b, double *v) {
    switch (op) {
        case OP_add:
            return *v = a + b, true;
        case OP_sub:
            return *v = a - b, true;
        case OP_mul:
            return *v = a * b, true;
        case OP_div:
            return *v = a / b, true;
        case OP_min:
            return *v = a < b ? a : b, true;
        case OP_max:
            return *v = a > b ? a : b, true;
        case OP_less:
            return *v = a < b, true;
        case OP_less_or_equal:
            return *v = a <= b, true;
        case OP_greater:
            return *v = a > b, true;
        case OP_greater_or_equal:
            return *v = a >= b, true;
        case OP_equal:
            return *v = a == b, true;
        case OP_and:
            return *v = a != 0 && b != 0, true;
        case OP_or:
            return *v = a != 0 || b != 0, true;
        default:
            return false;
    }
}

static bool unary_value(Op op, double a, double *v) {
    switch (op) {
        case OP_neg:
            return *v = -a, true;
        case OP_abs:
            return *v = fabs(a), true;
        case OP_log:
            return *v = log(a), true;
        case OP_floor:
            return *v = floor(a), true;
        case OP_ceil:
            return *v = ceil(a), true;
        case OP_round:
            return *v = rint(a), true;
        case OP_relu:
            return *v = a > 0 ? a : 0, true;
        case OP_not:
            return *v = a == 0, true;
        case OP_cast:
        case OP_reshape:
        case OP_expand:
            return *v = a, true;
        default:
            return false;
    }
}

// As the element type holds it. An integer outside of its range is whatever a select does not
// choose.
static double rounded(DType t, double v) {
    if (t == DT_f32) return (double)(float)v;
    if (t == DT_bool) return v != 0;
    return fabs(v) < 0x1p62 ? trunc(v) : v < 0 ? -0x1p62 : 0x1p62;
}

static bool value_at(const Node *n, const Cone *c, double leaf, double *v) {
    double in[3];
    if (match_scalar(n, v)) return true;
    const Dim *symbols[MAX_RANK];
    bool is_leaf = n == c->leaf || (!dtype_is_float(n->type.dtype) && n->type.dtype != DT_bool &&
                                    index_expression((Node *)(uintptr_t)n, symbols) == c->value);
    if (is_leaf) return *v = leaf, true;
    for (int i = 0; i < n->n_in; i++) {
        if (!value_at(n->in[i], c, leaf, &in[i])) return false;
    }
    bool known = n->op == OP_where ? (*v = in[0] != 0 ? in[1] : in[2], true)
                 : n->n_in == 2    ? binary_value(n->op, in[0], in[1], v)
                                   : unary_value(n->op, in[0], v);
    if (!known || (n->type.dtype != DT_f32 && dtype_is_float(n->type.dtype))) return false;
    *v = rounded(n->type.dtype, *v);
    return true;
}

static const Tensor *tabulate(const Node *index, const Cone *c, int64_t low, int64_t count) {
    int32_t *data = ARENA_ARRAY(index->graph->arena, int32_t, count);
    for (int64_t i = 0; i < count; i++) {
        double v;
        if (!value_at(index, c, (double)(low + i), &v) || fabs(v) > INT32_MAX) return NULL;
        data[i] = (int32_t)v;
    }
    Tensor *t = ARENA_NEW(index->graph->arena, Tensor);
    *t = (Tensor){.dtype = DT_i32,
                  .rank = 1,
                  .dim = {count},
                  .data = data,
                  .bytes = (uint64_t)count * sizeof *data};
    return t;
}

// The leaf counted from 0, as i32.
static Node *place_in_table(Node *before, const Cone *c, int64_t low) {
    Node *x = build_cast(cursor(before), c->leaf, DT_i32);
    return low ? build_binary(cursor(before), OP_sub, x,
                              node_scalar(x->graph, DT_i32, (double)low, x->loc, before))
               : x;
}

Node *tabulate_index(Node *n) {
    Cone c = {0};
    if (n->op != OP_gather || n->in[0]->op != OP_constant || !find_leaf(n->in[1], &c, 0) ||
        !c.leaf || !c.rounds)
        return NULL;
    int64_t low = dim_lower(c.value), high = dim_upper(c.value);
    if (high < low || high - low >= LARGEST_TABLE) return NULL;
    const Tensor *t = tabulate(n->in[1], &c, low, high - low + 1);
    if (!t) return NULL;
    Node *in[] = {node_constant(n->graph, t, n->loc, n), place_in_table(n, &c, low)};
    Node *index = build_gather(cursor_at(n, n->loc), in[0], in[1], 0);
    index = build_reshape(cursor(n), index, n->in[1]->type.rank, n->in[1]->type.dim);
    return inferred(node_again(n, OP_gather, 2, (Node *[]){n->in[0], index}, n));
}
