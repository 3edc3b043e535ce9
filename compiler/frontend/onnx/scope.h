// Names, functions and bodies: scope.c. Nodes in their order: nodes.c. Checks that need no handler:
// check.c.
#ifndef BURIN_ONNX_SCOPE_H
#define BURIN_ONNX_SCOPE_H
#include "frontend/onnx/import.h"

OnnxValue *onnx_value(OnnxImport *, const char *name);  // NULL: nothing of that name yet
OnnxValue *onnx_new_value(OnnxImport *, const char *name);
bool onnx_in_function(const OnnxImport *);
int64_t onnx_scope_opset(const OnnxImport *, const char *domain);  // 0: not imported
const BurinOnnx__Function *onnx_function(
    const OnnxModel *, const BurinOnnx__Operation *);  // that the node calls, or NULL
const BurinOnnx__Attribute *onnx_resolve(const OnnxImport *, const BurinOnnx__Attribute *);

void onnx_call_function(OnnxCall *, const BurinOnnx__Function *);
// The nodes of a body in place of the call: `operands` (one an input of the body) to `results`
// (room for its outputs).
void onnx_write_out(OnnxCall *, const BurinOnnx__GraphBody *, OnnxValue *const *operands,
                    OnnxValue **results);
// The same in a scope that is there (onnx_inner_scope).
void onnx_write_in(OnnxImport *, const OnnxCall *, const BurinOnnx__GraphBody *,
                   OnnxValue *const *operands, OnnxValue **results);
const BurinOnnx__GraphBody *onnx_body(const OnnxCall *, const char *attribute);
OnnxImport onnx_inner_scope(const OnnxCall *, const char *what);

void onnx_add_initializer(OnnxImport *, const BurinOnnx__TensorData *);
void onnx_add_sparse(OnnxImport *, const BurinOnnx__SparseTensorData *);
void onnx_import_nodes(OnnxImport *, size_t n, BurinOnnx__Operation *const *);
OnnxValue *onnx_list_input(OnnxImport *, const BurinOnnx__ValueInfo *,
                           Loc);  // NULL: it is a tensor
void onnx_list_output(OnnxCall *, const OnnxValue *, const char *name);
void onnx_count_node(const OnnxCall *);
Loc onnx_node_loc(const OnnxImport *, const BurinOnnx__Operation *, size_t index);

// Versions of operator sets; then every operator that nothing implements is listed (op, domain,
// opset, first node, how often).
void onnx_check_model(const OnnxImport *);
void onnx_check_call(const OnnxCall *,
                     const OnnxOp *);  // attributes and results against the operator's row
void onnx_check_operands(OnnxCall *, const OnnxOp *);
void onnx_check_declared(
    const OnnxImport *, size_t n,
    BurinOnnx__ValueInfo *const *);  // types as found against types as declared
#endif
