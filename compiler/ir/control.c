// Loops and branches: their types and their meaning.
#include "ir/control.h"

#include <string.h>

#include "ir/eval/eval_internal.h"
#include "ir/infer.h"
#include "ir/operands.h"

LoopParts loop_parts(const Node *n) {
    LoopParts l = {.body = attr_graph(n, "body"), .n_states = (int)attr_int(n, "states", 0)};
    l.most = operand_or_null(n, LOOP_MOST);
    l.condition = operand_or_null(n, LOOP_CONDITION);
    l.first_state = l.condition != NULL, l.first_scanned = l.first_state + l.n_states;
    l.n_scanned = l.body ? l.body->n_outputs - l.first_scanned : 0;
    l.counter = attr_dim(n, "counter"), l.extent = attr_dim(n, "extent"),
    l.length = attr_dim(n, "length");
    return l;
}

const Dim *loop_counter(Graph *g, const Dim *extent) {
    const char *name = "row";
    for (int i = 1; dim_find_symbol(g, name); i++) name = arena_printf(g->arena, "row_%d", i);
    return dim_symbol(g, name, 0, dim_upper(extent) > 1 ? dim_upper(extent) - 1 : 0);
}

// ------------------------------------------------------------------------------------------- types
static bool is_one(const Node *x, DType t) { return x->type.dtype == t && x->type.rank == 0; }

static bool check_inputs(const Node *n, const Graph *body, int first) {
    if (body->n_inputs != n->n_in - first)
        return infer_mismatch(n, "%d states and values for a body that takes %d", n->n_in - first,
                              body->n_inputs);
    for (int i = 0; i < body->n_inputs; i++)
        if (!n->in[first + i] || !type_equal(&n->in[first + i]->type, &body->inputs[i]->type))
            return infer_mismatch(n, "operand %d is not what the body takes, %s", first + i,
                                  type_text(&body->inputs[i]->type));
    return true;
}

static bool check_loop(const Node *n, const LoopParts *l) {
    if (n->n_in < LOOP_FIRST || !l->body) return infer_mismatch(n, "\"body\" must be a graph");
    if (!l->counter || l->counter->kind != DIM_SYMBOL || !l->extent || !l->length)
        return infer_mismatch(
            n, "\"counter\" must be a symbol, \"extent\" and \"length\" one dimension each");
    if (l->most && !is_one(l->most, DT_i64)) return infer_mismatch(n, "operand 0 must be one i64");
    if (l->condition && !is_one(l->condition, DT_bool))
        return infer_mismatch(n, "operand 1 must be one bool");
    if (l->n_states < 0 || l->n_states > n->n_in - LOOP_FIRST || l->n_scanned < 0)
        return infer_mismatch(n, "%d states: the body gives %d results", l->n_states,
                              l->body->n_outputs);
    if (!check_inputs(n, l->body, LOOP_FIRST)) return false;
    if (l->condition && !is_one(l->body->outputs[0], DT_bool))
        return infer_mismatch(n, "the body's first result must be a bool");
    for (int i = 0; i < l->n_states; i++)
        if (!type_equal(&l->body->outputs[l->first_state + i]->type, &n->in[LOOP_FIRST + i]->type))
            return infer_mismatch(n, "state %d becomes %s", i,
                                  type_text(&l->body->outputs[l->first_state + i]->type));
    return true;
}

static bool give_items(Graph *g, Node *n, const Type *items, int n_items, Type *result) {
    Type *own = ARENA_ARRAY(g->arena, Type, n_items + 1);
    memcpy(own, items, (size_t)n_items * sizeof *own);
    n->items = own, n->n_items = n_items;
    *result = type_scalar(DT_tuple);
    return true;
}

bool infer_loop(Graph *g, Node *n, Type *result) {
    LoopParts l = loop_parts(n);
    if (!check_loop(n, &l)) return false;
    Type *items = ARENA_ARRAY(g->arena, Type, l.n_states + l.n_scanned + 1);
    for (int i = 0; i < l.n_states; i++) items[i] = n->in[LOOP_FIRST + i]->type;
    for (int i = 0; i < l.n_scanned; i++) {
        const Type *element = &l.body->outputs[l.first_scanned + i]->type;
        if (element->rank == MAX_RANK)
            return infer_mismatch(n, "scanned results have more than %d axes", MAX_RANK);
        Type *all = &items[l.n_states + i];
        *all = (Type){.dtype = element->dtype, .rank = element->rank + 1, .dim = {l.length}};
        memcpy(all->dim + 1, element->dim, (size_t)element->rank * sizeof *all->dim);
    }
    return give_items(g, n, items, l.n_states + l.n_scanned, result);
}

