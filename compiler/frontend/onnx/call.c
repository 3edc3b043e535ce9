// The interface of a handler: operands, attributes, results.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/scope.h"
#include "ir/index.h"

// ---------------------------------------------------------------------------------------- messages
void onnx_fatal(const OnnxCall *c, const char *format, ...) {
    Text text = {0};
    if (c->proto) text_spell(&text, "%s: ", c->proto->op_type);
    va_list args;
    va_start(args, format);
    text_vspell(&text, format, args);
    va_end(args);
    const char *message = arena_strdup(c->import->model->arena, text.data);
    text_free(&text);
    diag_fatal(c->loc, "%-s", message);
}

// ------------------------------------------------------------------------------ notes and warnings
typedef struct OnnxNote {
    struct OnnxNote *next;
    bool is_warning;
    Loc loc;
    const char *text;
} OnnxNote;

static void print_note(const OnnxNote *n) {
    if (n->is_warning)
        diag_warning(n->loc, "%-s", n->text);
    else
        diag_note(n->loc, "%-s", n->text);
}

static void say(const OnnxCall *c, bool is_warning, const char *format, va_list args) {
    OnnxSaid *said = c->import->said;
    Arena *arena = said ? said->arena : c->import->model->arena;
    Text text = {0};
    text_vspell(&text, format, args);
    OnnxNote *n = ARENA_NEW(arena, OnnxNote);
    *n =
        (OnnxNote){.is_warning = is_warning, .loc = c->loc, .text = arena_strdup(arena, text.data)};
    text_free(&text);
    if (!said) return print_note(n);
    *(said->next ? said->next : &said->first) = n;
    said->next = &n->next;
}

void onnx_note(const OnnxCall *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(c, false, format, args);
    va_end(args);
}

void onnx_warning(const OnnxCall *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(c, true, format, args);
    va_end(args);
}

void onnx_tell(const OnnxSaid *said) {
    for (const OnnxNote *n = said->first; n; n = n->next) print_note(n);
}

// ---------------------------------------------------------------------------------------- operands
int onnx_count(const OnnxCall *c) { return (int)c->proto->n_input; }

OnnxValue *onnx_operand(OnnxCall *c, int i) {
    if (i >= onnx_count(c) || !*c->proto->input[i]) return NULL;
    OnnxValue *v = onnx_value(c->import, c->proto->input[i]);
    return v->absent ? NULL : v;
}

static Type elements_type(const OnnxCall *c, const OnnxValue *v) {
    return (Type){.dtype = v->dtype,
                  .rank = v->vector,
                  .dim = {v->vector ? dim_const(c->graph, v->n) : NULL}};
}

static Node *elements_node(OnnxCall *c, const OnnxValue *v) {
    Node *n = node_make(c->graph, OP_size, c->loc, 0, NULL, NULL);
    attr_set_dims(n, "dims", v->elements, v->n);
    attr_set_int(n, "vector", v->vector);
    n = onnx_finish(c, n);
    return n->type.dtype == v->dtype ? n : onnx_cast(c, n, v->dtype);
}

static void check_tensor(const OnnxCall *c, const OnnxValue *v) {
    if (v->is_sequence || v->is_nothing)
        onnx_fatal(c, "takes tensors, not a %s",
                   v->is_sequence ? "sequence" : "value that is not there");
}

Node *onnx_value_node(OnnxCall *c, OnnxValue *v) {
    check_tensor(c, v);
    if (!v->node) v->node = elements_node(c, v);
    return v->node;
}

OnnxValue *onnx_value_of(Node *n) {
    OnnxValue *v = ARENA_NEW(n->graph->arena, OnnxValue);
    v->node = n;
    return v;
}

Node *onnx_node(OnnxCall *c, int i) {
    OnnxValue *v = onnx_operand(c, i);
    if (!v) onnx_fatal(c, "operand %d is missing", i);
    return onnx_value_node(c, v);
}

Node *onnx_optional_node(OnnxCall *c, int i) { return onnx_operand(c, i) ? onnx_node(c, i) : NULL; }

Type onnx_type(OnnxCall *c, int i) {
    const OnnxValue *v = onnx_operand(c, i);
    if (!v) onnx_fatal(c, "operand %d is missing", i);
    check_tensor(c, v);
    return v->node ? v->node->type : elements_type(c, v);
}

static int64_t integer_at(const Tensor *t, int64_t i) {
    switch (t->dtype) {
        case DT_i64: {
            int64_t x;
            memcpy(&x, (const char *)t->data + 8 * i, 8);
            return x;
        }
        case DT_i32: {
            int32_t x;
            memcpy(&x, (const char *)t->data + 4 * i, 4);
            return x;
        }
        default:
            return ((const uint8_t *)t->data)[i];
    }
}

