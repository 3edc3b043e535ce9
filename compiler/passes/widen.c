// widen: 16-bit floats are computed in f32, and rounded where an op or a cast ends.
//
//   before   %s = add(%a, %b) : f16[T, 64]                        after   %s = add(%a32, %b32) : f32[T, 64]
//            %c = cast(%s) {to=f32}                                       %r = round_f16(%s) {implied=1}
//            %t = cast(%c) {to=f16}                                       %t = round_f16(...)
//
// So every later pass, and every kernel, sees f32 alone, and the file's numbers stay: an f16 op
// computes in f32 and rounds once, a cast is kept. An op that recognise and fuse make is one op of
// f16: they look through a rounding that is `implied`, the end of an op inside of the formula,
// never through a cast. Ops that only move or select values round nothing.
//
// f16 and bf16 stay in memory: inputs and outputs of the graph, weights and views of them.
//
// Needs types; gives nothing new; keeps everything. Node.mark: the 16-bit type that a value had;
// scratch: the value in f32.
#include "passes/match.h"
#include "passes/pass.h"

PassFunction pass_widen;

static bool is_narrow(DType t) { return t == DT_f16 || t == DT_bf16; }

static Node *round_behind(Node *x, Node *from, DType to) {
    Node *n =
        node_make(x->graph, to == DT_f16 ? OP_round_f16 : OP_round_bf16, x->loc, 1, &from, x->next);
    n->mark = (int)to;
    return inferred(n);
}

// Returns true if a cast may go through f32. Integers beyond f32 are infinite in f16.
static bool passes_f32(DType from, DType to) {
    return from == DT_f32 || dtype_bits(from) <= 16 || (to == DT_f16 && !dtype_is_float(from));
}

// A cast to 16 bits, in f32: rounded as the cast does. Truth needs no rounding.
static Node *wide_cast(Node *n) {
    Node *x = n->in[0];
    if (!passes_f32(x->type.dtype, n->type.dtype)) return build_cast(cursor_behind(n), n, DT_f32);
    Node *from = x->type.dtype == DT_f32 ? x : build_cast(cursor_behind(n), x, DT_f32);
    return x->type.dtype == DT_bool ? from
                                    : round_behind(from == x ? n : from, from, n->type.dtype);
}

static Node *wide(Node *x) {
    if (!x || !is_narrow(x->type.dtype) || x->op == OP_pack) return x;
    if (!x->scratch)
        x->scratch = x->op == OP_cast ? wide_cast(x) : build_cast(cursor_behind(x), x, DT_f32);
    return x->scratch;
}

// The value as memory holds it. A cast rounds as the end of an op does.
static Node *narrow(Node *x) {
    if (!x || !x->mark || is_narrow(x->type.dtype)) return x;
    bool implied = attr_int(x, "implied", 0);
    return build_cast(cursor_behind(x), implied ? x->in[0] : x, (DType)x->mark);
}

// ------------------------------------------------------------------------------------------- kinds
// Moves elements, or chooses among them.
static bool moves(const Node *n) {
    switch (n->op) {
        case OP_reshape:
        case OP_transpose:
        case OP_slice:
        case OP_expand:
        case OP_windows:
        case OP_pad:
        case OP_concat:
        case OP_gather:
        case OP_gather_elements:
        case OP_gather_nd:
        case OP_gather_rows:
            return true;
        case OP_scatter_elements:
        case OP_scatter_nd:
            return !attr_find(n, "reduction");
        default:
            return false;
    }
}

// Gives 16-bit floats for 16-bit floats without rounding.
static bool is_exact(const Node *n) {
    switch (n->op) {
        case OP_neg:
        case OP_abs:
        case OP_relu:
        case OP_floor:
        case OP_ceil:
        case OP_round:
        case OP_min:
        case OP_max:
        case OP_where:
        case OP_reduce_max:
        case OP_reduce_min:
        case OP_top_k:
        case OP_unique:
        case OP_loop:
        case OP_if:
            return true;
        default:
            return moves(n);
    }
}

static bool is_control(const Node *n) { return n->op == OP_loop || n->op == OP_if; }

static bool has_narrow_operand(const Node *n) {
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && (is_narrow(n->in[i]->type.dtype) || n->in[i]->mark) &&
            n->in[i]->op != OP_pack)
            return true;
    return false;
}

