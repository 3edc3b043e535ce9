// Quantization as formulas: saturate(round(x / scale) + zero_point) and (x - zero_point) * scale,
// for a tensor, an axis or blocks.
#include <math.h>

#include "frontend/onnx/operators/compose.h"
#include "ir/convert.h"

static bool integer_range(DType t, double *low, double *high) {
    if (dtype_is_float(t)) return false;
    int bits = dtype_bits(t);
    bool is_signed = t == DT_i8 || t == DT_i16 || t == DT_i32 || t == DT_i4 || t == DT_i2;
    *low = is_signed ? -ldexp(1, bits - 1) : 0;
    *high = ldexp(1, is_signed ? bits - 1 : bits) - 1;
    return true;
}

static Node *clamped(OnnxCall *c, Node *x, DType to) {
    double low, high;
    if (!integer_range(to, &low, &high)) return onnx_cast(c, x, to);
    return onnx_cast(c, ONNX_FORMULA(c, x, "min(max($0, %a), %a)", low, high), to);
}

Node *onnx_quantized(OnnxCall *c, Node *x, Node *zero_point) {
    x = ONNX_UNARY(c, OP_round, x);
    Node *z = onnx_cast(c, zero_point, x->type.dtype);
    return clamped(c, ONNX_BINARY(c, OP_add, x, z), zero_point->type.dtype);
}

// s has one element for each block of x along the axis, or for each element.
Node *onnx_each_of_block(OnnxCall *c, Node *s, const Type *x, int axis, int64_t block) {
    Graph *g = c->graph;
    int64_t extent, blocks;
    if (block < 1) onnx_fatal(c, "block_size is %lld, expected one above 0", (long long)block);
    if (x->rank == MAX_RANK) onnx_fatal(c, "blocks of %s, which has too many axes", type_text(x));
    if (dim_is_const(x->dim[axis], &extent) && dim_is_const(s->type.dim[axis], &blocks) &&
        extent > 0 && (extent - 1) / block >= blocks)
        onnx_fatal(c, "%s has too few blocks of %lld for axis %d of %s", type_text(&s->type),
                   (long long)block, axis, type_text(x));
    const Dim *one = dim_const(g, 1), *dims[MAX_RANK], *apart[MAX_RANK];
    Type repeated = {.dtype = s->type.dtype, .rank = x->rank + 1};
    for (int i = 0, at = 0; i < x->rank; i++) {
        repeated.dim[at] = s->type.dim[i], apart[at++] = s->type.dim[i];
        if (i == axis) repeated.dim[at] = dim_const(g, block), apart[at++] = one;
        dims[i] = i == axis ? dim_binary(g, DIM_MUL, s->type.dim[i], dim_const(g, block))
                            : s->type.dim[i];
    }
    s = onnx_expand_to(c, onnx_shape_to(c, s, x->rank + 1, apart), &repeated);
    s = onnx_shape_to(c, s, x->rank, dims);
    return onnx_slice_at(c, s, axis, dim_const(g, 0), x->dim[axis]);
}

// A scale or zero point as it meets x: a scalar, [D] along axis, or one for each block along axis.
static Node *spread(OnnxCall *c, Node *s, const Type *x, int64_t block) {
    Graph *g = c->graph;
    const Dim *one = dim_const(g, 1), *dims[MAX_RANK];
    if (!s->type.rank || (s->type.rank == 1 && s->type.dim[0] == one))
        return onnx_reshape(c, s, &(Type){0});
    int axis = onnx_axis(c, onnx_int(c, "axis", 1), x->rank);
    if (!block && s->type.rank == 1) {
        for (int i = 0; i < x->rank; i++) dims[i] = i == axis ? s->type.dim[0] : one;
        return onnx_shape_to(c, s, x->rank, dims);
    }
    if (!block || s->type.rank != x->rank) return s;
    return onnx_each_of_block(c, s, x, axis, block);
}

void onnx_check_scale(OnnxCall *c, int i) {
    const Tensor *t = onnx_known(c, i);
    if (!t || c->import->model->has_lost_scale) return;
    for (int64_t j = 0; j < tensor_count(t); j++) {
        double scale = dtype_load(t->dtype, t->data, j);
        if (isfinite(scale)) continue;
        c->import->model->has_lost_scale = true;
        onnx_warning(c,
                     "%s: the scale %s is %s: whatever it quantizes is lost\n"
                     "hint: the mask's infinity was taken for a value: quantize again, without the "
                     "mask and the scores it is added to",
                     c->proto->op_type, c->proto->input[i], isnan(scale) ? "NaN" : "infinite");
        return;
    }
}

