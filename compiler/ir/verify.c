// Checks that a graph is well-formed, after every pass in every build. An error is printed under
// its node:
//
//     %x = gather(%embed, %tokens) {axis=0} : bf16[T, 192]
//     ^ error: the operand %tokens comes later
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ir.h"

enum { MAX_WRONG = 10, CONTEXT_LINES = 12 };

typedef struct {
    const Graph *graph;
    Arena *scratch;
    struct {
        const Node *node;  // NULL: the graph itself
        const char *message;
    } wrong[MAX_WRONG];
    int n_wrong;
    int position;
    uint64_t *readers;  // of the node of each mark: a sum over its users minus one over the
                        // operands that name it; 0 if equal
} Verifier;

__attribute__((format(printf, 3, 4))) static void wrong(Verifier *v, const Node *n,
                                                        const char *format, ...) {
    if (v->n_wrong == MAX_WRONG) return;
    va_list args;
    va_start(args, format);
    v->wrong[v->n_wrong].node = n;
    v->wrong[v->n_wrong++].message = arena_vmessage(v->scratch, format, args);
    va_end(args);
}

// -------------------------------------------------------------------------------------- the checks
static bool is_outer(const Graph *inner, const Graph *g) {
    for (inner = inner->outer; inner; inner = inner->outer)
        if (inner == g) return true;
    return false;
}

static bool is_used_as_named(const Node *in, const Node *by) {
    int uses = 0, named = 0;
    for (int i = 0; i < in->n_users; i++) uses += in->users[i] == by;
    for (int i = 0; i < by->n_in; i++) named += by->in[i] == in;
    return uses == named;
}

