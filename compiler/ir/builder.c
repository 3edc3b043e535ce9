#include "ir/builder.h"

static Loc place_of(Builder b, int n_in, Node *const *in) {
    bool given = b.loc.source || b.loc.scope || b.loc.offset;
    return given || !n_in || !in[0] ? b.loc : in[0]->loc;
}

Node *build_begin(Builder b, Op op, int n_in, Node *const *in) {
    return node_make(b.graph ? b.graph : in[0]->graph, op, place_of(b, n_in, in), n_in, in,
                     b.before);
}

Node *build_end(Builder b, Node *n) { return b.finish ? b.finish(b.user, n) : inferred(n); }

Node *build_op(Builder b, Op op, int n_in, Node *const *in) {
    return build_end(b, build_begin(b, op, n_in, in));
}

Node *build_unary(Builder b, Op op, Node *x) { return build_op(b, op, 1, &x); }

Node *build_binary(Builder b, Op op, Node *x, Node *y) {
    return build_op(b, op, 2, (Node *[]){x, y});
}

Node *build_where(Builder b, Node *condition, Node *x, Node *y) {
    return build_op(b, OP_where, 3, (Node *[]){condition, x, y});
}

// ------------------------------------------------------------------------------------------- views
Node *build_cast(Builder b, Node *x, DType to) {
    if (x->type.dtype == to) return x;
    Node *n = build_begin(b, OP_cast, 1, &x);
    attr_set_dtype(n, "to", to);
    return build_end(b, n);
}

static Node *shaped(Builder b, Op op, Node *x, int rank, const Dim *const *dims) {
    bool same = !b.as_said && x->type.rank == rank;
    for (int i = 0; same && i < rank; i++) same = x->type.dim[i] == dims[i];
    if (same) return x;
    Node *n = build_begin(b, op, 1, &x);
    attr_set_dims(n, "shape", dims, rank);
    return build_end(b, n);
}

Node *build_reshape(Builder b, Node *x, int rank, const Dim *const *dims) {
    return shaped(b, OP_reshape, x, rank, dims);
}

Node *build_expand(Builder b, Node *x, int rank, const Dim *const *dims) {
    return shaped(b, OP_expand, x, rank, dims);
}

Node *build_transpose(Builder b, Node *x, const int64_t *perm) {
    bool same = !b.as_said;
    for (int i = 0; same && i < x->type.rank; i++) same = perm[i] == i;
    if (same) return x;
    Node *n = build_begin(b, OP_transpose, 1, &x);
    attr_set_ints(n, "perm", perm, x->type.rank);
    return build_end(b, n);
}

Node *build_slice(Builder b, Node *x, Slice s) {
    if (s.step == 1 && dim_is(s.start, 0) && s.extent == x->type.dim[s.axis]) return x;
    Node *n = build_begin(b, OP_slice, 1, &x);
    attr_set_int(n, "axis", s.axis);
    attr_set_dims(n, "start", &s.start, 1);
    attr_set_dims(n, "extent", &s.extent, 1);
    if (s.step != 1) attr_set_int(n, "step", s.step);
    return build_end(b, n);
}

static Node *along(Builder b, Op op, int n_in, Node *const *in, int axis) {
    Node *n = build_begin(b, op, n_in, in);
    attr_set_int(n, "axis", axis);
    return build_end(b, n);
}

Node *build_concat(Builder b, int n_in, Node *const *in, int axis) {
    return along(b, OP_concat, n_in, in, axis);
}

Node *build_gather(Builder b, Node *x, Node *index, int axis) {
    return along(b, OP_gather, 2, (Node *[]){x, index}, axis);
}

// -------------------------------------------------------------------------------------- reductions
Node *build_reduce(Builder b, Op op, Node *x, const int64_t *axes, int n, bool keep_axes) {
    Node *r = build_begin(b, op, 1, &x);
    attr_set_ints(r, "axes", axes, n);
    attr_set_int(r, "keepdims", keep_axes);
    return build_end(b, r);
}

Node *build_softmax(Builder b, Node *x, int axis) { return along(b, OP_softmax, 1, &x, axis); }

// --------------------------------------------------------------------------------------- constants
Node *build_scalar(Builder b, DType t, double value) {
    return node_scalar(b.graph, t, value, b.loc, b.before);
}

Node *build_constant(Builder b, const Tensor *t) {
    return node_constant(b.graph, t, b.loc, b.before);
}

Node *build_filled(Builder b, DType t, double value, int rank, const Dim *const *dims) {
    return build_expand(b, build_scalar(b, t, value), rank, dims);
}

Node *build_iota(Builder b, int rank, const Dim *const *dims, int axis) {
    Node *n = build_begin(b, OP_iota, 0, NULL);
    attr_set_dims(n, "dims", dims, rank);
    attr_set_int(n, "axis", axis);
    return build_end(b, n);
}

Node *build_size(Builder b, const Dim *d) {
    Node *n = build_begin(b, OP_size, 0, NULL);
    attr_set_dims(n, "dims", &d, 1);
    return build_end(b, n);
}
