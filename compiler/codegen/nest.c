// Generated loop nests: everything without a tuned kernel, printed from the op's meaning.
//
//   // %y: f32[R, 4, 8], f32[8] -> f32[R, 4, 8]
//   static void add_4x8(const burin_step *s, burin_part part, const float *a0, const float *a1, float *y) {
//       for (int i0 = part.first; i0 < part.last; i0++) {
//           for (int i1 = 0; i1 < 4; i1++) {
//               const float *p0 = a0 + i0 * 32 + i1 * 8;
//               ...
//               for (int j = 0; j < 8; j += LANES) { int n = 8 - j; vf_store_n(q + j, vf_add(...), n); }
//
// The part of a thread is of axis 0 (rows), or of all axes but the last, flattened. The last axis is the vector. An operand is
// read by address: adjacent, one element for all (stride 0), or strided.
#include "codegen/nest.h"

// -------------------------------------------------------------------------------------------------------------------- types
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

// What a cast reads: nothing else computes with 64-bit integers.
static const ElementType wide_as_float = {CLASS_FLOAT, "vf_load_i64", NULL}, wide_as_int = {CLASS_INTEGER, "vi_load_i64", NULL};

static const ElementType *element_type(const Kernel *k, DType t) {
    DType to = k->out[0].type.dtype;
    if (t == DT_i64 && k->node->op == OP_cast && (dtype_is_float(to) || to == DT_bool)) return &wide_as_float;
    if (t == DT_i64 && k->node->op == OP_cast && to == DT_i32) return &wide_as_int;
    if (!element_types[t].load)
        diag_fatal(k->node->loc, "%s: no code is generated for elements of type %s", op_info[k->node->op].name, dtype_name(t));
    return &element_types[t];
}

bool nest_in_vectors(DType t) { return element_types[t].load; }

static VectorClass nest_class(const Kernel *k, const View *v) { return element_type(k, v->type.dtype)->class; }

// --------------------------------------------------------------------------------------------------------------------- axes
// How many leading axes the thread's part runs over: those whose product it counts.
int nest_parted(const Program *p, const Kernel *k) {
    const Type *type = &k->out[0].type;
    const Dim *count = dim_const(p->graph, 1);
    for (int i = 0; i < type->rank; i++) {
        if (count == k->share.count) return i;
        count = dim_binary(p->graph, DIM_MUL, count, type->dim[i]);
    }
    return type->rank;
}

// Rank 1: a thread's part is a range of it
static bool nest_parts_the_vector(const Program *p, const Kernel *k) {
    return k->out[0].type.rank == 1 && nest_parted(p, k) == 1;
}

static void indent(Text *t, int depth) { text_add(t, "%*s", 4 * depth, ""); }

// i of the part is one index, or split into several: i0 = i / (d1 * d2), i1 = i / d2 % d1, i2 = i % d2
static void split_part(Text *t, const Program *p, const Type *type, int parted, int depth) {
    Graph *g = p->graph;
    const Dim *inner = dim_const(g, 1);
    for (int i = parted - 1; i >= 0; i--) {
        indent(t, depth);
        if (dim_is(type->dim[i], 1)) {  // which most addresses leave out
            text_add(t, "const int i%d = 0;\n", i), indent(t, depth), text_add(t, "(void)i%d;\n", i);
            continue;
        }
        text_add(t, "int i%d = i", i);
        if (!dim_is(inner, 1)) text_add(t, " / "), c_dim(t, p, inner);
        if (i > 0) text_add(t, " %% "), c_dim(t, p, type->dim[i]);
        text_add(t, ";\n");
        inner = dim_binary(g, DIM_MUL, inner, type->dim[i]);
    }
}

