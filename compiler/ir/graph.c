// Graphs and nodes: making, naming, rewiring and removing them.
//
// A node knows its users (one entry for each operand that names it), so that rewriting is cheap;
// operands are therefore changed only through node_set_input and node_replace. Users inside a
// nested graph count too.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ir.h"
#include "ir/convert.h"
#include "ir/internal.h"

// ------------------------------------------------------------------------------------------ graphs
Graph *graph_new(const char *name) {
    Arena *arena = arena_new();
    Graph *g = ARENA_NEW(arena, Graph);
    g->arena = arena;
    g->name = arena_strdup(arena, name);
    g->dims = dim_table_new(arena);
    map_init(&g->names, arena);
    map_init(&g->suffixes, arena);
    return g;
}

Graph *graph_new_nested(Graph *outer, const char *name) {
    Graph *g = ARENA_NEW(outer->arena, Graph);
    *g = (Graph){.arena = outer->arena,
                 .name = arena_strdup(outer->arena, name),
                 .dims = outer->dims,
                 .outer = outer};
    map_init(&g->names, g->arena);
    map_init(&g->suffixes, g->arena);
    return g;
}

void graph_free(Graph *g) {
    if (g && !g->outer) arena_free(g->arena);
}

static void free_owned(void *g) { graph_free(g); }

void graph_give(Graph *g, Arena *owner) { arena_at_free(owner, free_owned, g); }

Graph *graph_new_owned(Arena *owner, const char *name) {
    Graph *g = graph_new(name);
    graph_give(g, owner);
    return g;
}

// Room for one more pointer: capacities are powers of two, so a full array is one whose length is a
// power of two.
static void *grow(Arena *arena, void *old, int n) {
    if (n & (n - 1)) return old;
    void **array = ARENA_ARRAY(arena, void *, n ? 2 * n : 1);
    if (n) memcpy(array, old, (size_t)n * sizeof *array);
    return array;
}

Node *graph_add_input(Graph *g, const char *name, Type type, Loc loc) {
    Node *n = node_make(g, OP_input, loc, 0, NULL,
                        g->n_inputs ? g->inputs[g->n_inputs - 1]->next : g->first);
    n->type = type;
    node_set_name(n, name);
    g->inputs = grow(g->arena, g->inputs, g->n_inputs);
    g->inputs[g->n_inputs++] = n;
    return n;
}

int graph_output_index(const Graph *g, const char *name) {
    for (int i = 0; i < g->n_outputs; i++)
        if (g->output_names[i] && !strcmp(g->output_names[i], name)) return i;
    return -1;
}

void graph_add_output(Graph *g, Node *n, const char *name) {
    g->outputs = grow(g->arena, g->outputs, g->n_outputs);
    g->output_names = grow(g->arena, g->output_names, g->n_outputs);
    g->outputs[g->n_outputs] = n;
    g->output_names[g->n_outputs++] = arena_strdup(g->arena, name);
}

// ---------------------------------------------------------------------------------- users of nodes
static void add_user(Node *n, Node *user) {
    n->users = grow(n->graph->arena, n->users, n->n_users);
    n->users[n->n_users++] = user;
}

static void drop_user(Node *n, const Node *user) {
    for (int i = n->n_users; i-- > 0;) {
        if (n->users[i] != user) continue;
        memmove(n->users + i, n->users + i + 1, (size_t)(--n->n_users - i) * sizeof *n->users);
        return;
    }
}

int node_uses(const Node *n) {
    int uses = n->n_users;
    for (int i = 0; i < n->graph->n_outputs; i++) uses += n->graph->outputs[i] == n;
    return uses;
}

Node *node_only_user(const Node *n) {
    return n->n_users == 1 && node_uses(n) == 1 ? n->users[0] : NULL;
}

void node_set_input(Node *n, int i, Node *to) {
    if (n->in[i] == to) return;
    if (n->in[i]) drop_user(n->in[i], n);
    n->in[i] = to;
    if (to) add_user(to, n);
}

