// What looks along one axis and needs an order: indices of extremes, the k first, running sums and
// products.
#include <stdlib.h>
#include <string.h>

#include "ir/eval/eval_internal.h"

// One axis of x moved to the end, dense, in the type it is computed in; and the same view of a
// result.
typedef struct Along {
    int axis;
    int64_t length, rows;
    DType wide;
    const char *data;
} Along;

static Value axis_last(const Value *v, int axis) {
    Value moved = *v;
    for (int i = axis; i + 1 < v->rank; i++)
        moved.dim[i] = v->dim[i + 1], moved.stride[i] = v->stride[i + 1];
    if (v->rank) moved.dim[v->rank - 1] = v->dim[axis], moved.stride[v->rank - 1] = v->stride[axis];
    return moved;
}

static Along along_axis(EvalContext *c, const Node *n) {
    const Value *x = c->in[0];
    Along a = {.axis = node_axis(n)};
    Value moved = axis_last(x, a.axis);
    a.wide = dtype_is_float(x->dtype) ? eval_real(c, x->dtype) : DT_i64;
    a.length = x->dim[a.axis];
    a.rows = a.length ? value_count(x) / a.length : 0;
    a.data = value_dense(c, &moved, a.wide);
    return a;
}

static const void *row_of(const Along *a, int64_t row) {
    return a->data + (size_t)(row * a->length) * (size_t)dtype_bits(a->wide) / 8;
}

// Returns true if element i is before element j: larger (or smaller) first; NaN is larger than
// everything.
static bool is_before(const Along *a, const void *row, int64_t i, int64_t j, bool largest) {
    if (a->wide == DT_i64) {
        const int64_t *x = row;
        return largest ? x[i] > x[j] : x[i] < x[j];
    }
    double x = dtype_load(a->wide, row, i), y = dtype_load(a->wide, row, j);
    if (x != x || y != y) return largest ? x != x && y == y : y != y && x == x;
    return largest ? x > y : x < y;
}

void eval_arg_reduce(EvalContext *c, Node *n) {
    Along a = along_axis(c, n);
    bool last = attr_int(n, "select_last_index", 0), largest = n->op == OP_arg_max;
    int64_t *out = value_out(eval_result(c, n));
    for (int64_t r = 0; r < a.rows; r++) {
        int64_t best = 0;
        for (int64_t i = 1; i < a.length; i++)
            if (is_before(&a, row_of(&a, r), i, best, largest) ||
                (last && !is_before(&a, row_of(&a, r), best, i, largest)))
                best = i;
        out[r] = best;
    }
}

// The k first of a row by insertion: equal elements stay in the order of their indices.
static void first_of_row(const Along *a, const void *row, bool largest, int64_t k,
                         int64_t *chosen) {
    int64_t n = 0;
    for (int64_t i = 0; i < a->length; i++) {
        int64_t at = n;
        while (at > 0 && is_before(a, row, i, chosen[at - 1], largest)) at--;
        if (at == k) continue;
        if (n < k) n++;
        memmove(chosen + at + 1, chosen + at, (size_t)(n - 1 - at) * sizeof *chosen);
        chosen[at] = i;
    }
}

void eval_top_k(EvalContext *c, Node *n) {
    Along a = along_axis(c, n);
    bool largest = attr_int(n, "largest", 1);
    int64_t k = eval_dim(c, n, attr_dim(n, "extent")), dim[MAX_RANK];
    if (k > a.length)
        diag_fatal(n->loc, "%%%s: the %lld first of %lld", n->name, (long long)k,
                   (long long)a.length);
    const Value *x = c->in[0];
    memcpy(dim, x->dim, sizeof dim);
    dim[a.axis] = k;
    Value *items = ARENA_ARRAY(c->arena, Value, 2);
    items[0] = eval_fresh(c, x->dtype, x->rank, dim),
    items[1] = eval_fresh(c, DT_i64, x->rank, dim);
    Value values = axis_last(&items[0], a.axis), indices = axis_last(&items[1], a.axis);
    int64_t *chosen = ARENA_ARRAY(c->arena, int64_t, k + 1), inner = items[0].stride[a.axis];
    for (int64_t r = 0; r < a.rows; r++) {
        first_of_row(&a, row_of(&a, r), largest, k, chosen);
        int64_t base = r / inner * inner * k + r % inner;
        for (int64_t i = 0; i < k; i++) {
            int64_t at = base + i * inner;
            convert_elements(x->dtype, (char *)value_out(&values) + at * (dtype_bits(x->dtype) / 8),
                             a.wide,
                             (const char *)row_of(&a, r) + chosen[i] * (dtype_bits(a.wide) / 8), 1);
            ((int64_t *)value_out(&indices))[at] = chosen[i];
        }
    }
    c->out = (Value){.dtype = DT_tuple, .items = items, .n_items = 2};
}

// One chain along the axis, from the first element or from the last.
static void cumulate_row(const Along *a, const void *row, const Node *n, void *out) {
    bool product = n->op == OP_cum_prod, exclusive = attr_int(n, "exclusive", 0),
         reverse = attr_int(n, "reverse", 0);
    float f = product;
    double d = product;
    uint64_t u = product;
    for (int64_t step = 0; step < a->length; step++) {
        int64_t i = reverse ? a->length - 1 - step : step;
        if (a->wide == DT_f32) {
            float x = ((const float *)row)[i], next = product ? f * x : f + x;
            ((float *)out)[i] = exclusive ? f : next, f = next;
        } else if (a->wide == DT_f64) {
            double x = ((const double *)row)[i], next = product ? d * x : d + x;
            ((double *)out)[i] = exclusive ? d : next, d = next;
        } else {
            uint64_t x = ((const uint64_t *)row)[i], next = product ? u * x : u + x;
            ((uint64_t *)out)[i] = exclusive ? u : next, u = next;
        }
    }
}

void eval_cumulate(EvalContext *c, Node *n) {
    Along a = along_axis(c, n);
    const Value *x = c->in[0];
    Value moved = axis_last(x, a.axis), sums = eval_fresh(c, a.wide, x->rank, moved.dim),
          back = sums;
    for (int64_t r = 0; r < a.rows; r++)
        cumulate_row(&a, row_of(&a, r), n,
                     (char *)value_out(&sums) + r * a.length * (dtype_bits(a.wide) / 8));
    for (int i = 0; i < x->rank; i++) {
        int from = i == a.axis ? x->rank - 1 : i - (i > a.axis);
        back.dim[i] = sums.dim[from], back.stride[i] = sums.stride[from];
    }
    Value *out = eval_result(c, n);
    value_copy(out->dtype, value_out(out), &back);
}
