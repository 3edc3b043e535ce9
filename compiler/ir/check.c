#include "ir/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/convert.h"
#include "ir/eval.h"

typedef struct Record {
    struct Record *next;
    const Node *node;
    int item;
    Tensor value;  // [rows, columns]
} Record;

// One node (or item) over all steps.
typedef struct Site {
    struct Site *next;
    const Node *node;
    int item;
    int64_t elements, outside, other_bits;
    double worst;                // largest error / allowed
    double got, truth, allowed;  // of the first element outside, else of the worst
    int64_t row, column;
} Site;

struct Check {
    Arena *arena, *step;  // of the whole, and of one step's records
    const Graph *graph;
    EvalContext *computed, *truth, *bounds;
    Record *records;
    Site *sites, **sites_end;
};

Check *check_new(Arena *arena, const Graph *g) {
    Check *c = ARENA_NEW(arena, Check);
    *c = (Check){.arena = arena, .step = arena_new(), .graph = g, .sites_end = &c->sites};
    c->computed = eval_new(EVAL_F32), c->truth = eval_new(EVAL_F64), c->bounds = eval_new(EVAL_F64);
    return c;
}

void check_free(Check *c) {
    eval_free(c->computed);
    eval_free(c->truth);
    eval_free(c->bounds);
    arena_free(c->step);
}

void check_record(Check *c, const Node *n, int item, const float *data, int64_t rows, int64_t columns, int64_t stride) {
    Record *r = ARENA_NEW(c->step, Record);
    float *copy = ARENA_ARRAY(c->step, float, rows *columns + 1);
    for (int64_t i = 0; i < rows; i++) memcpy(copy + i * columns, data + i * stride, (size_t)columns * sizeof *copy);
    *r = (Record){.next = c->records, .node = n, .item = item};
    r->value =
        (Tensor){.dtype = DT_f32, .rank = 2, .dim = {rows, columns}, .data = copy, .bytes = (uint64_t)(rows * columns) * 4};
    c->records = r;
}

static Site *site_of(Check *c, const Node *n, int item) {
    for (Site *s = c->sites; s; s = s->next)
        if (s->node == n && s->item == item) return s;
    Site *s = ARENA_NEW(c->arena, Site);
    *s = (Site){.node = n, .item = item};
    *c->sites_end = s;
    c->sites_end = &s->next;
    return s;
}

typedef struct {
    double got, truth, allowed;
    int64_t index, columns;
} Element;

static void count_element(Site *s, Element e) {
    double error = e.got == e.truth || (isnan(e.got) && isnan(e.truth)) ? 0 : fabs(e.got - e.truth);
    bool inside = error <= e.allowed;  // false for NaN
    double ratio = !inside && !(error / e.allowed < INFINITY) ? INFINITY : error ? error / e.allowed : 0;
    s->elements++;
    s->outside += !inside;
    bool first_outside = !inside && s->outside == 1;
    if (first_outside || (!s->outside && ratio > s->worst)) {
        s->got = e.got, s->truth = e.truth, s->allowed = e.allowed;
        s->row = e.index / e.columns, s->column = e.index % e.columns;
    }
    if (ratio > s->worst) s->worst = ratio;
}

static void compare(Check *c, Node *n, const Record *r, const Tensor *const *operands, const Tensor *computed) {
    int64_t count;
    double *allowed = eval_bound(c->bounds, n, operands, r->item, &count);
    const Tensor *truth = eval_node(c->truth, n, operands, r->item);
    Site *s = site_of(c, n, r->item);
    if (count != tensor_count(&r->value))
        diag_fatal(n->loc, "%%%s: the program recorded %lld elements, it has %lld", n->name, (long long)tensor_count(&r->value),
                   (long long)count);
    for (int64_t i = 0; i < count; i++) {
        float got = ((const float *)r->value.data)[i], same = ((const float *)computed->data)[i];
        s->other_bits += memcmp(&got, &same, sizeof got) != 0;
        count_element(s, (Element){got, dtype_load(truth->dtype, truth->data, i), allowed[i], i, r->value.dim[1]});
    }
    free(allowed);
}

static const Tensor *see(void *user, Node *n, int item, const Tensor *const *operands, const Tensor *computed) {
    Check *c = user;
    Record *r = c->records;
    while (r && (r->node != n || r->item != item)) r = r->next;
    if (!r || computed->dtype != DT_f32) return NULL;
    compare(c, n, r, operands, computed);
    r->value.rank = computed->rank;  // the program's rows in the node's shape
    memcpy(r->value.dim, computed->dim, sizeof r->value.dim);
    return &r->value;
}

void check_step(Check *c, const Tensor *const *inputs) {
    const Tensor **outputs = ARENA_ARRAY(c->step, const Tensor *, c->graph->n_outputs);
    EvalWatch watch = {.user = c, .see = see};
    eval_graph_watched(c->computed, c->graph, inputs, outputs, &watch);
    arena_free(c->step);
    c->step = arena_new();
    c->records = NULL;
}

// ------------------------------------------------------------------------------------------------------------------- reporting
typedef struct {
    int nodes;
    int64_t elements, other_bits;
    double worst;
} Row;

static Row row_of(const Check *c, Op op) {
    Row r = {0};
    for (const Site *s = c->sites; s; s = s->next) {
        if (s->node->op != op) continue;
        r.nodes++;
        r.elements += s->elements, r.other_bits += s->other_bits;
        if (s->worst > r.worst) r.worst = s->worst;
    }
    return r;
}

static void report_outside(const Site *s, Text *t) {
    text_add(t, "\n%%%s is outside: %s, element [%lld, %lld] is %.9g, in f64 %.9g: off by %.3g, allowed %.3g\n", s->node->name,
             op_info[s->node->op].name, (long long)s->row, (long long)s->column, s->got, s->truth, fabs(s->got - s->truth),
             s->allowed);
    text_add(t, "%lld of its %lld elements are outside\n  ", (long long)s->outside, (long long)s->elements);
    node_print(t, s->node);
    text_add(t, "\n");
}

bool check_report(const Check *c, Text *t) {
    text_add(t, "%-26s %6s %10s %14s %s\n", "op", "nodes", "elements", "error/allowed", "bits other than the interpreter's");
    for (int op = 0; op < OP_COUNT; op++) {
        Row r = row_of(c, (Op)op);
        if (r.nodes)
            text_add(t, "%-26s %6d %10lld %14.3f %lld\n", op_info[op].name, r.nodes, (long long)r.elements, r.worst,
                     (long long)r.other_bits);
    }
    const Site *s = c->sites;
    while (s && !s->outside) s = s->next;
    if (s) report_outside(s, t);
    return !s;
}
