// An opened ONNX file: its messages unpacked, its tensors in place (in the file, or in external
// data next to it).
#ifndef BURIN_ONNX_MODEL_H
#define BURIN_ONNX_MODEL_H
#include "frontend/onnx/file/wire.h"
#include "ir.h"

typedef struct OnnxModel {
    Arena *arena;
    const MappedFile *file;
    const char *folder;  // external data stays inside it
    const BurinOnnx__ModelFile *proto;
    Map external;                 // path -> MappedFile: opened once
    struct Elaborator *formulas;  // dsl/onnx, once an operator needs it (described.c)
    Map *readers;  // who reads each value of the main graph, once that is asked for (blocks.c)
    bool has_lost_scale;  // onnx_check_scale returned it
    bool float_rows;      // a matrix is in blocks whose operator multiplies floats
} OnnxModel;

// Ends the run with one message when the file is damaged, of a version that is not ONNX's, or
// without a graph.
OnnxModel *onnx_open(Arena *, const char *path);

// "" for ai.onnx, which files leave out, leave empty or spell.
const char *onnx_domain(const char *written);

// The version of a domain's operator set ("" is ai.onnx), or 0 when the model does not import it.
int64_t onnx_opset(const OnnxModel *, const char *domain);

// Element type of TensorData.data_type (ONNX's numbers); false for an unsupported type.
bool onnx_dtype(int32_t data_type, DType *);

// The data of a tensor, checked against its shape: raw, typed or external; of ir_version 3 on.
// Strings: an array of char *.
const Tensor *onnx_tensor(OnnxModel *, const BurinOnnx__TensorData *);
const Tensor *onnx_dense(OnnxModel *,
                         const BurinOnnx__SparseTensorData *);  // a sparse tensor, written out

const char *onnx_external_value(const BurinOnnx__TensorData *,
                                const char *key);   // NULL: nothing of that name
bool onnx_path_stays_inside(const char *location);  // relative, and never above the model's folder
#endif
