// hoist: values that a step of rows reads but never changes leave the step.
//
//   before   graph encode(%ids: i32[S]) -> ("hidden"=%x)
//            graph decode(%tokens: i32[R], %hidden: f32[S, 64], %slot, %position, %logit_rows) -> (%logits)
//              %k = matmul_packed(%hidden, %wk)    %v = matmul_packed(%hidden, %wv)
//              %a = attention(%q, %k, %v)
//   after    graph encode(%ids: i32[S]) -> (%k1, %v1)
//              %k = matmul_packed(%x, %wk)         %k1 = cache_append(state {kind="key", layer=0, memory=1}, %k)
//              %v = matmul_packed(%x, %wv)         %v1 = cache_append(state {kind="value", layer=0, memory=1}, %v)
//            graph decode(%tokens: i32[R], %slot, %position, %logit_rows, %memory: i32[R]) -> (%logits)
//              %a = attention(%q, state {kind="key", layer=0, memory=1}, state {...}, %slot, %memory) {causal=1}
//
// An input of the rows' graph that is independent of rows (no token, slot, position) is the same in
// every step of a sequence; so is everything computed from it and from constants alone. That part
// moves to the end of the graph whose output the input names (or to a new graph, if no graph of the
// module makes it), which runs once for a sequence. Its results that rows read, keys and values of
// attention, stay in the slot's state. A row sees those of its own sequence: from 0 to %memory, the
// last one.
//
// Needs types, and rows (graphs without rows are left as they are); gives nothing new; keeps
// everything.
#include <string.h>

#include "ir/operands.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/simplify/simplify.h"

PassFunction pass_hoist;

enum { MOST_SYMBOLS = 16 };

// Node.mark: the kind of values that a value is computed from.
typedef enum { OF_CONSTANTS, OF_MEMORY, OF_ROWS } Origin;

typedef struct Hoist {
    Graph *from, *to;  // the rows' graph, and the encoder's
    PassContext *context;
    Node *slot, *end;     // inputs of `from`
    const Dim *slots[2];  // of the states, in `from` and in `to`
    const Dim *length;    // rows of what moves, in `to`
    int64_t layers;
    int n_symbols;
    struct {
        const Dim *from, *to;
    } symbols[MOST_SYMBOLS];
} Hoist;

static Node *input_of_role(const Graph *g, InputRole role) {
    for (int i = 0; i < g->n_inputs; i++)
        if (input_role(g->inputs[i]) == role) return g->inputs[i];
    return NULL;
}

static bool is_memory_input(const Node *n) {
    return n->op == OP_input && input_role(n) == INPUT_TENSOR;
}

// ----------------------------------------------------------------------------------------- origins
static Origin origin_of(const Node *n) {
    Origin origin = n->op == OP_input   ? is_memory_input(n) ? OF_MEMORY : OF_ROWS
                    : n->op == OP_state ? OF_ROWS
                                        : OF_CONSTANTS;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && (Origin)n->in[i]->mark > origin) origin = (Origin)n->in[i]->mark;
    return origin;
}

static bool is_memory(const Node *n) { return n->mark == OF_MEMORY; }

static bool attends_to_memory(const Node *n) {
    return n->op == OP_attention && n->mark == OF_ROWS && is_memory(n->in[ATTENTION_KEY]) &&
           is_memory(n->in[ATTENTION_VALUE]);
}

// Rows may read memory as the keys and values of an attention, every key of it, and in no other
// way.
static bool reads_memory_well(const Node *n) {
    bool attends = attends_to_memory(n);
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i] || !is_memory(n->in[i]) ||
            (attends && (i == ATTENTION_KEY || i == ATTENTION_VALUE)))
            continue;
        diag_error(n->loc,
                   "%%%s reads %%%s, which is the same in every step, other than as keys and "
                   "values of an attention",
                   n->name, n->in[i]->name);
        return false;
    }
    bool masked =
        attends && (attr_int(n, "causal", 0) || attr_int(n, "window", 0) ||
                    operand_or_null(n, ATTENTION_BIAS) || operand_or_null(n, ATTENTION_MASK));
    if (masked)
        diag_error(n->loc,
                   "%%%s masks the keys that an encoder leaves: there is no kernel for that",
                   n->name);
    return !masked;
}

static bool check_reads(Graph *g) {
    EACH_NODE(n, g) n->mark = (int)origin_of(n);
    EACH_NODE(reader, g)
        if (reader->mark == OF_ROWS && !reads_memory_well(reader)) return false;
    for (int i = 0; i < g->n_outputs; i++)
        if (is_memory(g->outputs[i]))
            return diag_error(g->outputs[i]->loc, "an output is the same in every step"), false;
    return true;
}

// -------------------------------------------------------------------------------------- dimensions
// A dimension of the rows' graph in the other one: symbols as the encoder's output has them.
static const Dim *moved_dim(const Hoist *h, const Dim *d) {
    if (d->kind == DIM_CONST) return dim_const(h->to, d->value);
    for (int i = 0; i < h->n_symbols; i++)
        if (h->symbols[i].from == d) return h->symbols[i].to;
    if (d->kind == DIM_SYMBOL) return dim_import(h->to, d);
    return dim_binary(h->to, d->kind, moved_dim(h, d->a), moved_dim(h, d->b));
}

