// Normalizations and losses as formulas.
#include <math.h>
#include <string.h>

#include "frontend/onnx/compose.h"

static int axes_from(int64_t *axes, int first, int rank) {
    int n = 0;
    for (int i = first; i < rank; i++) axes[n++] = i;
    return n;
}

// [C] to [C, 1, ..] for values of the given rank
static Node *per_channel(OnnxCall *c, Node *x, int rank) {
    const Dim *dims[MAX_RANK] = {x->type.dim[0]};
    for (int i = 1; i + 1 < rank; i++) dims[i] = dim_const(c->graph, 1);
    return onnx_shape_to(c, x, rank > 1 ? rank - 1 : 1, dims);
}

static Node *wide(OnnxCall *c, Node *x) { return onnx_cast(c, x, onnx_wide(x->type.dtype)); }

// (x - mean) / sqrt(variance + epsilon) over axes
static Node *standardized(OnnxCall *c, Node *x, const int64_t *axes, int n, double epsilon) {
    Node *mean = onnx_reduce_over(c, OP_reduce_mean, x, axes, n, true), *centred = ONNX_BINARY(c, OP_sub, x, mean);
    Node *variance = onnx_reduce_over(c, OP_reduce_mean, ONNX_BINARY(c, OP_mul, centred, centred), axes, n, true);
    return onnx_formula(c, (Node *[]){centred, variance}, 2, "div($0, sqrt(add($1, %a)))", epsilon);
}

// x, scale, bias, mean, variance; with training_mode mean and variance are those of the batch
void onnx_batch_normalization(OnnxCall *c, int argument) {
    (void)argument;
    Node *given = onnx_node(c, 0), *x = wide(c, given), *in[5] = {x};
    bool training = onnx_int(c, "training_mode", 0);
    double epsilon = onnx_float(c, "epsilon", 1e-5f), momentum = onnx_float(c, "momentum", 0.9f);
    int rank = x->type.rank;
    Node *running[2] = {wide(c, onnx_node(c, 3)), wide(c, onnx_node(c, 4))}, *batch[2];
    if (training) {
        int64_t axes[MAX_RANK] = {0};
        int n = 1 + axes_from(axes + 1, 2, rank);
        batch[0] = onnx_reduce_over(c, OP_reduce_mean, x, axes, n, false);
        Node *centred = ONNX_BINARY(c, OP_sub, x, per_channel(c, batch[0], rank));
        batch[1] = onnx_reduce_over(c, OP_reduce_mean, ONNX_BINARY(c, OP_mul, centred, centred), axes, n, false);
        for (int i = 0; i < 2; i++) {
            Node *mixed =
                onnx_formula(c, (Node *[]){running[i], batch[i]}, 2, "add(mul($0, %a), mul($1, %a))", momentum, 1 - momentum);
            onnx_result(c, 1 + i, onnx_cast(c, mixed, onnx_node(c, 3 + i)->type.dtype));
        }
    }
    for (int i = 1; i < 3; i++) in[i] = per_channel(c, wide(c, onnx_node(c, i)), rank);
    for (int i = 3; i < 5; i++) in[i] = per_channel(c, training ? batch[i - 3] : running[i - 3], rank);
    for (int i = 1; i < 5; i++) in[i] = onnx_cast(c, in[i], x->type.dtype);
    Node *y = onnx_formula(c, in, 5, "add(mul(div(sub($0, $3), sqrt(add($4, %a))), $1), $2)", epsilon);
    onnx_result(c, 0, onnx_cast(c, y, given->type.dtype));
}

static void result_scaled(OnnxCall *c, Node *y, Node *scale, Node *bias, DType dtype) {
    y = ONNX_BINARY(c, OP_add, ONNX_BINARY(c, OP_mul, y, scale), bias);
    onnx_result(c, 0, onnx_cast(c, y, dtype));
}

void onnx_instance_normalization(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = wide(c, onnx_node(c, 0));
    int64_t axes[MAX_RANK];
    int n = axes_from(axes, 2, x->type.rank), rank = x->type.rank;
    Node *y = standardized(c, x, axes, n, onnx_float(c, "epsilon", 1e-5f));
    result_scaled(c, y, per_channel(c, wide(c, onnx_node(c, 1)), rank), per_channel(c, wide(c, onnx_node(c, 2)), rank),
                  onnx_node(c, 0)->type.dtype);
}

