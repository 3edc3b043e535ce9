// If, Loop, Scan: bodies are written out in place, once for each iteration.
//
//   If      the branch that is taken, when that is known; else both, and `where` chooses their results
//   Loop    as often as its trip count says, while its condition is known to hold; when only the count is known, every
//           iteration, and `where` keeps the values from before once the condition failed
//   Scan    one iteration for each element of the scanned axis
//
// What cannot be written out (a count that only the run knows) is refused with the reason.
#include <string.h>

#include "frontend/onnx/compose.h"
#include "frontend/onnx/scope.h"
#include "ir/convert.h"

enum { MOST_ITERATIONS = 65536 };

// --------------------------------------------------------------------------------------------------------------------- values
static OnnxValue *node_value(OnnxCall *c, Node *n) {
    OnnxValue *v = ARENA_NEW(c->graph->arena, OnnxValue);
    v->node = n;
    return v;
}

static OnnxValue *number_value(OnnxCall *c, DType t, int64_t x) {
    const Dim **element = ARENA_ARRAY(c->graph->arena, const Dim *, 1);
    OnnxValue *v = ARENA_NEW(c->graph->arena, OnnxValue);
    element[0] = dim_const(c->graph, x);
    *v = (OnnxValue){.elements = element, .n = 1, .dtype = t};
    return v;
}

// -1: only known at run time
static int truth_of(OnnxCall *c, const OnnxValue *v) {
    int64_t x;
    if (!v->node && v->elements) return v->n == 1 && dim_is_const(v->elements[0], &x) ? x != 0 : -1;
    const Tensor *t = onnx_value_known(c, v);
    if (!t) return -1;
    if (t->dtype != DT_bool || tensor_count(t) != 1) onnx_fatal(c, "its condition must be one bool");
    return dtype_load(t->dtype, t->data, 0) != 0;
}

static Node *condition_node(OnnxCall *c, OnnxValue *v) {
    Node *n = onnx_value_node(c, v);
    if (n->type.dtype != DT_bool) onnx_fatal(c, "its condition is %s, expected one bool", type_text(&n->type));
    return n->type.rank ? onnx_reshape(c, n, &(Type){.dtype = DT_bool}) : n;
}

static bool same_elements(const OnnxValue *a, const OnnxValue *b) {
    if (a->node || b->node || !a->elements || !b->elements || a->n != b->n || a->vector != b->vector) return false;
    return !memcmp(a->elements, b->elements, (size_t)a->n * sizeof *a->elements);
}

static OnnxValue *choose(OnnxCall *c, Node *condition, OnnxValue *yes, OnnxValue *no) {
    if (yes == no || same_elements(yes, no)) return yes;
    Node *a = onnx_value_node(c, yes), *b = onnx_value_node(c, no);
    if (a == b) return yes;
    if (!type_equal(&a->type, &b->type))
        onnx_fatal(c, "gives %s or %s, and which is only known at run time\nhint: fix the input that decides with --set",
                   type_text(&a->type), type_text(&b->type));
    return node_value(c, onnx_emit(c, OP_where, 3, (Node *[]){condition, a, b}));
}

// ------------------------------------------------------------------------------------------------------------------------- If
static OnnxValue **branch(OnnxCall *c, const char *name) {
    const BurinOnnx__GraphBody *g = onnx_body(c, name);
    if (g->n_output != c->proto->n_output || g->n_input)
        onnx_fatal(c, "%s has %zu inputs and %zu results, expected 0 and %zu", name, g->n_input, g->n_output,
                   c->proto->n_output);
    OnnxValue **results = ARENA_ARRAY(c->graph->arena, OnnxValue *, g->n_output + 1);
    onnx_write_out(c, g, NULL, results);
    return results;
}

void onnx_if(OnnxCall *c, int argument) {
    (void)argument;
    OnnxValue *condition = onnx_operand(c, 0);
    if (!condition) onnx_fatal(c, "its condition is missing");
    int taken = truth_of(c, condition);
    OnnxValue **yes = taken != 0 ? branch(c, "then_branch") : NULL, **no = taken != 1 ? branch(c, "else_branch") : NULL;
    for (size_t i = 0; i < c->proto->n_output; i++)
        onnx_result_value(c, (int)i, !no ? yes[i] : !yes ? no[i] : choose(c, condition_node(c, condition), yes[i], no[i]));
}

// ------------------------------------------------------------------------------------------------------------------ iterations
// What an iteration gives besides its state: one list a result, joined along an axis at the end.
typedef struct Unrolled {
    const BurinOnnx__GraphBody *body;
    int n_state, n_scan;
    OnnxValue **state;  // current
    Node ***scanned;    // [n_scan][iterations so far]
    int count, capacity;
} Unrolled;

