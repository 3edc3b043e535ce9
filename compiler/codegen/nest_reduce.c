// Nests that sum up: reductions, softmax, and products of two activations.
//
// The numeric contract: over the innermost axes sixteen lanes, element i in lane i mod 16, and the
// tree at the end; over any other axes one ascending chain; a product's element is one chain of fma
// over ascending k.
#include <string.h>

#include "codegen/nest.h"

// -------------------------------------------------------------------------------------------- axes
typedef struct Reduction {
    const Program *p;
    const Kernel *k;
    const View *v;           // the operand
    bool reduced[MAX_RANK];  // axes of the operand
    bool inner;              // the innermost ones, but for axes of one element
    bool adjacent;           // and their elements follow each other in memory
    const Dim *count;        // elements of one result
    NestIndex at;            // the operand's index: of the result where kept, r<axis> where reduced
} Reduction;

static void mark_axes(Reduction *r) {
    int n, rank = r->v->type.rank;
    const int64_t *axes = kernel_ints(r->k, "axes", &n);
    for (int i = 0; i < n; i++) r->reduced[axes[i]] = true;
    for (int i = 0; !n && i < rank; i++) r->reduced[i] = true;
}

static Reduction reduction_of(const Program *p, const Kernel *k) {
    static const char *const inner[MAX_RANK] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"};
    Reduction r = {.p = p,
                   .k = k,
                   .v = &k->in[0],
                   .inner = true,
                   .adjacent = true,
                   .count = dim_const(p->graph, 1)};
    int rank = r.v->type.rank, keepdims = (int)kernel_int(k, "keepdims", 1), kept = 0;
    mark_axes(&r);
    NestIndex result = nest_index(&k->out[0].type, k->out[0].type.rank);
    r.at = (NestIndex){.rank = rank, .end = rank};
    for (int i = 0; i < rank; i++) {
        bool one = dim_is(r.v->type.dim[i], 1);
        r.at.index[i] = one            ? "0"
                        : r.reduced[i] ? inner[i]
                                       : result.index[keepdims ? i : kept],
        kept += !r.reduced[i];
    }
    bool gap = false;
    for (int i = rank - 1; i >= 0; i--) {
        bool one = dim_is(r.v->type.dim[i], 1);
        if (!r.reduced[i] && !one) gap = true;
        if (!r.reduced[i]) continue;
        if (gap && !one) r.inner = false;
        if (r.v->stride[i] != r.count && !dim_is(r.v->type.dim[i], 1)) r.adjacent = false;
        r.count = dim_binary(p->graph, DIM_MUL, r.count, r.v->type.dim[i]);
    }
    r.adjacent = r.adjacent && r.inner && r.v->base != BASE_SCALAR;
    return r;
}

// ---------------------------------------------------------------------------------- the operations
typedef struct Reducer {
    Op op;
    const char *start, *vector, *scalar,
        *lanes;  // vf_add(a, b), sf_add(a, b), and what makes one of sixteen
} Reducer;

static const Reducer *reducer_of(const Kernel *k) {
    static const Reducer reducers[] = {
        {OP_reduce_sum, "0", "vf_add", "sf_add", "vf_sum"},
        {OP_reduce_mean, "0", "vf_add", "sf_add", "vf_sum"},
        {OP_reduce_max, "-INFINITY", "vf_max", "sf_max", "vf_reduce_max"},
        {OP_reduce_min, "INFINITY", "vf_min", "sf_min", "vf_reduce_min"},
        {OP_reduce_prod, "1", "vf_mul", "sf_mul", "vf_product"},
    };
    for (size_t i = 0; i < sizeof reducers / sizeof *reducers; i++)
        if (reducers[i].op == k->op) return &reducers[i];
    return &reducers[0];
}

static void store_result(Text *t, const Reduction *r, const char *value, int depth) {
    const View *out = &r->k->out[0];
    nest_indent(t, depth), nest_element(t, r->p, out, "y", nest_index(&out->type, out->type.rank));
    text_add(t, " = %s", value);
    if (r->k->op == OP_reduce_mean)
        text_add(t, " / (float)("), c_dim(t, r->p, r->count), text_add(t, ")");
    text_add(t, ";\n");
}

// const float *p = a0 + i0 * 40; omitted where p is a0 itself: the first element
static const char *adjacent_elements(Text *t, const Reduction *r, int depth) {
    NestIndex outer = r->at;
    Text from = {0};
    for (int i = 0; i < outer.rank; i++)
        if (r->reduced[i]) outer.index[i] = "0";
    nest_address(&from, r->p, r->v, "a0", outer);
    bool itself = !strcmp(from.data, "a0");
    if (!itself) nest_indent(t, depth), text_add(t, "const float *p = %s;\n", from.data);
    text_free(&from);
    return itself ? "a0" : "p";
}