// Groups of channels; scale and bias a channel (since opset 21) or a group.
void onnx_group_normalization(OnnxCall *c, int argument) {
    (void)argument;
    Graph *g = c->graph;
    Node *x = wide(c, onnx_node(c, 0)), *scale = wide(c, onnx_node(c, 1)), *bias = wide(c, onnx_node(c, 2));
    int64_t groups = onnx_int(c, "num_groups", 1), channels = onnx_extent(c, x, 1);
    if (groups < 1 || channels % groups) onnx_fatal(c, "%lld groups of %lld channels", (long long)groups, (long long)channels);
    const Dim *dims[3] = {x->type.dim[0], dim_const(g, groups), dim_const(g, channels / groups)};
    for (int i = 2; i < x->type.rank; i++) dims[2] = dim_binary(g, DIM_MUL, dims[2], x->type.dim[i]);
    Node *y = standardized(c, onnx_shape_to(c, x, 3, dims), (int64_t[]){2}, 1, onnx_float(c, "epsilon", 1e-5f));
    bool by_group = onnx_extent(c, scale, 0) != channels;
    if (by_group)
        y = ONNX_BINARY(c, OP_mul, y, per_channel(c, scale, 3)), y = ONNX_BINARY(c, OP_add, y, per_channel(c, bias, 3));
    y = onnx_reshape(c, y, &x->type);
    DType dtype = onnx_node(c, 0)->type.dtype;
    if (by_group)
        onnx_result(c, 0, onnx_cast(c, y, dtype));
    else
        result_scaled(c, y, per_channel(c, scale, x->type.rank), per_channel(c, bias, x->type.rank), dtype);
}

void onnx_mean_variance_normalization(OnnxCall *c, int argument) {
    (void)argument;
    int n;
    const int64_t *given = onnx_ints(c, "axes", &n), absent[] = {0, 2, 3};
    onnx_result(c, 0, standardized(c, onnx_node(c, 0), given ? given : absent, given ? n : 3, 1e-9));
}

// x / (bias + alpha / size * sum of the squares of `size` neighbouring channels)^beta
void onnx_lrn(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    int64_t size = onnx_int(c, "size", 1);
    OnnxPads pads = {.low = {0, (size - 1) / 2}, .high = {0, size / 2}};
    Node *squares = onnx_swap(c, onnx_pad_with(c, ONNX_BINARY(c, OP_mul, x, x), &pads, 0), 1, x->type.rank - 1);
    Node *n = onnx_emit_make(c, OP_windows, 1, &squares);
    attr_set_ints(n, "kernel", &size, 1);
    Node *sums = onnx_swap(c, onnx_reduce_axis(c, OP_reduce_sum, onnx_finish(c, n), x->type.rank, false), 1, x->type.rank - 1);
    onnx_result(c, 0,
                onnx_formula(c, (Node *[]){x, sums}, 2, "div($0, pow(add(%a, mul(%a, $1)), %a))", onnx_float(c, "bias", 1),
                             onnx_float(c, "alpha", 1e-4f) / (double)size, onnx_float(c, "beta", 0.75)));
}

void onnx_lp_normalization(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    int axis = onnx_axis(c, onnx_int(c, "axis", -1), x->type.rank);
    bool squares = onnx_int(c, "p", 2) == 2;
    Node *sum = onnx_reduce_axis(c, OP_reduce_sum, ONNX_FORMULA(c, x, squares ? "mul($0, $0)" : "abs($0)"), axis, true);
    onnx_result(c, 0,
                onnx_formula(c, (Node *[]){x, sum}, 2,
                             squares ? "where(equal($1, 0), $1, div($0, sqrt($1)))" : "where(equal($1, 0), $1, div($0, $1))"));
}

// ----------------------------------------------------------------------------------------------------------------------
// softmax x - max - log(sum of e^(x - max))
static Node *log_softmax(OnnxCall *c, Node *x, int axis) {
    Node *shifted = ONNX_BINARY(c, OP_sub, x, onnx_reduce_axis(c, OP_reduce_max, x, axis, true));
    Node *sum = onnx_reduce_axis(c, OP_reduce_sum, ONNX_UNARY(c, OP_exp, shifted), axis, true);
    return ONNX_BINARY(c, OP_sub, shifted, ONNX_UNARY(c, OP_log, sum));
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
    Node *y = hard ? hardmax(c, x, axis) : log_softmax(c, x, axis);
    onnx_result(c, 0, onnx_cast(c, onnx_reshape(c, y, &type), given->type.dtype));
}

