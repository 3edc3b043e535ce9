// If, Loop, Scan.
//
//   If      the branch taken, if the condition is known; else both: small ones are computed and `where` chooses, others
//           become the bodies of the core's `if`
//   Loop    unrolled by its trip count, if that is known and short; else the core's `loop`
//   Scan    a `loop` whose body sees one element of each scanned axis
#include <math.h>
#include <string.h>

#include "frontend/onnx/body.h"
#include "frontend/onnx/operators/compose.h"
#include "ir/convert.h"

enum { MOST_ITERATIONS = 65536, FEW_ITERATIONS = 64, SMALL_BRANCH = 4 };

// ------------------------------------------------------------------------------------------ values
static OnnxValue *number_value(OnnxCall *c, DType t, const Dim *x) {
    const Dim **element = ARENA_ARRAY(c->graph->arena, const Dim *, 1);
    OnnxValue *v = ARENA_NEW(c->graph->arena, OnnxValue);
    element[0] = x;
    *v = (OnnxValue){.elements = element, .n = 1, .dtype = t};
    return v;
}

// -1: only known at run time
static int truth_of(OnnxCall *c, const OnnxValue *v) {
    int64_t x;
    if (!v->node && v->elements) return v->n == 1 && dim_is_const(v->elements[0], &x) ? x != 0 : -1;
    const Tensor *t = onnx_value_known(c, v);
    if (!t) return -1;
    if (t->dtype != DT_bool || tensor_count(t) != 1)
        onnx_fatal(c, "its condition must be one bool");
    return dtype_load(t->dtype, t->data, 0) != 0;
}

static Node *condition_node(OnnxCall *c, OnnxValue *v) {
    Node *n = onnx_value_node(c, v);
    if (n->type.dtype != DT_bool)
        onnx_fatal(c, "its condition is %s, expected one bool", type_text(&n->type));
    return n->type.rank ? onnx_reshape(c, n, &(Type){.dtype = DT_bool}) : n;
}

static bool same_elements(const OnnxValue *a, const OnnxValue *b) {
    if (a->node || b->node || !a->elements || !b->elements || a->n != b->n ||
        a->vector != b->vector)
        return false;
    return !memcmp(a->elements, b->elements, (size_t)a->n * sizeof *a->elements);
}

// The values of both branches, when they are nodes of one type.
static void check_alike(OnnxCall *c, const Node *a, const Node *b) {
    if (!type_equal(&a->type, &b->type))
        onnx_fatal(c,
                   "gives %s or %s, and which is only known at run time\nhint: export the branch "
                   "that is wanted; of a merged "
                   "decoder --as=text takes it",
                   type_text(&a->type), type_text(&b->type));
}

static OnnxValue *choose(OnnxCall *c, Node *condition, OnnxValue *yes, OnnxValue *no) {
    if (yes == no || same_elements(yes, no)) return yes;
    Node *a = onnx_value_node(c, yes), *b = onnx_value_node(c, no);
    if (a == b) return yes;
    check_alike(c, a, b);
    return onnx_value_of(onnx_emit(c, OP_where, 3, (Node *[]){condition, a, b}));
}

// ---------------------------------------------------------------------------------------------- If
static const BurinOnnx__GraphBody *branch_body(OnnxCall *c, const char *name) {
    const BurinOnnx__GraphBody *g = onnx_body(c, name);
    if (g->n_output != c->proto->n_output || g->n_input)
        onnx_fatal(
            c, "%s has %zu inputs and %zu results, expected 0 and %zu\nhint: the file is damaged",
            name, g->n_input, g->n_output, c->proto->n_output);
    return g;
}

static OnnxValue **branch(OnnxCall *c, const char *name) {
    const BurinOnnx__GraphBody *g = branch_body(c, name);
    OnnxValue **results = ARENA_ARRAY(c->graph->arena, OnnxValue *, g->n_output + 1);
    onnx_write_out(c, g, NULL, results);
    return results;
}

static bool is_small(OnnxCall *c) {
    return branch_body(c, "then_branch")->n_node + branch_body(c, "else_branch")->n_node <=
           SMALL_BRANCH;
}

