// Operators that look along an axis, and gathers and scatters by element or position.
#include <math.h>
#include <string.h>

#include "frontend/onnx/operators/compose.h"
#include "ir/convert.h"
#include "ir/index.h"

void onnx_arg(OnnxCall *c, int op) {
    Node *x = onnx_node(c, 0), *n = onnx_emit_make(c, (Op)op, 1, &x);
    attr_set_int(n, "axis", onnx_axis(c, onnx_int(c, "axis", 0), x->type.rank));
    attr_set_int(n, "keepdims", onnx_int(c, "keepdims", 1));
    attr_set_int(n, "select_last_index", onnx_int(c, "select_last_index", 0));
    onnx_result(c, 0, onnx_finish(c, n));
}

void onnx_cumulate(OnnxCall *c, int op) {
    Node *given = onnx_node(c, 0), *x = onnx_cast(c, given, onnx_wide(given->type.dtype)),
         *n = onnx_emit_make(c, (Op)op, 1, &x);
    attr_set_int(n, "axis", onnx_axis(c, onnx_need_int(c, 1, "the axis"), x->type.rank));
    attr_set_int(n, "exclusive", onnx_int(c, "exclusive", 0));
    attr_set_int(n, "reverse", onnx_int(c, "reverse", 0));
    onnx_result(c, 0, onnx_cast(c, onnx_finish(c, n), given->type.dtype));
}

// An axis whose size is an expression (b * n) may be too short for k elements for all that is
// known: it is made long enough by values that come last.
static Node *long_enough(OnnxCall *c, Node *x, int axis, const Dim *k, bool largest) {
    Graph *g = c->graph;
    const Dim *size = x->type.dim[axis],
              *missing = dim_binary(g, DIM_MAX, dim_sub(g, k, size), dim_const(g, 0));
    if (dim_upper(dim_sub(g, k, size)) <= 0 || size->kind == DIM_SYMBOL ||
        size->kind == DIM_CONST || !dtype_is_float(x->type.dtype))
        return x;
    PadDims pads = {0};
    for (int i = 0; i < x->type.rank; i++) {
        pads.low[i] = dim_const(g, 0);
        pads.high[i] = i == axis ? missing : pads.low[i];
    }
    x = build_pad(onnx_builder(c), x, &pads,
                  onnx_scalar(c, x->type.dtype, largest ? -INFINITY : INFINITY));
    Type t = x->type;
    t.dim[axis] = dim_binary(g, DIM_MAX, size, k);
    return onnx_slice_at(c, x, axis, dim_const(g, 0), t.dim[axis]);
}

// k: an attribute before opset 10
void onnx_top_k(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    int64_t k = onnx_int(c, "k", 0);
    const Dim *extent = dim_const(c->graph, k);
    if (onnx_operand(c, 1)) {
        int count;
        const Dim *const *elements = onnx_need_elements(c, 1, &count, "k");
        if (count != 1) onnx_fatal(c, "k must be one number");
        extent = elements[0];
    }
    int axis = onnx_axis(c, onnx_int(c, "axis", -1), x->type.rank);
    bool largest = onnx_int(c, "largest", 1);
    if (dim_is_const(extent, &k)) dim_raise(x->type.dim[axis], k);  // fewer have no k highest
    x = long_enough(c, x, axis, extent, largest);
    Node *n = onnx_emit_make(c, OP_top_k, 1, &x);
    attr_set_dims(n, "extent", &extent, 1);
    attr_set_int(n, "axis", axis);
    attr_set_int(n, "largest", largest);
    n = onnx_finish(c, n);
    onnx_result(c, 0, onnx_tuple_item(c, n, 0));
    onnx_result(c, 1, onnx_tuple_item(c, n, 1));
}

void onnx_gather_elements(OnnxCall *c, int argument) {
    (void)argument;
    Node *in[] = {onnx_node(c, 0), onnx_node(c, 1)},
         *n = onnx_emit_make(c, OP_gather_elements, 2, in);
    attr_set_int(n, "axis", onnx_axis(c, onnx_int(c, "axis", 0), in[0]->type.rank));
    onnx_result(c, 0, onnx_finish(c, n));
}

void onnx_gather_nd(OnnxCall *c, int argument) {
    (void)argument;
    Node *in[] = {onnx_node(c, 0), onnx_node(c, 1)}, *n = onnx_emit_make(c, OP_gather_nd, 2, in);
    attr_set_int(n, "batch_dims", onnx_int(c, "batch_dims", 0));
    onnx_result(c, 0, onnx_finish(c, n));
}

// ScatterElements, and Scatter, its old name
void onnx_scatter(OnnxCall *c, int op) {
    Node *in[] = {onnx_node(c, 0), onnx_node(c, 1), onnx_node(c, 2)},
         *n = onnx_emit_make(c, (Op)op, 3, in);
    if (op == OP_scatter_elements)
        attr_set_int(n, "axis", onnx_axis(c, onnx_int(c, "axis", 0), in[0]->type.rank));
    attr_set_string(n, "reduction", onnx_string(c, "reduction", "none"));
    onnx_result(c, 0, onnx_finish(c, n));
}