void onnx_quantize_linear(OnnxCall *c, int argument) {
    (void)argument;
    onnx_check_scale(c, 1);
    Node *x = onnx_node(c, 0), *scale = onnx_node(c, 1);
    int64_t block = onnx_int(c, "block_size", 0);
    DType to = onnx_operand(c, 2) ? onnx_type(c, 2).dtype : DT_u8;
    if (!onnx_operand(c, 2) && onnx_int(c, "output_dtype", 0) &&
        !onnx_dtype((int32_t)onnx_int(c, "output_dtype", 0), &to))
        onnx_fatal(c, "output_dtype is %lld, which is no element type that is supported",
                   (long long)onnx_int(c, "output_dtype", 0));
    Node *s = onnx_cast(c, spread(c, scale, &x->type, block), DT_f32);
    Node *y = onnx_formula(c, (Node *[]){onnx_cast(c, x, DT_f32), s}, 2, "div($0, $1)");
    if (!dtype_is_float(to)) y = ONNX_UNARY(c, OP_round, y);
    if (onnx_operand(c, 2))
        y = ONNX_BINARY(c, OP_add, y,
                        onnx_cast(c, spread(c, onnx_node(c, 2), &x->type, block), DT_f32));
    onnx_result(c, 0, clamped(c, y, to));
}

void onnx_dequantize_linear(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0), *scale = onnx_node(c, 1);
    int64_t block = onnx_int(c, "block_size", 0);
    DType to = scale->type.dtype;
    if (onnx_int(c, "output_dtype", 0) && !onnx_dtype((int32_t)onnx_int(c, "output_dtype", 0), &to))
        onnx_fatal(c, "output_dtype is %lld, which is no element type that is supported",
                   (long long)onnx_int(c, "output_dtype", 0));
    Node *y = to == DT_f32 ? onnx_dequantized_in_blocks(c, block) : NULL;
    if (y) {
        onnx_result(c, 0, y);
        return;
    }
    y = onnx_cast(c, x, DT_f32);
    if (onnx_operand(c, 2))
        y = ONNX_BINARY(c, OP_sub, y,
                        onnx_cast(c, spread(c, onnx_node(c, 2), &x->type, block), DT_f32));
    y = ONNX_BINARY(c, OP_mul, y, onnx_cast(c, spread(c, scale, &x->type, block), DT_f32));
    onnx_result(c, 0, onnx_cast(c, y, to));
}

// x as bytes, their scale and their zero point, from the minimum and the maximum. In a text each
// token has its own, as if it were the only one of a step: other rows must not matter. The scale of
// zeros alone is 1, as in ONNX Runtime; the specification's formula gives 0.
void onnx_quantized_by_range(OnnxCall *c, Node *x, Node *result[3]) {
    int64_t axes[MAX_RANK];
    int n = 0;
    for (int i = 0; i < x->type.rank; i++)
        if (!c->import->text || dim_is_const(x->type.dim[i], NULL)) axes[n++] = i;
    bool keep = n < x->type.rank;
    if (keep) onnx_text_by_rows(c->import->text);
    Node *bound[] = {onnx_reduce_over(c, OP_reduce_min, x, axes, n, keep),
                     onnx_reduce_over(c, OP_reduce_max, x, axes, n, keep)};
    Node *range = onnx_formula(c, bound, 2, "sub(max($1, 0), min($0, 0))");
    Node *scale = onnx_formula(c, &range, 1, "div($0, 255)"), *scales[] = {range, scale};
    Node *in[] = {bound[0], scale};
    Node *zero_point = clamped(
        c, onnx_formula(c, in, 2, "round(max(0, min(255, div(sub(0, min($0, 0)), $1))))"), DT_u8);
    result[0] = onnx_quantized(c, ONNX_BINARY(c, OP_div, x, scale), zero_point);
    result[1] = onnx_formula(c, scales, 2, "where(equal($0, 0), 1, $1)");
    result[2] = zero_point;
}

