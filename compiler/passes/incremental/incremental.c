// incremental: the autoregressive form of a graph over positions.
//
//   before   graph decode(%tokens: i32[T]) where T <= 512          after   graph decode(%tokens: i32[R], %slot, %position,
//   %wanted)
//            %a = attention(%q, %k, %v) {causal=1, ...}                     %kc = state {kind="key", layer=0}
//                                                                           %kc1 = cache_append(%kc, %k, %slot, %position)
//                                                                           %a = attention(%q, %kc1, %vc1, %slot, %position)
//                                                                           ...
//
// A row is one token with a slot and a position; rows of one call may belong to any slots. The pass first proves that every
// node but attention, convolutions over time (earlier.c) and recurrences (loop.c) acts row by row
// (rows.c). Then tables of positions are folded (tables.c), counters over T become %position, causal
// attention attends to a cache, what looks back at earlier rows has one of them, and only the rows whose logits are wanted
// reach the output (select.c). Graphs without token input or with attention to later positions are left as they
// are.
//
// Needs types, and attention fused; gives rows; keeps everything.
#include "passes/incremental/incremental.h"

#include <string.h>

#include "ir/operands.h"

PassFunction pass_incremental;

enum { MOST_SLOTS = 4096 };

static Node *find_input(const Graph *g, InputRole role) {
    for (int i = 0; i < g->n_inputs; i++) {
        if (input_role(g->inputs[i]) == role) return g->inputs[i];
    }
    return NULL;
}

static bool attends_to(const Node *n, const Dim *positions) {
    return n->op == OP_attention && n->in[ATTENTION_KEY]->type.rank == 2 && n->in[ATTENTION_KEY]->type.dim[0] == positions;
}

// The first attention over the positions themselves that is not causal, or NULL; *count: those that are.
static Node *find_bidirectional(Graph *g, const Dim *positions, int *count) {
    *count = 0;
    EACH_NODE(n, g) {
        if (!attends_to(n, positions)) continue;
        if (!attr_int(n, "causal", 0)) return n;
        ++*count;
    }
    return NULL;
}

// An output that is no value for each position (a pooled embedding), or NULL.
static Node *find_pooled(const Graph *g, const Dim *positions) {
    for (int i = 0; i < g->n_outputs; i++) {
        const Type *t = &g->outputs[i]->type;
        if (!t->rank || t->dim[0] != positions) return g->outputs[i];
    }
    return NULL;
}

// -------------------------------------------------------------------------------------------------------------------- inputs
static Node *add_input(Graph *g, const char *name, DType dtype, const Dim *rows, InputRole role) {
    Node *n = graph_add_input(g, name, type_of(dtype, 1, &rows), NO_LOC);
    input_set_role(n, role);
    n->mark = 1;
    return n;
}

// A symbol that the graph does not use yet: a description may call its own dimensions R or S.
static const Dim *new_symbol(Graph *g, const char *name, int64_t upper) {
    while (dim_find_symbol(g, name)) name = arena_printf(g->arena, "%s_", name);
    return dim_symbol(g, name, 1, upper);
}

static RowInputs add_inputs(Graph *g, const PassContext *c, Node *token, int64_t context) {
    RowInputs in = {.token = token, .rows = new_symbol(g, "R", c->max_rows > 0 ? c->max_rows : 1)};
    in.slots = new_symbol(g, "S", MOST_SLOTS);
    in.context = context;
    in.slot = add_input(g, "slot", DT_i32, in.rows, INPUT_SLOTS);
    in.position = add_input(g, "position", DT_i32, in.rows, INPUT_POSITIONS);
    in.wanted = add_input(g, "wanted", DT_bool, in.rows, INPUT_WANTED);
    return in;
}

// ------------------------------------------------------------------------------------------------------ from positions to rows
// A counter over the rows is their position, in the counter's shape.
static Node *position_like(Node *iota, const RowInputs *in) {
    const Dim *dims[MAX_RANK];
    int rank = iota->type.rank, axis = row_axis(iota);
    for (int i = 0; i < rank; i++) dims[i] = i == axis ? in->rows : dim_const(iota->graph, 1);
    Node *x = reshape_before(iota, in->position, rank, dims);
    for (int i = 0; i < rank; i++) dims[i] = i == axis ? in->rows : iota->type.dim[i];
    return expand_before(iota, x, rank, dims);
}

static bool counts_rows(const Node *n) {
    return n->op == OP_iota && has_rows(n) && axis_of(n, attr_int(n, "axis", 0)) == row_axis(n);
}