// indices, depth, [off, on]: equal(iota along the new axis, index), negative indices counted from
// the end
void onnx_one_hot(OnnxCall *c, int argument) {
    (void)argument;
    Graph *g = c->graph;
    Node *index = onnx_cast(c, onnx_node(c, 0), DT_i64), *values = onnx_node(c, 2);
    double asked = onnx_need_float(c, 1, "the depth");
    if (!(asked >= 0 && asked <= INT32_MAX))
        onnx_fatal(c, "the depth is %g, expected 0 to %d", asked, INT32_MAX);
    int64_t depth = (int64_t)asked;
    int rank = index->type.rank + 1, axis = onnx_axis(c, onnx_int(c, "axis", -1), rank);
    if (rank > MAX_RANK) onnx_fatal(c, "the result has more than %d axes", MAX_RANK);
    Type shape = {.rank = rank};
    const Dim *dims[MAX_RANK];
    for (int i = 0; i < rank; i++) {
        dims[i] = i == axis ? dim_const(g, 1) : index->type.dim[i - (i > axis)];
        shape.dim[i] = i == axis ? dim_const(g, depth) : dims[i];
    }
    index = onnx_formula(c, (Node *[]){onnx_shape_to(c, index, rank, dims)}, 1,
                         "where(less($0, 0), add($0, %a), $0)", (double)depth);
    Node *hot =
        ONNX_BINARY(c, OP_equal, onnx_cast(c, onnx_index_along(c, &shape, axis), DT_i64), index);
    Node *off = onnx_reshape(c, onnx_slice_from(c, values, 0, 0, 1), &(Type){0});
    Node *on = onnx_reshape(c, onnx_slice_from(c, values, 0, 1, 1), &(Type){0});
    onnx_result(c, 0, onnx_emit(c, OP_where, 3, (Node *[]){hot, on, off}));
}

void onnx_eye_like(OnnxCall *c, int argument) {
    (void)argument;
    Type type = onnx_type(c, 0);
    if (onnx_attribute(c, "dtype") && !onnx_dtype((int32_t)onnx_int(c, "dtype", 1), &type.dtype))
        onnx_fatal(c, "dtype is %lld, which is no element type that is supported",
                   (long long)onnx_int(c, "dtype", 1));
    if (type.rank != 2) onnx_fatal(c, "takes a matrix, not %s", type_text(&type));
    Node *row = onnx_index_along(c, &type, 0), *column = onnx_index_along(c, &type, 1);
    Node *diagonal = onnx_formula(c, (Node *[]){row, column}, 2, "equal($1, add($0, %a))",
                                  (double)onnx_int(c, "k", 0));
    onnx_result(c, 0, onnx_cast(c, diagonal, type.dtype));
}

static const Dim *counted(OnnxCall *c, const Type *x) {
    return onnx_data_dependent_size(c, "count", type_count(c->graph, x));
}

static bool is_true_everywhere(Node *x) {
    const Dim *symbols[MAX_RANK], *value = x->type.rank ? index_expression(x, symbols) : NULL;
    return value && (dim_lower(value) > 0 || dim_upper(value) < 0);
}

// The index of every element: [rank, count].
static Node *all_indices(OnnxCall *c, const Type *shape) {
    Node *in[MAX_RANK];
    const Dim *row[] = {dim_const(c->graph, 1), type_count(c->graph, shape)};
    for (int i = 0; i < shape->rank; i++)
        in[i] = onnx_cast(c, onnx_shape_to(c, onnx_index_along(c, shape, i), 2, row), DT_i64);
    if (shape->rank == 1) return in[0];
    Node *n = onnx_emit_make(c, OP_concat, shape->rank, in);
    attr_set_int(n, "axis", 0);
    return onnx_finish(c, n);
}

static Node *nonzero(OnnxCall *c, Node *x) {
    if (is_true_everywhere(x)) return all_indices(c, &x->type);
    const Dim *extent = counted(c, &x->type);
    Node *n = onnx_emit_make(c, OP_nonzero, 1, &x);
    attr_set_dims(n, "extent", &extent, 1);
    return onnx_finish(c, n);
}

void onnx_nonzero(OnnxCall *c, int argument) {
    (void)argument;
    onnx_result(c, 0, nonzero(c, onnx_node(c, 0)));
}

// The slices along axis (of all elements, without one) whose condition holds.
void onnx_compress(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0), *condition = onnx_node(c, 1);
    bool flat = !onnx_attribute(c, "axis");
    const Dim *count = type_count(c->graph, &x->type);
    if (flat) x = onnx_shape_to(c, x, 1, &count);
    Node *chosen = nonzero(c, condition);
    chosen = onnx_shape_to(c, chosen, 1, &chosen->type.dim[1]);
    onnx_result(
        c, 0,
        onnx_take(c, x, chosen, flat ? 0 : onnx_axis(c, onnx_int(c, "axis", 0), x->type.rank)));
}

