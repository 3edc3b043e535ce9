// mixtures: of a mixture's experts only those selected by a row are computed.
//
//   before   %y0 = mul(f(%x, %w0), %shares[:, 0])               after   %index = top_k(where(%mask, iota, E)) : i32[T, k]
//            %y1 = mul(f(%x, %w1), %shares[:, 1])                       %share = gather_elements(%shares, %index) : f32[T, k, 1]
//            %y = add(add(%y0, %y1), %y2) ...                           %yk = mul(f(%x, %w[%index]), %share) : f32[T, k, N]
//                                                                       %y = reduce_sum(%yk) {axes=[1]}
//
// A sum with one term for each column of gate weights, in ascending order, whose gate weights are
// zero except for k of a row (top_k_mask.c). The terms are one formula: node by node they agree
// except for the weights, which become one pack of all experts, and for the column. Values get an
// axis of k slots after their rows; matmul becomes expert_matmul, a vector of weights is looked up
// by expert, and elements of a row by a list of each expert. A row's slots are in ascending order
// of their experts, so the terms left out of the sum are zeros alone.
//
// Needs types and formulas in core ops; gives nothing new; keeps everything.
#include "passes/experts/mixture.h"

#include <string.h>

#include "ir/eval/eval.h"
#include "ir/operands.h"
#include "passes/fuse/fuse.h"
#include "passes/fuse/scores.h"
#include "passes/pass.h"

PassFunction pass_mixtures;

static const char PATTERN[] = "mixture of experts";

// The same node of every expert's formula: one node, weights of each expert, or a node already made
// from the other experts': with slots.
typedef struct Aligned {
    struct Aligned *next;
    Node *const *each;
    Node *routed;  // NULL: they are one node, or weights
} Aligned;

typedef struct Mixture {
    Node *root, *shares, *index;
    Node *counts;  // bool[T, k]: slots of experts that the row chose; NULL: all are
    Node **terms;
    int n;  // experts
    const Dim *rows, *slots;
    Aligned *known;
    Attempt *attempt;
} Mixture;

static Arena *arena_of(const Mixture *m) { return m->root->graph->arena; }
static bool all_same(const Mixture *m, Node *const *each) {
    for (int i = 1; i < m->n; i++)
        if (each[i] != each[0]) return false;
    return true;
}

static bool all_weights(const Mixture *m, Node *const *each) {
    for (int i = 0; i < m->n; i++)
        if (!is_weight(each[i]) || !type_equal(&each[i]->type, &each[0]->type)) return false;
    return true;
}

static bool all_alike(const Mixture *m, Node *const *each) {
    for (int i = 1; i < m->n; i++) {
        const Node *a = each[0], *b = each[i];
        if (a->op != b->op || a->n_in != b->n_in || !type_equal(&a->type, &b->type) ||
            !same_attrs(a, b))
            return false;
    }
    return true;
}

// ------------------------------------------------------------------------------------------- terms
// The column of shares [T, E] that a term is multiplied with; NULL when there is none.
static Node *share_of(Node *n, int depth, int64_t *column) {
    n = before_rounding(n);
    if (n->op == OP_slice) {
        const Node *x = n->in[0];
        bool one = x->type.rank == 2 && node_axis(n) == 1 && dim_is(attr_dim(n, "extent"), 1) &&
                   !is_weight(x);
        return one && dim_is_const(attr_dim(n, "start"), column) ? n->in[0] : NULL;
    }
    if (depth == 0 ||
        (n->op != OP_mul && n->op != OP_reshape && n->op != OP_expand && n->op != OP_cast))
        return NULL;
    for (int i = 0; i < n->n_in; i++) {
        Node *shares = share_of(n->in[i], depth - 1, column);
        if (shares) return shares;
    }
    return NULL;
}

enum { SHARE_DEPTH = 4 };

static bool is_term(Node *n, const Node *shares, int64_t expert) {
    int64_t column;
    return share_of(n, SHARE_DEPTH, &column) == shares && column == expert;
}

// Which operand of a sum is the term of the last expert; -1 when none is.
static int last_term(Node *n, Node **shares, int64_t *experts) {
    int64_t column;
    n = before_rounding(n);
    for (int i = 1; n->op == OP_add && i >= 0; i--) {
        *shares = share_of(n->in[i], SHARE_DEPTH, &column);
        if (*shares && dim_is_const((*shares)->type.dim[1], experts) && column == *experts - 1 &&
            column > 0)
            return i;
    }
    return -1;
}

