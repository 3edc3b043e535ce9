// Views: chains that cancel or combine, slices that move to the source, concatenations that undo
// slices.
//
//   before   %a = transpose(%x) {perm=[1, 0]}                     after   %b = slice(%x) {axis=1, start=0, extent=4}
//            %b = slice(%a) {axis=0, start=0, extent=4}                   %t = transpose(%b) {perm=[1, 0]}
#include "passes/views.h"

#include "passes/simplify/simplify.h"

// ------------------------------------------------------------------------------------------ chains
// The last node of a chain: the shortest chain with the same index map takes its place.
static Node *shorten_chain(Node *n) {
    ViewMap v;
    if (!view_map(n, &v)) return NULL;
    int shortest = view_shortest(&v);
    return shortest >= 0 && shortest < v.length ? view_emit(&v, n) : NULL;
}

// ------------------------------------------------------------------------------------------ slices
static Slice slice_of(const Node *n) {
    return (Slice){node_axis(n), attr_dim(n, "start"), attr_dim(n, "extent"),
                   attr_int(n, "step", 1)};
}

static Node *slice_of_slice(Node *n, Slice s) {
    Slice inner = slice_of(n->in[0]);
    if (inner.axis != s.axis || inner.step != 1) return NULL;
    s.start = dim_binary(n->graph, DIM_ADD, s.start, inner.start);
    return build_slice(cursor(n), n->in[0]->in[0], s);
}

static Node *slice_of_transpose(Node *n, Slice s) {
    int count;
    const int64_t *perm = attr_ints(n->in[0], "perm", &count);
    s.axis = (int)perm[s.axis];
    return build_transpose(cursor(n), build_slice(cursor(n), n->in[0]->in[0], s), perm);
}

static int place_in_source(const ViewMap *v, int atom) {
    int at = 0;
    while (v->source.atom[at] != atom) at++;
    return at;
}

// The axis of the reshape's operand whose outermost atoms are those of the sliced axis; *inner is
// the extent of its other atoms.
static int axis_behind(const Node *reshape, int axis, const Dim **inner) {
    ViewMap v;
    view_start(&v, reshape->in[0]);
    if (!view_apply(&v, reshape) || !v.axis[axis].n) return -1;
    const AtomList *wanted = &v.axis[axis];
    int at = place_in_source(&v, wanted->atom[0]), source_axis = v.source_axis[wanted->atom[0]];
    if (at > 0 && v.source_axis[v.source.atom[at - 1]] == source_axis) return -1;
    for (int i = 0; i < wanted->n; i++, at++) {
        if (v.source.atom[at] != wanted->atom[i] || v.source_axis[wanted->atom[i]] != source_axis)
            return -1;
    }
    *inner = dim_const(v.graph, 1);
    for (; at < v.source.n && v.source_axis[v.source.atom[at]] == source_axis; at++) {
        *inner = dim_binary(v.graph, DIM_MUL, *inner, v.extent[v.source.atom[at]]);
    }
    return source_axis;
}

// A slice moves through a chain of views when it can move all the way to the chain's base: else it
// would only split the chain. Nothing is gained by passing a lone transpose, nor at a base that is
// sliced along another axis or repeated.
static bool reaches_base(const Node *x, int axis) {
    const Dim *inner;
    int count;
    bool reshapes = false;
    while (x->op == OP_transpose || x->op == OP_reshape) {
        reshapes |= x->op == OP_reshape;
        axis = x->op == OP_transpose ? (int)attr_ints(x, "perm", &count)[axis]
                                     : axis_behind(x, axis, &inner);
        if (axis < 0) return false;
        x = x->in[0];
    }
    return reshapes && x->op != OP_expand && (x->op != OP_slice || attr_int(x, "axis", 0) == axis);
}

static Node *slice_of_reshape(Node *n, Slice s) {
    const Dim *inner;
    int axis = s.step == 1 ? axis_behind(n->in[0], s.axis, &inner) : -1;
    if (axis < 0) return NULL;
    s.axis = axis;
    s.start = dim_binary(n->graph, DIM_MUL, s.start, inner);
    s.extent = dim_binary(n->graph, DIM_MUL, s.extent, inner);
    return build_reshape(cursor(n), build_slice(cursor(n), n->in[0]->in[0], s), n->type.rank,
                         n->type.dim);
}

// A slice within one operand of a concatenation.
static Node *slice_of_concat(Node *n, Slice s) {
    int64_t start, extent, width, at = 0;
    Node *c = n->in[0];
    if (node_axis(c) != s.axis || s.step != 1) return NULL;
    if (!dim_is_const(s.start, &start) || !dim_is_const(s.extent, &extent)) return NULL;
    for (int i = 0; i < c->n_in; i++, at += width) {
        if (!dim_is_const(c->in[i]->type.dim[s.axis], &width)) return NULL;
        if (start < at || start + extent > at + width) continue;
        s.start = dim_const(n->graph, start - at);
        return build_slice(cursor(n), c->in[i], s);
    }
    return NULL;
}

