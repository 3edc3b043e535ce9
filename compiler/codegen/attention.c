// Rotary embedding, KV caches and attention (runtime/kernels/rotary.h, attention.h).
#include <string.h>

#include "codegen/parameters.h"
#include "ir/operands.h"

// ------------------------------------------------------------------------------------------ rotary
void rotary_parameters(Parameters *ps) {
    const Kernel *k = ps->kernel;
    take_range(ps, "heads");
    take_rows(ps, &k->out[0].type);
    take_operand(ps, "x", &k->in[0]);
    take_operand(ps, "cosine", &k->in[1]);
    take_operand(ps, "sine", &k->in[2]);
    if (k->in[1].row_index) {
        Text at = {0};
        c_input(&at, k->in[1].row_index);
        take(ps, "const int32_t *", "at", arena_strdup(ps->program->arena, at.data));
        text_free(&at);
    }
    take_result(ps, "y", &k->out[0]);
}

void write_rotary(Text *t, const Program *p, const Kernel *k) {
    long long width = (long long)(last_dim(&k->in[0]) / kernel_int(k, "num_heads", 1)),
              half = (long long)last_dim(&k->in[1]);
    const char *row = k->in[1].row_index ? "at[r]" : "r";
    text_add(t, "    rotary_shape shape = {heads.last - heads.first, %lld, %lld};\n", width,
             2 * half);
    text_add(t, "    x += heads.first * %lld, y += heads.first * %lld;\n", width, width);
    text_add(t,
             "    for (int r = 0; r < %s; r++)\n        rotary_%s(shape, x + r * %s, cosine + %s "
             "* %s, sine + %s * %s, y + r "
             "* %s);\n",
             rows_name(p, &k->out[0].type), kernel_int(k, "interleaved", 0) ? "pairs" : "half",
             c_row_stride(p, &k->in[0]), row, c_row_stride(p, &k->in[1]), row,
             c_row_stride(p, &k->in[2]), c_row_stride(p, &k->out[0]));
}

// ------------------------------------------------------------------------------------------ caches
static const char *cache_format_of(DType t) {
    return t == DT_q8_0 ? "CACHE_Q8_0" : t == DT_f16 ? "CACHE_F16" : "CACHE_F32";
}

// Bytes from one slot's to the next: 4 * rows * 196608, or a number
static void write_slot_bytes(Text *t, const Program *p, const View *v) {
    int64_t elements;
    if (v->base == BASE_STATE)
        text_add(t, "%llu", (unsigned long long)p->plan.slot_bytes);
    else if (dim_is_const(v->stride[0], &elements))
        text_add(t, "%lld", 4 * (long long)elements);
    else {
        text_add(t, "4 * (size_t)");
        c_dim(t, p, v->stride[0]);
    }
}

// The slots of sequences, in a state or in a call, are stored one after the other.
static void write_cache(Text *t, const Program *p, const View *v, const char *data) {
    const Type *type = &v->type;
    CacheShape shape = v->base == BASE_STATE ? cache_shape(v->state->node) : (CacheShape){0};
    text_add(t, "(kv_cache){%lld, %lld, ", (long long)dim_upper(type->dim[1]),
             (long long)dim_upper(type->dim[3]));
    if (v->base == BASE_STATE)
        text_add(t, "%llu, %s, ", (unsigned long long)shape.capacity, cache_format_of(type->dtype));
    else {
        c_dim(t, p, type->dim[2]);
        text_add(t, ", CACHE_F32, ");
    }
    write_slot_bytes(t, p, v);
    text_add(t, ", %s, %s}", data, shape.ring ? "true" : "false");
}

// Of `rows` rows, those of one sequence; 0 where there is no batch.
static void write_sequence(Text *t, const Program *p, const Kernel *k, const Type *rows) {
    const Dim *batch = kernel_dim(k, "batch");
    c_dim(t, p,
          batch ? dim_binary(p->graph, DIM_FLOORDIV, rows->dim[0], batch) : dim_const(p->graph, 0));
}

// Of each row, from operand i on; nothing of a kernel that has none
static void take_buffer_offsets(Parameters *ps, int i) {
    const Kernel *k = ps->kernel;
    if (i + 1 >= k->n_in) return;
    take_operand(ps, "slot", &k->in[i]);
    take_operand(ps, "position", &k->in[i + 1]);
}

