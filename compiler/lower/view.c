// Index maps: the memory position of each value's elements. Reshape, transpose, slice, expand and
// windows move no data, they only derive a view:
//
//   %qkv = matmul_packed(...)                       buffer 3, strides [320, 1]
//   %k = slice(%qkv) {axis=1, start=192, extent=64} buffer 3, offset 192, strides [320, 1]
#include <string.h>

#include "lower/lowering.h"

View *view_of(const Node *n) { return n->scratch; }

View view_contiguous(Lowering *l, const Type *type) {
    View v = {.type = *type, .offset = dim_const(l->graph, 0)};
    const Dim *stride = dim_const(l->graph, 1);
    for (int i = type->rank - 1; i >= 0; i--) {
        v.stride[i] = stride;
        stride = dim_binary(l->graph, DIM_MUL, stride, type->dim[i]);
    }
    return v;
}

bool view_is_contiguous(Graph *g, const View *v) {
    if (!dim_is(v->offset, 0) || v->row_index) return false;
    const Dim *stride = dim_const(g, 1);
    for (int i = v->type.rank - 1; i >= 0; i--) {
        if (v->stride[i] != stride && !dim_is(v->type.dim[i], 1)) return false;
        stride = dim_binary(g, DIM_MUL, stride, v->type.dim[i]);
    }
    return true;
}

bool view_same_place(const View *a, const View *b) {
    if (a->base != b->base || a->base == BASE_SCALAR || a->buffer != b->buffer ||
        a->offset != b->offset)
        return false;
    if (a->row_index != b->row_index || !type_equal(&a->type, &b->type)) return false;
    for (int i = 0; i < a->type.rank; i++)
        if (a->stride[i] != b->stride[i]) return false;
    return true;
}

static bool derive_slice(Lowering *l, const Node *n, View *v) {
    int axis = node_axis(n);
    const Dim *start = attr_dim(n, "start"), *stride = v->stride[axis];
    if (v->row_index && axis == 0) return false;
    v->offset =
        dim_binary(l->graph, DIM_ADD, v->offset, dim_binary(l->graph, DIM_MUL, start, stride));
    v->stride[axis] =
        dim_binary(l->graph, DIM_MUL, stride, dim_const(l->graph, attr_int(n, "step", 1)));
    v->type = n->type;
    return true;
}

static bool derive_transpose(const Node *n, View *v) {
    View from = *v;
    const Attr *perm = attr_find(n, "perm");
    if (from.row_index && perm->ints[0] != 0) return false;
    for (int i = 0; i < n->type.rank; i++) v->stride[i] = from.stride[perm->ints[i]];
    v->type = n->type;
    return true;
}

View view_broadcast(Lowering *l, View from, const Type *to) {
    View v = from;
    int shift = to->rank - from.type.rank;
    for (int i = 0; i < to->rank; i++) {
        bool repeated = i < shift || from.type.dim[i - shift] != to->dim[i];
        v.stride[i] = repeated ? dim_const(l->graph, 0) : from.stride[i - shift];
    }
    v.type.rank = to->rank;
    memcpy(v.type.dim, to->dim, sizeof v.type.dim);
    return v;
}

static bool derive_expand(Lowering *l, const Node *n, View *v) {
    if (v->row_index && (n->type.rank > v->type.rank || v->type.dim[0] != n->type.dim[0]))
        return false;
    *v = view_broadcast(l, *v, &n->type);
    return true;
}

// A reshape keeps its strides wherever a run of old axes and a run of new axes hold the same number
// of elements and the old run is itself contiguous; axes of extent 1 belong to any run.
typedef struct Axes {
    int n;
    const Dim *extent[MAX_RANK], *stride[MAX_RANK];
} Axes;

static Axes without_ones(const View *v) {
    Axes a = {0};
    for (int i = 0; i < v->type.rank; i++)
        if (!dim_is(v->type.dim[i], 1)) {
            a.extent[a.n] = v->type.dim[i];
            a.stride[a.n++] = v->stride[i];
        }
    return a;
}

// Extends the old run [first, *end) until it holds `count` elements or more axes cannot be merged.
static bool merge_run(Graph *g, const Axes *old, int first, int *end, const Dim *count) {
    const Dim *merged = old->extent[first];
    for (*end = first + 1; merged != count && *end < old->n; (*end)++) {
        const Dim *inner = dim_binary(g, DIM_MUL, old->stride[*end], old->extent[*end]);
        if (old->stride[*end - 1] != inner) return false;
        merged = dim_binary(g, DIM_MUL, merged, old->extent[*end]);
    }
    return merged == count;
}

