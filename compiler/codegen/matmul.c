// Matrix products over packed weights (runtime/kernels/matmul.h): the function gives the extents,
// its epilogue stores the result.
//
//   typedef struct result_rows_b1 {
//       float *y;
//       const float *b1;
//   } result_rows_b1;
//
//   static inline void store_add_512(const void *context, vf a0, int row, int column) {
//       const result_rows_b1 *c = context;
//       vf_store(c->y + (size_t)row * 512 + column, vf_add(a0, vf_load(c->b1 + column)));
//   }
//
// Products of one epilogue share them. One without an epilogue stores its rows by store_rows of the
// runtime, one whose epilogue has no operands writes result_rows of the runtime.
#include <string.h>

#include "codegen/parameters.h"
#include "ir/operands.h"

// Weights beyond this are read from memory in every step; below, they may stay in a cache.
enum { CACHED_BYTES = 32 << 20 };

static bool is_glu(const Kernel *k) { return kernel_int(k, "glu", 0); }
static bool is_experts(const Kernel *k) { return k->family == FAMILY_EXPERTS; }
static const Expr *epilogue_of(const Kernel *k) { return kernel_expr(k, "epilogue"); }
static int first_of_epilogue(const Kernel *k) {
    return is_experts(k) ? EXPERT_EPILOGUE : PRODUCT_EPILOGUE;
}
// The last operand of a product by experts is the order of the entries.
static int end_of_epilogue(const Kernel *k) { return k->n_in - is_experts(k); }

// b1, b2 ... of operand i; those of gate and up are $0 and $1
static const char *operand_name(const Program *p, const Kernel *k, int i) {
    return arena_printf(p->arena, "b%d", i - first_of_epilogue(k) + 1 + is_glu(k));
}

void matmul_parameters(Parameters *ps) {
    const Kernel *k = ps->kernel;
    take_range(ps, "units");
    take_rows(ps, &k->out[0].type);
    take_step(ps);
    take_operand(ps, "x", &k->in[PRODUCT_X]);
    take_operand(ps, "w", &k->in[PRODUCT_WEIGHTS]);
    if (is_experts(k)) {
        take_operand(ps, "index", &k->in[EXPERT_INDEX]);
        take_operand(ps, "order", &k->in[k->n_in - 1]);
    }
    for (int i = first_of_epilogue(k); i < end_of_epilogue(k); i++)
        take_operand(ps, operand_name(ps->program, k, i), &k->in[i]);
    take_result(ps, "y", &k->out[0]);
}

// ---------------------------------------------------------------------------------------- epilogue
// Operands of the epilogue: $0 is the sum (with glu $0 the gate and $1 up), then the kernel's
// operands.
typedef struct Epilogue {
    const Program *program;
    const Kernel *kernel;
    int sums;
} Epilogue;

static bool has_rows(const View *v) { return v->type.rank >= 2; }

static void write_argument(Text *t, int i, void *user) {
    const Epilogue *e = user;
    if (i < e->sums) {
        text_add(t, "a%d", i);
        return;
    }
    const View *v = &e->kernel->in[first_of_epilogue(e->kernel) + i - e->sums];
    const char *dtype = v->type.dtype == DT_f32 ? "" : v->type.dtype == DT_bf16 ? "_bf16" : "_f16";
    long long n = (long long)last_dim(&e->kernel->out[0]);
    if (v->base == BASE_SCALAR) {
        text_add(t, "vf_set1("), c_float(t, v->scalar), text_add(t, ")");
    } else if (v->type.rank == 0 || (v->type.rank == 1 && last_dim(v) == 1)) {
        text_add(t, "vf_set1(*c->b%d)", i);
    } else if (last_dim(v) == 1 && n > 1) {
        text_add(t, "vf_set1(c->b%d[row])", i);
    } else {
        text_add(t, n % 16 ? "vf_load%s_n(c->b%d + " : "vf_load%s(c->b%d + ", dtype, i);
        if (has_rows(v)) text_add(t, "row * %s + ", c_row_stride(e->program, v));
        text_add(t, "column");
        if (n % 16) text_add(t, ", %lld - column", n);
        text_add(t, ")");
    }
}

static VectorClass always_float(int i, void *user) {
    (void)i;
    (void)user;
    return CLASS_FLOAT;
}

// _b1_b2: epilogue operands in memory
static void name_operands(Text *t, const Program *p, const Kernel *k) {
    for (int i = first_of_epilogue(k); i < end_of_epilogue(k); i++)
        if (k->in[i].base != BASE_SCALAR) text_add(t, "_%s", operand_name(p, k, i));
}

const char *result_rows_name(const Program *p, const Kernel *k) {
    Text t = {0};
    text_add(&t, "result_rows");
    name_operands(&t, p, k);
    const char *name = arena_strdup(p->arena, t.data);
    text_free(&t);
    return name;
}

