// The graph IR: every type, then prototypes grouped by the file that owns them.
//
//   Module   one compilation: one or more graphs (decode; encode), the tokenizer, the configuration
//   Graph    a list of nodes in topological order, its inputs and outputs; owns an arena
//   Node     one operation, and its one result value. An op with several results is a tuple node (DT_TUPLE) and `item` nodes.
//   Type     element type and dimensions; a dimension is an expression over bounded symbols
//   Attr     a named constant of a node
//   Expr     a scalar formula over a node's operands: what an `elementwise` node computes, or the epilogue of a matmul
//   Tensor   constant data: most often a slice of a mapped checkpoint, never copied
//
// Text form (print.c, parse.c), one node a line; print(parse(print(g))) == print(g):
//
//   graph decode(%tokens: i32[T]) -> (%logits) where T <= 512 {
//     %embed = constant {name="model.embed_tokens.weight", hash=0x51c0...} : bf16[2048, 192]
//     %x = gather(%embed, %tokens) {axis=0} : bf16[T, 192] @llama.burin:30:7 "model"
//   }
#ifndef BURIN_IR_H
#define BURIN_IR_H
#include <stdbool.h>
#include <stdint.h>

#include "engine/limits.h"
#include "util/arena.h"
#include "util/diag.h"
#include "util/map.h"
#include "util/text.h"

typedef struct Graph Graph;
typedef struct Node Node;
struct ConstantFile;  // ir/dump.h

// -------------------------------------------------------------------------------------- dimensions
// Immutable and hash-consed in their graph, in a canonical form: equal expressions are equal
// pointers.
typedef enum {
    DIM_CONST,
    DIM_SYMBOL,
    DIM_ADD,
    DIM_MUL,
    DIM_FLOORDIV,
    DIM_MOD,
    DIM_MIN,
    DIM_MAX
} DimKind;

typedef struct Dim {
    DimKind kind;
    int64_t value;     // DIM_CONST: the value; DIM_SYMBOL: the upper bound (inclusive)
    int64_t lower;     // DIM_SYMBOL: the lower bound (inclusive)
    const char *name;  // DIM_SYMBOL
    // all other dims. Sums and products are right-leaning chains in a fixed order, constants last
    const struct Dim *a, *b;
    uint32_t id;  // order of creation: gives the fixed order
} Dim;

// ------------------------------------------------------------------------------------------- types
// Name and bits. q8_rows: activations in blocks of 32 along the last axis
// (runtime/kernels/quantize.h); i8_rows: blocks of integers. tuple: several results; see Node. Then
// the block formats of weights (format_rows.h), with blocks along the last axis: bits 0.
// clang-format off
#define DTYPES(X)                                                                           \
    X(f32, 32) X(f16, 16) X(bf16, 16) X(f64, 64)                                            \
    X(i8, 8) X(i16, 16) X(i32, 32) X(i64, 64) X(u8, 8) X(u16, 16) X(u32, 32) X(u64, 64)     \
    X(bool, 8) X(i4, 4) X(u4, 4) X(i2, 2) X(u2, 2)                                          \
    X(f8e4m3fn, 8) X(f8e4m3fnuz, 8) X(f8e5m2, 8) X(f8e5m2fnuz, 8) X(f8e8m0, 8) X(f4e2m1, 4) \
    X(string, 64) X(q8_rows, 0) X(i8_rows, 0) X(tuple, 0)
// clang-format on
typedef enum {
#define X(name, bits) DT_##name,
    DTYPES(X)
#undef X
#define FORMAT(name, ...) DT_##name,
#include "kernels/format_rows.h"
#undef FORMAT
        DT_COUNT
} DType;

enum { MAX_RANK = 8 };

typedef struct Type {
    DType dtype;
    int rank;
    const Dim *dim[MAX_RANK];
} Type;