void append_parameters(Parameters *ps) {
    const Kernel *k = ps->kernel;
    take_range(ps, "heads");
    take_step(ps);
    take_rows(ps, &k->in[0].type);
    take_operand(ps, "x", &k->in[0]);
    take_buffer_offsets(ps, 1);
    take_view(ps, "void *", "cache", &k->out[0]);
}

void write_append(Text *t, const Program *p, const Kernel *k) {
    text_add(t, "    kv_rows in = {.rows = %s, .stride = %s, .x = x%s",
             rows_name(p, &k->in[0].type), c_row_stride(p, &k->in[0]),
             k->n_in > 1 ? ", .slot = slot, .position = position" : "");
    if (kernel_dim(k, "batch")) {
        text_add(t, ", .sequence = ");
        write_sequence(t, p, k, &k->in[0].type);
    }
    text_add(t, "};\n    cache_append_%ss(", k->cache);
    write_cache(t, p, &k->out[0], "cache");
    text_add(t, ", in, heads.first, heads.last);\n");
}

// Rows some positions back: of a state, or of a value that has all rows of one sequence.
void shift_rows_parameters(Parameters *ps) {
    const Kernel *k = ps->kernel;
    take_range(ps, "range");
    take_step(ps);
    if (k->n_in > SHIFT_SLOT)
        take_view(ps, "void *", "x", &k->in[SHIFT_X]);
    else
        take_operand(ps, "x", &k->in[SHIFT_X]);
    take_buffer_offsets(ps, SHIFT_SLOT);
    take_result(ps, "y", &k->out[0]);
}

void write_shift_rows(Text *t, const Program *p, const Kernel *k) {
    bool cached = k->n_in > SHIFT_SLOT;
    long long n = (long long)last_dim(&k->out[0]), back = (long long)kernel_int(k, "back", 0);
    if (cached) {
        text_add(t, "    kv_cache cache = ");
        write_cache(t, p, &k->in[SHIFT_X], "x");
        text_add(t, ";\n");
    }
    text_add(t, "    for (int r = range.first; r < range.last; r++)\n        ");
    if (cached)
        text_add(t, "cache_earlier(cache, slot[r], position[r] - %lld, y + r * %lld);\n", back, n);
    else
        text_add(t, "row_or_zeros(%lld, r < %lld ? NULL : x + (r - %lld) * %s, y + r * %lld);\n", n,
                 back, back, c_row_stride(p, &k->in[SHIFT_X]), n);
}

// ------------------------------------------------------------------------------------- kept keys
void kept_keys_parameters(Parameters *ps) {
    const Kernel *k = ps->kernel;
    take_range(ps, "range");
    take_step(ps);
    take_operand(ps, "x", &k->in[KEYS_X]);
    take_view(ps, "void *", "kept", &k->in[KEYS_ROWS]);
    take_buffer_offsets(ps, KEYS_SLOT);
    take_result(ps, "y", &k->out[0]);
}

void write_kept_keys(Text *t, const Program *p, const Kernel *k) {
    const Type *x = &k->in[KEYS_X].type, *kept = &k->in[KEYS_ROWS].type;
    long long heads = (long long)dim_upper(x->dim[1]), from = (long long)dim_upper(x->dim[2]);
    bool products = k->op == OP_key_products;
    long long to = (long long)dim_upper(kept->dim[products ? 2 : 3]);
    text_add(t, "    kv_cache cache = ");
    write_cache(t, p, &k->in[KEYS_ROWS], "kept");
    text_add(t, ";\n    for (int i = range.first; i < range.last; i++) {\n");
    text_add(t, "        int r = i / %lld, head = i %% %lld, seen = position[r] + 1;\n", heads,
             heads);
    text_add(
        t,
        "        %s(&cache, slot[r], head, seen%s, x + (size_t)i * %lld, y + (size_t)i * %lld);\n",
        op_info[k->op].name, products ? arena_printf(p->arena, ", %lld", to) : "", from, to);
    text_add(t, "    }\n");
}

// --------------------------------------------------------------------------------------- attention
static const View *optional(const Kernel *k, int i) {
    return i < k->n_in && k->in[i].base != BASE_NONE ? &k->in[i] : NULL;
}

static bool is_cached(const Kernel *k) { return k->in[ATTENTION_KEY].base == BASE_STATE; }