// Both branches as bodies: results known in both stay known, all others are the core's.
static void run_branches(OnnxCall *c, OnnxValue *condition) {
    static const char *const names[] = {"then_branch", "else_branch"};
    OnnxBody *bodies[2];
    OnnxValue *results[2][ONNX_MAX_RESULTS];
    int n = (int)c->proto->n_output, n_chosen = 0, chosen[ONNX_MAX_RESULTS];
    for (int i = 0; i < 2; i++) {
        bodies[i] = onnx_body_new(c, i ? "otherwise" : "then");
        onnx_write_in(&bodies[i]->scope, &bodies[i]->call, branch_body(c, names[i]), NULL,
                      results[i]);
    }
    for (int i = 0; i < n; i++) {
        chosen[i] = same_elements(results[0][i], results[1][i]) ? -1 : n_chosen++;
        for (int j = 0; j < 2 && chosen[i] >= 0; j++)
            graph_add_output(bodies[j]->call.graph,
                             onnx_value_node(&bodies[j]->call, results[j][i]), "result");
        if (chosen[i] >= 0)
            check_alike(c, bodies[0]->call.graph->outputs[chosen[i]],
                        bodies[1]->call.graph->outputs[chosen[i]]);
    }
    Node *made = n_chosen ? onnx_body_if(bodies[0], bodies[1], condition_node(c, condition)) : NULL;
    for (int i = 0; i < n; i++)
        onnx_result_value(
            c, i,
            chosen[i] < 0 ? results[0][i] : onnx_value_of(onnx_tuple_item(c, made, chosen[i])));
}

static bool is_lone(const BurinOnnx__GraphBody *g, const char *op) {
    const BurinOnnx__Operation *last = g->n_node ? g->node[g->n_node - 1] : NULL;
    for (size_t i = 0; i + 1 < g->n_node; i++) {
        if (strcmp(g->node[i]->op_type, "Constant")) return false;
    }
    return last && !strcmp(last->op_type, op);
}

// PyTorch writes squeeze(x, axis) as `if size == 1: squeeze(x) else x`: what reads the result fits
// one rank alone, that of a size of 1, which Squeeze requires.
static bool is_squeeze_if_one(OnnxCall *c) {
    return is_lone(branch_body(c, "then_branch"), "Squeeze") &&
           is_lone(branch_body(c, "else_branch"), "Identity");
}

void onnx_if(OnnxCall *c, int argument) {
    (void)argument;
    OnnxValue *condition = onnx_operand(c, 0);
    int taken = truth_of(c, condition);
    if (taken < 0 && is_squeeze_if_one(c)) taken = 1;
    if (taken < 0 && !c->import->text && !is_small(c)) {
        run_branches(c, condition);
        return;
    }
    OnnxValue **yes = taken != 0 ? branch(c, "then_branch") : NULL,
              **no = taken != 1 ? branch(c, "else_branch") : NULL;
    for (size_t i = 0; i < c->proto->n_output; i++)
        onnx_result_value(c, (int)i,
                          !no    ? yes[i]
                          : !yes ? no[i]
                                 : choose(c, condition_node(c, condition), yes[i], no[i]));
}

// -------------------------------------------------------------------------------------- iterations
// Scanned results of an iteration: one list for each result, joined along an axis at the end.
typedef struct Unrolled {
    const BurinOnnx__GraphBody *body;
    int n_state, n_scan;
    OnnxValue **state;  // current
    Node ***scanned;    // [n_scan][iterations so far]
    int count, capacity;
} Unrolled;

static Unrolled unrolled_new(OnnxCall *c, const BurinOnnx__GraphBody *body, int n_state,
                             int n_scan) {
    Arena *arena = c->graph->arena;
    Unrolled u = {.body = body, .n_state = n_state, .n_scan = n_scan};
    u.state = ARENA_ARRAY(arena, OnnxValue *, n_state + 1);
    u.scanned = ARENA_ARRAY(arena, Node **, n_scan + 1);
    return u;
}

static void keep_scanned(OnnxCall *c, Unrolled *u, OnnxValue *const *results) {
    if (u->count == u->capacity) {
        int more = u->capacity ? 2 * u->capacity : 8;
        for (int i = 0; i < u->n_scan; i++) {
            Node **list = ARENA_ARRAY(c->graph->arena, Node *, more);
            if (u->count) memcpy(list, u->scanned[i], (size_t)u->count * sizeof *list);
            u->scanned[i] = list;
        }
        u->capacity = more;
    }
    for (int i = 0; i < u->n_scan; i++) u->scanned[i][u->count] = onnx_value_node(c, results[i]);
    u->count++;
}

