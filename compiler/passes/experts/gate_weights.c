// shares: the gate weight of each expert, in formulas over the numbers that top_k selected: a loop
// over experts that each take their rows, or one-hot masks. Both become a table with a column for
// each expert, which the pass mixtures reads.
//
//   before   %hit = equal(%index, 3) : bool[T, k]                      %index: of a top_k
//            %y = where(%hit[:, 0], add(%x, mul(%e, %w[:, 0])), %x) ...   for each slot and each expert
//            %s = reduce_sum(mul(%hit, %w)) {axes=[1]}
//   after    %shares = scatter_elements(0, %index, %w) {axis=1} : f32[T, E]
//            %y = add(mul(%e0, %shares[:, 0]), mul(%e1, %shares[:, 1])) ...
//            %s = %shares[:, 3]
//
// The pass experts has already turned masked rows into all rows.
//
// Needs types and formulas in core ops; gives nothing new; keeps everything.
#include <string.h>

#include "ir/index.h"
#include "passes/experts/mixture.h"
#include "passes/pass.h"

PassFunction pass_shares;

// index [T, k], of a top_k, is `expert` at `slot` of each row.
typedef struct Hit {
    Node *index;
    int64_t slot, expert;
} Hit;

// -------------------------------------------------------------------------------------------- hits
static bool is_number(const Node *n, double value) {
    double v;
    return match_scalar(n, &v) && v == value;
}

bool is_chosen_index(const Node *n) {
    return n->op == OP_item && n->in[0]->op == OP_top_k && attr_int(n, "index", 0) == 1 &&
           n->type.rank == 2 && node_axis(n->in[0]) == 1;
}

// The element of top_k's index that a place is; OneHot counts negative ones from the end, which
// these never are.
static Place before_wrapping(Place p) {
    for (;;) {
        p = behind_views(p);
        const Node *n = p.node;
        bool wraps = n->op == OP_where && n->in[0]->op == OP_less && n->in[0]->in[0] == n->in[2] &&
                     is_number(n->in[0]->in[1], 0);
        if (n->op != OP_cast && !wraps) return p;
        p = place_of_operand(&p, wraps ? 2 : 0);
    }
}

// The number of an expert that an element is compared with, or AT_EXPERT
static bool read_expert(const Place *p, int64_t *expert) {
    const Dim *at[MAX_RANK], *every = NULL;
    for (int i = 0; i < p->node->type.rank; i++) {
        bool known = p->at[i] >= 0;
        at[i] = known ? dim_const(p->node->graph, p->at[i])
                      : index_symbol(p->node->graph, i, p->node->type.dim[i]);
        if (p->at[i] == AT_EXPERT) every = at[i];
    }
    const Dim *value = index_value(p->node, at);
    if (!value) return false;
    if (every && value == every) return *expert = AT_EXPERT, true;
    return dim_is_const(value, expert) && *expert >= 0;
}

static bool read_equal(const Place *p, Hit *h) {
    for (int i = 0; i < 2; i++) {
        Place index = before_wrapping(place_of_operand(p, i)), expert = place_of_operand(p, !i);
        if (!is_chosen_index(index.node) || index.at[0] != AT_ROW ||
            !read_expert(&expert, &h->expert))
            continue;
        h->index = index.node, h->slot = index.at[1];
        return true;
    }
    return false;
}

// A truth, or a one where it is true
static bool read_hit(Place p, Hit *h) {
    for (;;) {
        p = behind_views(p);
        if (p.node->op == OP_equal) return read_equal(&p, h);
        bool mark =
            p.node->op == OP_where && is_number(p.node->in[1], 1) && is_number(p.node->in[2], 0);
        if (p.node->op != OP_cast && !mark) return false;
        p = place_of_operand(&p, 0);
    }
}

// ------------------------------------------------------------------------------------------ tables
static const Dim *experts_of(const Hit *h) { return h->index->in[0]->in[0]->type.dim[1]; }

static Node *share_table(Builder at, const Hit *h, Node *weights) {
    const Dim *dims[] = {h->index->type.dim[0], experts_of(h)};
    Node *none = build_filled(at, weights->type.dtype, 0, 2, dims);
    Node *n = build_begin(at, OP_scatter_elements, 3, (Node *[]){none, h->index, weights});
    attr_set_int(n, "axis", 1);
    attr_set_string(n, "reduction", "none");
    return build_end(at, n);
}

static Node *share_column(Builder at, Node *table, int64_t expert) {
    Graph *g = table->graph;
    return build_slice(at, table, (Slice){1, dim_const(g, expert), dim_const(g, 1), 1});
}

// ------------------------------------------------------------------------------------ marks of one
// Where the axes of marks [T, k] or [T, k, E] are
static bool place_marks(Node *n, int axis, Place *p) {
    *p = (Place){.node = n, .at = {AT_ROW}};
    if (axis != 1 || n->type.rank < 2 || n->type.rank > 3) return false;
    p->at[1] = AT_SLOT, p->at[2] = AT_EXPERT;
    return true;
}

