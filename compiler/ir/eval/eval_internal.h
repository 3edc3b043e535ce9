// Internals of the interpreter: values, the context, and common functions of eval*.c.
#ifndef BURIN_IR_EVAL_INTERNAL_H
#define BURIN_IR_EVAL_INTERNAL_H
#include "ir/convert.h"
#include "ir/eval/eval.h"

// A value is a strided view of elements of some dtype; its owner is a constant, an operand, or the
// arena of the run. The dtype is that of the node's type, or f64 for floats in EVAL_F64, or
// narrower than that where nothing had to be computed.
typedef struct Value {
    DType dtype;
    int rank;
    int64_t dim[MAX_RANK], stride[MAX_RANK], offset;  // in elements
    const void *data;  // rows in blocks: q8_block[rows][blocks_of(K)] (runtime/kernels/quantize.h)
    const struct PackedWeights *packed;  // of a pack node: no data of its own
    const struct Value *items;           // of a tuple
    int n_items;
} Value;

// Weights side by side: column c of the product is row c of the first source, and so on.
typedef struct PackedWeights {
    const Node *node;
    const Value *sources;  // [N, K], or [K, N] when transposed
    int n_sources;
    int64_t columns, depth, experts;  // n_sources and columns are those of all experts
    DType format;
    bool transposed, interleave;
} PackedWeights;

enum { MAX_SYMBOLS = 1024 };

typedef struct EvalState {
    const Node *node;
    Value value;
} EvalState;

struct EvalContext {
    EvalMode mode;
    Arena *arena;  // of the run
    Arena *kept;   // of the context: states
    struct {
        const char *name;
        int64_t value;
    } symbols[MAX_SYMBOLS];
    int n_symbols;
    uint64_t seed;
    bool rounds_rows;          // of eval_round_rows
    AttentionWatch *observer;  // or NULL
    void *observer_data;
    EvalState *states;
    int n_states;
    const Value **in;  // operands of the node that is evaluated
    Value out;
    Value *values;  // of the graph's nodes, by mark; NULL while a node alone is evaluated
    int n_values;
};

// ------------------------------------------------------------------------------------------ eval.c
void eval_alone(EvalContext *, Node *,
                const Tensor *const *operands);  // operands in c->in, the result in c->out
int64_t eval_dim(EvalContext *, const Node *,
                 const Dim *);  // ends the run when a symbol has no value
void eval_bind(EvalContext *, const char *name, int64_t value);
void eval_body(EvalContext *, const Graph *body, const Value *inputs,
               Value *results);                   // of a node that is evaluated
Value *eval_result(EvalContext *, const Node *);  // c->out: fresh memory of the node's type
Value eval_fresh(EvalContext *, DType, int rank, const int64_t *dim);
DType eval_stored(const EvalContext *, DType);  // f64 for floats in EVAL_F64
DType eval_real(const EvalContext *, DType);    // the type floats are computed in: f32 or f64
int64_t value_count(const Value *);
static inline void *value_out(const Value *v) {
    return (void *)(uintptr_t)v->data;
}  // to fill one from eval_fresh, eval_result
bool value_is_dense(const Value *);                   // row-major without gaps
void value_set_dense(Value *);                        // strides of its dimensions
void value_copy(DType to, void *out, const Value *);  // all elements, row-major, converted
const void *value_dense(EvalContext *, const Value *,
                        DType);  // its data when it is dense and of the type, else a copy
void value_assign(const Value *to,
                  const Value *from);  // element by element; the same dtype and dimensions
void value_put(const Value *to, int64_t at, const Value *from,
               int64_t i);  // one element, both counted in memory
Value value_broadcast(const Value *, int rank, const int64_t *dim);  // strides 0 along axes of one

// ------------------------------------------------------------------------------ eval_elementwise.c
// A formula over values, with broadcasting, into `out` (dense, its dimensions are those of the
// result).
void eval_formula(EvalContext *, const Expr *, const Value *const *args, DType dtype, Value *out);

// ----------------------------------------------------------------------------------- eval_matmul.c
void packed_gather(const PackedWeights *, int64_t column, Value *rows,
                   int64_t row);                        // K weights to a row of the pack's format
Value value_dequantized(EvalContext *, const Value *);  // rows in blocks as f64
// The sums of a product, or gate (0) and up (1) of one, before the epilogue; its first operands are
// in c->in.
Value eval_product_sums(EvalContext *, const Node *, int part);

// ------------------------------------------------------------------ eval_attention.c, eval_bound.c
struct AttentionRow;
void eval_attention_bound(EvalContext *, Node *, double *bound);
void attention_row_bound(const struct AttentionRow *, void *bound);
#endif