// [...] to [.., 1, ..]
static Node *with_axis(OnnxCall *c, Node *x, int axis) {
    Type t = x->type;
    if (t.rank >= MAX_RANK)
        onnx_fatal(c, "its results have %d dimensions, at most %d are supported", t.rank + 1,
                   MAX_RANK);
    for (int i = t.rank++; i > axis; i--) t.dim[i] = t.dim[i - 1];
    t.dim[axis] = dim_const(c->graph, 1);
    return onnx_reshape(c, x, &t);
}

// No iteration at all: the type is the one that the body declares.
static Node *nothing_scanned(OnnxCall *c, const BurinOnnx__ValueInfo *info) {
    const BurinOnnx__ValueType__TensorOf *t = info->type ? info->type->tensor_type : NULL;
    Tensor *empty = ARENA_NEW(c->graph->arena, Tensor);
    if (!t || !t->shape || t->shape->n_dim >= MAX_RANK || !onnx_dtype(t->elem_type, &empty->dtype))
        onnx_fatal(c, "runs not once, and does not declare the shape of its result %s", info->name);
    for (size_t i = 0; i < t->shape->n_dim; i++)
        empty->dim[i + 1] = t->shape->dim[i]->has_dim_value ? t->shape->dim[i]->dim_value : 1;
    empty->rank = (int)t->shape->n_dim + 1, empty->data = "";
    return onnx_constant(c, empty);
}

static Node *joined(OnnxCall *c, const Unrolled *u, int which, int64_t axis_given, bool backward) {
    if (!u->count)
        return nothing_scanned(c, u->body->output[u->body->n_output - (size_t)(u->n_scan - which)]);
    Node **list = ARENA_ARRAY(c->graph->arena, Node *, u->count);
    int axis = onnx_axis(c, axis_given, u->scanned[which][0]->type.rank + 1);
    for (int i = 0; i < u->count; i++)
        list[backward ? u->count - 1 - i : i] = with_axis(c, u->scanned[which][i], axis);
    return onnx_join(c, list, u->count, axis);
}

// -------------------------------------------------------------------------------------------- Loop
typedef struct LoopRun {
    Unrolled u;
    OnnxValue *condition;
    int64_t most;      // how often at most, -1: no trip count, or none that is known
    const Dim *bound;  // the same as a dimension; NULL: unknown
} LoopRun;

static void read_trip_count(OnnxCall *c, LoopRun *r) {
    const OnnxValue *v = onnx_operand(c, 0);
    const Dim *const *elements;
    int n;
    r->most = -1;
    if (!v) return;
    if (onnx_elements(c, 0, &elements, &n) && n == 1) r->bound = elements[0];
    const Tensor *t = r->bound ? NULL : onnx_value_known(c, v);
    if (t && tensor_count(t) == 1)
        r->bound = dim_const(c->graph, (int64_t)dtype_load(t->dtype, t->data, 0));
    if (r->bound && dim_is_const(r->bound, &r->most) && r->most < 0) r->most = 0;
}

static void iterate(OnnxCall *c, LoopRun *r) {
    Unrolled *u = &r->u;
    Arena *arena = c->graph->arena;
    OnnxValue **in = ARENA_ARRAY(arena, OnnxValue *, u->n_state + 2),
              **out = ARENA_ARRAY(arena, OnnxValue *, u->body->n_output + 1);
    in[0] = number_value(c, DT_i64, dim_const(c->graph, u->count)), in[1] = r->condition;
    for (int i = 0; i < u->n_state; i++) in[2 + i] = u->state[i];
    onnx_write_out(c, u->body, in, out);
    for (int i = 0; i < u->n_state; i++) u->state[i] = out[1 + i];
    keep_scanned(c, u, out + 1 + u->n_state);
    r->condition = out[0];
}

// Unrolls every iteration; false: only the run knows its condition.
static bool write_out_iterations(OnnxCall *c, LoopRun *r) {
    while (r->most < 0 || r->u.count < r->most) {
        int holds = truth_of(c, r->condition);
        if (holds <= 0) return holds == 0;
        if (r->u.count >= MOST_ITERATIONS)
            onnx_fatal(c, "runs more than %d times\nhint: export a shorter loop", MOST_ITERATIONS);
        iterate(c, r);
    }
    return true;
}

