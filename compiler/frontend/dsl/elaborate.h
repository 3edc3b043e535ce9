// Elaboration: a description and a checkpoint become graphs. Shared by the files of this folder.
//
//   files.c      the description and what it imports; names that a file can see
//   config.c     parameters: config.json, defaults, fields read
//   value.c      values: numbers, strings, lists, dimensions, tensors; conversions, messages
//   arithmetic.c operators on compile-time values, and the source of a number
//   tensor.c     operators on tensors: nodes, broadcasting, element types
//   shapes.c     shapes written in the description, matched against values
//   scope.c      scopes (names of the checkpoint), locations, errors
//   weights.c    tensors of the checkpoint, and messages about misfits
//   heads.c       decoders that are no language models
//   unused.c     unused tensors
//   builtin.c    functions that are not written in the language; windows.c: convolutions
//   recurrence.c scan: a block for each row
//   foreign_syntax.c     words of other languages; hints.c: suggestions
//   expr.c       expressions;  elaborate.c: statements, blocks, graphs, dsl_load
//   formula.c    blocks that another frontend calls
#ifndef BURIN_DSL_ELABORATE_H
#define BURIN_DSL_ELABORATE_H
#include "frontend/dsl.h"
#include "frontend/dsl/ast.h"
#include "ir/builder.h"

typedef enum {
    V_ERROR,  // reported already: whatever uses it keeps silent
    V_NULL,
    V_BOOL,
    V_INT,
    V_FLOAT,
    V_STRING,
    V_LIST,
    V_RECORD,  // list: values of fields; names
    V_OBJECT,  // of config.json
    V_DTYPE,
    V_DIM,  // a dimension that is known only when the program runs; a constant one is V_INT
    V_TENSOR,
    V_MANY,  // the results of a block with several
} ValueKind;

// Where an integer came from: an expression over parameters of config.json, so that a hint can say
// which one does not fit.
typedef struct Origin {
    AstKind op;  // AST_INT: value; AST_CONFIG: config; else an operator over a and b
    int64_t value;
    const struct Declaration *config;
    const struct Origin *a, *b;
} Origin;

typedef struct Value {
    ValueKind kind;
    union {
        bool b;
        int64_t i;
        double f;
        const char *s;
        struct {
            const struct Value *items;
            int n;
        } list;
        const json_t *object;
        DType dtype;
        const Dim *dim;
        Node *node;
    };
    const Origin *origin;      // V_INT
    const char *const *names;  // V_RECORD: of its fields
    const char *path;          // its dotted name in config.json, when it is from there
} Value;

#define VALUE(k)        ((Value){.kind = (k)})
#define VALUE_INT(x)    ((Value){.kind = V_INT, .i = (x)})
#define VALUE_FLOAT(x)  ((Value){.kind = V_FLOAT, .f = (x)})
#define VALUE_BOOL(x)   ((Value){.kind = V_BOOL, .b = (x)})
#define VALUE_STRING(x) ((Value){.kind = V_STRING, .s = (x)})

// A block, a graph, a parameter or a definition.
typedef struct Declaration {
    const Ast *ast;
    struct File *file;
    enum {
        VALUE_UNKNOWN,
        VALUE_BUSY,
        VALUE_KNOWN
    } state;  // of a parameter or definition: found when first used
    Value value;
    bool from_config;  // the value comes from config.json
    bool on_stack;     // of a block: being elaborated now
} Declaration;

typedef struct File {
    const Source *source;
    const char *path;
    const Ast *declarations;
    Map names;     // Declaration: its own, then imported ones that it does not declare itself
    Map blocks;    // imported blocks of the names of its own parameters and definitions
    bool is_open;  // its imports are being read
} File;

// One call of a block: its variables, and where it was called.
typedef struct Frame {
    struct Frame *caller;
    File *file;
    Loc call;
    Map variables;  // Value
    Value result;
    bool returned;
    int depth;
} Frame;

