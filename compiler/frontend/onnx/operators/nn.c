// Contractions, reductions, softmax and norms.

#include "frontend/onnx/operators/compose.h"

void onnx_matmul(OnnxCall *c, int argument) {
    (void)argument;
    onnx_result(c, 0, ONNX_BINARY(c, OP_matmul, onnx_node(c, 0), onnx_node(c, 1)));
}

static Node *swap_axes(OnnxCall *c, Node *x) {
    Node *n = onnx_emit_make(c, OP_transpose, 1, &x);
    attr_set_ints(n, "perm", (int64_t[]){1, 0}, 2);
    return onnx_finish(c, n);
}

static Node *scaled(OnnxCall *c, Node *x, double by) {
    return by == 1 ? x : ONNX_BINARY(c, OP_mul, x, onnx_scalar(c, x->type.dtype, by));
}

// alpha A B + beta C, A and B transposed on request
void onnx_gemm(OnnxCall *c, int argument) {
    (void)argument;
    Node *a = onnx_node(c, 0), *b = onnx_node(c, 1);
    if (onnx_int(c, "transA", 0)) a = swap_axes(c, a);
    if (onnx_int(c, "transB", 0)) b = swap_axes(c, b);
    Node *y = scaled(c, ONNX_BINARY(c, OP_matmul, a, b), onnx_float(c, "alpha", 1));
    if (onnx_operand(c, 2))
        y = ONNX_BINARY(c, OP_add, y, scaled(c, onnx_node(c, 2), onnx_float(c, "beta", 1)));
    onnx_result(c, 0, y);
}

// Axes of a reduction: an attribute, since opset 18 (ReduceSum: 13) an operand; none means all, or
// nothing.
int onnx_reduce_axes(OnnxCall *c, int rank, int64_t *axes) {
    int n = 0;
    const int64_t *given = onnx_ints(c, "axes", &n);
    const Dim *const *elements =
        onnx_operand(c, 1) ? onnx_need_elements(c, 1, &n, "the axes") : NULL;
    if (n > MAX_RANK) onnx_fatal(c, "%d axes of a value of rank %d", n, rank);
    for (int i = 0; i < n; i++) {
        int64_t axis = given ? given[i] : 0;
        if (elements && !dim_is_const(elements[i], &axis))
            onnx_fatal(c, "the axes must be constant");
        axes[i] = onnx_axis(c, axis, rank);
    }
    if (n || onnx_int(c, "noop_with_empty_axes", 0)) return n;
    for (; n < rank; n++) axes[n] = n;
    return n;
}

// A list of known sizes: their product, as TensorFlow's Tensordot has it, sum or extreme.
static bool reduce_elements(OnnxCall *c, Op op) {
    const Dim *const *elements;
    int64_t axes[MAX_RANK];
    DimKind kind = op == OP_reduce_prod  ? DIM_MUL
                   : op == OP_reduce_sum ? DIM_ADD
                   : op == OP_reduce_max ? DIM_MAX
                                         : DIM_MIN;
    int n;
    bool known = op == OP_reduce_min || kind != DIM_MIN;
    if (!known || onnx_type(c, 0).rank != 1 || !onnx_elements(c, 0, &elements, &n) || n < 1 ||
        onnx_reduce_axes(c, 1, axes) != 1)
        return false;
    const Dim **r = ARENA_ARRAY(c->graph->arena, const Dim *, 1);
    r[0] = elements[0];
    for (int i = 1; i < n; i++) r[0] = dim_binary(c->graph, kind, r[0], elements[i]);
    onnx_result_elements(c, 0, r, 1, onnx_int(c, "keepdims", 1), onnx_operand(c, 0)->dtype);
    return true;
}

void onnx_reduce(OnnxCall *c, int op) {
    if (reduce_elements(c, (Op)op)) return;
    Node *x = onnx_node(c, 0);
    int64_t axes[MAX_RANK];
    int n = onnx_reduce_axes(c, x->type.rank, axes);
    onnx_result(c, 0, n ? onnx_reduce_over(c, (Op)op, x, axes, n, onnx_int(c, "keepdims", 1)) : x);
}

// Before opset 13 the axes from `axis` on are one.
Node *onnx_softmax_of(OnnxCall *c, Node *x, int64_t opset) {
    Type type = x->type;
    int axis = onnx_axis(c, onnx_int(c, "axis", opset < 13 ? 1 : -1), type.rank);
    bool flatten = opset < 13 && axis != type.rank - 1;
    if (flatten) {
        Type flat = type;
        flat.rank = axis + 1, flat.dim[axis] = type.dim[axis];
        for (int i = axis + 1; i < type.rank; i++)
            flat.dim[axis] = dim_binary(c->graph, DIM_MUL, flat.dim[axis], type.dim[i]);
        x = onnx_reshape(c, x, &flat);
    }
    Node *y = onnx_emit_make(c, OP_softmax, 1, &x);
    attr_set_int(y, "axis", axis);
    y = onnx_finish(c, y);
    return flatten ? onnx_reshape(c, y, &type) : y;
}

