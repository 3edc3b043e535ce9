// Rotary embedding, KV caches and attention (runtime/kernels/rotary.h, attention.h).
#include <string.h>

#include "codegen/emit.h"
#include "ir/operands.h"

static long long heads_of(const Kernel *k, const char *attr) { return (long long)attr_int(k->node, attr, 1); }

// ------------------------------------------------------------------------------------------------------------------- rotary
void write_rotary(Text *t, const Program *p, const Kernel *k, const char *name) {
    long long width = (long long)last_dim(&k->in[0]) / heads_of(k, "num_heads"), half = (long long)last_dim(&k->in[1]);
    bool looked_up = k->in[1].row_index;
    const char *row = looked_up ? "at[r]" : "r";
    text_add(
        t, "KERNEL void %s(burin_part heads, int rows, const float *x, const float *cosine, const float *sine, %sfloat *y) {\n",
        name, looked_up ? "const int32_t *at, " : "");
    text_add(t, "    rotary_shape shape = {heads.last - heads.first, %lld, %lld};\n", width, 2 * half);
    text_add(t, "    x += heads.first * %lld, y += heads.first * %lld;\n", width, width);
    text_add(t,
             "    for (int r = 0; r < rows; r++)\n        rotary_%s(shape, x + r * %s, cosine + %s * %s, sine + %s * %s, y "
             "+ r * %s);\n}\n",
             attr_int(k->node, "interleaved", 0) ? "pairs" : "half", c_row_stride(p, &k->in[0]), row,
             c_row_stride(p, &k->in[1]), row, c_row_stride(p, &k->in[2]), c_row_stride(p, &k->out[0]));
}

void call_rotary(Text *t, const Program *p, const Kernel *k) {
    text_add(t, "("), c_part(t, p, k), text_add(t, ", "), c_rows(t, p, &k->out[0].type);
    for (int i = 0; i < k->n_in; i++) text_add(t, ", "), c_pointer(t, p, k, &k->in[i]);
    if (k->in[1].row_index) text_add(t, ", "), c_input(t, k->in[1].row_index);
    text_add(t, ", "), c_pointer(t, p, k, &k->out[0]), text_add(t, ")");
}

// ------------------------------------------------------------------------------------------------------------------- caches
static const char *cache_format_of(DType t) { return t == DT_q8_0 ? "CACHE_Q8_0" : t == DT_f16 ? "CACHE_F16" : "CACHE_F32"; }

// Of a state, or of a call: the slots of its sequences lie one after the other.
static void write_cache(Text *t, const Program *p, const View *v, const char *data) {
    const Type *type = &v->type;
    text_add(t, "(kv_cache){%lld, %lld, ", (long long)dim_upper(type->dim[1]), (long long)dim_upper(type->dim[3]));
    if (v->base == BASE_STATE)
        text_add(t, "%lld, %s, %llu", (long long)(dim_upper(type->dim[2]) + 15) / 16 * 16, cache_format_of(type->dtype),
                 (unsigned long long)p->plan.slot_bytes);
    else
        c_dim(t, p, type->dim[2]), text_add(t, ", CACHE_F32, 4 * (size_t)"), c_dim(t, p, v->stride[0]);
    text_add(t, ", %s}", data);
}

// Of `rows` rows, those of one sequence; 0 where there is no batch.
static void write_sequence(Text *t, const Program *p, const Node *attention, const Type *rows) {
    const Dim *batch = attr_dim(attention, "batch");
    c_dim(t, p, batch ? dim_binary(p->graph, DIM_FLOORDIV, rows->dim[0], batch) : dim_const(p->graph, 0));
}

#define PLACES "const int32_t *slot, const int32_t *position, "  // of each row

void write_append(Text *t, const Program *p, const Kernel *k, const char *name) {
    bool by_rows = k->n_in > 1;
    text_add(t, "KERNEL void %s(burin_part heads, const burin_step *s, int rows, const float *x, %svoid *cache) {\n", name,
             by_rows ? PLACES : "");
    text_add(t, "    kv_rows in = {.rows = rows, .stride = %s, .x = x%s", c_row_stride(p, &k->in[0]),
             by_rows ? ", .slot = slot, .position = position" : "");
    if (attr_find(k->node, "batch")) text_add(t, ", .sequence = "), write_sequence(t, p, k->node, &k->in[0].type);
    text_add(t, "};\n    (void)s;\n");
    text_add(t, "    cache_append_%ss(", k->cache);
    write_cache(t, p, &k->out[0], "cache");
    text_add(t, ", in, heads.first, heads.last);\n}\n");
}

void call_append(Text *t, const Program *p, const Kernel *k) {
    text_add(t, "("), c_part(t, p, k), text_add(t, ", s, "), c_rows(t, p, &k->in[0].type);
    for (int i = 0; i < k->n_in; i++) text_add(t, ", "), c_pointer(t, p, k, &k->in[i]);
    text_add(t, ", "), c_pointer(t, p, k, &k->out[0]), text_add(t, ")");
}

// Rows some positions back: of a state, or of a value that has all rows of one sequence.
void write_earlier(Text *t, const Program *p, const Kernel *k, const char *name) {
    bool cached = k->n_in > 1;
    long long n = (long long)last_dim(&k->out[0]), back = (long long)attr_int(k->node, "back", 0);
    text_add(t, "KERNEL void %s(burin_part part, %s *x, %sfloat *y) {\n", name, cached ? "void" : "const float",
             cached ? PLACES : "");
    if (cached) text_add(t, "    kv_cache cache = "), write_cache(t, p, &k->in[0], "x"), text_add(t, ";\n");
    text_add(t, "    for (int r = part.first; r < part.last; r++)\n        ");
    if (cached)
        text_add(t, "cache_earlier(cache, slot[r], position[r] - %lld, y + r * %lld);\n}\n", back, n);
    else
        text_add(t, "row_or_zeros(%lld, r < %lld ? NULL : x + (r - %lld) * %s, y + r * %lld);\n}\n", n, back, back,
                 c_row_stride(p, &k->in[0]), n);
}

