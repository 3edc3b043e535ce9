// Gathers and scatters by element and by position.
#include <string.h>

#include "ir/eval/eval_internal.h"

static int64_t checked_index(const Node *n, int64_t index, int64_t extent) {
    if (index < -extent || index >= extent)
        diag_fatal(n->loc, "%%%s: index %lld of an axis of %lld", n->name, (long long)index,
                   (long long)extent);
    return index < 0 ? index + extent : index;
}

// The element of x that element i of the index (row-major) selects, as offset `at`.
static int64_t place_of(const Node *n, const Value *x, const Value *like, int axis, int64_t i,
                        int64_t index) {
    int64_t at = x->offset + checked_index(n, index, x->dim[axis]) * x->stride[axis];
    for (int a = like->rank; a-- > 0; i /= like->dim[a]) {
        int64_t here = i % like->dim[a];
        if (a == axis) continue;
        if (here >= x->dim[a])
            diag_fatal(n->loc, "%%%s: the index has more elements along axis %d than x", n->name,
                       a);
        at += here * x->stride[a];
    }
    return at;
}

static const int64_t *indices_of(EvalContext *c, const Value *v) {
    return value_dense(c, v, DT_i64);
}

void eval_gather_elements(EvalContext *c, Node *n) {
    const Value *x = c->in[0], *which = c->in[1];
    int axis = node_axis(n);
    const int64_t *index = indices_of(c, which);
    Value out = eval_fresh(c, x->dtype, which->rank, which->dim);
    for (int64_t i = 0, count = value_count(which); i < count; i++)
        value_put(&out, i, x, place_of(n, x, which, axis, i, index[i]));
    c->out = out;
}

// x's combination with one update, in the type they are stored in.
static void combine(const char *reduction, const Value *out, int64_t at, const Value *updates,
                    int64_t from) {
    if (!strcmp(reduction, "none")) {
        value_put(out, at, updates, from);
        return;
    }
    if (!dtype_is_float(out->dtype)) {
        int64_t a, b, r;
        convert_elements(DT_i64, &a, out->dtype,
                         (char *)value_out(out) + at * (dtype_bits(out->dtype) / 8), 1);
        convert_elements(DT_i64, &b, updates->dtype,
                         (const char *)updates->data + from * (dtype_bits(updates->dtype) / 8), 1);
        r = !strcmp(reduction, "add")   ? (int64_t)((uint64_t)a + (uint64_t)b)
            : !strcmp(reduction, "mul") ? (int64_t)((uint64_t)a * (uint64_t)b)
            : !strcmp(reduction, "max") ? (b > a ? b : a)
                                        : (b < a ? b : a);
        convert_elements(out->dtype, (char *)value_out(out) + at * (dtype_bits(out->dtype) / 8),
                         DT_i64, &r, 1);
        return;
    }
    double a = dtype_load(out->dtype, out->data, at),
           b = dtype_load(updates->dtype, updates->data, from), r;
    bool narrow = out->dtype != DT_f64;
    r = !strcmp(reduction, "add")   ? (narrow ? (float)a + (float)b : a + b)
        : !strcmp(reduction, "mul") ? (narrow ? (float)a * (float)b : a * b)
        : !strcmp(reduction, "max") ? (b > a ? b : a)
                                    : (b < a ? b : a);
    dtype_store(out->dtype, value_out(out), at, r);
}

static Value copy_of(EvalContext *c, const Value *x) {
    Value v = eval_fresh(c, x->dtype, x->rank, x->dim);
    value_copy(v.dtype, value_out(&v), x);
    return v;
}

// The updates, row-major and of the type of x.
static Value updates_of(EvalContext *c, const Value *u, DType dtype) {
    Value v = {.dtype = dtype, .rank = u->rank, .data = value_dense(c, u, dtype)};
    memcpy(v.dim, u->dim, sizeof v.dim);
    value_set_dense(&v);
    return v;
}