static Node *slice_of_expand(Node *n, Slice s) {
    Node *x = n->in[0]->in[0];
    int axis = s.axis - (n->type.rank - x->type.rank);
    bool repeated = axis < 0 || x->type.dim[axis] != n->in[0]->type.dim[s.axis];
    if (!repeated) s.axis = axis, x = build_slice(cursor(n), x, s);
    return build_expand(cursor(n), x, n->type.rank, n->type.dim);
}

// Every second element of elements that are each there twice: each once.
static Node *slice_of_repeats(Node *n, Slice s) {
    ViewMap v;
    int64_t repeats, start;
    if (s.step < 2 || !view_map(n->in[0], &v) || !v.axis[s.axis].n ||
        !dim_is_const(s.start, &start))
        return NULL;
    AtomList *axis = &v.axis[s.axis];
    int last = axis->atom[axis->n - 1];
    if (!v.broadcast[last] || !dim_is_const(v.extent[last], &repeats) || repeats != s.step ||
        start < 0 || start >= repeats)
        return NULL;
    axis->n--;
    const Dim *left = dim_const(n->graph, 1);
    for (int i = 0; i < axis->n; i++)
        left = dim_binary(n->graph, DIM_MUL, left, v.extent[axis->atom[i]]);
    return left == s.extent ? view_emit(&v, n) : NULL;
}

static Node *simplify_slice(Node *n) {
    Slice s = slice_of(n);
    Node *x = n->in[0], *repeated = slice_of_repeats(n, s);
    if (repeated) return repeated;
    if (s.step == 1 && dim_is(s.start, 0) && s.extent == x->type.dim[s.axis]) return x;
    switch (x->op) {
        case OP_slice:
            return slice_of_slice(n, s);
        case OP_transpose:
            return reaches_base(x, s.axis) ? slice_of_transpose(n, s) : NULL;
        case OP_reshape:
            return reaches_base(x, s.axis) ? slice_of_reshape(n, s) : NULL;
        case OP_concat:
            return slice_of_concat(n, s);
        case OP_expand:
            return slice_of_expand(n, s);
        default:
            return NULL;
    }
}

// ----------------------------------------------------------------------------------- concatenation
static bool follows(const Node *a, const Node *b, int axis) {
    if (a->op != OP_slice || b->op != OP_slice || a->in[0] != b->in[0]) return false;
    Slice s = slice_of(a), t = slice_of(b);
    return s.axis == axis && t.axis == axis && s.step == 1 && t.step == 1 &&
           dim_binary(a->graph, DIM_ADD, s.start, s.extent) == t.start;
}

// Adjacent slices become one, all at once: a concatenation may have thousands.
static Node *join_slices(Node *n, int axis) {
    Node **in = ARENA_ARRAY(n->graph->arena, Node *, n->n_in);
    int m = 0;
    for (int i = 0, next; i < n->n_in; i = next) {
        Slice s = {.extent = NULL};
        in[m++] = n->in[i];
        for (next = i + 1; next < n->n_in && follows(n->in[next - 1], n->in[next], axis); next++) {
            if (!s.extent) s = slice_of(n->in[i]);
            s.extent = dim_binary(n->graph, DIM_ADD, s.extent, slice_of(n->in[next]).extent);
        }
        if (s.extent) in[m - 1] = build_slice(cursor(n), n->in[i]->in[0], s);
    }
    return build_concat(cursor_at(n, n->loc), m, in, axis);
}

static Node *flatten_concat(Node *n, int axis, int nested) {
    Node *c = n->in[nested], **in = ARENA_ARRAY(n->graph->arena, Node *, n->n_in + c->n_in);
    int m = 0;
    for (int i = 0; i < n->n_in; i++) {
        if (i != nested) in[m++] = n->in[i];
        for (int j = 0; i == nested && j < c->n_in; j++) in[m++] = c->in[j];
    }
    return build_concat(cursor_at(n, n->loc), m, in, axis);
}

// A cache before the first token.
static Node *drop_empty(Node *n, int axis) {
    Node **in = ARENA_ARRAY(n->graph->arena, Node *, n->n_in);
    int kept = 0;
    for (int i = 0; i < n->n_in; i++) {
        if (!dim_is(n->in[i]->type.dim[axis], 0)) in[kept++] = n->in[i];
    }
    return kept && kept < n->n_in ? build_concat(cursor_at(n, n->loc), kept, in, axis) : NULL;
}

static Node *simplify_concat(Node *n) {
    int axis = node_axis(n);
    if (n->n_in == 1) return n->in[0];
    Node *fewer = drop_empty(n, axis);
    if (fewer) return fewer;
    for (int i = 0; i < n->n_in; i++) {
        Node *x = n->in[i];
        if (x->op == OP_concat && node_only_user(x) == n && node_axis(x) == axis)
            return flatten_concat(n, axis, i);
        if (i + 1 < n->n_in && follows(x, n->in[i + 1], axis)) return join_slices(n, axis);
    }
    return NULL;
}

// ------------------------------------------------------------------------------------- other views
static bool is_index(DType t) { return t == DT_i32 || t == DT_i64; }

