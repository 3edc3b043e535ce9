// recognise: formulas that have tuned kernels become one op each.
//
//   before   %s = mul(%x, %x)                                   after   %n = rms_normalization(%x, %w) {epsilon=1e-06}
//            %m = reduce_mean(%s) {axes=[1]}
//            %e = add(%m, 1e-06)
//            %r = sqrt(%e)
//            %y = div(%x, %r)
//            %n = mul(%y, %w)
//
// Softmax, RMSNorm and LayerNorm, SiLU, GELU (erf and tanh), rotary embedding (halves, interleaved,
// partial). Recognition reads normal forms (match.h), so the spelling does not matter: order,
// commutation, div or reciprocal or pow(-0.5), the position of the weight's product. A near miss is
// reported with the node that broke it.
//
// Needs types and formulas in core ops; gives nothing new; keeps everything. Defines the arithmetic
// of the new ops (ops.def).
#include "passes/recognise/recognise.h"

#include "passes/pass.h"

PassFunction pass_softmax, pass_score_order, pass_norms, pass_activations, pass_rotary;

Node *climb_product(const Node *n) {
    double v;
    Node *user = node_only_user(n);
    if (!user) return NULL;
    switch (user->op) {
        case OP_mul:
        case OP_div:
        case OP_reciprocal:
        case OP_neg:
            return user;
        case OP_round_f16:
        case OP_round_bf16:
            return is_implied(user) ? user : NULL;
        case OP_pow:
            return user->in[0] == n && match_scalar(user->in[1], &v) ? user : NULL;
        default:
            return NULL;
    }
}

// Integers that are only counted with, as floats: positions by another name.
static bool is_counted(const Node *n) {
    if (dtype_is_float(n->type.dtype) || n->type.dtype == DT_bool || !n->n_users) return false;
    for (int i = 0; i < n->n_users; i++) {
        const Node *user = n->users[i];
        bool counts = user->op == OP_cast && dtype_is_float(user->type.dtype);
        if (!counts && !(is_view(user->op) && is_counted(user))) return false;
    }
    return true;
}

// mark = 1: depends on an input other than positions.
static void mark_data(Graph *g) {
    EACH_NODE(n, g) {
        n->mark = n->op == OP_input && input_role(n) != INPUT_POSITIONS &&
                  input_role(n) != INPUT_AXES && !is_counted(n);
        for (int i = 0; i < n->n_in; i++) n->mark |= n->in[i] && n->in[i]->mark;
    }
}

bool pass_softmax(Graph *g, PassContext *c) {
    bool changed = recognise_all(g, c, recognise_softmax);
    return graph_sweep(g) || changed;
}

bool pass_score_order(Graph *g, PassContext *c) {
    (void)c;
    if (!order_scores(g)) return false;
    simplify_graph(g);
    return true;
}

bool pass_norms(Graph *g, PassContext *c) {
    bool changed = recognise_all(g, c, recognise_norm);
    changed |= weigh_shared_norms(g);
    return graph_sweep(g) || changed;
}

bool pass_activations(Graph *g, PassContext *c) {
    bool changed = recognise_all(g, c, recognise_activation);
    return simplify_graph(g) || changed;
}

bool pass_rotary(Graph *g, PassContext *c) {
    mark_data(g);
    bool changed = recognise_all(g, c, recognise_rotary);
    return simplify_graph(g) || changed;
}
