// Generated loop nests: everything without a tuned kernel, printed from the op's meaning.
//
//   // %y: f32[R, 4, 40], f32[40] -> f32[R, 4, 40]
//   KERNEL void add_4x40(burin_range range, const float *a0, const float *a1, float *y) {
//       for (int i0 = range.first; i0 < range.last; i0++) {
//           for (int i1 = 0; i1 < 4; i1++) {
//               const float *p0 = a0 + (ptrdiff_t)i0 * 160 + (ptrdiff_t)i1 * 40;
//               ...
//               for (int j = 0; j < 40; j += LANES) { int n = 40 - j; vf_store_n(q + j, vf_add(...), n); }
//
// The part of a thread is of axis 0 (rows), or of all axes but the last, flattened. The last axis
// is the vector. An operand is read by address: adjacent, one element for all (stride 0), or
// strided.
#include "codegen/nest.h"

#include <string.h>

// ------------------------------------------------------------------------------------------- types
typedef struct ElementType {
    VectorClass class;
    const char *load, *store;  // vf_load, vf_store_bf16; NULL: not in vectors
} ElementType;

static const ElementType element_types[DT_COUNT] = {
    [DT_f32] = {CLASS_FLOAT, "vf_load", "vf_store"},
    [DT_f16] = {CLASS_FLOAT, "vf_load_f16", "vf_store_f16"},
    [DT_bf16] = {CLASS_FLOAT, "vf_load_bf16", "vf_store_bf16"},
    [DT_i32] = {CLASS_INTEGER, "vi_load", "vi_store"},
    [DT_u8] = {CLASS_INTEGER, "vi_load_u8", "vi_store_u8"},
    [DT_i8] = {CLASS_INTEGER, "vi_load_i8", "vi_store_u8"},
    [DT_u16] = {CLASS_INTEGER, "vi_load_u16", "vi_store_u16"},
    [DT_bool] = {CLASS_TRUTH, "vm_load", "vm_store"},
};

// The source type of a cast: no other op computes with 64-bit integers.
static const ElementType wide_as_float = {CLASS_FLOAT, "vf_load_i64", NULL},
                         wide_as_int = {CLASS_INTEGER, "vi_load_i64", NULL};

static const ElementType *element_type(const Kernel *k, DType t) {
    DType to = k->out[0].type.dtype;
    if (t == DT_i64 && k->op == OP_cast && (dtype_is_float(to) || to == DT_bool))
        return &wide_as_float;
    if (t == DT_i64 && k->op == OP_cast && to == DT_i32) return &wide_as_int;
    if (!element_types[t].load)
        diag_fatal(k->loc, "%s: no code is generated for elements of type %s", op_info[k->op].name,
                   dtype_name(t));
    return &element_types[t];
}

bool nest_in_vectors(DType t) { return element_types[t].load; }

static VectorClass nest_class(const Kernel *k, const View *v) {
    return element_type(k, v->type.dtype)->class;
}

// -------------------------------------------------------------------------------------------- axes
// Returns the number of leading axes that the threads' parts are of: those whose product is the
// kernel's count of units. 0: the kernel is one unit, which one thread computes.
int nest_parted(const Program *p, const Kernel *k) {
    const Type *type = &k->out[0].type;
    const Dim *count = dim_const(p->graph, 1);
    for (int i = 0; i < type->rank && count != k->share.count; i++) {
        count = dim_binary(p->graph, DIM_MUL, count, type->dim[i]);
        if (count == k->share.count) return i + 1;
    }
    if (count != k->share.count)
        diag_fatal(k->loc, "%s: its units are no leading axes of its result", op_info[k->op].name);
    return 0;
}

// Rank 1: a thread's part is a range of it
static bool nest_parts_the_vector(const Program *p, const Kernel *k) {
    return k->out[0].type.rank == 1 && nest_parted(p, k) == 1;
}

void nest_indent(Text *t, int depth) { text_add(t, "%*s", 4 * depth, ""); }

static bool is_unit(const Dim *d) { return dim_is(d, 1); }

void nest_unless_empty(Text *t, const Program *p, const Dim *extent) {
    if (dim_lower(extent) < 1) {
        c_dim(t, p, extent);
        text_add(t, " < 1 ? 0 : ");
    }
}

NestIndex nest_index_by(const Type *type, const char *const names[MAX_RANK]) {
    NestIndex at = {.rank = type->rank, .end = type->rank};
    for (int i = 0; i < MAX_RANK; i++)
        at.index[i] = i < type->rank && is_unit(type->dim[i]) ? "0" : names[i];
    return at;
}

