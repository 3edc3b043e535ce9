// Experts whose matrices are looked up: a product by the matrices that an index names picks them by
// row.
//
//   before   %w1 = gather(%w, %index) {axis=0} : f32[T, k, N, K]      %w : f32[E, N, K], %index : i64[T, k]
//            %y = matmul(%w1, %x) : f32[T, k, N, 1]                    %x : f32[T, k, K, 1]
//   after    %y = expert_matmul(%x, pack(%w[0], %w[1] ...), %index) : f32[T, k, N]
//
// The slots may also be among the columns of one product a row: [T, 1, K] by [T, K, k N]. Slots
// that are rows of their own, [T k, ..], get their axis back first.
#include <string.h>

#include "ir/index.h"
#include "passes/experts/mixture.h"

// ------------------------------------------------------------------------------------------- slots
// Values of T k rows, as values [T, k, ..]
typedef struct Slots {
    Node *before;
    const Dim *rows, *slots, *all;  // T, k and T k
    bool looks_up;                  // weights are looked up by them
} Slots;

static Node *unmerged(Slots *, Node *);

static bool has_slots(const Slots *s, const Node *n) {
    return n->type.rank && n->type.dim[0] == s->all;
}

static int split_dims(const Slots *s, const Type *type, const Dim **dims) {
    dims[0] = s->rows, dims[1] = s->slots;
    for (int i = 1; i < type->rank; i++) dims[i + 1] = type->dim[i];
    return type->rank + 1;
}

static Node *split(const Slots *s, Node *x, const Type *type) {
    const Dim *dims[MAX_RANK];
    if (type->rank == MAX_RANK) return NULL;
    return build_reshape(cursor(s->before), x, split_dims(s, type, dims), dims);
}

// Returns true if element i of the index is row i / k.
static bool counts_rows(const Slots *s, Node *index) {
    const Dim *symbols[MAX_RANK], *value = index_expression(index, symbols);
    return value && value == dim_binary(index->graph, DIM_FLOORDIV, symbols[0], s->slots);
}

// Rows, each as often as it has slots
static Node *repeated(const Slots *s, const Node *n) {
    const Dim *dims[MAX_RANK], *one[MAX_RANK];
    int rank = split_dims(s, &n->type, dims);
    memcpy(one, dims, sizeof one);
    one[1] = dim_const(n->graph, 1);
    return build_expand(cursor(s->before), build_reshape(cursor(s->before), n->in[0], rank, one),
                        rank, dims);
}

static Node *unmerged_lookup(Slots *s, Node *n) {
    if (node_axis(n) != 0 || n->in[1]->type.rank != 1 || n->type.rank == MAX_RANK) return NULL;
    if (n->in[0]->type.dim[0] == s->rows && counts_rows(s, n->in[1])) return repeated(s, n);
    Node *index = is_weight(n->in[0]) ? unmerged(s, n->in[1]) : NULL;
    if (!index) return NULL;
    s->looks_up |= n->in[0]->type.rank == 3;
    return build_gather(cursor(s->before), n->in[0], index, 0);
}

// The op again: operands of all axes get the slots, others stay.
static Node *unmerged_op(Slots *s, Node *n) {
    Node *in[n->n_in];
    for (int i = 0; i < n->n_in; i++) {
        in[i] = n->in[i];
        if (in[i]->type.rank < n->type.rank) continue;
        in[i] = has_slots(s, in[i])             ? unmerged(s, in[i])
                : dim_is(in[i]->type.dim[0], 1) ? in[i]
                                                : NULL;
        if (!in[i] || (n->op == OP_matmul && in[i] == n->in[i])) return NULL;
    }
    return node_again(n, n->op, n->n_in, in, s->before);
}

static Node *unmerged_slice(Slots *s, Node *n) {
    if (node_axis(n) == 0) return NULL;
    Node *by = unmerged_op(s, n);
    if (by) attr_set_int(by, "axis", node_axis(n) + 1);
    return by ? inferred(by) : NULL;
}