static void know_tensor(OnnxCall *c, OnnxValue *v, const Tensor *t) {
    if (!t || t->rank > 1 || (t->dtype != DT_i64 && t->dtype != DT_i32 && t->dtype != DT_bool))
        return;
    int64_t n = tensor_count(t);
    if (n > ONNX_MAX_KNOWN) return;
    const Dim **elements = ARENA_ARRAY(c->graph->arena, const Dim *, n ? n : 1);
    for (int64_t i = 0; i < n; i++) elements[i] = dim_const(c->graph, integer_at(t, i));
    v->elements = elements, v->n = (int)n, v->vector = t->rank == 1, v->dtype = t->dtype;
}

// A short list of integers whose elements are expressions of the dimensions, whatever nodes compute
// them.
static void know_by_index(OnnxCall *c, OnnxValue *v) {
    enum { LONGEST = 16 };
    const Type *t = &v->node->type;
    int64_t n = 1;
    if (t->rank > 1 || (t->dtype != DT_i64 && t->dtype != DT_i32 && t->dtype != DT_bool)) return;
    if (t->rank && (!dim_is_const(t->dim[0], &n) || n > LONGEST)) return;
    const Dim **elements = ARENA_ARRAY(c->graph->arena, const Dim *, n ? n : 1);
    for (int64_t i = 0; i < n; i++) {
        const Dim *at = dim_const(c->graph, i);
        if (!(elements[i] = index_value(v->node, &at))) return;
    }
    v->elements = elements, v->n = (int)n, v->vector = t->rank == 1, v->dtype = t->dtype;
}

bool onnx_elements(OnnxCall *c, int i, const Dim *const **elements, int *n) {
    OnnxValue *v = onnx_operand(c, i);
    if (!v) return false;
    if (!v->elements) know_tensor(c, v, v->node ? v->node->value : NULL);
    if (!v->elements && v->node && v->node->op != OP_constant) know_by_index(c, v);
    *elements = v->elements, *n = v->n;
    return v->elements;
}

// Returns true if the value depends on an input's elements, not only on its size. Visits each node
// once.
static bool holds_data(const Node *n, Map *seen, Arena *arena, int depth) {
    enum { DEEPEST = 4096 };
    const char *key = arena_printf(arena, "%p", (const void *)n);
    if (n->op == OP_input) return true;
    if (depth == DEEPEST || map_get(seen, key)) return false;
    map_put(seen, key, (void *)(uintptr_t)n);
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && holds_data(n->in[i], seen, arena, depth + 1)) return true;
    return false;
}

static const char *way_out(OnnxCall *c, int i) {
    const OnnxValue *v = onnx_operand(c, i);
    Map seen;
    map_init(&seen, c->graph->arena);
    if (!v || !v->node || !holds_data(v->node, &seen, c->graph->arena, 0))
        return "fix the dimensions it depends on with --dim";
    return "it depends on what the inputs hold, and no --dim decides it: export the model with "
           "sizes that do not, a mixture of "
           "experts with all of its experts computed";
}

static const Node *without_views(const Node *n) {
    while (n->op == OP_cast || n->op == OP_reshape) n = n->in[0];
    return n;
}

// The sum of a tensor of truths, x[x > 0] = 0 has it as a shape: the size of its list of indices,
// where the file has one.
static const Dim *count_of_truths(const OnnxCall *c, const Node *n) {
    n = without_views(n);
    const Node *x = n->op == OP_reduce_sum ? without_views(n->in[0]) : NULL;
    if (!x || x->type.dtype != DT_bool || type_count(c->graph, &n->type) != dim_const(c->graph, 1))
        return NULL;
    for (const Node *m = c->graph->first; m; m = m->next) {
        int count;
        if (m->op == OP_nonzero && without_views(m->in[0]) == x)
            return *attr_dims(m, "extent", &count);
    }
    return NULL;
}

static bool know_count(OnnxCall *c, const OnnxValue *operand, OnnxValue *v) {
    const Dim *count = operand && operand->node ? count_of_truths(c, operand->node) : NULL;
    if (!count) return false;
    const Dim **elements = ARENA_ARRAY(c->graph->arena, const Dim *, 1);
    *elements = count, v->elements = elements, v->n = 1;
    return true;
}

// As onnx_elements, also where constants and fixed inputs lead to the value: for this use alone.
bool onnx_find_elements(OnnxCall *c, int i, const Dim *const **elements, int *n) {
    if (onnx_elements(c, i, elements, n)) return true;
    OnnxValue v = {0};
    if (!know_count(c, onnx_operand(c, i), &v)) know_tensor(c, &v, onnx_known(c, i));
    *elements = v.elements;
    *n = v.n;
    return v.elements;
}

const Dim *const *onnx_need_elements(OnnxCall *c, int i, int *n, const char *what) {
    const Dim *const *elements;
    if (!onnx_find_elements(c, i, &elements, n))
        onnx_fatal(c, "%s is computed from values that are only known at run time\nhint: %s", what,
                   way_out(c, i));
    return elements;
}

int64_t onnx_need_int(OnnxCall *c, int i, const char *what) {
    int n;
    int64_t value;
    const Dim *const *elements = onnx_need_elements(c, i, &n, what);
    if (n != 1 || !dim_is_const(elements[0], &value))
        onnx_fatal(c, "%s must be one constant", what);
    return value;
}