// The axis first, all other axes as one; flat without an axis.
static Node *slices_of(OnnxCall *c, Node *x, int axis) {
    int64_t perm[MAX_RANK], at = 1;
    for (int i = 0; i < x->type.rank; i++) perm[i == axis ? 0 : at++] = i;
    if (axis > 0) x = onnx_permute(c, x, perm);
    if (x->type.rank < 2) return x;
    Type rest = {.rank = x->type.rank - 1};
    memcpy(rest.dim, x->type.dim + 1, (size_t)rest.rank * sizeof *rest.dim);
    return onnx_shape_to(c, x, 2, (const Dim *[]){x->type.dim[0], type_count(c->graph, &rest)});
}

void onnx_unique(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    bool flat = !onnx_attribute(c, "axis");
    const Dim *count = type_count(c->graph, &x->type);
    if (flat) x = onnx_shape_to(c, x, 1, &count);
    int axis = flat ? 0 : onnx_axis(c, onnx_int(c, "axis", 0), x->type.rank);
    Type along = {.rank = 1, .dim = {x->type.dim[axis]}};
    const Dim *extent = counted(c, &along);
    Node *slices = slices_of(c, x, axis), *n = onnx_emit_make(c, OP_unique, 1, &slices);
    attr_set_dims(n, "extent", &extent, 1);
    attr_set_int(n, "axis", 0);
    attr_set_int(n, "sorted", onnx_int(c, "sorted", 1));
    n = onnx_finish(c, n);
    onnx_result(c, 0, onnx_take(c, x, onnx_tuple_item(c, n, 1), axis));
    for (int i = 1; i < (int)c->proto->n_output && i < 4; i++)
        onnx_result(c, i, onnx_tuple_item(c, n, i));
}

void onnx_non_max_suppression(OnnxCall *c, int argument) {
    (void)argument;
    Node *in[5] = {NULL};
    for (int i = 0; i < 5; i++) {
        in[i] = onnx_optional_node(c, i);
        if (i >= 2 && in[i] && !dim_is(type_count(c->graph, &in[i]->type), 1))
            onnx_fatal(c, "operand %d is %s, expected one number", i, type_text(&in[i]->type));
    }
    const Tensor *most = onnx_known(c, 2);  // of each batch and class
    Type kept = in[1]->type;
    if (most && tensor_count(most) == 1)
        kept.dim[2] = dim_binary(
            c->graph, DIM_MIN, kept.dim[2],
            dim_const(c->graph, (int64_t)fmax(0, dtype_load(most->dtype, most->data, 0))));
    const Dim *extent = counted(c, &kept);
    Node *n = onnx_emit_make(c, OP_non_max_suppression, 5, in);
    attr_set_dims(n, "extent", &extent, 1);
    attr_set_int(n, "center_point_box", onnx_int(c, "center_point_box", 0));
    onnx_result(c, 0, onnx_finish(c, n));
}

// Without the first row and column `skip`: the minor.
static Node *minor(OnnxCall *c, Node *x, int64_t n, int64_t skip) {
    int rank = x->type.rank;
    Node *parts[2], *rows = onnx_slice_from(c, x, rank - 2, 1, n - 1);
    int count = 0;
    if (skip > 0) parts[count++] = onnx_slice_from(c, rows, rank - 1, 0, skip);
    if (skip + 1 < n) parts[count++] = onnx_slice_from(c, rows, rank - 1, skip + 1, n - 1 - skip);
    return onnx_join(c, parts, count, rank - 1);
}

// By the first row: exact for the small matrices that graphs have.
static Node *determinant(OnnxCall *c, Node *x, int64_t n) {
    int rank = x->type.rank;
    Node *sum = NULL;
    for (int64_t i = 0; i < n; i++) {
        Node *term = onnx_slice_from(c, onnx_slice_from(c, x, rank - 2, 0, 1), rank - 1, i, 1);
        if (n > 1) term = ONNX_BINARY(c, OP_mul, term, determinant(c, minor(c, x, n, i), n - 1));
        sum = sum ? ONNX_BINARY(c, i % 2 ? OP_sub : OP_add, sum, term) : term;
    }
    return sum;
}

void onnx_det(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    int64_t n = onnx_extent(c, x, x->type.rank - 1);
    if (x->type.rank < 2 || n != onnx_extent(c, x, x->type.rank - 2) || n < 1 || n > 6)
        onnx_fatal(c, "takes square matrices of 1 to 6 rows, not %s", type_text(&x->type));
    onnx_result(c, 0, onnx_shape_to(c, determinant(c, x, n), x->type.rank - 2, x->type.dim));
}