// Constant data, row-major, little-endian. `data` may point into a mapped file: read it, never
// write it. A quantized matrix also has the importance of each of its n input columns, 1 without
// calibration (debug/calibrate.h)
typedef struct Importance {
    int64_t n;
    const float *column;
} Importance;

typedef struct Tensor {
    DType dtype;
    int rank;
    int64_t dim[MAX_RANK];
    const void *data;
    uint64_t bytes;
    const char *name;      // of the checkpoint, or NULL
    const Source *source;  // the file it came from, or NULL
    // a checkpoint's matrix is transposed in Hugging Face's layout, since blocks run along an axis
    bool swapped;
    const int32_t *order;  // of a checkpoint: column k is column order[k] of the matrix in Hugging
                           // Face's words; NULL: k
    const float *factors;  // a checkpoint's column k is factors[k] times this; NULL: 1
    const Importance *importance;  // or NULL
} Tensor;

// --------------------------------------------------------------------------------------------- ops
typedef enum {
#define OP(name, ...) OP_##name,
#include "ops.def"
#undef OP
    OP_COUNT
} Op;

// How an op treats its row axis (axis 0 of every operand that has one): what `incremental` reasons
// with.
typedef enum {
    ROWS_LEAF,   // no operands
    ROWS_EACH,   // elementwise with broadcasting: row r of the result needs row r of the operands
    ROWS_INNER,  // row r needs row r, provided that the op's axes are not axis 0 (reductions,
                 // softmax, norms, concat)
    ROWS_FIRST,  // row r needs row r of operand 0, and all other operands whole (matmul by weights)
    ROWS_INDEX,  // row r of the result is chosen by row r of operand 1 (gather on axis 0)
    ROWS_VIEW,   // an index map: a function decides where rows go (reshape, transpose, slice,
                 // expand)
    ROWS_STATE,  // reads or updates per-slot state
    ROWS_MIX,    // anything else: a row may need every row
} RowBehaviour;

typedef struct EvalContext EvalContext;

typedef struct OpInfo {
    const char *name;
    const char *operands;  // their names: op_operand, op_least and op_most read them. Optional
                           // operands may be NULL
    RowBehaviour rows;
    const char *attrs;  // names and kinds of its attributes: op_attr reads them
    bool (*infer)(Graph *, Node *,
                  Type *result);          // sets the type; false after diag_error (never fatal)
    void (*eval)(EvalContext *, Node *);  // reference semantics (ir/eval/eval.h)
    const char *scalar;                   // elementwise ops: name of the function in the vocabulary
                                          // (runtime/kernels/vec.h: vf_NAME), else NULL
    const char *help;
} OpInfo;

extern const OpInfo op_info[OP_COUNT];

// A scalar formula. Text form: mul(silu($0), $1), add($0, 0x1p-3).  $i is operand i; constants are
// printed as hex floats.
typedef enum { EXPR_ARG, EXPR_CONST, EXPR_OP } ExprKind;
typedef struct Expr {
    ExprKind kind;
    Op op;         // EXPR_OP: an elementwise op
    int arg;       // EXPR_ARG
    double value;  // EXPR_CONST
    int n;
    const struct Expr *in[3];
} Expr;

typedef enum {
    ATTR_INT,
    ATTR_FLOAT,
    ATTR_STRING,
    ATTR_INTS,
    ATTR_FLOATS,
    ATTR_STRINGS,
    ATTR_DIMS,
    ATTR_EXPR,
    ATTR_TENSOR,
    ATTR_GRAPH,
    ATTR_DTYPE
} AttrKind;
// One attribute in the table of ops.
typedef struct OpAttr {
    const char *name;  // `length` bytes
    int length;
    AttrKind kind;
    const char *kind_name;  // as in ops.def
    bool required, one;     // one: a list of one dimension
} OpAttr;

typedef struct Attr {
    struct Attr *next;  // in alphabetical order of the name
    const char *name;
    AttrKind kind;
    int n;  // of ints, floats, strings, dims
    union {
        int64_t i;
        double f;
        const char *s;
        const int64_t *ints;
        const double *floats;
        const char *const *strings;
        const Dim *const *dims;
        const Expr *expr;
        const Tensor *tensor;
        Graph *graph;
        DType dtype;
    };
} Attr;