// -------------------------------------------------------------------------------------- attributes
int64_t onnx_int(const OnnxCall *c, const char *name, int64_t absent) {
    const BurinOnnx__Attribute *a = onnx_attribute(c, name);
    return a && a->has_i ? a->i : absent;
}

double onnx_float(const OnnxCall *c, const char *name, double absent) {
    const BurinOnnx__Attribute *a = onnx_attribute(c, name);
    return a && a->has_f ? a->f : absent;
}

const char *onnx_string(const OnnxCall *c, const char *name, const char *absent) {
    const BurinOnnx__Attribute *a = onnx_attribute(c, name);
    return a && a->has_s ? arena_strndup(c->graph->arena, (const char *)a->s.data, a->s.len)
                         : absent;
}

const double *onnx_floats(const OnnxCall *c, const char *name, int *n) {
    const BurinOnnx__Attribute *a = onnx_attribute(c, name);
    *n = a ? (int)a->n_floats : 0;
    double *values = ARENA_ARRAY(c->graph->arena, double, *n + 1);
    for (int i = 0; i < *n; i++) values[i] = a->floats[i];
    return a ? values : NULL;
}

const int64_t *onnx_ints(const OnnxCall *c, const char *name, int *n) {
    const BurinOnnx__Attribute *a = onnx_attribute(c, name);
    *n = a ? (int)a->n_ints : 0;
    return a ? a->ints : NULL;
}

int onnx_axis(const OnnxCall *c, int64_t axis, int rank) {
    if (axis < -rank || axis >= rank)
        onnx_fatal(c, "axis %lld of a value of rank %d", (long long)axis, rank);
    return (int)(axis < 0 ? axis + rank : axis);
}

// ----------------------------------------------------------------------------------------- results
void onnx_result_value(OnnxCall *c, int i, OnnxValue *v) {
    if (i < (int)c->proto->n_output && *c->proto->output[i])
        map_put(&c->import->values, c->proto->output[i], v);
}

void onnx_result(OnnxCall *c, int i, Node *n) {
    if (i >= (int)c->proto->n_output || !*c->proto->output[i]) return;
    onnx_new_value(c->import, c->proto->output[i])->node = n;
}

void onnx_result_elements(OnnxCall *c, int i, const Dim *const *elements, int n, bool vector,
                          DType dtype) {
    if (i >= (int)c->proto->n_output || !*c->proto->output[i]) return;
    *onnx_new_value(c->import, c->proto->output[i]) =
        (OnnxValue){.elements = elements, .n = n, .vector = vector, .dtype = dtype};
}

// A formula that has reported an error continues without the value: no later node reports it again.
static Node *finish(void *call, Node *n) {
    diag_stop_if_errors();
    return onnx_finish(call, n);
}

Builder onnx_builder(OnnxCall *c) {
    return (Builder){
        .graph = c->graph, .loc = c->loc, .as_said = true, .finish = finish, .user = c};
}

Node *onnx_emit_make(OnnxCall *c, Op op, int n, Node *const *in) {
    return node_make(c->graph, op, c->loc, n, in, NULL);
}

static void check_size(const OnnxCall *c, const Type *t) {
    if (t->dtype == DT_tuple) return;
    bool is_negative = false;
    for (int i = 0; i < t->rank; i++) {
        is_negative = is_negative || dim_upper(t->dim[i]) < 0;
    }
    if (is_negative || dim_upper(type_count(c->graph, t)) > ONNX_MAX_ELEMENTS)
        onnx_fatal(c, "a value of %s has %s elements\nhint: the file is damaged", type_text(t),
                   is_negative ? "a negative number of" : "too many");
}

Node *onnx_finish(OnnxCall *c, Node *n) {
    onnx_infer_fixed_sizes(c, n);
    onnx_check_broadcast(c, n);
    if (!node_infer(n)) diag_stop();
    check_size(c, &n->type);
    return n;
}

Node *onnx_emit(OnnxCall *c, Op op, int n, Node *const *in) {
    return onnx_finish(c, onnx_emit_make(c, op, n, in));
}

Node *onnx_scalar(OnnxCall *c, DType t, double value) {
    return node_scalar(c->graph, t, value, c->loc, NULL);
}

Node *onnx_constant(OnnxCall *c, const Tensor *t) {
    return node_constant(c->graph, t, c->loc, NULL);
}

// An operator that is written out for ranks of its own may ask for an axis that its operand lacks.
static void check_dims(const OnnxCall *c, const Type *shape) {
    for (int i = 0; i < shape->rank; i++)
        if (shape->rank > MAX_RANK || !shape->dim[i])
            onnx_fatal(c, "an operand has too few or too many dimensions");
}

Node *onnx_reshape(OnnxCall *c, Node *x, const Type *shape) {
    check_dims(c, shape);
    return build_reshape(onnx_builder(c), x, shape->rank, shape->dim);
}

Node *onnx_cast(OnnxCall *c, Node *x, DType to) { return build_cast(onnx_builder(c), x, to); }