// Opens the loops over all axes before `end`; returns the depth inside.
int nest_open(Text *t, const Program *p, const Kernel *k, int end) {
    const Type *type = &k->out[0].type;
    int parted = nest_parted(p, k), depth = 1;
    if (nest_parts_the_vector(p, k) && end == 0) return depth;
    if (parted == 0)
        text_add(t, "    for (int i = part.first; i < part.last; i++) {\n");
    else
        text_add(t, "    for (int %s = part.first; %s < part.last; %s++) {\n", parted == 1 ? "i0" : "i",
                 parted == 1 ? "i0" : "i", parted == 1 ? "i0" : "i");
    depth++;
    if (parted > 1) split_part(t, p, type, parted, depth);
    for (int i = parted; i < end; i++) {
        indent(t, depth++);
        text_add(t, "for (int i%d = 0; i%d < ", i, i), c_dim(t, p, type->dim[i]), text_add(t, "; i%d++) {\n", i);
    }
    return depth;
}

void nest_close(Text *t, int depth) {
    while (depth > 1) indent(t, --depth), text_add(t, "}\n");
    text_add(t, "}\n");
}

// "a0 + (ptrdiff_t)i0 * 32 + i1 * 8": where index i0 .. i<end> of the result lies in an operand of at most its rank
void nest_address(Text *t, const Program *p, const View *v, const char *base, NestIndex at) {
    int shift = at.rank - v->type.rank;
    text_add(t, "%s", base);
    for (int i = 0; i < at.end; i++) {
        if (i < shift || dim_is(v->stride[i - shift], 0) || dim_is(v->type.dim[i - shift], 1)) continue;
        text_add(t, " + (ptrdiff_t)%s * ", at.index[i]);
        c_dim(t, p, v->stride[i - shift]);
    }
}

NestIndex nest_index(const Type *type, int end) {
    static const char *const names[MAX_RANK] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};
    NestIndex at = {.rank = type->rank, .end = end};
    for (int i = 0; i < MAX_RANK; i++) at.index[i] = names[i];
    return at;
}

// ----------------------------------------------------------------------------------------------------------- loads and stores
static const Dim *vector_stride(const Program *p, const Kernel *k, const View *v) {
    int rank = v->type.rank;
    (void)k;
    if (rank == 0 || dim_is(v->type.dim[rank - 1], 1)) return dim_const(p->graph, 0);
    return v->stride[rank - 1];
}

// The last axis is a multiple of sixteen.
static bool nest_is_whole(const Program *p, const Kernel *k) {
    const Type *type = &k->out[0].type;
    return type->rank && !nest_parts_the_vector(p, k) &&
           dim_divides(p->graph, dim_const(p->graph, 16), type->dim[type->rank - 1]);
}

// Sixteen elements of operand `v` from p<i> + j.
static void nest_load(Text *t, const Program *p, const Kernel *k, const View *v, int i) {
    const ElementType *e = element_type(k, v->type.dtype);
    const Dim *stride = vector_stride(p, k, v);
    bool whole = nest_is_whole(p, k);
    if (v->base == BASE_SCALAR) {
        text_add(t, e->class == CLASS_FLOAT ? "vf_set1(" : e->class == CLASS_INTEGER ? "vi_set1(" : "vm_set1(");
        if (e->class == CLASS_FLOAT)
            c_float(t, v->scalar);
        else
            text_add(t, "%lld", (long long)v->scalar);
        text_add(t, ")");
    } else if (dim_is(stride, 0)) {
        text_add(t, "%s_strided(p%d, 0, LANES)", e->load, i);
    } else if (dim_is(stride, 1)) {
        text_add(t, whole ? "%s(p%d + j)" : "%s_n(p%d + j, n)", e->load, i);
    } else {
        text_add(t, "%s_strided(p%d + (ptrdiff_t)j * ", e->load, i), c_dim(t, p, stride);
        text_add(t, ", "), c_dim(t, p, stride), text_add(t, whole ? ", LANES)" : ", n)");
    }
}

// Is the last axis a multiple of sixteen?
static void nest_store_open(Text *t, const Kernel *k) { text_add(t, "%s", element_type(k, k->out[0].type.dtype)->store); }