static void give_written(OnnxCall *c, const LoopRun *r) {
    int n_state = r->u.n_state;
    for (int i = 0; i < (int)c->proto->n_output; i++)
        onnx_result_value(
            c, i,
            i < n_state ? r->u.state[i] : onnx_value_of(joined(c, &r->u, i - n_state, 0, false)));
}

// How many elements a result has that only the run knows: --max bounds it by the name of the first
// such result.
static const Dim *data_dependent_length(OnnxCall *c, const LoopRun *r) {
    const char *name = (int)c->proto->n_output > r->u.n_state ? c->proto->output[r->u.n_state] : "";
    return onnx_data_dependent_size(
        c, arena_printf(c->graph->arena, "%s_length", *name ? name : "loop"), r->bound);
}

static bool varies(const Type *t, const Dim *counter) {
    for (int i = 0; i < t->rank; i++)
        if (dim_has_symbol(t->dim[i], counter)) return true;
    return false;
}

// The outputs of the body, if they have the types that the core requires; else the mismatch.
static const char *add_outputs(OnnxBody *b, const LoopRun *r, OnnxValue **results,
                               const Dim *counter, bool asks) {
    OnnxCall *inside = &b->call;
    Graph *g = inside->graph;
    for (int i = asks ? 0 : 1; i < (int)r->u.body->n_output; i++) {
        if (results[i]->is_sequence || results[i]->is_nothing) return "a list";
        graph_add_output(
            g, i ? onnx_value_node(inside, results[i]) : condition_node(inside, results[i]),
            "result");
        const Node *n = g->outputs[g->n_outputs - 1];
        if (i > 0 && i <= r->u.n_state && !type_equal(&n->type, &b->taken[i - 1]->type))
            return type_text(&n->type);
        if (varies(&n->type, counter)) return type_text(&n->type);
    }
    return NULL;
}

static bool states_are_tensors(const LoopRun *r) {
    for (int i = 0; i < r->u.n_state; i++)
        if (r->u.state[i]->is_sequence || r->u.state[i]->is_nothing) return false;
    return true;
}

static OnnxLoop loop_bounds(OnnxCall *c, const LoopRun *r, bool asks) {
    const Dim *unbounded = dim_const(c->graph, INT32_MAX);
    bool open = asks || (!r->bound && onnx_operand(c, 0));
    OnnxLoop l = {.extent = r->bound && dim_upper(r->bound) < INT32_MAX ? r->bound : unbounded};
    l.length = open && r->u.n_scan ? data_dependent_length(c, r) : l.extent;
    if (l.length != l.extent) l.extent = dim_const(c->graph, dim_upper(l.length));
    if (!r->bound && onnx_operand(c, 0))
        l.most = onnx_reshape(c, onnx_node(c, 0), &(Type){.dtype = DT_i64});
    return l;
}

// --- loops that count: `while (i < n)` of TensorFlow, with no trip count
static const Node *without_casts(const Node *n) {
    while (n->op == OP_cast || n->op == OP_reshape) n = n->in[0];
    return n;
}

static bool is_number(OnnxCall *c, const Node *n, int64_t *number) {
    const Tensor *t = onnx_value_known(c, onnx_value_of((Node *)(uintptr_t)n));
    double x = t && tensor_count(t) == 1 ? dtype_load(t->dtype, t->data, 0) : NAN;
    if (!(fabs(x) < INT32_MAX) || x != floor(x)) return false;
    *number = (int64_t)x;
    return true;
}

// The outer value of a body's input that no iteration changes, or NULL.
static const Node *unchanged(OnnxBody *b, const Node *n, OnnxValue *const *out) {
    const Graph *g = b->call.graph;
    int i = 0;
    while (i < g->n_inputs && g->inputs[i] != n) i++;
    if (i == g->n_inputs) return NULL;
    return i >= b->n_states || out[1 + i]->node == n ? b->taken[i] : NULL;
}

// The state whose next value is itself + 1, with that next value in `n`; -1: none.
static int counting_state(OnnxBody *b, const Node *n, OnnxValue *const *out) {
    const Graph *g = b->call.graph;
    int64_t one;
    for (int i = 0; n->op == OP_add && i < b->n_states; i++) {
        const Node *next = out[1 + i]->node;
        for (int j = 0; next && without_casts(next) == n && j < 2; j++)
            if (n->in[j] == g->inputs[i] && is_number(&b->call, n->in[1 - j], &one) && one == 1)
                return i;
    }
    return -1;
}

