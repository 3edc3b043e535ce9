// Which value of a graph a name of another framework means.
//
//   model.layers.3.self_attn.o_proj         the module's output, as PyTorch's hooks name it: the value after its own weights
//   model.layers.3.self_attn.o_proj.input   the rows that its product takes
//   model.layers.3                          a module of modules: the last value in its scope
//   model.embed_tokens#1                    the second call of a module that is called again
//   logits, /model/Add_3_output_0           an output of the graph; any value of an ONNX file
#ifndef BURIN_DEBUG_ALIGN_H
#define BURIN_DEBUG_ALIGN_H
#include "debug/recording.h"
#include "ir/eval/eval.h"

typedef struct Aligner Aligner;

// Nodes keep their data for it in `scratch`; their marks are their positions in the order.
Aligner *align_open(Arena *, const Graph *, const Recording *, EvalContext *sizes);
Node *align_find(const Aligner *,
                 const Tensor *recorded);  // NULL: no value of the graph, or of another shape

// "model.layers.3" for its members; else the name
const char *align_layer(Arena *, const char *name);
#endif