typedef struct WeightUse {
    struct WeightUse *next;
    Loc loc, called;
    const char *name;
    int rank;
    Value dims[MAX_RANK];
    const Tensor *found;   // NULL: the checkpoint does not have it
    bool fits, in_linear;  // asked for by a block of dsl/std/linear
} WeightUse;

typedef struct Elaborator {
    Arena *arena;
    const DslOptions *options;
    Module *module;
    File *main;
    Map files;     // File by path
    Map configs;   // Declaration by dotted name: those read
    Graph *graph;  // the one being built
    Frame *frame;
    const Builder *
        builder;  // of another frontend, which makes the nodes of its formulas (formula.h); or NULL
    const char *scope;
    Map reported;   // places that have their error
    Map constants;  // of this graph: Node by name of the tensor
    WeightUse *weights, **weights_end;
    Map used_tensors;
    Map first_parts;  // of the names of the checkpoint's tensors, once one was asked for
    Map sizes;        // Origin by the text of a dimension: where such a number came from first
    int errors, n_nodes;
    int64_t steps;
    uint64_t spent;  // bytes of lists and strings
} Elaborator;

enum {
    MAX_CALL_DEPTH = 64,
    MAX_LOOP = 2048,      // iterations of one `for`
    MAX_NODES = 1 << 18,  // of a graph
    MAX_STEPS = 4000000,  // expressions evaluated
    MAX_LIST = 1 << 20,
    MAX_SPENT = 1 << 30,          // bytes of lists and strings
    MAX_DIM_BITS = 40,            // a dimension is below 2^40
    DEFAULT_POSITIONS = 1 << 20,  // bound of a symbol that has none, and the largest
};

// files.c
File *file_load(Elaborator *, const char *path, Loc imported_at);
Declaration *file_find(const File *, const char *name);
Declaration *file_find_block(const File *, const char *name);

// config.c
Value config_value(Elaborator *, Declaration *);  // of a parameter or definition
Value config_field(Elaborator *, Value object, const char *name, Loc);
bool config_has(const Elaborator *, const char *path);  // in config.json, even as null
// A parameter's name in the file, and that file: "n_embd" and "config.json",
// "gpt2.embedding_length" and "model.gguf"
const char *config_called(const Elaborator *, const char *path);
const char *config_file(const Elaborator *);
const char *description_name(const Elaborator *);  // "llama.burin"
void config_report(Elaborator *);  // fields of config.json that the description does not know
Declaration *config_find_dotted(Elaborator *, const char *path);

// value.c
const char *value_kind_name(ValueKind);
const char *value_text(Elaborator *, Value);  // for messages
bool value_equal(Value, Value);
bool value_is_number(Value);
bool value_has_items(Value);
double value_number(Value);
bool want_int(Elaborator *, Value, Loc, const char *what, int64_t *result);
bool want_bool(Elaborator *, Value, Loc, const char *what, bool *result);
bool want_string(Elaborator *, Value, Loc, const char *what, const char **result);
bool want_tensor(Elaborator *, Value, Loc, const char *what);
const Dim *want_dim(Elaborator *, Value, Loc, const char *what);  // NULL after an error
bool want_dims(Elaborator *, Value list, Loc, const char *what, const Dim **dims, int *rank);
Value value_of_dim(const Dim *);
Value value_of_size(Elaborator *, const Dim *);  // with the origin of such a number
Value value_list(Elaborator *, const Value *, int n);
Value list_of(Elaborator *, Loc, const Value *items,
              int n);  // of items that are there; an error when they hold too much
void spend(Elaborator *, Loc, uint64_t bytes);  // ends the run when a description has made too much

// arithmetic.c
Value arithmetic(Elaborator *, const Ast *, Value a, Value b);
Value compare(Elaborator *, const Ast *, Value a, Value b);
Value scalar_function(Elaborator *, Op, Loc, const Value *, int n);
const Origin *origin_new(Elaborator *, AstKind, const Origin *a, const Origin *b);
const Origin *origin_of(Elaborator *, Value);
bool int_operation(AstKind, int64_t a, int64_t b,
                   int64_t *result);  // false: overflow, division by zero or not exact