// Returns true if the condition before the first iteration is first < end, and holds.
static bool holds_first(OnnxCall *c, const LoopRun *r, int64_t first, const Dim *end) {
    int64_t from;
    if (truth_of(c, r->condition) == 1) return true;
    const Node *n = r->condition->node ? without_casts(r->condition->node) : NULL;
    if (!n || n->op != OP_less || dim_lower(end) <= first) return false;
    const Node *size = without_casts(n->in[1]);
    return is_number(c, without_casts(n->in[0]), &from) && from == first && size->op == OP_size &&
           attr_dim(size, "dims") == end;
}

// The number of iterations of a loop that runs while a state, which every iteration adds 1 to, is
// below a size. NULL: it is none.
static const Dim *counted_iterations(OnnxCall *c, OnnxBody *b, const LoopRun *r,
                                     OnnxValue *const *out) {
    int64_t first, last;
    const Node *n = out[0]->node ? without_casts(out[0]->node) : NULL;
    if (!n || n->op != OP_less || onnx_operand(c, 0)) return NULL;
    const Node *end = unchanged(b, without_casts(n->in[1]), out);
    int state = counting_state(b, without_casts(n->in[0]), out);
    if (!end || state < 0 || !is_number(c, b->taken[state], &first)) return NULL;
    end = without_casts(end);
    int count;
    const Dim *size = is_number(c, end, &last) ? dim_const(c->graph, last)
                      : end->op == OP_size && attr_dims(end, "dims", &count) && count == 1
                          ? attr_dim(end, "dims")
                          : NULL;
    if (!size || !holds_first(c, r, first, size)) return NULL;
    return dim_sub(c->graph, size, dim_const(c->graph, first));
}

// As the core's loop. Returns NULL, or the type that a result has which must not have it.
static const char *run_loop(OnnxCall *c, LoopRun *r) {
    OnnxBody *b = onnx_body_new(c, "body");
    Unrolled *u = &r->u;
    OnnxValue **in = ARENA_ARRAY(c->graph->arena, OnnxValue *, u->n_state + 2),
              **out = ARENA_ARRAY(c->graph->arena, OnnxValue *, u->body->n_output + 1);
    const Dim *counter = onnx_counter(c, r->bound ? r->bound : dim_const(c->graph, INT32_MAX));
    if (!states_are_tensors(r)) return "a list";
    for (int i = 0; i < u->n_state; i++)
        in[2 + i] = onnx_value_of(onnx_body_state(b, onnx_value_node(c, u->state[i])));
    in[0] = number_value(&b->call, DT_i64, counter),
    in[1] = number_value(&b->call, DT_bool, dim_const(c->graph, 1));
    onnx_write_in(&b->scope, &b->call, u->body, in, out);
    const Dim *counted = counted_iterations(c, b, r, out);
    if (counted) r->bound = counted;
    bool asks = !counted && (truth_of(c, r->condition) != 1 || truth_of(&b->call, out[0]) != 1);
    if (!asks && !counted && !onnx_operand(c, 0))
        onnx_fatal(c,
                   "never ends: it has no trip count, and its condition always holds\nhint: the "
                   "file is damaged, or its "
                   "exporter is wrong");
    const char *wrong = add_outputs(b, r, out, counter, asks);
    if (wrong) return wrong;
    OnnxLoop l = loop_bounds(c, r, asks);
    l.counter = counter, l.condition = asks ? condition_node(c, r->condition) : NULL;
    Node *made = onnx_body_loop(b, &l);
    for (int i = 0; i < (int)c->proto->n_output; i++)
        onnx_result(c, i, onnx_tuple_item(c, made, i));
    return NULL;
}