void call_earlier(Text *t, const Program *p, const Kernel *k) {
    text_add(t, "("), c_part(t, p, k);
    for (int i = 0; i < k->n_in; i++) text_add(t, ", "), c_pointer(t, p, k, &k->in[i]);
    text_add(t, ", "), c_pointer(t, p, k, &k->out[0]), text_add(t, ")");
}

// ---------------------------------------------------------------------------------------------------------------- attention
static const View *optional(const Kernel *k, int i) { return operand_or_null(k->node, i) ? &k->in[i] : NULL; }
static const View *bias_of(const Kernel *k) { return optional(k, ATTENTION_BIAS); }
static const View *mask_of(const Kernel *k) { return optional(k, ATTENTION_MASK); }
static const View *sinks_of(const Kernel *k) { return optional(k, ATTENTION_SINKS); }

// Of the axis `from_end` axes before the keys; 0 when the bias is the same along it.
static void write_bias_stride(Text *t, const Program *p, const View *bias, int from_end) {
    int axis = bias->type.rank - 1 - from_end;
    int64_t extent;
    if (axis < 0 || (dim_is_const(bias->type.dim[axis], &extent) && extent == 1))
        text_add(t, "0");
    else
        text_add(t, "(size_t)"), c_dim(t, p, bias->stride[axis]);
}

static void write_bias(Text *t, const Program *p, const View *bias) {
    text_add(t, "    bias_rows b = {bias, ");
    for (int from_end = 3; from_end > 0; from_end--) write_bias_stride(t, p, bias, from_end), text_add(t, ", ");
    c_dim(t, p, bias->type.dim[bias->type.rank - 1]);
    text_add(t, "};\n    a.bias = bias_of_rows, a.bias_context = &b;\n");
}

static bool is_cached(const Kernel *k) { return k->in[ATTENTION_KEY].base == BASE_STATE; }

void write_attention(Text *t, const Program *p, const Kernel *k, const char *name) {
    const View *bias = bias_of(k);
    text_add(t,
             "KERNEL void %s(burin_part units, const burin_step *s, int thread, int rows, int count, const float *q, void "
             "*keys, void *values%s%s%s%s, float *y) {\n",
             name, bias ? ", const float *bias" : "", mask_of(k) ? ", const float *mask" : "",
             sinks_of(k) ? ", const float *sinks" : "", k->n_out > 1 ? ", float *parts" : "");
    text_add(t, "    attention_args a = {.heads = %lld, .scale = ", heads_of(k, "num_heads"));
    c_float(t, attr_float(k->node, "scale", 1));
    text_add(t, ", .softcap = "), c_float(t, attr_float(k->node, "softcap", 0));
    text_add(t, ", .window = %lld, .causal = %s};\n", (long long)attr_int(k->node, "window", 0),
             attr_int(k->node, "causal", 0) ? "true" : "false");
    if (is_cached(k))
        text_add(t, "    a.rows = rows, a.count = count, a.slot = s->slot, a.position = "),
            c_input(t, k->node->in[ATTENTION_POSITION]), text_add(t, ";\n");
    else
        text_add(t, "    a.rows = rows, a.count = count, a.sequence = "), write_sequence(t, p, k->node, &k->in[0].type),
            text_add(t, ", (void)s;\n");
    text_add(t, "    a.q = q, a.q_stride = %s, a.y = y, a.y_stride = %s;\n", c_row_stride(p, &k->in[ATTENTION_QUERY]),
             c_row_stride(p, &k->out[0]));
    if (bias) write_bias(t, p, bias);
    if (mask_of(k)) text_add(t, "    a.mask = mask;\n");
    if (sinks_of(k)) text_add(t, "    a.sinks = sinks;\n");
    text_add(t, "    a.keys = "), write_cache(t, p, &k->in[ATTENTION_KEY], "keys");
    text_add(t, ";\n    a.values = "), write_cache(t, p, &k->in[ATTENTION_VALUE], "values");
    text_add(t, ";\n    burin_attention(s, thread, a, units, %s);\n}\n", k->n_out > 1 ? "parts" : "NULL");
}

// How many keys a sequence has: those of the operand when it is not cached; a cache's rows say it themselves.
static void c_key_count(Text *t, const Program *p, const Kernel *k) {
    const Type *keys = &k->node->in[ATTENTION_KEY]->type;
    if (is_cached(k))
        text_add(t, "0");
    else if (attr_dim(k->node, "batch"))
        write_sequence(t, p, k->node, keys);
    else
        c_dim(t, p, keys->dim[0]);
}

void call_attention(Text *t, const Program *p, const Kernel *k) {
    text_add(t, "("), c_part(t, p, k), text_add(t, ", s, thread, "), c_rows(t, p, &k->out[0].type);
    text_add(t, ", "), c_key_count(t, p, k);
    for (int i = ATTENTION_QUERY; i <= ATTENTION_VALUE; i++) text_add(t, ", "), c_pointer(t, p, k, &k->in[i]);
    for (int i = ATTENTION_BIAS; i < ATTENTION_OPERANDS; i++)
        if (optional(k, i)) text_add(t, ", "), c_pointer(t, p, k, optional(k, i));
    for (int i = k->n_out - 1; i >= 0; i--) text_add(t, ", "), c_pointer(t, p, k, &k->out[i]);
    text_add(t, ")");
}
