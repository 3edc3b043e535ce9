// Operators that compute shapes or move data. Known dimensions stay known.
#include <math.h>
#include <string.h>

#include "frontend/onnx/operators/compose.h"
#include "ir/convert.h"
#include "ir/index.h"

static const Dim **new_dims(OnnxCall *c, int n) {
    return ARENA_ARRAY(c->graph->arena, const Dim *, n ? n : 1);
}

// --------------------------------------------------------------------------------------- constants
static const Tensor *list_tensor(OnnxCall *c, DType t, int rank, size_t n, const void *data) {
    Tensor *r = ARENA_NEW(c->graph->arena, Tensor);
    *r = (Tensor){.dtype = t,
                  .rank = rank,
                  .dim = {(int64_t)n},
                  .data = data,
                  .bytes = dtype_bytes(t, (int64_t)n)};
    return r;
}

static const Tensor *strings_tensor(OnnxCall *c, int rank, size_t n,
                                    const ProtobufCBinaryData *values) {
    const char **strings = ARENA_ARRAY(c->graph->arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        strings[i] = arena_strndup(c->graph->arena, (const char *)values[i].data, values[i].len);
    return list_tensor(c, DT_string, rank, n, strings);
}

// One of several attributes has the value, in its form.
static const Tensor *constant_value(OnnxCall *c) {
    static const char *const NAMES[] = {"value",         "value_float", "value_int",
                                        "value_floats",  "value_ints",  "value_string",
                                        "value_strings", "sparse_value"};
    const BurinOnnx__Attribute *a = NULL;
    size_t form = 0;
    while (form < sizeof NAMES / sizeof *NAMES && !(a = onnx_attribute(c, NAMES[form]))) form++;
    switch (form) {
        case 0:
            return a->t ? onnx_tensor(c->import->model, a->t) : NULL;
        case 1:
            return list_tensor(c, DT_f32, 0, 1, &a->f);
        case 2:
            return list_tensor(c, DT_i64, 0, 1, &a->i);
        case 3:
            return list_tensor(c, DT_f32, 1, a->n_floats, a->floats);
        case 4:
            return list_tensor(c, DT_i64, 1, a->n_ints, a->ints);
        case 5:
            return strings_tensor(c, 0, 1, &a->s);
        case 6:
            return strings_tensor(c, 1, a->n_strings, a->strings);
        case 7:
            return a->sparse_tensor ? onnx_dense(c->import->model, a->sparse_tensor) : NULL;
        default:
            return NULL;
    }
}

void onnx_constant_op(OnnxCall *c, int argument) {
    (void)argument;
    const Tensor *t = constant_value(c);
    if (!t)
        onnx_fatal(c,
                   "has no value\nhint: expected one of value, value_float, value_int, "
                   "value_floats, value_ints, ...");
    onnx_result(c, 0, onnx_constant(c, t));
}

static Type shape_of_elements(OnnxCall *c, const Dim *const *elements, int n) {
    Type t = {.rank = n};
    if (n > MAX_RANK)
        onnx_fatal(c, "a shape of %d dimensions, at most %d are supported", n, MAX_RANK);
    for (int i = 0; i < n; i++) {
        t.dim[i] = elements[i];
        if (dim_upper(t.dim[i]) < 0) onnx_fatal(c, "dimension %d of the shape is negative", i);
    }
    return t;
}

void onnx_constant_of_shape(OnnxCall *c, int argument) {
    (void)argument;
    int n;
    int64_t length = 0;
    const Dim *const *shape = onnx_need_elements(c, 0, &n, "the shape");
    const BurinOnnx__Attribute *a = onnx_attribute(c, "value");
    const Tensor *value = a && a->t ? onnx_tensor(c->import->model, a->t) : NULL;
    if (value && tensor_count(value) != 1)
        onnx_fatal(c, "its value must have one element, not %lld", (long long)tensor_count(value));
    if (value) {
        Tensor *scalar = ARENA_NEW(c->graph->arena, Tensor);
        *scalar = *value, scalar->rank = 0;
        value = scalar;
    }
    bool small = n == 1 && dim_is_const(shape[0], &length) && length >= 0 && length <= MAX_RANK &&
                 value && value->dtype == DT_i64;
    if (small) {
        int64_t element;
        memcpy(&element, value->data, sizeof element);
        const Dim **elements = new_dims(c, (int)length);
        for (int i = 0; i < length; i++) elements[i] = dim_const(c->graph, element);
        onnx_result_elements(c, 0, elements, (int)length, true, DT_i64);
        return;
    }
    Type t = shape_of_elements(c, shape, n);
    Node *scalar = value ? onnx_constant(c, value) : onnx_scalar(c, DT_f32, 0);
    onnx_result(c, 0, onnx_expand_to(c, scalar, &t));
}

// ------------------------------------------------------------------------------------------ shapes
void onnx_shape(OnnxCall *c, int argument) {
    (void)argument;
    Type t = onnx_type(c, 0);
    int64_t start = onnx_int(c, "start", 0), end = onnx_int(c, "end", t.rank);
    if (start < 0) start += t.rank;
    if (end < 0) end += t.rank;
    start = start < 0 ? 0 : start > t.rank ? t.rank : start;
    end = end < start ? start : end > t.rank ? t.rank : end;
    const Dim **elements = new_dims(c, (int)(end - start));
    for (int64_t i = start; i < end; i++) elements[i - start] = t.dim[i];
    onnx_result_elements(c, 0, elements, (int)(end - start), true, DT_i64);
}

void onnx_size(OnnxCall *c, int argument) {
    (void)argument;
    Type t = onnx_type(c, 0);
    const Dim **elements = new_dims(c, 1);
    elements[0] = type_count(c->graph, &t);
    onnx_result_elements(c, 0, elements, 1, false, DT_i64);
}

// 0 copies the operand's dimension (unless allowzero), one -1 takes the remaining elements.
void onnx_reshape_op(OnnxCall *c, int argument) {
    (void)argument;
    Type x = onnx_type(c, 0), shape;
    int n, open = -1;
    int64_t value;
    Graph *g = c->graph;
    const Dim *const *elements = onnx_need_elements(c, 1, &n, "the shape");
    const Dim *known = dim_const(g, 1), *count = type_count(g, &x);
    if (n > MAX_RANK)
        onnx_fatal(c, "a shape of %d dimensions, at most %d are supported", n, MAX_RANK);
    shape.rank = n;
    for (int i = 0; i < n; i++) {
        shape.dim[i] = elements[i];
        bool constant = dim_is_const(elements[i], &value);
        if (constant && value == 0 && !onnx_int(c, "allowzero", 0)) {
            if (i >= x.rank)
                onnx_fatal(c, "dimension %d of the shape is 0, but %s has no such axis", i,
                           type_text(&x));
            shape.dim[i] = x.dim[i];
        }
        if (constant && value < 0 && (value < -1 || open >= 0))
            onnx_fatal(c, "dimension %d of the shape is %lld; one may be -1, what is left", i,
                       (long long)value);
        if (constant && value == -1)
            open = i;
        else
            known = dim_binary(g, DIM_MUL, known, shape.dim[i]);
    }
    if (open >= 0) shape.dim[open] = dim_binary(g, DIM_FLOORDIV, count, known);
    const Dim *const *same;
    int one;
    if (n <= 1 && onnx_elements(c, 0, &same, &one))
        onnx_result_elements(c, 0, same, one, n == 1, x.dtype);
    else
        onnx_result(c, 0, onnx_reshape(c, onnx_node(c, 0), &shape));
}

void onnx_flatten(OnnxCall *c, int argument) {
    (void)argument;
    Type x = onnx_type(c, 0);
    int64_t given = onnx_int(c, "axis", 1), axis = given < 0 ? given + x.rank : given;
    if (axis < 0 || axis > x.rank)
        onnx_fatal(c, "axis %lld of a value of rank %d", (long long)given, x.rank);
    Type flat = {.rank = 2, .dim = {dim_const(c->graph, 1), dim_const(c->graph, 1)}};
    for (int i = 0; i < x.rank; i++)
        flat.dim[i >= axis] = dim_binary(c->graph, DIM_MUL, flat.dim[i >= axis], x.dim[i]);
    onnx_result(c, 0, onnx_reshape(c, onnx_node(c, 0), &flat));
}

// The axes of Squeeze and Unsqueeze: an attribute, since opset 13 an operand. Returns a set of
// bits.
static unsigned axes_set(OnnxCall *c, int rank) {
    int n;
    unsigned set = 0;
    const int64_t *given = onnx_ints(c, "axes", &n);
    const Dim *const *elements =
        onnx_operand(c, 1) ? onnx_need_elements(c, 1, &n, "the axes") : NULL;
    for (int i = 0; i < n; i++) {
        int64_t axis = given ? given[i] : 0;
        if (elements && !dim_is_const(elements[i], &axis))
            onnx_fatal(c, "the axes must be constant");
        set |= 1u << onnx_axis(c, axis, rank);
    }
    return set;
}

static int axes_count(OnnxCall *c) {
    int n;
    if (onnx_operand(c, 1))
        onnx_need_elements(c, 1, &n, "the axes");
    else
        onnx_ints(c, "axes", &n);
    return n;
}

// Known integers stay known while they are scalars or vectors.
static bool reshape_elements(OnnxCall *c, int rank) {
    const Dim *const *elements;
    int n;
    if (rank > 1 || !onnx_elements(c, 0, &elements, &n)) return false;
    onnx_result_elements(c, 0, elements, n, rank == 1, onnx_operand(c, 0)->dtype);
    return true;
}

void onnx_unsqueeze(OnnxCall *c, int argument) {
    (void)argument;
    Type x = onnx_type(c, 0), r = {.rank = x.rank + axes_count(c)};
    if (r.rank > MAX_RANK)
        onnx_fatal(c, "the result has %d axes, at most %d are supported", r.rank, MAX_RANK);
    unsigned ones = axes_set(c, r.rank);
    for (int i = 0, from = 0; i < r.rank; i++) {
        bool one = ones >> i & 1;
        if (!one && from == x.rank) onnx_fatal(c, "an axis is given twice");
        r.dim[i] = one ? dim_const(c->graph, 1) : x.dim[from++];
    }
    if (!reshape_elements(c, r.rank)) onnx_result(c, 0, onnx_reshape(c, onnx_node(c, 0), &r));
}

void onnx_squeeze(OnnxCall *c, int argument) {
    (void)argument;
    Type x = onnx_type(c, 0), r = {0};
    bool all = !axes_count(c);
    unsigned gone = axes_set(c, x.rank);
    for (int i = 0; i < x.rank; i++) {
        if (gone >> i & 1 && !dim_is_const(x.dim[i], NULL)) onnx_make_one(c, NULL, x.dim[i]);
    }
    x = onnx_type(c, 0);
    for (int i = 0; i < x.rank; i++) {
        int64_t extent = 0;
        bool one = dim_is_const(x.dim[i], &extent) && extent == 1;
        if (gone >> i & 1 && !one) onnx_fatal(c, "axis %d of %s is not 1", i, type_text(&x));
        if (!(gone >> i & 1) && !(all && one)) r.dim[r.rank++] = x.dim[i];
    }
    if (!reshape_elements(c, r.rank)) onnx_result(c, 0, onnx_reshape(c, onnx_node(c, 0), &r));
}

void onnx_transpose(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    int n;
    int64_t reversed[MAX_RANK];
    const int64_t *perm = onnx_ints(c, "perm", &n);
    for (int i = 0; i < x->type.rank; i++) reversed[i] = x->type.rank - 1 - i;
    Node *y = onnx_emit_make(c, OP_transpose, 1, &x);
    attr_set_ints(y, "perm", perm ? perm : reversed, perm ? n : x->type.rank);
    onnx_result(c, 0, onnx_finish(c, y));
}

static void refuse_expand(const OnnxCall *c, const Type *x, const Type *shape) {
    const char *sizes = onnx_trace_hint(c, x, shape);
    if (!*sizes) onnx_fatal(c, "%s does not broadcast to %s", type_text(x), type_text(shape));
    onnx_fatal(c,
               "%s does not broadcast to %s\nhint: %s, as in the trace that the file was made of",
               type_text(x), type_text(shape), sizes);
}

// Broadcasts in both directions.
void onnx_expand(OnnxCall *c, int argument) {
    (void)argument;
    int n;
    const Dim *const *elements = onnx_need_elements(c, 1, &n, "the shape");
    Type x = onnx_type(c, 0), shape = shape_of_elements(c, elements, n), r;
    if (!type_broadcast(c->graph, &x, &shape, &r)) {
        onnx_infer_broadcast_sizes(c, &x, &shape);
        x = onnx_type(c, 0),
        shape = shape_of_elements(c, onnx_need_elements(c, 1, &n, "the shape"), n);
    }
    if (!type_broadcast(c->graph, &x, &shape, &r)) refuse_expand(c, &x, &shape);
    r.dtype = x.dtype;
    onnx_result(c, 0,
                type_equal(&r, &x) ? onnx_node(c, 0) : onnx_expand_to(c, onnx_node(c, 0), &r));
}

// ----------------------------------------------------------------------------------- data movement
static bool concat_elements(OnnxCall *c) {
    const Dim *const *part;
    int n, total = 0;
    for (int i = 0; i < onnx_count(c); i++) {
        if (!onnx_elements(c, i, &part, &n) || n > ONNX_MAX_KNOWN - total) return false;
        total += n;
    }
    const Dim **all = new_dims(c, total);
    for (int i = 0, at = 0; i < onnx_count(c); i++, at += n) {
        onnx_elements(c, i, &part, &n);
        memcpy(all + at, part, (size_t)n * sizeof *part);
    }
    onnx_result_elements(c, 0, all, total, true, onnx_operand(c, 0)->dtype);
    return true;
}

void onnx_concat(OnnxCall *c, int argument) {
    (void)argument;
    if (concat_elements(c)) return;
    int n = onnx_count(c);
    Node **in = ARENA_ARRAY(c->graph->arena, Node *, n);
    for (int i = 0; i < n; i++) in[i] = onnx_node(c, i);
    int axis = onnx_axis(c, onnx_int(c, "axis", 0), in[0]->type.rank), used = 0;
    for (int i = 0; i < n; i++) {  // empty operands: a cache before the first token
        bool empty = axis < in[i]->type.rank && dim_upper(in[i]->type.dim[axis]) == 0;
        if (!empty || (i + 1 == n && !used)) in[used++] = in[i];
    }
    Node *r = onnx_emit_make(c, OP_concat, used, in);
    attr_set_int(r, "axis", axis);
    onnx_result(c, 0, used == 1 ? in[0] : onnx_finish(c, r));
}

static bool gather_elements(OnnxCall *c) {
    const Dim *const *x, *const *index;
    int n, picks;
    if (!onnx_elements(c, 0, &x, &n) || !onnx_elements(c, 1, &index, &picks) ||
        picks > ONNX_MAX_KNOWN)
        return false;
    const Dim **r = new_dims(c, picks);
    for (int i = 0; i < picks; i++) {
        int64_t at;
        if (!dim_is_const(index[i], &at)) return false;
        r[i] = x[onnx_axis(c, at, n)];
    }
    onnx_result_elements(c, 0, r, picks, onnx_operand(c, 1)->vector, onnx_operand(c, 0)->dtype);
    return true;
}

// Positions counted up to T index a table with this many rows, so T is at most that number.
static void bound_by_table(Node *index, const Dim *rows) {
    const Dim *symbols[MAX_RANK],
        *at = dim_is_const(rows, NULL) ? index_expression(index, symbols) : NULL;
    if (!at || dim_is_const(at, NULL) || dim_upper(at) < dim_upper(rows)) return;
    for (int i = 0; i < index->type.rank; i++) {
        const Dim *offset = dim_sub(index->graph, at, symbols[i]);
        if (dim_is_const(offset, NULL))
            dim_tighten(dim_binary(index->graph, DIM_ADD, index->type.dim[i], offset),
                        dim_upper(rows));
    }
}

void onnx_gather(OnnxCall *c, int argument) {
    (void)argument;
    if (onnx_type(c, 0).rank == 1 && gather_elements(c)) return;
    Node *in[2] = {onnx_node(c, 0), onnx_node(c, 1)}, *r = onnx_emit_make(c, OP_gather, 2, in);
    bound_by_table(in[1], in[0]->type.dim[onnx_axis(c, onnx_int(c, "axis", 0), in[0]->type.rank)]);
    attr_set_int(r, "axis", onnx_axis(c, onnx_int(c, "axis", 0), in[0]->type.rank));
    onnx_result(c, 0, onnx_finish(c, r));
}

// --------------------------------------------------------------------------------------- sequences
// A float bound that is a whole number: a constant, or an expression of sizes. Else NULL.
static const Dim *whole_bound(OnnxCall *c, int i) {
    const Tensor *t = onnx_known(c, i);
    double value = t && tensor_count(t) == 1 ? dtype_load(t->dtype, t->data, 0) : 0.5;
    if (value == floor(value) && fabs(value) < INT32_MAX)
        return dim_const(c->graph, (int64_t)value);
    Node *n = onnx_node(c, i);
    while (n->op == OP_cast && dtype_is_float(n->type.dtype)) n = n->in[0];
    return t || n->type.rank || dtype_is_float(n->type.dtype) ? NULL : index_value(n, NULL);
}

// Bounds of floats that are known: a constant. False where they are sizes, which are in `bound`
// then.
static bool range_of_floats(OnnxCall *c, const Dim **bound) {
    DType dtype = onnx_type(c, 0).dtype;
    if (!dtype_is_float(dtype)) return false;
    for (int i = 0; i < 3; i++) bound[i] = whole_bound(c, i);
    bool whole = bound[0] && bound[1] && bound[2];
    if (!whole && !(onnx_known(c, 0) && onnx_known(c, 1) && onnx_known(c, 2))) return false;
    if (whole && !(dim_is_const(bound[0], NULL) && dim_is_const(bound[1], NULL))) return false;
    double start = onnx_need_float(c, 0, "start"), limit = onnx_need_float(c, 1, "limit"),
           step = onnx_need_float(c, 2, "delta");
    double count = ceil((limit - start) / step);
    if (!(count >= 0)) count = 0;
    if (count > INT32_MAX)
        onnx_fatal(c, "a range of %g elements, at most %d are supported", count, INT32_MAX);
    int64_t n = (int64_t)count;
    double *values = ARENA_ARRAY(c->graph->arena, double, n + 1);
    for (int64_t i = 0; i < n; i++) values[i] = start + (double)i * step;
    onnx_result(c, 0, onnx_numbers(c, dtype, 1, &n, values));
    return true;
}

static const Dim *whole_number(OnnxCall *c, int i) {
    int n;
    const Dim *bound = onnx_need_elements(c, i, &n, "a bound of the range")[0];
    if (n != 1) onnx_fatal(c, "its bounds must be scalars");
    return bound;
}

static bool is_size(OnnxCall *c, int i, const Dim *whole) {
    const Dim *const *elements;
    int n;
    return whole ||
           (!dtype_is_float(onnx_type(c, i).dtype) && onnx_find_elements(c, i, &elements, &n));
}

// A range whose bounds the values of a run decide: the positions of a longer range that are below
// the count. One position more than the range may have makes a run that needs it end with a
// message.
static void dynamic_range(OnnxCall *c) {
    Graph *g = c->graph;
    DType type = onnx_type(c, 0).dtype;
    Node *in[3];
    for (int i = 0; i < 3; i++) {
        if (!dim_is(type_count(g, &onnx_node(c, i)->type), 1))
            onnx_fatal(c, "its bounds must be scalars");
        in[i] = onnx_reshape(c, onnx_node(c, i), &(Type){.dtype = type});
    }
    const char *steps = dtype_is_float(type)
                            ? "ceil(div(sub($1, $0), $2))"
                            : "where(less($2, 0), div(sub(sub($0, $1), add($2, 1)), neg($2)),"
                              " div(add(sub($1, $0), sub($2, 1)), $2))";
    Node *count = onnx_cast(c, onnx_formula(c, in, 3, "max(%s, 0)", steps), DT_i64);
    const Dim *length = onnx_data_dependent_size(c, "range", NULL);
    const Dim *longer = dim_const(g, dim_upper(length) + 1);
    Node *at = onnx_cast(c, onnx_index_along(c, &(Type){.rank = 1, .dim = {longer}}, 0), DT_i64);
    Node *inside = ONNX_BINARY(c, OP_less, at, count),
         *n = onnx_emit_make(c, OP_nonzero, 1, &inside);
    attr_set_dims(n, "extent", &length, 1);
    if (!onnx_find_dim(c->import->options, length->name))
        onnx_note(c,
                  "\"%s\", its length, is taken to be at most %lld: --max=%s=N sets another bound",
                  length->name, (long long)dim_upper(length), length->name);
    Node *position = onnx_cast(c, onnx_shape_to(c, onnx_finish(c, n), 1, &length), type);
    onnx_result(c, 0,
                onnx_formula(c, (Node *[]){position, in[0], in[2]}, 3, "add(mul($0, $2), $1)"));
}

// start, start + delta, ... before limit
void onnx_range(OnnxCall *c, int argument) {
    (void)argument;
    Graph *g = c->graph;
    const Dim *bound[3] = {0};
    int64_t step, length;
    if (range_of_floats(c, bound)) return;
    bool decided_by_run = false;
    for (int i = 0; i < 3; i++) decided_by_run = decided_by_run || !is_size(c, i, bound[i]);
    if (decided_by_run && !c->import->text) {
        dynamic_range(c);
        return;
    }
    for (int i = 0; i < 3; i++)
        if (!bound[i]) bound[i] = whole_number(c, i);
    if (!dim_is_const(bound[2], &step) || !step || step == INT64_MIN)
        onnx_fatal(c, "its step must be a constant other than 0, and its negative an integer too");
    const Dim *span = step > 0 ? dim_sub(g, bound[1], bound[0]) : dim_sub(g, bound[0], bound[1]);
    const Dim *stride = dim_const(g, step > 0 ? step : -step), *one = dim_const(g, 1);
    const Dim *count =
        dim_binary(g, DIM_FLOORDIV, dim_sub(g, dim_binary(g, DIM_ADD, span, stride), one), stride);
    count = dim_binary(g, DIM_MAX, count, dim_const(g, 0));
    DType type = onnx_type(c, 0).dtype;
    if (!dtype_is_float(type) && dim_is_const(count, &length) && length <= MAX_RANK) {
        const Dim **elements = new_dims(c, (int)length);
        for (int i = 0; i < length; i++)
            elements[i] = dim_binary(g, DIM_ADD, bound[0], dim_const(g, i * step));
        onnx_result_elements(c, 0, elements, (int)length, true, type);
        return;
    }
    Node *r = onnx_cast(c, onnx_index_along(c, &(Type){.rank = 1, .dim = {count}}, 0), type);
    if (step != 1) r = ONNX_BINARY(c, OP_mul, r, onnx_node(c, 2));
    int64_t first;
    if (!dim_is_const(bound[0], &first) || first) r = ONNX_BINARY(c, OP_add, r, onnx_node(c, 0));
    onnx_result(c, 0, r);
}

// Keeps the elements on or above (below) the k-th diagonal of the last two axes.
void onnx_trilu(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    int64_t k = onnx_operand(c, 1) ? onnx_need_int(c, 1, "the diagonal") : 0;
    Type matrix = {.rank = 2,
                   .dim = {x->type.dim[x->type.rank - 2], x->type.dim[x->type.rank - 1]}};
    Node *row = onnx_index_along(c, &matrix, 0), *column = onnx_index_along(c, &matrix, 1);
    if (k) row = ONNX_BINARY(c, OP_add, row, onnx_scalar(c, DT_i32, (double)k));
    Node *keep = ONNX_BINARY(c, onnx_int(c, "upper", 1) ? OP_greater_or_equal : OP_less_or_equal,
                             column, row);
    onnx_result(c, 0,
                onnx_emit(c, OP_where, 3, (Node *[]){keep, x, onnx_scalar(c, x->type.dtype, 0)}));
}