static void turn_into_rows(Graph *g, const RowTrace *t, RowInputs *in) {
    EACH_NODE(n, g) {
        if (n->op == OP_input && n->type.rank && n->type.dim[0] == t->rows) n->type.dim[0] = in->rows;
        if (counts_rows(n)) {
            Node *by = position_like(n, in);
            by->mark = n->mark;
            node_become(n, by);
            continue;
        }
        substitute_dims(n, t->rows, in->rows);
        if (n->op == OP_loop && has_rows(n)) rename_rows_in_body(n, t->rows, in->rows);
        inferred(n);
    }
}

// -------------------------------------------------------------------------------------------------------------------- caches
typedef struct Cache {
    const char *kind;
    int64_t layer, heads;
} Cache;

static Node *append_to_cache(Graph *g, Node *rows, Cache c, const RowInputs *in, Node *before) {
    const Dim *width = dim_binary(g, DIM_FLOORDIV, rows->type.dim[1], dim_const(g, c.heads));
    const Dim *dims[] = {in->slots, dim_const(g, c.heads), dim_const(g, in->context), width};
    Node *state = node_make(g, OP_state, before->loc, 0, NULL, before);
    attr_set_string(state, "kind", c.kind);
    attr_set_int(state, "layer", c.layer);
    state->type = type_of(rows->type.dtype, 4, dims);
    node_set_name(state, arena_printf(g->arena, "%s_cache", c.kind));
    Node *n = node_make(g, OP_cache_append, before->loc, 4, (Node *[]){state, rows, in->slot, in->position}, before);
    attr_set_int(n, "heads", c.heads);
    return inferred(n);
}

static void cache_attention(Node *n, int64_t layer, const RowInputs *in) {
    int64_t heads = attr_int(n, "num_kv_heads", 1);
    Node *k = append_to_cache(n->graph, n->in[ATTENTION_KEY], (Cache){"key", layer, heads}, in, n);
    Node *v = append_to_cache(n->graph, n->in[ATTENTION_VALUE], (Cache){"value", layer, heads}, in, n);
    Node *operands[ATTENTION_OPERANDS];
    for (int i = 0; i < ATTENTION_OPERANDS; i++) operands[i] = operand_or_null(n, i);
    operands[ATTENTION_KEY] = k, operands[ATTENTION_VALUE] = v;
    operands[ATTENTION_SLOT] = in->slot, operands[ATTENTION_POSITION] = in->position;
    Node *by = inferred(node_again(n, n->op, operands_present(operands, ATTENTION_OPERANDS), operands, n));
    by->mark = n->mark;
    node_become(n, by);
}

static void cache_all(Graph *g, const RowInputs *in) {
    int64_t layer = 0;
    EACH_NODE(n, g) {
        if (attends_to(n, in->rows)) cache_attention(n, layer++, in);
    }
}

// ---------------------------------------------------------------------------------------------------------------- the last row
// A slice of the last row, along axis 0.
static bool is_last_row(const Node *n, const Dim *rows) {
    const Dim *start = n->op == OP_slice ? attr_dim(n, "start") : NULL;
    return start && axis_of(n, attr_int(n, "axis", 0)) == 0 && n->in[0]->type.dim[0] == rows &&
           dim_is(attr_dim(n, "extent"), 1) && dim_binary(n->graph, DIM_ADD, start, dim_const(n->graph, 1)) == rows;
}

// The last row along another axis, behind axes of extent 1: of the same value without these.
static void put_rows_first(Graph *g, const Dim *rows) {
    bool changed = false;
    EACH_NODE(n, g) {
        int axis = n->op == OP_slice ? axis_of(n, attr_int(n, "axis", 0)) : 0;
        const Type *from = axis ? &n->in[0]->type : NULL;
        for (int i = 0; from && i < axis; i++)
            if (!dim_is(from->dim[i], 1)) from = NULL;
        if (!from || from->dim[axis] != rows || !dim_is(attr_dim(n, "extent"), 1)) continue;
        Node *x = reshape_before(n, n->in[0], from->rank - axis, from->dim + axis);
        Node *row = slice_before(n, x, (Slice){0, attr_dim(n, "start"), attr_dim(n, "extent"), 1});
        node_become(n, reshape_before(n, row, n->type.rank, n->type.dim));
        changed = true;
    }
    if (changed) simplify_graph(g);
}

// Of one row, which stays the first axis.
static bool reshapes_row(const Node *n) {
    const Type *from = n->op == OP_reshape ? &n->in[0]->type : NULL;
    return from && from->rank && n->type.rank && dim_is(from->dim[0], 1) && dim_is(n->type.dim[0], 1);
}

static bool keeps_rows(const Node *n) {
    if (reshapes_row(n)) return true;
    RowBehaviour rows = op_info[n->op].rows;
    return (rows == ROWS_EACH || rows == ROWS_INNER || rows == ROWS_FIRST) && n->op != OP_iota && n->op != OP_concat;
}

