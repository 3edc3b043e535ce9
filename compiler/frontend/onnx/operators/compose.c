// Short ways to write core ops, for operators that are formulas over them.
#include "frontend/onnx/operators/compose.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "ir/convert.h"

// ---------------------------------------------------------------------------------------- formulas
static Node *build(OnnxCall *c, const Expr *e, DType dtype, Node *const *in) {
    if (e->kind == EXPR_ARG) return in[e->arg];
    if (e->kind == EXPR_CONST) return onnx_scalar(c, dtype, e->value);
    Node *operands[3];
    for (int i = 0; i < e->n; i++) operands[i] = build(c, e->in[i], dtype, in);
    return onnx_emit(c, e->op, e->n, operands);
}

DType onnx_wide(DType t) { return dtype_is_float(t) && dtype_bits(t) < 32 ? DT_f32 : t; }

// Computed in f32 and rounded once when the first operand is a narrower float.
Node *onnx_formula(OnnxCall *c, Node *const *in, int n, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(c->graph->arena, format, args), *end;
    va_end(args);
    const Expr *e = expr_parse(c->graph->arena, text, &end);
    if (!e || *end) onnx_fatal(c, "the formula %s does not parse at \"%s\"", text, end);
    DType narrow = in[0]->type.dtype, wide = onnx_wide(narrow);
    Node *operands[8];
    for (int i = 0; i < n; i++)
        operands[i] = in[i]->type.dtype == narrow ? onnx_cast(c, in[i], wide) : in[i];
    Node *r = build(c, e, wide, operands);
    return r->type.dtype == wide ? onnx_cast(c, r, narrow) : r;
}

// ------------------------------------------------------------------------------------------- views
Node *onnx_permute(OnnxCall *c, Node *x, const int64_t *perm) {
    return build_transpose(onnx_builder(c), x, perm);
}

Node *onnx_swap(OnnxCall *c, Node *x, int a, int b) { return build_swap(onnx_builder(c), x, a, b); }

Node *onnx_shape_to(OnnxCall *c, Node *x, int rank, const Dim *const *dims) {
    Type t = type_of(x->type.dtype, rank, dims);
    return onnx_reshape(c, x, &t);
}

Node *onnx_expand_to(OnnxCall *c, Node *x, const Type *shape) {
    return build_expand(onnx_builder(c), x, shape->rank, shape->dim);
}

Node *onnx_slice_at(OnnxCall *c, Node *x, int axis, const Dim *start, const Dim *extent) {
    return build_slice(onnx_builder(c), x, (Slice){axis, start, extent, 1});
}

Node *onnx_slice_from(OnnxCall *c, Node *x, int axis, int64_t start, int64_t extent) {
    return onnx_slice_at(c, x, axis, dim_const(c->graph, start), dim_const(c->graph, extent));
}

Node *onnx_reverse(OnnxCall *c, Node *x, int axis) {
    return build_reverse(onnx_builder(c), x, axis);
}

// ------------------------------------------------------------------------------------ computations
Node *onnx_reduce_over(OnnxCall *c, Op op, Node *x, const int64_t *axes, int n, bool keep) {
    return build_reduce(onnx_builder(c), op, x, axes, n, keep);
}

Node *onnx_reduce_axis(OnnxCall *c, Op op, Node *x, int axis, bool keep) {
    return onnx_reduce_over(c, op, x, (int64_t[]){axis}, 1, keep);
}

Node *onnx_softmax_axis(OnnxCall *c, Node *x, int axis) {
    return build_softmax(onnx_builder(c), x, axis);
}

// Operands without elements along the axis (a cache before the first token) are left out.
Node *onnx_join(OnnxCall *c, Node *const *in, int n, int axis) {
    if (n < 1) onnx_fatal(c, "has no elements along an axis that it works on");
    Node **kept = ARENA_ARRAY(c->graph->arena, Node *, n + 1);
    int used = 0;
    for (int i = 0; i < n; i++) {
        bool empty = axis < in[i]->type.rank && dim_upper(in[i]->type.dim[axis]) == 0;
        if (!empty || (i + 1 == n && !used)) kept[used++] = in[i];
    }
    if (used == 1) return kept[0];
    return build_concat(onnx_builder(c), used, kept, axis);
}

Node *onnx_take(OnnxCall *c, Node *x, Node *index, int axis) {
    return build_gather(onnx_builder(c), x, index, axis);
}

Node *onnx_tuple_item(OnnxCall *c, Node *tuple, int index) {
    return node_item(c->graph, tuple, index, NULL);
}

Node *onnx_pad_with(OnnxCall *c, Node *x, const OnnxPads *p, double value) {
    return onnx_pad_by(c, x, p, onnx_scalar(c, x->type.dtype, value));
}

