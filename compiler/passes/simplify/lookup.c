// Lookups whose indices are expressions of their position (ir/index.h) are views.
//
//   before   %i = iota {dims=[1, 1, 1, T], axis=3}                after   %y = reshape(%mask) {shape=[1, 1, 1, T]}
//            %y = gather(%mask, %i) {axis=0} : bool[1, 1, 1, T]
//
// For each axis of the table there is one expression: a constant is a slice of one, the index of a
// result's axis (plus a constant) is that axis. Lookups by tuples become gathers along one axis.
#include "ir/index.h"
#include "passes/simplify/simplify.h"

typedef struct Lookup {
    Node *result, *x;
    const Dim *symbols[MAX_RANK];  // of the result's axes
    const Dim *at[MAX_RANK];       // where in x, for each of its axes
} Lookup;

static bool start_lookup(Lookup *l, Node *n, Node *x) {
    *l = (Lookup){.result = n, .x = x};
    for (int i = 0; i < n->type.rank; i++)
        l->symbols[i] = index_symbol(n->graph, i, n->type.dim[i]);
    return x->type.rank > 0;
}

// A slice of the axis with the elements at the index; *axis: the result's, or -1. False if it is no
// slice.
static bool slice_for(const Lookup *l, int i, Slice *s, int *axis) {
    Graph *g = l->x->graph;
    const Dim *extent = l->x->type.dim[i];
    *axis = -1;
    *s = (Slice){i, l->at[i], dim_const(g, 1), 1};
    for (int j = 0; !dim_is_const(l->at[i], NULL) && j < l->result->type.rank; j++) {
        const Dim *offset = dim_sub(g, l->at[i], l->symbols[j]);
        if (l->symbols[j]->kind != DIM_SYMBOL || !dim_is_const(offset, NULL)) continue;
        *axis = j;
        *s = (Slice){i, offset, l->result->type.dim[j], 1};
    }
    if (*axis < 0 && !dim_is_const(l->at[i], NULL)) return false;
    return dim_lower(s->start) >= 0 &&
           dim_lower(dim_sub(g, dim_sub(g, extent, s->start), s->extent)) >= 0;
}

// x with the axes of `from` (axes of the result, one for each axis of x or -1) in the result's
// order, ones between them.
static Node *place_axes(const Lookup *l, Node *x, const int *from) {
    Node *n = l->result;
    const Dim *dims[MAX_RANK];
    int64_t perm[MAX_RANK];
    int kept = 0, sorted = 0;
    for (int i = 0; i < l->x->type.rank; i++) {
        if (from[i] >= 0) dims[kept++] = x->type.dim[i];
    }
    Node *y = build_reshape(cursor(n), x, kept, dims);
    for (int j = 0; j < n->type.rank; j++) {
        dims[j] = dim_const(n->graph, 1);
        for (int i = 0, place = 0; i < l->x->type.rank; place += from[i++] >= 0) {
            if (from[i] == j) perm[sorted++] = place, dims[j] = n->type.dim[j];
        }
    }
    y = build_reshape(cursor(n), build_transpose(cursor(n), y, perm), n->type.rank, dims);
    return build_expand(cursor(n), y, n->type.rank, n->type.dim);
}

// One axis that is looked up by a function of one axis of the result: a gather by the list of its
// values.
static bool gather_axis(Lookup *l, int axis) {
    Node *n = l->result;
    for (int j = 0; j < n->type.rank; j++) {
        if (l->symbols[j]->kind != DIM_SYMBOL || !dim_has_symbol(l->at[axis], l->symbols[j]))
            continue;
        IndexTarget t = {.type = type_of(DT_i32, 1, &n->type.dim[j]),
                         .symbols = &l->symbols[j],
                         .at = cursor_at(n, n->loc)};
        for (int k = j + 1; k < n->type.rank; k++) {
            if (dim_has_symbol(l->at[axis], l->symbols[k])) return false;
        }
        Node *index = dim_lower(l->at[axis]) >= 0 ? index_emit(l->at[axis], &t) : NULL;
        if (!index) return false;
        l->x = build_gather(cursor_at(n, n->loc), l->x, index, axis);
        l->at[axis] = l->symbols[j];
        return true;
    }
    return false;
}

static Node *as_view(const Lookup *l);

// Tables are looked up rather than sliced where positions do it (the plain gather is that already).
static Node *as_gather(Lookup *l) {
    int varying = -1;
    for (int i = 0; i < l->x->type.rank; i++) {
        Slice s;
        int axis;
        if (!l->at[i]) return NULL;
        bool whole = slice_for(l, i, &s, &axis) &&
                     (l->x->op != OP_constant || axis < 0 || s.extent == l->x->type.dim[i]);
        if (whole) continue;
        if (varying >= 0) return NULL;
        varying = i;
    }
    return varying >= 0 && gather_axis(l, varying) ? as_view(l) : NULL;
}

static Node *as_view(const Lookup *l) {
    int from[MAX_RANK];
    Slice slices[MAX_RANK];
    for (int i = 0; i < l->x->type.rank; i++) {
        if (!l->at[i] || !slice_for(l, i, &slices[i], &from[i])) return NULL;
        for (int j = 0; j < i; j++) {
            if (from[i] >= 0 && from[i] == from[j]) return NULL;
        }
    }
    Node *x = l->x;
    for (int i = 0; i < l->x->type.rank; i++) x = build_slice(cursor(l->result), x, slices[i]);
    return place_axes(l, x, from);
}

