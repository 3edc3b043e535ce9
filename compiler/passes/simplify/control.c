// Loops and branches: constants move into bodies, unused values go, a branch with a known condition
// replaces its `if`, and the body of a loop that runs once replaces the loop.
//
//   before   %w = transpose(%weight) {perm=[1, 0]}              after   %t = loop(_, _, %h, %x) {..., body=graph step(%h, %x) {
//            %t = loop(_, _, %h, %x, %w) {..., body=                      %weight = constant
//              graph step(%h, %x, %w) { matmul(%h, %w) ...                %w = transpose(%weight) ...

#include "ir/control.h"

#include "passes/simplify/simplify.h"

enum { MOST_BODIES = 2, DEEPEST = 16 };

static int bodies_of(const Node *n, Graph *bodies[MOST_BODIES]) {
    if (n->op == OP_loop) return bodies[0] = attr_graph(n, "body"), 1;
    bodies[0] = attr_graph(n, "then"), bodies[1] = attr_graph(n, "else");
    return 2;
}

static int first_operand(const Node *n) { return n->op == OP_loop ? LOOP_FIRST : IF_FIRST; }

// ----------------------------------------------------------------------------------------- cloning
// A copy of a node in another graph of the same family, its operands given.
static Node *copy_node(Node *n, Graph *to, Node *const *in, Node *before) {
    Node *c = node_make(to, n->op, n->loc, n->n_in, in, before);
    c->type = n->type, c->value = n->value, c->hashed = n->hashed, c->hash = n->hash;
    c->items = n->items, c->n_items = n->n_items;
    attr_copy(c, n);
    return c;
}

// Returns true if it depends on constants alone.
static bool is_constant(const Node *n, int depth) {
    if (n->op == OP_constant) return true;
    RowBehaviour rows = op_info[n->op].rows;
    if (depth == DEEPEST || !n->n_in || rows == ROWS_STATE || rows == ROWS_LEAF ||
        n->type.dtype == DT_tuple)
        return false;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && !is_constant(n->in[i], depth + 1)) return false;
    return true;
}

static Node *constant_inside(Node *n, Graph *body, Node *before) {
    Node *in[n->n_in + 1];
    for (int i = 0; i < n->n_in; i++)
        in[i] = n->in[i] ? constant_inside(n->in[i], body, before) : NULL;
    return copy_node(n, body, in, before);
}

// ---------------------------------------------------------------------------------------- operands
static bool reads(Graph *const *bodies, int n_bodies, int input) {
    for (int i = 0; i < n_bodies; i++)
        if (node_uses(bodies[i]->inputs[input])) return true;
    return false;
}

static Node *after_inputs(const Graph *body) {
    Node *n = body->first;
    while (n && n->op == OP_input) n = n->next;
    return n;
}

// Values, not states: constants move inside, unread values go.
static bool close_bodies(Node *n) {
    Graph *bodies[MOST_BODIES];
    int n_bodies = bodies_of(n, bodies), first = first_operand(n);
    bool changed = false;
    for (int i = n->n_in; i-- > first + (n->op == OP_loop ? loop_parts(n).n_states : 0);) {
        for (int b = 0; b < n_bodies && is_constant(n->in[i], 0); b++) {
            Node *input = bodies[b]->inputs[i - first];
            if (node_uses(input))
                node_replace(input, constant_inside(n->in[i], bodies[b], after_inputs(bodies[b])));
        }
        if (reads(bodies, n_bodies, i - first)) continue;
        for (int b = 0; b < n_bodies; b++) graph_drop_input(bodies[b], i - first);
        node_drop_input(n, i);
        changed = true;
    }
    return changed;
}

// ----------------------------------------------------------------------------------------- results
static bool is_read(const Node *n, int item) {
    for (int i = 0; i < n->n_users; i++)
        if (attr_int(n->users[i], "index", 0) == item && node_uses(n->users[i])) return true;
    return false;
}

static void drop_item(Node *n, int item) {
    for (int i = 0; i < n->n_users; i++) {
        int64_t index = attr_int(n->users[i], "index", 0);
        if (index > item) attr_set_int(n->users[i], "index", index - 1);
    }
}

