// experts: rows that a mask picks, that something row by row is computed of, and that are put back
// where they came from: the same is computed of all rows, and the mask decides which results count.
// So a mixture of experts, whose experts each take the tokens that chose them, acts row by row.
// Only in a text: a tensor's program is quicker with few rows.
//
//   before   %n = nonzero(%mask) {extent=count} : i64[2, count]                  (%mask: bool[T, K]; %row, %k: its parts)
//            %x1 = gather(%x, %row) {axis=0} : f32[count, 64]
//            %y1 = f(%x1, gather_nd(%weights, %n)) : f32[count, 64]
//            %y = scatter_elements(%data, %row, %y1) {axis=0} : f32[T, 64]
//   after    %y_k = where(%mask[:, k], f(%x, %weights[:, k]), %y_(k-1)) : f32[T, 64]       for each k < K; before the first: %data
//
// With reduction="add" each result is added to the one before instead. What f does not take from k
// is merged later.
//
// Needs types and formulas in core ops; gives nothing new; keeps everything.
#include <string.h>

#include "ir/index.h"
#include "passes/attempt.h"
#include "passes/axes.h"
#include "passes/pass.h"
#include "passes/row_trace.h"
#include "passes/simplify/simplify.h"

PassFunction pass_experts;

enum { MOST_COLUMNS = 64 };  // of a mask: the experts of one token

typedef struct Choice {
    Node *nonzero, *scatter;
    const Dim *count, *rows;  // chosen; of all
    int row_axis;             // of the mask
    int64_t columns;          // of its other axis, or 1
} Choice;

static bool is_text(const Graph *g) {
    for (int i = 0; i < g->n_inputs; i++)
        if (input_role(g->inputs[i]) == INPUT_TOKENS) return true;
    return false;
}

static bool varies(const Choice *c, const Node *n) {
    bool tuple = n->type.dtype == DT_tuple;
    for (int i = 0; i < (tuple ? n->n_items : 1); i++) {
        const Type *type = tuple ? &n->items[i] : &n->type;
        for (int j = 0; j < type->rank; j++)
            if (dim_has_symbol(type->dim[j], c->count)) return true;
    }
    return false;
}

// Whole rows are replaced, all selected ones.
static bool puts_rows_back(const Choice *c) {
    const Node *n = c->scatter;
    const Type *data = &n->in[0]->type, *index = &n->in[1]->type, *updates = &n->in[2]->type;
    const char *reduction = attr_string(n, "reduction", "none");
    if (strcmp(reduction, "none") && strcmp(reduction, "add")) return false;
    if (node_axis(n) || updates->rank != data->rank) return false;
    for (int i = 1; i < updates->rank; i++)
        if (updates->dim[i] != data->dim[i] ||
            (n->op == OP_scatter_elements && index->dim[i] != data->dim[i]))
            return false;
    return n->op == OP_scatter_elements || (index->rank == 2 && dim_is(index->dim[1], 1));
}

static bool find_nonzero(Choice *c) {
    const Type *updates = &c->scatter->in[2]->type;
    if (!updates->rank || updates->dim[0]->kind != DIM_SYMBOL) return false;
    c->count = updates->dim[0];
    c->rows = c->scatter->type.dim[0];
    for (Node *n = c->scatter->prev; n && !c->nonzero; n = n->prev)
        if (n->op == OP_nonzero && attr_dim(n, "extent") == c->count) c->nonzero = n;
    if (!c->nonzero) return false;
    const Type *mask = &c->nonzero->in[0]->type;
    c->columns = 1;
    for (c->row_axis = 0; c->row_axis < mask->rank && mask->dim[c->row_axis] != c->rows;)
        c->row_axis++;
    if (mask->rank == 2 && !dim_is_const(mask->dim[1 - c->row_axis % 2], &c->columns)) return false;
    return mask->rank <= 2 && c->row_axis < mask->rank && c->columns <= MOST_COLUMNS;
}

