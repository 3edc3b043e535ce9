// Elementwise chains: into the epilogue of the product that they follow, else into one
// `elementwise` node.
//
//   before   %y = matmul_packed(%x, %w)          after   %s = matmul_packed(%x, %w, %b) {epilogue=silu(add($0, $1))}
//            %a = add(%y, %b)
//            %s = silu(%a)
//
// A chain is a tree of elementwise nodes of one shape, each used once. If two products of one value
// with equal widths are among its operands, they become one with `glu`: gate and up.
#include <string.h>

#include "ir/operands.h"
#include "passes/fuse/fuse.h"

enum { MOST_OPERANDS = 14, DEEPEST = 24 };

typedef struct Chain {
    Node *root;
    int n_ops, n;
    Node *operand[MOST_OPERANDS];
    const Expr *expr;  // over the operands
} Chain;

static bool same_shape(const Node *a, const Node *b) {
    if (a->type.rank != b->type.rank) return false;
    for (int i = 0; i < a->type.rank; i++) {
        if (a->type.dim[i] != b->type.dim[i]) return false;
    }
    return true;
}

static bool is_link(const Node *n) { return op_is_elementwise(n->op) && n->n_in <= 3; }

// Returns true if the chain above includes it.
static bool belongs_to(const Node *n, const Node *root) {
    return is_link(n) && node_only_user(n) && same_shape(n, root) &&
           n->type.dtype == root->type.dtype;
}

static int operand_index(Chain *c, Node *n) {
    for (int i = 0; i < c->n; i++) {
        if (c->operand[i] == n) return i;
    }
    if (c->n == MOST_OPERANDS) return -1;
    c->operand[c->n] = n;
    return c->n++;
}

static const Expr *build(Chain *c, Node *n, int depth);

static const Expr *build_operand(Chain *c, Node *n, int depth) {
    double v;
    Arena *a = n->graph->arena;
    if (n->op == OP_constant && match_scalar(n, &v) && n->type.dtype == DT_f32)
        return expr_const(a, v);
    if (depth < DEEPEST && belongs_to(n, c->root)) return build(c, n, depth + 1);
    int i = operand_index(c, n);
    return i < 0 ? NULL : expr_arg(a, i);
}

static const Expr *build(Chain *c, Node *n, int depth) {
    const Expr *in[3];
    c->n_ops++;
    for (int i = 0; i < n->n_in; i++) {
        in[i] = build_operand(c, n->in[i], depth);
        if (!in[i]) return NULL;
    }
    return expr_op(n->graph->arena, n->op, n->n_in, in);
}

// A root: no chain above takes it in.
static bool is_root(const Node *n) {
    const Node *user = node_only_user(n);
    return is_link(n) && dtype_is_float(n->type.dtype) &&
           !(user && is_link(user) && belongs_to(n, user));
}

static bool read_chain(Node *root, Chain *c) {
    *c = (Chain){.root = root};
    if (!is_root(root)) return false;
    c->expr = build(c, root, 0);
    return c->expr != NULL;
}

// Nested formulas first, then operands by number: add($1, $0) and add($0, $1) are one.
static int rank_of(const Expr *e) {
    return e->kind == EXPR_OP ? -1 : e->kind == EXPR_ARG ? e->arg : MOST_OPERANDS;
}

static const Expr *ordered(Arena *a, const Expr *e) {
    const Expr *in[3];
    if (e->kind != EXPR_OP) return e;
    for (int i = 0; i < e->n; i++) in[i] = ordered(a, e->in[i]);
    if ((e->op == OP_add || e->op == OP_mul) && rank_of(in[1]) < rank_of(in[0])) {
        const Expr *t = in[0];
        in[0] = in[1], in[1] = t;
    }
    return expr_op(a, e->op, e->n, in);
}

// --------------------------------------------------------------------------------------- epilogues
static bool is_free_product(const Node *n, const Chain *c) {
    return is_packed_product(n) && !attr_find(n, "epilogue") && node_uses(n) == 1 &&
           same_shape(n, c->root);
}

static bool is_routed(const Chain *c) {
    for (int i = 0; i < c->n; i++)
        if (c->operand[i]->op == OP_expert_matmul) return true;
    return false;
}

// One number for each row, [.., 1]
static bool is_column(const Node *n, const Node *root) {
    int rank = root->type.rank;
    for (int i = 0; i + 1 < rank; i++)
        if (n->type.rank != rank || n->type.dim[i] != root->type.dim[i]) return false;
    return dim_is(width_dim(n), 1);
}