// Of the axis `from_end` axes before the keys; 0 when the bias is the same along it.
static void write_bias_stride(Text *t, const Program *p, const View *bias, int from_end) {
    int axis = bias->type.rank - 1 - from_end;
    int64_t extent, stride;
    if (axis < 0 || (dim_is_const(bias->type.dim[axis], &extent) && extent == 1))
        text_add(t, "0");
    else {
        text_add(t, dim_is_const(bias->stride[axis], &stride) ? "" : "(size_t)");
        c_dim(t, p, bias->stride[axis]);
    }
}

static void write_bias(Text *t, const Program *p, const View *bias) {
    text_add(t, "    bias_rows b = {bias, ");
    for (int from_end = 3; from_end > 0; from_end--) {
        write_bias_stride(t, p, bias, from_end);
        text_add(t, ", ");
    }
    c_dim(t, p, bias->type.dim[bias->type.rank - 1]);
    text_add(t, "};\n    a.bias = bias_of_rows, a.bias_context = &b;\n");
}

// Uncached keys need the sequence's number of keys; a cache's rows carry theirs.
void attention_parameters(Parameters *ps) {
    static const char *const names[ATTENTION_OPERANDS] = {
        [ATTENTION_BIAS] = "bias", [ATTENTION_MASK] = "mask", [ATTENTION_SINKS] = "sinks"};
    const Kernel *k = ps->kernel;
    take_range(ps, "units");
    take_step(ps);
    take(ps, "int ", "thread", "thread");
    take_rows(ps, &k->out[0].type);
    if (is_cached(k))
        take_buffer_offsets(ps, ATTENTION_SLOT);
    else
        take_count(ps, "count", k->count);
    take_operand(ps, "q", &k->in[ATTENTION_QUERY]);
    take_view(ps, "void *", "keys", &k->in[ATTENTION_KEY]);
    take_view(ps, "void *", "values", &k->in[ATTENTION_VALUE]);
    for (int i = ATTENTION_BIAS; i < ATTENTION_OPERANDS; i++)
        if (optional(k, i)) take_operand(ps, names[i], optional(k, i));
    if (k->n_out > 1) take_result(ps, "parts", &k->out[1]);
    take_result(ps, "y", &k->out[0]);
}

// Returns the values that are not 0.
static void write_rules(Text *t, const Kernel *k) {
    text_add(t, "    attention_args a = {.heads = %lld, .scale = ",
             (long long)kernel_int(k, "num_heads", 1));
    c_float(t, kernel_float(k, "scale", 1));
    if (kernel_float(k, "softcap", 0) != 0) {
        text_add(t, ", .softcap = ");
        c_float(t, kernel_float(k, "softcap", 0));
    }
    if (kernel_int(k, "window", 0))
        text_add(t, ", .window = %lld", (long long)kernel_int(k, "window", 0));
    text_add(t, "%s};\n", kernel_int(k, "causal", 0) ? ", .causal = true" : "");
}

void write_attention(Text *t, const Program *p, const Kernel *k) {
    write_rules(t, k);
    text_add(t, "    a.rows = %s, a.q = q, a.q_stride = %s, a.y = y, a.y_stride = %s;\n",
             rows_name(p, &k->out[0].type), c_row_stride(p, &k->in[ATTENTION_QUERY]),
             c_row_stride(p, &k->out[0]));
    if (is_cached(k))
        text_add(t, "    a.slot = slot, a.position = position;\n");
    else {
        text_add(t, "    a.count = count, a.sequence = ");
        write_sequence(t, p, k, &k->in[ATTENTION_QUERY].type);
        text_add(t, ";\n");
    }
    if (optional(k, ATTENTION_BIAS)) write_bias(t, p, optional(k, ATTENTION_BIAS));
    if (optional(k, ATTENTION_MASK)) text_add(t, "    a.mask = mask;\n");
    if (optional(k, ATTENTION_SINKS)) text_add(t, "    a.sinks = sinks;\n");
    text_add(t, "    a.keys = ");
    write_cache(t, p, &k->in[ATTENTION_KEY], "keys");
    text_add(t, ";\n    a.values = ");
    write_cache(t, p, &k->in[ATTENTION_VALUE], "values");
    text_add(t, ";\n    burin_attention(s, thread, a, units, %s);\n",
             k->n_out > 1 ? "parts" : "NULL");
}