// -----------------------------------------------------------------------------------------------------------------------
// losses -weight[target] * log_probability[n, target, ..], `ignore_index` counted nowhere, then mean or sum.
static Node *likelihood_loss(OnnxCall *c, Node *log_probability, Node *weight) {
    Node *target = onnx_cast(c, onnx_node(c, 1), DT_i64);
    const BurinOnnx__Attribute *ignored = onnx_attribute(c, "ignore_index");
    Node *keep = NULL, *one = onnx_scalar(c, log_probability->type.dtype, 1);
    if (ignored) {
        keep = ONNX_UNARY(c, OP_not, ONNX_BINARY(c, OP_equal, target, onnx_scalar(c, DT_i64, (double)ignored->i)));
        target = onnx_emit(c, OP_where, 3, (Node *[]){keep, target, onnx_scalar(c, DT_i64, 0)});
    }
    const Dim *dims[MAX_RANK] = {target->type.dim[0], dim_const(c->graph, 1)};
    for (int i = 1; i < target->type.rank; i++) dims[i + 1] = target->type.dim[i];
    Node *chosen = onnx_emit_make(c, OP_gather_elements, 2,
                                  (Node *[]){log_probability, onnx_shape_to(c, target, target->type.rank + 1, dims)});
    attr_set_int(chosen, "axis", 1);
    Node *loss = ONNX_UNARY(c, OP_neg, onnx_reshape(c, onnx_finish(c, chosen), &target->type)), *each = NULL;
    if (weight) each = onnx_take(c, weight, target, 0);
    if (keep) {
        Node *zero = onnx_scalar(c, loss->type.dtype, 0);
        each = onnx_emit(c, OP_where, 3, (Node *[]){keep, each ? each : one, zero});
    }
    if (each) loss = ONNX_BINARY(c, OP_mul, loss, each);
    const char *reduction = onnx_string(c, "reduction", "mean");
    int64_t axes[MAX_RANK];
    int n = axes_from(axes, 0, loss->type.rank);
    if (!strcmp(reduction, "none")) return loss;
    if (!strcmp(reduction, "mean") && !each) return onnx_reduce_over(c, OP_reduce_mean, loss, axes, n, false);
    Node *sum = onnx_reduce_over(c, OP_reduce_sum, loss, axes, n, false);
    if (!strcmp(reduction, "sum")) return sum;
    return ONNX_BINARY(c, OP_div, sum, onnx_reduce_over(c, OP_reduce_sum, each, axes, n, false));
}

static Node *optional_weight(OnnxCall *c) { return onnx_operand(c, 2) ? wide(c, onnx_node(c, 2)) : NULL; }

void onnx_negative_log_likelihood(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    onnx_result(c, 0, onnx_cast(c, likelihood_loss(c, wide(c, x), optional_weight(c)), x->type.dtype));
}

void onnx_softmax_cross_entropy(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0), *log_probability = log_softmax(c, wide(c, x), 1);
    onnx_result(c, 0, onnx_cast(c, likelihood_loss(c, log_probability, optional_weight(c)), x->type.dtype));
    onnx_result(c, 1, onnx_cast(c, log_probability, x->type.dtype));
}

// -------------------------------------------------------------------------------------------------------------------
// reductions Reductions of a formula, and a formula of the sum: the row of op_table.c says which.
static const struct {
    Op op;
    const char *before, *after;
} REDUCTIONS[] = {
    [ONNX_REDUCE_L1] = {OP_reduce_sum, "abs($0)", NULL},
    [ONNX_REDUCE_L2] = {OP_reduce_sum, "mul($0, $0)", "sqrt($0)"},
    [ONNX_REDUCE_LOG_SUM] = {OP_reduce_sum, NULL, "log($0)"},
    [ONNX_REDUCE_LOG_SUM_EXP] = {OP_reduce_sum, "exp($0)", "log($0)"},
    [ONNX_REDUCE_SUM_SQUARE] = {OP_reduce_sum, "mul($0, $0)", NULL},
};

void onnx_reduce_formula(OnnxCall *c, int kind) {
    Node *given = onnx_node(c, 0), *x = given, *top = NULL;
    bool real = dtype_is_float(x->type.dtype), roots = REDUCTIONS[kind].after;
    x = real ? wide(c, x) : roots ? onnx_cast(c, x, DT_f64) : x;
    int64_t axes[MAX_RANK];
    int n = onnx_reduce_axes(c, x->type.rank, axes);
    bool keep = onnx_int(c, "keepdims", 1);
    if (kind == ONNX_REDUCE_LOG_SUM_EXP && n) {
        top = onnx_reduce_over(c, OP_reduce_max, x, axes, n, true);
        top = ONNX_FORMULA(c, top, "where(greater($0, -inf), $0, 0)");
        x = ONNX_BINARY(c, OP_sub, x, top);
    }
    if (REDUCTIONS[kind].before) x = ONNX_FORMULA(c, x, "%s", REDUCTIONS[kind].before);
    if (n) x = onnx_reduce_over(c, REDUCTIONS[kind].op, x, axes, n, keep);
    if (REDUCTIONS[kind].after) x = ONNX_FORMULA(c, x, "%s", REDUCTIONS[kind].after);
    if (top) x = ONNX_BINARY(c, OP_add, x, onnx_reshape(c, top, &x->type));
    onnx_result(c, 0, onnx_cast(c, x, given->type.dtype));
}
