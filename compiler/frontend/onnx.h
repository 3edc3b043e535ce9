// ONNX models to graphs: onnx/file/wire.c reads the file, onnx/file/model.c its tensors,
// onnx/import.c its graph, onnx/operators/*.c its operators.
//
// Integer chains that compute shapes are evaluated while importing: a value whose elements are
// dimensions (Shape, Gather, Concat, Range bounds, ...) never becomes a node unless something else
// than a shape uses it.
#ifndef BURIN_ONNX_H
#define BURIN_ONNX_H
#include "ir.h"

typedef struct OnnxDim {
    const char *name;      // of a dim_param, or of one of the symbols in its expression
    int64_t lower, upper;  // equal: the value is fixed (--dim), else bounds (--max)
    bool *used;            // becomes true when a dimension has this name; or NULL
} OnnxDim;

// An input that is known at compile time where a shape depends on it.
typedef struct OnnxFixed {
    const char *name;
    const Tensor *value;
} OnnxFixed;

// The meaning of an input for a text program, or its value (--bind). By default read from the
// exporters' names.
typedef struct OnnxBind {
    const char *name;
    InputRole role;
    bool is_number;  // the input has this value in all its elements, and is no input of the program
    double value;
} OnnxBind;

typedef struct OnnxOptions {
    const char *library;  // the dsl/ folder, whose onnx/ has formulas of operators; NULL: "dsl"
    const OnnxDim *dims;
    int n_dims;
    const OnnxFixed *fixed;
    int n_fixed;
    const OnnxBind *binds;
    int n_binds;
} OnnxOptions;

enum { ONNX_DEFAULT_BOUND = 4096 };  // of a named dimension that no option mentions

// One Graph, its inputs and outputs named as in the file. Ends the run with one message when the
// file cannot be used; every unknown operator is listed (op, domain, opset, first node, how often).
Module *onnx_load(Arena *, const char *path, const OnnxOptions *);

// Messages of an import, kept until its graph is known to be used. Begin with the arena alone.
typedef struct OnnxSaid {
    Arena *arena;
    Text binding;                    // bindings, one on each line
    struct OnnxNote *first, **next;  // notes and warnings
} OnnxSaid;

void onnx_tell(const OnnxSaid *);  // prints notes and warnings

// The same as one text of T tokens: %tokens: i32[T] in, logits [T, vocabulary] out, and every other
// input has its value for a text without padding (ones as mask, 0, 1, ... as positions, an empty
// cache). NULL when the inputs are not those of a text, or no output is logits. `said` NULL: notes
// and warnings are printed at once.
Module *onnx_load_text(Arena *, const char *path, const OnnxOptions *, OnnxSaid *said);

// The same of an encoder: %input_ids: i32[T] and, where the file has them, token types in, each
// result without the axis of the batch out, under its name.
Module *onnx_load_lists(Arena *, const char *path, const OnnxOptions *, OnnxSaid *said);

// An encoder and a decoder of one export, in any order, as one module of two graphs; a decoder with
// past is not needed beside them.
Module *onnx_load_files(Arena *, const char *const *paths, int n, const OnnxOptions *,
                        OnnxSaid *said);

// The files beside a model that hold tensors of it, each once, whether they can be read or not.
const char *const *onnx_external_files(Arena *, const char *path, int *n);
const char *const *onnx_input_names(Arena *, const char *path, size_t *n);
#endif
