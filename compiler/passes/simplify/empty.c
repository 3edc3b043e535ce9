// Values of no elements: no kernel computes them, and kernels that would read them compute without
// them.
//
//   before   %s = slice(%x) {axis=1, start=0, extent=0} : f32[T, 0]      after   %y = relu(%x) : f32[T, 8]
//            %r = relu(%s) : f32[T, 0]
//            %y = concat(%r, %q) {axis=1} : f32[T, 8]
#include "ir/operands.h"
#include "passes/simplify/simplify.h"

static bool is_empty(const Type *t) {
    for (int i = 0; i < t->rank; i++)
        if (dim_is(t->dim[i], 0)) return true;
    return false;
}

// The empty value of a type: a number expanded to no elements.
static Node *filled(Node *n, double value) {
    return build_filled(cursor_at(n, n->loc), n->type.dtype, value, n->type.rank, n->type.dim);
}

// Returns NULL unless the node computes an empty value. Inputs and states have their memory; an
// expanded number is the canonical form itself.
static Node *replace_empty(Node *n) {
    bool given = n->op == OP_input || n->op == OP_state || n->op == OP_constant;
    bool canonical = n->op == OP_expand && n->in[0]->op == OP_constant && !n->in[0]->type.rank;
    if (given || canonical || !dtype_bits(n->type.dtype) || n->type.dtype == DT_string) return NULL;
    return is_empty(&n->type) ? filled(n, 0) : NULL;
}

static Node *drop_empty_parts(Node *n) {
    Node **in = ARENA_ARRAY(n->graph->arena, Node *, n->n_in);
    int left = 0;
    for (int i = 0; i < n->n_in; i++)
        if (!is_empty(&n->in[i]->type)) in[left++] = n->in[i];
    if (left == n->n_in || !left) return NULL;
    return left == 1 ? in[0] : build_concat(cursor_at(n, n->loc), left, in, node_axis(n));
}

Node *simplify_empty(Node *n) {
    Node *by = replace_empty(n);
    if (by) return by;
    const Type *first = n->n_in && n->in[0] ? &n->in[0]->type : NULL;
    switch (n->op) {
        case OP_concat:
            return drop_empty_parts(n);
        case OP_matmul:  // a sum of no products
            return dim_is(first->dim[first->rank - 1], 0) ? filled(n, 0) : NULL;
        case OP_reduce_sum:
            return is_empty(first) ? filled(n, 0) : NULL;
        case OP_reduce_prod:
            return is_empty(first) ? filled(n, 1) : NULL;
        case OP_scatter_elements:
        case OP_scatter_nd:
            return is_empty(&n->in[2]->type) ? n->in[0] : NULL;
        default:
            return NULL;
    }
}
