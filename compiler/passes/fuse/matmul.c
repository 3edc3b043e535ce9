// Products by weights: matmul becomes matmul_packed, and the products of one value become one.
//
//   before   %t = transpose(%w) {perm=[1, 0]}                     after   %p = pack(%w) {format="f32"}
//            %y = matmul(%x, %t)                                          %y = matmul_packed(%x, %p) {columns=192}
//
// The weights stay as the checkpoint has them, [N, K], or [K, N] with `transposed`; a cast of the
// weights to the type of the product is exact, and pack keeps the narrow form. Blocks along N would
// need new blocks along K: they become floats.
#include <string.h>

#include "ir/format.h"
#include "ir/operands.h"
#include "passes/fuse/fuse.h"
#include "passes/pass.h"
#include "passes/recipe.h"

Node *packed_of(Node *n) {
    bool packed = is_packed_product(n) && n->in[PRODUCT_WEIGHTS]->op == OP_pack;
    return packed ? n->in[PRODUCT_WEIGHTS] : NULL;
}

Node *rows_in_blocks(Builder at, Node *x, DType format) {
    for (int i = 0; i < x->n_users; i++)
        if (x->users[i]->op == OP_quantize_rows && x->users[i]->type.dtype == format)
            return x->users[i];
    Node *n = build_begin(at, OP_quantize_rows, 1, &x);
    attr_set_string(n, "format", dtype_name(format));
    return build_end(at, n);
}

// Returns true if it packs one matrix, or one for each expert.
static bool is_single(const Node *pack) { return pack->n_in == attr_int(pack, "experts", 1); }

static bool is_format(DType t) {
    return t == DT_f32 || t == DT_f16 || t == DT_bf16 || dtype_is_block(t);
}

// The constant under casts from a narrower type and transposes; *swapped: its axes are [N, K], not
// [K, N].
Node *weights_behind(Node *n, bool *swapped) {
    *swapped = false;
    while (n->op != OP_constant) {
        if (n->op == OP_cast) {
            if (n->type.dtype != DT_f32 || !is_format(n->in[0]->type.dtype)) return NULL;
        } else if (n->op == OP_transpose && n->type.rank == 2) {
            *swapped = !*swapped;
        } else {
            return NULL;
        }
        n = n->in[0];
    }
    return n->type.rank == 2 ? n : NULL;
}

DType pack_format(const Node *weights, bool transposed) {
    DType stored = weights->type.dtype;
    return transposed && dtype_is_block(stored) ? DT_f32 : stored;
}

static Node *new_pack(Node *before, int n_in, Node *const *in, bool transposed, DType format) {
    Node *pack = node_make(before->graph, OP_pack, before->loc, n_in, in, before);
    attr_set_string(pack, "format", dtype_name(format));
    if (transposed) attr_set_int(pack, "transposed", 1);
    return inferred(pack);
}

// Marks the packs of the nearest products after n: expert selection reads no other.
static void mark_routers_behind(Node *n) {
    if (n->mark) return;
    n->mark = 1;
    if (is_packed_product(n)) {
        if (packed_of(n)) packed_of(n)->mark = MATRIX_ROUTES;
        return;
    }
    if (n->op == OP_matmul || n->op == OP_attention) return;
    for (int i = 0; i < n->n_in; i++) mark_routers_behind(n->in[i]);
}

void mark_routers(Graph *g) {
    EACH_NODE(n, g) n->mark = 0;
    EACH_NODE(n, g)
        if (n->op == OP_expert_matmul) mark_routers_behind(n->in[EXPERT_INDEX]);
    EACH_NODE(n, g)
        if (n->mark != MATRIX_ROUTES || n->op != OP_pack) n->mark = MATRIX_MULTIPLIES;
}

// What --quant makes of each matrix, on its pack until the pass quantize does it
void label_packs(Graph *g, const QuantRules *rules) {
    mark_routers(g);
    EACH_NODE(n, g) {
        DType wanted;
        if (n->op != OP_pack || !is_single(n)) continue;
        DType format =
            quant_format(rules, n->in[0], width_dim(n)->value, (MatrixUse)n->mark, &wanted);
        attr_set_string(n, "quant", format == DT_COUNT ? "" : dtype_name(format));
    }
}

