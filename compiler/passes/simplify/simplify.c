// simplify: algebra, views that cancel, equal subexpressions, dead code.
//
// Only rewrites that keep every bit: x * 1, x / 4 as x * 0.25, pow(x, 2) as x * x, but never x / 3
// as x * (1 / 3), and x + 0.0 only where x cannot be -0.0. Chains of reshape, transpose and expand
// become the shortest chain with the same index map; slices move towards the source, so that a
// slice of a view is a view of a slice. What became constant on the way is folded.
//
//   before   %a = transpose(%x) {perm=[1, 0]} : f32[8, T]      after   %c = mul(%x, %x) : f32[T, 8]
//            %b = transpose(%a) {perm=[1, 0]} : f32[T, 8]
//            %c = pow(%b, 2.0) : f32[T, 8]
//
// Needs types; gives nothing new; keeps everything.
#include "passes/simplify/simplify.h"

#include <string.h>

#include "passes/pass.h"

PassFunction pass_simplify;

static bool simplify_nodes(Graph *g) {
    Node *(*const rules[])(Node *) = {
        fold_node,       simplify_empty, simplify_index, simplify_algebra, simplify_view,
        simplify_lookup, drop_unit_axis, merge_row_axes, narrow_integers,  tabulate_index};
    bool changed = false;
    EACH_NODE(n, g) {
        if (!node_uses(n)) continue;
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
            Node *by = rules[i](n);
            if (!by || by == n) continue;
            node_become(n, by);
            changed = true;
            break;
        }
    }
    return changed;
}

// Nodes that a rule made in vain are swept as well, and are no change: a body that has some would
// never come to rest.
bool simplify_graph(Graph *g) {
    enum { MOST_ROUNDS = 200 };  // rules that undo each other must not hang the compiler
    bool changed = graph_sweep(g), again = true;
    for (int round = 0; again && round < MOST_ROUNDS; round++) {
        again = simplify_nodes(g);
        again |= simplify_control(g);
        again |= merge_equal_nodes(g);
        graph_sweep(g);
        changed |= again;
    }
    return changed;
}

bool pass_simplify(Graph *g, PassContext *c) {
    (void)c;
    return simplify_graph(g);
}