NestIndex nest_index(const Type *type, int end) {
    static const char *const names[MAX_RANK] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};
    NestIndex at = nest_index_by(type, names);
    at.end = end;
    return at;
}

int nest_loop(Text *t, const Program *p, const char *index, const Dim *extent, int depth) {
    if (is_unit(extent)) return depth;
    nest_indent(t, depth), text_add(t, "for (int %s = 0; %s < ", index, index), c_dim(t, p, extent);
    text_add(t, "; %s++) {\n", index);
    return depth + 1;
}

// i of the part is one index, or split into several: i0 = i / (d1 * d2), i1 = i / d2 % d1, i2 = i %
// d2
static void split_part(Text *t, const Program *p, const Type *type, int parted, int first) {
    Graph *g = p->graph;
    const Dim *inner = dim_const(g, 1);
    for (int i = parted - 1; i >= first; i--) {
        if (is_unit(type->dim[i])) continue;
        nest_indent(t, 2);
        text_add(t, "int i%d = i", i);
        if (!is_unit(inner)) {
            text_add(t, " / ");
            c_dim(t, p, inner);
        }
        if (i > first) {
            text_add(t, " %% ");
            c_dim(t, p, type->dim[i]);
        }
        text_add(t, ";\n");
        inner = dim_binary(g, DIM_MUL, inner, type->dim[i]);
    }
}

// Opens the loop over a thread's part of the leading axes. A kernel of one unit has none
// (write_nest).
static int open_part(Text *t, const Program *p, const Type *type, int parted) {
    int first = parted, several = 0;
    for (int i = parted - 1; i >= 0; i--)
        if (!is_unit(type->dim[i])) {
            first = i;
            several++;
        }
    if (!several) return 1;
    const char *index = several > 1 ? "i" : arena_printf(p->arena, "i%d", first);
    text_add(t, "    for (int %s = range.first; %s < range.last; %s++) {\n", index, index, index);
    if (several > 1) split_part(t, p, type, parted, first);
    return 2;
}

// Opens the loops over all axes before `end`; returns the depth inside.
int nest_open(Text *t, const Program *p, const Kernel *k, int end) {
    const Type *type = &k->out[0].type;
    NestIndex at = nest_index(type, end);
    int parted = nest_parted(p, k), depth = 1;
    if (nest_parts_the_vector(p, k) && end == 0) return depth;
    depth = open_part(t, p, type, parted);
    for (int i = parted; i < end; i++) depth = nest_loop(t, p, at.index[i], type->dim[i], depth);
    return depth;
}

void nest_close(Text *t, int depth) {
    while (depth > 1) {
        nest_indent(t, --depth);
        text_add(t, "}\n");
    }
}

// " + (ptrdiff_t)i0 * 32 + i1": which element of an operand, of at most its rank, belongs to index
// i0 .. i<end> of the result
static void write_terms(Text *t, const Program *p, const View *v, NestIndex at) {
    int shift = at.rank - v->type.rank;
    for (int i = 0; i < at.end; i++) {
        if (i < shift || dim_is(v->stride[i - shift], 0) || is_unit(v->type.dim[i - shift]) ||
            !strcmp(at.index[i], "0"))
            continue;
        if (is_unit(v->stride[i - shift]))
            text_add(t, " + %s", at.index[i]);
        else {
            text_add(t, " + (ptrdiff_t)%s * ", at.index[i]);
            c_dim(t, p, v->stride[i - shift]);
        }
    }
}

void nest_address(Text *t, const Program *p, const View *v, const char *base, NestIndex at) {
    text_add(t, "%s", base);
    write_terms(t, p, v, at);
}

void nest_offset(Text *t, const Program *p, const View *v, NestIndex at) {
    Text terms = {0};
    write_terms(&terms, p, v, at);
    text_add(t, "%s", terms.data ? terms.data + strlen(" + ") : "0");
    text_free(&terms);
}

void nest_element(Text *t, const Program *p, const View *v, const char *base, NestIndex at) {
    Text terms = {0};
    write_terms(&terms, p, v, at);
    if (terms.data)
        text_add(t, "%s[%s]", base, terms.data + strlen(" + "));
    else
        text_add(t, "*%s", base);
    text_free(&terms);
}