static void write_adjacent(Text *t, const Reduction *r, int depth) {
    const Reducer *f = reducer_of(r->k);
    Text count = {0};
    char value[64];
    c_dim(&count, r->p, r->count);
    const char *p = adjacent_elements(t, r, depth);
    nest_indent(t, depth), text_add(t, "vf lanes = vf_set1(%s);\n", f->start);
    nest_indent(t, depth), text_add(t, "for (int j = 0; j < %s; j += LANES) {\n", count.data);
    nest_indent(t, depth + 1), text_add(t, "int n = %s - j;\n", count.data);
    nest_indent(t, depth + 1), text_add(t, "vf x = vf_load_n(%s + j, n);\n", p);
    nest_indent(t, depth + 1),
        text_add(t,
                 "lanes = n < LANES ? vf_where(vm_first(n), %s(x, lanes), lanes) : %s(x, lanes);\n",
                 f->vector, f->vector);
    nest_indent(t, depth), text_add(t, "}\n");
    snprintf(value, sizeof value, "%s(lanes)", f->lanes);
    store_result(t, r, value, depth);
    text_free(&count);
}

// One element after the other: sixteen lanes when the axes are the innermost, else one chain.
static void write_one_by_one(Text *t, const Reduction *r, int depth) {
    const Reducer *f = reducer_of(r->k);
    char value[64] = "total";
    int inside = depth;
    if (r->inner) nest_indent(t, depth), text_add(t, "float lane[LANES];\n");
    if (r->inner) nest_indent(t, depth), text_add(t, "vf_store(lane, vf_set1(%s));\n", f->start);
    nest_indent(t, depth), text_add(t, r->inner ? "int e = 0;\n" : "float total = %s;\n", f->start);
    for (int i = 0; i < r->v->type.rank; i++)
        if (r->reduced[i]) inside = nest_loop(t, r->p, r->at.index[i], r->v->type.dim[i], inside);
    const char *sum = r->inner ? "lane[e % LANES]" : "total";
    nest_indent(t, inside), text_add(t, "%s = %s(", sum, f->scalar);
    if (r->v->base == BASE_SCALAR)
        nest_plain_load(t, r->p, r->v, 0, r->at);
    else
        nest_element(t, r->p, r->v, "a0", r->at);
    text_add(t, ", %s);\n", sum);
    if (r->inner) nest_indent(t, inside), text_add(t, "e++;\n");
    while (inside > depth) nest_indent(t, --inside), text_add(t, "}\n");
    if (r->inner) snprintf(value, sizeof value, "%s(vf_load(lane))", f->lanes);
    store_result(t, r, value, depth);
}

// ---- sixteen results at once, whose operands are adjacent: each lane does what one result does

// The last axis of more than one element, if the operand's elements along it are adjacent; or -1
static int vector_axis(const Reduction *r) {
    const View *out = &r->k->out[0];
    int axis = out->type.rank - 1, of_operand = -1;
    while (axis > 0 && dim_is(out->type.dim[axis], 1)) axis--;
    if (axis < 0 || dim_is(out->type.dim[axis], 1) || r->v->base == BASE_SCALAR) return -1;
    for (int i = 0, kept = 0; i < r->v->type.rank; i++) {
        bool keeps = kernel_int(r->k, "keepdims", 1);
        if (!r->reduced[i] && (keeps ? i : kept) == axis) of_operand = i;
        kept += !r->reduced[i];
    }
    bool adjacent =
        of_operand >= 0 && dim_is(r->v->stride[of_operand], 1) && dim_is(out->stride[axis], 1);
    return adjacent && nest_parted(r->p, r->k) <= axis ? axis : -1;
}

// The index of the vector's axis is j.
static NestIndex along_vector(NestIndex at, const char *name) {
    for (int i = 0; i < at.rank; i++)
        if (!strcmp(at.index[i], name)) at.index[i] = "j";
    return at;
}

static bool has_whole_vectors(const Reduction *r, int axis) {
    return dim_divides(r->p->graph, dim_const(r->p->graph, 16), r->k->out[0].type.dim[axis]);
}

static int open_vectors(Text *t, const Reduction *r, int axis) {
    const Type *type = &r->k->out[0].type;
    int depth = nest_open(t, r->p, r->k, axis);
    nest_indent(t, depth), text_add(t, "for (int j = 0; j < ");
    c_dim(t, r->p, type->dim[axis]), text_add(t, "; j += LANES) {\n");
    if (has_whole_vectors(r, axis)) return depth + 1;
    nest_indent(t, ++depth), text_add(t, "int n = ");
    c_dim(t, r->p, type->dim[axis]), text_add(t, " - j;\n");
    return depth;
}