static Unrolled unrolled_new(OnnxCall *c, const BurinOnnx__GraphBody *body, int n_state, int n_scan) {
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
    if (t.rank >= MAX_RANK) onnx_fatal(c, "its results have too many dimensions");
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
    if (!u->count) return nothing_scanned(c, u->body->output[u->body->n_output - (size_t)(u->n_scan - which)]);
    Node **list = ARENA_ARRAY(c->graph->arena, Node *, u->count);
    int axis = onnx_axis(c, axis_given, u->scanned[which][0]->type.rank + 1);
    for (int i = 0; i < u->count; i++) list[backward ? u->count - 1 - i : i] = with_axis(c, u->scanned[which][i], axis);
    return onnx_join(c, list, u->count, axis);
}

// ----------------------------------------------------------------------------------------------------------------------- Loop
typedef struct LoopRun {
    Unrolled u;
    OnnxValue *condition;
    Node *active;  // NULL: it holds, as far as one has come
    int64_t most;  // -1: no trip count
} LoopRun;

static int64_t trip_count(OnnxCall *c) {
    const OnnxValue *v = onnx_operand(c, 0);
    const Dim *const *elements;
    int64_t count = -1;
    int n;
    if (!v) return -1;
    const Tensor *t = onnx_elements(c, 0, &elements, &n) ? NULL : onnx_value_known(c, v);
    if (t && tensor_count(t) == 1)
        count = (int64_t)dtype_load(t->dtype, t->data, 0);
    else if (t || !v->elements || n != 1 || !dim_is_const(elements[0], &count))
        onnx_fatal(c,
                   "how often it runs is only known at run time\nhint: fix the input or dimension that says it (--set, --dim)");
    return count < 0 ? 0 : count;
}

static void iterate(OnnxCall *c, LoopRun *r) {
    Unrolled *u = &r->u;
    Arena *arena = c->graph->arena;
    OnnxValue **in = ARENA_ARRAY(arena, OnnxValue *, u->n_state + 2),
              **out = ARENA_ARRAY(arena, OnnxValue *, u->body->n_output + 1);
    in[0] = number_value(c, DT_i64, u->count), in[1] = r->condition;
    for (int i = 0; i < u->n_state; i++) in[2 + i] = u->state[i];
    onnx_write_out(c, u->body, in, out);
    for (int i = 0; i < u->n_state; i++) u->state[i] = r->active ? choose(c, r->active, out[1 + i], u->state[i]) : out[1 + i];
    keep_scanned(c, u, out + 1 + u->n_state);
    r->condition = out[0];
}

// Whether another iteration may run; sets what it depends on.
static bool goes_on(OnnxCall *c, LoopRun *r) {
    if (r->most >= 0 && r->u.count >= r->most) return false;
    int holds = truth_of(c, r->condition);
    if (holds == 0) return false;
    if (r->u.count >= MOST_ITERATIONS) onnx_fatal(c, "runs more than %d times\nhint: export a shorter loop", MOST_ITERATIONS);
    if (holds == 1) return true;
    if (r->most < 0 || r->u.n_scan)
        onnx_fatal(c,
                   "whether it goes on after %d iterations is only known at run time\nhint: fix the input that decides with"
                   " --set",
                   r->u.count);
    Node *condition = condition_node(c, r->condition);
    r->active = r->active ? ONNX_BINARY(c, OP_and, r->active, condition) : condition;
    return true;
}

void onnx_loop(OnnxCall *c, int argument) {
    (void)argument;
    const BurinOnnx__GraphBody *body = onnx_body(c, "body");
    int n_state = onnx_count(c) - 2, n_scan = (int)body->n_output - 1 - n_state;
    if (n_state < 0) n_state = 0, n_scan = (int)body->n_output - 1;
    if ((int)body->n_input != n_state + 2 || n_scan < 0 || (int)c->proto->n_output > n_state + n_scan)
        onnx_fatal(c, "carries %d values and has %zu results; its body takes %zu and gives %zu\nhint: the file is damaged",
                   n_state, c->proto->n_output, body->n_input, body->n_output);
    LoopRun r = {.u = unrolled_new(c, body, n_state, n_scan), .most = trip_count(c)};
    OnnxValue *condition = onnx_operand(c, 1);
    for (int i = 0; i < n_state; i++)
        if (!(r.u.state[i] = onnx_operand(c, 2 + i))) onnx_fatal(c, "operand %d is missing", 2 + i);
    r.condition = condition ? condition : number_value(c, DT_bool, 1);
    while (goes_on(c, &r)) iterate(c, &r);
    for (int i = 0; i < (int)c->proto->n_output; i++)
        onnx_result_value(c, i, i < n_state ? r.u.state[i] : node_value(c, joined(c, &r.u, i - n_state, 0, false)));
}

