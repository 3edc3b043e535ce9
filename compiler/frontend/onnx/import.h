// Shared by the importer and its operators (operators/*.c).
#ifndef BURIN_ONNX_IMPORT_H
#define BURIN_ONNX_IMPORT_H
#include "frontend/onnx.h"
#include "frontend/onnx/file/model.h"
#include "ir/builder.h"

// A value of the file: a node, or integers known as dimensions (rank 0 or 1), from which a node is
// made when one is needed.
typedef struct OnnxValue {
    Node *node;
    const Dim *const *elements;  // NULL: not known
    int n;
    bool vector;                   // rank 1, not 0
    DType dtype;                   // of the elements
    bool absent;                   // an optional operand of a function that the call leaves out
    bool is_sequence, is_nothing;  // a list of values; an optional value without element
    struct OnnxValue **items;
    int n_items;
} OnnxValue;

// Names in scope: in the main graph, in a function, in a body inside a node (scope.c).
typedef struct OnnxImport {
    OnnxModel *model;
    const OnnxOptions *options;
    Graph *graph;
    Map values;                // name -> OnnxValue
    struct OnnxImport *outer;  // of a body: the outer scope
    // inputs from the outer scope, for a body with its own graph; or NULL
    struct OnnxBody *body;
    const struct OnnxCall *caller;        // of a function or body: the node
    const BurinOnnx__Function *function;  // that this is the text of, or NULL
    const char *path;  // of the node, before the names of nodes; NULL in the main graph
    int depth;
    int64_t *n_nodes;             // imported so far, everywhere
    Map *known;                   // values of nodes that constant_values.c computed
    const struct OnnxText *text;  // onnx_load_text, else NULL
    Map in_floats;   // of a text: results of DynamicQuantizeLinear here that stay floats (nodes.c)
    OnnxSaid *said;  // keeps notes and warnings; NULL: they are printed at once
} OnnxImport;

#define ONNX_MAX_ELEMENTS (INT64_C(1) << 48)  // of one value
enum {
    ONNX_MAX_RESULTS = 64,
    ONNX_MAX_KNOWN = 1024
};  // results of a node; integers that are known one by one

// import.c, for text.c
void onnx_import_values(OnnxImport *);  // initializers, inputs, nodes
Node *onnx_output_node(OnnxImport *, const BurinOnnx__ValueInfo *);
Module *onnx_module(OnnxImport *, Arena *, const char *path);
Type onnx_input_type(OnnxImport *, const BurinOnnx__ValueInfo *);
bool onnx_is_initializer(const OnnxModel *, const char *name);
const char *onnx_dim_name(Arena *, const BurinOnnx__ValueInfo *,
                          size_t axis);  // NULL: it is a number
// What --dim or --max say of a name, or NULL; it counts as used.
const OnnxDim *onnx_find_dim(const OnnxOptions *, const char *name);

// text.c: the value that an input has for one text.
// default value of an input in a program of tensors
void onnx_set_role(const OnnxOptions *, Node *input);
void onnx_text_by_rows(const struct OnnxText *);  // a value is quantized by the range of each token
void onnx_text_in_floats(const struct OnnxText *);  // a product of two values that are quantized as
                                                    // they come stays one of floats
bool onnx_stays_float(const OnnxImport *, const char *name);
Node *onnx_text_input(OnnxImport *, const BurinOnnx__ValueInfo *, Type, Loc);

// One node being imported.
typedef struct OnnxCall {
    OnnxImport *import;
    Graph *graph;
    const BurinOnnx__Operation *proto;
    Loc loc;
    int64_t opset;  // of its domain
    OnnxValue *results[ONNX_MAX_RESULTS];
} OnnxCall;

// Sets results; ends the run (onnx_fatal) when the node is wrong.
typedef void OnnxHandler(OnnxCall *, int argument);

typedef struct OnnxOp {
    const char *name, *domain;
    int min_in, max_in;
    int64_t since;  // first opset that has it
    int results;    // at most; -1: any number
    OnnxHandler *handler;
    int argument;            // for the handler: an Op, mostly
    const char *attributes;  // "axis:i! mode:s": name, kinds, ! when required
    const char *ranks;  // "0-2:3-4 4:?": operands and the numbers of dimensions they may have, or
                        // that one may be absent
} OnnxOp;
const OnnxOp *onnx_op_find(const BurinOnnx__Operation *);
bool onnx_is_operator(const BurinOnnx__Operation *, const char *domain,
                      const char *name);  // check.c

