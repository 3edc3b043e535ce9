// Bodies that stay graphs of their own, of the core's `loop` and `if`: what they name around them becomes what they take.
#ifndef BURIN_ONNX_BODY_H
#define BURIN_ONNX_BODY_H
#include "frontend/onnx/scope.h"

typedef struct OnnxBody {
    OnnxCall *outside;  // the node whose body it is
    OnnxCall call;      // inside: its handler goes on with this
    OnnxImport scope;
    Node **taken;  // of the graph around, one an input
    int n_taken, n_states;
} OnnxBody;

OnnxBody *onnx_body_new(OnnxCall *, const char *name);
Node *onnx_body_state(OnnxBody *, Node *first);  // what it is inside; all states before the first value
Node *onnx_body_value(OnnxBody *, Node *);       // likewise
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