static Node *unmerged(Slots *s, Node *n) {
    if (!has_slots(s, n) || n->type.rank >= MAX_RANK) return NULL;
    if (op_is_elementwise(n->op) || n->op == OP_cast || (n->op == OP_matmul && n->type.rank == 3)) {
        Node *by = unmerged_op(s, n);
        return by ? inferred(by) : NULL;
    }
    switch (n->op) {
        case OP_gather:
            return unmerged_lookup(s, n);
        case OP_slice:
            return unmerged_slice(s, n);
        case OP_reshape: {
            Node *x = has_slots(s, n->in[0]) ? unmerged(s, n->in[0]) : n->in[0];
            return x ? split(s, x, &n->type) : NULL;
        }
        default:
            return NULL;
    }
}

// reshape([T k, ..]) to [T, k, ..]
static Node *unmerged_reshape(Node *n) {
    const Type *in = &n->in[0]->type;
    if (n->type.rank != in->rank + 1 || n->type.rank < 3 || in->dim[0]->kind == DIM_CONST)
        return NULL;
    Slots s = {.before = n, .rows = n->type.dim[0], .slots = n->type.dim[1], .all = in->dim[0]};
    if (s.all != dim_binary(n->graph, DIM_MUL, s.rows, s.slots)) return NULL;
    Node *by = unmerged(&s, n->in[0]);
    return by && s.looks_up && type_equal(&by->type, &n->type) ? by : NULL;
}

// Rows [T k, n] added to the row that they belong to, from zeros
static Node *unmerged_sum(Node *n) {
    double zero;
    int64_t slots;
    Node *x = n->in[2];
    bool adds = !strcmp(attr_string(n, "reduction", "none"), "add") &&
                match_scalar(n->in[0], &zero) && zero == 0;
    if (!adds || node_axis(n) != 0 || n->type.rank != 2 || x->type.rank != 2 ||
        x->type.dim[1] != n->type.dim[1])
        return NULL;
    const Dim *count = dim_binary(n->graph, DIM_FLOORDIV, x->type.dim[0], n->type.dim[0]);
    if (n->type.dim[0]->kind == DIM_CONST || !dim_is_const(count, &slots)) return NULL;
    Slots s = {.before = n, .rows = n->type.dim[0], .slots = count, .all = x->type.dim[0]};
    Node *by = counts_rows(&s, n->in[1]) ? unmerged(&s, x) : NULL;
    return by && s.looks_up ? build_reduce(cursor(n), OP_reduce_sum, by, (int64_t[]){1}, 1, false)
                            : NULL;
}

Node *slots_unmerged(Node *n) {
    if (n->op == OP_reshape) return unmerged_reshape(n);
    return n->op == OP_scatter_elements || n->op == OP_scatter_nd ? unmerged_sum(n) : NULL;
}

// ---------------------------------------------------------------------------------------- products
// Where a product's weights have the axes of the gather [T, k, a, b]; the last two may be one.
typedef struct Lookup {
    Node *gather;
    int64_t perm[MAX_RANK];
    bool merged;  // the slots and the axes after them
} Lookup;

static bool read_lookup(Node *w, Lookup *l) {
    *l = (Lookup){.perm = {0, 1, 2, 3}, .merged = w->op == OP_reshape};
    if (l->merged) w = w->in[0];
    if (w->op == OP_transpose && w->type.rank == 4) {
        memcpy(l->perm, attr_ints(w, "perm", &(int){0}), 4 * sizeof *l->perm);
        w = w->in[0];
    }
    l->gather = w;
    return w->op == OP_gather && node_axis(w) == 0 && w->in[0]->type.rank == 3 &&
           w->in[1]->type.rank == 2 && is_weight(w->in[0]) && !is_weight(w->in[1]);
}

