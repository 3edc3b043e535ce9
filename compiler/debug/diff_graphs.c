// Two graphs side by side, from their outputs down: nodes are a pair when their ops, attributes and
// types are the same and their operands are pairs. Names and locations do not matter, constants are
// compared elsewhere. A node that one side alone has is stepped over where its operand fits.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "debug/diff.h"

enum { MOST_SHOWN = 10 };

typedef struct GraphDiff {
    const Sides *sides;
    const Node **partner;  // by mark of A
    int found, pairs;
} GraphDiff;

// " {axis=1} : f32[T, 64]" of a node's line; the line's operands and place are left out.
static const char *form_of(Arena *arena, const Node *n) {
    Text t = {0}, form = {0};
    node_print(&t, n);
    const char *attrs = strstr(t.data, ") {"), *end = attrs ? strchr(attrs, '}') : NULL;
    if (attrs && end && n->op != OP_constant) text_append(&form, attrs + 1, (size_t)(end - attrs));
    text_add(&form, " : ");
    type_print(&form, &n->type);
    const char *text = arena_strndup(arena, form.data, form.length);
    text_free(&t), text_free(&form);
    return text;
}

static bool same_form(const GraphDiff *d, const Node *a, const Node *b) {
    return a->op == b->op && !strcmp(form_of(d->sides->arena, a), form_of(d->sides->arena, b));
}

static void show(GraphDiff *d, const char *sign, const Node *n) {
    Text t = {0};
    if (d->found > MOST_SHOWN && !d->sides->all) return;
    node_print(&t, n);
    print_spelled("%s %s\n", sign, t.data);
    text_free(&t);
}

static void differ(GraphDiff *d, const Node *a, const Node *b) {
    d->found++;
    if (a) show(d, "-", a);
    if (b) show(d, "+", b);
}

// An operand of a node at a position where the other side has none.
static Node *behind(const GraphDiff *d, const Node *n, const Node *other) {
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && same_form(d, n->in[i], other)) return n->in[i];
    return NULL;
}

static void pair(GraphDiff *d, const Node *a, const Node *b);

// Below nodes that differ, the walk continues where both sides have a value of one name and type.
static void resume(GraphDiff *d, const Node *a, const Graph *b) {
    for (int i = 0; i < a->n_in; i++) {
        const Node *x = a->in[i], *y = x ? map_get(&b->names, x->name) : NULL;
        if (!x || d->partner[x->mark]) continue;
        if (y && y->op == x->op && y->type.rank == x->type.rank && y->type.dtype == x->type.dtype) {
            pair(d, x, y);
        } else {
            d->partner[x->mark] = x;
            resume(d, x, b);
        }
    }
}

static void pair(GraphDiff *d, const Node *a, const Node *b) {
    Node *next;
    if (!a || !b) {
        if (a != b) differ(d, a, b);
        return;
    }
    if (d->partner[a->mark]) return;
    d->partner[a->mark] = b;
    if (!same_form(d, a, b)) {
        if ((next = behind(d, a, b))) {
            differ(d, a, NULL);
            d->partner[next->mark] = NULL;
            return pair(d, next, b);
        }
        if ((next = behind(d, b, a))) {
            differ(d, NULL, b);
            d->partner[a->mark] = NULL;
            return pair(d, a, next);
        }
        differ(d, a, b);
        if (a->op != b->op || a->n_in != b->n_in) return resume(d, a, b->graph);
    } else {
        d->pairs++;
    }
    for (int i = 0; i < a->n_in || i < b->n_in; i++)
        pair(d, i < a->n_in ? a->in[i] : NULL, i < b->n_in ? b->in[i] : NULL);
}

static void pair_outputs(GraphDiff *d, const Graph *a, const Graph *b) {
    for (int i = 0; i < a->n_outputs; i++) {
        int j = graph_output_index(b, a->output_names[i]);
        if (j < 0 && a->n_outputs == b->n_outputs) j = i;
        if (j >= 0) pair(d, a->outputs[i], b->outputs[j]);
        if (j < 0) differ(d, a->outputs[i], NULL);
    }
    for (int i = 0; i < b->n_outputs && a->n_outputs != b->n_outputs; i++)
        if (graph_output_index(a, b->output_names[i]) < 0) differ(d, NULL, b->outputs[i]);
}

static int count_ops(const Graph *g, Op op) {
    int count = 0;
    EACH_NODE(n, g) count += n->op == op;
    return count;
}

static void print_counts(const Graph *a, const Graph *b) {
    for (int i = 0; i < OP_COUNT; i++) {
        int before = count_ops(a, (Op)i), after = count_ops(b, (Op)i);
        if (before != after) printf("  %-24s %6d %6d\n", op_info[i].name, before, after);
    }
}

static int diff_pair(const Sides *s, const Graph *a, const Graph *b) {
    GraphDiff d = {.sides = s};
    int nodes = 0;
    EACH_NODE(n, a) n->mark = nodes++;
    d.partner = ARENA_ARRAY(s->arena, const Node *, nodes + 1);
    pair_outputs(&d, a, b);
    if (d.found > MOST_SHOWN && !s->all)
        printf("  and %d more (-v shows them)\n", d.found - MOST_SHOWN);
    print_spelled("graph %s: %d nodes are the same, %d differences\n", a->name, d.pairs, d.found);
    if (d.found) print_counts(a, b);
    return d.found;
}

int diff_graphs(const Sides *s, const Module *a, const Module *b) {
    int found = a->n_graphs != b->n_graphs;
    if (found) printf("%d graphs, and %d\n", a->n_graphs, b->n_graphs);
    for (int i = 0; i < a->n_graphs && i < b->n_graphs; i++)
        found += diff_pair(s, a->graphs[i], b->graphs[i]);
    return found;
}