// Opens the vector loop: j from 0 (or the part) to the last axis, n elements left.
static void nest_open_vector(Text *t, const Program *p, const Kernel *k, int depth) {
    const Type *type = &k->out[0].type;
    Text end = {0};
    if (nest_parts_the_vector(p, k))
        text_add(&end, "part.last");
    else if (type->rank)
        c_dim(&end, p, type->dim[type->rank - 1]);
    else
        text_add(&end, "1");
    indent(t, depth);
    text_add(t, "for (int j = %s; j < %s; j += LANES) {\n", nest_parts_the_vector(p, k) ? "part.first" : "0", end.data);
    if (!nest_is_whole(p, k)) indent(t, depth + 1), text_add(t, "int n = %s - j;\n", end.data);
    text_free(&end);
}

// ------------------------------------------------------------------------------------------------------------------ function
static bool has_memory(const Kernel *k, int i) {
    return k->in[i].base != BASE_SCALAR && (k->node->n_in <= i || k->node->in[i]);
}

void nest_open_function(Text *t, const Kernel *k, const char *name) {
    text_add(t, "KERNEL void %s(const burin_step *s, burin_part part", name);
    for (int i = 0; i < k->n_in; i++)
        if (has_memory(k, i)) text_add(t, ", const %s *a%d", c_type(k->in[i].type.dtype), i);
    for (int i = 0; i < k->n_out; i++) text_add(t, i ? ", %s *y%d" : ", %s *y", c_type(k->out[i].type.dtype), i);
    text_add(t, ") {\n");
    text_add(t, "    const int rows = s->rows, wanted = s->n_wanted;\n    (void)rows, (void)wanted;\n");
}

void call_nest(Text *t, const Program *p, const Kernel *k) {
    text_add(t, "(s, "), c_part(t, p, k);
    for (int i = 0; i < k->n_in; i++)
        if (has_memory(k, i)) text_add(t, ", "), c_pointer(t, p, k, &k->in[i]);
    for (int i = 0; i < k->n_out; i++) text_add(t, ", "), c_pointer(t, p, k, &k->out[i]);
    text_add(t, ")");
}

// Pointers to the vectors of each operand (p0, p1, ...) and of the result (q).
void nest_pointers(Text *t, const Program *p, const Kernel *k, int depth) {
    const Type *type = &k->out[0].type;
    NestIndex at = nest_index(type, nest_parts_the_vector(p, k) || !type->rank ? 0 : type->rank - 1);
    for (int i = 0; i < k->n_in; i++) {
        char base[16];
        if (!has_memory(k, i)) continue;
        snprintf(base, sizeof base, "a%d", i);
        indent(t, depth), text_add(t, "const %s *p%d = ", c_type(k->in[i].type.dtype), i);
        nest_address(t, p, &k->in[i], base, at), text_add(t, ";\n");
    }
    indent(t, depth), text_add(t, "%s *q = ", c_type(type->dtype));
    nest_address(t, p, &k->out[0], "y", at), text_add(t, ";\n");
}

// ----------------------------------------------------------------------------------------------------------------- pointwise
typedef struct Pointwise {
    const Program *p;
    const Kernel *k;
} Pointwise;

static void pointwise_arg(Text *t, int i, void *user) {
    const Pointwise *e = user;
    nest_load(t, e->p, e->k, &e->k->in[i], i);
}

static VectorClass pointwise_class(int i, void *user) {
    const Pointwise *e = user;
    return nest_class(e->k, &e->k->in[i]);
}

// Opening words of the conversion from one class to another; each is closed by one parenthesis.
static const char *conversion(VectorClass from, VectorClass to) {
    static const char *const names[3][3] = {
        {"", "vi_from_float(", "vm_from_float("}, {"vf_from_int(", "", "vm_from_int("}, {"vf_from_mask(", "vi_from_mask(", ""}};
    return names[from][to];
}