void onnx_loop(OnnxCall *c, int argument) {
    (void)argument;
    const BurinOnnx__GraphBody *body = onnx_body(c, "body");
    int n_state = onnx_count(c) - 2, n_scan = (int)body->n_output - 1 - n_state;
    if (n_state < 0) n_state = 0, n_scan = (int)body->n_output - 1;
    if ((int)body->n_input != n_state + 2 || n_scan < 0 ||
        (int)c->proto->n_output > n_state + n_scan)
        onnx_fatal(c,
                   "carries %d values and has %zu results; its body takes %zu and gives %zu\nhint: "
                   "the file is damaged",
                   n_state, c->proto->n_output, body->n_input, body->n_output);
    LoopRun r = {.u = unrolled_new(c, body, n_state, n_scan)}, again;
    OnnxValue *condition = onnx_operand(c, 1);
    for (int i = 0; i < n_state; i++)
        if (!(r.u.state[i] = onnx_operand(c, 2 + i))) onnx_fatal(c, "operand %d is missing", 2 + i);
    r.condition = condition ? condition : number_value(c, DT_bool, dim_const(c->graph, 1));
    read_trip_count(c, &r);
    again = r, again.u = unrolled_new(c, body, n_state, n_scan);
    memcpy(again.u.state, r.u.state, (size_t)n_state * sizeof *r.u.state);
    bool few = r.most >= 0 && r.most <= FEW_ITERATIONS;
    if (few && write_out_iterations(c, &r)) return give_written(c, &r);
    const char *wrong = run_loop(c, &again);
    if (!wrong) return;
    bool ends = !few && (r.most >= 0 || !onnx_operand(c, 0));
    if (!ends || !write_out_iterations(c, &r))
        onnx_fatal(
            c,
            "only the run knows how often it runs, and a value that it carries or scans becomes "
            "%s\n"
            "hint: fix the dimension that says it with --dim, or export a loop of a known length",
            wrong);
    give_written(c, &r);
}

// -------------------------------------------------------------------------------------------- Scan
typedef struct ScanSpec {
    const BurinOnnx__GraphBody *body;
    int first, n_state, n_in, n_out;  // operands: states from `first`, then scanned ones
    const int64_t *in_axes, *out_axes, *in_directions, *out_directions;  // NULL: all zero
} ScanSpec;

static const int64_t *scan_list(OnnxCall *c, const char *name, int count) {
    int n;
    const int64_t *list = onnx_ints(c, name, &n);
    if (list && n && n != count) onnx_fatal(c, "%s has %d elements, expected %d", name, n, count);
    return n ? list : NULL;
}

static ScanSpec scan_spec(OnnxCall *c) {
    ScanSpec s = {.body = onnx_body(c, "body"), .first = c->opset < 9};
    int64_t n_in = onnx_int(c, "num_scan_inputs", 0);
    int total = onnx_count(c) - s.first;
    if (n_in < 1 || n_in > total || (int)s.body->n_input != total)
        onnx_fatal(c, "num_scan_inputs is %lld, it has %d operands, its body %zu inputs",
                   (long long)n_in, total, s.body->n_input);
    s.n_in = (int)n_in, s.n_state = total - s.n_in, s.n_out = (int)s.body->n_output - s.n_state;
    if (s.n_out < 0 || c->proto->n_output != s.body->n_output)
        onnx_fatal(c, "has %zu results, its body %zu", c->proto->n_output, s.body->n_output);
    s.in_axes = scan_list(c, "scan_input_axes", s.n_in),
    s.out_axes = scan_list(c, "scan_output_axes", s.n_out);
    s.in_directions = scan_list(c, c->opset < 9 ? "directions" : "scan_input_directions", s.n_in);
    s.out_directions = scan_list(c, "scan_output_directions", s.n_out);
    return s;
}

static Node *without_axis(OnnxCall *c, Node *x, int axis, const Dim *at) {
    Node *one = onnx_slice_at(c, x, axis, at, dim_const(c->graph, 1));
    Type t = one->type;
    for (int i = axis; i + 1 < t.rank; i++) t.dim[i] = t.dim[i + 1];
    t.rank--;
    return onnx_reshape(c, one, &t);
}

static int scan_axis(OnnxCall *c, const ScanSpec *s, int i, const Node *x) {
    return onnx_axis(c, s->in_axes ? s->in_axes[i] : 0, x->type.rank);
}

static const Dim *scan_length(OnnxCall *c, const ScanSpec *s, Node *const *operands) {
    const Dim *length = NULL;
    for (int i = 0; i < s->n_in; i++) {
        const Node *x = operands[s->n_state + i];
        const Dim *n = x->type.dim[scan_axis(c, s, i, x)];
        if (length && n != length)
            onnx_fatal(c, "its operands have %s and %s elements to scan", dim_text(length),
                       dim_text(n));
        length = n;
    }
    return length;
}

// The first axis moved to where it was asked for.
static Node *axis_moved(OnnxCall *c, Node *x, int64_t to) {
    int64_t perm[MAX_RANK], at = 1;
    to = onnx_axis(c, to, x->type.rank);
    for (int i = 0; i < x->type.rank; i++) perm[i] = i == to ? 0 : at++;
    return to ? onnx_permute(c, x, perm) : x;
}