// An axis of n * c elements that is looked up at c * i + k is two, [n, c], of which the second is
// looked up at k.
static void split_axis(Lookup *l, int axis) {
    const Dim *symbol = l->symbols[axis], *extent = l->result->type.dim[axis], *dims[MAX_RANK + 1];
    Graph *g = l->x->graph;
    int64_t first, second;
    if (!l->at[axis] || symbol->kind != DIM_SYMBOL || l->x->type.rank == MAX_RANK) return;
    if (!dim_is_const(dim_substitute(g, l->at[axis], symbol, dim_const(g, 0)), &first)) return;
    if (!dim_is_const(dim_substitute(g, l->at[axis], symbol, dim_const(g, 1)), &second)) return;
    const Dim *step = dim_const(g, second - first);
    bool linear = l->at[axis] ==
                  dim_binary(g, DIM_ADD, dim_binary(g, DIM_MUL, step, symbol), dim_const(g, first));
    if (!linear || first < 0 || second <= first + 1 || first >= second - first) return;
    if (l->x->type.dim[axis] != dim_binary(g, DIM_MUL, extent, step)) return;
    int rank = l->x->type.rank;
    for (int i = 0; i < rank; i++) dims[i + (i > axis)] = l->x->type.dim[i];
    dims[axis] = extent, dims[axis + 1] = step;
    Node *split = build_reshape(cursor(l->result), l->x, rank + 1, dims);
    Node *part = build_slice(cursor(l->result), split,
                             (Slice){axis + 1, dim_const(g, first), dim_const(g, 1), 1});
    for (int i = axis + 1; i < rank; i++) dims[i] = l->x->type.dim[i];
    l->x = build_reshape(cursor(l->result), part, rank, dims);
    l->at[axis] = symbol;
}

// ------------------------------------------------------------------------------- the three lookups
static Node *gather_view(Node *n) {
    Lookup l;
    Node *index = n->in[1];
    int axis = node_axis(n), more = index->type.rank;
    if (n->in[0]->op == OP_constant || !start_lookup(&l, n, n->in[0]))
        return NULL;  // positions look up tables
    for (int i = 0; i < l.x->type.rank; i++)
        l.at[i] = i < axis    ? l.symbols[i]
                  : i == axis ? index_value(index, l.symbols + axis)
                              : l.symbols[i + more - 1];
    if (more == 1) split_axis(&l, axis);
    return as_view(&l);
}

static Node *gather_elements_view(Node *n) {
    Lookup l;
    int axis = node_axis(n);
    if (!start_lookup(&l, n, n->in[0])) return NULL;
    for (int i = 0; i < l.x->type.rank; i++)
        l.at[i] = i == axis ? index_value(n->in[1], l.symbols) : l.symbols[i];
    Node *by = as_gather(&l);
    return by || l.x->op == OP_constant ? by : as_view(&l);
}

static int tuple_length(const Node *indices) {
    int64_t m = 0;
    return indices->type.rank && dim_is_const(width_dim(indices), &m) && m <= MAX_RANK ? (int)m : 0;
}

static Node *gather_nd_view(Node *n, int m) {
    Lookup l;
    const Dim *tuple[MAX_RANK];
    int outer = n->in[1]->type.rank - 1;
    if (!start_lookup(&l, n, n->in[0])) return NULL;
    for (int i = 0; i < outer; i++) tuple[i] = l.symbols[i];
    for (int i = 0; i < l.x->type.rank; i++) {
        tuple[outer] = dim_const(n->graph, i);
        l.at[i] = i < m ? index_value(n->in[1], tuple) : l.symbols[outer + i - m];
    }
    Node *by = as_gather(&l);
    return by || l.x->op == OP_constant ? by : as_view(&l);
}

// Component k of the tuples: [..., m] to [...].
static Node *component(Node *n, int k) {
    Node *indices = n->in[1];
    int rank = indices->type.rank;
    Slice s = {rank - 1, dim_const(n->graph, k), dim_const(n->graph, 1), 1};
    return build_reshape(cursor(n), build_slice(cursor(n), indices, s), rank - 1,
                         indices->type.dim);
}

// The first m axes as one, looked up by one index made of the components.
static Node *gather_flat(Node *n, int m) {
    Node *x = n->in[0], *at = component(n, 0);
    const Dim *dims[MAX_RANK] = {dim_const(n->graph, 1)};
    int64_t extent;
    for (int i = 0; i < m; i++) dims[0] = dim_binary(n->graph, DIM_MUL, dims[0], x->type.dim[i]);
    for (int i = m; i < x->type.rank; i++) dims[i - m + 1] = x->type.dim[i];
    for (int i = 1; i < m; i++) {
        if (!dim_is_const(x->type.dim[i], &extent)) return NULL;
        Node *size = node_scalar(n->graph, at->type.dtype, (double)extent, n->loc, n);
        at = build_binary(cursor(n), OP_add, build_binary(cursor(n), OP_mul, at, size),
                          component(n, i));
    }
    return build_gather(cursor_at(n, n->loc),
                        build_reshape(cursor(n), x, x->type.rank - m + 1, dims), at, 0);
}

Node *simplify_lookup(Node *n) {
    if (n->op == OP_gather) return gather_view(n);
    if (n->op == OP_gather_elements) return gather_elements_view(n);
    if (n->op != OP_gather_nd || attr_int(n, "batch_dims", 0) || !tuple_length(n->in[1]))
        return NULL;
    Node *by = gather_nd_view(n, tuple_length(n->in[1]));
    return by ? by : gather_flat(n, tuple_length(n->in[1]));
}
