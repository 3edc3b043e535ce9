#include "debug/interpret_both.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/convert.h"

typedef struct Frame {
    InterpretBoth *walk;
    const Graph *graph;
    Tensor **exact, **contract;  // by node->mark; NULL: a constant, or not computed (any more)
    int *uses;                   // that are still to come
} Frame;

void interpret_both_open(InterpretBoth *w) {
    *w = (InterpretBoth){.exact = eval_new(EVAL_F64), .contract = eval_new(EVAL_F32)};
}

void interpret_both_close(InterpretBoth *w) {
    eval_free(w->exact);
    eval_free(w->contract);
}

bool is_weight_chain(const Node *n) {
    if (n->op == OP_constant) return true;
    if (!n->n_in) return false;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && !is_weight_chain(n->in[i])) return false;
    return true;
}

Tensor *tensor_copy(Arena *arena, const Tensor *t) {
    Tensor *copy = ARENA_NEW(arena, Tensor);
    void *data = arena_alloc(arena, t->bytes + 16);
    *copy = *t;
    memcpy(data, t->data, t->bytes);
    copy->data = data;
    return copy;
}

static Tensor *keep(const Tensor *t) {
    Tensor *kept = malloc(sizeof *kept + t->bytes + 16);
    if (!kept) diag_fatal(NO_LOC, "not enough memory");
    *kept = *t;
    kept->data = memcpy(kept + 1, t->data, t->bytes);
    return kept;
}

// For an item: its tuple, which is computed with it.
static Node *computed_op(Node *n) { return n->op == OP_item ? n->in[0] : n; }

// States are those of the contexts; packed weights stay with their constants.
static bool is_computed(const Node *n) {
    bool unary = n->n_in == 1 && n->in[0];
    if (n->op == OP_constant || n->op == OP_state || n->op == OP_pack || n->op == OP_input)
        return false;
    if (n->type.dtype == DT_tuple) return false;
    return !(unary && n->op != OP_item && is_weight_chain(n));
}

static const Tensor *compute(EvalContext *c, Node *n, Tensor *const *values) {
    Node *op = computed_op(n);
    const Tensor **operands = calloc((size_t)op->n_in + 1, sizeof *operands);
    for (int i = 0; i < op->n_in; i++) operands[i] = op->in[i] ? values[op->in[i]->mark] : NULL;
    const Tensor *t = eval_node(c, op, operands, n == op ? 0 : (int)attr_int(n, "index", 0));
    free(operands);
    return t;
}

static void forget(Frame *f, int mark) {
    free(f->exact[mark]), free(f->contract[mark]);
    f->exact[mark] = f->contract[mark] = NULL;
}

static void forget_operands(Frame *f, Node *n) {
    const Node *op = computed_op(n);
    for (int i = 0; i < op->n_in; i++)
        if (op->in[i] && !--f->uses[op->in[i]->mark]) forget(f, op->in[i]->mark);
    if (!f->uses[n->mark]) forget(f, n->mark);
}

static Frame frame_of(InterpretBoth *w, const Graph *g) {
    int n_nodes = 0;
    EACH_NODE(n, g) n->mark = n_nodes++;
    Frame f = {.walk = w, .graph = g, .uses = calloc((size_t)n_nodes + 1, sizeof *f.uses)};
    f.exact = calloc((size_t)n_nodes + 1, sizeof(Tensor *));
    f.contract = calloc((size_t)n_nodes + 1, sizeof(Tensor *));
    EACH_NODE(n, g) {
        const Node *op = computed_op(n);
        for (int i = 0; i < op->n_in && is_computed(n); i++)
            if (op->in[i]) f.uses[op->in[i]->mark]++;
    }
    return f;
}

static void frame_close(Frame *f) {
    EACH_NODE(n, f->graph) forget(f, n->mark);
    free(f->exact), free(f->contract), free(f->uses);
}

void interpret_both_graph(InterpretBoth *w, const Graph *g, const Tensor *const *inputs,
                          InterpretBothVisit *visit, void *user) {
    Frame f = frame_of(w, g);
    for (int i = 0; i < g->n_inputs; i++) {
        Node *n = g->inputs[i];
        eval_set_shape(w->exact, n, inputs[i]), eval_set_shape(w->contract, n, inputs[i]);
        f.exact[n->mark] = keep(inputs[i]), f.contract[n->mark] = keep(inputs[i]);
        visit(user, n, inputs[i], inputs[i]);
    }
    EACH_NODE(n, g) {
        if (!is_computed(n)) continue;
        f.exact[n->mark] = keep(compute(w->exact, n, f.exact));
        f.contract[n->mark] = keep(compute(w->contract, n, f.contract));
        visit(user, n, f.exact[n->mark], f.contract[n->mark]);
        forget_operands(&f, n);
    }
    frame_close(&f);
}

// --------------------------------------------------------------------------------------- distances
// A sum of many terms may differ in each of them: PyTorch's order is not burin's.
enum { ORDERS = 16 };

static bool both_alike(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

Difference tensor_difference(const Tensor *value, const Tensor *exact, const Tensor *contract,
                             double step) {
    Difference d = {.at = -1};
    double rounding = 0;
    for (int64_t i = 0, n = tensor_count(exact); i < n; i++) {
        double v = dtype_load(value->dtype, value->data, i),
               e = dtype_load(exact->dtype, exact->data, i);
        double c = dtype_load(contract->dtype, contract->data, i);
        if (isfinite(e)) d.largest = fmax(d.largest, fabs(e));
        if (isfinite(e) && isfinite(c)) rounding = fmax(rounding, fabs(c - e));
        if (both_alike(v, e)) continue;
        double distance = isfinite(v) && isfinite(e) ? fabs(v - e) : INFINITY;
        if (d.at >= 0 && distance <= d.found) continue;
        d.found = distance, d.at = i, d.value = v, d.expected = e;
    }
    d.explained = ORDERS * fmax(rounding * (step / 0x1p-24), 2 * step * d.largest);
    d.outside = d.found > d.explained;
    return d;
}