_Noreturn void onnx_fatal(const OnnxCall *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Operands. An operand that is left out (or named "") is NULL.
int onnx_count(const OnnxCall *);
OnnxValue *onnx_operand(OnnxCall *, int i);
Node *onnx_node(OnnxCall *, int i);            // a node for it
Node *onnx_optional_node(OnnxCall *c, int i);  // NULL when it is left out
Node *onnx_value_node(OnnxCall *, OnnxValue *);
OnnxValue *onnx_value_of(Node *);  // that is the node
Type onnx_type(OnnxCall *, int i);
bool onnx_elements(OnnxCall *, int i, const Dim *const **elements,
                   int *n);  // known integers: constants and dimensions
bool onnx_find_elements(OnnxCall *, int i, const Dim *const **elements, int *n);
const Dim *const *onnx_need_elements(OnnxCall *, int i, int *n, const char *what);
int64_t onnx_need_int(OnnxCall *, int i, const char *what);

// constant_values.c: an operand's value when constants and fixed inputs lead to it, else NULL.
const Tensor *onnx_known(OnnxCall *, int i);
const Tensor *onnx_value_known(OnnxCall *, const OnnxValue *);
double onnx_need_float(OnnxCall *, int i, const char *what);

// infer_fixed_sizes.c: sizes that constants decide.
void onnx_infer_fixed_sizes(OnnxCall *,
                            const Node *);  // where the node's operands fit for certain sizes only
void onnx_check_broadcast(const OnnxCall *,
                          const Node *);  // they do not: is there a size to choose?
void onnx_infer_fixed_size(OnnxCall *, const Dim *,
                           int64_t value);  // the symbol must have this value
void onnx_infer_equal_sizes(OnnxCall *, const Dim *,
                            const Dim *);  // which an operator takes for equal
void onnx_infer_broadcast_sizes(OnnxCall *, const Type *,
                                const Type *);  // where the two broadcast for certain sizes only
void onnx_note(const OnnxCall *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void onnx_warning(const OnnxCall *, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The symbol is `size` from now on, everywhere; itself where it has other bounds. The type of
// `except` is yet to come.
void onnx_fix_size(OnnxCall *, const Node *except, const Dim *symbol, const Dim *size);
// unify_sizes.c: makes two sizes equal if one symbol can do that in one way alone: as another name,
// a sum, a number, a bound.
bool onnx_unify_sizes(OnnxCall *, const Node *, const Dim *, const Dim *);
// Bounds the only symbol of a size so that the size is 1; false where no value or several ranges
// do.
bool onnx_make_one(OnnxCall *, const Node *except, const Dim *);
// A sum of symbols is at most `room`: each whose bound no option names gets a share.
void onnx_share_room(OnnxCall *, const Node *except, const Dim *const *symbols, int n, int64_t room,
                     const char *where);
bool onnx_is_main_graph(const OnnxCall *);                // not a body, not a function
bool onnx_is_batch(const OnnxCall *, const Dim *symbol);  // does it count sequences?
const char *onnx_trace_hint(const OnnxCall *, const Type *,
                            const Type *);  // the --dim with which both broadcast, or ""

// Attributes.
int64_t onnx_int(const OnnxCall *, const char *name, int64_t absent);
double onnx_float(const OnnxCall *, const char *name, double absent);
const char *onnx_string(const OnnxCall *, const char *name, const char *absent);
const int64_t *onnx_ints(const OnnxCall *, const char *name, int *n);  // NULL when absent
const double *onnx_floats(const OnnxCall *, const char *name, int *n);
const BurinOnnx__Attribute *onnx_attribute(const OnnxCall *, const char *name);

// Results.
void onnx_result(OnnxCall *, int i, Node *);
void onnx_result_value(OnnxCall *, int i, OnnxValue *);
void onnx_result_elements(OnnxCall *, int i, const Dim *const *elements, int n, bool vector, DType);
Builder onnx_builder(OnnxCall *);  // at the end, at the node of the file
Node *onnx_emit(OnnxCall *, Op, int n,
                Node *const *in);  // a node with its type; the run ends when it does not fit
Node *onnx_emit_make(OnnxCall *, Op, int n,
                     Node *const *in);  // attributes follow, then onnx_finish
Node *onnx_finish(OnnxCall *, Node *);
Node *onnx_scalar(OnnxCall *, DType, double);
Node *onnx_reshape(OnnxCall *, Node *, const Type *shape);
Node *onnx_cast(OnnxCall *, Node *, DType);
Node *onnx_constant(OnnxCall *, const Tensor *);
int onnx_axis(const OnnxCall *, int64_t axis,
              int rank);  // counted from the end when negative; checked

#define ONNX_UNARY(c, op, x)     onnx_emit(c, op, 1, (Node *[]){x})
#define ONNX_BINARY(c, op, a, b) onnx_emit(c, op, 2, (Node *[]){a, b})
#endif