// The addend of an empty sum
static Node *behind_zero(Node *n) {
    double v;
    Node *sum = before_rounding(n);
    for (int i = 0; sum->op == OP_add && i < 2; i++)
        if (match_scalar(sum->in[i], &v) && v == 0) return sum->in[!i];
    return n;
}

static bool read_terms(Node *root, Mixture *m) {
    int64_t experts;
    int side = last_term(root, &m->shares, &experts);
    if (side < 0) return false;
    m->root = root, m->n = (int)experts;
    m->terms = ARENA_ARRAY(root->graph->arena, Node *, experts);
    Node *sum = root;
    for (int e = m->n - 1; e > 0; e--, sum = sum->in[!side]) {
        if (e < m->n - 1 && !node_only_user(sum)) return false;
        sum = before_rounding(sum);
        if (sum->op != OP_add) return false;
        for (side = 1; side >= 0 && !is_term(sum->in[side], m->shares, e);) side--;
        if (side < 0) return false;
        m->terms[e] = sum->in[side];
    }
    m->terms[0] = sum = behind_zero(sum);
    m->rows = root->type.dim[0];
    return is_term(sum, m->shares, 0) && root->type.rank == 2 && m->shares->type.dim[0] == m->rows;
}

// ----------------------------------------------------------------------------------------- weights
Node *packed_experts(Node *before, Node *const *each, int n) {
    Node **w = ARENA_ARRAY(before->graph->arena, Node *, n);
    bool swapped = false, first = false;
    for (int i = 0; i < n; i++) {
        w[i] = weights_behind(each[i], &swapped);
        if (i == 0) first = swapped;
        if (!w[i] || swapped != first || !type_equal(&w[i]->type, &w[0]->type)) return NULL;
    }
    Node *pack = node_make(before->graph, OP_pack, each[0]->loc, n, w, before);
    attr_set_string(pack, "format", dtype_name(pack_format(w[0], !first)));
    attr_set_int(pack, "experts", n);
    if (!first) attr_set_int(pack, "transposed", 1);
    return inferred(pack);
}

// Vectors of all experts as rows of one matrix, looked up by the slot's expert: [T, k, 1 .., n] of
// `rank` + 1 axes
static Node *looked_up(const Mixture *m, Node *const *each, int rank) {
    const Type *type = &each[0]->type;
    const Dim *dims[MAX_RANK] = {m->rows, m->slots},
              *flat[2] = {dim_const(m->root->graph, 1), type_count(m->root->graph, type)};
    Node **rows = ARENA_ARRAY(arena_of(m), Node *, m->n);
    int first = rank - type->rank + 1;
    if (first < 1 || rank >= MAX_RANK || (first == 1 && !dim_is(type->dim[0], 1))) return NULL;
    for (int i = 2; i < first + 1; i++) dims[i] = dim_const(m->root->graph, 1);
    for (int i = first == 1; i < type->rank; i++) dims[first + i] = type->dim[i];
    for (int i = 0; i < m->n; i++) rows[i] = build_reshape(cursor(m->root), each[i], 2, flat);
    Node *found =
        build_gather(cursor(m->root), build_concat(cursor(m->root), m->n, rows, 0), m->index, 0);
    return build_reshape(cursor(m->root), found, rank + 1, dims);
}

// ---------------------------------------------------------------------------------------- formulas
static bool fails(Mixture *m, const Node *n, const char *why) {
    return attempt_fails(m->attempt, n, why);
}

static bool align(Mixture *m, Node *const *each, const Aligned **result);

static bool is_like(const Node *a, const Node *b) {
    return a->op == b->op && type_equal(&a->type, &b->type);
}

// An operand of each; those of a sum or product may be swapped.
static Node *const *operands_of(const Mixture *m, Node *const *each, int operand) {
    Node **in = ARENA_ARRAY(arena_of(m), Node *, m->n);
    bool commutes = each[0]->op == OP_add || each[0]->op == OP_mul;
    for (int i = 0; i < m->n; i++) {
        bool swapped = commutes && !is_like(each[i]->in[0], each[0]->in[0]) &&
                       is_like(each[i]->in[1], each[0]->in[0]);
        in[i] = each[i]->in[operand ^ swapped];
    }
    return in;
}

