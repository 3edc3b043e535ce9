// Views (another shape over the same data) and copies: what moves elements and computes nothing.
#include <string.h>

#include "ir/eval/eval_internal.h"
#include "ir/format.h"

void eval_iota(EvalContext *c, Node *n) {
    Value *v = eval_result(c, n);
    int axis = node_axis(n);
    int32_t *out = value_out(v);
    for (int64_t i = 0, count = value_count(v); i < count; i++)
        out[i] = (int32_t)(i / v->stride[axis] % v->dim[axis]);
}

void eval_size(EvalContext *c, Node *n) {
    Value *v = eval_result(c, n);
    int count;
    const Dim *const *dims = attr_dims(n, "dims", &count);
    int64_t *out = (int64_t *)(uintptr_t)v->data;
    for (int i = 0; i < count; i++) out[i] = eval_dim(c, n, dims[i]);
}

void eval_reshape(EvalContext *c, Node *n) {
    const Value *x = c->in[0];
    Value v = {.dtype = x->dtype, .rank = n->type.rank};
    for (int i = 0; i < v.rank; i++) v.dim[i] = eval_dim(c, n, n->type.dim[i]);
    value_set_dense(&v);
    bool dense = value_is_dense(x);
    v.offset = dense ? x->offset : 0;
    v.data = dense ? x->data : value_dense(c, x, x->dtype);
    c->out = v;
}

void eval_transpose(EvalContext *c, Node *n) {
    int count;
    const int64_t *perm = attr_ints(n, "perm", &count);
    Value v = *c->in[0];
    for (int i = 0; i < count; i++) {
        v.dim[i] = c->in[0]->dim[perm[i]];
        v.stride[i] = c->in[0]->stride[perm[i]];
    }
    c->out = v;
}

void eval_slice(EvalContext *c, Node *n) {
    Value v = *c->in[0];
    int axis = node_axis(n);
    int64_t start = eval_dim(c, n, attr_dim(n, "start")),
            extent = eval_dim(c, n, attr_dim(n, "extent"));
    int64_t step = attr_int(n, "step", 1), last = start + (extent - 1) * step;
    bool inside =
        extent == 0 || (start >= 0 && last >= 0 && start < v.dim[axis] && last < v.dim[axis]);
    if (extent < 0 || !inside)
        diag_fatal(n->loc, "slice of %lld elements from %lld of an axis of %lld", (long long)extent,
                   (long long)start, (long long)v.dim[axis]);
    v.offset += extent ? start * v.stride[axis] : 0;
    v.stride[axis] *= step;
    v.dim[axis] = extent;
    c->out = v;
}

void eval_expand(EvalContext *c, Node *n) {
    int64_t dim[MAX_RANK];
    for (int i = 0; i < n->type.rank; i++) dim[i] = eval_dim(c, n, n->type.dim[i]);
    c->out = value_broadcast(c->in[0], n->type.rank, dim);
}

// A part of `out`: the elements from `start` on along an axis, with the extent of `like`.
static void copy_into(const Value *out, int axis, int64_t start, const Value *x) {
    int64_t outer = 1, inner = 1, wide = dtype_bits(out->dtype) / 8;
    for (int i = 0; i < axis; i++) outer *= x->dim[i];
    for (int i = axis; i < x->rank; i++) inner *= x->dim[i];
    char *base = (char *)value_out(out) + start * out->stride[axis] * wide;
    int64_t step = out->stride[axis] * out->dim[axis] * wide;
    if (axis == 0 || outer == 1) {
        value_copy(out->dtype, base, x);
        return;
    }
    Value part = *x;  // one outer index at a time: the axes before `axis` are taken one by one
    int64_t index[MAX_RANK] = {0};
    part.rank = x->rank - axis;
    for (int i = 0; i < part.rank; i++)
        part.dim[i] = x->dim[axis + i], part.stride[i] = x->stride[axis + i];
    for (int64_t o = 0; inner && o < outer; o++) {
        value_copy(out->dtype, base + o * step, &part);
        for (int i = axis - 1; i >= 0; i--) {
            part.offset += x->stride[i];
            if (++index[i] < x->dim[i]) break;
            part.offset -= x->stride[i] * x->dim[i];
            index[i] = 0;
        }
    }
}

void eval_concat(EvalContext *c, Node *n) {
    const Value **in = c->in;
    Value *out = eval_result(c, n);
    int axis = node_axis(n);
    for (int64_t i = 0, start = 0; i < n->n_in; start += in[i++]->dim[axis])
        copy_into(out, axis, start, in[i]);
}

static int64_t read_index(const Node *n, int64_t index, int64_t size) {
    if (index < -size || index >= size)
        diag_fatal(n->loc, "%%%s: index %lld of an axis of %lld", n->name, (long long)index,
                   (long long)size);
    return index < 0 ? index + size : index;
}

