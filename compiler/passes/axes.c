// Tracks an axis through reshapes, and rebuilds a node with another extent along it.
#include "passes/axes.h"

int same_axis(Graph *g, const Type *from, int axis, const Type *to) {
    const Dim *before = dim_const(g, 1), *seen = dim_const(g, 1);
    for (int i = 0; i < axis; i++) before = dim_binary(g, DIM_MUL, before, from->dim[i]);
    for (int i = 0; i < to->rank; i++) {
        if (seen == before && to->dim[i] == from->dim[axis]) return i;
        seen = dim_binary(g, DIM_MUL, seen, to->dim[i]);
    }
    return -1;
}

Node *with_extent(Node *n, Node *const *in, const char *name, Along a) {
    Node *copy = node_again(n, n->op, n->n_in, in, n);
    const Dim *dims[MAX_RANK];
    for (int i = 0; i < n->type.rank; i++) dims[i] = i == a.axis ? a.extent : n->type.dim[i];
    if (name) attr_set_dims(copy, name, dims, n->type.rank);
    return inferred(copy);
}

bool varies_along(const Node *n, int axis) {
    return axis >= 0 && axis < n->type.rank && !dim_is(n->type.dim[axis], 1);
}
