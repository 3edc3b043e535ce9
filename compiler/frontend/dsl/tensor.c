// Operators on tensors: they make nodes of core ops. Numbers become constants of the other
// operand's element type; integers join floats by a cast to f32. The op's own inference reports
// misfits, at the location in the description.
#include <inttypes.h>

#include "frontend/dsl/elaborate.h"

// NULL: a misfit, which has been reported.
static Node *finish(void *elaborator, Node *n) {
    Elaborator *e = elaborator;
    if (++e->n_nodes > MAX_NODES) {
        report(e, n->loc, "the graph has more than %d nodes", MAX_NODES);
        diag_stop();
    }
    if (!already_reported(e, n->loc)) {
        if (node_infer(n)) return n;
        mark_reported(e, n->loc);
    }
    node_remove(n);
    return NULL;
}

Builder tensor_builder(Elaborator *e, Loc at) {
    if (e->builder) return *e->builder;
    return (Builder){
        .graph = e->graph, .loc = place(e, at), .as_said = true, .finish = finish, .user = e};
}

Value tensor_value(Node *n) { return n ? (Value){.kind = V_TENSOR, .node = n} : VALUE(V_ERROR); }

Value tensor_cast(Elaborator *e, Value v, DType to, Loc at) {
    return v.kind == V_TENSOR ? tensor_value(build_cast(tensor_builder(e, at), v.node, to)) : v;
}

// ------------------------------------------------------------------------------------- elementwise
static DType common_dtype(const Value *v, int n) {
    DType common = DT_COUNT;
    for (int i = 0; i < n; i++) {
        if (v[i].kind == V_FLOAT && (common == DT_COUNT || !dtype_is_float(common)))
            common = DT_f32;
        if (v[i].kind != V_TENSOR) continue;
        DType t = v[i].node->type.dtype;
        bool wins = common == DT_COUNT || common == DT_bool ||
                    (dtype_is_float(t) && !dtype_is_float(common)) ||
                    (dtype_is_float(t) && t != DT_f32 && t != common);
        if (wins) common = t;
    }
    return common;
}

static Value operand(Elaborator *e, Value v, DType wanted, Loc at) {
    if (v.kind == V_TENSOR)
        return v.node->type.dtype == DT_bool ? v : tensor_cast(e, v, wanted, at);
    if (v.kind == V_BOOL) v = (Value){.kind = V_INT, .i = v.b}, wanted = DT_bool;
    if (!value_is_number(v)) {
        if (v.kind == V_ERROR) return v;
        return report(e, at, "a tensor cannot be combined with %s%-s", value_kind_name(v.kind),
                      v.path ? arena_message(e->arena, "\nnote: \"%s\" of %s",
                                             config_called(e, v.path), config_file(e))
                             : "");
    }
    return (Value){.kind = V_TENSOR,
                   .node = node_scalar(e->graph, wanted, value_number(v), place(e, at), NULL)};
}

Value tensor_op(Elaborator *e, Op op, Loc at, const Value *v, int n) {
    enum { MOST = 3 };
    Node *in[MOST] = {NULL};
    DType common = common_dtype(v, n);
    bool needs_float =
        op_most(op) == 1 && op != OP_neg && op != OP_abs && op != OP_not && op != OP_relu;
    if (needs_float && !dtype_is_float(common)) common = DT_f32;
    if (n < op_least(op) || n > op_most(op))
        return report(e, at, "%s takes %d arguments, here are %d", op_info[op].name, op_least(op),
                      n);
    for (int i = 0; i < n; i++) {
        Value x = operand(e, v[i], common, at);
        if (x.kind != V_TENSOR) return VALUE(V_ERROR);
        in[i] = x.node;
    }
    return tensor_value(build_op(tensor_builder(e, at), op, n, in));
}

// ------------------------------------------------------------------------------------------- views
static Value tensor_reshape(Elaborator *e, Value v, Loc at, int rank, const Dim *const *dims) {
    return tensor_value(build_reshape(tensor_builder(e, at), v.node, rank, dims));
}

Value tensor_transpose_last(Elaborator *e, Value v, Loc at) {
    if (!want_tensor(e, v, at, "the operand of ^T")) return VALUE(V_ERROR);
    int rank = v.node->type.rank;
    if (rank < 2)
        return report(e, at, "^T exchanges the last two axes, this is %s",
                      type_text(&v.node->type));
    int64_t perm[MAX_RANK];
    for (int i = 0; i < rank; i++) perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    return tensor_value(build_transpose(tensor_builder(e, at), v.node, perm));
}