void onnx_dynamic_quantize_linear(OnnxCall *c, int argument) {
    (void)argument;
    Node *results[3];
    if (onnx_stays_float(c->import, c->proto->output[0])) {
        onnx_text_in_floats(c->import->text);
        results[0] = onnx_node(c, 0), results[1] = onnx_scalar(c, DT_f32, 1),
        results[2] = onnx_scalar(c, DT_u8, 0);
    } else {
        onnx_quantized_by_range(c, onnx_node(c, 0), results);
    }
    for (int i = 0; i < 3; i++) onnx_result(c, i, results[i]);
}

// -------------------------------------------------------------------------------- integer products
// x less its zero point (or NULL), as i32, or floats if these stayed; a vector of zero points is
// one for each row of a, each column of b.
Node *onnx_centred(OnnxCall *c, Node *x, Node *zero_point, bool rows) {
    DType type = dtype_is_float(x->type.dtype) ? x->type.dtype : DT_i32;
    x = onnx_cast(c, x, type);
    if (!zero_point || dtype_is_float(type)) return x;
    Node *z = onnx_cast(c, zero_point, type);
    const Dim *dims[] = {z->type.dim[0], dim_const(c->graph, 1)};
    if (z->type.rank == 1 && rows && z->type.dim[0] != dims[1]) z = onnx_shape_to(c, z, 2, dims);
    return ONNX_BINARY(c, OP_sub, x, z);
}

// The product of two that are centred: of floats, if either stayed that
Node *onnx_integer_sums(OnnxCall *c, Node *a, Node *b) {
    DType type = dtype_is_float(a->type.dtype) || dtype_is_float(b->type.dtype) ? DT_f32 : DT_i32;
    return ONNX_BINARY(c, OP_matmul, onnx_cast(c, a, type), onnx_cast(c, b, type));
}

static Node *centred(OnnxCall *c, int i, int zero_point, bool rows) {
    return onnx_centred(c, onnx_node(c, i), onnx_optional_node(c, zero_point), rows);
}

void onnx_matmul_integer(OnnxCall *c, int argument) {
    (void)argument;
    onnx_result(c, 0, onnx_integer_sums(c, centred(c, 0, 2, true), centred(c, 1, 3, false)));
}

static bool is_one(const Node *n) {
    return !n->type.rank || (n->type.rank == 1 && dim_is(n->type.dim[0], 1));
}

// Scores and weighted values: in a text as DequantizeLinear, MatMul, QuantizeLinear, the form in
// which attention is recognised.
static bool is_of_attention(OnnxCall *c) {
    bool scalars = true;
    for (int i = 0; i < 6; i++)
        if (i % 3) scalars = scalars && is_one(onnx_node(c, i));
    return scalars && c->import->text && onnx_node(c, 0)->type.rank > 2 &&
           onnx_node(c, 3)->op != OP_constant &&
           onnx_node(c, 3)->type.rank == onnx_node(c, 0)->type.rank;
}

static Node *in_floats(OnnxCall *c, int i) {
    Node *of[3];
    for (int j = 0; j < 3; j++) of[j] = onnx_cast(c, onnx_node(c, i + j), DT_f32);
    return ONNX_BINARY(c, OP_mul, ONNX_BINARY(c, OP_sub, of[0], of[2]), of[1]);
}

// a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point
void onnx_qlinear_matmul(OnnxCall *c, int argument) {
    (void)argument;
    onnx_check_scale(c, 6);
    if (is_of_attention(c)) {
        Node *y = ONNX_BINARY(c, OP_matmul, in_floats(c, 0), in_floats(c, 3));
        onnx_result(
            c, 0,
            onnx_quantized(c, ONNX_BINARY(c, OP_div, y, onnx_cast(c, onnx_node(c, 6), DT_f32)),
                           onnx_node(c, 7)));
        return;
    }
    Node *sums = ONNX_BINARY(c, OP_matmul, centred(c, 0, 2, true), centred(c, 3, 5, false));
    Node *in[4] = {onnx_cast(c, sums, DT_f32)};
    for (int i = 1; i < 4; i++)
        in[i] = onnx_cast(c, onnx_node(c, i == 1 ? 1 : i == 2 ? 4 : 6), DT_f32);
    onnx_result(c, 0,
                onnx_quantized(c, onnx_formula(c, in, 4, "div(mul($0, mul($1, $2)), $3)"),
                               onnx_node(c, 7)));
}