struct Node {
    Op op;
    Type type;          // of its one result. A tuple's results have theirs in `items`
    const Type *items;  // DT_TUPLE: the types of its results
    int n_items;
    Node **in;
    int n_in;
    Attr *attrs;
    Loc loc;
    const char *name;  // of the value in text: unique in its graph, without %
    const Tensor
        *value;  // OP_constant: its data; NULL when a dump was read without its file of constants
    const Tensor *hashed;  // what `hash` belongs to
    uint64_t hash;         // see constant_hash
    Graph *graph;
    Node *prev, *next;  // in topological order
    Node **users;       // one entry for each operand that names it; kept by graph.c
    int n_users;
    int mark;       // free for a pass to use; no meaning between passes
    void *scratch;  // the same for a list
};

struct Graph {
    Arena *arena;
    const char *name;
    Node *first, *last;
    Node **inputs;  // OP_input nodes, in order
    int n_inputs;
    Node **outputs;
    const char **output_names;
    int n_outputs;
    struct DimTable *dims;
    Map names;     // name -> Node
    Map suffixes;  // name -> the last number given to it
    Graph *outer;  // of a nested graph (loop, if): its values may be used inside
};

// The meaning of an input for the program: the attribute "role", a string ("tokens"). Without it:
// an ordinary tensor.
typedef enum {
    INPUT_TENSOR,
    INPUT_TOKENS,
    INPUT_POSITIONS,
    INPUT_SLOTS,
    INPUT_LOGIT_ROWS,
    INPUT_MASK,
    INPUT_TYPES,
    INPUT_SOURCE_LAST,
    INPUT_CACHE,
    INPUT_EMBEDDINGS,
    INPUT_EMBEDDED,
    INPUT_LAST_SEEN,
    INPUT_AXES
} InputRole;  // memory: of a row, the last position of what its slot's encoder has left;
              // embeddings: of a row, its vector in place of a token's, where embedded is not 0;
              // last_seen: of a row, the last position that it attends to, its own or a later one;
              // axes: of a row, the three positions that its rotary embedding takes

// The name of a decoder's second result: the states of its rows, which a head that guesses tokens
// reads (INPUT_EMBEDDINGS without INPUT_EMBEDDED: each row has a vector beside its token).
#define OUTPUT_ROW_STATES "row_states"
bool output_is_row_states(const Graph *, int output);
// Columns of that result, or of the vectors; 0: the graph has neither.
int64_t graph_row_states(const Graph *);
int64_t graph_row_vectors(const Graph *);

// A field of a description's record; text NULL: it is a number, or a list of numbers.
typedef struct Setting {
    const char *name, *text;
    int64_t number;
    const int64_t *list;  // [n_list]; NULL: none
    int n_list;
} Setting;

typedef struct Module {
    Arena *arena;
    const char *name;  // of the program: [a-z0-9_]+
    Graph **graphs;
    int n_graphs;
    const char *description;           // path of the .burin file or model
    int64_t context;                   // the model's own maximum of positions, 0 when it has none
    struct Tokenizer *tokenizer;       // or NULL
    int32_t bos, eos[BURIN_MOST_EOS];  // -1 when absent
    int n_eos;
    // As transformers' generate() takes it from generation_config.json; start, max_length: of an
    // encoder-decoder
    int32_t *start;  // the tokens a decoder begins with: decoder_start_token_id and those that are
                     // forced after it
    int32_t *suppress, *begin_suppress;  // never generated; not as the first
    // no_repeat_ngram_size: n-grams of this length occur once; 0: off
    int32_t forced_end[1], no_repeat;
    int32_t encoder_no_repeat;  // the same for n-grams of the source
    int32_t *bad_words;         // forbidden sequences, each after its length
    // minimum length in tokens: of the whole text, and of the generated part
    int32_t min_length, min_new_tokens;
    double repetition_penalty;  // divisor of logits of tokens in the text; 0: none
    int n_forced_end, n_start, n_suppress, n_begin_suppress, n_bad_words;
    const struct burin_speech *speech;  // recordings to text (sound/speech.h); NULL: takes none
    const struct burin_eyes *eyes;      // pictures in prompts (engine/picture.h); NULL: takes none
    const Setting *settings;            // [n_settings] of the description's record "placement"
    int n_settings;
    int64_t max_length;  // generated tokens, the first tokens included; 0: not set
    // the file's operators multiply floats by weights in blocks; so do products, unless
    // --activations is given
    bool float_rows;
} Module;