void node_add_input(Node *n, Node *operand) {
    Node **in = ARENA_ARRAY(n->graph->arena, Node *, n->n_in + 1);
    if (n->n_in) memcpy(in, n->in, (size_t)n->n_in * sizeof *in);
    n->in = in;
    node_set_input(n, n->n_in++, operand);
}

void node_drop_input(Node *n, int i) {
    node_set_input(n, i, NULL);
    memmove(n->in + i, n->in + i + 1, (size_t)(--n->n_in - i) * sizeof *n->in);
}

void graph_drop_input(Graph *g, int i) {
    node_remove(g->inputs[i]);
    memmove(g->inputs + i, g->inputs + i + 1, (size_t)(--g->n_inputs - i) * sizeof *g->inputs);
}

void graph_drop_output(Graph *g, int i) {
    size_t after = (size_t)(--g->n_outputs - i);
    memmove(g->outputs + i, g->outputs + i + 1, after * sizeof *g->outputs);
    memmove(g->output_names + i, g->output_names + i + 1, after * sizeof *g->output_names);
}

void node_replace(Node *old, Node *by) {
    Graph *g = old->graph;
    if (old == by) return;
    while (old->n_users) {
        Node *user = old->users[old->n_users - 1];
        for (int i = 0; i < user->n_in; i++)
            if (user->in[i] == old) node_set_input(user, i, by);
    }
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i] == old) g->outputs[i] = by;
}

// ------------------------------------------------------------------------------------------- order
static void list_insert(Graph *g, Node *n, Node *before) {
    n->next = before;
    n->prev = before ? before->prev : g->last;
    *(n->prev ? &n->prev->next : &g->first) = n;
    *(before ? &before->prev : &g->last) = n;
}

static void list_remove(Graph *g, Node *n) {
    *(n->prev ? &n->prev->next : &g->first) = n->next;
    *(n->next ? &n->next->prev : &g->last) = n->prev;
}

void node_move_before(Node *n, Node *before) {
    if (n == before) return;
    list_remove(n->graph, n);
    list_insert(n->graph, n, before);
}

enum { NEW, OPEN, DONE };

// Iterative depth-first walk, since chains are long: a node goes to the list after its operands.
static void sort_from(Graph *g, Node *root, Node **stack, int *next_in) {
    int depth = 0;
    stack[0] = root, next_in[0] = 0, root->mark = OPEN;
    while (depth >= 0) {
        Node *n = stack[depth];
        if (next_in[depth] == n->n_in) {
            list_insert(g, n, NULL);
            n->mark = DONE;
            depth--;
            continue;
        }
        Node *in = n->in[next_in[depth]++];
        if (!in || in->graph != g || in->mark != NEW) continue;
        in->mark = OPEN;
        stack[++depth] = in, next_in[depth] = 0;
    }
}

void graph_sort(Graph *g) {
    int n = 0;
    EACH_NODE(count, g) count->mark = NEW, n++;
    Arena *scratch = arena_new();
    Node **stack = ARENA_ARRAY(scratch, Node *, n + 1), **old = ARENA_ARRAY(scratch, Node *, n + 1);
    int *next_in = ARENA_ARRAY(scratch, int, n + 1), i = 0;
    EACH_NODE(node, g) old[i++] = node;
    g->first = g->last = NULL;
    for (i = 0; i < n; i++)
        if (old[i]->mark == NEW) sort_from(g, old[i], stack, next_in);
    arena_free(scratch);
}

// ------------------------------------------------------------------------------------------- nodes
Node *node_make(Graph *g, Op op, Loc loc, int n_in, Node *const *in, Node *before) {
    Node *n = ARENA_NEW(g->arena, Node);
    *n = (Node){
        .op = op, .in = ARENA_ARRAY(g->arena, Node *, n_in), .n_in = n_in, .loc = loc, .graph = g};
    for (int i = 0; in && i < n_in; i++) node_set_input(n, i, in[i]);
    list_insert(g, n, before);
    node_set_name(n, op_info[op].name);
    return n;
}

