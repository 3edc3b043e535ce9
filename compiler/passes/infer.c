// infer: types and shapes of every value.
//
// A frontend may leave types open; here each node's is inferred from its operands, and a declared
// one that differs is replaced.
//
//   before   %y = matmul(%x, %w)
//   after    %y = matmul(%x, %w) : f32[T, 192]
//
// Needs nothing; gives types; keeps everything.
#include "ir.h"
#include "passes/pass.h"

PassFunction pass_infer;

bool pass_infer(Graph *g, PassContext *c) {
    (void)c;
    bool changed = false;
    EACH_NODE(n, g) {
        Type before = n->type;
        int items = n->n_items;
        if (!node_infer(n)) diag_stop();
        changed |= !type_equal(&before, &n->type) || items != n->n_items;
    }
    return changed;
}