// Row r of every value that has the chosen rows needs row r alone, and not its number among them.
static bool acts_by_row(const Choice *c) {
    RowTrace trace = {.rows = c->count};
    for (Node *n = c->nonzero->next; n != c->scatter; n = n->next) {
        if (!varies(c, n)) continue;
        if (!n->n_in) return false;
        for (int i = 0; i < n->n_in; i++)
            if (n->in[i] && !varies(c, n->in[i])) n->in[i]->mark = 0;
        c->nonzero->mark = 2;
        n->mark = trace_node(n, &trace);
        if (trace.why) return false;
    }
    return true;
}

// The nonzero's value if the mask had this column alone, and all of it: [[0, column], [1, column]
// ...] transposed.
static Node *all_chosen(const Choice *c, int64_t column) {
    Node *before = c->scatter, *parts[2];
    const Dim *dims[] = {dim_const(before->graph, 1), c->rows};
    int rank = c->nonzero->in[0]->type.rank;
    for (int i = 0; i < rank; i++) {
        if (i != c->row_axis) {
            parts[i] =
                build_filled(cursor_at(before, before->loc), DT_i64, (double)column, 2, dims);
            continue;
        }
        parts[i] = build_cast(cursor(before),
                              build_iota(cursor_at(before, before->loc), 2, dims, 1), DT_i64);
    }
    return rank == 1 ? parts[0] : build_concat(cursor_at(before, before->loc), rank, parts, 0);
}

// What leads from the nonzero to the scatter, once more over all rows: found in `scratch` of each
// node.
static void compute_all(const Choice *c, int64_t column) {
    c->nonzero->scratch = all_chosen(c, column);
    for (Node *n = c->nonzero->next, *end = c->nonzero->scratch; n != end && n != c->scatter;
         n = n->next) {
        if (!varies(c, n)) continue;
        Node *in[n->n_in];
        for (int i = 0; i < n->n_in; i++)
            in[i] = n->in[i] && varies(c, n->in[i]) ? n->in[i]->scratch : n->in[i];
        Node *by = node_again(n, n->op, n->n_in, in, c->scatter);
        substitute_dims(by, c->count, c->rows);
        n->scratch = inferred(by);
    }
}

// Returns true if each row returns to its own position.
static bool keeps_places(const Choice *c) {
    Node *index = c->scatter->in[1]->scratch;
    const Dim *symbols[MAX_RANK];
    return index_expression(index, symbols) == symbols[0];
}

static Node *is_chosen(const Choice *c, int64_t column) {
    Node *before = c->scatter, *mask = c->nonzero->in[0];
    Graph *g = before->graph;
    if (mask->type.rank == 2)
        mask = build_slice(cursor(before), mask,
                           (Slice){1 - c->row_axis, dim_const(g, column), dim_const(g, 1), 1});
    const Dim *dims[MAX_RANK] = {c->rows};
    for (int i = 1; i < before->type.rank; i++) dims[i] = dim_const(g, 1);
    return build_cast(cursor(before), build_reshape(cursor(before), mask, before->type.rank, dims),
                      DT_bool);
}

static Node *compute_all_rows(Node *n) {
    Choice c = {.scatter = n};
    if ((n->op != OP_scatter_elements && n->op != OP_scatter_nd) || !is_text(n->graph)) return NULL;
    if (!find_nonzero(&c) || !varies(&c, n->in[1]) || !puts_rows_back(&c) || !acts_by_row(&c))
        return NULL;
    bool adds = !strcmp(attr_string(n, "reduction", "none"), "add");
    Node *result = n->in[0], *end = n->prev;
    for (int64_t column = 0; column < c.columns; column++) {
        compute_all(&c, column);
        if (!keeps_places(&c)) {
            while (n->prev != end) node_remove(n->prev);
            return NULL;
        }
        Node *chosen = n->in[2]->scratch;
        if (adds) chosen = build_binary(cursor(n), OP_add, result, chosen);
        result = build_op(cursor_at(n, n->loc), OP_where, 3,
                          (Node *[]){is_chosen(&c, column), chosen, result});
    }
    return result;
}

bool pass_experts(Graph *g, PassContext *c) {
    bool changed = false;
    (void)c;
    EACH_NODE(n, g) {
        Node *by = node_uses(n) ? compute_all_rows(n) : NULL;
        if (!by) continue;
        node_become(n, by);
        changed = true;
    }
    return changed && (simplify_graph(g), true);
}
