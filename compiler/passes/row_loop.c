// Proves that a loop takes the rows one by one: each step reads its own row and the states.
#include "passes/row_loop.h"

#include "ir/control.h"
#include "passes/row_trace.h"

static bool has_constant_shape(const Type *t) {
    for (int i = 0; i < t->rank; i++)
        if (!dim_is_const(t->dim[i], NULL)) return false;
    return true;
}

static bool names_symbol(const Node *n, const Dim *symbol) {
    for (const Attr *a = n->attrs; a; a = a->next)
        for (int i = 0; a->kind == ATTR_DIMS && i < a->n; i++)
            if (dim_has_symbol(a->dims[i], symbol)) return true;
    return false;
}

// The element of this step, along the axis of the rows.
static bool takes_own_row(const Node *n, const Node *rows, const Dim *counter, int axis) {
    return n->op == OP_slice && n->in[0] == rows && node_axis(n) == axis &&
           attr_dim(n, "start") == counter && dim_is(attr_dim(n, "extent"), 1);
}

// Where the rows are in an operand of the loop that the body's node reads, -1: it has none.
static int axis_in_body(const Node *loop, const Graph *body, const Node *x) {
    for (int i = 0; i < body->n_inputs; i++)
        if (body->inputs[i] == x) return row_axis(loop->in[LOOP_FIRST + i]);
    return -1;
}

static const char *step_reads(const Node *loop, const LoopParts *l, const Node *n,
                              const Dim *rows) {
    bool own = false;
    for (int i = 0; i < n->n_in; i++) {
        int axis = n->in[i] ? axis_in_body(loop, l->body, n->in[i]) : -1;
        if (axis < 0) continue;
        own = takes_own_row(n, n->in[i], l->counter, axis);
        if (!own) return "is a loop whose steps read other rows than their own";
    }
    if (!own && (names_symbol(n, l->counter) || names_symbol(n, rows)))
        return "is a loop whose steps count the rows";
    return NULL;
}

static const char *states_of(const Node *loop, const LoopParts *l) {
    for (int i = 0; i < l->n_states; i++) {
        const Node *first = loop->in[LOOP_FIRST + i];
        if (first->op == OP_state) continue;
        if (has_rows(first)) return "is a loop that begins with a value of the rows";
        if (first->type.dtype != DT_f32 || !has_constant_shape(&first->type))
            return "is a loop with a state that is no tensor of f32 of one size";
    }
    for (int i = 0; i < loop->n_users; i++)
        if (attr_int(loop->users[i], "index", 0) < l->n_states && node_uses(loop->users[i]))
            return "is a loop whose last state is asked for";
    return NULL;
}

const char *steps_over_rows(const Node *loop, const Dim *rows) {
    LoopParts l = loop_parts(loop);
    if (loop_is_open(&l) || l.extent != rows || l.length != rows)
        return "is a loop that does not take the rows one by one";
    const char *why = states_of(loop, &l);
    for (const Node *n = l.body->first; n && !why; n = n->next) why = step_reads(loop, &l, n, rows);
    for (int i = 0; i < l.body->n_outputs && !why; i++)
        if (axis_in_body(loop, l.body, l.body->outputs[i]) >= 0)
            why = "is a loop that gives all rows at every step";
    return why;
}