// A value of all experts beside values with slots, of which the formula has `rank` axes
static Node *with_slots(const Mixture *m, Node *n, int rank) {
    const Dim *dims[MAX_RANK] = {m->rows, dim_const(m->root->graph, 1)};
    if (n->type.rank < rank || n->type.dim[0] != m->rows) return n;
    for (int i = 1; i < rank; i++) dims[i + 1] = n->type.dim[i];
    return build_reshape(cursor(m->root), n, rank + 1, dims);
}

static bool operand_with_slots(Mixture *m, Node *const *each, int operand, Node **in) {
    const Aligned *a;
    int rank = each[0]->type.rank;
    if (!align(m, operands_of(m, each, operand), &a)) return false;
    const Node *n = each[0]->in[operand];
    if (a->routed)
        *in = n->type.rank == rank ? a->routed : NULL;
    else
        *in = all_same(m, a->each) ? with_slots(m, a->each[0], rank) : looked_up(m, a->each, rank);
    return *in || fails(m, n, "it has other axes than what it meets");
}

static Node *routed_elementwise(Mixture *m, Node *const *each) {
    Node *in[3];
    for (int i = 0; i < each[0]->n_in; i++)
        if (!operand_with_slots(m, each, i, &in[i])) return NULL;
    return inferred(node_again(each[0], each[0]->op, each[0]->n_in, in, m->root));
}

static Node *routed_product(Mixture *m, Node *const *each) {
    const Aligned *x, *w;
    int64_t columns;
    if (!align(m, operands_of(m, each, 0), &x) || !align(m, operands_of(m, each, 1), &w))
        return NULL;
    Node *pack = w->routed || all_same(m, w->each) ? NULL : packed_experts(m->root, w->each, m->n);
    bool rows = x->routed || (all_same(m, x->each) && !is_weight(x->each[0]));
    bool fits = pack && rows && each[0]->in[0]->type.rank == 2 &&
                dim_is_const(each[0]->type.dim[1], &columns);
    if (!fits) return fails(m, each[0], "it is no product by a matrix of each expert"), NULL;
    Node *in[] = {x->routed ? x->routed : x->each[0], pack, m->index};
    Node *n = node_make(m->root->graph, OP_expert_matmul, each[0]->loc, 3, in, m->root);
    attr_set_int(n, "columns", columns);
    return inferred(n);
}

// Axes after the rows move by one.
static void move_axes(Node *n, const Mixture *m) {
    int count;
    const int64_t *ints = attr_ints(n, n->op == OP_transpose ? "perm" : "axes", &count);
    const Dim *const *shape = attr_dims(n, "shape", &(int){0});
    if (attr_find(n, "axis")) attr_set_int(n, "axis", node_axis(n) + 1);
    if (shape) {
        const Dim *dims[MAX_RANK + 1] = {m->rows, m->slots};
        int rank = attr_find(n, "shape")->n;
        memcpy(dims + 2, shape + 1, (size_t)(rank - 1) * sizeof *dims);
        attr_set_dims(n, "shape", dims, rank + 1);
    }
    if (!count) return;
    int64_t moved[MAX_RANK + 1] = {0, 1};
    int first = n->op == OP_transpose ? 2 : 0, from = n->op == OP_transpose;
    for (int i = from; i < count; i++) moved[first + i - from] = ints[i] + 1;
    attr_set_ints(n, n->op == OP_transpose ? "perm" : "axes", moved, first + count - from);
}

// Returns true if the op keeps the rows as its first axis.
static bool keeps_rows(const Mixture *m, const Node *n) {
    int count;
    const int64_t *ints = attr_ints(n, n->op == OP_transpose ? "perm" : "axes", &count);
    if (!n->type.rank || n->type.dim[0] != m->rows || n->in[0]->type.dim[0] != m->rows)
        return false;
    if (attr_find(n, "axis") && node_axis(n) == 0) return false;
    if (n->op == OP_transpose) return ints[0] == 0;
    for (int i = 0; i < count; i++)
        if (ints[i] == 0) return false;
    return n->op != OP_expand || n->type.rank == n->in[0]->type.rank;
}

