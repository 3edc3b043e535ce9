// Optimizers: a rate, a step, then each tensor with its gradient and state; the step of one is a
// block of dsl/onnx/training.burin.
#include "frontend/onnx/operators/compose.h"

// r, t, x.., g.., states.. -> x.., states..; the argument is how many states there are.
void onnx_optimizer(OnnxCall *c, int states) {
    int parts = 2 + states, n = (onnx_count(c) - 2) / parts;
    Node *rate = onnx_node(c, 0), *step = onnx_cast(c, onnx_node(c, 1), rate->type.dtype);
    for (int i = 0; i < n; i++) {
        OnnxArgument arguments[ONNX_MOST_OF_BLOCK] = {{0}};
        Node *results[ONNX_MOST_OF_BLOCK];
        for (int j = 0; j < parts; j++) arguments[j].node = onnx_node(c, 2 + j * n + i);
        arguments[parts].node = rate;
        arguments[parts + 1].node = step;
        int made = onnx_blocks(c, c->proto->op_type, arguments, results);
        for (int j = 0; j < made; j++) onnx_result(c, j * n + i, results[j]);
    }
}
