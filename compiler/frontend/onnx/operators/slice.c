// Slice and Split: of dimensions, of tables whose length bounds a size, of any tensor.
#include "frontend/onnx/operators/compose.h"
#include "ir/index.h"

// A bound of a slice: counted from the end when negative, then clamped to [low, high].
static const Dim *clamp_bound(OnnxCall *c, const Dim *bound, const Dim *size, int64_t low,
                              const Dim *high) {
    Graph *g = c->graph;
    if (dim_upper(bound) < 0)
        bound = dim_binary(g, DIM_ADD, bound, size);
    else if (dim_lower(bound) < 0)
        onnx_fatal(c, "a bound may be negative or not, which is only known at run time");
    bound = dim_binary(g, DIM_MAX, bound, dim_const(g, low));
    return dim_binary(g, DIM_MIN, bound, high);
}

static bool is_table(const Node *n) {
    while (n->op == OP_cast || n->op == OP_reshape || n->op == OP_slice) n = n->in[0];
    return n->op == OP_constant;
}

enum { MOST_PARTS = 4 };

// 128 - P - T where neither is bounded by the other: each gets its share of the table.
static void share_table(OnnxCall *c, const Dim *rest) {
    const Dim *part[MOST_PARTS], *d = rest;
    int64_t room, sign;
    int n = 0;
    for (; d->kind == DIM_ADD && n < MOST_PARTS; d = d->b) {
        if (d->a->kind != DIM_MUL || !dim_is_const(d->a->b, &sign) || sign != -1 ||
            d->a->a->kind != DIM_SYMBOL)
            return;
        part[n++] = d->a->a;
    }
    if (n > 1 && dim_is_const(d, &room)) onnx_share_room(c, NULL, part, n, room, "a table");
}

// 128 - T, or max(0, 128 - T), as the start of a slice of a table: T is no more than 128.
static const Dim *counted_in_table(OnnxCall *c, const Dim *start) {
    const Dim *d = start, *zero = dim_const(c->graph, 0);
    if (d->kind == DIM_MAX) d = dim_is_const(d->b, NULL) ? d->a : d->b;
    if (dim_lower(d) >= 0 || dim_upper(d) < 0 || (start->kind == DIM_MAX && dim_lower(start) != 0))
        return start;
    dim_tighten(dim_sub(c->graph, zero, d), 0);
    if (dim_lower(d) < 0) share_table(c, d);
    return dim_lower(d) >= 0 ? d : start;
}

static Node *slice_axis(OnnxCall *c, Node *x, int axis, const Dim *bounds[2], int64_t step) {
    Graph *g = c->graph;
    if (step == 1 && is_table(x)) {
        dim_tighten(bounds[1], dim_upper(x->type.dim[axis]));
        bounds[0] = counted_in_table(c, bounds[0]);
        share_table(c, dim_sub(g, x->type.dim[axis], bounds[1]));
    }
    const Dim *size = x->type.dim[axis], *one = dim_const(g, 1), *last = dim_sub(g, size, one);
    const Dim *start = clamp_bound(c, bounds[0], size, 0, step > 0 ? size : last);
    int64_t end_value;
    bool before_first =
        step < 0 && dim_is_const(bounds[1], &end_value) && end_value < -dim_upper(size);
    const Dim *end =
        before_first ? dim_const(g, -1)
                     : clamp_bound(c, bounds[1], size, step > 0 ? 0 : -1, step > 0 ? size : last);
    const Dim *span = step > 0 ? dim_sub(g, end, start) : dim_sub(g, start, end),
              *stride = dim_const(g, step > 0 ? step : -step);
    const Dim *extent =
        dim_binary(g, DIM_FLOORDIV, dim_sub(g, dim_binary(g, DIM_ADD, span, stride), one), stride);
    extent = dim_binary(g, DIM_MAX, extent, dim_const(g, 0));
    if (extent == size && step == 1) return x;
    Node *r = onnx_emit_make(c, OP_slice, 1, &x);
    attr_set_int(r, "axis", axis);
    attr_set_dims(r, "start", &start, 1);
    attr_set_dims(r, "extent", &extent, 1);
    attr_set_int(r, "step", step);
    return onnx_finish(c, r);
}

// Starts, ends, axes, steps: attributes before opset 10.
typedef struct SliceSpec {
    const Dim *const *list[4];
    int n[4];
} SliceSpec;

static SliceSpec slice_spec(OnnxCall *c) {
    static const char *const NAMES[] = {"starts", "ends", "axes", "steps"};
    SliceSpec s = {0};
    for (int i = 0; i < 4; i++) {
        const int64_t *values = onnx_ints(c, NAMES[i], &s.n[i]);
        const Dim **dims = ARENA_ARRAY(c->graph->arena, const Dim *, s.n[i] ? s.n[i] : 1);
        for (int j = 0; j < s.n[i]; j++) dims[j] = dim_const(c->graph, values[j]);
        s.list[i] = values ? dims : NULL;
        if (onnx_operand(c, i + 1)) s.list[i] = onnx_need_elements(c, i + 1, &s.n[i], NAMES[i]);
    }
    for (int i = 1; i < 4; i++)
        if (!s.list[0] || (s.list[i] ? s.n[i] != s.n[0] : i == 1))
            onnx_fatal(c, "starts, ends, axes and steps differ in number");
    return s;
}