static const Expr *formula_of(const Program *p, const Kernel *k) {
    const Expr *e = attr_expr(k->node, "expr"), *args[3];
    if (e) return e;
    for (int i = 0; i < 3; i++) args[i] = expr_arg(p->arena, i);
    return op_is_elementwise(k->node->op) ? expr_op(p->arena, k->node->op, k->n_in, args) : args[0];
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
    if (clamp) text_add(t, type == DT_i8 ? ", -128, 127)" : type == DT_u8 ? ", 0, 255)" : ", 0, 65535)");
}

static void write_pointwise(Text *t, const Program *p, const Kernel *k, const char *name) {
    if (nest_is_plain(k, formula_of(p, k))) {
        write_plain(t, p, k, name, formula_of(p, k));
        return;
    }
    int rank = k->out[0].type.rank, depth;
    nest_open_function(t, k, name);
    depth = nest_open(t, p, k, rank ? rank - 1 : 0);
    nest_pointers(t, p, k, depth);
    nest_open_vector(t, p, k, depth);
    indent(t, depth + 1);
    nest_store_open(t, k);
    text_add(t, nest_is_whole(p, k) ? "(q + j, " : "_n(q + j, ");
    write_value(t, p, k);
    text_add(t, nest_is_whole(p, k) ? ");\n" : ", n);\n");
    nest_close(t, depth + 1);
}

static void write_iota(Text *t, const Program *p, const Kernel *k, const char *name) {
    int rank = k->out[0].type.rank, axis = node_axis(k->node), depth;
    nest_open_function(t, k, name);
    depth = nest_open(t, p, k, rank ? rank - 1 : 0);
    nest_pointers(t, p, k, depth);
    nest_open_vector(t, p, k, depth);
    indent(t, depth + 1);
    if (axis == rank - 1)
        text_add(t, "vi value = vi_iota(j);\n");
    else
        text_add(t, "vi value = vi_set1(i%d);\n", axis);
    indent(t, depth + 1);
    text_add(t, nest_is_whole(p, k) ? "vi_store(q + j, value);\n" : "vi_store_n(q + j, value, n);\n");
    nest_close(t, depth + 1);
}

// burin_random_at(s->seed, 3, i0 * 4 + i1); in a loop: the elements of each round behind those of the rounds before
static void write_random(Text *t, const Program *p, const Kernel *k, const char *name) {
    const Type *type = &k->out[0].type;
    NestIndex at = nest_index(type, type->rank);
    nest_open_function(t, k, name);
    int depth = nest_open(t, p, k, type->rank);
    indent(t, depth), text_add(t, "ptrdiff_t i_all = "), nest_address(t, p, &k->out[0], "0", at), text_add(t, ";\n");
    const Dim *round = attr_dim(k->node, "round");
    indent(t, depth);
    text_add(t, "y[i_all] = burin_random_at(s->seed, UINT64_C(%llu), (uint64_t)i_all",
             (unsigned long long)attr_int(k->node, "stream", 0));
    if (round)
        text_add(t, " + (uint64_t)"), c_dim(t, p, round), text_add(t, " * (uint64_t)"), c_dim(t, p, type_count(p->graph, type));
    text_add(t, ");\n");
    nest_close(t, depth);
}

// The dimensions as numbers.
static void write_size(Text *t, const Program *p, const Kernel *k, const char *name) {
    int count;
    const Dim *const *dims = attr_dims(k->node, "dims", &count);
    nest_open_function(t, k, name);
    text_add(t, "    if (part.first > 0) return;\n");
    for (int i = 0; i < count; i++) text_add(t, "    y[%d] = ", i), c_dim(t, p, dims[i]), text_add(t, ";\n");
    text_add(t, "}\n");
}

typedef void NestWriter(Text *, const Program *, const Kernel *, const char *name);

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

void write_nest(Text *t, const Program *p, const Kernel *k, const char *name) {
    const Op op = k->node->op;
    NestWriter *writer = k->copies               ? write_copy
                         : nest_writers[op]      ? nest_writers[op]
                         : op_is_elementwise(op) ? write_pointwise
                                                 : NULL;
    if (!writer) diag_fatal(k->node->loc, "%s: no code is generated for this op", op_info[op].name);
    writer(t, p, k, name);
}
