// Nests that sum up: reductions, softmax, and products of two activations.
//
// The numeric contract: over the innermost axes sixteen lanes, element i in lane i mod 16, and the tree at the end; over any
// other axes one ascending chain; a product's element is one chain of fma over ascending k.
#include <string.h>

#include "codegen/nest.h"

// --------------------------------------------------------------------------------------------------------------------- axes
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
    const int64_t *axes = attr_ints(r->k->node, "axes", &n);
    for (int i = 0; i < n; i++) r->reduced[axes[i]] = true;
    for (int i = 0; !n && i < rank; i++) r->reduced[i] = true;
}

static Reduction reduction_of(const Program *p, const Kernel *k) {
    static const char *const inner[MAX_RANK] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"};
    Reduction r = {.p = p, .k = k, .v = &k->in[0], .inner = true, .adjacent = true, .count = dim_const(p->graph, 1)};
    int rank = r.v->type.rank, keepdims = (int)attr_int(k->node, "keepdims", 1), kept = 0;
    mark_axes(&r);
    NestIndex result = nest_index(&k->out[0].type, k->out[0].type.rank);
    r.at = (NestIndex){.rank = rank, .end = rank};
    for (int i = 0; i < rank; i++)
        r.at.index[i] = r.reduced[i] ? inner[i] : result.index[keepdims ? i : kept], kept += !r.reduced[i];
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

// -------------------------------------------------------------------------------------------------------------- the operations
typedef struct Reducer {
    Op op;
    const char *start, *vector, *scalar, *lanes;  // vf_add(a, b), sf_add(a, b), and what makes one of sixteen
} Reducer;

static const Reducer *reducer_of(const Kernel *k) {
    static const Reducer reducers[] = {
        {OP_reduce_sum, "0", "vf_add", "sf_add", "vf_sum"},
        {OP_reduce_mean, "0", "vf_add", "sf_add", "vf_sum"},
        {OP_reduce_max, "-INFINITY", "vf_max", "sf_max", "vf_top"},
        {OP_reduce_min, "INFINITY", "vf_min", "sf_min", "vf_bottom"},
        {OP_reduce_prod, "1", "vf_mul", "sf_mul", "vf_product"},
    };
    for (size_t i = 0; i < sizeof reducers / sizeof *reducers; i++)
        if (reducers[i].op == k->node->op) return &reducers[i];
    return &reducers[0];
}

static void indent(Text *t, int depth) { text_add(t, "%*s", 4 * depth, ""); }

static void store_result(Text *t, const Reduction *r, const char *value, int depth) {
    const View *out = &r->k->out[0];
    indent(t, depth), text_add(t, "*(");
    nest_address(t, r->p, out, "y", nest_index(&out->type, out->type.rank));
    text_add(t, ") = %s", value);
    if (r->k->node->op == OP_reduce_mean) text_add(t, " / (float)("), c_dim(t, r->p, r->count), text_add(t, ")");
    text_add(t, ";\n");
}

static void write_adjacent(Text *t, const Reduction *r, int depth) {
    const Reducer *f = reducer_of(r->k);
    Text count = {0};
    NestIndex outer = r->at;
    char value[64];
    for (int i = 0; i < outer.rank; i++)
        if (r->reduced[i]) outer.index[i] = "0";
    c_dim(&count, r->p, r->count);
    indent(t, depth), text_add(t, "const float *p = "), nest_address(t, r->p, r->v, "a0", outer), text_add(t, ";\n");
    indent(t, depth), text_add(t, "vf lanes = vf_set1(%s);\n", f->start);
    indent(t, depth), text_add(t, "for (int j = 0; j < %s; j += LANES) {\n", count.data);
    indent(t, depth + 1), text_add(t, "int n = %s - j;\n", count.data);
    indent(t, depth + 1), text_add(t, "vf x = vf_load_n(p + j, n);\n");
    indent(t, depth + 1),
        text_add(t, "lanes = n < LANES ? vf_where(vm_first(n), %s(x, lanes), lanes) : %s(x, lanes);\n", f->vector, f->vector);
    indent(t, depth), text_add(t, "}\n");
    snprintf(value, sizeof value, "%s(lanes)", f->lanes);
    store_result(t, r, value, depth);
    text_free(&count);
}

// One element after the other: sixteen lanes when the axes are the innermost, else one chain.
static void write_one_by_one(Text *t, const Reduction *r, int depth) {
    const Reducer *f = reducer_of(r->k);
    char value[64] = "total";
    int inside = depth;
    if (r->inner) indent(t, depth), text_add(t, "float lane[LANES];\n");
    if (r->inner) indent(t, depth), text_add(t, "vf_store(lane, vf_set1(%s));\n", f->start);
    indent(t, depth), text_add(t, r->inner ? "int e = 0;\n" : "float total = %s;\n", f->start);
    for (int i = 0; i < r->v->type.rank; i++) {
        if (!r->reduced[i]) continue;
        indent(t, inside++), text_add(t, "for (int r%d = 0; r%d < ", i, i), c_dim(t, r->p, r->v->type.dim[i]),
            text_add(t, "; r%d++) {\n", i);
    }
    const char *sum = r->inner ? "lane[e % LANES]" : "total";
    indent(t, inside), text_add(t, "%s = %s(", sum, f->scalar);
    if (r->v->base == BASE_SCALAR)
        nest_plain_load(t, r->p, r->v, 0, r->at);
    else
        text_add(t, "*("), nest_address(t, r->p, r->v, "a0", r->at), text_add(t, ")");
    text_add(t, ", %s);\n", sum);
    if (r->inner) indent(t, inside), text_add(t, "e++;\n");
    while (inside > depth) indent(t, --inside), text_add(t, "}\n");
    if (r->inner) snprintf(value, sizeof value, "%s(vf_load(lane))", f->lanes);
    store_result(t, r, value, depth);
}

void write_reduce(Text *t, const Program *p, const Kernel *k, const char *name) {
    Reduction r = reduction_of(p, k);
    nest_open_function(t, k, name);
    int depth = nest_open(t, p, k, k->out[0].type.rank);
    if (k->in[0].type.dtype != DT_f32)
        write_plain_reduce(t, p, k, &(PlainReduction){r.reduced, r.at, r.count, depth});
    else if (r.adjacent)
        write_adjacent(t, &r, depth);
    else
        write_one_by_one(t, &r, depth);
    nest_close(t, depth);
}

// ------------------------------------------------------------------------------------------------------------------ softmax
// Is nothing but axes of one element behind it?
static bool is_innermost(const Type *type, int axis) {
    for (int i = axis + 1; i < type->rank; i++)
        if (!dim_is(type->dim[i], 1)) return false;
    return true;
}
// Along the last axis row by row; along another one, or of other types than f32, the row is collected first.
static void softmax_along(Text *t, const Program *p, const Kernel *k, int axis) {
    const Type *type = &k->out[0].type;
    NestIndex at = nest_index(type, type->rank);
    const char *closing, *real = type->dtype == DT_f64 ? "double" : "float";
    Text n = {0};
    at.index[axis] = "j";
    c_dim(&n, p, type->dim[axis]);
    int first = axis == type->rank - 1 ? axis : axis > 0, depth = nest_open(t, p, k, first);
    for (int i = first; i < type->rank; i++) {
        if (i == axis) continue;
        indent(t, depth++), text_add(t, "for (int i%d = 0; i%d < ", i, i), c_dim(t, p, type->dim[i]);
        text_add(t, "; i%d++) {\n", i);
    }
    indent(t, depth), text_add(t, "%s row[%lld];\n", real, (long long)dim_upper(type->dim[axis]));
    indent(t, depth), text_add(t, "for (int j = 0; j < %s; j++) row[j] = ", n.data), nest_plain_load(t, p, &k->in[0], 0, at);
    text_add(t, ";\n");
    const char *rows = type->dtype == DT_f64 ? "row_d" : is_innermost(type, axis) ? "row" : "chain";
    indent(t, depth), text_add(t, "softmax_%s(%s, row, row);\n", rows, n.data);
    indent(t, depth), text_add(t, "for (int j = 0; j < %s; j++) *(", n.data), nest_address(t, p, &k->out[0], "y", at);
    text_add(t, ") = "), nest_plain_convert(t, type->dtype == DT_f64 ? DT_f64 : DT_f32, type->dtype, &closing);
    text_add(t, "row[j]%s;\n", closing);
    nest_close(t, depth);
    text_free(&n);
}

void write_softmax(Text *t, const Program *p, const Kernel *k, const char *name) {
    const Type *type = &k->out[0].type;
    int axis = node_axis(k->node);
    nest_plain_check(k, type->dtype);
    nest_open_function(t, k, name);
    if (axis != type->rank - 1 || type->dtype != DT_f32 || !dim_is(k->in[0].stride[axis], 1)) {
        softmax_along(t, p, k, axis);
        return;
    }
    int depth = nest_open(t, p, k, type->rank - 1);
    nest_pointers(t, p, k, depth);
    indent(t, depth), text_add(t, "softmax_row("), c_dim(t, p, type->dim[axis]), text_add(t, ", p0, q);\n");
    nest_close(t, depth);
}

// ------------------------------------------------------------------------------------------------------------------- matmul
// Batches and rows are the outer axes, columns the vector: acc = fma(a[k], b[k][j], acc), k ascending.
void write_activation_matmul(Text *t, const Program *p, const Kernel *k, const char *name) {
    const View *a = &k->in[0], *b = &k->in[1];
    const Type *type = &k->out[0].type;
    if (a->type.rank < 2 || b->type.rank < 2 || type->dtype != DT_f32 || a->base == BASE_SCALAR || b->base == BASE_SCALAR) {
        write_plain_matmul(t, p, k, name);
        return;
    }
    NestIndex at = nest_index(type, type->rank), rows = at, columns = at;
    rows.index[type->rank - 1] = "0", columns.index[type->rank - 2] = "0", columns.index[type->rank - 1] = "0";
    const Dim *over_k = a->stride[a->type.rank - 1], *row_k = b->stride[b->type.rank - 2], *step = b->stride[b->type.rank - 1];
    nest_open_function(t, k, name);
    int depth = nest_open(t, p, k, type->rank - 1);
    indent(t, depth), text_add(t, "const float *p0 = "), nest_address(t, p, a, "a0", rows), text_add(t, ";\n");
    indent(t, depth), text_add(t, "const float *p1 = "), nest_address(t, p, b, "a1", columns), text_add(t, ";\n");
    at.end = type->rank - 1;
    indent(t, depth), text_add(t, "float *q = "), nest_address(t, p, &k->out[0], "y", at), text_add(t, ";\n");
    indent(t, depth), text_add(t, "for (int j = 0; j < "), c_dim(t, p, type->dim[type->rank - 1]),
        text_add(t, "; j += LANES) {\n");
    indent(t, depth + 1), text_add(t, "int n = "), c_dim(t, p, type->dim[type->rank - 1]), text_add(t, " - j;\n");
    indent(t, depth + 1), text_add(t, "vf sum = vf_zero();\n");
    indent(t, depth + 1), text_add(t, "for (int k = 0; k < "), c_dim(t, p, a->type.dim[a->type.rank - 1]),
        text_add(t, "; k++)\n");
    indent(t, depth + 2), text_add(t, "sum = vf_fma(vf_set1(p0[(ptrdiff_t)k * "), c_dim(t, p, over_k);
    text_add(t, dim_is(step, 1) ? "]), vf_load_n(p1 + (ptrdiff_t)k * " : "]), vf_load_strided(p1 + (ptrdiff_t)k * "),
        c_dim(t, p, row_k);
    if (dim_is(step, 1))
        text_add(t, " + j, n)");
    else
        text_add(t, " + (ptrdiff_t)j * "), c_dim(t, p, step), text_add(t, ", "), c_dim(t, p, step), text_add(t, ", n)");
    text_add(t, ", sum);\n");
    indent(t, depth + 1), text_add(t, "vf_store_n(q + j, sum, n);\n");
    nest_close(t, depth + 1);
}