bool infer_if(Graph *g, Node *n, Type *result) {
    const Graph *then = attr_graph(n, "then"), *otherwise = attr_graph(n, "else");
    if (!then || !otherwise) return infer_mismatch(n, "\"then\" and \"else\" must be graphs");
    if (!is_one(n->in[0], DT_bool)) return infer_mismatch(n, "the condition must be one bool");
    if (!check_inputs(n, then, IF_FIRST) || !check_inputs(n, otherwise, IF_FIRST)) return false;
    if (then->n_outputs != otherwise->n_outputs)
        return infer_mismatch(n, "its bodies give %d and %d results", then->n_outputs,
                              otherwise->n_outputs);
    Type *items = ARENA_ARRAY(g->arena, Type, then->n_outputs + 1);
    for (int i = 0; i < then->n_outputs; i++) {
        items[i] = then->outputs[i]->type;
        if (!type_equal(&items[i], &otherwise->outputs[i]->type))
            return infer_mismatch(n, "result %d is %s or %s", i, type_text(&items[i]),
                                  type_text(&otherwise->outputs[i]->type));
    }
    return give_items(g, n, items, then->n_outputs, result);
}

// ----------------------------------------------------------------------------------------- meaning
static int64_t integer_of(EvalContext *c, const Value *v) {
    return *(const int64_t *)value_dense(c, v, DT_i64);
}
static bool truth_of(EvalContext *c, const Value *v) {
    return *(const uint8_t *)value_dense(c, v, DT_bool);
}

// The results of an iteration.
typedef struct Iteration {
    const struct Iteration *before;
    Value *results;
} Iteration;

// The elements of all iterations, one after the other.
static Value joined(EvalContext *c, const Node *n, const Type *type, const Iteration *last,
                    int64_t count, int which) {
    int64_t dim[MAX_RANK] = {count};
    for (int i = 1; i < type->rank; i++) dim[i] = eval_dim(c, n, type->dim[i]);
    Value all = eval_fresh(c, eval_stored(c, type->dtype), type->rank, dim), part = all;
    part.rank--;
    memmove(part.dim, part.dim + 1, (size_t)part.rank * sizeof *part.dim);
    memmove(part.stride, part.stride + 1, (size_t)part.rank * sizeof *part.stride);
    part.offset = count * all.stride[0];
    for (; last; last = last->before) {
        Value element = last->results[which];
        element.data = value_dense(c, &element, all.dtype), element.dtype = all.dtype,
        element.offset = 0;
        value_set_dense(&element);
        part.offset -= all.stride[0];
        value_assign(&part, &element);
    }
    return all;
}

static int64_t most_iterations(EvalContext *c, const Node *n, const LoopParts *l,
                               const Value *const *in) {
    int64_t bound = eval_dim(c, n, l->extent),
            most = l->most ? integer_of(c, in[LOOP_MOST]) : bound;
    return most < 0 ? 0 : most < bound ? most : bound;
}

void eval_loop(EvalContext *c, Node *n) {
    LoopParts l = loop_parts(n);
    int n_values = n->n_in - LOOP_FIRST;
    const Value **in = c->in;
    int64_t most = most_iterations(c, n, &l, in), count = 0;
    Value *given = ARENA_ARRAY(c->arena, Value, n_values + 1);
    const Iteration *last = NULL;
    for (int i = 0; i < n_values; i++) given[i] = *in[LOOP_FIRST + i];
    bool goes_on = !l.condition || truth_of(c, in[LOOP_CONDITION]);
    for (; goes_on && count < most; count++) {
        Iteration *now = ARENA_NEW(c->arena, Iteration);
        Value *results = ARENA_ARRAY(c->arena, Value, l.body->n_outputs + 1);
        *now = (Iteration){last, results}, last = now;
        eval_bind(c, l.counter->name, count);
        eval_body(c, l.body, given, results);
        memcpy(given, results + l.first_state, (size_t)l.n_states * sizeof *given);
        goes_on = !l.condition || truth_of(c, &results[0]);
    }
    int64_t wanted = l.most ? integer_of(c, in[LOOP_MOST]) : INT64_MAX;
    if (goes_on && count < wanted && loop_is_open(&l) && l.n_scanned)
        diag_fatal(
            n->loc,
            "%%%s goes on, and its results have room for %lld\nhint: allow more with --max=%s=N",
            n->name, (long long)count, dim_text(l.length));
    if (l.length->kind == DIM_SYMBOL && loop_is_open(&l)) eval_bind(c, l.length->name, count);
    Value *items = ARENA_ARRAY(c->arena, Value, n->n_items + 1);
    memcpy(items, given, (size_t)l.n_states * sizeof *items);
    for (int i = l.n_states; i < n->n_items; i++)
        items[i] = joined(c, n, &n->items[i], last, count, l.first_scanned + i - l.n_states);
    c->out = (Value){.dtype = DT_tuple, .items = items, .n_items = n->n_items};
}

void eval_if(EvalContext *c, Node *n) {
    int n_values = n->n_in - IF_FIRST;
    Value *given = ARENA_ARRAY(c->arena, Value, n_values + 1),
          *items = ARENA_ARRAY(c->arena, Value, n->n_items + 1);
    for (int i = 0; i < n_values; i++) given[i] = *c->in[IF_FIRST + i];
    eval_body(c, attr_graph(n, truth_of(c, c->in[0]) ? "then" : "else"), given, items);
    c->out = (Value){.dtype = DT_tuple, .items = items, .n_items = n->n_items};
}
