// The proof that a graph acts row by row along its positions, op by op from the ops table.
//
// Every value either has no rows (weights, tables of constants) or has them along one axis. An op
// keeps the proof going when row r of its result needs row r of its operands alone; where the rows
// of the result are follows from where those of the operands are. Causal attention, shift_rows and
// a loop that takes the rows one by one may look at earlier rows: they get caches.
#include "passes/row_trace.h"

#include "ir/operands.h"
#include "passes/axes.h"
#include "passes/row_loop.h"

typedef struct Step {
    const RowTrace *trace;
    const char *why;  // set when a node mixes rows
} Step;

static int mixes(Step *s, const char *why) {
    s->why = why;
    return 0;
}

// Operands that broadcast: their row axes must meet in one axis of the result.
static int rows_each(const Node *n, Step *s) {
    int mark = 0;
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i] || !has_rows(n->in[i])) continue;
        int here =
            n->in[i]->mark + (n->type.dtype == DT_tuple ? 0 : n->type.rank - n->in[i]->type.rank);
        if (mark && here != mark) return mixes(s, "pairs every row with every other row");
        mark = here;
    }
    return mark;
}

static bool axis_is_rows(const Node *n, int64_t axis) { return axis == row_axis(n->in[0]); }

static int rows_reduce(const Node *n, Step *s) {
    int count, shift = 0;
    const int64_t *axes = attr_ints(n, "axes", &count);
    for (int i = 0; i < count; i++) {
        if (axis_is_rows(n, axes[i])) return mixes(s, "reduces over the rows");
        shift += !attr_int(n, "keepdims", 1) && axes[i] < row_axis(n->in[0]);
    }
    return n->in[0]->mark - shift;
}

static int rows_inner(const Node *n, Step *s) {
    if (attr_find(n, "axes")) return has_rows(n->in[0]) ? rows_reduce(n, s) : 0;
    int mark = rows_each(n, s);
    bool by_element = n->op == OP_gather_elements || n->op == OP_scatter_elements;
    int axis = by_element ? node_axis(n) : (int)attr_int(n, "axis", n->in[0]->type.rank - 1);
    if (n->op == OP_arg_max || n->op == OP_arg_min) mark = n->in[0]->mark;
    if (mark && axis == mark - 1) return mixes(s, "joins, picks or normalises along the rows");
    bool drops_axis = n->type.dtype != DT_tuple && n->type.rank < n->in[0]->type.rank;
    return mark - (drops_axis && mark && axis < mark - 1);
}

// Rows that each have a matrix of their own.
static bool is_batch_axis(const Node *x) { return has_rows(x) && row_axis(x) < x->type.rank - 2; }

// Rows, and the experts of each.
static int rows_routed(const Node *n, Step *s) {
    const Node *x = n->in[PRODUCT_X], *index = n->in[EXPERT_INDEX];
    int mark = has_rows(x) ? x->mark : index->mark;
    for (int i = 0; i < n->n_in; i++)
        if (i != PRODUCT_WEIGHTS && has_rows(n->in[i]) && n->in[i]->mark != mark)
            return mixes(s, "multiplies rows by rows");
    return mark < index->type.rank ? mark : mixes(s, "sums over the rows");
}

static int rows_first(const Node *n, Step *s) {
    const Node *x = n->in[0];
    if (n->op == OP_expert_matmul) return rows_routed(n, s);
    if (n->op == OP_matmul && is_batch_axis(n->in[1])) return rows_each(n, s);
    if (has_rows(n->in[1])) return mixes(s, "multiplies rows by rows");
    if (!has_rows(x)) return 0;
    if (row_axis(x) == x->type.rank - 1) return mixes(s, "sums over the rows");
    return x->mark + n->type.rank - x->type.rank;
}

static int rows_gather(const Node *n, Step *s) {
    const Node *x = n->in[0], *index = n->in[1];
    int axis = node_axis(n);
    if (has_rows(x) && (has_rows(index) || row_axis(x) == axis))
        return mixes(s, "picks rows by their number");
    if (has_rows(index)) return index->mark + axis;
    return !has_rows(x) ? 0 : row_axis(x) < axis ? x->mark : x->mark + index->type.rank - 1;
}

static int rows_reshape(const Node *n, Step *s) {
    int axis = same_axis(n->graph, &n->in[0]->type, row_axis(n->in[0]), &n->type);
    return axis >= 0 ? axis + 1 : mixes(s, "reshapes the rows into other axes");
}

static int rows_transpose(const Node *n) {
    int count;
    const int64_t *perm = attr_ints(n, "perm", &count);
    for (int i = 0; i < count; i++) {
        if (perm[i] == row_axis(n->in[0])) return i + 1;
    }
    return 0;
}

static int rows_view(const Node *n, Step *s) {
    const Node *x = n->in[0];
    if (n->op == OP_slice && !has_rows(x) && attr_dim(n, "extent") == s->trace->rows)
        return mixes(s, "takes as many of a table as there are rows");
    if (!has_rows(x)) return 0;
    switch (n->op) {
        case OP_reshape:
            return rows_reshape(n, s);
        case OP_transpose:
            return rows_transpose(n);
        case OP_expand:
            return x->mark + n->type.rank - x->type.rank;
        default:
            return axis_is_rows(n, node_axis(n)) ? mixes(s, "takes a part of the rows") : x->mark;
    }
}