// Scanned results, and those of an `if`.
static bool drop_results(Node *n) {
    Graph *bodies[MOST_BODIES];
    int n_bodies = bodies_of(n, bodies), kept = n->op == OP_loop ? loop_parts(n).n_states : 0;
    bool changed = false;
    for (int i = n->n_items; i-- > kept;) {
        if (is_read(n, i)) continue;
        for (int b = 0; b < n_bodies; b++)
            graph_drop_output(bodies[b], bodies[b]->n_outputs - n->n_items + i);
        drop_item(n, i);
        node_infer(n);
        changed = true;
    }
    return changed;
}

// ---------------------------------------------------------------------------------------- inlining
static void set_counter(Node *n, const Dim *counter, int64_t value) {
    for (Attr *a = n->attrs; a; a = a->next) {
        if (a->kind != ATTR_DIMS) continue;
        const Dim **dims = ARENA_ARRAY(n->graph->arena, const Dim *, a->n);
        for (int i = 0; i < a->n; i++)
            dims[i] = dim_substitute(n->graph, a->dims[i], counter, dim_const(n->graph, value));
        a->dims = dims;
    }
}

// The body's nodes before `n`: what its outputs are, by their indices. counter: of a loop's one
// iteration, or NULL.
static void put_in_place(Node *n, const Graph *body, Node *const *values, const Dim *counter,
                         Node **results) {
    for (int i = 0; i < body->n_inputs; i++) body->inputs[i]->scratch = values[i];
    EACH_NODE(inner, body) {
        if (inner->op == OP_input) continue;
        Node *in[inner->n_in + 1], *copy;
        for (int i = 0; i < inner->n_in; i++) in[i] = inner->in[i] ? inner->in[i]->scratch : NULL;
        inner->scratch = copy = copy_node(inner, n->graph, in, n);
        if (counter) set_counter(copy, counter, 0);
    }
    for (int i = 0; i < body->n_outputs; i++) results[i] = body->outputs[i]->scratch;
}

static void give_items(Node *n, Node *const *results) {
    for (int i = n->n_users; i-- > 0;)
        node_replace(n->users[i], results[attr_int(n->users[i], "index", 0)]);
}

static bool take_branch(Node *n) {
    if (n->op != OP_if || n->in[0]->op != OP_constant || !n->in[0]->value || !n->in[0]->value->data)
        return false;
    const Graph *body = attr_graph(n, *(const uint8_t *)n->in[0]->value->data ? "then" : "else");
    Node *results[body->n_outputs + 1];
    put_in_place(n, body, n->in + IF_FIRST, NULL, results);
    give_items(n, results);
    return true;
}

static bool has_counter(const Graph *body, const Dim *counter) {
    EACH_NODE(n, body)
        for (const Attr *a = n->attrs; a; a = a->next) {
            if (a->kind == ATTR_GRAPH && has_counter(a->graph, counter)) return true;
            for (int i = 0; a->kind == ATTR_DIMS && i < a->n; i++)
                if (dim_has_symbol(a->dims[i], counter)) return true;
        }
    return false;
}

// A loop of one iteration.
static bool iterate_once(Node *n) {
    if (n->op != OP_loop) return false;
    LoopParts l = loop_parts(n);
    if (loop_is_open(&l) || l.extent != dim_const(n->graph, 1)) return false;
    EACH_NODE(inner, l.body)
        for (const Attr *a = inner->attrs; a; a = a->next)
            if (a->kind == ATTR_GRAPH && has_counter(a->graph, l.counter)) return false;
    Node *results[l.body->n_outputs + 1];
    put_in_place(n, l.body, n->in + LOOP_FIRST, l.counter, results);
    for (int i = l.first_scanned; i < l.body->n_outputs; i++) {
        const Type *type = &n->items[i];
        results[i] = node_make(n->graph, OP_reshape, n->loc, 1, &results[i], n);
        attr_set_dims(results[i], "shape", type->dim, type->rank);
        node_infer(results[i]);
    }
    give_items(n, results);
    return true;
}

bool simplify_control(Graph *g) {
    bool changed = false;
    EACH_NODE(n, g) {
        if ((n->op != OP_loop && n->op != OP_if) || !n->n_users) continue;
        if (take_branch(n) || iterate_once(n)) {
            changed = true;
            continue;
        }
        Graph *bodies[MOST_BODIES];
        for (int i = bodies_of(n, bodies); i-- > 0;) changed |= simplify_graph(bodies[i]);
        changed |= drop_results(n);
        changed |= close_bodies(n);
    }
    return changed;
}