Node *onnx_pad_by(OnnxCall *c, Node *x, const OnnxPads *p, Node *value) {
    PadDims pads;
    for (int i = 0; i < MAX_RANK; i++) {
        pads.low[i] = dim_const(c->graph, p->low[i]),
        pads.high[i] = dim_const(c->graph, p->high[i]);
        pads.interior[i] = p->interior[i];
    }
    return build_pad(onnx_builder(c), x, &pads, value);
}

static int64_t upper_bound(const OnnxCall *c, const char *name, int64_t absent) {
    const OnnxDim *d = onnx_find_dim(c->import->options, name);
    return d ? d->upper : absent;
}

const Dim *onnx_data_dependent_size(OnnxCall *c, const char *name, const Dim *bound) {
    Arena *arena = c->graph->arena;
    char *word = arena_strdup(arena, name);
    for (char *p = word; *p; p++) *p = (char)(isalnum((unsigned char)*p) ? *p : '_');
    const char *unique = word;
    for (int i = 0; dim_find_symbol(c->graph, unique); i++)
        unique = arena_printf(arena, "%s_%d", word, i);
    int64_t most = bound ? dim_upper(bound) : INT64_MAX,
            told = upper_bound(c, unique, ONNX_DEFAULT_BOUND);
    bool asked = upper_bound(c, unique, -1) >= 0;
    return dim_symbol(c->graph, unique, 0, told < most && (asked || !bound) ? told : most);
}

Node *onnx_number_of(OnnxCall *c, const Dim *d, DType to) {
    return onnx_cast(c, build_size(onnx_builder(c), d), to);
}

Node *onnx_index_along(OnnxCall *c, const Type *shape, int axis) {
    return build_iota(onnx_builder(c), shape->rank, shape->dim, axis);
}

// --------------------------------------------------------------------------------------- constants
Node *onnx_numbers(OnnxCall *c, DType dtype, int rank, const int64_t *dim, const double *values) {
    Tensor *t = ARENA_NEW(c->graph->arena, Tensor);
    *t = (Tensor){.dtype = dtype, .rank = rank};
    memcpy(t->dim, dim, (size_t)rank * sizeof *dim);
    int64_t n = tensor_count(t);
    t->bytes = dtype_bytes(dtype, n);
    void *data = arena_alloc(c->graph->arena, t->bytes + 1);
    for (int64_t i = 0; i < n; i++) dtype_store(dtype, data, i, values[i]);
    t->data = data;
    return onnx_constant(c, t);
}

Node *onnx_integers(OnnxCall *c, const int64_t *values, int64_t n) {
    double *as_double = ARENA_ARRAY(c->graph->arena, double, n + 1);
    for (int64_t i = 0; i < n; i++) as_double[i] = (double)values[i];
    return onnx_numbers(c, DT_i64, 1, &n, as_double);
}

typedef struct {
    const char *options;  // "--dim=h=N --dim=w=N"
    const Dim *named[MAX_RANK];
    int n;
} SizesToFix;

static void add_sizes(const OnnxCall *c, SizesToFix *s, const Dim *d) {
    if (d->kind == DIM_CONST) return;
    if (d->kind != DIM_SYMBOL) {
        add_sizes(c, s, d->a), add_sizes(c, s, d->b);
        return;
    }
    for (int i = 0; i < s->n; i++)
        if (s->named[i] == d) return;
    if (s->n == MAX_RANK) return;
    s->named[s->n++] = d;
    s->options = arena_printf(c->graph->arena, "%s%s--dim=%s=N", s->options, *s->options ? " " : "",
                              d->name);
}

const char *onnx_sizes_to_fix(const OnnxCall *c, const Dim *const *dims, int n) {
    SizesToFix s = {.options = ""};
    for (int i = 0; i < n; i++) add_sizes(c, &s, dims[i]);
    return *s.options ? s.options : "fix the dimensions it depends on with --dim";
}

int64_t onnx_extent(const OnnxCall *c, const Node *x, int axis) {
    int64_t n;
    if (axis >= x->type.rank || !dim_is_const(x->type.dim[axis], &n))
        onnx_fatal(c, "axis %d of %s must be constant\nhint: %s", axis, type_text(&x->type),
                   onnx_sizes_to_fix(c, &x->type.dim[axis], axis < x->type.rank));
    return n;
}

int onnx_int_list(OnnxCall *c, int i, int64_t *list, int most, const char *what) {
    int n;
    const Dim *const *elements = onnx_need_elements(c, i, &n, what);
    if (n > most) onnx_fatal(c, "%s has %d values, at most %d are expected", what, n, most);
    for (int j = 0; j < n; j++)
        if (!dim_is_const(elements[j], &list[j]))
            onnx_fatal(c, "%s must be constant\nhint: %s", what, onnx_sizes_to_fix(c, elements, n));
    return n;
}
