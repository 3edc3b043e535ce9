// incremental: the autoregressive form of a graph over positions.
//
//   before   graph decode(%tokens: i32[T]) where T <= 512   after   graph decode(%tokens: i32[R], %slot, %position, %logit_rows)
//              %a = attention(%q, %k, %v) {causal=1, ...}              %kc = state {kind="key", layer=0}
//                                                                      %kc1 = cache_append(%kc, %k, %slot, %position)
//                                                                      %a = attention(%q, %kc1, %vc1, %slot, %position) ...
//
// A row is one token with a slot and a position; rows of one call may belong to any slots. The
// first passes keep the meaning of a graph over T positions: they give attention, convolutions over
// time (shifted_rows.c) and recurrences (loop.c) the forms that can be computed row by row, and
// look up what depends on the position alone (tables.c). `rows` proves that every other node acts
// row by row (rows.c) and puts rows in the place of positions; then what looks back at earlier rows
// gets a cache of them, and only the rows whose logits are wanted reach the output (logit_rows.c).
// Graphs without token input or with attention to later positions are left as they are.
//
// They need types, and attention fused; `rows` gives rows; they keep everything.
#include "passes/incremental/incremental.h"

#include <string.h>

#include "ir/operands.h"
#include "passes/pass.h"

PassFunction pass_last_row, pass_sums, pass_shift_rows, pass_key_biases, pass_table_slices,
    pass_tables, pass_rows, pass_row_caches, pass_states, pass_caches, pass_logit_rows;

enum { MOST_SLOTS = 4096 };

static Node *find_input(const Graph *g, InputRole role) {
    for (int i = 0; i < g->n_inputs; i++) {
        if (input_role(g->inputs[i]) == role) return g->inputs[i];
    }
    return NULL;
}

static bool attends_to(const Node *n, const Dim *positions) {
    return n->op == OP_attention && n->in[ATTENTION_KEY]->type.rank == 2 &&
           n->in[ATTENTION_KEY]->type.dim[0] == positions;
}

// The first attention over the positions themselves that is not causal, or NULL; *count: those that
// are.
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

// ------------------------------------------------------------------------------------------ inputs
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

static RowInputs add_inputs(Graph *g, const PassContext *c, Node *token) {
    RowInputs in = {.token = token, .rows = new_symbol(g, "R", c->max_rows > 0 ? c->max_rows : 1)};
    in.slot = add_input(g, "slot", DT_i32, in.rows, INPUT_SLOTS);
    in.position = add_input(g, "position", DT_i32, in.rows, INPUT_POSITIONS);
    in.logit_rows = add_input(g, "logit_rows", DT_bool, in.rows, INPUT_LOGIT_ROWS);
    return in;
}

// Those of a graph that has rows; false: it has none.
static bool find_inputs(const Graph *g, const PassContext *c, RowInputs *in) {
    *in = (RowInputs){find_input(g, INPUT_TOKENS), find_input(g, INPUT_SLOTS),
                      find_input(g, INPUT_POSITIONS), find_input(g, INPUT_LOGIT_ROWS),
                      .context = c->context};
    if (!in->token || !in->slot || !in->position || !in->logit_rows) return false;
    in->rows = in->token->type.dim[0];
    return true;
}

// The slots that the states of a graph are for.
static const Dim *slots_of(Graph *g) {
    EACH_NODE(n, g)
        if (n->op == OP_state) return n->type.dim[0];
    return new_symbol(g, "S", MOST_SLOTS);
}

static int64_t count_states(const Graph *g, const char *kind) {
    int64_t count = 0;
    EACH_NODE(n, g) count += n->op == OP_state && !strcmp(attr_string(n, "kind", ""), kind);
    return count;
}

// A state of this many heads of this width for every position of every slot.
static Node *new_state(const RowInputs *in, const char *kind, DType dtype, int64_t heads,
                       const Dim *width, Node *before) {
    Graph *g = before->graph;
    const Dim *dims[] = {slots_of(g), dim_const(g, heads), dim_const(g, in->context), width};
    int64_t layer = count_states(g, kind);
    Node *state = node_make(g, OP_state, before->loc, 0, NULL, before);
    attr_set_string(state, "kind", kind);
    attr_set_int(state, "layer", layer);
    state->type = type_of(dtype, 4, dims);
    node_set_name(state, arena_printf(g->arena, "%s_cache", kind));
    return state;
}

// -------------------------------------------------------------------------- from positions to rows
// A counter over the rows is their position, in the counter's shape.
static Node *position_like(Node *iota, const RowInputs *in) {
    const Dim *dims[MAX_RANK];
    int rank = iota->type.rank, axis = row_axis(iota);
    for (int i = 0; i < rank; i++) dims[i] = i == axis ? in->rows : dim_const(iota->graph, 1);
    Node *x = build_reshape(cursor(iota), in->position, rank, dims);
    for (int i = 0; i < rank; i++) dims[i] = i == axis ? in->rows : iota->type.dim[i];
    return build_expand(cursor(iota), x, rank, dims);
}

