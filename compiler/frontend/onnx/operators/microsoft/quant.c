// What ONNX Runtime's optimizer makes of quantized graphs, and of convolutions with their
// activation: each is its formula. A QLinear operator computes in f32 between bytes: q(f(x)) with x
// = (bytes - zero point) * scale.
#include <string.h>

#include "frontend/onnx/operators/compose.h"
#include "frontend/onnx/scope.h"

// -------------------------------------------------------------------------------- with activations
static Node *activated(OnnxCall *c, Node *x, const double *alpha, const double *beta) {
    const char *name = onnx_string(c, "activation", "");
    if (!strcmp(name, "Clip"))
        return ONNX_FORMULA(c, x, "min(max($0, %a), %a)", alpha ? *alpha : 0, beta ? *beta : 0);
    return *name ? onnx_activated(c, name, x, alpha, beta) : x;
}

// Conv with a summand, or Gemm; then an activation.
void onnx_ms_fused(OnnxCall *c, int is_gemm) {
    static const char *const names[] = {"activation_alpha", "activation_beta"};
    double given[2];
    const double *parameter[2];
    int n;
    const double *list = onnx_floats(c, "activation_params", &n);
    for (int i = 0; i < 2; i++) {
        given[i] = onnx_float(c, names[i], 0);
        parameter[i] = i < n ? &list[i] : onnx_attribute(c, names[i]) ? &given[i] : NULL;
    }
    (is_gemm ? onnx_gemm : onnx_conv)(c, 0);
    Node *y = onnx_value(c->import, c->proto->output[0])->node;
    if (!is_gemm && onnx_operand(c, 3)) y = ONNX_BINARY(c, OP_add, y, onnx_node(c, 3));
    onnx_result(c, 0, activated(c, y, parameter[0], parameter[1]));
}

// ---------------------------------------------------------------------------------------- products
Node *onnx_scaled_sums(OnnxCall *c, Node *sums, Node *a_scale, Node *b_scale, Node *bias) {
    Node *in[] = {onnx_cast(c, sums, a_scale->type.dtype), a_scale, b_scale};
    Node *y = onnx_formula(c, in, 3, "mul($0, mul($1, $2))");
    return bias ? ONNX_BINARY(c, OP_add, y, bias) : y;
}

// A, B, b_scale, b_zero_point, bias
void onnx_ms_dynamic_matmul(OnnxCall *c, int argument) {
    (void)argument;
    Node *a[3] = {onnx_node(c, 0), onnx_scalar(c, DT_f32, 1), NULL}, *b = onnx_node(c, 1);
    if (!dtype_is_float(b->type.dtype)) onnx_quantized_by_range(c, a[0], a);
    b = onnx_centred(c, b, onnx_optional_node(c, 3), false);
    Node *sums = onnx_integer_sums(c, onnx_centred(c, a[0], a[2], true), b);
    onnx_result(c, 0, onnx_scaled_sums(c, sums, a[1], onnx_node(c, 2), onnx_optional_node(c, 4)));
}

// of 16 bits: sums of 32
void onnx_ms_matmul_integer16(OnnxCall *c, int argument) {
    (void)argument;
    onnx_result(c, 0,
                ONNX_BINARY(c, OP_matmul, onnx_cast(c, onnx_node(c, 0), DT_i32),
                            onnx_cast(c, onnx_node(c, 1), DT_i32)));
}

// A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias
void onnx_ms_integer_matmul(OnnxCall *c, int argument) {
    (void)argument;
    Node *a = onnx_centred(c, onnx_node(c, 0), onnx_optional_node(c, 4), true);
    Node *b = onnx_centred(c, onnx_node(c, 1), onnx_optional_node(c, 5), false);
    onnx_result(c, 0,
                onnx_scaled_sums(c, onnx_integer_sums(c, a, b), onnx_node(c, 2), onnx_node(c, 3),
                                 onnx_optional_node(c, 6)));
}

// --------------------------------------------------------------------------------- bytes and bytes
// Operand i, its scale and its zero point follow.
static Node *dequantized(OnnxCall *c, int i) {
    Node *x = onnx_centred(c, onnx_node(c, i), onnx_optional_node(c, i + 2), false),
         *scale = onnx_node(c, i + 1);
    return ONNX_BINARY(c, OP_mul, onnx_cast(c, x, scale->type.dtype), scale);
}

