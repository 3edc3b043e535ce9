// Recurrences: a loop over the positions, whose step needs its own row and the state after the
// previous step.
//
//   before   %t = loop(_, _, %h0, %x) {states=1, counter=i, extent=T, body=graph (%h, %x: f32[T, 8]) -> (%h', %h')}
//            body: %e = slice(%x) {axis=0, start=i, extent=1}   %h' = tanh(add(%h, reshape(%e)))
//
//   after    %s = state {kind="row", ring=1, window=1} : f32[S, 1, CTX, 8]
//            %t = loop(_, _, %s, %x, %slot, %position, %h0) {..., extent=R, body=graph (%s, %x: f32[R, 8], ...) -> (%s', %h')}
//            body: %at = slice(%position) {start=i, extent=1}   %of = slice(%slot) ...
//                  %h = where(less(%at, 1), %h0, shift_rows(%s, %of, %at) {back=1})          (%h0 all zeros: no `where`)
//                  ...                                          %s' = cache_append(%s, %h', %of, %at)
//
// A slot keeps the state after its last step: a ring buffer of one row. Rows of a call may belong
// to any slots, each step uses its own slot's state; but a slot can only be truncated to no rows at
// all.
#include "ir/control.h"
#include "passes/incremental/incremental.h"

bool has_loop_over(const Graph *g, const Dim *rows) {
    EACH_NODE(n, g) {
        if (n->op == OP_loop && attr_dim(n, "extent") == rows) return true;
    }
    return false;
}

// -------------------------------------------------------------------------------------- the states
void rename_rows_in_body(Node *loop, const Dim *from, const Dim *to) {
    EACH_NODE(n, attr_graph(loop, "body")) {
        if (n->op != OP_input) {
            inferred(n);
            continue;
        }
        for (int i = 0; i < n->type.rank; i++)
            n->type.dim[i] = dim_substitute(n->graph, n->type.dim[i], from, to);
    }
}

// One more operand, as the body sees it.
static Node *give_to_body(Node *loop, Graph *body, Node *operand) {
    node_add_input(loop, operand);
    return graph_add_input(body, operand->name, operand->type, operand->loc);
}

// In the body: the slot and position of the step's row, and their sources.
typedef struct StepPlace {
    Node *slot, *position, *before;
} StepPlace;

static StepPlace place_of_step(Node *loop, const LoopParts *l, const RowInputs *in) {
    Node *slot = give_to_body(loop, l->body, in->slot),
         *position = give_to_body(loop, l->body, in->position);
    Node *before = position->next;
    Slice own = {0, l->counter, dim_const(l->body, 1), 1};
    return (StepPlace){build_slice(cursor(before), slot, own),
                       build_slice(cursor(before), position, own), before};
}

// A slot's first step starts from the loop's initial value.
static Node *or_first(Node *loop, Graph *body, Node *first, Node *state, StepPlace at) {
    const Dim *one[MAX_RANK];
    double value;
    if (match_scalar(first, &value) && value == 0) return state;
    for (int i = 0; i < MAX_RANK; i++) one[i] = dim_const(body, 1);
    Node *begins = build_binary(cursor(at.before), OP_less, at.position,
                                node_scalar(body, DT_i32, 1, loop->loc, at.before));
    Node *operands[] = {build_reshape(cursor(at.before), begins, first->type.rank, one),
                        give_to_body(loop, body, first), state};
    return build_op(cursor_at(at.before, loop->loc), OP_where, 3, operands);
}

// The state is read where the step before left it, and left at the step's own position.
static void carry_state(Node *loop, const LoopParts *l, int i, StepPlace at, const RowInputs *in) {
    Graph *body = l->body;
    Node *first = loop->in[LOOP_FIRST + i], *cache = body->inputs[i],
         **result = &body->outputs[l->first_state + i];
    const Dim *width = type_count(body, &first->type);
    node_set_input(loop, LOOP_FIRST + i, new_last_state(in, width, loop));
    cache->type = loop->in[LOOP_FIRST + i]->type;
    Node *before = node_make(body, OP_shift_rows, loop->loc, 3,
                             (Node *[]){cache, at.slot, at.position}, at.before);
    attr_set_int(before, "back", 1);
    Node *state =
        build_reshape(cursor(at.before), inferred(before), first->type.rank, first->type.dim);
    node_replace(cache, or_first(loop, body, first, state, at));
    node_set_input(before, 0, cache);
    Node *row = build_reshape(cursor(NULL), *result, 2, (const Dim *[]){dim_const(body, 1), width});
    Node *left = node_make(body, OP_cache_append, loop->loc, 4,
                           (Node *[]){cache, row, at.slot, at.position}, NULL);
    attr_set_int(left, "heads", 1);
    *result = inferred(left);
}

static bool is_carried(const Node *loop) {
    return loop->n_in > LOOP_FIRST && loop->in[LOOP_FIRST]->op == OP_state;
}

bool carry_states(Graph *g, const RowInputs *in) {
    bool changed = false;
    EACH_NODE(n, g) {
        if (n->op != OP_loop || attr_dim(n, "extent") != in->rows || is_carried(n)) continue;
        LoopParts l = loop_parts(n);
        StepPlace at = place_of_step(n, &l, in);
        for (int i = 0; i < l.n_states; i++) carry_state(n, &l, i, at, in);
        inferred(n);
        changed = true;
    }
    return changed;
}
