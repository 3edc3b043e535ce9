// layout: every product by weights reads panels of 16 columns.
//
//   before   %y = matmul(%x, %w) : f32[R, 192]                     after   %p = pack(%w) {format="f32", transposed=1}
//                                                                          %y = matmul_packed(%x, %p) {columns=192}
//
// fuse has packed the products that it saw; those that later passes made, or that had another shape then, follow here. A pack
// names its sources and is never materialised in the compiler, so that an embedding that is also the output's weights is one
// constant: its rows are looked up, its panels multiplied.
//
// Needs types; gives layout; keeps everything.
#include "passes/fuse.h"

PassFunction pass_layout;

bool pass_layout(Graph *g, PassContext *c) {
    (void)c;
    bool changed = pack_weights(g);
    return graph_sweep(g) || changed;
}
