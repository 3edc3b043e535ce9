// Experts whose matrices are one tensor, and whose values are another: one term each, as mixture.c
// reads them.
//
//   before   %h = matmul(%x, %w) : f32[E, T, N]      %w : f32[E, K, N]          after   %h0 = matmul(%x, %w[0]) : f32[T, N] ...
//            %y = mul(f(%h), %shares^T) : f32[E, T, N]                                  %y0 = mul(f(%h0), %shares[:, 0]) ...
//            %sum = reduce_sum(%y) {axes=[0]} : f32[T, N]                               %sum = add(add(%y0, %y1), %y2) ...
//
// The sum may be a product by the shares, and the experts' axis any that the rows do not follow.
#include <string.h>

#include "passes/attempt.h"
#include "passes/axes.h"
#include "passes/experts/mixture.h"
#include "passes/row_trace.h"

typedef struct Stack {
    Node *root;
    int64_t experts;
    struct Part *parts;  // made so far
} Stack;

// The experts' values of a node, without their axis
typedef struct Part {
    struct Part *next;
    const Node *of;
    int axis;
    Node **each;
} Part;

static Node **parts(Stack *, Node *, int axis);

// ------------------------------------------------------------------------------------------ leaves
static int without(const Type *type, int axis, const Dim **dims) {
    int rank = 0;
    for (int i = 0; i < type->rank; i++)
        if (i != axis) dims[rank++] = type->dim[i];
    return rank;
}

static Node *reshaped(const Stack *s, Node *x, const Type *type, int axis) {
    const Dim *dims[MAX_RANK];
    int rank = without(type, axis, dims);
    return build_reshape(cursor(s->root), x, rank, dims);
}

// One expert's part of weights: no byte moves.
static Node *constant_part(const Stack *s, const Node *n, int64_t e) {
    Tensor *t = ARENA_NEW(n->graph->arena, Tensor);
    *t = *n->value;
    t->rank--;
    memmove(t->dim, t->dim + 1, (size_t)t->rank * sizeof *t->dim);
    t->bytes /= (uint64_t)s->experts;
    t->data = (const char *)n->value->data + (uint64_t)e * t->bytes;
    t->name = n->value->name
                  ? arena_printf(n->graph->arena, "%s[%lld]", n->value->name, (long long)e)
                  : NULL;
    return build_constant(cursor_at(s->root, n->loc), t);
}

static Node *sliced(const Stack *s, Node *n, int axis, int64_t e) {
    Graph *g = n->graph;
    bool whole = n->op == OP_constant && axis == 0 && n->value && n->value->data &&
                 n->value->bytes % (uint64_t)s->experts == 0 && dtype_bits(n->type.dtype) >= 8;
    if (whole) return constant_part(s, n, e);
    Node *x = build_slice(cursor(s->root), n, (Slice){axis, dim_const(g, e), dim_const(g, 1), 1});
    return reshaped(s, x, &n->type, axis);
}

// -------------------------------------------------------------------------------------- operations
// The node for each expert, not inferred: operand i has the experts' axis at axis[i], or none where
// that is below 0.
static void again(Stack *s, Node *n, const int *axis, Node **each) {
    Node **in[n->n_in];
    for (int i = 0; i < n->n_in; i++) in[i] = axis[i] >= 0 ? parts(s, n->in[i], axis[i]) : NULL;
    for (int64_t e = 0; e < s->experts; e++) {
        Node *operands[n->n_in];
        for (int i = 0; i < n->n_in; i++) operands[i] = in[i] ? in[i][e] : n->in[i];
        each[e] = node_again(n, n->op, n->n_in, operands, s->root);
    }
}

static bool infer_all(const Stack *s, Node **each) {
    for (int64_t e = 0; e < s->experts; e++) each[e] = inferred(each[e]);
    return true;
}

// Axes that are counted from the end: elementwise, and those before a product's matrices.
static bool part_broadcast(Stack *s, Node *n, int axis, Node **each) {
    int from[n->n_in];
    if (n->op == OP_matmul && axis >= n->type.rank - 2) return false;
    for (int i = 0; i < n->n_in; i++) from[i] = axis - (n->type.rank - n->in[i]->type.rank);
    again(s, n, from, each);
    return infer_all(s, each);
}