static bool same_label(const Node *p, const Node *q) {
    return !strcmp(attr_string(p, "quant", ""), attr_string(q, "quant", ""));
}

static Node *new_product(Node *before, Node *x, Node *pack, int64_t columns) {
    Node *n =
        node_make(before->graph, OP_matmul_packed, before->loc, 2, (Node *[]){x, pack}, before);
    attr_set_int(n, "columns", columns);
    return n;
}

static Node *packed_product(Node *n) {
    bool swapped;
    int64_t columns;
    Node *w = weights_behind(n->in[1], &swapped);
    if (!w || n->type.dtype != DT_f32 || n->in[0]->type.rank < 2 || !is_format(w->type.dtype))
        return NULL;
    if (!dim_is_const(width_dim(n), &columns)) return NULL;
    Node *by =
        new_product(n, n->in[0], new_pack(n, 1, &w, !swapped, pack_format(w, !swapped)), columns);
    return inferred(by);
}

bool pack_weights(Graph *g) {
    bool changed = false;
    EACH_NODE(n, g) {
        Node *by = n->op == OP_matmul ? packed_product(n) : NULL;
        if (!by) continue;
        node_become(n, by);
        changed = true;
    }
    return changed;
}

// ------------------------------------------------------------------------------------- gate and up
Node *gated_product(Node *root, Node *gate, Node *up, const Expr *e) {
    Node *a = packed_of(gate), *b = packed_of(up),
         **in = ARENA_ARRAY(root->graph->arena, Node *, a->n_in + b->n_in);
    for (int i = 0; i < a->n_in; i++) in[2 * i] = a->in[i], in[2 * i + 1] = b->in[i];
    Node *pack = node_again(a, OP_pack, a->n_in + b->n_in, in, root);
    attr_remove(pack, "quant");
    attr_set_int(pack, "interleave", 1);
    Node *n = node_again(gate, gate->op, gate->n_in, gate->in, root);
    pack->loc = n->loc = root->loc;
    node_set_input(n, PRODUCT_WEIGHTS, inferred(pack));
    attr_set_int(n, "glu", 1);
    attr_set_expr(n, "epilogue", e);
    return n;
}

// The place in the model that the node's own is in: "model.layers.0.self_attn" of
// "model.layers.0.self_attn.q_proj".
static size_t parent_length(const char *scope) {
    const char *dot = scope ? strrchr(scope, '.') : NULL;
    return dot ? (size_t)(dot - scope) : 0;
}

// Products of one value in several places of the model (an encoder's result, read by every layer)
// are not merged: layers stay alike.
static bool same_place(const Node *a, const Node *b) {
    size_t length = parent_length(a->loc.scope);
    return length == parent_length(b->loc.scope) &&
           (!length || !strncmp(a->loc.scope, b->loc.scope, length));
}

bool may_share_pack(const Node *a, const Node *b) {
    const Node *p = a->in[1], *q = b->in[1];
    bool same_rows = a->in[PRODUCT_X] == b->in[PRODUCT_X] && a->op == b->op &&
                     (a->op != OP_expert_matmul || a->in[EXPERT_INDEX] == b->in[EXPERT_INDEX]);
    return a != b && same_rows && is_single(p) && is_single(q) && p->type.dtype == q->type.dtype &&
           same_label(p, q) && attr_int(p, "transposed", 0) == attr_int(q, "transposed", 0) &&
           !attr_find(a, "glu") && !attr_find(b, "glu");
}

// ------------------------------------------------------------------------------------- projections
enum { MOST_PROJECTIONS = 4 };

typedef struct Projections {
    int n;
    Node *product[MOST_PROJECTIONS];
    const Expr *form;  // with a bias
    bool biased;       // some have one
} Projections;

static bool is_rounded(const Expr *e) {
    return e->kind == EXPR_OP && (e->op == OP_round_f16 || e->op == OP_round_bf16);
}

