// Reads a counter as a i + b T + c: Transformer-XL counts relative positions down, from T - 1 to 0.
//
//   before   %c = add(mul(cast(iota), -1), cast(size(T - 1)))     after   the same: T - 1 - i
#include "passes/fuse/count_down.h"

#include "passes/axes.h"

typedef struct Linear {
    double index, positions, constant;
} Linear;

static int64_t value_of(const Dim *symbol, void *user) {
    const Linear *at = user;
    return at && symbol->kind == DIM_SYMBOL ? (int64_t)at->positions : 0;
}

// A number of elements, read at three lengths
static bool linear_size(const Dim *d, const Dim *positions, Linear *v) {
    int64_t at[3];
    for (int i = 0; i < 3; i++)
        at[i] = dim_eval(d, value_of, &(Linear){.positions = (double)(i + 7)});
    bool uses = !dim_is_const(d, NULL);
    *v = (Linear){0, (double)(at[1] - at[0]), (double)(at[0] - 7 * (at[1] - at[0]))};
    return at[2] - at[1] == at[1] - at[0] && (!uses || positions->kind == DIM_SYMBOL);
}

static Linear plus(Linear a, Linear b, double factor) {
    return (Linear){a.index + factor * b.index, a.positions + factor * b.positions,
                    a.constant + factor * b.constant};
}

static bool is_number(Linear v) { return v.index == 0 && v.positions == 0; }

static bool linear(const Node *n, int axis, const Dim *positions, Linear *v);

static bool linear_operand(const Node *n, int i, int axis, const Dim *positions, Linear *v) {
    return linear(n->in[i], axis - (n->type.rank - n->in[i]->type.rank), positions, v);
}

static bool linear_both(const Node *n, int axis, const Dim *positions, Linear *v) {
    Linear a, b;
    if (!linear_operand(n, 0, axis, positions, &a) || !linear_operand(n, 1, axis, positions, &b))
        return false;
    if (n->op != OP_mul) return *v = plus(a, b, n->op == OP_sub ? -1 : 1), true;
    if (!is_number(a) && !is_number(b)) return false;
    *v = plus((Linear){0}, is_number(a) ? b : a, is_number(a) ? a.constant : b.constant);
    return true;
}

static bool linear(const Node *n, int axis, const Dim *positions, Linear *v) {
    int count;
    *v = (Linear){0};
    if (match_scalar(n, &v->constant)) return true;
    switch (n->op) {
        case OP_iota:
            v->index = 1;
            return node_axis(n) == axis;
        case OP_size:
            return linear_size(attr_dims(n, "dims", &count)[0], positions, v) && count == 1;
        case OP_cast:
            return linear(n->in[0], axis, positions, v);
        case OP_neg:
            if (!linear(n->in[0], axis, positions, v)) return false;
            *v = plus((Linear){0}, *v, -1);
            return true;
        case OP_reshape:
            axis = same_axis(n->graph, &n->type, axis, &n->in[0]->type);
            return axis >= 0 && linear(n->in[0], axis, positions, v);
        case OP_add:
        case OP_sub:
        case OP_mul:
            return linear_both(n, axis, positions, v);
        default:
            return false;
    }
}

bool counts_down(const Node *n, int axis, const Dim *positions) {
    Linear v;
    return n->type.dim[axis] == positions && linear(n, axis, positions, &v) && v.index == -1 &&
           v.positions == 1 && v.constant == -1;
}

static bool finds_size(const Node *n, int *steps) {
    if (n->op == OP_size || --*steps < 0) return true;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && finds_size(n->in[i], steps)) return true;
    return false;
}

bool depends_on_sizes(const Node *n) {
    int steps = 400;
    return finds_size(n, &steps);
}
