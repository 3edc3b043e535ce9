// Sequences and optional values: lists of values that exist while importing only. How long one is
// must be known.
#include <string.h>

#include "frontend/onnx/operators/compose.h"
#include "frontend/onnx/scope.h"

static OnnxValue *new_sequence(OnnxCall *c, int n) {
    OnnxValue *v = ARENA_NEW(c->graph->arena, OnnxValue);
    v->is_sequence = true;
    v->n_items = n;
    v->items = ARENA_ARRAY(c->graph->arena, OnnxValue *, n + 1);
    return v;
}

static OnnxValue *sequence_operand(OnnxCall *c, int i) {
    OnnxValue *v = onnx_operand(c, i);
    if (!v || !v->is_sequence) onnx_fatal(c, "operand %d is not a sequence", i);
    return v;
}

// Counted from the end when negative.
static int position(OnnxCall *c, int operand, int n, bool may_be_end) {
    int64_t at = onnx_need_int(c, operand, "the position");
    int64_t most = may_be_end ? n : n - 1;
    if (at < -n || at > most) onnx_fatal(c, "position %lld of a sequence of %d", (long long)at, n);
    return (int)(at < 0 ? at + n : at);
}

void onnx_sequence_empty(OnnxCall *c, int argument) {
    (void)argument;
    onnx_result_value(c, 0, new_sequence(c, 0));
}

void onnx_sequence_construct(OnnxCall *c, int argument) {
    (void)argument;
    OnnxValue *s = new_sequence(c, onnx_count(c));
    for (int i = 0; i < s->n_items; i++)
        if (!(s->items[i] = onnx_operand(c, i))) onnx_fatal(c, "operand %d is missing", i);
    onnx_result_value(c, 0, s);
}

void onnx_sequence_at(OnnxCall *c, int argument) {
    (void)argument;
    OnnxValue *s = sequence_operand(c, 0);
    onnx_result_value(c, 0, s->items[position(c, 1, s->n_items, false)]);
}

void onnx_sequence_insert(OnnxCall *c, int argument) {
    (void)argument;
    OnnxValue *s = sequence_operand(c, 0), *item = onnx_operand(c, 1),
              *longer = new_sequence(c, s->n_items + 1);
    if (!item) onnx_fatal(c, "operand 1 is missing");
    int at = onnx_operand(c, 2) ? position(c, 2, s->n_items, true) : s->n_items;
    for (int i = 0; i < longer->n_items; i++)
        longer->items[i] = i < at ? s->items[i] : i == at ? item : s->items[i - 1];
    onnx_result_value(c, 0, longer);
}

void onnx_sequence_erase(OnnxCall *c, int argument) {
    (void)argument;
    OnnxValue *s = sequence_operand(c, 0);
    if (!s->n_items) onnx_fatal(c, "takes an element of an empty sequence");
    OnnxValue *shorter = new_sequence(c, s->n_items - 1);
    int at = onnx_operand(c, 1) ? position(c, 1, s->n_items, false) : s->n_items - 1;
    for (int i = 0; i < shorter->n_items; i++) shorter->items[i] = s->items[i < at ? i : i + 1];
    onnx_result_value(c, 0, shorter);
}

void onnx_sequence_length(OnnxCall *c, int argument) {
    (void)argument;
    const Dim **length = ARENA_ARRAY(c->graph->arena, const Dim *, 1);
    length[0] = dim_const(c->graph, sequence_operand(c, 0)->n_items);
    onnx_result_elements(c, 0, length, 1, false, DT_i64);
}

static Node *unsqueezed(OnnxCall *c, Node *x, int axis) {
    Type t = x->type;
    if (t.rank == MAX_RANK) onnx_fatal(c, "its result has more than %d dimensions", MAX_RANK);
    for (int i = t.rank++; i > axis; i--) t.dim[i] = t.dim[i - 1];
    t.dim[axis] = dim_const(c->graph, 1);
    return onnx_reshape(c, x, &t);
}