static void write_vectors(Text *t, const Reduction *r, int axis) {
    const Reducer *f = reducer_of(r->k);
    const View *out = &r->k->out[0];
    NestIndex result = nest_index(&out->type, out->type.rank);
    const char *name = result.index[axis], *sum = r->inner ? "lane[e % LANES]" : "total";
    const bool whole = has_whole_vectors(r, axis);
    int depth = open_vectors(t, r, axis), inside = depth;
    nest_indent(t, depth), text_add(t, "vf %s = ", r->inner ? "lane[LANES], start" : "total");
    text_add(t, "vf_set1(%s);\n", f->start);
    if (r->inner) nest_indent(t, depth), text_add(t, "fill_lanes(lane, start);\n");
    if (r->inner) nest_indent(t, depth), text_add(t, "int e = 0;\n");
    for (int i = 0; i < r->v->type.rank; i++)
        if (r->reduced[i]) inside = nest_loop(t, r->p, r->at.index[i], r->v->type.dim[i], inside);
    nest_indent(t, inside), text_add(t, "%s = %s(vf_load%s(", sum, f->vector, whole ? "" : "_n");
    nest_address(t, r->p, r->v, "a0", along_vector(r->at, name));
    text_add(t, whole ? "), %s);\n" : ", n), %s);\n", sum);
    if (r->inner) nest_indent(t, inside), text_add(t, "e++;\n");
    while (inside > depth) nest_indent(t, --inside), text_add(t, "}\n");
    nest_indent(t, depth), text_add(t, "vf_store%s(", whole ? "" : "_n");
    nest_address(t, r->p, out, "y", along_vector(result, name));
    text_add(t, r->k->op == OP_reduce_mean ? ", vf_div(" : ", ");
    text_add(t, r->inner ? "%s_of(lane)" : "total", f->lanes);
    if (r->k->op == OP_reduce_mean)
        text_add(t, ", vf_set1((float)("), c_dim(t, r->p, r->count), text_add(t, ")))");
    text_add(t, whole ? ");\n" : ", n);\n");
    nest_close(t, depth);
}

void write_reduce(Text *t, const Program *p, const Kernel *k) {
    Reduction r = reduction_of(p, k);
    const int axis = k->in[0].type.dtype == DT_f32 && !r.adjacent ? vector_axis(&r) : -1;
    if (axis >= 0) {
        write_vectors(t, &r, axis);
        return;
    }
    int depth = nest_open(t, p, k, k->out[0].type.rank);
    if (k->in[0].type.dtype != DT_f32)
        write_plain_reduce(t, p, k, &(PlainReduction){r.reduced, r.at, r.count, depth});
    else if (r.adjacent)
        write_adjacent(t, &r, depth);
    else
        write_one_by_one(t, &r, depth);
    nest_close(t, depth);
}

// ----------------------------------------------------------------------------------------- softmax
// Returns true if all later axes have one element.
static bool is_innermost(const Type *type, int axis) {
    for (int i = axis + 1; i < type->rank; i++)
        if (!dim_is(type->dim[i], 1)) return false;
    return true;
}
// Along the last axis row by row; along another one, or of other types than f32, the row is
// collected first.
static void softmax_along(Text *t, const Program *p, const Kernel *k, int axis) {
    const Type *type = &k->out[0].type;
    NestIndex at = nest_index(type, type->rank);
    const char *closing, *real = type->dtype == DT_f64 ? "double" : "float";
    Text n = {0};
    at.index[axis] = "j";
    c_dim(&n, p, type->dim[axis]);
    int first = axis == type->rank - 1 ? axis : axis > 0, depth = nest_open(t, p, k, first);
    for (int i = first; i < type->rank; i++)
        if (i != axis) depth = nest_loop(t, p, at.index[i], type->dim[i], depth);
    nest_indent(t, depth),
        text_add(t, "%s row[%lld];\n", real, (long long)dim_upper(type->dim[axis]));
    nest_indent(t, depth), text_add(t, "for (int j = 0; j < %s; j++) row[j] = ", n.data),
        nest_plain_load(t, p, &k->in[0], 0, at);
    text_add(t, ";\n");
    const char *rows = type->dtype == DT_f64 ? "row_d" : is_innermost(type, axis) ? "row" : "chain";
    nest_indent(t, depth), text_add(t, "softmax_%s(%s, row, row);\n", rows, n.data);
    nest_indent(t, depth), text_add(t, "for (int j = 0; j < %s; j++) ", n.data),
        nest_element(t, p, &k->out[0], "y", at);
    text_add(t, " = "),
        nest_plain_convert(t, type->dtype == DT_f64 ? DT_f64 : DT_f32, type->dtype, &closing);
    text_add(t, "row[j]%s;\n", closing);
    nest_close(t, depth);
    text_free(&n);
}

