// Recurrences: scan(step, states, values) calls a block for each row, with the states after the
// previous row.
//
//   block step(h: [N], x: [N]) { h = tanh(h + x)      %l = loop(_, _, %h0, %x) {states=1, counter=row, extent=T, body=graph
//                                return h, h }          step(%h: f32[N], %x: f32[T, N]) -> (%next, %next) { ... }}
//   y = scan(step, h0, x)                             %y = item(%l) {index=1} : f32[T, N]
//
// The body is a closed graph: a block sees only its arguments.
#include <string.h>

#include "frontend/dsl/elaborate.h"
#include "ir/control.h"

enum { MOST_VALUES = 32 };

typedef struct Given {
    enum { STATE, ROWS, WHOLE } kind;
    const char *name;  // of the step's parameter
    Value value;
    Loc loc;
    Node *inside;  // as the body has it
} Given;

// One call of scan while it is elaborated.
typedef struct Scan {
    Elaborator *e;
    const Ast *call;
    Declaration *step;
    Given given[MOST_VALUES];
    int n, n_states;
    const Dim *extent, *counter;
    Graph *body;
} Scan;

// --------------------------------------------------------------------------------------- arguments
static bool give(Scan *s, Given g) {
    if (s->n == MOST_VALUES)
        return report(s->e, g.loc, "scan takes at most %d states and values", MOST_VALUES), false;
    s->given[s->n++] = g;
    return true;
}

// Parameters of the step in their order: states, then rows.
static const char *next_parameter(Scan *s) {
    const Ast *p = s->step->ast->list;
    for (int i = 0; p && i < s->n; i++) p = p->next;
    if (p) return p->name;
    report(s->e, s->call->loc, "%s takes %d arguments, scan has more for it%-s", s->step->ast->name,
           ast_count(s->step->ast->list), block_hint(s->e, s->step->ast));
    return NULL;
}

static bool take_states(Scan *s, const Ast *argument) {
    Value v = evaluate(s->e, argument->a);
    int n = v.kind == V_LIST ? v.list.n : 1;
    for (int i = 0; i < n; i++) {
        Given g = {STATE, next_parameter(s), v.kind == V_LIST ? v.list.items[i] : v, argument->loc,
                   NULL};
        if (!g.name || !want_tensor(s->e, g.value, g.loc, "a state of scan") || !give(s, g))
            return false;
    }
    s->n_states = n;
    return true;
}

static bool take_rows(Scan *s, const Ast *argument) {
    Elaborator *e = s->e;
    Given g = {ROWS, next_parameter(s), VALUE(V_ERROR), argument->loc, NULL};
    if (!g.name) return false;
    g.value = evaluate(e, argument->a);
    if (!want_tensor(e, g.value, g.loc, "a value of scan")) return false;
    const Type *t = &g.value.node->type;
    if (!s->extent && t->rank) s->extent = t->dim[0];
    if (t->rank && t->dim[0] == s->extent) return give(s, g);
    return report(e, g.loc,
                  "scan takes row after row of values of one length, this is %s\nhint: %s = value "
                  "gives all of a value to every "
                  "step",
                  type_text(t), g.name),
           false;
}

static bool take_whole(Scan *s, const Ast *argument) {
    Given g = {WHOLE, argument->name, evaluate(s->e, argument->a), argument->loc, NULL};
    return g.value.kind != V_ERROR && give(s, g);
}

static bool take_arguments(Scan *s) {
    int i = 0;
    for (const Ast *a = s->call->list; a; a = a->next, i++) {
        if (!i) continue;
        if (!(a->name ? take_whole(s, a) : i == 1 ? take_states(s, a) : take_rows(s, a)))
            return false;
    }
    return s->extent ||
           (report(
                s->e, s->call->loc,
                "scan lacks the values whose rows it takes\nhint: y = scan(step, states, values)"),
            false);
}

// ---------------------------------------------------------------------------------------- the body
// The step's row of a value, without the axis of rows.
static Value own_row(Scan *s, Node *rows, Loc at) {
    Builder b = tensor_builder(s->e, at);
    Node *row = build_slice(b, rows, (Slice){0, s->counter, dim_const(s->body, 1), 1});
    return row ? tensor_value(build_reshape(b, row, rows->type.rank - 1, rows->type.dim + 1))
               : VALUE(V_ERROR);
}

static Value inside(Scan *s, Given *g) {
    if (g->value.kind != V_TENSOR) return g->value;
    const Node *n = g->value.node;
    if (n->op == OP_constant && g->kind == WHOLE) {
        Node *constant = node_constant(s->body, n->value, n->loc, NULL);
        constant->hash = n->hash;
        return tensor_value(constant);
    }
    g->inside = graph_add_input(s->body, g->name, n->type, n->loc);
    return tensor_value(g->inside);
}