static Node *sum_of_marks(Node *n) {
    int axes;
    const int64_t *axis = attr_ints(n, "axes", &axes);
    Node *x = n->op == OP_reduce_sum ? before_rounding(n->in[0]) : NULL;
    bool marked = x && x->op == OP_where && is_number(x->in[2], 0);
    Place p;
    if (!x || axes != 1 || (x->op != OP_mul && !marked) || !place_marks(x, (int)*axis, &p))
        return NULL;
    for (int i = 0; i < 2; i++) {
        Hit h;
        Place w = behind_views(place_of_operand(&p, !i));
        if ((marked && i == 1) || !read_hit(place_of_operand(&p, i), &h) || h.slot != AT_SLOT ||
            !is_at(&w, AT_SLOT))
            continue;
        if ((x->type.rank == 3) != (h.expert == AT_EXPERT) ||
            !type_equal(&w.node->type, &h.index->in[0]->items[0]))
            continue;
        Node *by = share_table(cursor(n), &h, w.node);
        if (h.expert != AT_EXPERT) by = share_column(cursor(n), by, h.expert);
        return build_reshape(cursor(n), by, n->type.rank, n->type.dim);
    }
    return NULL;
}

// ------------------------------------------------------------------------------------------- loops
typedef struct Loop {
    Hit hit;  // its index; of the step that was read last
    Node *weights, **values;
    bool *seen;  // [experts, slots]
    int64_t experts, slots;
} Loop;

static Node *shared_by_slot(Node *u, const Hit *h, Node **weights) {
    u = before_rounding(u);
    for (int i = 0; u->op == OP_mul && i < 2; i++) {
        Place row = {.node = u, .at = {AT_ROW}};
        Place w = behind_views(place_of_operand(&row, i));
        if (!is_at(&w, h->slot) || (*weights && *weights != w.node)) continue;
        *weights = w.node;
        return u->in[!i];
    }
    return NULL;
}

// The part of one slot of one expert
static bool note_part(Loop *l, Node *u, const Hit *h) {
    Node *y = shared_by_slot(u, h, &l->weights);
    bool fits = y && h->index == l->hit.index && h->expert < l->experts && h->slot >= 0 &&
                h->slot < l->slots;
    if (!fits || l->seen[h->expert * l->slots + h->slot]) return false;
    if (l->values[h->expert] && l->values[h->expert] != y) return false;
    l->values[h->expert] = y;
    return l->seen[h->expert * l->slots + h->slot] = true;
}

static bool is_step(Node *n, Hit *h) {
    return n->op == OP_where && n->type.rank == 2 &&
           read_hit(place_of_operand(&(Place){.node = n, .at = {AT_ROW}}, 0), h);
}

// where(hit, u, where(hit, u, 0)): of one expert, of which a row has one slot at most
static bool read_choice(Loop *l, Node *n) {
    Hit h, first;
    n = before_rounding(n);
    if (!is_step(n, &first)) return false;
    for (; is_step(n, &h) && h.expert == first.expert; n = before_rounding(n->in[2]))
        if (!note_part(l, n->in[1], &h)) return false;
    return is_number(n, 0);
}

// The sum that a step adds to, or NULL
static Node *read_step(Loop *l, Node *n) {
    Hit h;
    n = before_rounding(n);
    if (n->op == OP_add) {
        for (int i = 1; i >= 0; i--)
            if (read_choice(l, n->in[i])) return n->in[!i];
        return NULL;
    }
    if (!is_step(n, &h)) return NULL;
    Node *sum = before_rounding(n->in[1]);
    for (int i = 0; sum->op == OP_add && i < 2; i++)
        if (sum->in[i] == n->in[2]) return note_part(l, sum->in[!i], &h) ? n->in[2] : NULL;
    return NULL;
}

// Returns true if this is the step of the last expert.
static bool is_last_step(Node *n, Loop *l) {
    Node *step = n;
    for (int i = 1; n->op == OP_add && i >= 0; i--)
        if (before_rounding(n->in[i])->op == OP_where) step = before_rounding(n->in[i]);
    return is_step(step, &l->hit) && dim_is_const(experts_of(&l->hit), &l->experts) &&
           l->hit.expert == l->experts - 1 && dim_is_const(l->hit.index->type.dim[1], &l->slots);
}

static Node *sum_of_parts(const Loop *l, Node *root, Node *rest) {
    Node *table = share_table(cursor(root), &l->hit, l->weights), *sum = NULL;
    for (int e = 0; e < l->experts; e++) {
        Node *part =
            build_binary(cursor(root), OP_mul, l->values[e], share_column(cursor(root), table, e));
        sum = !sum ? part : build_binary(cursor(root), OP_add, sum, part);
    }
    return is_number(rest, 0) ? sum : build_binary(cursor(root), OP_add, rest, sum);
}

static Node *loop_over_experts(Node *root) {
    Loop l = {0};
    if (!is_last_step(before_rounding(root), &l)) return NULL;
    Arena *arena = root->graph->arena;
    l.values = ARENA_ARRAY(arena, Node *, l.experts),
    l.seen = ARENA_ARRAY(arena, bool, l.experts *l.slots);
    Node *rest = root;
    for (Node *n = root; n; n = read_step(&l, n)) rest = n;
    for (int64_t i = 0; i < l.experts * l.slots; i++)
        if (!l.seen[i]) return NULL;
    return sum_of_parts(&l, root, rest);
}

bool pass_shares(Graph *g, PassContext *c) {
    bool changed = false;
    (void)c;
    EACH_NODE(n, g) {
        Node *by = node_uses(n) ? sum_of_marks(n) : NULL;
        if (!by && node_uses(n)) by = loop_over_experts(n);
        if (!by && node_uses(n)) by = sum_of_stacked(n);
        if (!by && node_uses(n)) by = slots_unmerged(n);
        if (!by) continue;
        node_become(n, by);
        changed = true;
    }
    return changed && (simplify_graph(g), true);
}
