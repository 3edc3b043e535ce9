// Attributes: a sorted list of named values on each node. Setting copies into the arena of the
// node's graph.
#include <string.h>

#include "ir.h"
#include "ir/internal.h"

Attr *attr_in(const Attr *list, const char *name) {
    while (list && strcmp(list->name, name)) list = list->next;
    return (Attr *)list;
}

Attr *attr_find(const Node *n, const char *name) { return attr_in(n->attrs, name); }

bool attr_is_of_kind(const Attr *a, const OpAttr *known) {
    return a->kind == known->kind && (!known->one || a->n == 1);
}

static void remove_attr(Node *n, const char *name) {
    for (Attr **a = &n->attrs; *a; a = &(*a)->next)
        if (!strcmp((*a)->name, name)) {
            *a = (*a)->next;
            return;
        }
}

// A fresh one in its place; the caller sets the value.
static Attr *attr_put(Node *n, const char *name, AttrKind kind) {
    remove_attr(n, name);
    Attr **at = &n->attrs;
    while (*at && strcmp((*at)->name, name) < 0) at = &(*at)->next;
    Attr *a = ARENA_NEW(n->graph->arena, Attr);
    *a = (Attr){.next = *at, .name = arena_strdup(n->graph->arena, name), .kind = kind};
    return *at = a;
}

int64_t attr_as_int(const Attr *a, int64_t absent) {
    return a && a->kind == ATTR_INT ? a->i : absent;
}

double attr_as_float(const Attr *a, double absent) {
    if (a && a->kind == ATTR_INT) return (double)a->i;
    return a && a->kind == ATTR_FLOAT ? a->f : absent;
}

const char *attr_as_string(const Attr *a, const char *absent) {
    return a && a->kind == ATTR_STRING ? a->s : absent;
}

const Expr *attr_as_expr(const Attr *a) { return a && a->kind == ATTR_EXPR ? a->expr : NULL; }

const int64_t *attr_as_ints(const Attr *a, int *count) {
    bool found = a && a->kind == ATTR_INTS;
    *count = found ? a->n : 0;
    return found ? a->ints : NULL;
}

const Dim *const *attr_as_dims(const Attr *a, int *count) {
    bool found = a && a->kind == ATTR_DIMS;
    *count = found ? a->n : 0;
    return found ? a->dims : NULL;
}

int64_t attr_int(const Node *n, const char *name, int64_t absent) {
    return attr_as_int(attr_find(n, name), absent);
}

double attr_float(const Node *n, const char *name, double absent) {
    return attr_as_float(attr_find(n, name), absent);
}

const char *attr_string(const Node *n, const char *name, const char *absent) {
    return attr_as_string(attr_find(n, name), absent);
}

const Expr *attr_expr(const Node *n, const char *name) { return attr_as_expr(attr_find(n, name)); }

const int64_t *attr_ints(const Node *n, const char *name, int *count) {
    return attr_as_ints(attr_find(n, name), count);
}

const Dim *const *attr_dims(const Node *n, const char *name, int *count) {
    return attr_as_dims(attr_find(n, name), count);
}

const Dim *attr_dim(const Node *n, const char *name) {
    int count;
    const Dim *const *dims = attr_dims(n, name, &count);
    return count == 1 ? dims[0] : NULL;
}

Graph *attr_graph(const Node *n, const char *name) {
    const Attr *a = attr_find(n, name);
    return a && a->kind == ATTR_GRAPH ? a->graph : NULL;
}

bool attr_dims_are_constant(const Node *n) {
    for (const Attr *a = n->attrs; a; a = a->next)
        for (int i = 0; a->kind == ATTR_DIMS && i < a->n; i++)
            if (!dim_is_const(a->dims[i], NULL)) return false;
    return true;
}

void attr_set_int(Node *n, const char *name, int64_t value) {
    attr_put(n, name, ATTR_INT)->i = value;
}
void attr_set_float(Node *n, const char *name, double value) {
    attr_put(n, name, ATTR_FLOAT)->f = value;
}
void attr_set_dtype(Node *n, const char *name, DType value) {
    attr_put(n, name, ATTR_DTYPE)->dtype = value;
}
void attr_set_expr(Node *n, const char *name, const Expr *value) {
    attr_put(n, name, ATTR_EXPR)->expr = value;
}
void attr_set_tensor(Node *n, const char *name, const Tensor *value) {
    attr_put(n, name, ATTR_TENSOR)->tensor = value;
}
void attr_set_graph(Node *n, const char *name, Graph *value) {
    attr_put(n, name, ATTR_GRAPH)->graph = value;
}

