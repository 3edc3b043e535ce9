// The logits of a row are computed only where they are wanted: the tail of the graph, from the last
// contraction but one on, works on the rows that gather_rows leaves.
//
//   before   %y = matmul_packed(%n, %head) : f32[R, V]             after   %lw = gather_rows(%d, %logit_rows) : f32[L, 192] ...
#include "passes/incremental/incremental.h"

// Experts are never among the ops that only wanted rows need.
static int contractions_of(const Node *n) {
    return n->op == OP_expert_matmul ? 2 : n->op == OP_matmul || n->op == OP_matmul_packed;
}

static bool works_on_rows(const Node *n) {
    if (!has_rows(n) || row_axis(n) != 0) return false;
    switch (op_info[n->op].rows) {
        case ROWS_EACH:
            return n->op != OP_iota;
        case ROWS_INNER:
        case ROWS_FIRST:
            return true;
        default:
            return false;
    }
}

// scratch: 0 outside of the tail; else 1 + the contractions between the node and the outputs,
// itself included.
static intptr_t tail_mark(const Node *n) { return (intptr_t)n->scratch; }

static bool is_output(const Graph *g, const Node *n) {
    for (int i = 0; i < g->n_outputs; i++) {
        if (g->outputs[i] == n) return true;
    }
    return false;
}

// The states of all rows are wanted.
static bool is_of_all_rows(const Graph *g, const Node *n) {
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i] == n && output_is_row_states(g, i)) return true;
    return false;
}

static intptr_t mark_of(const Graph *g, const Node *n) {
    intptr_t contractions = 0;
    if (!works_on_rows(n) || (!n->n_users && !is_output(g, n)) || is_of_all_rows(g, n)) return 0;
    for (int i = 0; i < n->n_users; i++) {
        if (!tail_mark(n->users[i])) return 0;
        if (tail_mark(n->users[i]) - 1 > contractions) contractions = tail_mark(n->users[i]) - 1;
    }
    contractions += contractions_of(n);
    return contractions > 1 ? 0 : 1 + contractions;
}

// Rows are selected of floats alone: does the node read others from before the tail?
static bool reads_other_types(const Node *n) {
    for (int i = 0; i < n->n_in; i++) {
        const Node *x = n->in[i];
        if (x && has_rows(x) && !tail_mark(x) && x->type.dtype != DT_f32) return true;
    }
    return false;
}

static bool feeds_others(const Node *n) {
    for (int i = 0; i < n->n_users; i++)
        if (!tail_mark(n->users[i])) return true;
    return false;
}

// Removes nodes that cannot start the tail, and their operands.
static bool shorten_tail(Graph *g) {
    bool changed = false;
    EACH_NODE(n, g) {
        if (!tail_mark(n) || !(reads_other_types(n) || (n->op == OP_item && !tail_mark(n->in[0]))))
            continue;
        n->scratch = NULL;
        changed = true;
    }
    for (Node *n = g->last; changed && n; n = n->prev)
        if (tail_mark(n) && feeds_others(n)) n->scratch = NULL;
    return changed;
}

static void mark_tail(Graph *g) {
    for (Node *n = g->last; n; n = n->prev) n->scratch = (void *)mark_of(g, n);
    while (shorten_tail(g)) continue;
}

// A row of several axes is selected as one of all their elements.
static Node *selected(Node *n, Node *logit_rows, Node *before) {
    const Dim *dims[MAX_RANK] = {n->type.dim[0], dim_const(n->graph, 1)};
    int rank = n->type.rank;
    for (int i = 1; i < rank; i++) dims[1] = dim_binary(n->graph, DIM_MUL, dims[1], n->type.dim[i]);
    Node *flat = rank > 2 ? build_reshape(cursor(before), n, 2, dims) : n;
    Node *by = build_op(cursor_at(before, n->loc), OP_gather_rows, 2, (Node *[]){flat, logit_rows});
    for (int i = 0; i < rank; i++) dims[i] = i ? n->type.dim[i] : by->type.dim[0];
    if (rank > 2) by = build_reshape(cursor(before), by, rank, dims);
    by->mark = flat->mark = n->mark;
    by->scratch = NULL;
    return by;
}

static void select_operands(Node *n, Node *logit_rows) {
    for (int i = 0; i < n->n_in; i++) {
        Node *x = n->in[i];
        if (x && has_rows(x) && !tail_mark(x) && x->op != OP_gather_rows)
            node_set_input(n, i, selected(x, logit_rows, n));
    }
    inferred(n);
}

static bool is_selected(const Graph *g) {
    EACH_NODE(n, g)
        if (n->op == OP_gather_rows) return true;
    return false;
}

bool gather_logit_rows(Graph *g, const RowInputs *in) {
    RowTrace t = {.rows = in->rows};
    if (is_selected(g) || !trace_rows(g, &t)) return false;
    mark_tail(g);
    EACH_NODE(n, g) {
        if (tail_mark(n)) select_operands(n, in->logit_rows);
    }
    for (int i = 0; i < g->n_outputs; i++) {
        Node *n = g->outputs[i];
        if (!tail_mark(n) && has_rows(n) && n->op != OP_gather_rows && !output_is_row_states(g, i))
            g->outputs[i] = selected(n, in->logit_rows, NULL);
    }
    return true;
}
