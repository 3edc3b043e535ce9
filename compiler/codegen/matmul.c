// Matrix products over packed weights (runtime/kernels/matmul.h): the function gives the extents, its epilogue stores the
// result.
//
//   static inline void matmul_bf16_192x512_silu_mul_store(const void *context, vf a0, vf a1, int row, int column) {
//       const matmul_bf16_192x512_silu_mul_context *c = context;
//       vf_store(c->y + row * 512 + column, vf_mul(vf_silu(a0), a1));
//   }
#include <string.h>

#include "codegen/emit.h"
#include "ir/operands.h"

// Weights beyond this are read from memory in every step; below, they may stay in a cache.
enum { CACHED_BYTES = 32 << 20 };

static bool is_glu(const Kernel *k) { return attr_int(k->node, "glu", 0); }

// Operands of the epilogue: $0 is the sum (with glu $0 the gate and $1 up), then the node's operands from 2 on.
typedef struct Epilogue {
    const Program *program;
    const Kernel *kernel;
    int sums;
} Epilogue;

static bool has_rows(const View *v) {
    int64_t stride;
    return v->type.rank >= 2 && !(dim_is_const(v->stride[v->type.rank - 2], &stride) && stride == 0);
}

static void write_argument(Text *t, int i, void *user) {
    const Epilogue *e = user;
    if (i < e->sums) {
        text_add(t, "a%d", i);
        return;
    }
    const View *v = &e->kernel->in[product_epilogue(e->kernel->node) + i - e->sums];
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
    (void)i, (void)user;
    return CLASS_FLOAT;
}

static void write_context(Text *t, const Kernel *k, const char *name) {
    text_add(t, "typedef struct %s_context {\n    float *y;\n", name);
    for (int first = product_epilogue(k->node), i = first; i < k->node->n_in; i++)
        if (k->in[i].base != BASE_SCALAR)
            text_add(t, "    const %s *b%d;\n", c_type(k->in[i].type.dtype), i - first + 1 + is_glu(k));
    text_add(t, "} %s_context;\n\n", name);
}

static void write_store(Text *t, const Program *p, const Kernel *k, const char *name) {
    Epilogue e = {p, k, is_glu(k) ? 2 : 1};
    long long n = (long long)last_dim(&k->out[0]);
    const Expr *formula = attr_expr(k->node, "epilogue");
    text_add(t, "static inline void %s_store(const void *context, vf a0, %sint row, int column) {\n", name,
             is_glu(k) ? "vf a1, " : "");
    text_add(t, "    const %s_context *c = context;\n", name);
    text_add(t, n % 16 ? "    vf_store_n(" : "    vf_store(");
    text_add(t, "c->y + (size_t)row * %s + column, ", c_row_stride(p, &k->out[0]));
    if (formula)
        c_expr(t, formula, &(ExprWriter){write_argument, always_float, &e});
    else
        text_add(t, "a0");
    if (n % 16) text_add(t, ", %lld - column", n);
    text_add(t, ");\n}\n\n");
}

// .count = 8, .slots = 2, of a product by experts
static void write_experts(Text *t, const Kernel *k) {
    const WeightPiece *w = k->in[PRODUCT_WEIGHTS].weight;
    text_add(t,
             "    experts_args e = {.count = %lld, .slots = %lld, .bytes = %llu, .entries = rows, .index = index, .order = "
             "order};\n",
             (long long)w->experts, (long long)last_dim(&k->in[EXPERT_INDEX]),
             (unsigned long long)(w->bytes / (uint64_t)w->experts));
}

// Entries that read one row of x
static long long slots_of_row(const Kernel *k) {
    bool shared = k->family == FAMILY_EXPERTS && k->in[PRODUCT_X].type.rank < k->out[0].type.rank;
    return shared ? (long long)last_dim(&k->in[EXPERT_INDEX]) : 1;
}

void write_matmul(Text *t, const Program *p, const Kernel *k, const char *name) {
    const WeightPiece *w = k->in[1].weight;
    bool blocks = w->format->blocks != NULL, floats = k->in[0].type.dtype == DT_f32, experts = k->family == FAMILY_EXPERTS;
    write_context(t, k, name);
    write_store(t, p, k, name);
    text_add(t, "KERNEL void %s(burin_part units, int rows, const %s *x, const %s *w, %sconst %s_context *store) {\n", name,
             floats ? "float" : "q8_block", w->format->element, experts ? "const int32_t *index, const int32_t *order, " : "",
             name);
    text_add(t, "    matmul_args m = {.panels = %lld, .k = %lld, .x_stride = %s, %s%s.rows = rows, .x = x, .w = w};\n",
             ((long long)last_dim(&k->out[0]) + 15) / 16, (long long)w->depth, c_row_stride(p, &k->in[0]),
             p->plan.weight_bytes > CACHED_BYTES ? ".streamed = true, " : "", blocks && floats ? ".floats = true, " : "");
    if (experts) write_experts(t, k), text_add(t, "    m.x_slots = %lld;\n", slots_of_row(k));
    text_add(t, "    m.first = units.first, m.last = units.last;\n    %smatmul_%s%s(m, %s%s_store, store);\n}\n",
             experts ? "expert_" : "", w->format->name, is_glu(k) ? "_glu" : "", experts ? "&e, " : "", name);
}

void call_matmul(Text *t, const Program *p, const Kernel *k) {
    text_add(t, "("), c_part(t, p, k), text_add(t, ", "), c_rows(t, p, &k->out[0].type);
    for (int i = 0; i < product_epilogue(k->node); i++) text_add(t, ", "), c_pointer(t, p, k, &k->in[i]);
    if (k->family == FAMILY_EXPERTS) text_add(t, ", "), c_pointer(t, p, k, &k->in[k->n_in - 1]);
    text_add(t, ", &(%s_context){", p->functions[k->function].name), c_pointer(t, p, k, &k->out[0]);
    for (int i = product_epilogue(k->node); i < k->node->n_in; i++)
        if (k->in[i].base != BASE_SCALAR) text_add(t, ", "), c_pointer(t, p, k, &k->in[i]);
    text_add(t, "})");
}

// The entries of all rows, by one thread
void write_order(Text *t, const Program *p, const Kernel *k, const char *name) {
    (void)p;
    const Node *pack = k->node->in[PRODUCT_WEIGHTS];
    long long experts = (long long)attr_int(pack, "experts", 1);
    text_add(t, "KERNEL void %s(burin_part part, int entries, const int32_t *index, int32_t *order) {\n", name);
    text_add(t, "    int32_t place[%lld] = {0};\n", experts + 1);
    text_add(t, "    if (part.first < part.last) expert_order(%lld, entries, index, place, order);\n}\n", experts);
}