// ------------------------------------------------------------- ir/dim.c, ir/dim_text.c: dimensions
const Dim *dim_const(Graph *, int64_t);
const Dim *dim_symbol(Graph *, const char *name, int64_t lower,
                      int64_t upper);                         // the same name gives the same symbol
const Dim *dim_find_symbol(const Graph *, const char *name);  // or NULL
void dim_raise(
    const Dim *,
    int64_t lower);  // it must be at least this: the symbol that it depends on gets a bound
void dim_tighten(
    const Dim *,
    int64_t upper);  // it turned out to be at most this: a symbol (plus a constant) gets the bound
const Dim *dim_binary(Graph *, DimKind, const Dim *,
                      const Dim *);  // canonical; floor division, sign of the divisor
// By itself: everything is made again, in the form that its bounds now allow.
const Dim *dim_substitute(Graph *, const Dim *, const Dim *symbol, const Dim *by);
bool dim_is_line(Graph *, const Dim *, const Dim *symbol, int64_t *factor,
                 int64_t *offset);  // factor * symbol + offset
const Dim *dim_import(Graph *, const Dim *of_another_graph);
const Dim *dim_sub(Graph *, const Dim *, const Dim *);
bool dim_is_const(const Dim *, int64_t *value);  // value may be NULL
bool dim_is(const Dim *, int64_t value);         // that constant
int64_t dim_upper(const Dim *);                  // bounds over all values of its symbols
int64_t dim_lower(const Dim *);
bool dim_has_symbol(const Dim *, const Dim *symbol);
bool dim_divides(Graph *, const Dim *by, const Dim *d);  // provably a multiple
int64_t dim_eval(const Dim *, int64_t (*value_of)(const Dim *symbol, void *user), void *user);
void dim_print(Text *, const Dim *);  // T, 2 * T + 1, (T - 1) // 2, min(T, 8), T % 4
const Dim *dim_parse(Graph *, const char *text,
                     const char **end);  // NULL on a syntax error; unknown symbols too

// -------------------------------------------------------------------------------- ir/type.c: types
int dtype_bits(DType);
const char *dtype_name(DType);
bool dtype_parse(const char *name, DType *);
bool dtype_is_float(DType);
bool dtype_is_rows(DType);  // rows of a product in blocks of int8: q8_rows, i8_rows
int64_t dtype_limit(DType,
                    bool largest);  // the least or largest of an integer type that computes as i64
Type type_of(DType, int rank, const Dim *const *);
Type type_scalar(DType);
Type type_of_tensor(Graph *, const Tensor *);
bool type_equal(const Type *, const Type *);
const Dim *type_count(Graph *, const Type *);  // product of the dimensions
// Storage of a value, row-major: a unit is an element or, of rows in blocks, a block. Each row
// begins a block of its own.
const Dim *storage_units(Graph *, const Type *);
int64_t storage_units_of(DType, int rank, const int64_t *dim);  // -1: more than 64 bits hold
void type_print(Text *, const Type *);                          // f32[T, 192]
const char *type_text(const Type *);  // a static buffer, for messages (four rotate)
const char *dim_text(const Dim *);    // the same for a list
// Numpy's rule; NULL when they do not broadcast.
const Dim *dim_broadcast(Graph *, const Dim *, const Dim *);
bool type_broadcast(Graph *, const Type *, const Type *, Type *result);
int64_t tensor_count(const Tensor *);
uint64_t dtype_bytes(
    DType,
    int64_t count);  // of `count` units of storage, narrow elements packed from the low bits on