// Weights, and views and rows of them, stay as the file has them.
static bool is_of_constants(const Node *n) {
    if (n->op == OP_gather)
        return n->in[0]->op == OP_constant ||
               (n->in[0]->op != OP_gather && is_of_constants(n->in[0]));
    if (!moves(n) || !is_narrow(n->type.dtype)) return false;
    for (int i = 0; i < n->n_in; i++) {
        const Node *x = n->in[i];
        if (x && is_narrow(x->type.dtype) && x->op != OP_constant &&
            (x->op == OP_gather || !is_of_constants(x)))
            return false;
        if (x && !is_narrow(x->type.dtype) && x->mark) return false;
    }
    return true;
}

// ------------------------------------------------------------------------------------------- nodes
static void keep_narrow(Node *n) {
    for (int i = 0; i < n->n_in; i++) node_set_input(n, i, narrow(n->in[i]));
}

static bool widen_cast(Node *n) {
    Node *x = n->in[0];
    DType to = n->type.dtype;
    bool same = to == (is_narrow(x->type.dtype) ? x->type.dtype : (DType)x->mark) && is_narrow(to);
    if (same) return node_replace(n, x), true;
    bool kept = is_narrow(x->type.dtype) &&
                (x->op != OP_cast || !passes_f32(x->in[0]->type.dtype, x->type.dtype));
    if (to == DT_f32 && kept && !x->scratch) return x->scratch = n, false;
    node_set_input(n, 0, wide(x));  // to f32: it has become none, which simplify removes
    return true;
}

// The node in f32, and what rounds it.
static void widen_node(Node *n) {
    DType before = n->type.dtype;
    for (int i = 0; i < n->n_in; i++) node_set_input(n, i, wide(n->in[i]));
    inferred(n);
    if (!is_narrow(before) || is_narrow(n->type.dtype)) return;
    n->mark = (int)before;
    if (is_exact(n) || (n->op == OP_item && is_exact(n->in[0]))) return;
    Node *r = round_behind(n, n, before);
    node_replace(n, r);
    node_set_input(r, 0, n);
    attr_set_int(r, "implied", 1);
}

static bool widen_graph(Graph *, bool is_body);

// Operands and results of a body are f32 too.
static bool widen_control(Node *n) {
    bool changed = has_narrow_operand(n);
    for (const Attr *a = n->attrs; a; a = a->next)
        if (a->kind == ATTR_GRAPH) changed |= widen_graph(a->graph, true);
    if (changed) widen_node(n);
    return changed;
}

static bool widen(Node *n) {
    if (is_control(n)) return widen_control(n);
    if (n->op == OP_pack || n->op == OP_elementwise || n->op == OP_bit_cast)
        return keep_narrow(n), false;
    if (n->op == OP_cast)
        return (is_narrow(n->in[0]->type.dtype) || n->in[0]->mark) && widen_cast(n);
    bool item_of_wide = n->op == OP_item && is_narrow(n->type.dtype);
    if (item_of_wide ? is_narrow(n->in[0]->items[attr_int(n, "index", 0)].dtype)
                     : !has_narrow_operand(n))
        return false;
    if (is_of_constants(n)) return false;
    widen_node(n);
    return true;
}

static bool widen_outputs(Graph *g, bool is_body) {
    bool changed = false;
    for (int i = 0; i < g->n_outputs; i++) {
        Node *x = g->outputs[i], *y = is_body ? wide(x) : narrow(x);
        changed |= x != y;
        g->outputs[i] = y;
    }
    return changed;
}

static bool widen_graph(Graph *g, bool is_body) {
    bool changed = false;
    EACH_NODE(each, g) each->mark = 0, each->scratch = NULL;
    for (int i = 0; is_body && i < g->n_inputs; i++) {
        Node *x = g->inputs[i];
        if (!is_narrow(x->type.dtype)) continue;
        x->mark = (int)x->type.dtype, x->type.dtype = DT_f32;
        changed = true;
    }
    EACH_NODE(n, g) changed |= widen(n);
    changed |= widen_outputs(g, is_body);
    graph_sweep(g);
    return changed;
}

bool pass_widen(Graph *g, PassContext *c) {
    (void)c;
    return widen_graph(g, false);
}
