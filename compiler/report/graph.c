// The graph of a program, node by node, in topological order; and the texts that its locations
// point into.
#include <ctype.h>
#include <string.h>

#include "ir/operands.h"
#include "report/report.h"

// ------------------------------------------------------------------------------------------ layers
bool layer_of_scope(const char *scope, int *stack_length, int *layer) {
    for (const char *c = scope; c && *c; c++) {
        bool begins = isdigit((unsigned char)*c) && c > scope && strchr("./_", c[-1]);
        const char *end = c;
        while (isdigit((unsigned char)*end)) end++;
        bool whole = *end == '.' || *end == '/' || (!*end && c > scope && c[-1] == '.');
        if (!begins || !whole || end - c > 6) continue;
        *stack_length = (int)(c - scope) - 1;
        *layer = 0;
        for (; c < end; c++) *layer = 10 * *layer + (*c - '0');
        return true;
    }
    return false;
}

static void put_layer(json_t *o, const Node *n, int iteration) {
    int length, layer;
    char stack[256];
    if (layer_of_scope(n->loc.scope, &length, &layer)) {
        snprintf(stack, sizeof stack, "%.*s", length, n->loc.scope);
        json_put_text(o, "stack", stack);
        json_put_count(o, "layer", (uint64_t)layer);
    } else if (iteration >= 0) {
        json_put_text(o, "stack", "loop");
        json_put_count(o, "layer", (uint64_t)iteration);
    }
}

// ------------------------------------------------------------------------------------------- nodes
static json_t *operands_of(const Node *n) {
    json_t *list = json_array();
    for (int i = 0; i < n->n_in; i++)
        json_add(list, json_of_text(n->in[i] ? n->in[i]->name : NULL));
    return list;
}

static void put_type(json_t *o, const Node *n) {
    Text t = {0};
    type_print(&t, &n->type);
    for (int i = 0; i < n->n_items; i++) {
        text_add(&t, i ? ", " : " ");
        type_print(&t, &n->items[i]);
    }
    json_put_text(o, "type", t.data);
    text_free(&t);
}

static void put_formula(json_t *o, const Node *n) {
    const Expr *e = attr_expr(n, is_packed_product(n) ? "epilogue" : "expr");
    Text t = {0};
    if (e) {
        expr_print(&t, e);
        json_put_text(o, "formula", t.data);
    }
    text_free(&t);
}

static void put_constant(json_t *o, const Node *n) {
    if (n->op != OP_constant || !n->value) return;
    if (n->value->name) json_put_text(o, "tensor", n->value->name);
    json_put_count(o, "parameters", (uint64_t)tensor_count(n->value));
    json_put_count(o, "bytes", n->value->bytes);
}

static json_t *json_of_node(const Node *n, int iteration) {
    json_t *o = json_object();
    Text t = {0};
    node_print(&t, n);
    json_put_text(o, "name", n->name);
    json_put_text(o, "op", op_info[n->op].name);
    put_type(o, n);
    json_put(o, "in", operands_of(n));
    json_put(o, "at", json_of_loc(n->loc));
    put_layer(o, n, iteration);
    put_formula(o, n);
    put_constant(o, n);
    json_put_text(o, "text", t.data);
    text_free(&t);
    return o;
}

static json_t *outputs_of(const Graph *g) {
    json_t *list = json_array();
    for (int i = 0; i < g->n_outputs; i++) {
        json_t *o = json_object();
        json_put_text(o, "name", g->output_names[i]);
        json_put_text(o, "node", g->outputs[i]->name);
        json_add(list, o);
    }
    return list;
}

// A node without a kernel (a view, an item) belongs to the latest layer that it reads from.
static int iteration_of_operands(const Node *n) {
    int latest = -1;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->mark > latest) latest = n->in[i]->mark;
    return latest;
}

json_t *graph_of_program(const Program *p) {
    json_t *o = json_object(), *nodes = json_array();
    EACH_NODE(n, p->graph) n->mark = -2;
    for (int i = 0; i < p->n_kernels; i++)
        if (!p->kernels[i]->copies) ((Node *)p->kernels[i]->node)->mark = iteration_of(p, i);
    EACH_NODE(n, p->graph) {
        bool leaf = !n->n_in || n->op == OP_pack;
        if (n->mark == -2) n->mark = leaf ? -1 : iteration_of_operands(n);
        json_add(nodes, json_of_node(n, n->mark));
    }
    json_put_text(o, "name", p->graph->name);
    json_put(o, "nodes", nodes);
    json_put(o, "outputs", outputs_of(p->graph));
    return o;
}

// ----------------------------------------------------------------------------------------- sources
static bool is_listed(const json_t *list, const char *name) {
    size_t i;
    const json_t *o;
    json_array_foreach(list, i, o) {
        if (!strcmp(json_string_value(json_object_get(o, "name")), name)) return true;
    }
    return false;
}

static void add_sources(json_t *list, const Program *p) {
    enum { MOST = 1 << 17 };  // bytes: of a description
    if (p->encoder) add_sources(list, p->encoder);
    EACH_NODE(n, p->graph) {
        const Source *s = n->loc.source;
        if (!s || !s->text || s->size > MOST || is_listed(list, s->name)) continue;
        json_t *o = json_object();
        json_put_text(o, "name", s->name);
        json_put_text(o, "text", s->text);
        json_add(list, o);
    }
}

json_t *sources_of_programs(const Program *p) {
    json_t *list = json_array();
    add_sources(list, p);
    return list;
}