// ---------------------------------------- ir/graph.c: graphs; attr.c: attributes; expr.c: formulas
Graph *graph_new(const char *name);
Graph *graph_new_owned(Arena *owner, const char *name);  // freed with its owner
void graph_give(Graph *, Arena *owner);                  // the same for all later nodes
Graph *graph_new_nested(
    Graph *outer, const char *name);  // a body: shares the arena and the dimensions of `outer`
void graph_free(Graph *);
int graph_output_index(const Graph *, const char *name);  // -1: no such name
Graph *graph_clone(const Graph *);
Module module_clone(Arena *, const Module *);  // its graphs are clones, freed with the arena
Node *graph_add_input(Graph *, const char *name, Type, Loc);
void graph_add_output(Graph *, Node *, const char *name);
void graph_drop_input(Graph *, int i);  // that nothing uses
void graph_drop_output(Graph *, int i);

// Adds a node at the end (node_new) or before another, infers its type, and reports a wrong operand
// at `loc`: NULL then. Attributes must be there when the type is inferred: node_make leaves that to
// node_infer.
Node *node_new(Graph *, Op, Loc, int n_in, Node *const *in);
Node *node_make(Graph *, Op, Loc, int n_in, Node *const *in,
                Node *before);  // not inferred; before NULL: at the end
Node *node_again(Node *, Op, int n_in, Node *const *in,
                 Node *before);  // with all attributes of a node; not inferred
bool node_infer(Node *);
Node *inferred(Node *);  // the node with its type; ends the run when it has none
Node *node_constant(Graph *, const Tensor *, Loc, Node *before);
Node *node_scalar(Graph *, DType, double, Loc, Node *before);  // a constant of rank 0
Node *node_item(Graph *, Node *tuple, int index, Node *before);
void node_set_name(Node *, const char *wanted);  // made unique with .1, .2
void node_replace(Node *old,
                  Node *by);  // every use, outputs included; `old` stays until graph_sweep
void node_set_input(Node *, int i, Node *);  // the only way to change an operand: users are counted
void node_add_input(Node *, Node *);         // one more, at the end
void node_drop_input(Node *, int i);
void node_move_before(Node *, Node *before);
void node_remove(Node *);     // must have no uses
int node_uses(const Node *);  // how many operands and outputs name it
Node *node_only_user(
    const Node *);  // NULL unless exactly one node uses it, once, and no output does
int node_axis(
    const Node *);  // its attribute "axis"; 0 without one. Inference makes it count from the front