static bool check_arity(const Node *n) {
    const char *op = op_info[n->op].name;
    int least = op_least(n->op), most = op_most(n->op), length;
    if (n->n_in < least || (most >= 0 && n->n_in > most)) {
        diag_error(n->loc, "%s takes %s%d operands, not %d", op, most == least ? "" : "at least ",
                   least, n->n_in);
        return false;
    }
    for (int i = 0; i < n->n_in; i++) {
        const char *name = op_operand(n->op, i, &length);
        if (!n->in[i] && name[length] != '?')
            return diag_error(n->loc, "%s lacks its operand \"%.*s\"", op, length, name), false;
    }
    return true;
}

static bool check_required(const Node *n) {
    const char *attrs = op_info[n->op].attrs;
    OpAttr a;
    while (op_next_attr(&attrs, &a)) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", a.length, a.name);
        if (a.required && !attr_find(n, name))
            return diag_error(n->loc, "%s lacks its attribute \"%s\"", op_info[n->op].name, name),
                   false;
    }
    return true;
}

bool node_infer(Node *n) {
    Type type = n->type;
    if (!check_arity(n) || !check_required(n) || !op_info[n->op].infer(n->graph, n, &type))
        return false;
    n->type = type;
    return true;
}

Node *inferred(Node *n) {
    if (!node_infer(n)) diag_stop();
    return n;
}

Node *node_new(Graph *g, Op op, Loc loc, int n_in, Node *const *in) {
    Node *n = node_make(g, op, loc, n_in, in, NULL);
    if (node_infer(n)) return n;
    node_remove(n);
    return NULL;
}

Node *node_constant(Graph *g, const Tensor *value, Loc loc, Node *before) {
    Node *n = node_make(g, OP_constant, loc, 0, NULL, before);
    n->value = value;
    n->type = type_of_tensor(g, value);
    if (value->name) node_set_name(n, value->name);
    return n;
}

Node *node_scalar(Graph *g, DType dtype, double value, Loc loc, Node *before) {
    Tensor *t = ARENA_NEW(g->arena, Tensor);
    void *data = arena_alloc(g->arena, sizeof(double));
    dtype_store(dtype, data, 0, value);
    *t = (Tensor){.dtype = dtype, .data = data, .bytes = dtype_bytes(dtype, 1)};
    return node_constant(g, t, loc, before);
}

Node *node_item(Graph *g, Node *tuple, int index, Node *before) {
    Node *n = node_make(g, OP_item, tuple->loc, 1, &tuple, before);
    attr_set_int(n, "index", index);
    if (node_infer(n)) return n;
    node_remove(n);
    return NULL;
}

void node_remove(Node *n) {
    for (int i = 0; i < n->n_in; i++) node_set_input(n, i, NULL);
    list_remove(n->graph, n);
    if (map_get(&n->graph->names, n->name) == n) map_put(&n->graph->names, n->name, NULL);
}

// The size that the values of a node decide, or NULL
static const Dim *decided_size(const Node *n) {
    bool decides = n->op == OP_nonzero || n->op == OP_unique || n->op == OP_non_max_suppression;
    const Dim *size = decides            ? attr_dim(n, "extent")
                      : n->op == OP_loop ? attr_dim(n, "length")
                                         : NULL;
    return size && size->kind == DIM_SYMBOL ? size : NULL;
}

static bool mentions(const Node *n, const Dim *symbol) {
    for (int i = 0; i < n->type.rank; i++)
        if (dim_has_symbol(n->type.dim[i], symbol)) return true;
    for (const Attr *a = n->attrs; a; a = a->next)
        for (int i = 0; a->kind == ATTR_DIMS && i < a->n; i++)
            if (dim_has_symbol(a->dims[i], symbol)) return true;
    return false;
}

// Does a later node need the size that this one decides?
static bool is_size_used(const Node *n) {
    const Dim *size = decided_size(n);
    for (const Node *later = size ? n->next : NULL; later; later = later->next)
        if (mentions(later, size) && !(later->op == OP_item && later->in[0] == n)) return true;
    return false;
}

bool graph_sweep(Graph *g) {
    bool changed = false;
    for (Node *n = g->last, *prev; n; n = prev) {
        prev = n->prev;
        if (n->op == OP_input || node_uses(n) || is_size_used(n)) continue;
        node_remove(n);
        changed = true;
    }
    return changed;
}