void onnx_softmax(OnnxCall *c, int argument) {
    (void)argument;
    onnx_result(c, 0, onnx_softmax_of(c, onnx_node(c, 0), c->opset));
}

// The norm ops over the last axis, with kernels in f32.
static Node *norm_formula(OnnxCall *c, bool layer, int operands, Node *const *in, double epsilon) {
    Node *x = in[0];
    if (layer)
        x = ONNX_BINARY(c, OP_sub, x,
                        onnx_reduce_axis(c, OP_reduce_mean, x, x->type.rank - 1, true));
    Node *square =
        onnx_reduce_axis(c, OP_reduce_mean, ONNX_BINARY(c, OP_mul, x, x), x->type.rank - 1, true);
    x = ONNX_BINARY(c, OP_div, x, ONNX_FORMULA(c, square, "sqrt(add($0, %a))", epsilon));
    x = ONNX_BINARY(c, OP_mul, x, in[1]);
    return operands > 2 ? ONNX_BINARY(c, OP_add, x, in[2]) : x;
}

Node *onnx_norm(OnnxCall *c, Op op, int operands, Node *const *in, double epsilon) {
    DType narrow = in[0]->type.dtype, wide = onnx_wide(narrow);
    Node *widened[3];
    for (int i = 0; i < operands; i++) widened[i] = onnx_cast(c, in[i], wide);
    if (wide == DT_f64)
        return norm_formula(c, op == OP_layer_normalization, operands, widened, epsilon);
    Node *n = onnx_emit_make(c, op, operands, widened);
    attr_set_float(n, "epsilon", epsilon);
    return onnx_cast(c, onnx_finish(c, n), narrow);
}

// A weight for each element of the axes from `axis` on, in one axis; fewer weights broadcast.
static Node *norm_weight(OnnxCall *c, Node *w, const Type *type, int axis, const Dim *count) {
    const Type flat = {.rank = 1, .dim = {count}};
    const Type own = type_of(type->dtype, type->rank - axis, type->dim + axis);
    const int more = w->type.rank - own.rank;
    if (type_count(c->graph, &w->type) != count) {
        if (more > 0) w = onnx_shape_to(c, w, own.rank, w->type.dim + more);
        w = onnx_expand_to(c, w, &own);
    }
    return w->type.rank == 1 ? w : onnx_reshape(c, w, &flat);
}

// The last axis is the norms' own; with more, they are flattened into one and back.
static Node *norm(OnnxCall *c, Op op, int operands) {
    Node *in[3] = {onnx_node(c, 0), onnx_node(c, 1), operands > 2 ? onnx_node(c, 2) : NULL};
    Type type = in[0]->type, flat = type;
    int axis = onnx_axis(c, onnx_int(c, "axis", -1), type.rank);
    flat.rank = axis + 1;
    for (int i = axis + 1; i < type.rank; i++)
        flat.dim[axis] = dim_binary(c->graph, DIM_MUL, flat.dim[axis], type.dim[i]);
    bool several = axis != type.rank - 1;
    if (several) in[0] = onnx_reshape(c, in[0], &flat);
    for (int i = 1; i < operands; i++) in[i] = norm_weight(c, in[i], &type, axis, flat.dim[axis]);
    Node *n = onnx_norm(c, op, operands, in, onnx_float(c, "epsilon", 1e-5f));
    return several ? onnx_reshape(c, n, &type) : n;
}

// The mean and the inverse deviation of each row, in f32 (stash_type 1).
static void row_statistics(OnnxCall *c) {
    Node *x = onnx_cast(c, onnx_node(c, 0), DT_f32), *results[ONNX_MOST_OF_BLOCK];
    int axis = onnx_axis(c, onnx_int(c, "axis", -1), x->type.rank);
    const OnnxArgument arguments[] = {
        {.node = x},
        ONNX_INTEGER("axis", axis),
        {.name = "epsilon", .number = onnx_float(c, "epsilon", 1e-5f)},
        {0}};
    onnx_blocks(c, "statistics", arguments, results);
    for (int i = 0; i < 2; i++) onnx_result(c, 1 + i, results[i]);
}

void onnx_layer_normalization(OnnxCall *c, int argument) {
    (void)argument;
    if (c->proto->n_output > 1) row_statistics(c);
    onnx_result(c, 0, norm(c, OP_layer_normalization, onnx_operand(c, 2) ? 3 : 2));
}

void onnx_rms_normalization(OnnxCall *c, int argument) {
    (void)argument;
    onnx_result(c, 0, norm(c, OP_rms_normalization, 2));
}