void write_result_rows(Text *t, const Program *p, const Kernel *k) {
    Text names = {0};
    name_operands(&names, p, k);
    if (epilogue_of(k) && names.length) {
        text_add(t, "typedef struct ` {\n    float *y;\n");
        for (int i = first_of_epilogue(k); i < end_of_epilogue(k); i++)
            if (k->in[i].base != BASE_SCALAR)
                text_add(t, "    const %s *%s;\n", c_type(k->in[i].type.dtype),
                         operand_name(p, k, i));
        text_add(t, "} `;\n\n");
    }
    text_free(&names);
}

void write_store(Text *t, const Program *p, const Kernel *k) {
    Epilogue e = {p, k, is_glu(k) ? 2 : 1};
    long long n = (long long)last_dim(&k->out[0]);
    if (!epilogue_of(k)) return;
    text_add(t, "static inline void $(const void *context, vf a0, %sint row, int column) {\n",
             is_glu(k) ? "vf a1, " : "");
    text_add(t, "    const ` *c = context;\n");
    text_add(t, n % 16 ? "    vf_store_n(" : "    vf_store(");
    text_add(t, "c->y + (size_t)row * %s + column, ", c_row_stride(p, &k->out[0]));
    c_expr(t, epilogue_of(k), &(ExprWriter){write_argument, always_float, &e});
    if (n % 16) text_add(t, ", %lld - column", n);
    text_add(t, ");\n}\n\n");
}

// ----------------------------------------------------------------------------------------- product
// .count = 8, .slots = 2, of a product by experts
static void write_experts(Text *t, const Program *p, const Kernel *k) {
    const PackedWeight *w = k->in[PRODUCT_WEIGHTS].weight;
    text_add(t,
             "    experts_args e = {.count = %lld, .slots = %lld, .bytes = %llu, .entries = %s, "
             ".index = index, .order = "
             "order};\n",
             (long long)w->experts, (long long)last_dim(&k->in[EXPERT_INDEX]),
             (unsigned long long)(w->bytes / (uint64_t)w->experts), rows_name(p, &k->out[0].type));
}

// Entries that read one row of x
static long long slots_of_row(const Kernel *k) {
    return k->in[PRODUCT_X].type.rank < k->out[0].type.rank
               ? (long long)last_dim(&k->in[EXPERT_INDEX])
               : 1;
}

// The epilogue and its operands: store_rows, &(result_rows){y, 320, 320}
static void write_sink(Text *t, const Program *p, const Kernel *k) {
    if (!epilogue_of(k)) {
        text_add(t, "store_rows, &(result_rows){y, %s, %lld}", c_row_stride(p, &k->out[0]),
                 (long long)last_dim(&k->out[0]));
        return;
    }
    bool alone = true;
    for (int i = first_of_epilogue(k); i < end_of_epilogue(k); i++)
        alone = alone && k->in[i].base == BASE_SCALAR;
    text_add(t, alone ? "$, &(`){.y = y" : "$, &(`){y");
    for (int i = first_of_epilogue(k); i < end_of_epilogue(k); i++)
        if (k->in[i].base != BASE_SCALAR) text_add(t, ", %s", operand_name(p, k, i));
    text_add(t, "}");
}

// {16, 16}, from the innermost axis on
static void write_axes(Text *t, const Program *p, const Dim *const *list, int n) {
    for (int i = n - 1; i >= 0; i--) {
        text_add(t, i == n - 1 ? "{" : ", ");
        c_dim(t, p, list[i]);
    }
    text_add(t, "}");
}

// {3, 1} of two attributes in the order of the axes, from the innermost on; 1 where there are none
static void write_pair(Text *t, const char *field, const int64_t *ints) {
    text_add(t, ", .%s = {%lld, %lld}", field, ints ? (long long)ints[1] : 1,
             ints ? (long long)ints[0] : 1);
}

static void write_border(Text *t, const Program *p, const Kernel *k) {
    int n;
    const Node *windows = k->border, *pad = windows->in[0];
    const Dim *const *low = attr_dims(pad, "low", &n);
    const Type *x = &pad->in[0]->type;
    const Dim *origin = dim_const(p->graph, 0);
    text_add(t, ",\n        .border = {.size = "), write_axes(t, p, x->dim + 2, 2);
    text_add(t, ", .low = "), write_axes(t, p, low + 2, 2);
    write_pair(t, "stride", attr_ints(windows, "strides", &n));
    write_pair(t, "dilation", attr_ints(windows, "dilations", &n));
    for (int i = 0; i < 2; i++) {
        const Dim *step = k->in[PRODUCT_X].stride[3 + i];
        const int64_t *dilations = attr_ints(windows, "dilations", &n);
        step = dim_binary(p->graph, DIM_FLOORDIV, step,
                          dim_const(p->graph, dilations ? dilations[i] : 1));
        origin =
            dim_binary(p->graph, DIM_ADD, origin, dim_binary(p->graph, DIM_MUL, low[2 + i], step));
    }
    text_add(t, ", .origin = "), c_dim(t, p, origin), text_add(t, "}");
}