static bool bind_step(Scan *s, Frame *frame) {
    for (int i = 0; i < s->n; i++) {
        Given *g = &s->given[i];
        if (map_get(&frame->variables, g->name))
            return report(s->e, g->loc, "the argument \"%s\" of %s is given twice", g->name,
                          s->step->ast->name),
                   false;
        Value *v = ARENA_NEW(s->e->arena, Value);
        map_put(&frame->variables, g->name, v);
        *v = inside(s, g);
    }
    for (int i = 0; i < s->n; i++)  // inputs precede all other nodes
        if (s->given[i].kind == ROWS)
            *(Value *)map_get(&frame->variables, s->given[i].name) =
                own_row(s, s->given[i].inside, s->given[i].loc);
    return true;
}

static bool is_parameter(const Ast *block, const char *name) {
    for (const Ast *p = block->list; p; p = p->next)
        if (!strcmp(p->name, name)) return true;
    return false;
}

static bool names_fit(Scan *s) {
    for (int i = 0; i < s->n; i++)
        if (!is_parameter(s->step->ast, s->given[i].name))
            return report(s->e, s->given[i].loc, "%s has no parameter \"%s\"%-s",
                          s->step->ast->name, s->given[i].name, block_hint(s->e, s->step->ast)),
                   false;
    return true;
}

// The results of a step: the next states, in their order, and results.
static bool leave(Scan *s, Value v) {
    const char *step = s->step->ast->name;
    int n = v.kind == V_MANY ? v.list.n : 1;
    if (v.kind == V_ERROR) return false;
    if (n <= s->n_states)
        return report(s->e, s->call->loc,
                      "%s returns %d values, scan needs %d: what each state becomes, then results",
                      step, n, s->n_states + 1),
               false;
    for (int i = 0; i < n; i++) {
        Value item = v.kind == V_MANY ? v.list.items[i] : v;
        if (!want_tensor(s->e, item, s->call->loc,
                         arena_printf(s->e->arena, "result %d of %s", i, step)))
            return false;
        const Given *state = i < s->n_states ? &s->given[i] : NULL;
        if (state && !type_equal(&item.node->type, &state->value.node->type))
            return report(s->e, s->call->loc, "%s leaves its state %s as %s, it began as %s", step,
                          state->name, type_text(&item.node->type),
                          type_text(&state->value.node->type)),
                   false;
        graph_add_output(
            s->body, item.node,
            state ? state->name : arena_printf(s->e->arena, "result.%d", i - s->n_states));
    }
    return true;
}

// Its nodes are those of the body, which has constants of its own.
static bool make_body(Scan *s) {
    Elaborator *e = s->e;
    Graph *outer = e->graph;
    Map constants = e->constants;
    const Builder *builder = e->builder;
    Builder within = builder ? *builder : (Builder){0};
    Frame frame = {0};
    within.graph = e->graph = s->body = graph_new_nested(outer, s->step->ast->name),
    within.before = NULL;
    if (builder) e->builder = &within;
    s->counter = loop_counter(outer, s->extent);
    map_init(&e->constants, e->arena), map_init(&frame.variables, e->arena);
    bool ok = bind_step(s, &frame) && leave(s, call_bound(e, s->step, s->call, &frame));
    e->graph = outer, e->constants = constants, e->builder = builder;
    return ok;
}

// ---------------------------------------------------------------------------------------- the loop
static Value results(Scan *s, Node *loop) {
    Elaborator *e = s->e;
    int n = loop ? loop->n_items - s->n_states : 0;
    Value *items = ARENA_ARRAY(e->arena, Value, n + 1);
    if (!loop) return VALUE(V_ERROR);
    for (int i = 0; i < n; i++)
        items[i] = tensor_value(node_item(e->graph, loop, s->n_states + i, NULL));
    return n == 1 ? items[0] : (Value){.kind = V_MANY, .list = {items, n}};
}

static Value loop_of(Scan *s) {
    Builder b = tensor_builder(s->e, s->call->loc);
    Node *in[LOOP_FIRST + MOST_VALUES] = {NULL};
    int n = LOOP_FIRST;
    for (int i = 0; i < s->n; i++)
        if (s->given[i].inside) in[n++] = s->given[i].value.node;
    Node *loop = build_begin(b, OP_loop, n, in);
    attr_set_graph(loop, "body", s->body);
    attr_set_int(loop, "states", s->n_states);
    attr_set_dims(loop, "counter", &s->counter, 1);
    attr_set_dims(loop, "extent", &s->extent, 1);
    attr_set_dims(loop, "length", &s->extent, 1);
    return results(s, build_end(b, loop));
}

Value call_scan(Elaborator *e, const Ast *call) {
    const Ast *first = call->list, *name = first && !first->name ? first->a : NULL;
    Scan s = {.e = e, .call = call};
    s.step = name && name->kind == AST_NAME ? file_find_block(e->frame->file, name->name) : NULL;
    if (!s.step)
        return report(e, first ? first->loc : call->loc,
                      "scan needs the name of a block first, which takes states and a row\nhint: y "
                      "= scan(step, states, values)");
    return take_arguments(&s) && names_fit(&s) && make_body(&s) ? loop_of(&s) : VALUE(V_ERROR);
}
