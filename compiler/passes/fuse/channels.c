// Epilogues of convolutions: a product gives [pixels, channels], which is read as [channels,
// height, width], so its consumers act along another axis than the columns.
//
//   before   %y = matmul_packed(%x, %w) : f32[1024, 64]
//            %t = transpose(%y) : f32[64, 1024]
//            %r = reshape(%t) : f32[64, 32, 32]
//            %e = elementwise(%r, %b) {expr=relu(add($0, $1))}
//   after    %y = matmul_packed(%x, %w, %c) {epilogue=relu(add($0, $1))}
//            %t = transpose(%y) : f32[64, 1024]
//            %r = reshape(%t) : f32[64, 32, 32]
//
// Other operands must be numbers, one value for each channel ([64, 1, 1]), or as large as the
// result (a residual).
#include "ir/operands.h"
#include "passes/axes.h"
#include "passes/fuse/fuse.h"

enum { MOST_VIEWS = 8, MOST_FUSED = 16 };

typedef struct Site {
    Node *root, *product, *view[MOST_VIEWS];  // views from the product on
    int operand, n_views, axis;               // of the root's type: the axis of the columns
} Site;

static bool is_free_product(const Node *n) {
    return n->op == OP_matmul_packed && !attr_find(n, "epilogue") && !attr_find(n, "glu") &&
           node_uses(n) == 1 && n->type.dtype == DT_f32;
}

// The views between a product and the root's operand, each of one use
static bool find_product(Site *s) {
    Node *seen[MOST_VIEWS], *n = s->root->in[s->operand];
    s->n_views = 0;
    for (; n->op == OP_reshape || n->op == OP_transpose; n = n->in[0]) {
        if (s->n_views == MOST_VIEWS || node_uses(n) != 1) return false;
        seen[s->n_views++] = n;
    }
    for (int i = 0; i < s->n_views; i++) s->view[i] = seen[s->n_views - 1 - i];
    s->product = n;
    return s->n_views && is_free_product(n);
}

static int axis_behind(const Node *view, int axis) {
    if (view->op == OP_reshape)
        return same_axis(view->graph, &view->in[0]->type, axis, &view->type);
    const Attr *perm = attr_find(view, "perm");
    for (int i = 0; i < perm->n; i++)
        if (perm->ints[i] == axis) return i;
    return -1;
}

// Returns true if the columns end as another axis than the last.
static bool find_axis(Site *s) {
    s->axis = s->product->type.rank - 1;
    for (int i = 0; i < s->n_views && s->axis >= 0; i++) s->axis = axis_behind(s->view[i], s->axis);
    return s->axis >= 0 && s->axis < s->root->type.rank - 1;
}

// ---------------------------------------------------------------------------------------- operands
static bool is_full(const Site *s, const Node *n) {
    if (n->type.rank != s->root->type.rank) return false;
    for (int i = 0; i < n->type.rank; i++)
        if (n->type.dim[i] != s->root->type.dim[i]) return false;
    return true;
}

// Returns true if it has one value for all channels, or one for each.
static bool is_by_channel(const Site *s, const Node *n) {
    int shift = s->root->type.rank - n->type.rank;
    for (int i = 0; i < n->type.rank; i++)
        if (!dim_is(n->type.dim[i], 1) &&
            (i + shift != s->axis || n->type.dim[i] != s->root->type.dim[s->axis]))
            return false;
    return true;
}

// An operand as large as the result, in the shape of the product
static Node *undo_views(const Site *s, Node *n) {
    for (int i = s->n_views - 1; i >= 0; i--) {
        const Node *view = s->view[i];
        const Type *type = &view->in[0]->type;
        int64_t inverse[MAX_RANK];
        const Attr *perm = attr_find(view, "perm");
        for (int j = 0; view->op == OP_transpose && j < perm->n; j++) inverse[perm->ints[j]] = j;
        n = view->op == OP_transpose ? build_transpose(cursor(s->root), n, inverse)
                                     : build_reshape(cursor(s->root), n, type->rank, type->dim);
    }
    return n;
}

static Node *epilogue_operand(const Site *s, Node *n) {
    if (is_full(s, n)) return undo_views(s, n);
    const Dim *count = type_count(n->graph, &n->type);
    return build_reshape(cursor(s->root), n, dim_is(count, 1) ? 0 : 1, &count);
}

static bool all_suit(const Site *s) {
    const Node *root = s->root;
    if (root->n_in > MOST_FUSED || root->type.dtype != DT_f32 || !is_full(s, root->in[s->operand]))
        return false;
    for (int i = 0; i < root->n_in; i++) {
        const Node *n = root->in[i];
        if (n->type.dtype != DT_f32 || (!is_full(s, n) && !is_by_channel(s, n))) return false;
    }
    return true;
}

// ------------------------------------------------------------------------------------- replacement
// The root's formula, in which the product is $0 and other operands follow
static const Expr *formula(const Site *s) {
    const Expr *args[MOST_FUSED], *e = attr_expr(s->root, "expr");
    Arena *a = s->root->graph->arena;
    for (int i = 0; i < s->root->n_in; i++)
        args[i] = expr_arg(a, i == s->operand ? 0 : i < s->operand ? i + 1 : i);
    return e ? expr_substitute(a, e, args) : expr_op(a, s->root->op, s->root->n_in, args);
}

static void replace_root(const Site *s) {
    Node *old = s->product, *root = s->root;
    Node *n = node_again(old, old->op, product_epilogue(old), old->in, root);
    attr_set_expr(n, "epilogue", formula(s));
    for (int i = 0; i < root->n_in; i++)
        if (i != s->operand) node_add_input(n, epilogue_operand(s, root->in[i]));
    node_move_before(n, root);
    n = inferred(n);
    for (int i = 0; i < s->n_views; i++)
        n = inferred(node_again(s->view[i], s->view[i]->op, 1, &n, root));
    node_become(root, n);
}

bool fuse_channels(Graph *g) {
    bool changed = false;
    EACH_NODE(n, g) {
        bool formula = n->op == OP_elementwise || (op_is_elementwise(n->op) && n->n_in <= 3);
        if (!formula || !node_uses(n)) continue;
        for (int i = n->n_in - 1; i >= 0; i--) {
            Site s = {.root = n, .operand = i};
            if (!find_product(&s) || !find_axis(&s) || !all_suit(&s)) continue;
            replace_root(&s);
            changed = true;
            break;
        }
    }
    return changed;
}
