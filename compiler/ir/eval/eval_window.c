// Windows (a view with overlapping strides) and padding.
#include <string.h>

#include "ir/eval/eval_internal.h"

void eval_windows(EvalContext *c, Node *n) {
    int axes, ignored;
    const int64_t *kernel = attr_ints(n, "kernel", &axes),
                  *strides = attr_ints(n, "strides", &ignored);
    const int64_t *dilations = attr_ints(n, "dilations", &ignored);
    Value v = *c->in[0];
    v.rank += axes;
    for (int i = 0, axis = c->in[0]->rank - axes; i < axes; i++, axis++) {
        int64_t stride = strides ? strides[i] : 1, dilation = dilations ? dilations[i] : 1,
                along = v.stride[axis];
        v.dim[axis] = eval_dim(c, n, n->type.dim[axis]);
        v.stride[axis] = along * stride;
        v.dim[axis + axes] = kernel[i];
        v.stride[axis + axes] = along * dilation;
    }
    c->out = v;
}

// A view of the part of the padded result that holds x.
static Value inside_of(EvalContext *c, const Node *n, const Value *out) {
    int rank, ignored;
    const Dim *const *low = attr_dims(n, "low", &rank);
    const int64_t *interior = attr_ints(n, "interior", &ignored);
    Value v = *out;
    for (int i = 0; i < rank; i++) {
        v.offset += eval_dim(c, n, low[i]) * v.stride[i];
        v.stride[i] *= interior ? interior[i] + 1 : 1;
        v.dim[i] = c->in[0]->dim[i];
    }
    return v;
}

void eval_pad(EvalContext *c, Node *n) {
    int64_t dim[MAX_RANK];
    for (int i = 0; i < n->type.rank; i++) dim[i] = eval_dim(c, n, n->type.dim[i]);
    Value value = value_broadcast(c->in[1], n->type.rank, dim);
    c->out = eval_fresh(c, c->in[0]->dtype, n->type.rank, dim);
    value_copy(c->out.dtype, value_out(&c->out), &value);
    Value to = inside_of(c, n, &c->out);
    value_assign(&to, c->in[0]);
}
