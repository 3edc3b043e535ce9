// Ops whose values decide how many results there are: the size is bound to the symbol that the node
// names.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/eval/eval_internal.h"
#include "ir/operands.h"
#include "kernels/data_dependent.h"

// ------------------------------------------------------------------------------------------ unique
// Slices of x along one axis, compared element by element.
typedef struct Slices {
    int64_t n, size;
    bool real;
    const void *data;
} Slices;

static int compare_slices(const Slices *s, int64_t a, int64_t b) {
    for (int64_t i = 0; i < s->size; i++) {
        int64_t p = a * s->size + i, q = b * s->size + i;
        if (s->real) {
            double x = ((const double *)s->data)[p], y = ((const double *)s->data)[q];
            if (x != y) return x < y ? -1 : 1;
        } else {
            int64_t x = ((const int64_t *)s->data)[p], y = ((const int64_t *)s->data)[q];
            if (x != y) return x < y ? -1 : 1;
        }
    }
    return 0;
}

static int by_value(const void *a, const void *b, void *slices) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    int order = compare_slices(slices, x, y);
    return order ? order : (x > y) - (x < y);
}

static int by_index(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// The first of each set of equal slices, in the order of values or of first appearance.
static int64_t find_first(EvalContext *c, Slices *s, bool sorted, int64_t **first) {
    int64_t *order = ARENA_ARRAY(c->arena, int64_t, s->n + 1), found = 0;
    for (int64_t i = 0; i < s->n; i++) order[i] = i;
    qsort_r(order, (size_t)s->n, sizeof *order, by_value, s);
    *first = ARENA_ARRAY(c->arena, int64_t, s->n + 1);
    for (int64_t i = 0; i < s->n; i++)
        if (!i || compare_slices(s, order[i], order[i - 1])) (*first)[found++] = order[i];
    if (!sorted) qsort(*first, (size_t)found, sizeof **first, by_index);
    return found;
}

void eval_unique(EvalContext *c, Node *n) {
    const Value *x = c->in[0];
    int axis = node_axis(n);
    Value moved = *x;  // the axis first
    for (int i = axis; i > 0; i--) moved.dim[i] = x->dim[i - 1], moved.stride[i] = x->stride[i - 1];
    moved.dim[0] = x->dim[axis], moved.stride[0] = x->stride[axis];
    Slices s = {.n = x->dim[axis], .real = dtype_is_float(x->dtype)};
    s.size = s.n ? value_count(x) / s.n : 0;
    s.data = value_dense(c, &moved, s.real ? DT_f64 : DT_i64);
    int64_t *first, found = find_first(c, &s, attr_int(n, "sorted", 1), &first), dim[MAX_RANK];
    eval_bind(c, attr_dim(n, "extent")->name, found);
    Value *items = ARENA_ARRAY(c->arena, Value, 4);
    memcpy(dim, x->dim, sizeof dim), dim[axis] = found;
    items[0] = eval_fresh(c, x->dtype, x->rank, dim);
    for (int i = 1; i < 4; i++) items[i] = eval_fresh(c, DT_i64, 1, i == 2 ? &s.n : &found);
    int64_t *index = value_out(&items[1]), *inverse = value_out(&items[2]),
            *counts = value_out(&items[3]);
    for (int64_t i = 0; i < found; i++) {
        Value from = *x, to = items[0];
        from.dim[axis] = to.dim[axis] = 1;
        from.offset += first[i] * x->stride[axis], to.offset = i * to.stride[axis];
        value_assign(&to, &from);
        index[i] = first[i], counts[i] = 0;
        for (int64_t j = 0; j < s.n; j++)
            if (!compare_slices(&s, first[i], j)) inverse[j] = i, counts[i]++;
    }
    c->out = (Value){.dtype = DT_tuple, .items = items, .n_items = 4};
}

// ----------------------------------------------------------------------------- non_max_suppression
static double scalar_operand(EvalContext *c, const Node *n, int i, double absent) {
    if (!operand_or_null(n, i)) return absent;
    return *(const double *)value_dense(c, c->in[i], DT_f64);
}

void eval_non_max_suppression(EvalContext *c, Node *n) {
    const Value *scores = c->in[SUPPRESSION_SCORES];
    int64_t batches = scores->dim[0], classes = scores->dim[1], found = 0;
    burin_suppression s = {
        .boxes = scores->dim[2], .room = INT64_MAX, .centre = attr_int(n, "center_point_box", 0)};
    s.most = (int64_t)scalar_operand(c, n, SUPPRESSION_MOST, 0),
    s.iou = scalar_operand(c, n, SUPPRESSION_IOU, 0);
    s.score = scalar_operand(c, n, SUPPRESSION_SCORE, -INFINITY);
    const float *box = value_dense(c, c->in[SUPPRESSION_BOXES], DT_f32),
                *score = value_dense(c, scores, DT_f32);
    int64_t *rows = ARENA_ARRAY(c->arena, int64_t, 3 * batches * classes * s.boxes + 3);
    for (int64_t b = 0; b < batches; b++)
        for (int64_t k = 0; k < classes; k++)
            found = burin_suppress(&s, box, score, (int64_t[]){b, k, classes}, rows, found);
    eval_bind(c, attr_dim(n, "extent")->name, found);
    memcpy(value_out(eval_result(c, n)), rows, (size_t)(3 * found) * sizeof *rows);
}