// tensor.c
Builder tensor_builder(Elaborator *, Loc);  // NULL after an error that has been reported
Value tensor_value(Node *);                 // V_ERROR of NULL
Value tensor_op(Elaborator *, Op, Loc, const Value *operands,
                int n);  // elementwise: element types agree, numbers become constants
Value tensor_matmul(Elaborator *, Loc, Value a, Value b);
Value tensor_cast(Elaborator *, Value, DType, Loc);
Value tensor_transpose_last(Elaborator *, Value, Loc);
Value tensor_index(Elaborator *, const Ast *, Value);
Value tensor_slice(Elaborator *, Value, Loc, int axis, const Dim *start, const Dim *extent);

// shapes.c
bool match_type(Elaborator *, const Ast *type, Value, const char *what, Loc);
bool graph_input_type(Elaborator *, const Ast *type, Type *result, int64_t *context);

// scope.c
Value report(Elaborator *, Loc, const char *format, ...) __attribute__((format(printf, 3, 4)));
void report_at(Elaborator *, Loc where, Loc inside, Loc called,
               const char *message);  // what report prints
Loc called_from(const Elaborator *, Loc where);
bool already_reported(Elaborator *, Loc);
void mark_reported(Elaborator *, Loc);
Loc place(const Elaborator *, Loc);  // in the model's own file, with the scope
const char *scope_join(Elaborator *, const char *scope, const char *name);
Value *variable_find(const Frame *, const char *name);
void variable_set(Elaborator *, const char *name, Value);
const char *nearest_visible(Elaborator *, const char *name, bool functions);

// weights.c
Value weight_value(Elaborator *, Loc, const char *name, Value shape, bool stored);
bool weight_exists(Elaborator *, const char *name);
// Columns of x as a linear layer's weight wants them: times its factors, in its order
// (Tensor.factors, .order)
Value rows_for_weight(Elaborator *, Loc, Value x, const char *name);
void weights_report(Elaborator *);  // missing, misfitting and unused tensors
const char *weights_file_name(const Checkpoint *);

// heads.c
bool task_has_base(const Elaborator *);      // the class is for something else than text
bool task_joins_graphs(const Elaborator *);  // the graphs of an encoder and its decoder become one
// input of a classifier's decoder: the encoder's text; NULL: its own
Node *task_moved_right(Elaborator *, Loc);
// adds the results of config.json's class to a decoder's graph
void task_apply(Elaborator *);

// unused.c
void weights_report_unused(Elaborator *);

// builtin.c
typedef struct Builtin Builtin;
const Builtin *builtin_find(const char *name);
Value builtin_call(Elaborator *, const Builtin *, const Ast *call);
const char *const *builtin_names(int *n);

// windows.c
Value run_pad(Elaborator *, Loc, const Value *arguments);
Value run_sliding_windows(Elaborator *, Loc, const Value *arguments);
Value run_convolve(Elaborator *, Loc, const Value *arguments);
Value run_convolve_transposed(Elaborator *, Loc, const Value *arguments);

// recurrence.c
Value call_scan(Elaborator *, const Ast *call);  // a block for each row

// hints.c: "\nhint: ...", for messages
const char *unknown_block_hint(Elaborator *, const char *name);
const char *unknown_name_hint(Elaborator *, const Ast *name);
const char *field_hint(Elaborator *, const char *name);  // of a tensor
const char *call_hint(Elaborator *, const char *name, const char *const *parameters, int n);
const char *block_hint(Elaborator *, const Ast *block);

// expr.c, elaborate.c
Value evaluate(Elaborator *, const Ast *);
bool evaluate_scope(Elaborator *, const Ast *scope,
                    const char **joined);  // NULL scope: the one there is
Value call_block(Elaborator *, Declaration *, const Ast *call);
Value call_bound(Elaborator *, Declaration *, const Ast *call,
                 Frame *);  // whose variables are the arguments
Value expand_block(Elaborator *, const Ast *block,
                   const Ast *call);  // in a frame with the arguments that are given
void elaborator_begin(Elaborator *);  // with its arena and options set
#endif
