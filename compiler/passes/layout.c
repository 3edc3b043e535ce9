// layout: every product by weights reads panels of 16 columns.
//
//   before   %y = matmul(%x, %w) : f32[R, 192]                     after   %p = pack(%w) {format="f32", transposed=1}
//                                                                          %y = matmul_packed(%x, %p) {columns=192}
//
// fuse has packed the products that it saw; those that later passes made, or that had another shape
// then, follow here. A pack names its sources and is never materialised in the compiler. An
// embedding that is also the output's weights is kept once: its rows are looked up in the panels
// (lookup.c). Weights in blocks that nothing of this reads become floats.
//
// Needs types; gives layout; keeps everything.
#include "ir/eval/eval.h"
#include "ir/format.h"
#include "passes/fuse/fuse.h"
#include "passes/pass.h"

PassFunction pass_layout;

// Rows that no list of tokens chooses (places that the graph counts) are looked up in floats.
static bool look_up_floats(Node *cast) {
    Node *rows = cast->op == OP_cast && cast->type.dtype == DT_f32 ? cast->in[0] : NULL;
    Node *table = rows && rows->op == OP_gather ? rows->in[0] : NULL;
    if (!table || table->op != OP_constant || !dtype_is_block(table->type.dtype)) return false;
    const Tensor *t = table->value;
    diag_warning(NO_LOC,
                 "%s becomes floats, %.1f times as large: only rows that a list of tokens chooses "
                 "are read from blocks",
                 t->name ? t->name : table->name,
                 (double)dtype_bytes(DT_f32, tensor_count(t)) / (double)t->bytes);
    Node *floats = build_cast(cursor_behind(table), table, DT_f32);
    node_replace(cast,
                 build_gather(cursor_behind(rows), floats, rows->in[1], attr_int(rows, "axis", 0)));
    return true;
}

static bool make_floats(Graph *g) {
    bool changed = false;
    EACH_NODE(n, g) changed |= look_up_floats(n);
    EACH_NODE(n, g) {
        const Tensor *value = n->op == OP_cast && node_uses(n) && n->in[0]->op == OP_constant &&
                                      dtype_is_block(n->in[0]->type.dtype)
                                  ? eval_constant_node(n)
                                  : NULL;
        if (!value) continue;
        node_become(n, node_constant(g, value, n->loc, n));
        changed = true;
    }
    return changed;
}

bool pass_layout(Graph *g, PassContext *c) {
    bool changed = pack_weights(g);
    changed |= look_up_in_packs(c->module, g, true);
    changed |= make_floats(g);
    return graph_sweep(g) || changed;
}
