// Orders of axes in memory. A result without a tuned kernel may be stored in the order of its
// operands instead of its own: results of convolutions have their channels last, and later kernels
// keep that order.
#include "lower/select.h"

AxisOrder order_with_last(int rank, int axis) {
    AxisOrder o = {.rank = rank};
    int n = 0;
    for (int i = 0; i < rank; i++)
        if (i != axis) o.axis[n++] = i;
    o.axis[n] = axis;
    return o;
}

// Axes of one element stay where they are: their stride means nothing.
AxisOrder order_of(const View *v) {
    AxisOrder o = {.rank = v->type.rank};
    int place[MAX_RANK], n = 0;
    for (int i = 0; i < o.rank; i++) {
        o.axis[i] = i;
        if (dim_is(v->type.dim[i], 1)) continue;
        place[n++] = i;
        for (int j = n - 1; j > 0; j--) {
            int *a = &o.axis[place[j - 1]], *b = &o.axis[place[j]], t = *a;
            if (dim_upper(v->stride[*a]) >= dim_upper(v->stride[*b])) break;
            *a = *b, *b = t;
        }
    }
    return o;
}

bool order_is_plain(const AxisOrder *o) {
    for (int i = 0; i < o->rank; i++)
        if (o->axis[i] != i) return false;
    return true;
}

Type type_in_order(const Type *type, const AxisOrder *o) {
    Type t = *type;
    for (int i = 0; i < o->rank; i++) t.dim[i] = type->dim[o->axis[i]];
    return t;
}

View view_in_order(const View *v, const AxisOrder *o) {
    View w = *v;
    w.type = type_in_order(&v->type, o);
    for (int i = 0; i < o->rank; i++) w.stride[i] = v->stride[o->axis[i]];
    return w;
}

View view_out_of_order(const View *v, const AxisOrder *o) {
    View w = *v;
    for (int i = 0; i < o->rank; i++) {
        w.type.dim[o->axis[i]] = v->type.dim[i];
        w.stride[o->axis[i]] = v->stride[i];
    }
    return w;
}

View view_in_memory_order(Lowering *l, const Type *type, const AxisOrder *o) {
    const Type stored = type_in_order(type, o);
    View v = view_contiguous(l, &stored);
    return view_out_of_order(&v, o);
}

void copy_in_order(Lowering *l, Node *n, View from, const AxisOrder *o) {
    Kernel *k = kernel_new(l, FAMILY_NEST, n, 1);
    View to = view_in_memory_order(l, &n->type, o);
    to.base = BASE_BUFFER;
    to.buffer = buffer_new(l, &n->type, false);
    k->copies = true;
    k->in[0] = view_in_order(&from, o);
    View stored = view_in_order(&to, o);
    k->share = share_rows(l, &stored.type);
    kernel_give(l, k, 0, NULL, stored);
    set_view(l, n, to);
}

bool copy_for_view(Lowering *l, Node *n, View *from) {
    const AxisOrder stored = order_of(from);
    if (l->program->rows || l->places || order_is_plain(&stored) || from->base != BASE_BUFFER ||
        dtype_bits(from->type.dtype) < 8)
        return false;
    const AxisOrder orders[] = {stored, order_with_last(stored.rank, stored.axis[stored.rank - 1])};
    for (int i = 0; i < 2; i++) {
        View v, copy = view_in_memory_order(l, &n->in[0]->type, &orders[i]);
        if (!view_derive(l, n, &copy, &v)) continue;
        copy_in_order(l, n->in[0], *from, &orders[i]);
        *from = *view_of(n->in[0]);
        return true;
    }
    return false;
}
