// Operators of the domain ai.onnx.ml.

#include "frontend/onnx/operators/compose.h"

// Columns of x
void onnx_array_feature_extractor(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0), *index = onnx_node(c, 1);
    const Dim *count = type_count(c->graph, &index->type);
    Node *y = onnx_take(c, x, onnx_shape_to(c, index, 1, &count), x->type.rank - 1);
    const Dim *dims[] = {dim_const(c->graph, 1), count};
    onnx_result(c, 0, x->type.rank == 1 ? onnx_shape_to(c, y, 2, dims) : y);
}

void onnx_binarizer(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    onnx_result(c, 0,
                ONNX_FORMULA(c, x, "where(greater($0, %a), 1, 0)", onnx_float(c, "threshold", 0)));
}
