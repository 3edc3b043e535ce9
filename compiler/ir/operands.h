// The operands of ops that may lack some, by the names that ops.def gives them (loops and branches:
// ir/control.h). unit/ops.c holds the two together.
#ifndef BURIN_IR_OPERANDS_H
#define BURIN_IR_OPERANDS_H
#include "ir.h"

enum {
    ATTENTION_QUERY,
    ATTENTION_KEY,
    ATTENTION_VALUE,
    ATTENTION_SLOT,
    ATTENTION_POSITION,
    ATTENTION_BIAS,
    ATTENTION_MASK,
    ATTENTION_SINKS,
    ATTENTION_OPERANDS
};
enum { NORM_X, NORM_WEIGHT, NORM_BIAS, NORM_OPERANDS };
enum { SKIP_NORM_X, SKIP_NORM_RESIDUAL, SKIP_NORM_WEIGHT, SKIP_NORM_BIAS, SKIP_NORM_OPERANDS };
enum { APPEND_STATE, APPEND_ROWS, APPEND_SLOT, APPEND_POSITION, APPEND_OPERANDS };
enum { KEYS_X, KEYS_ROWS, KEYS_SLOT, KEYS_POSITION, KEYS_OPERANDS };
enum { SHIFT_X, SHIFT_SLOT, SHIFT_POSITION, SHIFT_OPERANDS };
enum {
    SUPPRESSION_BOXES,
    SUPPRESSION_SCORES,
    SUPPRESSION_MOST,
    SUPPRESSION_IOU,
    SUPPRESSION_SCORE,
    SUPPRESSION_OPERANDS
};
enum {
    PRODUCT_X,
    PRODUCT_WEIGHTS,
    PRODUCT_EPILOGUE,
    EXPERT_INDEX = PRODUCT_EPILOGUE,
    EXPERT_EPILOGUE
};

// The first epilogue operand of matmul_packed or expert_matmul.
static inline int product_epilogue(const Node *n) {
    return n->op == OP_expert_matmul ? EXPERT_EPILOGUE : PRODUCT_EPILOGUE;
}
static inline bool is_packed_product(const Node *n) {
    return n->op == OP_matmul_packed || n->op == OP_expert_matmul;
}

static inline bool is_kept(const Node *n) {
    return n->op == OP_key_products || n->op == OP_key_sums;
}

// NULL when it is absent.
static inline Node *operand_or_null(const Node *n, int i) { return i < n->n_in ? n->in[i] : NULL; }

// How many operands a node needs to hold `most` of which the last may be absent.
static inline int operands_present(Node *const *in, int most) {
    while (most > 0 && !in[most - 1]) most--;
    return most;
}
#endif