// add($0, $1), or with `rounding` after the product and after the sum, as 16-bit ops round.
static const Expr *biased_form(Arena *a, Op rounding) {
    const Expr *sum = expr_arg(a, 0);
    bool rounds = rounding != OP_COUNT;
    if (rounds) sum = expr_op(a, rounding, 1, &sum);
    sum = expr_op(a, OP_add, 2, (const Expr *const[]){sum, expr_arg(a, 1)});
    return rounds ? expr_op(a, rounding, 1, &sum) : sum;
}

// The epilogue as it is with a bias; NULL when it is more than a bias. *biased: it has one.
static const Expr *form_of(const Node *n, bool *biased) {
    const Expr *e = attr_expr(n, "epilogue");
    Arena *a = n->graph->arena;
    *biased = n->n_in > 2;
    if (!e) return biased_form(a, OP_COUNT);
    const Expr *form = biased_form(a, is_rounded(e) ? e->op : OP_COUNT);
    if (*biased)
        return expr_equal(e, form) && n->in[2]->type.rank == 1 && is_weight(n->in[2]) ? form : NULL;
    return is_rounded(e) && e->in[0]->kind == EXPR_ARG ? form : NULL;
}

static bool is_projection(const Node *n) {
    bool biased;
    return n->op == OP_matmul_packed && n->in[1]->op == OP_pack && n->in[1]->n_in == 1 &&
           n->type.rank == 2 && form_of(n, &biased) && node_uses(n) > 0;
}

// Looks no further than the last use of the rows that are multiplied.
static Projections projections_of(Node *first) {
    bool biased;
    Projections p = {.form = form_of(first, &biased)};
    const Node *rows = first->in[PRODUCT_X];
    int uses = node_uses(rows);
    for (Node *n = first; n && uses && p.n < MOST_PROJECTIONS; n = n->next) {
        int used = 0;
        for (int i = 0; i < n->n_in; i++) used += n->in[i] == rows;
        uses -= used;
        if (!used || !is_projection(n) ||
            (n != first && (!may_share_pack(first, n) || !same_place(first, n))))
            continue;
        if (!expr_equal(p.form, form_of(n, &biased))) continue;
        p.biased |= biased;
        p.product[p.n++] = n;
    }
    return p;
}

static Node *joined_bias(const Projections *p, Node *before) {
    Node *in[MOST_PROJECTIONS];
    for (int i = 0; i < p->n; i++) {
        Node *n = p->product[i];
        in[i] = n->n_in == 3 ? n->in[2]
                             : build_filled(cursor_at(before, before->loc), DT_f32, 0, 1,
                                            (const Dim *const[]){width_dim(n)});
    }
    return build_concat(cursor_at(before, before->loc), p->n, in, 0);
}

static Node *joined_product(const Projections *p, Node *before, int64_t columns) {
    Node *sources[MOST_PROJECTIONS];
    for (int i = 0; i < p->n; i++) sources[i] = p->product[i]->in[1]->in[0];
    Node *pack = new_pack(before, p->n, sources, attr_int(p->product[0]->in[1], "transposed", 0),
                          p->product[0]->in[1]->type.dtype);
    Node *n = new_product(before, p->product[0]->in[0], pack, columns);
    const Expr *epilogue = p->biased ? p->form : attr_expr(p->product[0], "epilogue");
    if (p->biased) node_add_input(n, joined_bias(p, before));
    if (epilogue) attr_set_expr(n, "epilogue", epilogue);
    return inferred(n);
}

// The weights of later products may be after the first product: the caller sorts the graph.
static void merge(const Projections *p) {
    int64_t columns = 0, start = 0;
    Node *before = p->product[0];
    for (int i = 0; i < p->n; i++) columns += attr_int(p->product[i], "columns", 0);
    Node *joined = joined_product(p, before, columns);
    for (int i = 0; i < p->n; i++) {
        int64_t width = attr_int(p->product[i], "columns", 0);
        Graph *g = before->graph;
        node_become(p->product[i],
                    build_slice(cursor(before), joined,
                                (Slice){1, dim_const(g, start), dim_const(g, width), 1}));
        start += width;
    }
}

bool merge_projections(Graph *g) {
    bool changed = false;
    EACH_NODE(n, g) {
        if (!is_projection(n)) continue;
        Projections p = projections_of(n);
        if (p.n < 2) continue;
        merge(&p);
        changed = true;
    }
    return changed;
}
