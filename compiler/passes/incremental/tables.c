// Values that depend on the position alone are computed at compile time for every position a slot
// can hold, and looked up.
//
//   before   %i = iota {dims=[T, 1], axis=0}                      after   %t = constant : f32[context, 16]
//            %c = cos(mul(cast(%i), %frequencies)) : f32[T, 16]           %c = gather(%t, iota {dims=[T]}) : f32[T, 16]
//
// A lookup in a table of the checkpoint (learned positions) stays one. Tables beyond the size limit
// stay computed.
#include "ir/eval/eval.h"
#include "passes/incremental/incremental.h"

enum { LARGEST_TABLE = 64 << 20, LARGEST_ROW = 1024 };

// scratch: the source that a node is a function of.
typedef enum { OF_NOTHING, OF_POSITION, OF_DATA } Dependence;

static Dependence dependence(const Node *n) { return (Dependence)(intptr_t)n->scratch; }

static bool is_lookup(const Node *n) { return n->op == OP_gather && n->in[0]->op == OP_constant; }

static Dependence depends_on(const Node *n) {
    Dependence d = OF_NOTHING;
    if (n->op == OP_iota)
        return has_rows(n) && node_axis(n) == row_axis(n) ? OF_POSITION : OF_NOTHING;
    if (n->op == OP_input || n->op == OP_state || n->op == OP_pack) return OF_DATA;
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i] && dependence(n->in[i]) > d) d = dependence(n->in[i]);
    }
    return is_lookup(n) || n->type.dtype == DT_tuple ? OF_DATA : d;
}

// The values that T counts, and the number of positions of a slot.
typedef struct Positions {
    const Dim *rows;
    int64_t context;
} Positions;

// A copy of the node, folded, over all positions of a slot instead of the rows.
static Node *at_every_position(Node *n, const Positions *p, Node *before) {
    if (n->op == OP_constant) return n;
    if (is_lookup(n)) return n->in[0];  // a table already
    Node **operand = ARENA_ARRAY(n->graph->arena, Node *, n->n_in + 1);
    for (int i = 0; i < n->n_in; i++)
        operand[i] = n->in[i] ? at_every_position(n->in[i], p, before) : NULL;
    Node *copy = node_again(n, n->op, n->n_in, operand, before);
    for (Attr *a = copy->attrs; a; a = a->next) {
        const Dim *dims[MAX_RANK];
        if (a->kind != ATTR_DIMS) continue;
        for (int i = 0; i < a->n; i++)
            dims[i] =
                dim_substitute(n->graph, a->dims[i], p->rows, dim_const(n->graph, p->context));
        attr_set_dims(copy, a->name, dims, a->n);
        a = attr_find(copy, a->name);
    }
    inferred(copy);
    const Tensor *value = eval_constant_node(copy);
    if (!value) return copy;
    Node *c = node_constant(n->graph, value, n->loc, before);
    node_remove(copy);
    return c;
}

static bool is_small_enough(const Node *n, const Positions *p) {
    int64_t row = 1;
    for (int i = 0; i < n->type.rank; i++) {
        if (i != row_axis(n)) row *= dim_upper(n->type.dim[i]);
        if (row > LARGEST_ROW) return false;
    }
    return n->type.rank > 0 && row * p->context * (dtype_bits(n->type.dtype) / 8) <= LARGEST_TABLE;
}

// The last node that depends on the position alone, with a user that depends on data. Biases of
// scores are wide and cheap.
static bool ends_here(const Graph *g, const Node *n) {
    for (int i = 0; i < n->n_users; i++) {
        if (n->users[i]->op == OP_attention) return false;
        if (dependence(n->users[i]) == OF_DATA) return true;
    }
    return node_uses(n) > n->n_users && g;
}

static bool is_table(const Graph *g, const Node *n, const Positions *p) {
    if (dependence(n) != OF_POSITION || n->op == OP_iota || n->op == OP_cast || !has_rows(n))
        return false;
    return n->n_in <= MAX_RANK && ends_here(g, n) && is_small_enough(n, p);
}

static Node *lookup(Node *n, const Positions *p) {
    Node *table = at_every_position(n, p, n);
    if (table->op != OP_constant) return NULL;
    node_set_name(table, arena_printf(n->graph->arena, "%s_table", n->name));
    Builder b = cursor_at(n, n->loc);
    Node *g = build_gather(b, table, build_iota(b, 1, &p->rows, 0), row_axis(n));
    g->mark = n->mark;
    g->scratch = (void *)(intptr_t)OF_DATA;
    return g;
}

bool fold_position_tables(Graph *g, const Dim *rows, int64_t context) {
    bool changed = false;
    Positions p = {rows, context};
    EACH_NODE(each, g) each->scratch = (void *)(intptr_t)depends_on(each);
    EACH_NODE(n, g) {
        Node *by = is_table(g, n, &p) ? lookup(n, &p) : NULL;
        if (!by) continue;
        node_become(n, by);
        changed = true;
    }
    return changed;
}