bool graph_sweep(Graph *);  // removes nodes that nothing uses; inputs stay
void graph_sort(Graph *);   // restores topological order after edits
#define EACH_NODE(n, g) \
    for (Node *n = (g)->first, *n##_next; n && (n##_next = n->next, 1); n = n##_next)

Attr *attr_find(const Node *, const char *name);  // NULL when absent
Attr *attr_in(const Attr *list, const char *name);
bool attr_is_of_kind(const Attr *, const OpAttr *);
// attribute, or NULL if absent; the next functions too
int64_t attr_as_int(const Attr *, int64_t absent);
double attr_as_float(const Attr *, double absent);
const char *attr_as_string(const Attr *, const char *absent);
const Expr *attr_as_expr(const Attr *);
const int64_t *attr_as_ints(const Attr *, int *n);
const Dim *const *attr_as_dims(const Attr *, int *n);
int64_t attr_int(const Node *, const char *name, int64_t absent);
double attr_float(const Node *, const char *name, double absent);
const char *attr_string(const Node *, const char *name, const char *absent);
const Expr *attr_expr(const Node *, const char *name);
const int64_t *attr_ints(const Node *, const char *name, int *n);     // NULL and 0 when absent
const Dim *const *attr_dims(const Node *, const char *name, int *n);  // the same for a list
const Dim *attr_dim(const Node *, const char *name);                  // a list of one, or NULL
Graph *attr_graph(const Node *, const char *name);                    // NULL when absent
bool attr_dims_are_constant(const Node *);                            // lists of numbers
void attr_set_int(Node *, const char *name, int64_t);
void attr_set_float(Node *, const char *name, double);
void attr_set_string(Node *, const char *name, const char *);
void attr_set_ints(Node *, const char *name, const int64_t *, int n);
void attr_set_floats(Node *, const char *name, const double *, int n);
void attr_set_dims(Node *, const char *name, const Dim *const *, int n);
void attr_set_strings(Node *, const char *name, const char *const *, int n);
void attr_set_tensor(Node *, const char *name, const Tensor *);
void attr_set_graph(Node *, const char *name, Graph *);
void attr_set_expr(Node *, const char *name, const Expr *);
void attr_set_dtype(Node *, const char *name, DType);
void substitute_dims(Node *, const Dim *from,
                     const Dim *to);  // in its attributes; its type is inferred again by the caller
void attr_remove(Node *, const char *name);
void attr_copy(Node *to, const Node *from);  // all operands

const Expr *expr_arg(Arena *, int);
const Expr *expr_const(Arena *, double);
const Expr *expr_op(Arena *, Op, int n, const Expr *const *);
const Expr *expr_substitute(Arena *, const Expr *, const Expr *const *args);  // $i becomes args[i]
bool expr_equal(const Expr *, const Expr *);
int expr_max_arg(const Expr *);  // -1 without any
void expr_print(Text *, const Expr *);
const Expr *expr_parse(Arena *, const char *text, const char **end);

bool op_find(const char *name, Op *);
int op_least(Op);                                // operands it must have
int op_most(Op);                                 // -1: any number
const char *op_operand(Op, int i, int *length);  // the name of operand i: `length` bytes
// -1 without such a name, or for any number of operands
int op_operand_named(Op, const char *name);
bool op_attr(Op, const char *name, OpAttr *);  // false without such a name
// first element of a list, which then starts after it; false at its end
bool op_next_attr(const char **attrs, OpAttr *);
bool op_is_elementwise(Op);  // has a scalar function
bool op_is_comparison(Op);   // less, equal ...: truth of two operands of one type
bool op_is_logical(Op);      // and, or, not: of truth

// ---------------------------------------------------------------------- ir/role.c: roles of inputs
InputRole input_role(const Node *);
void input_set_role(Node *, InputRole);
const char *input_role_name(InputRole);
InputRole input_role_named(const char *word);    // INPUT_TENSOR when there is none
InputRole role_of_described(const char *input);  // by the name of a description's input
InputRole role_of_exported(const char *input);   // of an export's
// by an export's name: an encoder's output, or its mask
bool is_encoders_input(const char *input);
bool is_encoders_cache(const char *input);  // its keys and values
bool is_attention_mask(const char *input);  // also an encoder's
bool is_mask_input(const char *input);      // of any kind
bool is_cache_branch(const char *input);    // of a merged decoder: whether there is a past

// ------------------------------------------------------------------- ir/print.c, parse.c, verify.c
void graph_print(Text *, const Graph *);  // deterministic
void node_print(Text *, const Node *);    // its one line, without indentation or line end
void module_print(Text *, const Module *);
// Parses the text form. Constants are found by hash in `constants` (a side file written by dump.c),
// NULL allowed: no data then.
Graph *graph_parse(const Source *, struct ConstantFile *constants);  // NULL after diag_error
uint64_t constant_hash(Node *);  // of the bytes of a constant's data; remembered in the node
// Order, arity, types (inferred again), names, attributes. Reports with the graph printed and the
// error under the node.
bool graph_verify(const Graph *, const char *after_pass);
#endif
