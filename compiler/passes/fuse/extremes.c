// The minimum and maximum of a whole tensor are found row by row first, which threads divide:
// DynamicQuantizeLinear needs them of every activation.
//
//   before   %m = reduce_max(%x : f32[128, 768]) {axes=[0, 1]}     after   %r = reduce_max(%x) {axes=[1], keepdims=1} : f32[128, 1]
//                                                                          %m = reduce_max(%r) {axes=[0, 1]}
//
// Computations on single numbers, such as a scale, move next to their operands: one thread then
// computes several in a row, where threads would wait for each of them later.
#include "passes/fuse/fuse.h"

enum { LEAST_ELEMENTS = 4096 };  // of less the whole costs less than waiting for its rows

static bool takes_all(const Node *n) {
    int n_axes = 0;
    attr_ints(n, "axes", &n_axes);
    return n_axes == n->in[0]->type.rank;
}

static bool is_large(Graph *g, const Type *t) {
    return t->rank > 1 && !dim_is(t->dim[t->rank - 1], 1) &&
           dim_upper(type_count(g, t)) >= LEAST_ELEMENTS;
}

static bool split_extreme(Node *n) {
    if ((n->op != OP_reduce_min && n->op != OP_reduce_max) || !takes_all(n) ||
        !is_large(n->graph, &n->in[0]->type))
        return false;
    Node *rows = node_make(n->graph, n->op, n->loc, 1, n->in, n->in[0]->next);
    attr_set_ints(rows, "axes", (int64_t[]){n->in[0]->type.rank - 1}, 1);
    attr_set_int(rows, "keepdims", 1);
    node_set_input(n, 0, inferred(rows));
    return true;
}

static bool is_number(const Node *n) {
    return n->type.dtype == DT_f32 && dim_is(type_count(n->graph, &n->type), 1);
}

// The operand that is known last; NULL: it is computed of more than numbers.
static Node *last_operand(const Node *n) {
    Node *last = NULL;
    if (!is_number(n) || !op_is_elementwise(n->op)) return NULL;
    for (int i = 0; i < n->n_in; i++) {
        if (!is_number(n->in[i])) return NULL;
        if (!last || n->in[i]->mark > last->mark) last = n->in[i];
    }
    return last;
}

// After its last operand, and after nodes that moved there already
static bool move_up(Node *n) {
    Node *after = last_operand(n);
    if (!after) return false;
    n->mark = after->mark;
    Node *at = after->next;
    while (at != n && at->mark == after->mark) at = at->next;
    if (at == n) return false;
    node_move_before(n, at);
    return true;
}

static bool move_numbers(Graph *g) {
    bool changed = false;
    int mark = 0;
    EACH_NODE(n, g) n->mark = mark++;
    EACH_NODE(n, g) changed |= node_uses(n) && move_up(n);
    return changed;
}

bool split_extremes(Graph *g) {
    bool changed = false;
    EACH_NODE(n, g) changed |= node_uses(n) && split_extreme(n);
    return changed && (move_numbers(g), true);
}