// ----------------------------------------------------------------------------------------------------------------------- Scan
typedef struct ScanSpec {
    const BurinOnnx__GraphBody *body;
    int first, n_state, n_in, n_out;  // operands: states from `first`, then scanned ones
    int64_t length;
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
        onnx_fatal(c, "num_scan_inputs is %lld, it has %d operands, its body %zu inputs", (long long)n_in, total,
                   s.body->n_input);
    s.n_in = (int)n_in, s.n_state = total - s.n_in, s.n_out = (int)s.body->n_output - s.n_state;
    if (s.n_out < 0 || c->proto->n_output != s.body->n_output)
        onnx_fatal(c, "has %zu results, its body %zu", c->proto->n_output, s.body->n_output);
    s.in_axes = scan_list(c, "scan_input_axes", s.n_in), s.out_axes = scan_list(c, "scan_output_axes", s.n_out);
    s.in_directions = scan_list(c, c->opset < 9 ? "directions" : "scan_input_directions", s.n_in);
    s.out_directions = scan_list(c, "scan_output_directions", s.n_out);
    return s;
}

static Node *without_axis(OnnxCall *c, Node *x, int axis, int64_t at) {
    Node *one = onnx_slice_from(c, x, axis, at, 1);
    Type t = one->type;
    for (int i = axis; i + 1 < t.rank; i++) t.dim[i] = t.dim[i + 1];
    t.rank--;
    return onnx_reshape(c, one, &t);
}

// All iterations over the operands given; results: states, then what is scanned.
static void scan(OnnxCall *c, const ScanSpec *s, Node *const *operands, Node **results) {
    Unrolled u = unrolled_new(c, s->body, s->n_state, s->n_out);
    OnnxValue **in = ARENA_ARRAY(c->graph->arena, OnnxValue *, s->n_state + s->n_in + 1);
    OnnxValue **out = ARENA_ARRAY(c->graph->arena, OnnxValue *, s->body->n_output + 1);
    int64_t length = -1;
    for (int i = 0; i < s->n_in; i++) {
        Node *x = operands[s->n_state + i];
        int64_t n = onnx_extent(c, x, onnx_axis(c, s->in_axes ? s->in_axes[i] : 0, x->type.rank));
        if (length >= 0 && n != length)
            onnx_fatal(c, "its operands have %lld and %lld elements to scan", (long long)length, (long long)n);
        length = n;
    }
    if (length > MOST_ITERATIONS) onnx_fatal(c, "runs more than %d times\nhint: export a shorter sequence", MOST_ITERATIONS);
    for (int i = 0; i < s->n_state; i++) u.state[i] = node_value(c, operands[i]);
    for (int64_t t = 0; t < length; t++) {
        for (int i = 0; i < s->n_state; i++) in[i] = u.state[i];
        for (int i = 0; i < s->n_in; i++) {
            Node *x = operands[s->n_state + i];
            bool backward = s->in_directions && s->in_directions[i];
            int axis = onnx_axis(c, s->in_axes ? s->in_axes[i] : 0, x->type.rank);
            in[s->n_state + i] = node_value(c, without_axis(c, x, axis, backward ? length - 1 - t : t));
        }
        onnx_write_out(c, s->body, in, out);
        for (int i = 0; i < s->n_state; i++) u.state[i] = out[i];
        keep_scanned(c, &u, out + s->n_state);
    }
    for (int i = 0; i < s->n_state; i++) results[i] = onnx_value_node(c, u.state[i]);
    for (int i = 0; i < s->n_out; i++)
        results[s->n_state + i] = joined(c, &u, i, s->out_axes ? s->out_axes[i] : 0, s->out_directions && s->out_directions[i]);
}

// Opset 8: every operand has a batch axis first, and each of the batch is scanned alone.
static void scan_batch(OnnxCall *c, const ScanSpec *s, Node *const *operands, Node **results) {
    int n = s->n_state + s->n_in, n_results = (int)s->body->n_output;
    if (onnx_operand(c, 0)) onnx_fatal(c, "sequences of different lengths are not supported");
    int64_t batch = onnx_extent(c, operands[0], onnx_axis(c, 0, operands[0]->type.rank));
    if (batch < 1 || batch > MOST_ITERATIONS) onnx_fatal(c, "a batch of %lld", (long long)batch);
    Node **one = ARENA_ARRAY(c->graph->arena, Node *, n + 1),
         **all = ARENA_ARRAY(c->graph->arena, Node *, batch * (n_results + 1));
    for (int64_t b = 0; b < batch; b++) {
        Node **of_batch = ARENA_ARRAY(c->graph->arena, Node *, n_results + 1);
        for (int i = 0; i < n; i++) {
            if (!operands[i]->type.rank) onnx_fatal(c, "operand %d has no batch axis", i + 1);
            one[i] = without_axis(c, operands[i], 0, b);
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