// The bias of a causal attention may vary by row and key: [..., rows, keys].
static int rows_attention(const Node *n, Step *s) {
    const Node *bias = operand_or_null(n, ATTENTION_BIAS);
    if (has_rows(n->in[ATTENTION_KEY]) && !attr_int(n, "causal", 0))
        return mixes(s, "attends to later positions");
    if (has_rows(n->in[ATTENTION_KEY]) && operand_or_null(n, ATTENTION_MASK))
        return mixes(s, "masks keys by an input");
    if (bias && has_rows(bias) && row_axis(bias) != bias->type.rank - 2)
        return mixes(s, "adds a bias that is no function of the row and the key");
    return n->in[0]->mark;
}

static int rows_state(const Node *n, Step *s) {
    if (n->op == OP_attention) return rows_attention(n, s);
    if (is_kept(n)) {
        if (operand_or_null(n, KEYS_SLOT)) return n->in[KEYS_SLOT]->mark;
        bool apart = has_rows(n->in[KEYS_X]) && row_axis(n->in[KEYS_X]) != 0;
        if (!apart && row_axis(n->in[KEYS_ROWS]) == 0) return 1;
    }
    if (n->op == OP_cache_append && operand_or_null(n, APPEND_SLOT)) return 0;
    if (n->op == OP_shift_rows && operand_or_null(n, SHIFT_SLOT)) return n->in[SHIFT_SLOT]->mark;
    if (n->op == OP_shift_rows && row_axis(n->in[0]) == 0) return n->in[0]->mark;
    return mixes(s, "updates a state by itself");
}

// A leaf has rows along its only axis of extent T.
static int rows_leaf(const Node *n, Step *s) {
    int mark = 0;
    for (int i = 0; i < n->type.rank; i++) {
        if (n->type.dim[i] != s->trace->rows) continue;
        if (mark) return mixes(s, "has the positions along two axes");
        mark = i + 1;
    }
    return mark;
}

static bool any_rows(const Node *n) {
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && has_rows(n->in[i])) return true;
    return false;
}

static int rows_loop(const Node *n, Step *s) {
    const char *why = steps_over_rows(n, s->trace->rows);
    return why ? mixes(s, why) : 1;
}

static int rows_of(const Node *n, Step *s) {
    if (n->op == OP_iota) return rows_leaf(n, s);
    if (n->op == OP_item) return n->in[0]->mark;
    switch (op_info[n->op].rows) {
        case ROWS_LEAF:
            return n->op == OP_pack ? 0 : rows_leaf(n, s);
        case ROWS_EACH:
            return rows_each(n, s);
        case ROWS_INNER:
            return rows_inner(n, s);
        case ROWS_FIRST:
            return rows_first(n, s);
        case ROWS_INDEX:
            return rows_gather(n, s);
        case ROWS_VIEW:
            return rows_view(n, s);
        case ROWS_STATE:
            return rows_state(n, s);
        default:
            return n->op == OP_loop && any_rows(n) ? rows_loop(n, s) : mixes(s, "needs every row");
    }
}

int trace_node(const Node *n, RowTrace *t) {
    Step s = {t, NULL};
    int mark = rows_of(n, &s);
    if (s.why) t->broke = n, t->why = s.why;
    return mark;
}

static bool has_length(const Dim *const *dim, int n, const RowTrace *t, int except) {
    for (int i = 0; i < n; i++)
        if (i != except && dim_has_symbol(dim[i], t->rows)) return true;
    return false;
}

// Returns true if an operand is as long as the text, without rows: one value, repeated.
static bool repeats(const Node *n, const RowTrace *t) {
    for (int i = 0; i < n->n_in; i++) {
        const Node *x = n->in[i];
        if (x && !has_rows(x) && has_length(x->type.dim, x->type.rank, t, -1)) return true;
    }
    return false;
}

// Returns true for a value that is computed from the length of the text: the number itself, an
// element that counts from the last position, a sum over as many equal values. A step has a part of
// the text and cannot compute it.
static bool depends_on_length(const Node *n, const RowTrace *t) {
    bool by_element = op_info[n->op].rows == ROWS_EACH || op_info[n->op].rows == ROWS_VIEW;
    bool shapes = n->op == OP_expand || n->op == OP_reshape || n->op == OP_iota || n->op == OP_loop;
    for (const Attr *a = n->attrs; a && !shapes; a = a->next)
        if (a->kind == ATTR_DIMS && has_length(a->dims, a->n, t, -1)) return true;
    if (has_rows(n)) return has_length(n->type.dim, n->type.rank, t, row_axis(n));
    return !by_element && repeats(n, t);
}

bool trace_rows(Graph *g, RowTrace *t) {
    EACH_NODE(n, g) {
        n->mark = trace_node(n, t);
        if (!t->why && depends_on_length(n, t))
            t->broke = n, t->why = "depends on the length of the whole text";
        if (t->why) return false;
    }
    return true;
}
