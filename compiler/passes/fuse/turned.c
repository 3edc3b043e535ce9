// Transposes between the scores and the product with the values. They move to queries, keys and
// values, so that attention.c finds the weights in that product.
//
//   before   %s = mul(matmul(%q, %k), 0.25) : f32[2, T, 3, T]      after   %s = mul(matmul(transpose(%q), %k), 0.25)
//            %p = softmax(%s)                                              %p = softmax(%s) : f32[2, 3, T, T]
//            %w = transpose(%p) {perm=[0, 2, 1, 3]}                        %y = matmul(%p, %v)
//            %y = matmul(%w, %v)
//
//   before   %y = matmul(%v, transpose(%p))                        after   %y = transpose(matmul(%p, transpose(%v)))
#include <string.h>

#include "passes/fuse/fuse.h"

enum { DEEPEST = 16 };

static bool is_softmax(const Node *n) {
    return n->op == OP_softmax && n->type.rank > 1 && node_axis(n) == n->type.rank - 1;
}

static void swap_last_two(int rank, int64_t *perm) {
    for (int i = 0; i < rank; i++) perm[i] = i;
    perm[rank - 2] = rank - 1, perm[rank - 1] = rank - 2;
}

static Node *with_last_two_swapped(Node *x, Node *at) {
    int64_t perm[MAX_RANK];
    swap_last_two(x->type.rank, perm);
    return build_transpose(cursor_at(at, at->loc), x, perm);
}

// --------------------------------------------------------------------------- weights on the right
static bool swaps_last_two(const Node *n) {
    int rank;
    int64_t expected[MAX_RANK];
    const int64_t *perm = attr_ints(n, "perm", &rank);
    if (n->op != OP_transpose || rank < 2) return false;
    swap_last_two(rank, expected);
    return !memcmp(perm, expected, (size_t)rank * sizeof *perm);
}

static bool turn_product(Node *n) {
    if (n->op != OP_matmul || n->in[0]->type.rank < 2 || !swaps_last_two(n->in[1])) return false;
    Node *weights = n->in[1]->in[0];
    if (!is_softmax(before_rounding(weights))) return false;
    Node *in[] = {weights, with_last_two_swapped(n->in[0], n)};
    node_become(n, with_last_two_swapped(build_op(cursor_at(n, n->loc), OP_matmul, 2, in), n));
    return true;
}

// ----------------------------------------------------------------------- transposes of the weights
// Queries have an axis for each of the product's; keys have one element along the axis that becomes
// the rows.
static bool product_turns(const Node *n, const int64_t *perm) {
    const Type *a = &n->in[0]->type, *b = &n->in[1]->type, *all = &n->type;
    int rows = all->rank - 2;
    if (a->rank != all->rank || b->rank != all->rank || is_weight(n->in[0]) || is_weight(n->in[1]))
        return false;
    return perm[rows] == rows || dim_is(b->dim[perm[rows]], 1);
}

static bool is_elementwise(const Node *n) {
    return (op_is_elementwise(n->op) && n->op != OP_elementwise) || n->op == OP_cast;
}

// Returns true if a value is computed from a product alone that can be transposed.
static bool turns(const Node *n, const int64_t *perm, int depth) {
    if (!depth || !node_only_user(n)) return false;
    if (n->op == OP_matmul) return product_turns(n, perm);
    if (is_softmax(n)) return turns(n->in[0], perm, depth - 1);
    for (int i = 0; is_elementwise(n) && i < n->n_in; i++)
        if (n->in[i]->type.rank == n->type.rank && turns(n->in[i], perm, depth - 1)) return true;
    return false;
}

// An operand that broadcasts, with all axes, transposed
static Node *turned_operand(Node *x, int rank, const int64_t *perm, Node *at) {
    const Dim *dims[MAX_RANK];
    int more = rank - x->type.rank;
    if (!x->type.rank) return x;
    for (int i = 0; i < rank; i++)
        dims[i] = i < more ? dim_const(x->graph, 1) : x->type.dim[i - more];
    Builder b = cursor_at(at, at->loc);
    return build_transpose(b, build_reshape(b, x, rank, dims), perm);
}

static Node *turned_product(Node *n, const int64_t *perm, Node *at) {
    int rank = n->type.rank, rows = rank - 2;
    int64_t of_keys[MAX_RANK];
    for (int i = 0; i < rank; i++) of_keys[i] = perm[i] == rows ? perm[rows] : perm[i];
    of_keys[rows] = rows;
    Builder b = cursor_at(at, at->loc);
    Node *in[] = {build_transpose(b, n->in[0], perm), build_transpose(b, n->in[1], of_keys)};
    return build_op(cursor_at(at, n->loc), OP_matmul, 2, in);
}

static Node *turned(Node *n, const int64_t *perm, int depth, Node *at) {
    Node *in[MAX_RANK];
    if (n->op == OP_matmul) return turned_product(n, perm, at);
    for (int i = 0; i < n->n_in; i++) {
        bool scores = n->in[i]->type.rank == n->type.rank && turns(n->in[i], perm, depth - 1);
        in[i] = scores ? turned(n->in[i], perm, depth - 1, at)
                       : turned_operand(n->in[i], n->type.rank, perm, at);
    }
    return inferred(node_again(n, n->op, n->n_in, in, at));
}

static bool turn_weights(Node *n) {
    int rank;
    const int64_t *perm = attr_ints(n, "perm", &rank);
    if (n->op != OP_transpose || rank < 3 || perm[rank - 1] != rank - 1 ||
        !is_softmax(before_rounding(n->in[0])) || !turns(n->in[0], perm, DEEPEST))
        return false;
    node_become(n, turned(n->in[0], perm, DEEPEST, n));
    return true;
}

bool turn_scores(Graph *g) {
    bool changed = false;
    EACH_NODE(n, g)
        if (node_uses(n)) changed |= turn_product(n) || turn_weights(n);
    return changed;
}