void write_softmax(Text *t, const Program *p, const Kernel *k) {
    const Type *type = &k->out[0].type;
    int axis = kernel_axis(k);
    nest_plain_check(k, type->dtype);
    if (axis != type->rank - 1 || type->dtype != DT_f32 || !dim_is(k->in[0].stride[axis], 1)) {
        softmax_along(t, p, k, axis);
        return;
    }
    int depth = nest_open(t, p, k, type->rank - 1);
    nest_pointers(t, p, k, depth);
    nest_indent(t, depth), text_add(t, "softmax_row("), c_dim(t, p, type->dim[axis]);
    text_add(t, ", %s, %s);\n", nest_pointer(p, k, 0), nest_result(p, k));
    nest_close(t, depth);
}

// ------------------------------------------------------------------------------------------ matmul
// " * (ptrdiff_t)384", nothing for 1
static void write_times(Text *t, const Program *p, const Dim *stride) {
    if (!dim_is(stride, 1)) text_add(t, " * (ptrdiff_t)"), c_dim(t, p, stride);
}

// Where row k of b has the columns from j on
static void load_columns(Text *t, const Program *p, const View *b, const char *from,
                         const NestVector *v) {
    const Dim *step = b->stride[b->type.rank - 1];
    bool adjacent = dim_is(step, 1);
    text_add(t, "vf_load%s(%s + k", adjacent ? v->whole ? "" : "_n" : "_strided", from);
    write_times(t, p, b->stride[b->type.rank - 2]);
    text_add(t, "%s", v->j);
    if (!adjacent && !v->one) write_times(t, p, step);
    if (!adjacent) text_add(t, ", "), c_dim(t, p, step);
    text_add(t, adjacent && v->whole ? ")" : ", %s)", v->whole ? "LANES" : v->n);
}

// A pointer to the row of a, or to the columns of b; nothing where that is the operand itself
static const char *open_operand(Text *t, const Program *p, const Kernel *k, int i, int depth) {
    const Type *type = &k->out[0].type;
    NestIndex at = nest_index(type, type->rank);
    Text from = {0};
    at.index[type->rank - 1] = "0";
    if (i) at.index[type->rank - 2] = "0";
    nest_address(&from, p, &k->in[i], i ? "a1" : "a0", at);
    const char *name = arena_printf(p->arena, from.length > 2 ? "p%d" : "a%d", i);
    if (from.length > 2)
        nest_indent(t, depth), text_add(t, "const float *%s = %s;\n", name, from.data);
    text_free(&from);
    return name;
}

// ... and to where the row of the product goes
static void open_product(Text *t, const Program *p, const Kernel *k, int depth) {
    const Type *type = &k->out[0].type;
    if (!strcmp(nest_result(p, k), "y")) return;
    nest_indent(t, depth), text_add(t, "float *q = "),
        nest_address(t, p, &k->out[0], "y", nest_index(type, type->rank - 1));
    text_add(t, ";\n");
}

// Batches and rows are the outer axes, columns the vector: acc = fma(a[k], b[k][j], acc), k
// ascending.
void write_activation_matmul(Text *t, const Program *p, const Kernel *k) {
    const View *a = &k->in[0], *b = &k->in[1];
    const Type *type = &k->out[0].type;
    if (a->type.rank < 2 || b->type.rank < 2 || type->dtype != DT_f32 || a->base == BASE_SCALAR ||
        b->base == BASE_SCALAR) {
        write_plain_matmul(t, p, k);
        return;
    }
    const NestVector vector = nest_vector(p, k);
    int depth = nest_open(t, p, k, type->rank - 1);
    const char *row = open_operand(t, p, k, 0, depth), *columns = open_operand(t, p, k, 1, depth);
    open_product(t, p, k, depth);
    depth = nest_open_vector(t, &vector, depth);
    nest_indent(t, depth), text_add(t, "vf sum = vf_zero();\n");
    nest_indent(t, depth), text_add(t, "for (int k = 0; k < "),
        c_dim(t, p, a->type.dim[a->type.rank - 1]), text_add(t, "; k++)\n");
    nest_indent(t, depth + 1), text_add(t, "sum = vf_fma(vf_set1(%s[k", row),
        write_times(t, p, a->stride[a->type.rank - 1]);
    text_add(t, "]), "), load_columns(t, p, b, columns, &vector), text_add(t, ", sum);\n");
    nest_indent(t, depth),
        text_add(t, "vf_store%s(%s%s, sum", vector.whole ? "" : "_n", nest_result(p, k), vector.j);
    if (!vector.whole) text_add(t, ", %s", vector.n);
    text_add(t, ");\n");
    nest_close(t, depth);
}
