// Norms and reductions of formulas: the formulas are in dsl/onnx/norm.burin.
#include "frontend/onnx/operators/compose.h"

static Node *wide(OnnxCall *c, Node *x) { return onnx_cast(c, x, onnx_wide(x->type.dtype)); }

// x, scale, bias, mean, variance; running mean and variance have types of their own.
void onnx_batch_normalization(OnnxCall *c, int operands) {
    static const int typed_as[] = {0, 3, 4};
    Node *results[ONNX_MOST_OF_BLOCK];
    int n = onnx_described_results(c, operands, results);
    for (int i = 0; i < n; i++)
        onnx_result(c, i, onnx_cast(c, results[i], onnx_node(c, typed_as[i])->type.dtype));
}

// x / (bias + alpha / size * sum of the squares of `size` neighbouring channels)^beta
void onnx_lrn(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    int64_t size = onnx_int(c, "size", 1);
    OnnxPads pads = {.low = {0, (size - 1) / 2}, .high = {0, size / 2}};
    Node *squares =
        onnx_swap(c, onnx_pad_with(c, ONNX_BINARY(c, OP_mul, x, x), &pads, 0), 1, x->type.rank - 1);
    Node *n = onnx_emit_make(c, OP_windows, 1, &squares);
    attr_set_ints(n, "kernel", &size, 1);
    Node *sums =
        onnx_swap(c, onnx_reduce_axis(c, OP_reduce_sum, onnx_finish(c, n), x->type.rank, false), 1,
                  x->type.rank - 1);
    double alpha = onnx_float(c, "alpha", 1e-4f) / (double)size;
    Node *y = ONNX_BLOCK(c, "local_response", {.node = x}, {.node = sums},
                         {.name = "bias", .number = onnx_float(c, "bias", 1)},
                         {.name = "alpha", .number = alpha},
                         {.name = "beta", .number = onnx_float(c, "beta", 0.75)});
    onnx_result(c, 0, y);
}

// 1 at the first maximum, 0 elsewhere
static Node *hardmax(OnnxCall *c, Node *x, int axis) {
    Node *best = onnx_emit_make(c, OP_arg_max, 1, &x);
    attr_set_int(best, "axis", axis);
    Node *here = onnx_cast(c, onnx_index_along(c, &x->type, axis), DT_i64);
    return onnx_cast(c, ONNX_BINARY(c, OP_equal, here, onnx_finish(c, best)), x->type.dtype);
}

// Before opset 13 the axes from `axis` on are one.
void onnx_softmax_like(OnnxCall *c, int hard) {
    Node *given = onnx_node(c, 0), *x = hard ? given : wide(c, given);
    Type type = x->type;
    int axis = onnx_axis(c, onnx_int(c, "axis", c->opset < 13 ? 1 : -1), type.rank);
    if (c->opset < 13 && axis != type.rank - 1) {
        const Dim *dims[MAX_RANK];
        for (int i = 0; i < type.rank; i++) {
            if (i <= axis)
                dims[i] = type.dim[i];
            else
                dims[axis] = dim_binary(c->graph, DIM_MUL, dims[axis], type.dim[i]);
        }
        x = onnx_shape_to(c, x, axis + 1, dims);
    }
    Node *y = hard ? hardmax(c, x, axis)
                   : ONNX_BLOCK(c, "log_softmax", {.node = x}, ONNX_INTEGER("axis", axis));
    onnx_result(c, 0, onnx_cast(c, onnx_reshape(c, y, &type), given->type.dtype));
}

// Reductions of a formula, and a formula of the sum. One with a root or a logarithm is computed in
// f64 for integers.
void onnx_reduce_formula(OnnxCall *c, int is_real) {
    Node *given = onnx_node(c, 0), *x = given;
    if (is_real && !dtype_is_float(x->type.dtype)) x = onnx_cast(c, x, DT_f64);
    int64_t axes[MAX_RANK];
    int n = onnx_reduce_axes(c, x->type.rank, axes);
    x = ONNX_BLOCK(c, c->proto->op_type, {.node = x}, ONNX_LIST("axes", axes, n),
                   ONNX_INTEGER("keepdims", onnx_int(c, "keepdims", 1)));
    onnx_result(c, 0, onnx_cast(c, x, given->type.dtype));
}
