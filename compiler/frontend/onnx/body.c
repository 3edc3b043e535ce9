// Bodies as closed graphs: see body.h.
#include "frontend/onnx/body.h"

#include <string.h>

OnnxBody *onnx_body_new(OnnxCall *c, const char *name) {
    OnnxBody *b = ARENA_NEW(c->graph->arena, OnnxBody);
    *b = (OnnxBody){.outside = c, .call = *c, .scope = onnx_inner_scope(c, "this body")};
    b->scope.graph = graph_new_nested(c->graph, name);
    b->scope.body = b;
    b->call.import = &b->scope, b->call.graph = b->scope.graph;
    return b;
}

static Node *take(OnnxBody *b, Node *outside) {
    Graph *g = b->scope.graph;
    Node **taken = ARENA_ARRAY(g->arena, Node *, b->n_taken + 1);
    if (b->n_taken) memcpy(taken, b->taken, (size_t)b->n_taken * sizeof *taken);
    b->taken = taken;
    b->taken[b->n_taken++] = outside;
    return graph_add_input(g, outside->name, outside->type, outside->loc);
}

Node *onnx_body_state(OnnxBody *b, Node *first) {
    b->n_states++;
    return take(b, first);
}

// Constants are known inside as well.
Node *onnx_body_value(OnnxBody *b, Node *n) {
    if (n->op == OP_constant) return node_constant(b->scope.graph, n->value, n->loc, NULL);
    for (int i = b->n_states; i < b->n_taken; i++)
        if (b->taken[i] == n) return b->scope.graph->inputs[i];
    return take(b, n);
}

// A value of the outer graph inside the body: integers that are dimensions stay the same.
OnnxValue *onnx_body_take(OnnxBody *b, const OnnxValue *v) {
    Arena *arena = b->scope.graph->arena;
    OnnxValue *inside = ARENA_NEW(arena, OnnxValue);
    *inside = *v;
    if (v->node) inside->node = onnx_body_value(b, v->node);
    if (v->n_items) inside->items = ARENA_ARRAY(arena, OnnxValue *, v->n_items);
    for (int i = 0; i < v->n_items; i++) inside->items[i] = onnx_body_take(b, v->items[i]);
    return inside;
}

const Dim *onnx_counter(OnnxCall *c, const Dim *extent) {
    Arena *arena = c->graph->arena;
    int64_t most = dim_upper(extent);
    for (int i = 0;; i++) {
        const char *name = arena_printf(arena, "step_%d", i);
        if (!dim_find_symbol(c->graph, name))
            return dim_symbol(c->graph, name, 0, most > 1 ? most - 1 : 0);
    }
}

// Random numbers in it are others in every iteration, in loops within too.
static void number_rounds(Graph *body, const Dim *counter) {
    EACH_NODE(n, body) {
        for (Attr *a = n->attrs; a; a = a->next)
            if (a->kind == ATTR_GRAPH) number_rounds(a->graph, counter);
        if (n->op != OP_random) continue;
        const Dim *round = attr_dim(n, "round"),
                  *within = dim_const(body, round ? dim_upper(round) + 1 : 1);
        const Dim *before = dim_binary(body, DIM_MUL, counter, within);
        if (round) before = dim_binary(body, DIM_ADD, before, round);
        attr_set_dims(n, "round", &before, 1);
    }
}

Node *onnx_body_loop(OnnxBody *b, const OnnxLoop *l) {
    OnnxCall *c = b->outside;
    Node **in = ARENA_ARRAY(c->graph->arena, Node *, b->n_taken + 2);
    in[0] = l->most, in[1] = l->condition;
    if (b->n_taken) memcpy(in + 2, b->taken, (size_t)b->n_taken * sizeof *in);
    Node *n = onnx_emit_make(c, OP_loop, b->n_taken + 2, in);
    number_rounds(b->scope.graph, l->counter);
    attr_set_graph(n, "body", b->scope.graph);
    attr_set_int(n, "states", b->n_states);
    attr_set_dims(n, "counter", &l->counter, 1);
    attr_set_dims(n, "extent", &l->extent, 1);
    attr_set_dims(n, "length", &l->length, 1);
    return onnx_finish(c, n);
}

// ---------------------------------------------------------------------------------------- branches
static int find_taken(Node *const *list, int n, const Node *wanted) {
    for (int i = 0; i < n; i++)
        if (list[i] == wanted) return i;
    return -1;
}

// The inputs of a branch in the order of a list, those that it lacks added.
static void take_in_order(OnnxBody *b, Node *const *all, int n) {
    for (int i = 0; i < n; i++)
        if (find_taken(b->taken, b->n_taken, all[i]) < 0) take(b, all[i]);
    Graph *g = b->scope.graph;
    Node **inputs = ARENA_ARRAY(g->arena, Node *, n + 1);
    for (int i = 0; i < n; i++) inputs[i] = g->inputs[find_taken(b->taken, b->n_taken, all[i])];
    if (n) memcpy(g->inputs, inputs, (size_t)n * sizeof *inputs);
}

Node *onnx_body_if(OnnxBody *then, OnnxBody *otherwise, Node *condition) {
    OnnxCall *c = then->outside;
    Node **in = ARENA_ARRAY(c->graph->arena, Node *, then->n_taken + otherwise->n_taken + 1),
         **all = in + 1;
    int n = 0;
    for (int i = 0; i < then->n_taken; i++) all[n++] = then->taken[i];
    for (int i = 0; i < otherwise->n_taken; i++)
        if (find_taken(all, n, otherwise->taken[i]) < 0) all[n++] = otherwise->taken[i];
    take_in_order(then, all, n), take_in_order(otherwise, all, n);
    in[0] = condition;
    Node *made = onnx_emit_make(c, OP_if, n + 1, in);
    attr_set_graph(made, "then", then->scope.graph),
        attr_set_graph(made, "else", otherwise->scope.graph);
    return onnx_finish(c, made);
}