static bool part_transposed(Stack *s, Node *n, int axis, Node **each) {
    int rank, count = 0;
    const int64_t *perm = attr_ints(n, "perm", &rank);
    int64_t kept[MAX_RANK];
    for (int i = 0; i < rank; i++)
        if (i != axis) kept[count++] = perm[i] - (perm[i] > perm[axis]);
    again(s, n, (int[]){(int)perm[axis]}, each);
    for (int64_t e = 0; e < s->experts; e++) attr_set_ints(each[e], "perm", kept, count);
    return infer_all(s, each);
}

// An op along another axis
static bool part_along(Stack *s, Node *n, int axis, Node **each) {
    int along = node_axis(n);
    if (along == axis || n->n_in != 1) return false;
    again(s, n, &axis, each);
    for (int64_t e = 0; e < s->experts; e++) attr_set_int(each[e], "axis", along - (along > axis));
    return infer_all(s, each);
}

// Weights [K, E N] that are [K, E, N] joined
static bool joins_experts(const Stack *s, const Node *w) {
    const Type *in = &w->in[0]->type;
    return w->op == OP_reshape && in->rank == 3 && in->dim[0] == w->type.dim[0] &&
           dim_is(in->dim[1], s->experts);
}

// Columns of a product are a product by columns of the weights.
static void part_columns(Stack *s, Node *x, Slice columns, Node **each) {
    Node *w = x->op == OP_matmul && columns.axis == x->type.rank - 1 ? x->in[1] : NULL,
         *from = w ? w : x;
    if (w && (w->type.rank != 2 || !is_weight(w))) {
        w = NULL;
        from = x;
    }
    Node **in = w && joins_experts(s, w) ? parts(s, w->in[0], 1) : NULL;
    if (w) columns.axis = 1;
    for (int64_t e = 0; e < s->experts; e++) {
        columns.start = dim_binary(x->graph, DIM_MUL, dim_const(x->graph, e), columns.extent);
        each[e] = in ? in[e] : build_slice(cursor(s->root), from, columns);
        if (w) each[e] = build_binary(cursor(s->root), OP_matmul, x->in[0], each[e]);
    }
}

// The axis of [.., E N, ..] that a reshape splits into E and N
static int merged_axis(const Node *n, int axis) {
    const Type *in = &n->in[0]->type;
    const Dim *both = axis + 1 < n->type.rank
                          ? dim_binary(n->graph, DIM_MUL, n->type.dim[axis], n->type.dim[axis + 1])
                          : NULL;
    bool fits = axis < in->rank && in->dim[axis] == both;
    for (int i = 0; fits && i < axis; i++) fits = in->dim[i] == n->type.dim[i];
    return fits ? axis : -1;
}

static bool part_reshaped(Stack *s, Node *n, int axis, Node **each) {
    Node *x = n->in[0];
    int from = same_axis(n->graph, &n->type, axis, &x->type), merged = merged_axis(n, axis);
    if (from >= 0 && dim_is(x->type.dim[from], s->experts)) {
        Node **in = parts(s, x, from);
        for (int64_t e = 0; e < s->experts; e++) each[e] = reshaped(s, in[e], &n->type, axis);
        return true;
    }
    if (merged < 0) return false;
    part_columns(s, x, (Slice){merged, NULL, n->type.dim[axis + 1], 1}, each);
    for (int64_t e = 0; e < s->experts; e++) each[e] = reshaped(s, each[e], &n->type, axis);
    return true;
}

static bool part_expanded(Stack *s, Node *n, int axis, Node **each) {
    const Dim *dims[MAX_RANK];
    int rank = without(&n->type, axis, dims), from = axis - (n->type.rank - n->in[0]->type.rank);
    Node **in = from >= 0 ? parts(s, n->in[0], from) : NULL;
    for (int64_t e = 0; e < s->experts; e++)
        each[e] = build_expand(cursor(s->root), in ? in[e] : n->in[0], rank, dims);
    return true;
}

static bool part_of_op(Stack *s, Node *n, int axis, Node **each) {
    if (op_is_elementwise(n->op) || n->op == OP_cast || n->op == OP_matmul)
        return part_broadcast(s, n, axis, each);
    switch (n->op) {
        case OP_transpose:
            return part_transposed(s, n, axis, each);
        case OP_slice:
        case OP_softmax:
            return part_along(s, n, axis, each);
        case OP_reshape:
            return part_reshaped(s, n, axis, each);
        case OP_expand:
            return part_expanded(s, n, axis, each);
        default:
            return false;
    }
}

