// Heads mixed for each query and key, or channels for each position: a product or a
// convolution by weights joins the axis of positions with others, and a reshape parts them again.
//
//   before   %x = reshape(transpose(%s)) : f32[T * T, H]    after   %x = transpose(%s)
//            %y = matmul(%x, %w) : f32[T * T, H]                    %y = matmul(%x, %w) : f32[T, T, H]
//            %z = reshape(%y) : f32[T, T, H]
//
// So that each axis can be followed by itself.
#include "passes/fuse/joined_axes.h"

#include "passes/axes.h"

enum { MOST_OPERANDS = 16 };

typedef struct Joined {
    int n;
    const Dim *dim[MAX_RANK], *all;  // the axes that are joined, and their product
    Node *at;                        // new nodes go before it
} Joined;

static Node *parted(const Joined *j, Node *y, int axis);

// The shape [joined.., n], or [n, joined..], of a value whose axis 0, or 1, joins them
static Type parted_type(const Joined *j, const Node *y, int axis) {
    const Dim *dims[MAX_RANK];
    for (int i = 0; i < j->n; i++) dims[axis + i] = j->dim[i];
    dims[axis ? 0 : j->n] = y->type.dim[1 - axis];
    return type_of(y->type.dtype, j->n + 1, dims);
}

static bool equal_but_ones(const Type *a, const Type *b) {
    for (int i = 0, j = 0;; i++, j++) {
        while (i < a->rank && dim_is(a->dim[i], 1)) i++;
        while (j < b->rank && dim_is(b->dim[j], 1)) j++;
        if (i == a->rank || j == b->rank) return i == a->rank && j == b->rank;
        if (a->dim[i] != b->dim[j]) return false;
    }
}

// Windows of one element each change the shape alone.
static bool are_elements(const Node *n) {
    int count, strides;
    const int64_t *kernel = attr_ints(n, "kernel", &count),
                  *step = attr_ints(n, "strides", &strides);
    for (int i = 0; i < count; i++)
        if (kernel[i] != 1 || (i < strides && step[i] != 1)) return false;
    return true;
}

static Node *before_joining(const Joined *j, Node *y, int axis) {
    Type whole = parted_type(j, y, axis);
    Node *x = y->in[0];
    if (x->op == OP_windows && are_elements(x)) x = x->in[0];
    if (!equal_but_ones(&x->type, &whole)) return NULL;
    return build_reshape(cursor(j->at), x, whole.rank, whole.dim);
}

static Node *turned(const Joined *j, Node *x, bool last_first) {
    int64_t perm[MAX_RANK];
    int rank = j->n + 1;
    for (int i = 0; i < rank; i++) perm[i] = (i + (last_first ? j->n : 1)) % rank;
    return build_transpose(cursor(j->at), x, perm);
}

// x W, or W x
static Node *parted_product(const Joined *j, Node *y, int axis) {
    Node *x = y->in[axis], *weights = y->in[1 - axis];
    if (!is_weight(weights) || weights->type.rank != 2) return NULL;
    x = parted(j, x, axis);
    if (!x) return NULL;
    if (!axis) return build_op(cursor(j->at), OP_matmul, 2, (Node *[]){x, weights});
    weights = build_transpose(cursor(j->at), weights, (int64_t[]){1, 0});
    x = build_op(cursor(j->at), OP_matmul, 2, (Node *[]){turned(j, x, false), weights});
    return turned(j, x, true);
}

// An operand that is the same for all positions, with an axis more
static Node *broadcast(const Joined *j, Node *x, int axis) {
    const Type *t = &x->type;
    const Dim *one = dim_const(x->graph, 1), *dims[MAX_RANK];
    if (t->rank == 0 || (!axis && t->rank == 1)) return x;
    const Dim *n = t->dim[t->rank - 1 - (t->rank == 2 && axis)];
    if (t->rank == 1) return dim_is(n, 1) ? x : NULL;
    if (t->rank > 2 || !dim_is(t->dim[axis], 1)) return NULL;
    for (int i = 0; i <= j->n; i++) dims[i] = i == (axis ? 0 : j->n) ? n : one;
    return build_reshape(cursor(j->at), x, j->n + 1, dims);
}

static Node *parted_elements(const Joined *j, Node *y, int axis) {
    Node *in[MOST_OPERANDS];
    if (y->n_in > MOST_OPERANDS) return NULL;
    for (int i = 0; i < y->n_in; i++) {
        const Type *t = &y->in[i]->type;
        bool joins = t->rank == 2 && t->dim[axis] == j->all;
        in[i] = joins ? parted(j, y->in[i], axis) : broadcast(j, y->in[i], axis);
        if (!in[i]) return NULL;
    }
    return inferred(node_again(y, y->op, y->n_in, in, j->at));
}

// A slice of the other axis, or one that repeats it
static Node *parted_view(const Joined *j, Node *y, int axis) {
    bool sliced = y->op == OP_slice;
    if (y->in[0]->type.rank != 2 || (sliced && node_axis(y) == axis)) return NULL;
    Node *x = parted(j, y->in[0], axis);
    Type whole = parted_type(j, y, axis);
    if (!x) return NULL;
    if (!sliced) return build_expand(cursor(j->at), x, whole.rank, whole.dim);
    Slice s = {axis ? 0 : j->n, attr_dim(y, "start"), attr_dim(y, "extent"),
               attr_int(y, "step", 1)};
    return build_slice(cursor(j->at), x, s);
}

static Node *parted(const Joined *j, Node *y, int axis) {
    if (y->type.rank != 2 || y->type.dim[axis] != j->all) return NULL;
    if (y->op == OP_reshape) return before_joining(j, y, axis);
    if (y->op == OP_matmul) return parted_product(j, y, axis);
    if (y->op == OP_slice || y->op == OP_expand) return parted_view(j, y, axis);
    if (op_is_elementwise(y->op)) return parted_elements(j, y, axis);
    if (y->op != OP_transpose) return NULL;
    Node *x = parted(j, y->in[0], 1 - axis);
    return x ? turned(j, x, axis) : NULL;
}

// The axes of the reshape that its operand joins in `axis`: all but the other one
static bool joined_axes(const Node *n, int axis, const Dim *positions, Joined *j) {
    const Type *t = &n->type, *from = &n->in[0]->type;
    bool of_positions = false;
    *j = (Joined){.all = dim_const(n->graph, 1), .at = (Node *)n};
    bool alone = dim_is(from->dim[1 - axis], 1);  // the other axis, which the reshape drops
    int first = 0, last = t->rank - (!axis && !alone);
    while (axis && !alone && first < t->rank && dim_is(t->dim[first], 1)) first++;
    first += axis && !alone;
    for (int i = first; i < last; i++) {
        if (dim_is(t->dim[i], 1)) continue;
        of_positions |= t->dim[i] == positions;
        j->dim[j->n++] = t->dim[i];
        j->all = dim_binary(n->graph, DIM_MUL, j->all, t->dim[i]);
    }
    return of_positions && j->n > 1 && from->dim[axis] == j->all;
}

Node *part_joined_axes(Node *n, const Dim *positions) {
    Node *y = n->in[0];
    if (y->op == OP_reshape || y->type.rank != 2) return NULL;
    for (int axis = 0; axis < 2; axis++) {
        Joined j;
        if (!joined_axes(n, axis, positions, &j)) continue;
        Type whole = parted_type(&j, y, axis);
        Node *x = equal_but_ones(&n->type, &whole) ? parted(&j, y, axis) : NULL;
        if (x) return build_reshape(cursor(n), x, n->type.rank, n->type.dim);
    }
    return NULL;
}