// [T, 1, K] by [T, K, k N], or [T, k N, K] by [T, K, 1]: the axes of the weights in the merged form
static bool merges_slots(const Node *n, int side, const Lookup *l) {
    const Type *w = &n->in[side]->type, *x = &n->in[!side]->type;
    int k = side ? 2 : 1;
    bool merges = w->rank == 3 && x->rank == 3 && l->perm[0] == 0 && l->perm[k] == 1 &&
                  dim_is(x->dim[side], 1);
    const Type *wide = &n->in[side]->in[0]->type;
    return merges && wide->dim[0] == w->dim[0] && wide->dim[side ? 1 : 3] == w->dim[side ? 1 : 2];
}

static bool keeps_slots(const Node *n, int side, const Lookup *l) {
    const Type *x = &n->in[!side]->type;
    return n->type.rank == 4 && x->rank == 4 && l->perm[0] == 0 && l->perm[1] == 1 &&
           dim_is(x->dim[side ? 2 : 3], 1);
}

// Is the depth in the last axis of each expert's matrix, as nn.Linear has it?
static bool depth_is_last(const Lookup *l, int side) {
    int depth = l->merged ? (side ? 1 : 3) : side ? 2 : 3;
    return l->perm[depth] == 3;
}

static Node *packed(Node *n, const Lookup *l, bool depth_is_last) {
    int64_t experts;
    if (!dim_is_const(l->gather->in[0]->type.dim[0], &experts)) return NULL;
    Node **each = stacked_parts(n, l->gather->in[0], experts);
    for (int64_t e = 0; depth_is_last && e < experts; e++)
        each[e] = build_transpose(cursor(n), each[e], (int64_t[]){1, 0});
    return packed_experts(n, each, (int)experts);
}

// x [T, K], where it is the same for all slots, or [T, k, K]
static Node *rows_of(Node *n, Node *x, const Lookup *l, const Dim *depth) {
    const Type *index = &l->gather->in[1]->type;
    const Dim *dims[] = {index->dim[0], index->dim[1], depth};
    bool alone = l->merged || dim_is(x->type.dim[1], 1);
    while (x->op == OP_reshape && x->in[0]->type.dim[0] == index->dim[0]) x = x->in[0];
    bool same =
        alone || (x->op == OP_expand && x->type.rank > 2 && x->type.dim[1] == index->dim[1] &&
                  dim_is(x->in[0]->type.dim[1], 1) && x->in[0]->type.rank == x->type.rank);
    if (!same) return build_reshape(cursor(n), x, 3, dims);
    dims[1] = depth;
    return build_reshape(cursor(n), x->op == OP_expand ? x->in[0] : x, 2, dims);
}

bool recognise_lookup(Node *n, Attempt *a) {
    Lookup l;
    int side = 1;
    if (n->op != OP_matmul) return false;
    for (; side >= 0 && !read_lookup(n->in[side], &l);) side--;
    if (side < 0) return false;
    *a = (Attempt){.pattern = "mixture of experts", .root = n};
    if (!(l.merged ? merges_slots(n, side, &l) : keeps_slots(n, side, &l)))
        return attempt_broke(
            a, n, "its weights are looked up, but not as a matrix for each row and slot");
    const Dim *depth = n->in[0]->type.dim[n->in[0]->type.rank - 1];
    bool last = depth_is_last(&l, side);
    Node *pack = packed(n, &l, last), *x = rows_of(n, n->in[!side], &l, depth);
    if (!pack) return false;  // it is no constant with its values
    Node *index = build_cast(cursor(n), l.gather->in[1], DT_i32);
    Node *by = node_make(n->graph, OP_expert_matmul, n->loc, 3, (Node *[]){x, pack, index}, n);
    int64_t columns;
    if (!dim_is_const(l.gather->type.dim[last ? 2 : 3], &columns))
        return attempt_broke(a, n, "its columns are no number");
    attr_set_int(by, "columns", columns);
    a->by = build_reshape(cursor(n), inferred(by), n->type.rank, n->type.dim);
    return true;
}
