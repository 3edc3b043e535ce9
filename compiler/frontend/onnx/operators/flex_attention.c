// FlexAttention (ai.onnx.preview): attention whose scores and probabilities pass through bodies of
// the model's own.
#include <math.h>

#include "frontend/onnx/operators/compose.h"
#include "frontend/onnx/scope.h"

// x through the body of an attribute, or as it is.
static Node *modified(OnnxCall *c, const char *attribute, Node *x) {
    if (!onnx_attribute(c, attribute)) return x;
    const BurinOnnx__GraphBody *g = onnx_body(c, attribute);
    OnnxValue given = {.node = x}, *in[] = {&given}, *out[1];
    if (g->n_input != 1 || g->n_output != 1)
        onnx_fatal(c, "%s takes %zu values and gives %zu, expected one each", attribute, g->n_input,
                   g->n_output);
    onnx_write_out(c, g, in, out);
    Node *y = onnx_value_node(c, out[0]);
    if (!type_equal(&y->type, &x->type))
        onnx_fatal(c, "%s makes %s of %s, expected the same type", attribute, type_text(&y->type),
                   type_text(&x->type));
    return y;
}

// softmax(score_mod(q k^T scale)), prob_mod, times v; every key head serves a group of query heads.
void onnx_flex_attention(OnnxCall *c, int argument) {
    (void)argument;
    Node *q = onnx_node(c, 0), *k = onnx_node(c, 1), *v = onnx_node(c, 2);
    DType narrow = q->type.dtype, wide = narrow == DT_f64 ? DT_f64 : DT_f32;
    int64_t precision = onnx_int(c, "softmax_precision", 0);
    if (precision && !onnx_dtype((int32_t)precision, &wide))
        onnx_fatal(c, "softmax_precision is %lld, expected an element type", (long long)precision);
    int64_t heads = onnx_extent(c, q, 1), groups = onnx_extent(c, k, 1);
    if (groups < 1 || heads % groups)
        onnx_fatal(c, "%lld heads over %lld key heads, expected a multiple", (long long)heads,
                   (long long)groups);
    k = onnx_repeat_heads(c, onnx_cast(c, k, wide), heads / groups);
    v = onnx_repeat_heads(c, onnx_cast(c, v, wide), heads / groups);
    double scale = onnx_float(c, "scale", 0);
    if (scale == 0) scale = 1 / sqrt((double)onnx_extent(c, q, 3));
    Node *made[ONNX_MOST_OF_BLOCK];
    onnx_scores(c, onnx_cast(c, q, wide), k, scale, 0, made);
    Node *scores = modified(c, "score_mod", made[1]);
    Node *p = modified(c, "prob_mod", onnx_softmax_axis(c, scores, 3));
    onnx_result(c, 0, onnx_cast(c, ONNX_BINARY(c, OP_matmul, p, v), narrow));
}
