// One element of each row of a value, followed through views to where it comes from.
#include "passes/experts/mixture.h"

// Axes of one element come and go.
static bool before_reshape(Place *p) {
    const Type *out = &p->node->type, *in = &p->node->in[0]->type;
    Place from = {.node = p->node->in[0]};
    int j = 0;
    for (int i = 0; i < in->rank; i++) {
        if (dim_is(in->dim[i], 1)) continue;
        while (j < out->rank && dim_is(out->dim[j], 1)) j++;
        if (j == out->rank || out->dim[j] != in->dim[i]) return false;
        from.at[i] = p->at[j++];
    }
    while (j < out->rank && dim_is(out->dim[j], 1)) j++;
    return j == out->rank && (*p = from, true);
}

static bool before_slice(Place *p) {
    int64_t start, axis = node_axis(p->node);
    if (p->at[axis] < 0 || !dim_is_const(attr_dim(p->node, "start"), &start)) return false;
    p->at[axis] = start + p->at[axis] * attr_int(p->node, "step", 1);
    p->node = p->node->in[0];
    return true;
}

static bool before_transpose(Place *p) {
    int n;
    const int64_t *perm = attr_ints(p->node, "perm", &n);
    Place from = {.node = p->node->in[0]};
    for (int i = 0; i < n; i++) from.at[perm[i]] = p->at[i];
    return *p = from, true;
}

// The same element of an operand, whose axes of one are repeated.
Place place_of_operand(const Place *p, int operand) {
    Place from = {.node = p->node->in[operand]};
    int rank = from.node->type.rank, more = p->node->type.rank - rank;
    for (int i = 0; i < rank; i++)
        from.at[i] = dim_is(from.node->type.dim[i], 1) ? 0 : p->at[i + more];
    return from;
}

static bool step_back(Place *p) {
    switch (p->node->op) {
        case OP_reshape:
            return before_reshape(p);
        case OP_slice:
            return before_slice(p);
        case OP_transpose:
            return before_transpose(p);
        case OP_expand:
            return *p = place_of_operand(p, 0), true;
        default:
            return false;
    }
}

Place behind_views(Place p) {
    while (step_back(&p)) continue;
    return p;
}

bool is_at(const Place *p, int64_t slot) {
    return p->node->type.rank == 2 && p->at[0] == AT_ROW && p->at[1] == slot;
}
