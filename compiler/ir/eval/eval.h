// The reference interpreter: the meaning of every op, in plain C. Constant folding, `burin run
// --interpret`, `burin check` and the tests of kernels use it.
//
// Two arithmetics. EVAL_F32 is the numeric contract: the bits of the compiled program (16 lanes in
// reductions over the last axes, one fma chain for each product, segments of 256 keys, the
// runtime's polynomials; f16 and bf16 ops compute in f32 and round once). EVAL_F64 is the truth
// that `check` measures against: every float is a double, functions are those of libm, and only
// casts to 16 and 8 bits round.
#ifndef BURIN_IR_EVAL_H
#define BURIN_IR_EVAL_H
#include "ir.h"

typedef enum { EVAL_F32, EVAL_F64 } EvalMode;

EvalContext *eval_new(EvalMode);
void eval_free(EvalContext *);
// Gives a symbol its value where no operand's shape tells it.
void eval_set_symbol(EvalContext *, const char *name, int64_t value);
void eval_set_shape(EvalContext *, const Node *,
                    const Tensor *);  // the symbols that the shape of this value of a node tells
void eval_round_rows(EvalContext *);  // bounds are those of --math=fast on a CPU that it is for
void eval_set_seed(EvalContext *, uint64_t);  // of random numbers; 0 unless it is set
int64_t eval_symbol(const EvalContext *, const char *name);  // after a run; 0 when nothing told it

// Called for each attention that is evaluated, with the shares of its keys: [rows][heads][keys],
// those numbers in `shape`.
typedef void AttentionWatch(void *user, const Node *, const double *shares, const int64_t shape[3]);
void eval_watch_attention(EvalContext *, AttentionWatch *, void *user);

// One node, its operands given (NULL: absent, or a constant, pack or item of the graph, which is
// then computed). States are those of the context unless they are given. The result lives until the
// next call; of a tuple node, result `item`.
const Tensor *eval_node(EvalContext *, Node *, const Tensor *const *operands, int item);

// A whole graph: inputs in order; outputs (room for n_outputs) live until the next call. States (KV
// caches) start as NaN and are kept between calls, so that an incremental graph can be run chunk by
// chunk. Uses the marks of nodes. Where the type of a state has a symbol (the number of slots),
// eval_set_symbol sets its size; otherwise it is the symbol's lower bound.
void eval_graph(EvalContext *, const Graph *, const Tensor *const *inputs, const Tensor **outputs);
// The value of any node after eval_graph, for tracing; NULL for values that are never materialised
// (pack).
const Tensor *eval_traced(EvalContext *, const Node *);

// The value of a node whose operands are all constants (of known data), in the arena of its graph;
// NULL when it has none or has symbols in its shape. A tuple has no value here: its items have.
const Tensor *eval_constant_node(Node *);

// What `check` allows: for each element of the result of `n` on these operands (f32 or narrower)
// the largest |computed - true|, where true is EVAL_F64's. Derived from f32 rounding, formula by
// formula: see eval_bound.c. malloc'd; 0 for copies.
double *eval_bound(EvalContext *, Node *n, const Tensor *const *operands, int item, int64_t *count);
#endif