// -------------------------------------------------------------------------------- loads and stores
static const Dim *vector_stride(const Program *p, const View *v) {
    int rank = v->type.rank;
    if (rank == 0 || dim_is(v->type.dim[rank - 1], 1)) return dim_const(p->graph, 0);
    return v->stride[rank - 1];
}

NestVector nest_vector(const Program *p, const Kernel *k) {
    const Type *type = &k->out[0].type;
    const Dim *last = type->rank ? type->dim[type->rank - 1] : dim_const(p->graph, 1);
    NestVector v = {.j = " + j", .lane = "j", .n = "n", .parted = nest_parts_the_vector(p, k)};
    Text end = {0};
    int64_t extent;
    bool is_empty = dim_is(last, 0);
    v.whole = !v.parted && !is_empty && dim_divides(p->graph, dim_const(p->graph, 16), last);
    v.one = !v.parted && !is_empty && dim_is_const(last, &extent) && extent <= 16;
    c_dim(&end, p, last);
    v.end = v.parted ? "range.last" : arena_strdup(p->arena, end.data);
    if (v.one) {
        v.j = "";
        v.lane = "0";
        v.n = v.end;
    }
    text_free(&end);
    return v;
}

int nest_open_vector(Text *t, const NestVector *v, int depth) {
    if (v->one) return depth;
    nest_indent(t, depth);
    text_add(t, "for (int j = %s; j < %s; j += LANES) {\n", v->parted ? "range.first" : "0",
             v->end);
    if (!v->whole) {
        nest_indent(t, depth + 1);
        text_add(t, "int n = %s - j;\n", v->end);
    }
    return depth + 1;
}

static const char *set1_of(const ElementType *e) {
    return e->class == CLASS_FLOAT ? "vf_set1" : e->class == CLASS_INTEGER ? "vi_set1" : "vm_set1";
}

static void write_set1(Text *t, const ElementType *e, double value) {
    text_add(t, "%s(", set1_of(e));
    if (e->class == CLASS_FLOAT)
        c_float(t, value);
    else
        text_add(t, "%lld", (long long)value);
    text_add(t, ")");
}

// Sixteen elements of operand i, from j on.
static void nest_load(Text *t, const Program *p, const Kernel *k, int i) {
    const View *v = &k->in[i];
    const ElementType *e = element_type(k, v->type.dtype);
    const Dim *stride = vector_stride(p, v);
    const NestVector vector = nest_vector(p, k);
    const char *from = nest_pointer(p, k, i);
    bool in_registers = v->type.dtype == DT_f32 || v->type.dtype == DT_i32;
    if (v->base == BASE_SCALAR) {
        write_set1(t, e, v->scalar);
    } else if (dim_is(stride, 0)) {
        text_add(t, in_registers ? "%s(*%s)" : "%s_strided(%s, 0, LANES)",
                 in_registers ? set1_of(e) : e->load, from);
    } else if (dim_is(stride, 1)) {
        text_add(t, vector.whole ? "%s(%s%s)" : "%s_n(%s%s, %s)", e->load, from, vector.j,
                 vector.n);
    } else {
        text_add(t, "%s_strided(%s", e->load, from);
        if (!vector.one) {
            text_add(t, " + (ptrdiff_t)j * ");
            c_dim(t, p, stride);
        }
        text_add(t, ", "), c_dim(t, p, stride),
            text_add(t, ", %s)", vector.whole ? "LANES" : vector.n);
    }
}

// vf_store_n(q + j, -- closed by store_close
static void store_open(Text *t, const Program *p, const Kernel *k, const char *store) {
    const NestVector vector = nest_vector(p, k);
    text_add(t, "%s%s(%s%s, ", store, vector.whole ? "" : "_n", nest_result(p, k), vector.j);
}

static void store_close(Text *t, const Program *p, const Kernel *k) {
    const NestVector vector = nest_vector(p, k);
    if (!vector.whole) text_add(t, ", %s", vector.n);
    text_add(t, ");\n");
}

// ---------------------------------------------------------------------------------------- function
static bool has_memory(const Kernel *k, int i) {
    return k->in[i].base != BASE_SCALAR && k->in[i].base != BASE_NONE;
}

void nest_parameters(Parameters *ps) {
    const Kernel *k = ps->kernel;
    Arena *arena = ps->program->arena;
    take_range(ps, "range");
    take_step(ps);
    take(ps, "int ", "rows", "rows");
    take(ps, "int ", "logit_rows", "logit_rows");
    for (int i = 0; i < k->n_in; i++) take_operand(ps, arena_printf(arena, "a%d", i), &k->in[i]);
    for (int i = 0; i < k->n_out; i++)
        take_result(ps, i ? arena_printf(arena, "y%d", i) : "y", &k->out[i]);
}