Value tensor_matmul(Elaborator *e, Loc at, Value a, Value b) {
    if (!want_tensor(e, a, at, "the left operand of @") ||
        !want_tensor(e, b, at, "the right operand of @"))
        return VALUE(V_ERROR);
    const Type *left = &a.node->type, *right = &b.node->type;
    if (left->rank > 1 && right->rank > 1) {
        const Dim *inner = left->dim[left->rank - 1];
        if (inner != right->dim[right->rank - 2] && inner == right->dim[right->rank - 1])
            return report(e, at,
                          "%s @ %s: the last axis of the left operand is the last of the right, "
                          "not the one before\nhint: a @ b^T",
                          arena_strdup(e->arena, type_text(left)), type_text(right));
    }
    return tensor_value(build_binary(tensor_builder(e, at), OP_matmul, a.node, b.node));
}

Value tensor_slice(Elaborator *e, Value v, Loc at, int axis, const Dim *start, const Dim *extent) {
    return tensor_value(
        build_slice(tensor_builder(e, at), v.node, (Slice){axis, start, extent, 1}));
}

// ---------------------------------------------------------------------------------------- indexing
// A bound of a range: counted from the end when negative. NULL after an error.
static const Dim *range_bound(Elaborator *e, const Ast *x, const Dim *size, const Dim *standard) {
    if (!x) return standard;
    Value v = evaluate(e, x);
    if (v.kind == V_INT && v.i < 0)
        return dim_binary(e->graph, DIM_ADD, size, dim_const(e->graph, v.i));
    return v.kind == V_ERROR ? NULL : want_dim(e, v, x->loc, "a bound of a range");
}

static Value index_range(Elaborator *e, const Ast *x, Value v, int axis) {
    const Dim *size = v.node->type.dim[axis];
    const Dim *begin = range_bound(e, x->a, size, dim_const(e->graph, 0)),
              *end = begin ? range_bound(e, x->b, size, size) : NULL;
    if (!end) return VALUE(V_ERROR);
    const Dim *extent = dim_binary(e->graph, DIM_ADD, end,
                                   dim_binary(e->graph, DIM_MUL, begin, dim_const(e->graph, -1)));
    return tensor_slice(e, v, x->loc, axis, begin, extent);
}

// One element: the axis goes away.
static Value index_one(Elaborator *e, const Ast *x, Value v, int axis) {
    const Dim *start = range_bound(e, x, v.node->type.dim[axis], NULL), *rest[MAX_RANK];
    if (!start) return VALUE(V_ERROR);
    Value one = tensor_slice(e, v, x->loc, axis, start, dim_const(e->graph, 1));
    if (one.kind != V_TENSOR) return one;
    const Type *t = &one.node->type;
    int rank = 0;
    for (int i = 0; i < t->rank; i++)
        if (i != axis) rest[rank++] = t->dim[i];
    return tensor_reshape(e, one, x->loc, rank, rest);
}

// null: a new axis of extent 1.
static Value index_new_axis(Elaborator *e, const Ast *x, Value v, int axis) {
    const Type *t = &v.node->type;
    const Dim *dims[MAX_RANK];
    if (t->rank == MAX_RANK) return report(e, x->loc, "a tensor has at most %d axes", MAX_RANK);
    for (int i = 0; i <= t->rank; i++)
        dims[i] = i < axis ? t->dim[i] : i == axis ? dim_const(e->graph, 1) : t->dim[i - 1];
    return tensor_reshape(e, v, x->loc, t->rank + 1, dims);
}

static int count_axes(const Ast *list) {
    int n = 0;
    for (; list; list = list->next) n += list->kind != AST_REST && list->kind != AST_NULL;
    return n;
}

Value tensor_index(Elaborator *e, const Ast *x, Value v) {
    int axis = 0, named = count_axes(x->list), rank = v.node->type.rank;
    if (named > rank)
        return report(e, x->loc, "%d indices for a tensor of %d axes, %s", named, rank,
                      type_text(&v.node->type));
    for (const Ast *i = x->list; i && v.kind == V_TENSOR; i = i->next) {
        if (i->kind == AST_REST) {
            axis += rank - named;
        } else if (i->kind == AST_NULL) {
            v = index_new_axis(e, i, v, axis++);
        } else if (i->kind == AST_RANGE) {
            v = index_range(e, i, v, axis++);
        } else {
            v = index_one(e, i, v, axis);
        }
    }
    return v;
}