static Node **parts(Stack *s, Node *n, int axis) {
    for (const Part *p = s->parts; p; p = p->next)
        if (p->of == n && p->axis == axis) return p->each;
    Part *p = ARENA_NEW(s->root->graph->arena, Part);
    *p = (Part){
        .of = n, .axis = axis, .each = ARENA_ARRAY(s->root->graph->arena, Node *, s->experts)};
    bool one = dim_is(n->type.dim[axis], 1);
    if (one) p->each[0] = reshaped(s, n, &n->type, axis);
    for (int64_t e = 1; one && e < s->experts; e++) p->each[e] = p->each[0];
    if (!one && !part_of_op(s, n, axis, p->each))
        for (int64_t e = 0; e < s->experts; e++) p->each[e] = sliced(s, n, axis, e);
    p->next = s->parts;
    s->parts = p;
    return p->each;
}

// -------------------------------------------------------------------------------------------- sums
// The table of shares [T, E] that an operand shows, with the experts along `axis`; NULL when it
// shows none.
static Node *shares_along(Node *x, int axis) {
    Place p = {.node = x};
    Choice c = {.before = x};
    int64_t experts;
    enum { SEARCH_DEPTH = 12 };
    for (int i = 0; i < x->type.rank; i++)
        p.at[i] = i == axis ? AT_EXPERT : dim_is(x->type.dim[i], 1) ? 0 : AT_ROW;
    p = behind_views(p);
    while (p.node->op == OP_cast) p = behind_views(place_of_operand(&p, 0));
    return is_at(&p, AT_EXPERT) && find_choice(p.node, &c, SEARCH_DEPTH) &&
                   dim_is_const(p.node->type.dim[1], &experts) && c.k < experts
               ? p.node
               : NULL;
}

static Node *sum_of_parts(Stack *s, Node *y, int axis, Node *shares) {
    Graph *g = shares->graph;
    if (!dim_is_const(shares->type.dim[1], &s->experts) || !dim_is(y->type.dim[axis], s->experts) ||
        y->type.rank != 3)
        return NULL;
    Node **each = parts(s, y, axis), *sum = NULL;
    if (each[0]->type.dim[0] != shares->type.dim[0]) return NULL;
    for (int64_t e = 0; e < s->experts; e++) {
        Node *share =
            build_slice(cursor(s->root), shares, (Slice){1, dim_const(g, e), dim_const(g, 1), 1});
        Node *term = build_binary(cursor(s->root), OP_mul, each[e],
                                  build_cast(cursor(s->root), share, each[e]->type.dtype));
        sum = sum ? build_binary(cursor(s->root), OP_add, sum, term) : term;
    }
    return build_reshape(cursor(s->root), sum, s->root->type.rank, s->root->type.dim);
}

// The operands of a sum over experts, and where they have them: a product by the shares that is
// added up, or a product of matrices
static bool summed_operands(const Node *n, Node **in, int *axis) {
    const Node *x = n;
    int axes = 1, rank = n->type.rank;
    if (n->op == OP_reduce_sum) {
        x = before_rounding(n->in[0]);
        rank = x->type.rank;
        axis[0] = axis[1] = (int)*attr_ints(n, "axes", &axes);
        if (x->op != OP_mul || axes != 1) return false;
    } else if (n->op != OP_matmul || rank != 3) {
        return false;
    } else {
        axis[0] = 2;
        axis[1] = 1;
    }
    for (int i = 0; i < 2; i++) {
        in[i] = x->in[i];
        axis[i] -= rank - in[i]->type.rank;
        if (axis[i] < 0) return false;
    }
    return true;
}

Node *sum_of_stacked(Node *n) {
    Stack s = {.root = n};
    Node *in[2];
    int axis[2];
    if (!summed_operands(n, in, axis)) return NULL;
    for (int i = 0; i < 2; i++) {
        Node *shares = shares_along(in[i], axis[i]),
             *sum = shares ? sum_of_parts(&s, in[!i], axis[!i], shares) : NULL;
        if (sum) return sum;
    }
    return NULL;
}

Node **stacked_parts(Node *before, Node *table, int64_t experts) {
    Stack s = {.root = before, .experts = experts};
    return parts(&s, table, 0);
}