static Node *routed_along(Mixture *m, Node *const *each) {
    Node *in[each[0]->n_in];
    if (!keeps_rows(m, each[0])) return fails(m, each[0], "it moves or joins rows"), NULL;
    for (int i = 0; i < each[0]->n_in; i++) {
        const Aligned *a;
        if (!align(m, operands_of(m, each, i), &a)) return NULL;
        if (!a->routed)
            return fails(m, each[0], "it joins values of one expert with values of all"), NULL;
        in[i] = a->routed;
    }
    Node *n = node_again(each[0], each[0]->op, each[0]->n_in, in, m->root);
    move_axes(n, m);
    return inferred(n);
}

// Column e of the shares: [T, k, 1]
static Node *routed_share(Mixture *m, Node *const *each) {
    int64_t start;
    for (int e = 0; e < m->n; e++)
        if (each[e]->op != OP_slice || each[e]->in[0] != each[0]->in[0] ||
            !dim_is_const(attr_dim(each[e], "start"), &start) || start != e)
            return NULL;
    const Node *slice = each[0], *x = slice->in[0];
    bool column = x->type.rank == 2 && node_axis(slice) == 1 &&
                  dim_is(attr_dim(slice, "extent"), 1) && x->type.dim[0] == m->rows &&
                  dim_is(x->type.dim[1], m->n);
    if (!column) return NULL;
    Node *n =
        build_begin(cursor(m->root), OP_gather_elements, 2, (Node *[]){slice->in[0], m->index});
    attr_set_int(n, "axis", 1);
    const Dim *dims[] = {m->rows, m->slots, dim_const(n->graph, 1)};
    n = inferred(n);
    Builder at = cursor(m->root);
    if (m->counts) n = build_where(at, m->counts, n, build_scalar(at, n->type.dtype, 0));
    return build_reshape(cursor(m->root), n, 3, dims);
}

// The elements of each row that its slot's expert asks for: [T, k, n]
static Node *routed_lookup(Mixture *m, Node *const *each) {
    const Aligned *x, *which;
    int axis = node_axis(each[0]);
    if (!align(m, operands_of(m, each, 0), &x) || !align(m, operands_of(m, each, 1), &which))
        return NULL;
    bool rows = x->routed || (all_same(m, x->each) && !is_weight(x->each[0]));
    bool fits =
        axis == 1 && each[0]->type.rank == 2 && rows && !which->routed && is_weight(which->each[0]);
    if (!fits) return fails(m, each[0], "it is no lookup in rows by a list of each expert"), NULL;
    Node *list = looked_up(m, which->each, 2), *from = x->routed;
    if (!from) {
        const Dim *dims[] = {m->rows, m->slots, x->each[0]->type.dim[1]};
        from = build_expand(cursor(m->root), with_slots(m, x->each[0], 2), 3, dims);
    }
    Node *n = build_begin(cursor(m->root), OP_gather_elements, 2, (Node *[]){from, list});
    attr_set_int(n, "axis", 2);
    return inferred(n);
}

static Node *routed(Mixture *m, Node *const *each) {
    const Node *n = each[0];
    Node *share = routed_share(m, each);
    if (share) return share;
    if (!all_alike(m, each)) return fails(m, n, "the experts differ here"), NULL;
    if (op_is_elementwise(n->op) || n->op == OP_cast) return routed_elementwise(m, each);
    if (n->op == OP_matmul) return routed_product(m, each);
    if (n->op == OP_gather) return routed_lookup(m, each);
    if (is_view(n->op) || n->op == OP_softmax || n->op == OP_concat || attr_find(n, "axes"))
        return routed_along(m, each);
    return fails(m, n, "nothing is known of its rows"), NULL;
}

static bool align(Mixture *m, Node *const *each, const Aligned **result) {
    for (const Aligned *a = m->known; a; a = a->next)
        if (a->each[0] == each[0] && !memcmp(a->each, each, (size_t)m->n * sizeof *each))
            return *result = a, true;
    Aligned *a = ARENA_NEW(arena_of(m), Aligned);
    *a = (Aligned){.each = each};
    if (!all_same(m, each) && !all_weights(m, each)) {
        a->routed = routed(m, each);
        if (!a->routed) return false;
    }
    a->next = m->known, m->known = a;
    return *result = a, true;
}