// gather with one constant index everywhere is a slice; an index from the end is counted from the
// start. Indices need not be widened.
static Node *simplify_gather(Node *n) {
    double index;
    if (n->in[1]->op == OP_cast && is_index(n->in[1]->type.dtype) &&
        is_index(n->in[1]->in[0]->type.dtype)) {
        return inferred(node_again(n, OP_gather, 2, (Node *[]){n->in[0], n->in[1]->in[0]}, n));
    }
    Node *x = n->in[0];
    int axis = node_axis(n);
    if (!match_scalar(n->in[1], &index)) return NULL;
    const Dim *start = dim_const(n->graph, (int64_t)index);
    if (index < 0) start = dim_binary(n->graph, DIM_ADD, x->type.dim[axis], start);
    Node *s = build_slice(cursor(n), x, (Slice){axis, start, dim_const(n->graph, 1), 1});
    const Dim *ones[MAX_RANK];
    for (int i = 0; i < n->type.rank; i++)
        ones[i] =
            i >= axis && i < axis + n->in[1]->type.rank ? dim_const(n->graph, 1) : n->type.dim[i];
    return build_expand(cursor(n), build_reshape(cursor(n), s, n->type.rank, ones), n->type.rank,
                        n->type.dim);
}

// A reduction whose axes come back as ones keeps them itself.
static Node *keep_reduced_axes(Node *n) {
    Node *rounding = is_rounding(n->in[0]) ? n->in[0] : NULL,
         *r = rounding ? rounding->in[0] : n->in[0];
    bool reduces = r->op == OP_reduce_sum || r->op == OP_reduce_mean || r->op == OP_reduce_max ||
                   r->op == OP_reduce_min;
    if (!reduces || attr_int(r, "keepdims", 1)) return NULL;
    Node *by = node_again(r, r->op, r->n_in, r->in, n);
    attr_set_int(by, "keepdims", 1);
    inferred(by);
    if (type_equal(&by->type, &n->type)) return rounding ? rounded_before(n, by, rounding) : by;
    node_remove(by);
    return NULL;
}

// A value beside itself is transposed before it is repeated: rotary angles of both halves.
static Node *transpose_of_repeated(Node *n) {
    int count;
    const int64_t *perm = attr_ints(n, "perm", &count);
    Node *x = n->in[0], *in[2];
    if (x->op != OP_concat || x->n_in != 2 || x->in[0] != x->in[1]) return NULL;
    int axis = node_axis(x), place = 0;
    while (perm[place] != axis) place++;
    in[0] = in[1] = build_transpose(cursor(n), x->in[0], perm);
    return build_concat(cursor_at(n, n->loc), 2, in, place);
}

// A constant that is only cast: a part of the stored one, which is cast.
static Node *part_of_stored(Node *n) {
    Node *stored = n->in[0]->op == OP_cast ? n->in[0]->in[0] : NULL;
    if (!stored || stored->op != OP_constant) return NULL;
    Node *view = inferred(node_again(n, n->op, 1, &stored, n)), *part = fold_node(view);
    node_remove(view);
    return part ? build_cast(cursor(n), part, n->type.dtype) : NULL;
}

// One matrix of a stack of weights that are seen transposed: the part, then the transpose.
static Node *part_of_transposed(Node *n) {
    int count;
    Node *t = n->in[0], *x = t->op == OP_transpose ? t->in[0] : NULL;
    if (!x || t->type.rank != 3 || !is_weight(x)) return NULL;
    const int64_t *perm = attr_ints(t, "perm", &count);
    if (perm[0] != 0) return NULL;
    if (n->op == OP_slice)
        return node_axis(n)
                   ? NULL
                   : build_transpose(cursor(n), build_slice(cursor(n), x, slice_of(n)), perm);
    bool first = n->type.rank == 2 && dim_is(t->type.dim[0], 1) && n->type.dim[0] == t->type.dim[1];
    if (!first) return NULL;
    return build_transpose(cursor(n), build_reshape(cursor(n), x, 2, x->type.dim + 1),
                           (int64_t[]){perm[1] - 1, perm[2] - 1});
}

// What changes a view of weights
static Node *simplify_weights(Node *n) {
    if (n->op != OP_reshape && n->op != OP_slice) return NULL;
    Node *by = part_of_stored(n);
    return by ? by : part_of_transposed(n);
}

Node *simplify_view(Node *n) {
    Node *by = simplify_weights(n);
    if (by) return by;
    switch (n->op) {
        case OP_reshape:
            by = n->in[0]->op == OP_reshape
                     ? build_reshape(cursor(n), n->in[0]->in[0], n->type.rank, n->type.dim)
                     : keep_reduced_axes(n);
            break;
        case OP_transpose:
            by = transpose_of_repeated(n);
            break;
        case OP_slice:
            return simplify_slice(n);
        case OP_concat:
            return simplify_concat(n);
        case OP_gather:
            return simplify_gather(n);
        default:
            break;
    }
    bool link = n->op == OP_reshape || n->op == OP_transpose || n->op == OP_expand;
    return by || !link ? by : shorten_chain(n);
}
