// Makes nodes: one function an idea, for frontends and passes alike.
#ifndef BURIN_IR_BUILDER_H
#define BURIN_IR_BUILDER_H
#include "ir.h"

// A cursor: the position and origin of new nodes.
typedef struct Builder {
    Graph *graph;
    Node *before;  // NULL: at the end
    Loc loc;       // NO_LOC: that of the first operand
    bool as_said;  // a frontend's: reshape, expand and transpose are nodes also where they change
                   // nothing
    // Gives a node its type; NULL: `inferred`, which ends the run if inference fails. The builders
    // below return its result.
    Node *(*finish)(void *user, Node *);
    void *user;
} Builder;

static inline Builder cursor(Node *before) {
    return (Builder){.graph = before ? before->graph : NULL, .before = before};
}
static inline Builder cursor_at(Node *before, Loc loc) {
    return (Builder){.graph = before ? before->graph : NULL, .before = before, .loc = loc};
}
static inline Builder cursor_behind(Node *n) {
    return (Builder){.graph = n->graph, .before = n->next, .loc = n->loc};
}
static inline Builder cursor_at_end(Graph *g, Loc loc) { return (Builder){.graph = g, .loc = loc}; }

typedef struct Slice {
    int axis;
    const Dim *start, *extent;
    int64_t step;
} Slice;

Node *build_begin(Builder, Op, int n_in, Node *const *in);  // attributes follow, then build_end
Node *build_end(Builder, Node *);
Node *build_op(Builder, Op, int n_in, Node *const *in);  // of no attributes
Node *build_unary(Builder, Op, Node *x);
Node *build_binary(Builder, Op, Node *a, Node *b);
Node *build_where(Builder, Node *condition, Node *a, Node *b);

Node *build_cast(Builder, Node *x, DType);  // x itself when it has that type
Node *build_reshape(Builder, Node *x, int rank,
                    const Dim *const *dims);  // x itself when it has that shape, unless `as_said`
// the same with attributes
Node *build_expand(Builder, Node *x, int rank, const Dim *const *dims);
// x itself if perm changes nothing
Node *build_transpose(Builder, Node *x, const int64_t *perm);
Node *build_slice(Builder, Node *x, Slice);  // x itself when it is all of it
Node *build_concat(Builder, int n_in, Node *const *in, int axis);
Node *build_gather(Builder, Node *x, Node *index, int axis);
Node *build_reduce(Builder, Op, Node *x, const int64_t *axes, int n, bool keep_axes);
Node *build_softmax(Builder, Node *x, int axis);

Node *build_scalar(Builder, DType, double);
Node *build_constant(Builder, const Tensor *);
Node *build_filled(Builder, DType, double, int rank, const Dim *const *dims);
Node *build_iota(Builder, int rank, const Dim *const *dims,
                 int axis);              // i32: the index along the axis
Node *build_size(Builder, const Dim *);  // a dimension as a number
#endif