static NestIndex vector_index(const Program *p, const Kernel *k) {
    const Type *type = &k->out[0].type;
    return nest_index(type, nest_parts_the_vector(p, k) || !type->rank ? 0 : type->rank - 1);
}

// Returns true if its vectors begin at the operand's own first element.
static bool is_at_start(const Program *p, const Kernel *k, const View *v) {
    Text terms = {0};
    write_terms(&terms, p, v, vector_index(p, k));
    bool none = !terms.length;
    text_free(&terms);
    return none;
}

const char *nest_pointer(const Program *p, const Kernel *k, int i) {
    return arena_printf(p->arena, is_at_start(p, k, &k->in[i]) ? "a%d" : "p%d", i);
}

const char *nest_result(const Program *p, const Kernel *k) {
    return is_at_start(p, k, &k->out[0]) ? "y" : "q";
}

// Pointers to the vectors of each operand (p0, p1, ...) and of the result (q), where they are not
// its own.
void nest_pointers(Text *t, const Program *p, const Kernel *k, int depth) {
    NestIndex at = vector_index(p, k);
    for (int i = 0; i < k->n_in; i++) {
        if (!has_memory(k, i) || is_at_start(p, k, &k->in[i])) continue;
        nest_indent(t, depth);
        text_add(t, "const %s *p%d = ", c_type(k->in[i].type.dtype), i);
        nest_address(t, p, &k->in[i], arena_printf(p->arena, "a%d", i), at);
        text_add(t, ";\n");
    }
    if (is_at_start(p, k, &k->out[0])) return;
    nest_indent(t, depth);
    text_add(t, "%s *q = ", c_type(k->out[0].type.dtype));
    nest_address(t, p, &k->out[0], "y", at);
    text_add(t, ";\n");
}

// --------------------------------------------------------------------------------------- pointwise
typedef struct Pointwise {
    const Program *p;
    const Kernel *k;
} Pointwise;

static void pointwise_arg(Text *t, int i, void *user) {
    const Pointwise *e = user;
    nest_load(t, e->p, e->k, i);
}

static VectorClass pointwise_class(int i, void *user) {
    const Pointwise *e = user;
    return nest_class(e->k, &e->k->in[i]);
}

// Opening words of the conversion from one class to another; each is closed by one parenthesis.
static const char *conversion(VectorClass from, VectorClass to) {
    static const char *const names[3][3] = {{"", "vi_from_float(", "vm_from_float("},
                                            {"vf_from_int(", "", "vm_from_int("},
                                            {"vf_from_mask(", "vi_from_mask(", ""}};
    return names[from][to];
}

static const Expr *formula_of(const Program *p, const Kernel *k) {
    const Expr *e = kernel_expr(k, "expr"), *args[3];
    if (e) return e;
    for (int i = 0; i < 3; i++) args[i] = expr_arg(p->arena, i);
    return op_is_elementwise(k->op) ? expr_op(p->arena, k->op, k->n_in, args) : args[0];
}

static void write_value(Text *t, const Program *p, const Kernel *k) {
    Pointwise user = {p, k};
    ExprWriter w = {pointwise_arg, pointwise_class, &user};
    const Expr *e = formula_of(p, k);
    VectorClass from = c_expr_class(e, &w), to = nest_class(k, &k->out[0]);
    const char *convert = conversion(from, to);
    DType type = k->out[0].type.dtype;
    bool clamp = from == CLASS_FLOAT && to == CLASS_INTEGER && type != DT_i32;
    text_add(t, "%s%s", clamp ? "vi_clamp(" : "", convert);
    c_expr(t, e, &w);
    text_add(t, *convert ? ")" : "");
    if (clamp)
        text_add(t, type == DT_i8 ? ", -128, 127)" : type == DT_u8 ? ", 0, 255)" : ", 0, 65535)");
}

static void write_pointwise(Text *t, const Program *p, const Kernel *k) {
    const NestVector vector = nest_vector(p, k);
    int rank = k->out[0].type.rank, depth;
    if (nest_is_plain(k, formula_of(p, k))) {
        write_plain(t, p, k, formula_of(p, k));
        return;
    }
    depth = nest_open(t, p, k, rank ? rank - 1 : 0);
    nest_pointers(t, p, k, depth);
    depth = nest_open_vector(t, &vector, depth);
    nest_indent(t, depth);
    store_open(t, p, k, element_type(k, k->out[0].type.dtype)->store);
    write_value(t, p, k);
    store_close(t, p, k);
    nest_close(t, depth);
}

