// layout: every product by weights reads panels of 16 columns.
//
//   before   %y = matmul(%x, %w) : f32[R, 192]                     after   %p = pack(%w) {format="f32", transposed=1}
//                                                                          %y = matmul_packed(%x, %p) {columns=192}
//
// fuse has packed the products that it saw; those that later passes made, or that had another shape then, follow here. A pack
// names its sources and is never materialised in the compiler. An embedding that is also the output's weights is kept once: its
// rows are looked up in the panels (lookup.c).
//
// Needs types; gives layout; keeps everything.
#include "passes/fuse/fuse.h"

PassFunction pass_layout;

bool pass_layout(Graph *g, PassContext *c) {
    bool changed = pack_weights(g);
    changed |= look_up_in_packs(c->module, g, true);
    return graph_sweep(g) || changed;
}