static bool split_axes(Lowering *l, const Type *to, const Axes *old, const Dim **stride) {
    Graph *g = l->graph;
    int from = 0, i = 0;
    while (i < to->rank) {
        if (dim_is(to->dim[i], 1)) {
            stride[i++] = dim_const(g, 0);
            continue;
        }
        if (from == old->n) return false;
        const Dim *count = to->dim[i];
        int last = i, end = from;
        while (!merge_run(g, old, from, &end, count)) {
            if (++last == to->rank) return false;
            count = dim_binary(g, DIM_MUL, count, to->dim[last]);
        }
        const Dim *inner = old->stride[end - 1];
        for (int j = last; j >= i; j--) {
            stride[j] = inner;
            inner = dim_binary(g, DIM_MUL, inner, to->dim[j]);
        }
        i = last + 1;
        from = end;
    }
    return from == old->n;
}

static bool derive_reshape(Lowering *l, const Node *n, View *v) {
    if (v->row_index) {
        if (v->type.rank < 1 || n->type.rank < 1 || v->type.dim[0] != n->type.dim[0]) return false;
    }
    if (view_is_contiguous(l->graph, v)) {
        View flat = view_contiguous(l, &n->type);
        memcpy(v->stride, flat.stride, sizeof v->stride);
        v->type = n->type;
        return true;
    }
    Axes old = without_ones(v);
    const Dim *stride[MAX_RANK];
    if (!split_axes(l, &n->type, &old, stride)) return false;
    memcpy(v->stride, stride, sizeof v->stride);
    v->type = n->type;
    return true;
}

// x [.., in] as [.., out, kernel]: both new axes step along the old one.
static bool derive_windows(Lowering *l, const Node *n, View *v) {
    int axes, ignored;
    View from = *v;
    attr_ints(n, "kernel", &axes);
    const int64_t *strides = attr_ints(n, "strides", &ignored),
                  *dilations = attr_ints(n, "dilations", &ignored);
    if (from.row_index) return false;
    for (int i = 0, axis = from.type.rank - axes; i < axes; i++, axis++) {
        const Dim *along = from.stride[axis];
        v->stride[axis] =
            dim_binary(l->graph, DIM_MUL, along, dim_const(l->graph, strides ? strides[i] : 1));
        v->stride[axis + axes] =
            dim_binary(l->graph, DIM_MUL, along, dim_const(l->graph, dilations ? dilations[i] : 1));
    }
    v->type = n->type;
    return true;
}

bool view_derive(Lowering *l, const Node *n, const View *from, View *result) {
    *result = *from;
    switch (n->op) {
        case OP_slice:
            return derive_slice(l, n, result);
        case OP_transpose:
            return derive_transpose(n, result);
        case OP_expand:
            return derive_expand(l, n, result);
        case OP_reshape:
            return derive_reshape(l, n, result);
        case OP_windows:
            return derive_windows(l, n, result);
        default:
            return false;
    }
}

// Bytes of the largest value of the type
static uint64_t type_bytes(const Type *type) {
    int64_t dim[MAX_RANK];
    for (int i = 0; i < type->rank; i++) dim[i] = dim_upper(type->dim[i]);
    int64_t units = storage_units_of(type->dtype, type->rank, dim);
    if (units < 0 || units > INT64_MAX / 64)
        diag_fatal(NO_LOC, "a value of type %s is too large", type_text(type));
    return dtype_bytes(type->dtype, units);
}

uint64_t type_row_bytes(const Lowering *l, const Type *type) {
    const Program *p = l->program;
    const Dim *count = type_count(l->graph, type);
    uint64_t bytes = type_bytes(type);
    bool by_rows = (p->rows && dim_divides(l->graph, p->rows, count)) ||
                   (p->logit_rows && dim_divides(l->graph, p->logit_rows, count));
    if (by_rows) bytes = (bytes + (uint64_t)p->max_rows - 1) / (uint64_t)p->max_rows;
    return (bytes + 63) / 64 * 64;
}

Buffer *buffer_new(Lowering *l, const Type *type, bool per_thread) {
    Program *p = l->program;
    Buffer *b = ARENA_NEW(l->arena, Buffer);
    *b = (Buffer){.index = p->n_buffers,
                  .per_thread = per_thread,
                  .dtype = type->dtype,
                  .row_bytes = type_row_bytes(l, type),
                  .units = storage_units(l->graph, type)};
    p->buffers[p->n_buffers++] = b;
    return b;
}