// An export that gives the logits of the last row alone: what acts on the last row acts on every row, and which rows are wanted
// is for the caller to say. mark: computed from a last row.
static void spread_last_row(Graph *g, const Dim *rows) {
    if (!g->n_outputs || !g->outputs[0]->type.rank || !dim_is(g->outputs[0]->type.dim[0], 1)) return;
    bool any = false;
    put_rows_first(g, rows);
    EACH_NODE(n, g) {
        n->mark = is_last_row(n, rows);
        any |= n->mark;
        for (int i = 0; i < n->n_in && !is_last_row(n, rows); i++) n->mark |= n->in[i] && n->in[i]->mark;
        if (n->mark && !is_last_row(n, rows) && !keeps_rows(n)) return;
    }
    if (!any || !g->outputs[0]->mark) return;
    EACH_NODE(each, g) {
        if (is_last_row(each, rows)) {
            node_become(each, each->in[0]);
        } else if (each->mark) {
            if (each->op == OP_reshape) each->type.dim[0] = rows, attr_set_dims(each, "shape", each->type.dim, each->type.rank);
            inferred(each);
        }
    }
}

// The first T rows of a table are those that positions look up.
static void look_up_slices(Graph *g, const Dim *rows) {
    EACH_NODE(n, g) {
        if (n->op != OP_slice || attr_dim(n, "extent") != rows || attr_int(n, "step", 1) != 1) continue;
        int64_t axis = axis_of(n, attr_int(n, "axis", 0)), start;
        if (n->in[0]->type.dim[axis] == rows || !dim_is_const(attr_dim(n, "start"), &start)) continue;
        Node *index = node_make(g, OP_iota, n->loc, 0, NULL, n);
        attr_set_dims(index, "dims", &rows, 1);
        index = inferred(index);
        if (start) index = binary_before(n, OP_add, index, node_scalar(g, DT_i32, (double)start, n->loc, n));
        Node *by = node_make(g, OP_gather, n->loc, 2, (Node *[]){n->in[0], index}, n);
        attr_set_int(by, "axis", axis);
        node_become(n, inferred(by));
    }
}

// -------------------------------------------------------------------------------------------------------------------- the pass
// An encoder, an image model: all of it at once.
static bool leave(PassContext *c, const Graph *g, const Node *n, const char *why) {
    const Node *at = n ? n : g->outputs[0];
    fusion_decided(c, "run as a whole", at->loc, at, why);
    return false;
}

bool pass_incremental(Graph *g, PassContext *c) {
    int causal;
    Node *token = find_input(g, INPUT_TOKENS);
    if (find_input(g, INPUT_SLOTS)) return false;
    if (!token || token->type.rank != 1 || token->type.dim[0]->kind != DIM_SYMBOL)
        return leave(c, g, token, "does not read a sequence of tokens");
    Node *bidirectional = find_bidirectional(g, token->type.dim[0], &causal);
    if (bidirectional) return leave(c, g, bidirectional, "attends to later positions");
    if (causal && !strcmp(g->name, "encode")) return leave(c, g, token, "is read by a graph that encodes");
    spread_last_row(g, token->type.dim[0]);
    Node *pooled = find_pooled(g, token->type.dim[0]);
    if (pooled) return leave(c, g, pooled, "is an output that is no value for each position");
    RowTrace t = {.rows = token->type.dim[0]};
    turn_sums_into_loops(g, t.rows);
    bool recurs = find_earlier_rows(g, t.rows) || has_loop_over(g, t.rows);
    int64_t context = c->context > 0 ? c->context : dim_upper(t.rows);
    EACH_NODE(n, g) {
        if (attends_to(n, t.rows)) bias_over_keys(n, t.rows, context);
    }
    look_up_slices(g, t.rows);
    graph_sweep(g);
    if (!trace_rows(g, &t)) {
        const Node *n = t.broke;
        bool product = n->op == OP_matmul;  // of rows by rows, which is no attention that was found
        if (!causal && !(c->trial && product)) return leave(c, g, n, t.why);
        if (c->trial) return fusion_site(c, "incremental form", n->loc, n, t.why), false;
        diag_error(n->loc, "this graph has no autoregressive form: %%%s %s\nnote: %s gives %s", n->name, t.why,
                   op_info[n->op].name, type_text(&n->type));
        return false;
    }
    if (!causal && !recurs) return leave(c, g, NULL, "depends on no earlier position");
    RowInputs in = add_inputs(g, c, token, context);
    fold_position_tables(g, &t, &in);
    graph_sweep(g);
    turn_into_rows(g, &t, &in);
    keep_earlier_rows(g, &in);
    carry_states(g, &in);
    cache_all(g, &in);
    graph_sweep(g);
    select_wanted_rows(g, &in);
    fusion_site(c, "incremental form", NO_LOC, NULL, NULL);
    simplify_graph(g);
    return true;
}