// As bytes like those of operand `like`, with the scale operand i, and the zero point after it.
static Node *requantized(OnnxCall *c, Node *y, int i, int like) {
    onnx_check_scale(c, i);
    Node *zero_point = onnx_optional_node(c, i + 1);
    if (!zero_point) zero_point = onnx_scalar(c, onnx_type(c, like).dtype, 0);
    return onnx_quantized(c, ONNX_BINARY(c, OP_div, y, onnx_node(c, i)), zero_point);
}

// a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point
void onnx_ms_qlinear_binary(OnnxCall *c, int op) {
    onnx_result(c, 0,
                requantized(c, ONNX_BINARY(c, (Op)op, dequantized(c, 0), dequantized(c, 3)), 6, 0));
}

// x, x_scale, x_zero_point, y_scale, y_zero_point: also those below
void onnx_ms_qlinear_sigmoid(OnnxCall *c, int argument) {
    (void)argument;
    onnx_result(c, 0, requantized(c, ONNX_UNARY(c, OP_sigmoid, dequantized(c, 0)), 3, 0));
}

void onnx_ms_qlinear_leaky_relu(OnnxCall *c, int argument) {
    (void)argument;
    const double alpha = onnx_float(c, "alpha", 0.01f);
    Node *y = onnx_activated(c, "LeakyRelu", dequantized(c, 0), &alpha, NULL);
    onnx_result(c, 0, requantized(c, y, 3, 0));
}

// `opset` is that of the Softmax it was.
void onnx_ms_qlinear_softmax(OnnxCall *c, int argument) {
    (void)argument;
    onnx_result(
        c, 0,
        requantized(c, onnx_softmax_of(c, dequantized(c, 0), onnx_int(c, "opset", 13)), 3, 0));
}

// condition, a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point
void onnx_ms_qlinear_where(OnnxCall *c, int argument) {
    (void)argument;
    Node *in[] = {onnx_node(c, 0), dequantized(c, 1), dequantized(c, 4)};
    onnx_result(c, 0, requantized(c, onnx_emit(c, OP_where, 3, in), 7, 1));
}

void onnx_ms_qlinear_average_pool(OnnxCall *c, int argument) {
    (void)argument;
    Node *y = onnx_average_of_windows(c, onnx_channels_first(c, dequantized(c, 0)));
    onnx_result(c, 0, requantized(c, onnx_channels_back(c, y), 3, 0));
}

void onnx_ms_qlinear_global_pool(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = dequantized(c, 0);
    int64_t axes[MAX_RANK];
    int n = 0, first = onnx_int(c, "channels_last", 0) ? 1 : 2;
    for (int i = 0; i + 2 < x->type.rank; i++) axes[n++] = first + i;
    onnx_result(c, 0, requantized(c, onnx_reduce_over(c, OP_reduce_mean, x, axes, n, true), 3, 0));
}

// y_scale, y_zero_point, then each value with its scale and zero point
void onnx_ms_qlinear_concat(OnnxCall *c, int argument) {
    (void)argument;
    int n = (onnx_count(c) - 2) / 3;
    if (onnx_count(c) != 2 + 3 * n) onnx_fatal(c, "takes a scale and a zero point with each value");
    Node **part = ARENA_ARRAY(c->graph->arena, Node *, n);
    for (int i = 0; i < n; i++) part[i] = dequantized(c, 2 + 3 * i);
    Node *y = onnx_join(c, part, n, onnx_axis(c, onnx_int(c, "axis", 0), part[0]->type.rank));
    onnx_result(c, 0, requantized(c, y, 0, 2));
}

// a, a_scale, a_zero_point, b, b_scale, b_zero_point, bias in whole numbers, y_scale, y_zero_point;
// without y_scale: floats
void onnx_ms_qgemm(OnnxCall *c, int argument) {
    (void)argument;
    Node *in[2];
    for (int i = 0; i < 2; i++) {
        // one zero point for each column, for either order of b in the file
        in[i] = onnx_node(c, 3 * i);
        if (onnx_int(c, i ? "transB" : "transA", 0)) in[i] = onnx_swap(c, in[i], 0, 1);
        in[i] = onnx_centred(c, in[i], onnx_optional_node(c, 3 * i + 2), false);
    }
    Node *sums = ONNX_BINARY(c, OP_matmul, in[0], in[1]);
    if (onnx_operand(c, 6)) sums = ONNX_BINARY(c, OP_add, sums, onnx_node(c, 6));
    Node *y = onnx_scaled_sums(c, sums, onnx_node(c, 1), onnx_node(c, 4), NULL);
    y = ONNX_FORMULA(c, y, "mul($0, %a)", onnx_float(c, "alpha", 1));
    onnx_result(c, 0, onnx_operand(c, 7) ? requantized(c, y, 7, 0) : y);
}