// A number that tells a node from others, so that sums of it tell sets apart.
static uint64_t node_hash(const Node *n) {
    uint64_t x = (uint64_t)(uintptr_t)n * UINT64_C(0x9e3779b97f4a7c15);
    return (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

// A node that was removed keeps an old mark.
static bool is_inside(const Verifier *v, const Node *n) {
    return n && n->graph == v->graph && n->mark <= v->position;
}

// One pass over all operands and users: comparing the users of each operand would take the square
// of a large fan-out.
static void sum_readers(Verifier *v) {
    v->readers = ARENA_ARRAY(v->scratch, uint64_t, v->position + 1);
    memset(v->readers, 0, (size_t)(v->position + 1) * sizeof *v->readers);
    EACH_NODE(n, v->graph) {
        for (int i = 0; i < n->n_in; i++)
            if (is_inside(v, n->in[i])) v->readers[n->in[i]->mark] += node_hash(n);
        for (int i = 0; i < n->n_users; i++)
            if (n->users[i]->graph == n->graph) v->readers[n->mark] -= node_hash(n->users[i]);
    }
}

// Nodes are marked with their position from 1 on before operands are checked.
static void check_operands(Verifier *v, const Node *n) {
    for (int i = 0; i < n->n_in; i++) {
        const Node *in = n->in[i];
        if (!in) continue;
        bool may_differ = !is_inside(v, in) || v->readers[in->mark];
        if (may_differ && !is_used_as_named(in, n))
            wrong(v, n, "operand %d was changed without node_set_input", i);
        if (in->graph != n->graph && !is_outer(n->graph, in->graph))
            wrong(v, n, "operand %%%s is of another graph", in->name);
        if (in->graph != n->graph) continue;
        if (!in->mark || map_get(&in->graph->names, in->name) != in)
            wrong(v, n, "operand %%%s is not in the graph any more", in->name);
        else if (in->mark >= n->mark)
            wrong(v, n, "operand %%%s comes later", in->name);
    }
}

static void check_attrs(Verifier *v, const Node *n) {
    for (const Attr *a = n->attrs; a; a = a->next) {
        OpAttr known;
        if (!op_attr(n->op, a->name, &known))
            wrong(v, n, "%s has no attribute \"%s\"", op_info[n->op].name, a->name);
        else if (!attr_is_of_kind(a, &known))
            wrong(v, n, "attribute \"%s\" of %s is not of kind %s", a->name, op_info[n->op].name,
                  known.kind_name);
        if (a->next && strcmp(a->name, a->next->name) >= 0)
            wrong(v, n, "attributes are out of order at \"%s\"", a->next->name);
        for (int i = 0; a->kind == ATTR_DIMS && i < a->n; i++)
            if (!a->dims[i]) wrong(v, n, "attribute \"%s\" holds no dimension at %d", a->name, i);
        if (a->kind == ATTR_GRAPH && !graph_verify(a->graph, "of a nested graph"))
            wrong(v, n, "graph \"%s\" is wrong", a->name);
    }
}

static void check_constant(Verifier *v, const Node *n) {
    const Tensor *t = n->value;
    if (!t) return;
    int64_t value;
    bool same = t->dtype == n->type.dtype && t->rank == n->type.rank;
    for (int i = 0; same && i < t->rank; i++)
        same = dim_is_const(n->type.dim[i], &value) && value == t->dim[i];
    if (!same) wrong(v, n, "the type is not that of the data");
    if (dtype_bits(t->dtype) && t->bytes != dtype_bytes(t->dtype, tensor_count(t)))
        wrong(v, n, "the data has %llu bytes", (unsigned long long)t->bytes);
}

// Checks that the inferred type equals the stored one. Works on a copy: the graph stays as it is.
static void check_type(Verifier *v, const Node *n) {
    Node copy = *n;
    if (n->n_in < op_least(n->op)) {
        wrong(v, n, "has %d operands, %s takes %d", n->n_in, op_info[n->op].name, op_least(n->op));
        return;
    }
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->graph == n->graph && !n->in[i]->mark) return;
    if (!node_infer(&copy)) {
        wrong(v, n, "the operands do not fit (see above)");
        return;
    }
    bool same = type_equal(&copy.type, &n->type) && copy.n_items == n->n_items;
    for (int i = 0; same && i < n->n_items; i++) same = type_equal(&copy.items[i], &n->items[i]);
    if (!same) wrong(v, n, "the operands give %s", type_text(&copy.type));
}

static void check_node(Verifier *v, const Node *n) {
    if (n->graph != v->graph) wrong(v, n, "belongs to another graph");
    if (n->prev ? n->prev->next != n : v->graph->first != n)
        wrong(v, n, "the list of nodes is broken before it");
    if (!n->next && v->graph->last != n) wrong(v, n, "is the last node, but not the graph's");
    if (map_get(&v->graph->names, n->name) != n) wrong(v, n, "its name is not registered");
    check_operands(v, n);
    check_attrs(v, n);
    if (n->op == OP_constant) check_constant(v, n);
    check_type(v, n);
}

static void check_ends(Verifier *v) {
    const Graph *g = v->graph;
    for (int i = 0; i < g->n_inputs; i++)
        if (g->inputs[i]->op != OP_input || !g->inputs[i]->mark)
            wrong(v, NULL, "input %%%s is not in the graph", g->inputs[i]->name);
    for (int i = 0; i < g->n_outputs; i++) {
        const Node *n = g->outputs[i];
        bool there =
            n->graph == g ? n->mark && map_get(&g->names, n->name) == n : is_outer(g, n->graph);
        if (!there) wrong(v, NULL, "output %%%s is not in the graph", n->name);
    }
}

// --------------------------------------------------------------------------------------- reporting
static bool is_near_wrong(const Verifier *v, const Node *n) {
    for (int i = 0; i < v->n_wrong; i++)
        if (v->wrong[i].node && abs(v->wrong[i].node->mark - n->mark) <= CONTEXT_LINES) return true;
    return false;
}

static void report_node(const Verifier *v, const Node *n, Text *t) {
    text_add(t, "  ");
    node_print(t, n);
    text_add(t, "\n");
    for (int i = 0; i < v->n_wrong; i++)
        if (v->wrong[i].node == n) text_add(t, "  ^ error: %s\n", v->wrong[i].message);
}

static void report(const Verifier *v, const char *after_pass) {
    Text t = {0};
    text_add(&t, "graph %s {\n", v->graph->name);
    bool gap = false;
    EACH_NODE(n, v->graph) {
        bool shown = is_near_wrong(v, n);
        if (shown)
            report_node(v, n, &t);
        else if (!gap)
            text_add(&t, "  ...\n");
        gap = !shown;
    }
    text_add(&t, "}");
    for (int i = 0; i < v->n_wrong; i++)
        if (!v->wrong[i].node) text_add(&t, "\n^ error: %s", v->wrong[i].message);
    diag_error(NO_LOC, "the graph %s is malformed after %s: %-s\n%-s", v->graph->name, after_pass,
               v->wrong[0].message, t.data);
    text_free(&t);
}

bool graph_verify(const Graph *g, const char *after_pass) {
    Verifier v = {.graph = g, .scratch = arena_new()};
    EACH_NODE(n, g) n->mark = ++v.position;
    sum_readers(&v);
    EACH_NODE(n, g) check_node(&v, n);
    check_ends(&v);
    if (v.n_wrong) report(&v, after_pass);
    arena_free(v.scratch);
    return !v.n_wrong;
}