void attr_set_string(Node *n, const char *name, const char *value) {
    const char *copy = arena_strdup(n->graph->arena, value);
    attr_put(n, name, ATTR_STRING)->s = copy;
}

static Attr *put_list(Node *n, const char *name, AttrKind kind, const void *items, size_t bytes,
                      int count) {
    void *copy = arena_alloc(n->graph->arena, bytes * (size_t)count);
    if (count) memcpy(copy, items, bytes * (size_t)count);
    Attr *a = attr_put(n, name, kind);
    a->n = count;
    a->ints = copy;
    return a;
}

void attr_set_ints(Node *n, const char *name, const int64_t *v, int count) {
    put_list(n, name, ATTR_INTS, v, sizeof *v, count);
}

void attr_set_floats(Node *n, const char *name, const double *v, int count) {
    put_list(n, name, ATTR_FLOATS, v, sizeof *v, count);
}

void attr_set_dims(Node *n, const char *name, const Dim *const *v, int count) {
    put_list(n, name, ATTR_DIMS, v, sizeof *v, count);
}

void attr_set_strings(Node *n, const char *name, const char *const *v, int count) {
    const char **copies = ARENA_ARRAY(n->graph->arena, const char *, count);
    for (int i = 0; i < count; i++) copies[i] = arena_strdup(n->graph->arena, v[i]);
    put_list(n, name, ATTR_STRINGS, copies, sizeof *copies, count);
}

void attr_remove(Node *n, const char *name) {
    for (Attr **at = &n->attrs; *at; at = &(*at)->next)
        if (!strcmp((*at)->name, name)) {
            *at = (*at)->next;
            return;
        }
}

static void copy_dims(Node *to, const Attr *a) {
    const Dim **dims = ARENA_ARRAY(to->graph->arena, const Dim *, a->n);
    for (int i = 0; i < a->n; i++) dims[i] = dim_import(to->graph, a->dims[i]);
    attr_set_dims(to, a->name, dims, a->n);
}

static const Expr *copy_expr(Arena *arena, const Expr *e) {
    if (e->kind == EXPR_ARG) return expr_arg(arena, e->arg);
    if (e->kind == EXPR_CONST) return expr_const(arena, e->value);
    const Expr *in[3];
    for (int i = 0; i < e->n; i++) in[i] = copy_expr(arena, e->in[i]);
    return expr_op(arena, e->op, e->n, in);
}

static void copy_attr(Node *to, const Attr *a) {
    switch (a->kind) {
        case ATTR_INT:
            attr_set_int(to, a->name, a->i);
            break;
        case ATTR_FLOAT:
            attr_set_float(to, a->name, a->f);
            break;
        case ATTR_STRING:
            attr_set_string(to, a->name, a->s);
            break;
        case ATTR_INTS:
            attr_set_ints(to, a->name, a->ints, a->n);
            break;
        case ATTR_FLOATS:
            attr_set_floats(to, a->name, a->floats, a->n);
            break;
        case ATTR_STRINGS:
            attr_set_strings(to, a->name, a->strings, a->n);
            break;
        case ATTR_DIMS:
            copy_dims(to, a);
            break;
        case ATTR_EXPR:
            attr_set_expr(to, a->name, copy_expr(to->graph->arena, a->expr));
            break;
        case ATTR_TENSOR:
            attr_set_tensor(to, a->name, a->tensor);
            break;
        case ATTR_GRAPH:
            attr_set_graph(to, a->name, graph_clone_nested(to->graph, a->graph));
            break;
        case ATTR_DTYPE:
            attr_set_dtype(to, a->name, a->dtype);
            break;
    }
}

void attr_copy(Node *to, const Node *from) {
    for (const Attr *a = from->attrs; a; a = a->next) copy_attr(to, a);
}

int node_axis(const Node *n) { return (int)attr_int(n, "axis", 0); }

void substitute_dims(Node *n, const Dim *from, const Dim *to) {
    for (Attr *a = n->attrs; a; a = a->next) {
        const Dim *dims[MAX_RANK];
        if (a->kind != ATTR_DIMS) continue;
        for (int i = 0; i < a->n; i++) dims[i] = dim_substitute(n->graph, a->dims[i], from, to);
        attr_set_dims(n, a->name, dims, a->n);
        a = attr_find(n, a->name);
    }
}