// ------------------------------------------------------------------------------------------- names
// Letters, digits, "_" and "." stay; anything else becomes "_".
static char *clean_name(Arena *arena, const char *wanted) {
    char *name = arena_strdup(arena, *wanted ? wanted : "value");
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != '.') *c = '_';
    return name;
}

static const char *unique_name(Graph *g, char *name) {
    if (!map_get(&g->names, name)) return name;
    char *dot = strrchr(name, '.');
    if (dot && dot != name && dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1)) *dot = 0;
    intptr_t suffix = (intptr_t)map_get(&g->suffixes, name);
    const char *unique;
    do unique = arena_printf(g->arena, "%s.%ld", name, (long)++suffix);
    while (map_get(&g->names, unique));
    map_put(&g->suffixes, name, (void *)suffix);
    return unique;
}

void node_set_name(Node *n, const char *wanted) {
    Graph *g = n->graph;
    if (n->name && map_get(&g->names, n->name) == n) map_put(&g->names, n->name, NULL);
    n->name = unique_name(g, clean_name(g->arena, wanted));
    map_put(&g->names, n->name, n);
}

// ------------------------------------------------------------------------------------------- clone
static Type import_type(Graph *g, const Type *t) {
    Type r = *t;
    for (int i = 0; i < t->rank; i++) r.dim[i] = dim_import(g, t->dim[i]);
    return r;
}

// An operand of the copy: the node of that name in the copy, or outside of it the operand itself or
// its own copy.
static Node *clone_operand(Graph *copy, const Graph *original, Node *in) {
    if (in->graph == original) return map_get(&copy->names, in->name);
    for (Graph *g = copy->outer; g; g = g->outer)
        if (g == in->graph) return in;
    for (Graph *g = copy->outer; g; g = g->outer) {
        Node *found = map_get(&g->names, in->name);
        if (found) return found;
    }
    return NULL;
}

Node *node_again(Node *n, Op op, int n_in, Node *const *in, Node *before) {
    Node *by = node_make(n->graph, op, n->loc, n_in, in, before);
    attr_copy(by, n);
    return by;
}

static void clone_node(Graph *g, const Node *n) {
    Node *c = node_make(g, n->op, n->loc, n->n_in, NULL, NULL);
    node_set_name(c, n->name);
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i]) node_set_input(c, i, clone_operand(g, n->graph, n->in[i]));
    c->type = import_type(g, &n->type);
    c->value = n->value, c->hashed = n->hashed, c->hash = n->hash;
    c->n_items = n->n_items;
    Type *items = ARENA_ARRAY(g->arena, Type, n->n_items);
    for (int i = 0; i < n->n_items; i++) items[i] = import_type(g, &n->items[i]);
    c->items = items;
    attr_copy(c, n);
}

static void import_symbol(const Dim *symbol, void *graph) { dim_import(graph, symbol); }

static void clone_into(Graph *c, const Graph *g) {
    EACH_NODE(n, g) clone_node(c, n);
    for (int i = 0; i < g->n_inputs; i++) {
        c->inputs = grow(c->arena, c->inputs, c->n_inputs);
        c->inputs[c->n_inputs++] = map_get(&c->names, g->inputs[i]->name);
    }
    for (int i = 0; i < g->n_outputs; i++)
        graph_add_output(c, clone_operand(c, g, g->outputs[i]), g->output_names[i]);
}

// The data of constants is not copied: the clone must not outlive its source (the checkpoint, or
// this graph).
Graph *graph_clone(const Graph *g) {
    Graph *c = graph_new(g->name);
    dim_each_symbol(g, import_symbol, c);
    clone_into(c, g);
    return c;
}

Module module_clone(Arena *arena, const Module *m) {
    Module clone = *m;
    clone.arena = arena;
    clone.graphs = ARENA_ARRAY(arena, Graph *, m->n_graphs + 1);
    for (int i = 0; i < m->n_graphs; i++)
        graph_give(clone.graphs[i] = graph_clone(m->graphs[i]), arena);
    return clone;
}

Graph *graph_clone_nested(Graph *outer, const Graph *g) {
    Graph *c = graph_new_nested(outer, g->name);
    clone_into(c, g);
    return c;
}