static bool counts_rows(const Node *n) {
    return n->op == OP_iota && has_rows(n) && node_axis(n) == row_axis(n);
}

static void turn_into_rows(Graph *g, const RowTrace *t, RowInputs *in) {
    EACH_NODE(n, g) {
        if (n->op == OP_input && n->type.rank && n->type.dim[0] == t->rows)
            n->type.dim[0] = in->rows;
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

// ------------------------------------------------------------------------------------------ caches
// Attention takes keys in segments of 256 (runtime/kernels/attention.h). A ring buffer of them
// holds the sliding window of one call's rows, and more: the number of rows by which a slot can be
// truncated.
void keep_window(Node *state, int64_t window, const RowInputs *in) {
    enum { SEGMENT = 256, TRUNCATED = 64 };
    int64_t rows = (window + dim_upper(in->rows) + TRUNCATED + SEGMENT - 1) / SEGMENT * SEGMENT;
    if (!window || rows >= in->context) return;
    attr_set_int(state, "window", window);
    attr_set_int(state, "ring", rows);
}

Node *new_row_state(const RowInputs *in, const Dim *width, Node *before) {
    return new_state(in, "row", DT_f32, 1, width, before);
}

Node *new_last_state(const RowInputs *in, const Dim *width, Node *before) {
    Node *state = new_row_state(in, width, before);
    attr_set_int(state, "window", 1);
    attr_set_int(state, "ring", 1);
    return state;
}

static Node *append_to_cache(Node *rows, const char *kind, int64_t heads, const RowInputs *in,
                             Node *before) {
    Graph *g = before->graph;
    const Dim *width = dim_binary(g, DIM_FLOORDIV, rows->type.dim[1], dim_const(g, heads));
    Node *state = new_state(in, kind, rows->type.dtype, heads, width, before);
    if (attr_int(before, "causal", 0)) keep_window(state, attr_int(before, "window", 0), in);
    Node *n = node_make(g, OP_cache_append, before->loc, 4,
                        (Node *[]){state, rows, in->slot, in->position}, before);
    attr_set_int(n, "heads", heads);
    return inferred(n);
}

static void cache_attention(Node *n, const RowInputs *in) {
    int64_t heads = attr_int(n, "num_kv_heads", 1);
    Node *k = append_to_cache(n->in[ATTENTION_KEY], "key", heads, in, n);
    Node *v = append_to_cache(n->in[ATTENTION_VALUE], "value", heads, in, n);
    Node *operands[ATTENTION_OPERANDS];
    for (int i = 0; i < ATTENTION_OPERANDS; i++) operands[i] = operand_or_null(n, i);
    operands[ATTENTION_KEY] = k, operands[ATTENTION_VALUE] = v;
    Node *last_seen = find_input(n->graph, INPUT_LAST_SEEN);
    operands[ATTENTION_SLOT] = in->slot;
    operands[ATTENTION_POSITION] = last_seen ? last_seen : in->position;
    node_become(n, inferred(node_again(n, n->op, operands_present(operands, ATTENTION_OPERANDS),
                                       operands, n)));
}

// Keys of products that are no attention stay f32: --kv is of attention.
static void cache_kept(Node *n, const RowInputs *in) {
    bool products = n->op == OP_key_products;
    int64_t heads = dim_upper(n->in[KEYS_X]->type.dim[1]);
    Node *operands[] = {
        n->in[KEYS_X],
        append_to_cache(n->in[KEYS_ROWS], products ? "kept_key" : "kept_value", heads, in, n),
        in->slot, in->position};
    node_become(n, inferred(node_again(n, n->op, KEYS_OPERANDS, operands, n)));
}

bool pass_caches(Graph *g, PassContext *c) {
    RowInputs in;
    bool changed = false;
    if (!find_inputs(g, c, &in)) return false;
    EACH_NODE(n, g) {
        if (is_kept(n) && !operand_or_null(n, KEYS_SLOT)) {
            cache_kept(n, &in);
            changed = true;
            continue;
        }
        if (!attends_to(n, in.rows)) continue;
        cache_attention(n, &in);
        changed = true;
    }
    graph_sweep(g);
    return changed;
}

// ------------------------------------------------------------------------------------ the last row
// A slice of the last row, along axis 0.
static bool is_last_row(const Node *n, const Dim *rows) {
    const Dim *start = n->op == OP_slice ? attr_dim(n, "start") : NULL;
    return start && node_axis(n) == 0 && n->in[0]->type.dim[0] == rows &&
           dim_is(attr_dim(n, "extent"), 1) &&
           dim_binary(n->graph, DIM_ADD, start, dim_const(n->graph, 1)) == rows;
}

// The last row along another axis, after axes of extent 1: that of the same value without these
// axes.
static bool put_rows_first(Graph *g, const Dim *rows) {
    bool changed = false;
    EACH_NODE(n, g) {
        int axis = n->op == OP_slice ? node_axis(n) : 0;
        const Type *from = axis ? &n->in[0]->type : NULL;
        for (int i = 0; from && i < axis; i++)
            if (!dim_is(from->dim[i], 1)) from = NULL;
        if (!from || from->dim[axis] != rows || !dim_is(attr_dim(n, "extent"), 1)) continue;
        Node *x = build_reshape(cursor(n), n->in[0], from->rank - axis, from->dim + axis);
        Node *row =
            build_slice(cursor(n), x, (Slice){0, attr_dim(n, "start"), attr_dim(n, "extent"), 1});
        node_become(n, build_reshape(cursor(n), row, n->type.rank, n->type.dim));
        changed = true;
    }
    if (changed) simplify_graph(g);
    return changed;
}

// Of one row, which stays the first axis.
static bool reshapes_row(const Node *n) {
    const Type *from = n->op == OP_reshape ? &n->in[0]->type : NULL;
    return from && from->rank && n->type.rank && dim_is(from->dim[0], 1) &&
           dim_is(n->type.dim[0], 1);
}

static bool keeps_rows(const Node *n) {
    if (reshapes_row(n)) return true;
    RowBehaviour rows = op_info[n->op].rows;
    return (rows == ROWS_EACH || rows == ROWS_INNER || rows == ROWS_FIRST) && n->op != OP_iota &&
           n->op != OP_concat;
}

// An export that gives the logits of the last row alone: what acts on the last row acts on every
// row, and which rows are wanted is for the caller to say. mark: computed from a last row.
static bool spread_last_row(Graph *g, const Dim *rows) {
    if (!g->n_outputs || !g->outputs[0]->type.rank || !dim_is(g->outputs[0]->type.dim[0], 1))
        return false;
    bool any = false, changed = put_rows_first(g, rows);
    EACH_NODE(n, g) {
        n->mark = is_last_row(n, rows);
        any |= n->mark;
        for (int i = 0; i < n->n_in && !is_last_row(n, rows); i++)
            n->mark |= n->in[i] && n->in[i]->mark;
        if (n->mark && !is_last_row(n, rows) && !keeps_rows(n)) return changed;
    }
    if (!any || !g->outputs[0]->mark) return changed;
    EACH_NODE(each, g) {
        if (is_last_row(each, rows)) {
            node_become(each, each->in[0]);
        } else if (each->mark) {
            if (each->op == OP_reshape)
                each->type.dim[0] = rows,
                attr_set_dims(each, "shape", each->type.dim, each->type.rank);
            inferred(each);
        }
    }
    return true;
}

// The first T rows of a table are those that positions look up.
static bool look_up_slices(Graph *g, const Dim *rows) {
    bool changed = false;
    EACH_NODE(n, g) {
        if (n->op != OP_slice || attr_dim(n, "extent") != rows || attr_int(n, "step", 1) != 1)
            continue;
        int64_t axis = node_axis(n), start;
        if (n->in[0]->type.dim[axis] == rows || !dim_is_const(attr_dim(n, "start"), &start))
            continue;
        Builder b = cursor_at(n, n->loc);
        Node *index = build_iota(b, 1, &rows, 0);
        if (start)
            index = build_binary(cursor(n), OP_add, index,
                                 node_scalar(g, DT_i32, (double)start, n->loc, n));
        node_become(n, build_gather(b, n->in[0], index, (int)axis));
        changed = true;
    }
    graph_sweep(g);
    return changed;
}

// --------------------------------------------------------------------------- graphs over positions
// A graph over the positions of a text, all of whose outputs have a value for each position; or the
// reason why it is none.
typedef struct Sequence {
    Node *token;
    const Dim *rows;    // the symbol T
    int causal;         // how many attentions are over the positions
    const Node *broke;  // what keeps it from being one, when that is a node
    const char *why;
} Sequence;

static bool is_none(Sequence *s, const Node *broke, const char *why) {
    s->broke = broke, s->why = why;
    return false;
}

static bool reads_positions(Graph *g, Sequence *s) {
    *s = (Sequence){.token = find_input(g, INPUT_TOKENS)};
    if (!s->token || s->token->type.rank != 1 || s->token->type.dim[0]->kind != DIM_SYMBOL)
        return is_none(s, s->token, "does not read a sequence of tokens");
    s->rows = s->token->type.dim[0];
    if (find_input(g, INPUT_SLOTS)) return is_none(s, s->token, "has rows already");
    Node *bidirectional = find_bidirectional(g, s->rows, &s->causal);
    if (bidirectional) return is_none(s, bidirectional, "attends to later positions");
    return !s->causal || strcmp(g->name, "encode") ||
           is_none(s, s->token, "is read by a graph that encodes");
}

static bool is_sequence(Graph *g, Sequence *s) {
    if (!reads_positions(g, s)) return false;
    Node *pooled = find_pooled(g, s->rows);
    return !pooled || is_none(s, pooled, "is an output that is no value for each position");
}

static bool depends_on_earlier(const Graph *g, const Sequence *s) {
    EACH_NODE(n, g)
        if (n->op == OP_shift_rows || is_kept(n)) return true;
    return s->causal || has_loop_over(g, s->rows);
}

// The proof that it can run row by row: every op acts on each row alone, or has a form with a
// cache.
static bool acts_by_rows(Graph *g, Sequence *s, RowTrace *t) {
    *t = (RowTrace){0};
    if (!is_sequence(g, s)) return false;
    t->rows = s->rows;
    if (!trace_rows(g, t)) return is_none(s, t->broke, t->why);
    return depends_on_earlier(g, s) || is_none(s, NULL, "depends on no earlier position");
}

// -------------------------------------------------------------------------------------- the passes
bool pass_last_row(Graph *g, PassContext *c) {
    Sequence s;
    (void)c;
    return reads_positions(g, &s) && spread_last_row(g, s.rows);
}

bool pass_sums(Graph *g, PassContext *c) {
    Sequence s;
    (void)c;
    return is_sequence(g, &s) && turn_sums_into_loops(g, s.rows);
}

bool pass_shift_rows(Graph *g, PassContext *c) {
    Sequence s;
    (void)c;
    return is_sequence(g, &s) && find_shift_rows(g, s.rows);
}

static int64_t context_of(const PassContext *c, const Dim *rows) {
    return c->context > 0 ? c->context : dim_upper(rows);
}

bool pass_key_biases(Graph *g, PassContext *c) {
    Sequence s;
    bool changed = false;
    if (!is_sequence(g, &s)) return false;
    EACH_NODE(n, g) {
        if (attends_to(n, s.rows)) changed |= bias_over_keys(n, s.rows, context_of(c, s.rows));
    }
    graph_sweep(g);
    return changed;
}

bool pass_table_slices(Graph *g, PassContext *c) {
    Sequence s;
    (void)c;
    return is_sequence(g, &s) && look_up_slices(g, s.rows);
}

bool pass_tables(Graph *g, PassContext *c) {
    Sequence s;
    RowTrace t;
    if (!acts_by_rows(g, &s, &t)) return false;
    bool changed = fold_position_tables(g, s.rows, context_of(c, s.rows));
    graph_sweep(g);
    return changed;
}

// An encoder, an image model: all of it at once. A decoder that mixes rows is an error, but where a
// trial asks whether it does.
static bool leave(PassContext *c, const Graph *g, const Sequence *s, const RowTrace *t) {
    const Node *at = s->broke ? s->broke : g->outputs[0];
    bool product =
        t->broke &&
        t->broke->op == OP_matmul;  // of rows by rows, which is no attention that was found
    if (!t->broke || (!s->causal && !(c->best_effort && product)))
        fusion_note(c, "run as a whole", at->loc, at, s->why);
    else if (c->best_effort)
        fusion_site(c, "incremental form", at->loc, at, s->why);
    else
        diag_error(at->loc, "this graph has no autoregressive form: %%%s %s\nnote: %s gives %s",
                   at->name, s->why, op_info[at->op].name, type_text(&at->type));
    return false;
}

bool pass_rows(Graph *g, PassContext *c) {
    Sequence s;
    RowTrace t;
    if (find_input(g, INPUT_SLOTS)) return false;
    if (!acts_by_rows(g, &s, &t)) return leave(c, g, &s, &t);
    c->context = context_of(c, s.rows);
    RowInputs in = add_inputs(g, c, s.token);
    turn_into_rows(g, &t, &in);
    graph_sweep(g);
    fusion_site(c, "incremental form", NO_LOC, NULL, NULL);
    return true;
}

bool pass_row_caches(Graph *g, PassContext *c) {
    RowInputs in;
    return find_inputs(g, c, &in) && keep_shift_rows(g, &in);
}

bool pass_states(Graph *g, PassContext *c) {
    RowInputs in;
    return find_inputs(g, c, &in) && carry_states(g, &in);
}

bool pass_logit_rows(Graph *g, PassContext *c) {
    RowInputs in;
    if (!find_inputs(g, c, &in) || !gather_logit_rows(g, &in)) return false;
    simplify_graph(g);
    return true;
}
