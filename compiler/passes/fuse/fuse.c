// fuse: neighbours that have one kernel become one op.
//
//   before   %s = softmax(%masked) ...                  after   %a = attention(%q, %k, %v) {causal=1, num_heads=6, ...}
//            %n = rms_normalization(add(%x, %o), %w)            %t = skip_rms_normalization(%o, %x, %w)
//            three matmuls of %n by weights                     %qkv = matmul_packed(%n, pack(%wq, %wk, %wv)), three slices
//            mul(silu(matmul(%n, %g)), matmul(%n, %u))          %h = matmul_packed(%n, pack(%g, %u)) {glu=1, epilogue=...}
//            other elementwise neighbours                       %e = elementwise(...) {expr=...}
//
// The order matters: attention removes the views of heads, a norm takes a residual sum before an
// epilogue could, gates pair up before projections merge, and chains come last.
//
// Needs types; gives nothing new; breaks formulas (attention and products are no longer core ops).
#include "passes/fuse/fuse.h"

#include "passes/pass.h"

PassFunction pass_split_products, pass_fuse_attention, pass_keep_keys, pass_fuse_norms,
    pass_integer_products, pass_keep_floats, pass_pack, pass_fuse_gates, pass_fuse_epilogues,
    pass_merge_projections, pass_split_extremes, pass_fuse_elementwise, pass_fuse_channels;

static bool fuse_all_attention(Graph *g, PassContext *c) {
    bool changed = false;
    EACH_NODE(n, g) {
        Attempt a = {0};
        if (!node_uses(n) || !fuse_attention(n, &a)) continue;
        fusion_site(c, a.pattern, n->loc, a.broke, a.why);
        fusion_path(c, n, a.broke);
        if (a.broke) continue;
        if (a.also) fusion_site(c, a.also, n->loc, NULL, NULL);
        if (a.of_bytes) fusion_site(c, "bytes inside, in f32", n->loc, NULL, NULL);
        node_become(a.root, a.by);
        changed = true;
    }
    return changed;
}

// Removes nodes without users; restores the order where a rewrite put a node before its operand.
static bool settled(Graph *g, bool changed) {
    graph_sweep(g);
    if (changed) graph_sort(g);
    return changed;
}

bool pass_split_products(Graph *g, PassContext *c) {
    (void)c;
    bool changed = split_products(g);
    return simplify_graph(g) || changed;
}

bool pass_fuse_attention(Graph *g, PassContext *c) {
    bool turned = turn_scores(g) && settled(g, true) && (simplify_graph(g), true);
    bool changed = fuse_all_attention(g, c);
    return simplify_graph(g) || changed || turned;
}

bool pass_keep_keys(Graph *g, PassContext *c) {
    bool changed = settled(g, keep_keys(g, c));
    return simplify_graph(g) || changed;
}

bool pass_fuse_norms(Graph *g, PassContext *c) {
    (void)c;
    return settled(g, fuse_skip_norms(g));
}

// With --quant they would be quantized again.
bool pass_integer_products(Graph *g, PassContext *c) {
    return !c->quant && settled(g, integer_products(g));
}

bool pass_keep_floats(Graph *g, PassContext *c) {
    (void)c;
    return keep_floats(g) && (simplify_graph(g), true);
}

bool pass_pack(Graph *g, PassContext *c) {
    bool changed = pack_weights(g);
    if (c->quant) label_packs(g, c->quant);
    return settled(g, changed);
}

bool pass_fuse_gates(Graph *g, PassContext *c) {
    (void)c;
    return settled(g, fuse_gates(g));
}

bool pass_fuse_epilogues(Graph *g, PassContext *c) {
    (void)c;
    return settled(g, fuse_epilogues(g));
}

bool pass_merge_projections(Graph *g, PassContext *c) {
    (void)c;
    return settled(g, merge_projections(g));
}

bool pass_split_extremes(Graph *g, PassContext *c) {
    (void)c;
    return split_extremes(g);
}

bool pass_fuse_elementwise(Graph *g, PassContext *c) {
    (void)c;
    bool changed = fuse_elementwise(g);
    changed |= simplify_graph(g);
    return settled(g, changed);
}

bool pass_fuse_channels(Graph *g, PassContext *c) {
    (void)c;
    bool changed = fuse_channels(g);
    if (changed) simplify_graph(g);
    return settled(g, changed);
}