void eval_scatter_elements(EvalContext *c, Node *n) {
    const Value *which = c->in[1];
    const int64_t *index = indices_of(c, which);
    Value out = copy_of(c, c->in[0]), updates = updates_of(c, c->in[2], out.dtype);
    int axis = node_axis(n);
    const char *reduction = attr_string(n, "reduction", "none");
    for (int64_t i = 0, count = value_count(which); i < count; i++)
        combine(reduction, &out, place_of(n, &out, which, axis, i, index[i]), &updates, i);
    c->out = out;
}

// Where the slice begins that a position names, after `batch` axes whose offset is known.
static int64_t position(const Node *n, const Value *x, int batch, int64_t depth,
                        const int64_t *index) {
    int64_t at = 0;
    for (int64_t i = 0; i < depth; i++)
        at += checked_index(n, index[i], x->dim[batch + i]) * x->stride[batch + i];
    return at;
}

void eval_gather_nd(EvalContext *c, Node *n) {
    const Value *x = c->in[0], *which = c->in[1];
    int batch = (int)attr_int(n, "batch_dims", 0);
    int64_t depth = which->dim[which->rank - 1], count = depth ? value_count(which) / depth : 1,
            batches = 1;
    for (int i = 0; !depth && i + 1 < which->rank; i++) count *= which->dim[i];
    const int64_t *index = indices_of(c, which);
    Value slice = *x;
    slice.rank = x->rank - batch - (int)depth;
    for (int i = 0; i < slice.rank; i++)
        slice.dim[i] = x->dim[batch + depth + i], slice.stride[i] = x->stride[batch + depth + i];
    int64_t dim[MAX_RANK], size = value_count(&slice);
    int rank = 0;
    for (int i = 0; i + 1 < which->rank; i++) dim[rank++] = which->dim[i];
    for (int i = 0; i < slice.rank; i++) dim[rank++] = slice.dim[i];
    for (int i = 0; i < batch; i++) batches *= x->dim[i];
    Value out = eval_fresh(c, x->dtype, rank, dim),
          to = {.dtype = x->dtype, .rank = slice.rank, .data = out.data};
    memcpy(to.dim, slice.dim, sizeof to.dim);
    value_set_dense(&to);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = x->offset, b = i / (count / batches);
        for (int a = batch; a-- > 0; b /= x->dim[a]) at += b % x->dim[a] * x->stride[a];
        slice.offset = at + position(n, x, batch, depth, index + i * depth);
        to.offset = i * size;
        value_assign(&to, &slice);
    }
    c->out = out;
}

void eval_scatter_nd(EvalContext *c, Node *n) {
    const Value *which = c->in[1];
    const int64_t *index = indices_of(c, which);
    Value out = copy_of(c, c->in[0]), updates = updates_of(c, c->in[2], out.dtype);
    int64_t depth = which->dim[which->rank - 1], size = 1, count = 1;
    for (int i = 0; i + 1 < which->rank; i++) count *= which->dim[i];
    for (int i = (int)depth; i < out.rank; i++) size *= out.dim[i];
    const char *reduction = attr_string(n, "reduction", "none");
    for (int64_t i = 0; i < count; i++) {
        int64_t at = position(n, &out, 0, depth, index + i * depth);
        for (int64_t j = 0; j < size; j++) combine(reduction, &out, at + j, &updates, i * size + j);
    }
    c->out = out;
}

void eval_nonzero(EvalContext *c, Node *n) {
    const Value *x = c->in[0];
    int64_t count = value_count(x), found = 0;
    uint8_t *set = arena_alloc(c->arena, (size_t)count + 1);
    value_copy(DT_bool, set, x);
    for (int64_t i = 0; i < count; i++) found += set[i];
    eval_bind(c, attr_dim(n, "extent")->name, found);
    int64_t *out = value_out(eval_result(c, n));
    for (int64_t i = 0, at = 0; i < count; i++) {
        if (!set[i]) continue;
        int64_t rest = i;
        for (int a = x->rank; a-- > 0; rest /= x->dim[a]) out[a * found + at] = rest % x->dim[a];
        at++;
    }
}
