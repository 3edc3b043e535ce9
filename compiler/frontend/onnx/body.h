// Bodies of the core's `loop` and `if`, which stay graphs of their own: the outer values they name
// become their inputs.
#ifndef BURIN_ONNX_BODY_H
#define BURIN_ONNX_BODY_H
#include "frontend/onnx/scope.h"

typedef struct OnnxBody {
    OnnxCall *outside;  // the node whose body it is
    OnnxCall call;      // inner value: the body's handler continues with it
    OnnxImport scope;
    Node **taken;  // of the graph around, one an input
    int n_taken, n_states;
} OnnxBody;

OnnxBody *onnx_body_new(OnnxCall *, const char *name);
// its value inside; all states before the first value
Node *onnx_body_state(OnnxBody *, Node *first);
Node *onnx_body_value(OnnxBody *, Node *);  // the same for outputs
OnnxValue *onnx_body_take(OnnxBody *, const OnnxValue *);

typedef struct OnnxLoop {
    const Dim *counter, *extent, *length;
    Node *most, *condition;  // or NULL
} OnnxLoop;
// A symbol of its own that counts to `extent`.
const Dim *onnx_counter(OnnxCall *, const Dim *extent);
// The loop around it, whose outputs were added to its graph; results are items.
Node *onnx_body_loop(OnnxBody *, const OnnxLoop *);
Node *onnx_body_if(OnnxBody *then, OnnxBody *otherwise, Node *condition);
#endif