// Rows of a convolution: axes of rows, of taps (before axis `end` of x), and terms that are
// adjacent
static void write_windows(Text *t, const Program *p, const Kernel *k, int end) {
    const View *x = &k->in[PRODUCT_X];
    int rows = k->row_axes, taps = end - rows;
    text_add(t, "    const matmul_windows windows = {\n        .rows = ");
    write_axes(t, p, x->type.dim, rows);
    text_add(t, ", .row_steps = "), write_axes(t, p, x->stride, rows);
    if (taps) {
        text_add(t, ",\n        .taps = "), write_axes(t, p, x->type.dim + rows, taps);
        text_add(t, ", .tap_steps = "), write_axes(t, p, x->stride + rows, taps);
    }
    if (end < x->type.rank) text_add(t, ", .adjacent = "), c_dim(t, p, x->type.dim[end]);
    if (k->border) write_border(t, p, k);
    text_add(t, "};\n");
}

static void write_convolution(Text *t, const Program *p, const Kernel *k) {
    const PackedWeight *w = k->in[PRODUCT_WEIGHTS].weight;
    write_windows(t, p, k, k->in[PRODUCT_X].type.rank - 1);
    text_add(
        t,
        "    matmul_args m = {.panels = %lld, .k = %lld, .windows = &windows, .rows = %s, .x = "
        "x, .w = w, .units = units};\n    convolve%s_%s(m, ",
        ((long long)last_dim(&k->out[0]) + 15) / 16, (long long)w->depth,
        rows_name(p, &k->out[0].type), k->border ? "_bordered" : "", w->format->name);
    write_sink(t, p, k), text_add(t, ");\n");
}

void depthwise_parameters(Parameters *ps) {
    const Kernel *k = ps->kernel;
    take_range(ps, "pixels");
    take_step(ps);
    take(ps, "int ", "rows", "rows");
    take_operand(ps, "x", &k->in[PRODUCT_X]);
    take_operand(ps, "w", &k->in[PRODUCT_WEIGHTS]);
    for (int i = PRODUCT_EPILOGUE; i < k->n_in; i++)
        take_operand(ps, operand_name(ps->program, k, i), &k->in[i]);
    take_result(ps, "y", &k->out[0]);
}

void write_depthwise(Text *t, const Program *p, const Kernel *k) {
    const View *w = &k->in[PRODUCT_WEIGHTS];
    write_windows(t, p, k, k->in[PRODUCT_X].type.rank);
    text_add(
        t,
        "    depthwise_args a = {.channels = %lld, .taps = %lld, .windows = &windows, .x = x, .w = "
        "w, .pixels = pixels};\n    depthwise_f32(a, ",
        (long long)dim_upper(w->type.dim[0]), (long long)dim_upper(w->type.dim[1]));
    write_sink(t, p, k), text_add(t, ");\n");
}

void write_matmul(Text *t, const Program *p, const Kernel *k) {
    const PackedWeight *w = k->in[PRODUCT_WEIGHTS].weight;
    if (k->row_axes) {
        write_convolution(t, p, k);
        return;
    }
    bool integers = dtype_is_rows(k->in[PRODUCT_X].type.dtype);
    text_add(t, "    matmul_args m = {.panels = %lld, .k = %lld, .x_stride = %s, %s",
             ((long long)last_dim(&k->out[0]) + 15) / 16, (long long)w->depth,
             c_row_stride(p, &k->in[PRODUCT_X]),
             p->plan.weight_bytes > CACHED_BYTES ? ".streamed = true, " : "");
    if (is_experts(k)) text_add(t, ".x_slots = %lld, ", slots_of_row(k));
    text_add(t, ".rows = %s, .x = x, .w = w, .units = units};\n", rows_name(p, &k->out[0].type));
    if (is_experts(k)) write_experts(t, p, k);
    text_add(t, "    %smatmul_%s%s%s(m, %s", is_experts(k) ? "expert_" : "", w->format->name,
             w->format->blocks && !integers ? "_floats" : "", is_glu(k) ? "_glu" : "",
             is_experts(k) ? "&e, " : "");
    write_sink(t, p, k), text_add(t, ");\n");
}

// The entries of all rows, by one thread
void order_parameters(Parameters *ps) {
    const Kernel *k = ps->kernel;
    take_range(ps, "range");
    take_count(ps, "entries", type_count(ps->program->graph, &k->out[0].type));
    take_operand(ps, "index", &k->in[0]);
    take_result(ps, "order", &k->out[0]);
}

void write_order(Text *t, const Program *p, const Kernel *k) {
    long long experts = (long long)dim_upper(k->count);
    (void)p;
    text_add(t, "    int32_t place[%lld] = {0};\n", experts + 1);
    text_add(
        t, "    if (range.first < range.last) expert_order(%lld, entries, index, place, order);\n",
        experts);
}