// All iterations over the given operands; results: states, then scanned ones.
static void scan(OnnxCall *c, const ScanSpec *s, Node *const *operands, Node **results) {
    const Dim *length = scan_length(c, s, operands), *counter = onnx_counter(c, length);
    const Dim *backward =
        dim_sub(c->graph, dim_sub(c->graph, length, dim_const(c->graph, 1)), counter);
    OnnxBody *b = onnx_body_new(c, "body");
    OnnxCall *inside = &b->call;
    OnnxValue **in = ARENA_ARRAY(c->graph->arena, OnnxValue *, s->n_state + s->n_in + 1),
              **out = ARENA_ARRAY(c->graph->arena, OnnxValue *, s->body->n_output + 1);
    for (int i = 0; i < s->n_state; i++) in[i] = onnx_value_of(onnx_body_state(b, operands[i]));
    for (int i = 0; i < s->n_in; i++) {
        Node *x = onnx_body_value(b, operands[s->n_state + i]);
        const Dim *at = s->in_directions && s->in_directions[i] ? backward : counter;
        in[s->n_state + i] = onnx_value_of(without_axis(inside, x, scan_axis(c, s, i, x), at));
    }
    onnx_write_in(&b->scope, inside, s->body, in, out);
    for (int i = 0; i < s->n_state + s->n_out; i++)
        graph_add_output(inside->graph, onnx_value_node(inside, out[i]), "result");
    Node *made =
        onnx_body_loop(b, &(OnnxLoop){.counter = counter, .extent = length, .length = length});
    for (int i = 0; i < s->n_state + s->n_out; i++) results[i] = onnx_tuple_item(c, made, i);
    for (int i = 0; i < s->n_out; i++) {
        Node **y = &results[s->n_state + i];
        if (s->out_directions && s->out_directions[i]) *y = onnx_reverse(c, *y, 0);
        *y = axis_moved(c, *y, s->out_axes ? s->out_axes[i] : 0);
    }
}

// Opset 8: every operand has a batch axis first, and each of the batch is scanned alone.
static void scan_batch(OnnxCall *c, const ScanSpec *s, Node *const *operands, Node **results) {
    int n = s->n_state + s->n_in, n_results = (int)s->body->n_output;
    if (onnx_operand(c, 0))
        onnx_fatal(c,
                   "sequences of different lengths are not supported\nhint: leave operand 0 out");
    int64_t batch = onnx_extent(c, operands[0], onnx_axis(c, 0, operands[0]->type.rank));
    if (batch < 1 || batch > MOST_ITERATIONS)
        onnx_fatal(c, "scans a batch of %lld, expected 1 to %d", (long long)batch, MOST_ITERATIONS);
    Node **one = ARENA_ARRAY(c->graph->arena, Node *, n + 1),
         **all = ARENA_ARRAY(c->graph->arena, Node *, batch * (n_results + 1));
    for (int64_t b = 0; b < batch; b++) {
        Node **of_batch = ARENA_ARRAY(c->graph->arena, Node *, n_results + 1);
        for (int i = 0; i < n; i++) {
            if (!operands[i]->type.rank) onnx_fatal(c, "operand %d has no batch axis", i + 1);
            one[i] = without_axis(c, operands[i], 0, dim_const(c->graph, b));
        }
        scan(c, s, one, of_batch);
        for (int i = 0; i < n_results; i++) all[i * batch + b] = with_axis(c, of_batch[i], 0);
    }
    for (int i = 0; i < n_results; i++) results[i] = onnx_join(c, all + i * batch, (int)batch, 0);
}

void onnx_scan(OnnxCall *c, int argument) {
    (void)argument;
    ScanSpec s = scan_spec(c);
    int n = s.n_state + s.n_in;
    Node **operands = ARENA_ARRAY(c->graph->arena, Node *, n + 1);
    Node **results = ARENA_ARRAY(c->graph->arena, Node *, s.body->n_output + 1);
    for (int i = 0; i < n; i++) operands[i] = onnx_node(c, s.first + i);
    if (s.first)
        scan_batch(c, &s, operands, results);
    else
        scan(c, &s, operands, results);
    for (size_t i = 0; i < s.body->n_output; i++) onnx_result(c, (int)i, results[i]);
}