static int64_t slice_int(OnnxCall *c, const SliceSpec *s, int list, int i, int64_t absent) {
    int64_t value = absent;
    if (s->list[list] && !dim_is_const(s->list[list][i], &value))
        onnx_fatal(c, "axes and steps must be constant");
    return value > INT32_MAX    ? INT32_MAX
           : value < -INT32_MAX ? -INT32_MAX
                                : value;  // a longer step passes every axis, too
}

static bool slice_elements(OnnxCall *c, const SliceSpec *s) {
    const Dim *const *x;
    int n;
    int64_t start, end;
    if (s->n[0] != 1 || !onnx_elements(c, 0, &x, &n)) return false;
    if (!dim_is_const(s->list[0][0], &start) || !dim_is_const(s->list[1][0], &end) ||
        slice_int(c, s, 3, 0, 1) != 1)
        return false;
    start += start < 0 ? n : 0, end += end < 0 ? n : 0;
    start = start < 0 ? 0 : start > n ? n : start;
    end = end < start ? start : end > n ? n : end;
    onnx_result_elements(c, 0, x + start, (int)(end - start), true, onnx_operand(c, 0)->dtype);
    return true;
}

void onnx_slice(OnnxCall *c, int argument) {
    (void)argument;
    SliceSpec s = slice_spec(c);
    if (onnx_type(c, 0).rank == 1 && slice_elements(c, &s)) return;
    Node *x = onnx_node(c, 0);
    for (int i = 0; i < s.n[0]; i++) {
        int axis = onnx_axis(c, slice_int(c, &s, 2, i, i), x->type.rank);
        int64_t step = slice_int(c, &s, 3, i, 1);
        if (!step) onnx_fatal(c, "a step of 0");
        x = slice_axis(c, x, axis, (const Dim *[]){s.list[0][i], s.list[1][i]}, step);
    }
    onnx_result(c, 0, x);
}

// Sizes that are known must be there, and be all.
static void check_split(OnnxCall *c, const Dim *size, int n, const int64_t *given,
                        const Dim *const *sizes) {
    const Dim *sum = dim_const(c->graph, 0);
    for (int i = 0; i < n; i++) {
        const Dim *part = sizes ? sizes[i] : dim_const(c->graph, given[i]);
        if (dim_upper(part) < 0) onnx_fatal(c, "size %d is negative", i);
        sum = dim_binary(c->graph, DIM_ADD, sum, part);
    }
    if (dim_is_const(sum, NULL) && dim_is_const(size, NULL) && sum != size)
        onnx_fatal(c, "sizes of %s together, of an axis of %s", dim_text(sum), dim_text(size));
}

// Parts whose sizes the values of a run decide: part i gathers the positions p with start_i <= p <
// start_i + size_i.
static void split_by_values(OnnxCall *c, Node *x, int axis) {
    const Dim *size = x->type.dim[axis];
    int parts = (int)c->proto->n_output;
    Node *sizes = onnx_cast(c, onnx_node(c, 1), DT_i64), *start = onnx_scalar(c, DT_i64, 0);
    if (sizes->type.rank != 1 || !dim_is(sizes->type.dim[0], parts))
        onnx_fatal(c, "sizes %s for %d results", type_text(&sizes->type), parts);
    Node *at = onnx_cast(c, onnx_index_along(c, &(Type){.rank = 1, .dim = {size}}, 0), DT_i64);
    for (int i = 0; i < parts; i++) {
        Node *each = onnx_reshape(c, onnx_slice_from(c, sizes, 0, i, 1), &(Type){.dtype = DT_i64});
        Node *end = ONNX_BINARY(c, OP_add, start, each), *in[] = {at, start, end};
        Node *inside = onnx_formula(c, in, 3, "where(less($0, $1), 0, where(less($0, $2), 1, 0))");
        const Dim *extent = onnx_data_dependent_size(c, "part", size);
        inside = onnx_cast(c, inside, DT_bool);
        Node *found = onnx_emit_make(c, OP_nonzero, 1, &inside);
        attr_set_dims(found, "extent", &extent, 1);
        Type list = {.dtype = DT_i64, .rank = 1, .dim = {extent}};
        onnx_result(c, i, onnx_take(c, x, onnx_reshape(c, onnx_finish(c, found), &list), axis));
        start = end;
    }
}

void onnx_split(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    Graph *g = c->graph;
    int axis = onnx_axis(c, onnx_int(c, "axis", 0), x->type.rank), parts = (int)c->proto->n_output,
        n = 0;
    const int64_t *given = onnx_ints(c, "split", &n);
    const Dim *const *known;
    if (onnx_operand(c, 1) && !c->import->text && !onnx_find_elements(c, 1, &known, &n)) {
        split_by_values(c, x, axis);
        return;
    }
    const Dim *const *sizes = onnx_operand(c, 1) ? onnx_need_elements(c, 1, &n, "split") : NULL;
    const Dim *at = dim_const(g, 0), *count = dim_const(g, parts), *size = x->type.dim[axis];
    if (parts > ONNX_MAX_RESULTS || ((given || sizes) && n != parts))
        onnx_fatal(c, "%d sizes for %d results", n, parts);
    if (given || sizes) check_split(c, size, n, given, sizes);
    const Dim *even =
        dim_binary(g, DIM_FLOORDIV, dim_binary(g, DIM_ADD, size, dim_const(g, parts - 1)), count);
    for (int i = 0; i < parts; i++) {
        const Dim *extent = sizes   ? sizes[i]
                            : given ? dim_const(g, given[i])
                                    : even,
                  *end = dim_binary(g, DIM_ADD, at, extent);
        onnx_result(c, i, slice_axis(c, x, axis, (const Dim *[]){at, end}, 1));
        at = end;
    }
}
