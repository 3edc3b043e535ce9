// Integer tensors that are expressions of their index (ir/index.h) are computed by as few nodes as
// that takes.
//
//   before   %d = sub(%positions, concat(%first, %rest))       after   %m = expand(true) : bool[1, T, T]
//            ... CumSum, GatherND, Equal of a packed-sequence test
#include "ir/index.h"

#include "passes/simplify/simplify.h"

enum { LONGEST_CHAIN = 12 };

// How many nodes compute it, constants apart; at most LONGEST_CHAIN. Shared ones count once for
// each use.
static int chain_length(const Node *n) {
    if (n->op == OP_constant) return 0;
    int length = 1;
    for (int i = 0; i < n->n_in && length < LONGEST_CHAIN; i++)
        length += n->in[i] ? chain_length(n->in[i]) : 0;
    return length < LONGEST_CHAIN ? length : LONGEST_CHAIN;
}

static bool counts(DType t) { return t == DT_bool || t == DT_i64 || t == DT_i32; }

// Returns true if the nodes compute less than the whole shape, so that a view of them is needed as
// well.
static bool needs_view(const Node *n, const Dim *value, const Dim *const *symbols) {
    for (int i = 0; i < n->type.rank; i++) {
        if (!dim_has_symbol(value, symbols[i]) && (symbols[i]->kind == DIM_SYMBOL || i == 0))
            return true;
    }
    return false;
}

Node *simplify_index(Node *n) {
    const Dim *symbols[MAX_RANK];
    if (n->op == OP_scatter_nd && index_covers(n))
        return build_reshape(cursor(n), n->in[2], n->type.rank, n->type.dim);
    bool sum = n->op == OP_cum_sum;
    if (n->n_in == 0 || n->type.dtype == DT_tuple || (!counts(n->type.dtype) && !sum)) return NULL;
    int length = sum ? LONGEST_CHAIN : chain_length(n);
    if (length < 2) return NULL;
    const Dim *value = index_expression(n, symbols);
    if (!value || index_cost(value) + needs_view(n, value, symbols) >= length) return NULL;
    return index_emit(value, &(IndexTarget){n->type, symbols, cursor_at(n, n->loc)});
}
