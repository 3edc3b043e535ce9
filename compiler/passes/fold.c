// fold: values that do not depend on the inputs are computed now, by the reference interpreter.
//
//   before   %a = constant : bf16[192]                          after   %b = constant : f32[192]
//            %b = cast(%a) {to=f32} : f32[192]
//
// The program must not grow by it: a result above LARGEST bytes stays a node, and so does a cast or
// transpose of a weight matrix of the checkpoint (layout packs weights as the file has them). In
// the body of a loop, which would compute it in every iteration, such a matrix is folded too unless
// products read it. A reshape, and a slice of the first axis, of any constant is again a reference
// into the file.
//
// Needs types; gives nothing new; keeps everything.
#include "ir/eval/eval.h"
#include "ir/format.h"
#include "passes/pass.h"
#include "passes/simplify/simplify.h"

PassFunction pass_fold;

enum { LARGEST = 1 << 18, LARGEST_IN_BODY = 1 << 22 };

static bool is_matrix_of_checkpoint(const Node *n) {
    return n->op == OP_constant && n->value && n->value->name && n->value->rank > 1;
}

static bool has_constant_shape(const Node *n) {
    for (int i = 0; i < n->type.rank; i++) {
        if (!dim_is_const(n->type.dim[i], NULL)) return false;
    }
    return true;
}

// Returns true if formulas alone read the value, also by casts and views.
static bool feeds_formulas(const Node *n) {
    for (int i = 0; i < n->n_users; i++) {
        const Node *user = n->users[i];
        if (!user) continue;
        bool passes_on = is_view(user->op) || user->op == OP_cast;
        if (passes_on ? !feeds_formulas(user)
                      : !op_is_elementwise(user->op) && user->op != OP_elementwise)
            return false;
    }
    return true;
}

static bool repeats(const Node *n) { return n->graph->outer && feeds_formulas(n); }

static bool may_fold(const Node *n) {
    OpInfo info = op_info[n->op];
    if (info.rows == ROWS_STATE || n->type.dtype == DT_tuple) return false;
    if (info.rows == ROWS_LEAF && n->op != OP_iota && n->op != OP_size) return false;
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i]) continue;
        if (n->in[i]->op != OP_constant || !n->in[i]->value || !n->in[i]->value->data) return false;
        if ((n->op == OP_cast || is_view(n->op)) && is_matrix_of_checkpoint(n->in[i]) &&
            !repeats(n))
            return false;
    }
    return has_constant_shape(n) && attr_dims_are_constant(n);
}

static Tensor *like_type(const Node *n) {
    Tensor *t = ARENA_NEW(n->graph->arena, Tensor);
    *t = (Tensor){.dtype = n->type.dtype, .rank = n->type.rank};
    for (int i = 0; i < t->rank; i++) dim_is_const(n->type.dim[i], &t->dim[i]);
    return t;
}

// Returns true if its elements are bytes, or its rows are the operand's, of whole blocks.
static bool has_whole_rows(const Node *n) {
    const Type *x = &n->in[0]->type;
    if (!dtype_is_block(x->dtype)) return dtype_bits(x->dtype) >= 8;
    return x->rank > 1 && n->type.rank > 1 && n->type.dim[n->type.rank - 1] == x->dim[x->rank - 1];
}

// The same bytes in another shape, or whole rows of them: no copy.
static Node *refer(Node *n) {
    const Tensor *x = n->in[0]->op == OP_constant ? n->in[0]->value : NULL;
    if (!x || !x->data || !has_constant_shape(n) || !has_whole_rows(n)) return NULL;
    Tensor *t = like_type(n);
    t->source = x->source;
    t->bytes = dtype_bytes(t->dtype, tensor_count(t));
    if (n->op == OP_reshape) {
        t->data = x->data;
    } else {
        int64_t start;
        if (n->op != OP_slice || node_axis(n) || attr_int(n, "step", 1) != 1) return NULL;
        if (!dim_is_const(attr_dim(n, "start"), &start) || !t->dim[0]) return NULL;
        t->data = (const char *)x->data + (uint64_t)start * (t->bytes / (uint64_t)t->dim[0]);
    }
    t->name = x->name ? arena_printf(n->graph->arena, "%s.%s", x->name,
                                     n->op == OP_slice ? "rows" : "reshaped")
                      : NULL;
    return node_constant(n->graph, t, n->loc, n);
}

// A weight of the checkpoint that was only cast is still known by its name.
static void keep_name(const Node *n, Tensor *t, Node *c) {
    Node *weight = n->op == OP_cast ? n->in[0] : NULL;
    if (!weight || !weight->value->name) return;
    t->name = weight->value->name;
    if (node_uses(weight) > 1) return;
    char *name = arena_strdup(n->graph->arena, weight->name);
    node_set_name(weight, "folded");
    node_set_name(c, name);
}

Node *fold_node(Node *n) {
    Node *by = n->op == OP_reshape || n->op == OP_slice ? refer(n) : NULL;
    int64_t count;
    if (by || !may_fold(n) || !dim_is_const(type_count(n->graph, &n->type), &count)) return by;
    const int64_t largest = repeats(n) ? LARGEST_IN_BODY : LARGEST;
    if (count > largest || dtype_bytes(n->type.dtype, count) > (uint64_t)largest) return NULL;
    const Tensor *value = eval_constant_node(n);
    if (!value) return NULL;
    Tensor *t = ARENA_NEW(n->graph->arena, Tensor);
    *t = *value;
    by = node_constant(n->graph, t, n->loc, n);
    keep_name(n, t, by);
    return by;
}

bool pass_fold(Graph *g, PassContext *c) {
    (void)c;
    bool changed = false;
    EACH_NODE(n, g) {
        Node *by = node_uses(n) ? fold_node(n) : NULL;
        if (!by) continue;
        node_become(n, by);
        changed = true;
    }
    return graph_sweep(g) || changed;
}