static void write_iota(Text *t, const Program *p, const Kernel *k) {
    const Type *type = &k->out[0].type;
    const NestVector vector = nest_vector(p, k);
    int rank = type->rank, axis = kernel_axis(k), depth = nest_open(t, p, k, rank ? rank - 1 : 0);
    nest_pointers(t, p, k, depth);
    depth = nest_open_vector(t, &vector, depth);
    nest_indent(t, depth);
    store_open(t, p, k, "vi_store");
    text_add(t, axis == rank - 1 ? "vi_iota(%s)" : "vi_set1(%s)",
             axis == rank - 1 ? vector.lane : nest_index(type, rank).index[axis]);
    store_close(t, p, k);
    nest_close(t, depth);
}

// burin_random_at(s->seed, 3, i0 * 4 + i1); in a loop, each iteration's elements follow those of
// earlier iterations
static void write_random(Text *t, const Program *p, const Kernel *k) {
    const Type *type = &k->out[0].type;
    NestIndex at = nest_index(type, type->rank);
    int depth = nest_open(t, p, k, type->rank);
    nest_indent(t, depth);
    text_add(t, "ptrdiff_t i_all = ");
    nest_offset(t, p, &k->out[0], at);
    text_add(t, ";\n");
    const Dim *round = kernel_dim(k, "round");
    nest_indent(t, depth);
    text_add(t, "y[i_all] = burin_random_at(s->seed, UINT64_C(%llu), (uint64_t)i_all",
             (unsigned long long)kernel_int(k, "stream", 0));
    if (round) {
        text_add(t, " + (uint64_t)");
        c_dim(t, p, round);
        text_add(t, " * (uint64_t)");
        c_dim(t, p, type_count(p->graph, type));
    }
    text_add(t, ");\n");
    nest_close(t, depth);
}

// The dimensions as numbers.
static void write_size(Text *t, const Program *p, const Kernel *k) {
    int count;
    const Dim *const *dims = kernel_dims(k, "dims", &count);
    for (int i = 0; i < count; i++) {
        text_add(t, "    y[%d] = ", i);
        c_dim(t, p, dims[i]);
        text_add(t, ";\n");
    }
}

typedef void NestWriter(Text *, const Program *, const Kernel *);

static NestWriter *const nest_writers[OP_COUNT] = {
    [OP_size] = write_size,
    [OP_iota] = write_iota,
    [OP_random] = write_random,
    [OP_softmax] = write_softmax,
    [OP_reduce_sum] = write_reduce,
    [OP_reduce_mean] = write_reduce,
    [OP_reduce_max] = write_reduce,
    [OP_reduce_min] = write_reduce,
    [OP_reduce_prod] = write_reduce,
    [OP_gather] = write_gather,
    [OP_bit_cast] = write_bit_cast,
    [OP_gather_elements] = write_gather_elements,
    [OP_gather_nd] = write_gather_nd,
    [OP_scatter_elements] = write_scatter,
    [OP_scatter_nd] = write_scatter,
    [OP_arg_max] = write_arg_reduce,
    [OP_arg_min] = write_arg_reduce,
    [OP_cum_sum] = write_cumulate,
    [OP_cum_prod] = write_cumulate,
    [OP_top_k] = write_top_k,
    [OP_nonzero] = write_nonzero,
    [OP_unique] = write_unique,
    [OP_non_max_suppression] = write_suppression,
    [OP_pad] = write_pad,
    [OP_concat] = write_concat,
    [OP_matmul] = write_activation_matmul,
    [OP_elementwise] = write_pointwise,
    [OP_cast] = write_pointwise,
};

// Threads without work return here, before any writer's text; a one-unit kernel keeps one thread.
void write_nest(Text *t, const Program *p, const Kernel *k) {
    const Op op = k->op;
    NestWriter *writer = k->copies               ? write_copy
                         : nest_writers[op]      ? nest_writers[op]
                         : op_is_elementwise(op) ? write_pointwise
                                                 : NULL;
    if (!writer) diag_fatal(k->loc, "%s: no code is generated for this op", op_info[op].name);
    if (nest_parted(p, k) == 0) text_add(t, "    if (range.first == range.last) return;\n");
    writer(t, p, k);
}