// Rows of a packed table, in the format of the pack.
static void gather_packed(EvalContext *c, Node *n) {
    const Value *x = c->in[0], *which = c->in[1];
    int64_t count = value_count(which),
            *indices = arena_alloc(c->arena, (size_t)count * sizeof *indices + 1);
    int64_t dim[MAX_RANK];
    value_copy(DT_i64, indices, which);
    memcpy(dim, which->dim, sizeof dim);
    dim[which->rank] = x->dim[1];
    c->out = eval_fresh(c, dtype_is_block(x->packed->format) ? DT_f32 : x->packed->format,
                        n->type.rank, dim);
    for (int64_t i = 0; i < count; i++)
        packed_gather(x->packed, read_index(n, indices[i], x->dim[0]), &c->out, i);
}

void eval_gather(EvalContext *c, Node *n) {
    if (c->in[0]->packed) return gather_packed(c, n);
    const Value *x = c->in[0], *which = c->in[1];
    int axis = node_axis(n);
    int64_t count = value_count(which),
            *indices = arena_alloc(c->arena, (size_t)count * sizeof *indices + 1);
    value_copy(DT_i64, indices, which);
    int64_t dim[MAX_RANK] = {0}, rank = 0;  // [outer..., count, inner...]
    for (int i = 0; i < axis; i++) dim[rank++] = x->dim[i];
    dim[rank++] = count;
    for (int i = axis + 1; i < x->rank; i++) dim[rank++] = x->dim[i];
    DType dtype = dtype_is_block(x->dtype) ? DT_f32 : x->dtype;
    Value flat = eval_fresh(c, dtype, (int)rank, dim), row = *x;
    row.dim[axis] = 1;
    for (int64_t i = 0; i < count; i++) {
        row.offset = x->offset + read_index(n, indices[i], x->dim[axis]) * x->stride[axis];
        copy_into(&flat, axis, i, &row);
    }
    Value v = {.dtype = dtype, .rank = n->type.rank, .data = flat.data};
    for (int i = 0; i < axis; i++) v.dim[i] = x->dim[i];
    for (int i = 0; i < which->rank; i++) v.dim[axis + i] = which->dim[i];
    for (int i = axis + 1; i < x->rank; i++) v.dim[which->rank + i - 1] = x->dim[i];
    value_set_dense(&v);
    c->out = v;
}

void eval_gather_rows(EvalContext *c, Node *n) {
    const Value *x = c->in[0];
    int64_t rows = x->dim[0], wanted = 0;
    uint8_t *which = arena_alloc(c->arena, (size_t)rows + 1);
    value_copy(DT_bool, which, c->in[1]);
    for (int64_t r = 0; r < rows; r++) wanted += which[r];
    eval_bind(c, n->type.dim[0]->name ? n->type.dim[0]->name : "L", wanted);
    int64_t dim[MAX_RANK];
    memcpy(dim, x->dim, sizeof dim);
    dim[0] = wanted;
    Value v = eval_fresh(c, x->dtype, x->rank, dim), row = *x;
    row.dim[0] = 1;
    for (int64_t r = 0, at = 0; r < rows; r++) {
        row.offset = x->offset + r * x->stride[0];
        if (which[r]) copy_into(&v, 0, at++, &row);
    }
    c->out = v;
}

static DTypeRounding cast_rounding(const Node *n) {
    const char *mode = attr_string(n, "round_mode", "up");
    return (DTypeRounding){.overflows = !attr_int(n, "saturate", 1),
                           .direction = !strcmp(mode, "down")      ? ROUND_DOWN
                                        : !strcmp(mode, "nearest") ? ROUND_NEAREST
                                                                   : ROUND_UP};
}

static void cast_rounded(EvalContext *c, const Value *x, const Value *out, DTypeRounding how) {
    const double *from = value_dense(c, x, DT_f64);
    for (int64_t i = 0, n = value_count(x); i < n; i++)
        dtype_store_rounded(out->dtype, value_out(out), i, from[i], how);
}

void eval_bit_cast(EvalContext *c, Node *n) {
    const Value *x = c->in[0];
    DType from = n->in[0]->type.dtype;
    Value bits = {.dtype = n->type.dtype, .rank = x->rank, .data = value_dense(c, x, from)};
    memcpy(bits.dim, x->dim, sizeof bits.dim);
    value_set_dense(&bits);
    Value *out = eval_result(c, n);
    value_copy(out->dtype, value_out(out), &bits);
}

void eval_cast(EvalContext *c, Node *n) {
    DType to = n->type.dtype;
    Value numbers = dtype_is_rows(c->in[0]->dtype) ? value_dequantized(c, c->in[0]) : *c->in[0];
    const Value *x = &numbers;
    bool narrow = dtype_is_float(to) && dtype_bits(to) < 32;
    if (dtype_is_float(to) && !narrow && c->mode == EVAL_F64 && x->dtype == DT_f64) {
        c->out = *x;  // in f64 the step to f32 does not round
        return;
    }
    Value *v = eval_result(c, n);
    Value rounded = eval_fresh(c, to, x->rank, x->dim);
    if (dtype_is_float(to) && (attr_find(n, "saturate") || attr_find(n, "round_mode")))
        cast_rounded(c, x, &rounded, cast_rounding(n));
    else
        value_copy(to, value_out(&rounded), x);
    value_copy(v->dtype, value_out(v), &rounded);
}
