// Reductions, softmax and norms: rows along the reduced axes.
#include "ir/eval/eval_rows.h"

#include <string.h>

#include "ir/eval/eval_internal.h"
#include "ir/operands.h"

// The operand with the axes of `reduced` moved to the end: rows to work on. Returns how many
// elements a row has.
static int64_t rows_last(const Value *x, const bool *reduced, Value *moved) {
    int at = 0;
    int64_t length = 1;
    *moved = *x;
    for (int last = 0; last < 2; last++)
        for (int i = 0; i < x->rank; i++) {
            if (reduced[i] != last) continue;
            moved->dim[at] = x->dim[i];
            moved->stride[at++] = x->stride[i];
            if (last) length *= x->dim[i];
        }
    return length;
}

// Sixteen lanes where the reduced axes are the last ones, but for those that always have one
// element; else one chain.
static int lanes_for(const Type *x, const bool *reduced) {
    bool gap = false;
    for (int i = x->rank; i-- > 0;) {
        bool one = dim_is(x->dim[i], 1);
        if (!reduced[i] && !one) gap = true;
        if (reduced[i] && gap && !one) return 1;
    }
    return MAX_LANES;
}

// Of nothing, the maximum is the least there is.
static int64_t reduce_integers(Op op, DType type, int64_t n, const int64_t *x) {
    bool extreme = op == OP_reduce_max || op == OP_reduce_min;
    uint64_t r = op == OP_reduce_prod ? 1
                 : extreme            ? (uint64_t)dtype_limit(type, op == OP_reduce_min)
                                      : 0;
    for (int64_t i = 0; i < n; i++) {
        bool first = i == 0, better = op == OP_reduce_max ? x[i] > (int64_t)r : x[i] < (int64_t)r;
        if (op == OP_reduce_prod)
            r *= (uint64_t)x[i];
        else if (op == OP_reduce_sum || op == OP_reduce_mean)
            r += (uint64_t)x[i];
        else if (first || better)
            r = (uint64_t)x[i];
    }
    return op == OP_reduce_mean && n ? (int64_t)r / n : (int64_t)r;
}

void eval_reduce(EvalContext *c, Node *n) {
    const Value *x = c->in[0];
    bool reduced[MAX_RANK] = {false};
    int count;
    const int64_t *axes = attr_ints(n, "axes", &count);
    for (int i = 0; i < count; i++) reduced[axes[i]] = true;
    Value moved;
    int64_t length = rows_last(x, reduced, &moved);
    int lanes = lanes_for(&n->in[0]->type, reduced);
    Value *out = eval_result(c, n);
    bool real = dtype_is_float(n->type.dtype);
    DType wide = real ? eval_real(c, n->type.dtype) : DT_i64;
    size_t size = (size_t)dtype_bits(wide) / 8;
    const char *rows = value_dense(c, &moved, wide);
    int64_t results = value_count(out);
    char *sums = arena_alloc(c->arena, (size_t)results * size + 1);
    for (int64_t i = 0; i < results; i++) {
        const char *row = rows + (size_t)(i * length) * size;
        if (real)
            real_kernels(wide)->reduce(n->op, length, lanes, row, sums + (size_t)i * size);
        else
            ((int64_t *)sums)[i] =
                reduce_integers(n->op, n->type.dtype, length, (const int64_t *)row);
    }
    convert_elements(out->dtype, value_out(out), wide, sums, results);
}

void eval_softmax(EvalContext *c, Node *n) {
    const Value *x = c->in[0];
    bool reduced[MAX_RANK] = {false};
    if (x->rank) reduced[node_axis(n)] = true;
    Value moved, back;
    int64_t length = rows_last(x, reduced, &moved), count = value_count(x);
    DType real = eval_real(c, n->type.dtype);
    size_t size = (size_t)dtype_bits(real) / 8;
    Value *out = eval_result(c, n);
    const char *rows = value_dense(c, &moved, real);
    Value result = eval_fresh(c, real, x->rank, moved.dim);
    for (int64_t at = 0; length && at < count; at += length)
        real_kernels(real)->softmax(length, lanes_for(&n->in[0]->type, reduced),
                                    rows + (size_t)at * size,
                                    (char *)value_out(&result) + (size_t)at * size);
    back = result;  // the axis goes back to its place
    for (int i = 0, at = 0; i < x->rank; i++) {
        int from = reduced[i] ? x->rank - 1 : at++;
        back.dim[i] = result.dim[from];
        back.stride[i] = result.stride[from];
    }
    value_copy(out->dtype, value_out(out), &back);
}

// A norm of every row of x with weights and an optional bias of its width.
static Value norm_rows(EvalContext *c, const Node *n, const Value *x, int first_weight) {
    DType real = eval_real(c, n->in[0]->type.dtype);
    size_t size = (size_t)dtype_bits(real) / 8;
    int64_t length = x->dim[x->rank - 1], count = value_count(x);
    const Value *bias = operand_or_null(n, first_weight + 1) ? c->in[first_weight + 1] : NULL;
    const void *in[3] = {NULL, value_dense(c, c->in[first_weight], real),
                         bias ? value_dense(c, bias, real) : NULL};
    const char *rows = value_dense(c, x, real);
    Value y = eval_fresh(c, real, x->rank, x->dim),
          out = eval_fresh(c, eval_stored(c, n->in[0]->type.dtype), x->rank, x->dim);
    bool rms = n->op == OP_rms_normalization || n->op == OP_skip_rms_normalization;
    double epsilon = attr_float(n, "epsilon", 0);
    for (int64_t at = 0; length && at < count; at += length) {
        in[0] = rows + (size_t)at * size;
        void *to = (char *)value_out(&y) + (size_t)at * size;
        (rms ? real_kernels(real)->rms_norm : real_kernels(real)->layer_norm)(length, epsilon, in,
                                                                              to);
    }
    value_copy(out.dtype, value_out(&out), &y);
    return out;
}

void eval_rms_normalization(EvalContext *c, Node *n) {
    c->out = norm_rows(c, n, c->in[NORM_X], NORM_WEIGHT);
}
void eval_layer_normalization(EvalContext *c, Node *n) {
    c->out = norm_rows(c, n, c->in[NORM_X], NORM_WEIGHT);
}

static void skip_norm(EvalContext *c, Node *n) {
    Value *items = ARENA_ARRAY(c->arena, Value, 2);
    DType dtype = n->in[0]->type.dtype;
    const Expr *args[2] = {expr_arg(c->arena, 0), expr_arg(c->arena, 1)};
    items[0] = eval_fresh(c, eval_stored(c, dtype), c->in[0]->rank, c->in[0]->dim);
    eval_formula(c, expr_op(c->arena, OP_add, 2, args), c->in, dtype, &items[0]);
    items[1] = norm_rows(c, n, &items[0], SKIP_NORM_WEIGHT);
    c->out = (Value){.dtype = DT_tuple, .items = items, .n_items = 2};
}

void eval_skip_rms_normalization(EvalContext *c, Node *n) { skip_norm(c, n); }
void eval_skip_layer_normalization(EvalContext *c, Node *n) { skip_norm(c, n); }
