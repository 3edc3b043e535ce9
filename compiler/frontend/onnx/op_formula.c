// Elementwise operators that are one formula of the core's scalar functions.
#include <string.h>

#include "frontend/onnx/compose.h"
#include "ir/convert.h"

// %1$a and %2$a stand for the attributes.
typedef struct Formula {
    const char *name, *text;
    struct {
        const char *name;
        double absent;
    } attributes[2];
} Formula;

#define SOFTPLUS "add(max($0, 0), log(add(1, exp(neg(abs($0))))))"
static const Formula FORMULAS[] = {
    {"Acos", "sub(0x1.921fb6p+0, atan(div($0, sqrt(sub(1, mul($0, $0))))))", {{0}}},
    {"Acosh", "log(add($0, sqrt(sub(mul($0, $0), 1))))", {{0}}},
    {"Asin", "atan(div($0, sqrt(sub(1, mul($0, $0)))))", {{0}}},
    {"Asinh",
     "where(less($0, 0), neg(log(add(abs($0), sqrt(add(mul($0, $0), 1))))), log(add(abs($0), sqrt(add(mul($0, $0), 1)))))",
     {{0}}},
    {"Atan", "atan($0)", {{0}}},
    {"Atanh", "mul(0.5, log(div(add(1, $0), sub(1, $0))))", {{0}}},
    {"Celu", "add(max($0, 0), min(0, mul(%1$a, sub(exp(div($0, %1$a)), 1))))", {{"alpha", 1}}},
    {"Cosh", "mul(0.5, add(exp($0), exp(neg($0))))", {{0}}},
    {"Elu", "where(less($0, 0), mul(%1$a, sub(exp($0), 1)), $0)", {{"alpha", 1}}},
    {"HardSigmoid", "max(0, min(1, add(mul(%1$a, $0), %2$a)))", {{"alpha", 0.2}, {"beta", 0.5}}},
    {"HardSwish", "mul($0, max(0, min(1, add(div($0, 6), 0.5))))", {{0}}},
    {"LeakyRelu", "where(less($0, 0), mul(%1$a, $0), $0)", {{"alpha", 0.01}}},
    {"Mish", "mul($0, tanh(" SOFTPLUS "))", {{0}}},
    {"Selu",
     "mul(%2$a, where(less($0, 0), mul(%1$a, sub(exp($0), 1)), $0))",
     {{"alpha", 0x1.ac5ae8p+0}, {"gamma", 0x1.0cfabep+0}}},
    {"Shrink",
     "where(less($0, neg(%2$a)), add($0, %1$a), where(greater($0, %2$a), sub($0, %1$a), mul($0, 0)))",
     {{"bias", 0}, {"lambd", 0.5}}},
    {"Sign", "where(greater($0, 0), 1, where(less($0, 0), -1, $0))", {{0}}},
    {"Sinh",
     "where(less(abs($0), 1), div(mul(2, tanh(mul($0, 0.5))), sub(1, mul(tanh(mul($0, 0.5)), tanh(mul($0, 0.5))))), mul(0.5, "
     "sub(exp($0), exp(neg($0)))))",
     {{0}}},
    {"Softplus", SOFTPLUS, {{0}}},
    {"Softsign", "div($0, add(1, abs($0)))", {{0}}},
    {"Tan", "div(sin($0), cos($0))", {{0}}},
    {"ThresholdedRelu", "where(greater($0, %1$a), $0, 0)", {{"alpha", 1}}},
};

void onnx_formula_op(OnnxCall *c, int argument) {
    (void)argument;
    for (size_t i = 0; i < sizeof FORMULAS / sizeof *FORMULAS; i++) {
        const Formula *f = &FORMULAS[i];
        if (strcmp(f->name, c->proto->op_type)) continue;
        double value[2] = {0};
        for (int a = 0; a < 2; a++)
            if (f->attributes[a].name) value[a] = (float)onnx_float(c, f->attributes[a].name, f->attributes[a].absent);
        Node *x = onnx_node(c, 0);
        onnx_result(c, 0, onnx_formula(c, &x, 1, f->text, value[0], value[1]));
    }
}

void onnx_prelu(OnnxCall *c, int argument) {
    (void)argument;
    Node *in[] = {onnx_node(c, 0), onnx_node(c, 1)};
    const Dim *dims[MAX_RANK];
    const Type *x = &in[0]->type, *slope = &in[1]->type;
    int rank = x->rank;
    bool channels = slope->rank == 1 && rank > 2 && slope->dim[0] == x->dim[1];
    if (channels && (c->opset < 7 || slope->dim[0] != x->dim[rank - 1])) {  // a slope a channel; since opset 7 they broadcast
        for (int i = 0; i < rank; i++) dims[i] = i == 1 ? slope->dim[0] : dim_const(c->graph, 1);
        in[1] = onnx_shape_to(c, in[1], rank, dims);
    }
    onnx_result(c, 0, onnx_formula(c, in, 2, "where(less($0, 0), mul($0, $1), $0)"));
}

void onnx_xor(OnnxCall *c, int argument) {
    (void)argument;
    onnx_result(c, 0, ONNX_UNARY(c, OP_not, ONNX_BINARY(c, OP_equal, onnx_node(c, 0), onnx_node(c, 1))));
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
    onnx_result(c, 0, ONNX_BINARY(c, left ? OP_shift_left : OP_shift_right, onnx_node(c, 0), onnx_node(c, 1)));
}

void onnx_mod(OnnxCall *c, int argument) {
    (void)argument;
    Node *in[] = {onnx_node(c, 0), onnx_node(c, 1)};
    onnx_result(c, 0, onnx_formula(c, in, 2, onnx_int(c, "fmod", 0) ? "fmod($0, $1)" : "mod($0, $1)"));
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

// Bounds: attributes before opset 11, operands since. NaN stays.
void onnx_clip(OnnxCall *c, int argument) {
    (void)argument;
    Node *y = onnx_node(c, 0);
    for (int i = 1; i < 3; i++) {
        const BurinOnnx__Attribute *a = onnx_attribute(c, i == 1 ? "min" : "max");
        Node *bound = a ? onnx_scalar(c, y->type.dtype, a->f) : onnx_operand(c, i) ? onnx_node(c, i) : NULL;
        if (!bound) continue;
        bound = onnx_reshape(c, bound, &(Type){.dtype = bound->type.dtype});
        y = onnx_emit(c, OP_where, 3, (Node *[]){ONNX_BINARY(c, i == 1 ? OP_less : OP_greater, y, bound), bound, y});
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
    if (!onnx_dtype((int32_t)onnx_int(c, "to", 0), &to)) onnx_fatal(c, "to element type %lld", (long long)onnx_int(c, "to", 0));
    attr_set_dtype(n, "to", to);
    onnx_result(c, 0, onnx_finish(c, n));
}
