// Names of kernel functions: what their lines compute.
//
//   %h = matmul_packed(%n2, %wgu) {columns=512, glu=1, epilogue=mul(silu($0), $1)}   ->   matmul_bf16_192x512_silu_mul
#include <string.h>

#include "codegen/emit.h"
#include "ir/operands.h"
#include "lower/scan.h"

static void name_dim(Text *t, const char *separator, const Dim *d) {
    int64_t value;
    if (dim_is_const(d, &value)) text_add(t, "%s%lld", separator, (long long)value);
}

static void name_dims(Text *t, const Type *type, int first) {
    const char *separator = "_";
    for (int i = first; i < type->rank; i++) {
        size_t before = t->length;
        name_dim(t, separator, type->dim[i]);
        if (t->length > before) separator = "x";
    }
}

static void name_expr(Text *t, const Expr *e) {
    if (e->kind != EXPR_OP) return;
    for (int i = 0; i < e->n; i++) name_expr(t, e->in[i]);
    text_add(t, "_%s", op_info[e->op].name);
}

// At most 100 characters of a name
static const char *kept(const Program *p, Text *t) {
    const char *name = arena_strndup(p->arena, t->data, t->length < 100 ? t->length : 100);
    text_free(t);
    return name;
}

static void name_matmul(Text *t, const Kernel *k) {
    const PackedWeight *w = k->in[1].weight;
    const Expr *epilogue = kernel_expr(k, "epilogue");
    bool floats = w->format->blocks && k->in[0].type.dtype == DT_f32;
    text_add(t, "%s%s_%s%s_%lld", k->family == FAMILY_EXPERTS ? "expert_" : "",
             k->row_axes ? "convolution" : "matmul", w->format->name, floats ? "_floats" : "",
             (long long)w->depth);
    name_dim(t, "x", k->out[0].type.dim[k->out[0].type.rank - 1]);
    if (epilogue) name_expr(t, epilogue);
}

const char *store_name(const Program *p, const Kernel *k) {
    Text t = {0};
    const Expr *epilogue = kernel_expr(k, "epilogue");
    text_add(&t, "store");
    if (epilogue) name_expr(&t, epilogue);
    name_dim(&t, "_", k->out[0].type.dim[k->out[0].type.rank - 1]);
    return kept(p, &t);
}

const char *order_name(const Program *p, const Kernel *k) {
    Text t = {0};
    if (k->op != OP_unique) return "";
    text_add(&t, "order_%s", dtype_name(k->in[0].type.dtype));
    name_dims(&t, &k->in[0].type, 1);
    return kept(p, &t);
}

static long long const_dim(const Type *type, int axis) {
    return (long long)dim_upper(type->dim[axis]);
}

// Of a cache that does not hold floats
static void name_cache(Text *t, const View *cache) {
    if (cache->type.dtype != DT_f32) text_add(t, "_%s", dtype_name(cache->type.dtype));
}

static void name_heads(Text *t, const Kernel *k) {
    const Type *out = &k->out[0].type;
    long long heads = (long long)kernel_int(k, "num_heads", 1);
    if (k->family == FAMILY_APPEND) {
        text_add(t, "cache_append_%s_%lldx%lld", k->cache, const_dim(out, 1), const_dim(out, 3));
        name_cache(t, &k->out[0]);
    } else if (k->family == FAMILY_ROTARY)
        text_add(t, "rotary_%lld", const_dim(out, out->rank - 1) / heads);
    else {
        text_add(t, "attention_%lldx%lldx%lld", heads,
                 (long long)kernel_int(k, "num_kv_heads", heads),
                 const_dim(&k->in[0].type, 1) / heads);
        name_cache(t, &k->in[ATTENTION_KEY]);
    }
}

static void name_nest(Text *t, const Kernel *k) {
    const Expr *e = k->copies ? NULL : kernel_expr(k, "expr");
    if (e) {
        Text words = {0};
        name_expr(&words, e);
        text_add(t, "%s", words.data ? words.data + 1 : "copy");
        text_free(&words);
    } else {
        text_add(t, "%s", k->copies ? "copy" : op_info[k->op].name);
        if (k->op == OP_cast && !k->copies) text_add(t, "_%s", dtype_name(k->out[0].type.dtype));
    }
    name_dims(t, &k->out[0].type, 0);
}

static void name_embed(Text *t, const Kernel *k) {
    const PackedWeight *w = k->in[0].weight;
    text_add(t, "embed_%s_%lldx%lld", w->format ? w->format->name : dtype_name(k->in[0].type.dtype),
             w->format ? (long long)w->columns : const_dim(&k->in[0].type, 0),
             (long long)last_dim(&k->out[0]));
}

static void name_scan(Text *t, const Kernel *k) {
    text_add(t, "scan");
    for (int i = 0; i < k->scan->n_axes; i++)
        text_add(t, "%s%lld", i ? "x" : "_", (long long)k->scan->extent[i]);
}

const char *function_name(const Program *p, const Kernel *k) {
    Text t = {0};
    switch (k->family) {
        case FAMILY_EMBED:
            name_embed(&t, k);
            break;
        case FAMILY_MATMUL:
        case FAMILY_EXPERTS:
            name_matmul(&t, k);
            break;
        case FAMILY_DEPTHWISE:
            text_add(&t, "depthwise_%lldx%lld", (long long)dim_upper(k->in[1].type.dim[1]),
                     (long long)last_dim(&k->out[0]));
            if (kernel_expr(k, "epilogue")) name_expr(&t, kernel_expr(k, "epilogue"));
            break;
        case FAMILY_ORDER:
            text_add(&t, "expert_order");
            name_dims(&t, &k->out[0].type, 1);
            break;
        case FAMILY_QUANTIZE:
            text_add(&t, "quantize_q8_0");
            name_dims(&t, &k->out[0].type, 1);
            break;
        case FAMILY_SHIFT:
        case FAMILY_GATHER:
            text_add(&t, "%s", op_info[k->op].name);
            name_dims(&t, &k->out[0].type, 1);
            break;
        case FAMILY_KEYS:
            text_add(&t, "%s_%lldx%lldx%lld", op_info[k->op].name, const_dim(&k->in[1].type, 1),
                     const_dim(&k->in[1].type, 2), const_dim(&k->in[1].type, 3));
            break;
        case FAMILY_NORM:
            text_add(&t, "%s%s", op_info[k->op].name, quantized_result(k) < 0 ? "" : "_q8_0");
            name_dims(&t, &k->out[0].type, k->out[0].type.rank - 1);
            break;
        case FAMILY_ROTARY:
        case FAMILY_APPEND:
        case FAMILY_ATTENTION:
            name_heads(&t, k);
            break;
        case FAMILY_SCAN:
            name_scan(&t, k);
            break;
        case FAMILY_NEST:
            name_nest(&t, k);
            break;
    }
    const char *name = kept(p, &t);
    // Extents keep names apart from those of the C library: abs, exp.
    return strpbrk(name, "0123456789") ? name : arena_printf(p->arena, "nest_%s", name);
}