// ---------------------------------------------------------------------------------------- mixtures
// The experts of each row in ascending order: i32[T, k]
static Node *chosen_index(const Mixture *m, const Choice *c) {
    Builder at = cursor_at(m->root, m->shares->loc);
    const Dim *dims[] = {dim_const(m->root->graph, 1), m->shares->type.dim[1]};
    Node *iota = build_iota(at, 2, dims, 1), *none = build_scalar(at, DT_i32, m->n);
    Node *list = c->index ? build_cast(at, c->index, DT_i32) : build_where(at, c->mask, iota, none);
    Node *top = build_begin(at, OP_top_k, 1, &list);
    attr_set_dims(top, "extent", &m->slots, 1);
    attr_set_int(top, "axis", 1);
    attr_set_int(top, "largest", 0);
    return node_item(top->graph, inferred(top), 0, m->root);
}

// Unused slots name no expert: they get the last expert with weight 0.
static void only_counted(Mixture *m) {
    Builder at = cursor(m->root);
    m->counts = build_binary(at, OP_less, m->index, build_scalar(at, DT_i32, m->n));
    m->index = build_where(at, m->counts, m->index, build_scalar(at, DT_i32, m->n - 1));
}

static bool recognise_mixture(Node *root, Attempt *a) {
    Mixture m = {.attempt = a};
    Choice c = {.before = root};
    const Aligned *y;
    enum { SEARCH_DEPTH = 12 };
    if (!read_terms(root, &m) || !find_choice(m.shares, &c, SEARCH_DEPTH) || c.k >= m.n)
        return false;
    *a = (Attempt){.pattern = PATTERN, .root = root};
    m.slots = dim_const(root->graph, c.k);
    m.index = chosen_index(&m, &c);
    if (c.fewer) only_counted(&m);
    if (!align(&m, m.terms, &y)) return true;
    if (!y->routed) return attempt_broke(a, root, "its terms are no values of experts");
    a->by = build_reduce(cursor(root), OP_reduce_sum, y->routed, (int64_t[]){1}, 1, false);
    if (before_rounding(root) != root) a->by = rounded_before(root, a->by, root);
    return true;
}

// ------------------------------------------------------------------------------------------ misses
// Returns true if a computation from the value, up to the next product, selects the matrices of a
// product.
static bool picks_matrices(Node *choice) {
    choice->mark = 1;
    for (Node *n = choice->next; n; n = n->next) {
        n->mark = 0;
        for (int i = 0; i < n->n_in && !n->mark; i++) n->mark = n->in[i] && n->in[i]->mark;
        bool product = n->op == OP_matmul || n->op == OP_expert_matmul;
        if (n->op == OP_expert_matmul && n->in[EXPERT_INDEX]->mark) return true;
        if (product) n->mark = 0;
    }
    return false;
}

// Returns true if a selection is followed by one product for each expert, by weights of one shape
// or by one tensor of all experts.
static bool has_experts(const Node *choice, int64_t experts) {
    const Type *first = NULL;
    int64_t alike = 0;
    for (const Node *n = choice->next; n; n = n->next) {
        if (n->op != OP_matmul || !is_weight(n->in[1])) continue;
        const Type *w = &n->in[1]->type;
        if (w->rank > 2 && dim_is(w->dim[0], experts)) return true;
        if (!first) first = w;
        alike += type_equal(w, first);
    }
    return alike >= experts;
}

static bool missed_mixtures(const PassContext *c) {
    for (const FusionSite *s = c->sites; s; s = s->next)
        if (s->missed && !strcmp(s->pattern, PATTERN)) return true;
    return false;
}

// Choices of some of many that no product knows: all experts are computed.
static void report_unused_choices(Graph *g, PassContext *c) {
    if (missed_mixtures(c)) return;
    EACH_NODE(m, g) m->mark = 0;
    EACH_NODE(n, g) {
        int64_t k, of;
        bool chooses = n->op == OP_top_k && is_text(g) && dim_is_const(attr_dim(n, "extent"), &k) &&
                       dim_is_const(n->in[0]->type.dim[node_axis(n)], &of) && k < of;
        if (chooses && has_experts(n, of) && !picks_matrices(n))
            fusion_site(c, PATTERN, n->loc, n,
                        "no product by the matrices of each expert follows from its choice");
    }
}

bool pass_mixtures(Graph *g, PassContext *c) {
    bool changed = recognise_all(g, c, recognise_lookup);
    changed |= recognise_all(g, c, recognise_mixture);
    graph_sweep(g);
    report_unused_choices(g, c);
    return changed && (simplify_graph(g), true);
}
