// Ops whose values decide how many results there are: the size is bound to the symbol that the node names.
#include <stdlib.h>
#include <string.h>

#include "ir/eval_internal.h"

// ---------------------------------------------------------------------------------------------------------------------- unique
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
    int axis = (int)attr_int(n, "axis", 0);
    if (axis < 0) axis += x->rank;
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
    int64_t *index = value_out(&items[1]), *inverse = value_out(&items[2]), *counts = value_out(&items[3]);
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

// ---------------------------------------------------------------------------------------------------- non_max_suppression
typedef struct Box {
    double low[2], high[2];
} Box;

static Box box_of(const double *b, bool centre) {
    Box box;
    for (int i = 0; i < 2; i++) {
        double p = centre ? b[1 - i] - b[3 - i] / 2 : b[i], q = centre ? b[1 - i] + b[3 - i] / 2 : b[2 + i];
        box.low[i] = p < q ? p : q, box.high[i] = p < q ? q : p;
    }
    return box;
}

static double overlap(const Box *a, const Box *b) {
    double common = 1, whole_a = 1, whole_b = 1;
    for (int i = 0; i < 2; i++) {
        double low = a->low[i] > b->low[i] ? a->low[i] : b->low[i], high = a->high[i] < b->high[i] ? a->high[i] : b->high[i];
        common *= high > low ? high - low : 0;
        whole_a *= a->high[i] - a->low[i], whole_b *= b->high[i] - b->low[i];
    }
    double all = whole_a + whole_b - common;
    return all > 0 ? common / all : 0;
}

static double scalar_operand(EvalContext *c, const Node *n, int i, double absent) {
    if (n->n_in <= i || !n->in[i]) return absent;
    return *(const double *)value_dense(c, c->in[i], DT_f64);
}

typedef struct Suppression {
    int64_t boxes, most;
    double iou, score;
    bool centre;
} Suppression;

// The best box of those left, again and again; how many are kept.
static int64_t suppress(const Suppression *s, const double *boxes, const double *scores, int64_t *kept) {
    int64_t n = 0;
    bool gone[s->boxes + 1];
    for (int64_t i = 0; i < s->boxes; i++) gone[i] = !(scores[i] > s->score);
    while (n < s->most) {
        int64_t best = -1;
        for (int64_t i = 0; i < s->boxes; i++)
            if (!gone[i] && (best < 0 || scores[i] > scores[best])) best = i;
        if (best < 0) break;
        gone[best] = true;
        Box box = box_of(boxes + 4 * best, s->centre);
        bool hidden = false;
        for (int64_t i = 0; i < n && !hidden; i++) {
            Box other = box_of(boxes + 4 * kept[i], s->centre);
            hidden = overlap(&box, &other) > s->iou;
        }
        if (!hidden) kept[n++] = best;
    }
    return n;
}

void eval_non_max_suppression(EvalContext *c, Node *n) {
    const Value *scores = c->in[1];
    int64_t batches = scores->dim[0], classes = scores->dim[1], found = 0;
    Suppression s = {.boxes = scores->dim[2], .centre = attr_int(n, "center_point_box", 0)};
    s.most = (int64_t)scalar_operand(c, n, 2, 0), s.iou = scalar_operand(c, n, 3, 0), s.score = scalar_operand(c, n, 4, -1e308);
    const double *box = value_dense(c, c->in[0], DT_f64), *score = value_dense(c, scores, DT_f64);
    int64_t *rows = ARENA_ARRAY(c->arena, int64_t, 3 * batches * classes * s.boxes + 3);
    int64_t *kept = ARENA_ARRAY(c->arena, int64_t, s.boxes + 1);
    for (int64_t b = 0; b < batches; b++)
        for (int64_t k = 0; k < classes; k++) {
            int64_t count = suppress(&s, box + b * s.boxes * 4, score + (b * classes + k) * s.boxes, kept);
            for (int64_t i = 0; i < count; i++, found++)
                rows[3 * found] = b, rows[3 * found + 1] = k, rows[3 * found + 2] = kept[i];
        }
    eval_bind(c, attr_dim(n, "extent")->name, found);
    memcpy(value_out(eval_result(c, n)), rows, (size_t)(3 * found) * sizeof *rows);
}
