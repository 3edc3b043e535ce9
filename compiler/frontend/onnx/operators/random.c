// Random operators: formulas over the core's `random`, which draws from [0, 1). Each node has a
// stream of its own, or that of the seed it names.
#include <string.h>

#include "frontend/onnx/operators/compose.h"

static Node *draw(OnnxCall *c, const Type *shape, int which) {
    double seed = onnx_float(c, "seed", 0);
    uint64_t stream = (uint64_t)*c->import->n_nodes;
    if (onnx_attribute(c, "seed")) memcpy(&stream, &seed, sizeof stream);
    Node *n = onnx_emit_make(c, OP_random, 0, NULL);
    attr_set_dims(n, "dims", shape->dim, shape->rank);
    attr_set_int(n, "stream", (int64_t)(stream * 2 + (uint64_t)which));
    return onnx_finish(c, n);
}

// The shape of the attribute, or of operand 0; the type of the attribute, or of operand 0.
static Type random_type(OnnxCall *c, DType absent) {
    int rank;
    const int64_t *shape = onnx_ints(c, "shape", &rank);
    Type type = shape ? (Type){.dtype = absent, .rank = rank} : onnx_type(c, 0);
    if (rank > MAX_RANK) onnx_fatal(c, "the result has more than %d axes", MAX_RANK);
    for (int i = 0; shape && i < rank; i++) {
        if (shape[i] < 0)
            onnx_fatal(c, "a dimension of its shape is %lld, expected 0 or more",
                       (long long)shape[i]);
        type.dim[i] = dim_const(c->graph, shape[i]);
    }
    if (!shape && absent != DT_tuple) type.dtype = absent;
    if (onnx_attribute(c, "dtype") && !onnx_dtype((int32_t)onnx_int(c, "dtype", 1), &type.dtype))
        onnx_fatal(c, "dtype is %lld, which is no element type that is supported",
                   (long long)onnx_int(c, "dtype", 1));
    return type;
}

// like: the type of operand 0 unless dtype is set
void onnx_random_uniform(OnnxCall *c, int like) {
    Type type = random_type(c, like ? DT_tuple : DT_f32);
    Node *unit = draw(c, &type, 0);
    double low = onnx_float(c, "low", 0), high = onnx_float(c, "high", 1);
    onnx_result(
        c, 0,
        onnx_cast(c, ONNX_FORMULA(c, unit, "add(mul($0, %a), %a)", high - low, low), type.dtype));
}

// Two draws make one of a normal distribution.
void onnx_random_normal(OnnxCall *c, int like) {
    Type type = random_type(c, like ? DT_tuple : DT_f32);
    Node *in[] = {draw(c, &type, 0), draw(c, &type, 1)};
    Node *normal = onnx_formula(
        c, in, 2, "add(mul(mul(sqrt(mul(%a, log(sub(1, $0)))), cos(mul($1, %a))), %a), %a)", -2.0,
        2 * 3.14159265358979323846, onnx_float(c, "scale", 1), onnx_float(c, "mean", 0));
    onnx_result(c, 0, onnx_cast(c, normal, type.dtype));
}

void onnx_bernoulli(OnnxCall *c, int argument) {
    (void)argument;
    Type type = random_type(c, DT_tuple);
    Node *in[] = {draw(c, &type, 0), onnx_cast(c, onnx_node(c, 0), DT_f32)};
    onnx_result(c, 0, onnx_cast(c, onnx_formula(c, in, 2, "less($0, $1)"), type.dtype));
}

// [B, classes] of log probabilities to [B, samples]: how many sums of probabilities are at most the
// draw.
void onnx_multinomial(OnnxCall *c, int argument) {
    (void)argument;
    Type type = random_type(c, DT_i32);
    Graph *g = c->graph;
    int64_t samples = onnx_int(c, "sample_size", 1);
    if (type.rank != 2 || samples < 1)
        onnx_fatal(c, "takes [B, classes] and a sample_size above 0, not %s and %lld",
                   type_text(&type), (long long)samples);
    const Dim *classes = type.dim[1], *one = dim_const(g, 1);
    type.dim[1] = dim_const(g, samples);
    Node *p = onnx_softmax_axis(c, onnx_cast(c, onnx_node(c, 0), DT_f32), 1),
         *sums = onnx_emit_make(c, OP_cum_sum, 1, &p);
    attr_set_int(sums, "axis", 1);
    sums = onnx_shape_to(c, onnx_finish(c, sums), 3, (const Dim *[]){type.dim[0], one, classes});
    Node *unit =
        onnx_shape_to(c, draw(c, &type, 0), 3, (const Dim *[]){type.dim[0], type.dim[1], one});
    Node *below = onnx_cast(c, ONNX_BINARY(c, OP_less_or_equal, sums, unit), DT_i32);
    Node *chosen = onnx_reduce_axis(c, OP_reduce_sum, below, 2, false);
    Node *last = onnx_number_of(c, dim_sub(g, classes, one),
                                DT_i32);  // rounding may leave the sum below one
    onnx_result(c, 0, onnx_cast(c, ONNX_BINARY(c, OP_min, chosen, last), type.dtype));
}

// In training elements drawn below the ratio are dropped, the rest scaled.
void onnx_dropout(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    bool training = onnx_operand(c, 2) && onnx_need_int(c, 2, "training_mode");
    double ratio = onnx_operand(c, 1) ? onnx_need_float(c, 1, "the ratio") : 0.5;
    DType mask = c->opset < 10 ? x->type.dtype : DT_bool;
    Type all = x->type;
    all.dtype = mask;
    Node *kept = NULL;
    if (training && ratio != 0) {
        Node *unit = draw(c, &x->type, 0);
        kept = onnx_formula(c, &unit, 1, "greater_or_equal($0, %a)", ratio);
        Node *scaled = ONNX_FORMULA(c, x, "mul($0, %a)", ratio < 1 ? 1 / (1 - ratio) : 0);
        onnx_result(
            c, 0,
            onnx_emit(c, OP_where, 3, (Node *[]){kept, scaled, onnx_scalar(c, x->type.dtype, 0)}));
    } else {
        onnx_result(c, 0, x);
    }
    if (c->proto->n_output < 2) return;
    onnx_result(c, 1,
                kept ? onnx_cast(c, kept, mask) : onnx_expand_to(c, onnx_scalar(c, mask, 1), &all));
}
