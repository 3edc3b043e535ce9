// Elementwise operators with rules about types, shapes or attributes.
#include <string.h>

#include "frontend/onnx/operators/compose.h"
#include "ir/convert.h"

void onnx_prelu(OnnxCall *c, int argument) {
    (void)argument;
    Node *in[] = {onnx_node(c, 0), onnx_node(c, 1)};
    const Dim *dims[MAX_RANK];
    const Type *x = &in[0]->type, *slope = &in[1]->type;
    int rank = x->rank;
    bool channels = slope->rank == 1 && rank > 2 && slope->dim[0] == x->dim[1];
    if (channels &&
        (c->opset < 7 ||
         slope->dim[0] != x->dim[rank - 1])) {  // a slope a channel; since opset 7 they broadcast
        for (int i = 0; i < rank; i++) dims[i] = i == 1 ? slope->dim[0] : dim_const(c->graph, 1);
        in[1] = onnx_shape_to(c, in[1], rank, dims);
    }
    onnx_result(c, 0, onnx_formula(c, in, 2, "where(less($0, 0), mul($0, $1), $0)"));
}

void onnx_xor(OnnxCall *c, int argument) {
    (void)argument;
    onnx_result(c, 0,
                ONNX_UNARY(c, OP_not, ONNX_BINARY(c, OP_equal, onnx_node(c, 0), onnx_node(c, 1))));
}

void onnx_bitwise_not(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    const int64_t ones = -1;
    Tensor *t = ARENA_NEW(c->graph->arena, Tensor);
    *t = (Tensor){.dtype = x->type.dtype, .bytes = dtype_bytes(x->type.dtype, 1)};
    t->data = memcpy(arena_alloc(c->graph->arena, sizeof ones), &ones, sizeof ones);
    onnx_result(c, 0, ONNX_BINARY(c, OP_bit_xor, x, onnx_constant(c, t)));
}

void onnx_bit_shift(OnnxCall *c, int argument) {
    (void)argument;
    bool left = !strcmp(onnx_string(c, "direction", ""), "LEFT");
    onnx_result(
        c, 0,
        ONNX_BINARY(c, left ? OP_shift_left : OP_shift_right, onnx_node(c, 0), onnx_node(c, 1)));
}

void onnx_mod(OnnxCall *c, int argument) {
    (void)argument;
    Node *in[] = {onnx_node(c, 0), onnx_node(c, 1)};
    onnx_result(c, 0,
                onnx_formula(c, in, 2, onnx_int(c, "fmod", 0) ? "fmod($0, $1)" : "mod($0, $1)"));
}

void onnx_is_inf(OnnxCall *c, int argument) {
    (void)argument;
    bool down = onnx_int(c, "detect_negative", 1), up = onnx_int(c, "detect_positive", 1);
    Node *x = onnx_node(c, 0);
    x = onnx_cast(c, x, onnx_wide(x->type.dtype));
    onnx_result(c, 0,
                ONNX_FORMULA(c, x,
                             down && up ? "equal(abs($0), inf)"
                             : up       ? "equal($0, inf)"
                             : down     ? "equal($0, -inf)"
                                        : "less(abs($0), 0)"));
}

// Bounds: attributes before opset 11, operands since. The bound comes first: NaN stays.
void onnx_clip(OnnxCall *c, int argument) {
    (void)argument;
    Node *y = onnx_node(c, 0);
    for (int i = 1; i < 3; i++) {
        const BurinOnnx__Attribute *a = onnx_attribute(c, i == 1 ? "min" : "max");
        Node *bound = a                    ? onnx_scalar(c, y->type.dtype, a->f)
                      : onnx_operand(c, i) ? onnx_node(c, i)
                                           : NULL;
        if (!bound) continue;
        bound = onnx_reshape(c, bound, &(Type){.dtype = bound->type.dtype});
        y = ONNX_BINARY(c, i == 1 ? OP_max : OP_min, bound, y);
    }
    onnx_result(c, 0, y);
}

void onnx_mean(OnnxCall *c, int argument) {
    (void)argument;
    Node *r = onnx_node(c, 0);
    for (int i = 1; i < onnx_count(c); i++) r = ONNX_BINARY(c, OP_add, r, onnx_node(c, i));
    onnx_result(c, 0, ONNX_BINARY(c, OP_div, r, onnx_scalar(c, r->type.dtype, onnx_count(c))));
}

void onnx_bit_cast(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0), *n = onnx_emit_make(c, OP_bit_cast, 1, &x);
    DType to;
    if (!onnx_dtype((int32_t)onnx_int(c, "to", 0), &to))
        onnx_fatal(c, "to element type %lld", (long long)onnx_int(c, "to", 0));
    attr_set_dtype(n, "to", to);
    onnx_result(c, 0, onnx_finish(c, n));
}