static Type moved_type(const Hoist *h, const Type *t) {
    Type r = *t;
    for (int i = 0; i < t->rank; i++) r.dim[i] = moved_dim(h, t->dim[i]);
    return r;
}

static void learn_symbols(Hoist *h, const Node *input, const Node *output) {
    for (int i = 0; i < input->type.rank && i < output->type.rank; i++) {
        const Dim *d = input->type.dim[i];
        if (d->kind != DIM_SYMBOL || h->n_symbols == MOST_SYMBOLS) continue;
        h->symbols[h->n_symbols].from = d, h->symbols[h->n_symbols++].to = output->type.dim[i];
    }
}

// A symbol with the same lower bound that the graph does not use yet.
static const Dim *symbol_like(Graph *g, const Dim *symbol, int64_t most) {
    const char *name = symbol->name;
    while (dim_find_symbol(g, name)) name = arena_printf(g->arena, "%s_", name);
    return dim_symbol(g, name, symbol->lower, most);
}

// A slot has room for as many positions of the encoder as of the rows.
static void bound_symbol(Graph *g, const Dim *symbol, int64_t most) {
    const Dim *bounded = symbol_like(g, symbol, most);
    EACH_NODE(n, g) {
        for (int i = 0; i < n->type.rank; i++)
            n->type.dim[i] = dim_substitute(g, n->type.dim[i], symbol, bounded);
        if (n->op == OP_input) continue;
        substitute_dims(n, symbol, bounded);
        inferred(n);
    }
}

static void bound_inputs(Graph *g, int64_t most) {
    for (int i = 0; i < g->n_inputs; i++)
        for (int j = 0; j < g->inputs[i]->type.rank; j++) {
            const Dim *d = g->inputs[i]->type.dim[j];
            if (d->kind == DIM_SYMBOL && d->value > most) bound_symbol(g, d, most);
        }
}

// ------------------------------------------------------------------------------------------ moving
static Node *output_named(const Graph *g, const char *name) {
    for (int i = 0; i < g->n_outputs; i++)
        if (!strcmp(g->output_names[i] ? g->output_names[i] : g->outputs[i]->name, name))
            return g->outputs[i];
    return NULL;
}

// The graph of the module that makes an input of the rows' graph.
static Graph *maker_of(const Module *m, const Graph *rows) {
    for (int i = 0; i < m->n_graphs; i++)
        for (int j = 0; j < rows->n_inputs; j++) {
            if (m->graphs[i] == rows || !is_memory_input(rows->inputs[j])) continue;
            if (output_named(m->graphs[i], rows->inputs[j]->name)) return m->graphs[i];
        }
    return NULL;
}

static Graph *add_graph(Module *m) {
    Graph **graphs = ARENA_ARRAY(m->arena, Graph *, m->n_graphs + 1);
    memcpy(graphs, m->graphs, (size_t)m->n_graphs * sizeof *graphs);
    m->graphs = graphs;
    return m->graphs[m->n_graphs++] = graph_new("encode");
}

static Node *moved_input(Hoist *h, const Node *input) {
    Node *output = output_named(h->to, input->name);
    if (!output)
        return graph_add_input(h->to, input->name, moved_type(h, &input->type), input->loc);
    if (output->type.rank != input->type.rank || output->type.dtype != input->type.dtype)
        diag_fatal(input->loc, "%%%s is %s, and graph %s makes %s", input->name,
                   type_text(&input->type), h->to->name, type_text(&output->type));
    learn_symbols(h, input, output);
    return output;
}

static void move_dims(const Hoist *h, Node *n) {
    for (Attr *a = n->attrs; a; a = a->next) {
        const Dim *dims[MAX_RANK];
        if (a->kind != ATTR_DIMS) continue;
        for (int i = 0; i < a->n; i++) dims[i] = moved_dim(h, a->dims[i]);
        attr_set_dims(n, a->name, dims, a->n);
        a = attr_find(n, a->name);
    }
}

// The node in the encoder's graph (Node.scratch once it is there).
static Node *moved(Hoist *h, Node *n) {
    if (n->scratch) return n->scratch;
    Node **in = ARENA_ARRAY(h->to->arena, Node *, n->n_in + 1);
    for (int i = 0; i < n->n_in; i++) in[i] = n->in[i] ? moved(h, n->in[i]) : NULL;
    Node *copy = node_make(h->to, n->op, n->loc, n->n_in, in, NULL);
    node_set_name(copy, n->name);
    attr_copy(copy, n);
    move_dims(h, copy);
    copy->value = n->value, copy->hashed = n->hashed, copy->hash = n->hash;
    if (n->op == OP_constant)
        copy->type = moved_type(h, &n->type);
    else
        inferred(copy);
    return n->scratch = copy;
}