// An operand of an epilogue is a vector over the columns, a scalar, or has the shape of the result;
// of a product by experts also a number for each row.
static bool suits_epilogue(const Node *n, const Chain *c) {
    int64_t columns;
    if (n->type.dtype != DT_f32) return false;
    if (n->type.rank == 0 || same_shape(n, c->root) || (is_routed(c) && is_column(n, c->root)))
        return true;
    return n->type.rank == 1 && dim_is_const(width_dim(c->root), &columns) &&
           dim_is(n->type.dim[0], columns);
}

static bool all_suit(const Chain *c) {
    for (int i = 0; i < c->n; i++) {
        if (!suits_epilogue(c->operand[i], c)) return false;
    }
    return c->root->type.dtype == DT_f32;
}

static void swap_operands(Chain *c, int i, int j) {
    const Expr *args[MOST_OPERANDS];
    Arena *a = c->root->graph->arena;
    if (i == j) return;
    for (int k = 0; k < c->n; k++) args[k] = expr_arg(a, k == i ? j : k == j ? i : k);
    c->expr = expr_substitute(a, c->expr, args);
    Node *t = c->operand[i];
    c->operand[i] = c->operand[j];
    c->operand[j] = t;
}

static bool expr_uses(const Expr *e, int arg) {
    if (e->kind == EXPR_ARG) return e->arg == arg;
    for (int i = 0; e->kind == EXPR_OP && i < e->n; i++) {
        if (expr_uses(e->in[i], arg)) return true;
    }
    return false;
}

// Returns true if this operand is under a formula of its own, as a gate is.
static bool is_under_unary(const Expr *e, int arg) {
    if (e->kind != EXPR_OP) return false;
    if (e->n == 1) return expr_uses(e, arg);
    for (int i = 0; i < e->n; i++) {
        if (is_under_unary(e->in[i], arg)) return true;
    }
    return false;
}

static bool find_pair(Chain *c, int *gate, int *up) {
    for (int i = 0; i < c->n; i++) {
        for (int j = i + 1; j < c->n; j++) {
            Node *a = c->operand[i], *b = c->operand[j];
            if (!is_free_product(a, c) || !is_free_product(b, c) || !may_share_pack(a, b)) continue;
            bool swapped = is_under_unary(c->expr, j) && !is_under_unary(c->expr, i);
            *gate = swapped ? j : i;
            *up = swapped ? i : j;
            return true;
        }
    }
    return false;
}

static void finish_epilogue(Chain *c, Node *n, int sums) {
    attr_set_expr(n, "epilogue", ordered(n->graph->arena, c->expr));
    for (int i = sums; i < c->n; i++) node_add_input(n, c->operand[i]);
    inferred(n);
    node_become(c->root, n);
}

static bool fuse_gated(Node *root) {
    Chain c;
    int gate, up;
    if (!read_chain(root, &c) || !all_suit(&c) || !find_pair(&c, &gate, &up)) return false;
    swap_operands(&c, 0, gate);
    swap_operands(&c, 1, up == 0 ? gate : up);
    finish_epilogue(&c, gated_product(root, c.operand[0], c.operand[1], c.expr), 2);
    return true;
}

// Of several products the last one in the list: all others are ready by then.
static int last_product(const Chain *c) {
    int last = -1;
    for (const Node *n = c->root->graph->first; n; n = n->next) {
        for (int i = 0; i < c->n; i++) {
            if (c->operand[i] == n && is_free_product(n, c)) last = i;
        }
    }
    return last;
}

static bool fuse_epilogue(Node *root) {
    Chain c;
    if (!read_chain(root, &c) || !all_suit(&c)) return false;
    int product = last_product(&c);
    if (product < 0) return false;
    swap_operands(&c, 0, product);
    Node *old = c.operand[0], *n = node_again(old, old->op, product_epilogue(old), old->in, root);
    finish_epilogue(&c, n, 1);
    return true;
}

bool fuse_gates(Graph *g) {
    bool changed = false;
    EACH_NODE(n, g) changed |= fuse_gated(n);
    return changed;
}

bool fuse_epilogues(Graph *g) {
    bool changed = false;
    EACH_NODE(n, g) changed |= fuse_epilogue(n);
    return changed;
}

// ------------------------------------------------------------------------------------------ chains
static bool fuse_chain(Node *root) {
    Chain c;
    if (!read_chain(root, &c) || c.n_ops < 2 || c.n < 1) return false;
    Node *n = node_make(root->graph, OP_elementwise, root->loc, c.n, c.operand, root);
    attr_set_expr(n, "expr", ordered(root->graph->arena, c.expr));
    inferred(n);
    if (!type_equal(&n->type, &root->type)) return node_remove(n), false;
    node_become(root, n);
    return true;
}

bool fuse_elementwise(Graph *g) {
    bool changed = false;
    EACH_NODE(n, g) changed |= node_uses(n) && fuse_chain(n);
    return changed;
}
