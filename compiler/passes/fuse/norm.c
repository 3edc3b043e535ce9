// Residual + norm: the sum that is normalised is made by the norm itself, which gives both.
//
//   before   %s = add(%x, %o)                                     after   %t = skip_rms_normalization(%o, %x, %w) {epsilon=...}
//            %n = rms_normalization(%s, %w) {epsilon=...}                 %s = item(%t) {index=0}   %n = item(%t) {index=1}
#include "ir/operands.h"
#include "passes/fuse/fuse.h"

// The stream is the earlier operand; the later one is added to it.
static bool comes_before(const Node *a, const Node *b) {
    for (const Node *n = a->next; n; n = n->next) {
        if (n == b) return true;
    }
    return false;
}

static Node *skip_norm(Node *norm) {
    Node *sum = norm->in[0];
    bool first = comes_before(sum->in[0], sum->in[1]);
    Node *in[SKIP_NORM_OPERANDS] = {sum->in[first], sum->in[!first]};
    for (int i = NORM_WEIGHT; i < norm->n_in; i++)
        in[i - NORM_WEIGHT + SKIP_NORM_WEIGHT] = norm->in[i];
    Op op =
        norm->op == OP_rms_normalization ? OP_skip_rms_normalization : OP_skip_layer_normalization;
    return inferred(
        node_again(norm, op, norm->n_in - NORM_OPERANDS + SKIP_NORM_OPERANDS, in, norm));
}

static bool is_residual(const Node *n) {
    return n->op == OP_add && type_equal(&n->in[0]->type, &n->type) &&
           type_equal(&n->in[1]->type, &n->type) && n->in[0] != n->in[1];
}

// Another use of the sum may come before the norm in the list: the caller sorts the graph.
bool fuse_skip_norms(Graph *g) {
    bool changed = false;
    EACH_NODE(n, g) {
        bool norm = n->op == OP_rms_normalization || n->op == OP_layer_normalization;
        if (!norm || !is_residual(n->in[0])) continue;
        Node *sum = n->in[0], *skip = skip_norm(n);
        node_become(sum, node_item(g, skip, 0, n));
        node_become(n, node_item(g, skip, 1, n));
        changed = true;
    }
    return changed;
}
