// Loops and branches: the kernels of their bodies become a region of the program.
//
//   %t = loop(_, _, %h0, %x) {states=1, counter=i, extent=T, ...}
//
//     state <- %h0
//     region, i from 0 while i < T:
//         kernels of the body; scanned results are written to element i of the result
//         state <- the body's first result
//
// A state keeps one buffer from before the loop until its last use; new states are copied there
// after all of them are computed.
#include "ir/control.h"

#include <string.h>

#include "lower/lowering.h"

static const Attr *bodies(const Attr *a) {
    while (a && a->kind != ATTR_GRAPH) a = a->next;
    return a;
}

int count_places(const Graph *g) {
    int count = 2 * g->n_outputs;
    EACH_NODE(n, g) {
        count += 2 + n->n_in + n->n_items;
        for (const Attr *a = bodies(n->attrs); a; a = bodies(a->next))
            count += count_places(a->graph);
    }
    return count;
}

static Region *region_open(Lowering *l, bool is_loop) {
    Program *p = l->program;
    Region *r = &p->regions[p->n_regions++];
    *r = (Region){.first = p->n_kernels, .is_loop = is_loop};
    return r;
}

// Where result `index` of a tuple goes.
static View place_of_item(Lowering *l, Node *n, int index) {
    Node *item = item_of(n, index);
    View v = view_result(l, item ? item : n, &n->items[index], false);
    if (item) set_view(l, item, v);
    return v;
}

// Element `counter` of a scanned operand.
static View element_of(Lowering *l, View all, const Dim *counter) {
    all.offset = dim_binary(l->graph, DIM_ADD, all.offset,
                            dim_binary(l->graph, DIM_MUL, counter, all.stride[0]));
    all.type.rank--;
    memmove(all.type.dim, all.type.dim + 1, (size_t)all.type.rank * sizeof *all.type.dim);
    memmove(all.stride, all.stride + 1, (size_t)all.type.rank * sizeof *all.stride);
    return all;
}

static bool lies_in(const View *v, const View *place) {
    if (v->base != place->base) return false;
    return v->base == BASE_BUFFER ? v->buffer == place->buffer
                                  : v->base == BASE_OUTPUT && v->output == place->output;
}

// A new state `which` that is another state as it was: it moves aside before that one changes.
static View aside(Lowering *l, Node *n, int which, const View *states, int n_states) {
    View v = view_operand(l, n);
    for (int i = 0; i < n_states && !view_same_place(&v, &states[which]); i++)
        if (lies_in(&v, &states[i])) return view_copy(l, n, v);
    return v;
}

static void copy_unless_there(Lowering *l, const Node *n, View from, View to) {
    if (!view_same_place(&from, &to)) copy_view(l, n, from, to);
}

static void end_iteration(Lowering *l, const LoopParts *parts, const View *states,
                          const View *places) {
    Node *const *results = parts->body->outputs;
    int n = parts->first_scanned;
    View *next = ARENA_ARRAY(l->arena, View, n + 1);
    for (int i = n; i < parts->body->n_outputs; i++)
        copy_unless_there(l, results[i], view_operand(l, results[i]), places[i]);
    for (int i = 0; i < n; i++) next[i] = aside(l, results[i], i, states, n);
    for (int i = 0; i < n; i++) copy_unless_there(l, results[i], next[i], states[i]);
}

// A condition is kept like a state, before the other states.
static View *begin_states(Lowering *l, Node *n, const LoopParts *parts) {
    View *states = ARENA_ARRAY(l->arena, View, parts->first_scanned + 1);
    for (int i = 0; i < parts->first_scanned; i++) {
        bool condition = i < parts->first_state;
        Node *from = condition ? parts->condition : n->in[LOOP_FIRST + i - parts->first_state];
        View given = view_operand(l, from);
        if (given.base == BASE_STATE) {  // a slot's memory: changed where it is
            states[i] = given;
            continue;
        }
        states[i] = condition ? view_result(l, n, &from->type, false)
                              : place_of_item(l, n, i - parts->first_state);
        copy_view(l, from, given, states[i]);
    }
    return states;
}

void select_loop(Lowering *l, Node *n) {
    if (select_scan(l, n)) return;
    LoopParts parts = loop_parts(n);
    Program *p = l->program;
    int n_values = n->n_in - LOOP_FIRST;
    View *states = begin_states(l, n, &parts), *inputs = ARENA_ARRAY(l->arena, View, n_values + 1),
         *places = ARENA_ARRAY(l->arena, View, parts.body->n_outputs + 1);
    for (int i = 0; i < n_values; i++)
        inputs[i] = i < parts.n_states ? states[parts.first_state + i]
                                       : view_operand(l, n->in[LOOP_FIRST + i]);
    for (int i = 0; i < parts.n_scanned; i++)
        places[parts.first_scanned + i] =
            element_of(l, place_of_item(l, n, parts.n_states + i), parts.counter);
    View most = parts.most ? view_operand(l, parts.most) : (View){0};
    Region *r = region_open(l, true);
    r->most = most;
    r->condition = parts.condition ? states[0] : (View){0};
    r->counter = parts.counter;
    r->extent = parts.extent;
    r->length = parts.length;
    p->counters[p->n_counters++] = parts.counter;
    if (loop_is_open(&parts) && parts.length->kind == DIM_SYMBOL)
        p->data_dependent[p->n_data_dependent++] = parts.length;
    Lowering around = body_begin(l, parts.body, inputs, places);
    end_iteration(l, &parts, states, places);
    *l = around;
    r->middle = r->end = p->n_kernels;
}

static void select_branch(Lowering *l, Graph *body, const View *inputs, const View *places) {
    Lowering around = body_begin(l, body, inputs, places);
    for (int i = 0; i < body->n_outputs; i++)
        copy_unless_there(l, body->outputs[i], view_operand(l, body->outputs[i]), places[i]);
    *l = around;
}

void select_if(Lowering *l, Node *n) {
    View *inputs = ARENA_ARRAY(l->arena, View, n->n_in),
         *places = ARENA_ARRAY(l->arena, View, n->n_items + 1);
    for (int i = IF_FIRST; i < n->n_in; i++) inputs[i - IF_FIRST] = view_operand(l, n->in[i]);
    for (int i = 0; i < n->n_items; i++) places[i] = place_of_item(l, n, i);
    View condition = view_operand(l, n->in[0]);
    Region *r = region_open(l, false);
    r->condition = condition;
    select_branch(l, attr_graph(n, "then"), inputs, places);
    r->middle = l->program->n_kernels;
    select_branch(l, attr_graph(n, "else"), inputs, places);
    r->end = l->program->n_kernels;
}