static Node *memory_state(Graph *g, const Node *attention, const char *kind, int64_t layer,
                          Node *before) {
    Node *state = node_make(g, OP_state, attention->loc, 0, NULL, before);
    attr_set_string(state, "kind", kind);
    attr_set_int(state, "layer", layer);
    attr_set_int(state, "memory", 1);
    node_set_name(state, arena_printf(g->arena, "%s_memory", kind));
    return state;
}

// The keys or values of an attention: the rows are left in a state by one graph, and read from it
// by the other.
static Node *leave_in_state(Hoist *h, Node *attention, const char *kind) {
    int64_t heads = attr_int(attention, "num_kv_heads", 1);
    Node *rows = moved(h, attention->in[strcmp(kind, "key") ? ATTENTION_VALUE : ATTENTION_KEY]);
    const Dim *length = rows->type.dim[0];
    if (h->length && h->length != length)
        diag_fatal(attention->loc, "%%%s attends to %s rows, attention before it to %s",
                   attention->name, dim_text(length), dim_text(h->length));
    h->length = length;
    const Dim *width = dim_binary(h->to, DIM_FLOORDIV, rows->type.dim[1], dim_const(h->to, heads));
    Node *to = memory_state(h->to, attention, kind, h->layers, NULL);
    const Dim *dims[] = {h->slots[1], dim_const(h->to, heads), dim_const(h->to, dim_upper(length)),
                         width};
    to->type = type_of(rows->type.dtype, 4, dims);
    Node *written =
        node_make(h->to, OP_cache_append, attention->loc, 2, (Node *[]){to, rows}, NULL);
    attr_set_int(written, "heads", heads);
    graph_add_output(h->to, inferred(written), to->name);
    Node *state = memory_state(h->from, attention, kind, h->layers, attention);
    for (int d = 0; d < 4; d++) dims[d] = d ? dim_import(h->from, dims[d]) : h->slots[0];
    state->type = type_of(to->type.dtype, 4, dims);
    return state;
}

static void attend_to_state(Hoist *h, Node *n) {
    Node *operands[ATTENTION_OPERANDS];
    for (int i = 0; i < ATTENTION_OPERANDS; i++) operands[i] = operand_or_null(n, i);
    operands[ATTENTION_KEY] = leave_in_state(h, n, "key"),
    operands[ATTENTION_VALUE] = leave_in_state(h, n, "value");
    operands[ATTENTION_SLOT] = h->slot, operands[ATTENTION_POSITION] = h->end;
    Node *by = node_again(n, n->op, operands_present(operands, ATTENTION_OPERANDS), operands, n);
    attr_set_int(by, "causal", 1);
    node_become(n, inferred(by));
    h->layers++;
}

static const Dim *slots_of(Graph *g) {
    EACH_NODE(n, g)
        if (n->op == OP_state && n->type.rank == 4) return n->type.dim[0];
    return dim_const(g, 1);
}

static void drop_memory_inputs(Graph *g) {
    int kept = 0;
    for (int i = 0; i < g->n_inputs; i++) {
        Node *n = g->inputs[i];
        if (is_memory_input(n) && !node_uses(n))
            node_remove(n);
        else
            g->inputs[kept++] = n;
    }
    g->n_inputs = kept;
}

static Node *add_end(Graph *g) {
    Node *n = graph_add_input(g, "memory", input_of_role(g, INPUT_POSITIONS)->type, NO_LOC);
    input_set_role(n, INPUT_SOURCE_LAST);
    return n;
}

static void move(Hoist *h) {
    for (int i = 0; i < h->from->n_inputs; i++)
        if (is_memory_input(h->from->inputs[i]))
            h->from->inputs[i]->scratch = moved_input(h, h->from->inputs[i]);
    h->to->n_outputs = 0;
    EACH_NODE(n, h->from)
        if (attends_to_memory(n)) attend_to_state(h, n);
}

bool pass_hoist(Graph *g, PassContext *c) {
    bool any = false;
    for (int i = 0; i < g->n_inputs; i++) any |= is_memory_input(g->inputs[i]);
    if (!any || !c->module || !input_of_role(g, INPUT_POSITIONS) || !input_of_role(g, INPUT_SLOTS))
        return false;
    if (!check_reads(g)) return false;
    EACH_NODE(n, g) n->scratch = NULL;
    Hoist h = {.from = g, .context = c, .slots = {slots_of(g)}};
    h.to = maker_of(c->module, g);
    if (!h.to) h.to = add_graph(c->module);
    if (c->context > 0) bound_inputs(h.to, c->context);
    const Dim *slots = h.slots[0];
    h.slots[1] =
        slots->kind == DIM_SYMBOL ? symbol_like(h.to, slots, slots->value) : dim_const(h.to, 1);
    h.slot = input_of_role(g, INPUT_SLOTS), h.end = add_end(g);
    h.end->mark = OF_ROWS;
    move(&h);
    graph_sweep(g);
    drop_memory_inputs(g);
    graph_sweep(h.to);
    graph_sort(h.to);
    simplify_graph(h.to);
    simplify_graph(g);
    fusion_site(c, "hoisted out of the step", NO_LOC, NULL, NULL);
    return true;
}