void onnx_concat_from_sequence(OnnxCall *c, int argument) {
    (void)argument;
    OnnxValue *s = sequence_operand(c, 0);
    bool fresh = onnx_int(c, "new_axis", 0);
    if (!s->n_items) onnx_fatal(c, "takes an empty sequence");
    Node **in = ARENA_ARRAY(c->graph->arena, Node *, s->n_items);
    for (int i = 0; i < s->n_items; i++) in[i] = onnx_value_node(c, s->items[i]);
    int rank = in[0]->type.rank, axis = onnx_axis(c, onnx_int(c, "axis", 0), rank + fresh);
    for (int i = 0; fresh && i < s->n_items; i++) {
        if (in[i]->type.rank != rank) onnx_fatal(c, "takes elements of different ranks");
        in[i] = unsqueezed(c, in[i], axis);
    }
    onnx_result(c, 0, onnx_join(c, in, s->n_items, axis));
}

// ------------------------------------------------------------------------------------------- split
enum { MOST_PARTS = 65536 };

static Node *squeezed(OnnxCall *c, Node *x, int axis) {
    Type t = x->type;
    for (int i = axis; i + 1 < t.rank; i++) t.dim[i] = t.dim[i + 1];
    t.rank--;
    return onnx_reshape(c, x, &t);
}

// `split`: a list of sizes, or one size for all but the last; without it parts of one, whose axis
// goes unless keepdims.
void onnx_split_to_sequence(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    int axis = onnx_axis(c, onnx_int(c, "axis", 0), x->type.rank), n = 0;
    bool given = onnx_operand(c, 1), drop = !given && !onnx_int(c, "keepdims", 1);
    bool list = given && onnx_type(c, 1).rank == 1;
    int64_t whole = onnx_extent(c, x, axis), size = 1;
    const Dim *const *sizes = given ? onnx_need_elements(c, 1, &n, "split") : NULL;
    if (given && !list && (n != 1 || !dim_is_const(sizes[0], &size)))
        onnx_fatal(c, "split must be constant");
    if (size < 1) onnx_fatal(c, "parts of %lld, expected 1 or more", (long long)size);
    if (!list && (whole - 1) / size >= MOST_PARTS)
        onnx_fatal(c, "splits into more than %d parts", MOST_PARTS);
    OnnxValue *s = new_sequence(c, list ? n : (int)((whole + size - 1) / size));
    int64_t at = 0;
    for (int i = 0; i < s->n_items; i++) {
        if (list && !dim_is_const(sizes[i], &size)) onnx_fatal(c, "split must be constant");
        int64_t extent = list || at + size < whole ? size : whole - at;
        if (extent < 0 || at + extent > whole)
            onnx_fatal(c, "parts beyond the end of an axis of %lld", (long long)whole);
        Node *part = onnx_slice_from(c, x, axis, at, extent);
        s->items[i] = onnx_value_of(drop ? squeezed(c, part, axis) : part);
        at += extent;
    }
    if (at != whole)
        onnx_fatal(c, "parts of %lld together, of an axis of %lld", (long long)at,
                   (long long)whole);
    onnx_result_value(c, 0, s);
}

// --------------------------------------------------------------------------------------------- map
// The body once for each element; operands that are sequences as well go along, others are the same
// each time.
void onnx_sequence_map(OnnxCall *c, int argument) {
    (void)argument;
    OnnxValue *s = sequence_operand(c, 0);
    const BurinOnnx__GraphBody *body = onnx_body(c, "body");
    int n_in = onnx_count(c), n_out = (int)c->proto->n_output;
    if ((int)body->n_input != n_in || (int)body->n_output != n_out)
        onnx_fatal(c, "has %d operands and %d results, its body takes %zu and gives %zu", n_in,
                   n_out, body->n_input, body->n_output);
    Arena *arena = c->graph->arena;
    OnnxValue **in = ARENA_ARRAY(arena, OnnxValue *, n_in + 1),
              **out = ARENA_ARRAY(arena, OnnxValue *, n_out + 1);
    OnnxValue **results = ARENA_ARRAY(arena, OnnxValue *, n_out + 1);
    for (int j = 0; j < n_out; j++) results[j] = new_sequence(c, s->n_items);
    for (int i = 0; i < s->n_items; i++) {
        for (int j = 0; j < n_in; j++) {
            OnnxValue *v = onnx_operand(c, j);
            if (!v || (v->is_sequence && i >= v->n_items))
                onnx_fatal(c, "operand %d is missing, or too short", j);
            in[j] = v->is_sequence ? v->items[i] : v;
        }
        onnx_write_out(c, body, in, out);
        for (int j = 0; j < n_out; j++) results[j]->items[i] = out[j];
    }
    for (int j = 0; j < n_out; j++) onnx_result_value(c, j, results[j]);
}

// ---------------------------------------------------------------------------------------- optional
// An optional value is its element, or nothing.
void onnx_optional(OnnxCall *c, int argument) {
    (void)argument;
    OnnxValue *v = onnx_operand(c, 0);
    if (!v) {
        v = ARENA_NEW(c->graph->arena, OnnxValue);
        v->is_nothing = true;
    }
    onnx_result_value(c, 0, v);
}

void onnx_optional_get_element(OnnxCall *c, int argument) {
    (void)argument;
    OnnxValue *v = onnx_operand(c, 0);
    if (!v || v->is_nothing) onnx_fatal(c, "its operand has no element");
    onnx_result_value(c, 0, v);
}

void onnx_optional_has_element(OnnxCall *c, int argument) {
    (void)argument;
    const OnnxValue *v = onnx_operand(c, 0);
    const Dim **there = ARENA_ARRAY(c->graph->arena, const Dim *, 1);
    there[0] = dim_const(c->graph, v && !v->is_nothing);
    onnx_result_elements(c, 0, there, 1, false, DT_bool);
}

// ------------------------------------------------------------------------------------------ inputs
static const OnnxFixed *fixed_named(const OnnxImport *m, const char *name) {
    for (int i = 0; i < m->options->n_fixed; i++)
        if (!strcmp(m->options->fixed[i].name, name)) return &m->options->fixed[i];
    return NULL;
}

static OnnxValue *element_input(OnnxImport *m, const char *name, const Tensor *like, Loc loc) {
    return onnx_value_of(graph_add_input(m->graph, name, type_of_tensor(m->graph, like), loc));
}

// An input of sequences becomes one of tensors for each element, x.0, x.1, ..., of the types that
// the fixed values have; an optional one its element, or nothing.
OnnxValue *onnx_list_input(OnnxImport *m, const BurinOnnx__ValueInfo *info, Loc loc) {
    const BurinOnnx__ValueType *type = info->type;
    const OnnxFixed *whole = fixed_named(m, info->name), *item = NULL;
    Arena *arena = m->graph->arena;
    OnnxValue *v = ARENA_NEW(arena, OnnxValue);
    bool optional = type && type->optional_type;
    if (optional) type = type->optional_type->elem_type;
    bool sequence = type && type->sequence_type;
    if (!optional && !sequence) return NULL;
    if (!sequence && whole && whole->value) return element_input(m, info->name, whole->value, loc);
    int n = 0;
    while ((item = fixed_named(m, arena_printf(arena, "%s.%d", info->name, n))) && item->value) n++;
    if (!whole && !n)
        file_fatal(m->model->file,
                   "input %s is %s, of a length that is not known\nhint: export the model with "
                   "tensors as inputs",
                   info->name, optional ? "an optional value" : "a sequence");
    v->is_nothing = optional && !n;
    v->is_sequence = !v->is_nothing;
    v->n_items = n;
    v->items = ARENA_ARRAY(arena, OnnxValue *, n + 1);
    for (int i = 0; i < n; i++) {
        const char *name = arena_printf(arena, "%s.%d", info->name, i);
        v->items[i] = element_input(m, name, fixed_named(m, name)->value, loc);
    }
    return v;
}

// An output of sequences is one for each element, y.0, y.1, ...; a value that is not there is none.
void onnx_list_output(OnnxCall *c, const OnnxValue *v, const char *name) {
    for (int i = 0; i < v->n_items; i++)
        graph_add_output(c->graph, onnx_value_node(c, v->items[i]),
                         arena_printf(c->graph->arena, "%s.%d", name, i));
}
