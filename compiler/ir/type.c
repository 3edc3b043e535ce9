// Element types, and types of values: an element type with dimensions.
#include <string.h>

#include "ir.h"
#include "ir/format.h"
#include "kernels/quantize.h"

static const struct {
    const char *name;
    int bits;
} dtypes[DT_COUNT] = {
#define X(name, bits) {#name, bits},
    DTYPES(X)
#undef X
#define FORMAT(name, ...) {#name, 0},
#include "kernels/format_rows.h"
#undef FORMAT
};

int dtype_bits(DType t) { return dtypes[t].bits; }
bool dtype_is_rows(DType t) { return t == DT_q8_rows || t == DT_i8_rows; }
const char *dtype_name(DType t) { return dtypes[t].name; }

bool dtype_parse(const char *name, DType *t) {
    for (int i = 0; i < DT_COUNT; i++)
        if (!strcmp(dtypes[i].name, name)) return *t = (DType)i, true;
    return false;
}

bool dtype_is_float(DType t) {
    switch (t) {
        case DT_f32:
        case DT_f16:
        case DT_bf16:
        case DT_f64:
        case DT_f8e4m3fn:
        case DT_f8e4m3fnuz:
        case DT_f8e5m2:
        case DT_f8e5m2fnuz:
        case DT_f8e8m0:
        case DT_f4e2m1:
            return true;
        default:
            return false;
    }
}

int64_t dtype_limit(DType t, bool largest) {
    int bits = dtype_bits(t);
    bool is_unsigned = t == DT_u2 || t == DT_u4 || t == DT_u8 || t == DT_u16 || t == DT_u32;
    if (t == DT_bool) return largest;
    if (is_unsigned) return largest ? (INT64_C(1) << bits) - 1 : 0;
    return largest ? (int64_t)(UINT64_MAX >> (65 - bits))
                   : -(int64_t)(UINT64_MAX >> (65 - bits)) - 1;
}

Type type_of(DType dtype, int rank, const Dim *const *dim) {
    Type t = {.dtype = dtype, .rank = rank};
    for (int i = 0; i < rank; i++) t.dim[i] = dim[i];
    return t;
}

Type type_scalar(DType dtype) { return (Type){.dtype = dtype}; }

Type type_of_tensor(Graph *g, const Tensor *tensor) {
    Type t = {.dtype = tensor->dtype, .rank = tensor->rank};
    for (int i = 0; i < t.rank; i++) t.dim[i] = dim_const(g, tensor->dim[i]);
    return t;
}

bool type_equal(const Type *a, const Type *b) {
    if (a->dtype != b->dtype || a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i]) return false;
    return true;
}

const Dim *type_count(Graph *g, const Type *t) {
    const Dim *n = dim_const(g, 1);
    for (int i = 0; i < t->rank; i++) n = dim_binary(g, DIM_MUL, n, t->dim[i]);
    return n;
}

const Dim *storage_units(Graph *g, const Type *t) {
    Type units = *t;
    if (dtype_is_rows(t->dtype)) {
        const Dim *up = dim_binary(g, DIM_ADD, t->dim[t->rank - 1], dim_const(g, QUANT_BLOCK - 1));
        units.dim[t->rank - 1] = dim_binary(g, DIM_FLOORDIV, up, dim_const(g, QUANT_BLOCK));
    }
    return type_count(g, &units);
}

int64_t storage_units_of(DType dtype, int rank, const int64_t *dim) {
    int64_t n = 1;
    bool is_zero = false, is_too_large = false;
    for (int i = 0; i < rank; i++) {
        int64_t extent = dtype_is_rows(dtype) && i + 1 == rank
                             ? (dim[i] + QUANT_BLOCK - 1) / QUANT_BLOCK
                             : dim[i];
        is_zero |= extent == 0;
        is_too_large |= __builtin_mul_overflow(n, extent, &n);
    }
    return is_zero ? 0 : is_too_large ? -1 : n;
}

void type_print(Text *out, const Type *t) {
    text_add(out, "%s", dtype_name(t->dtype));
    if (!t->rank) return;
    for (int i = 0; i < t->rank; i++) {
        text_add(out, i ? ", " : "[");
        dim_print(out, t->dim[i]);
    }
    text_add(out, "]");
}

// Into one of four buffers, in turn.
static const char *keep_text(Text *text) {
    enum { BUFFERS = 4, BYTES = 256 };
    static char buffers[BUFFERS][BYTES];
    static int next;
    char *buffer = buffers[next++ % BUFFERS];
    size_t n = text->length < BYTES ? text->length : BYTES - 1;
    memcpy(buffer, text->data, n);
    buffer[n] = 0;
    text_free(text);
    return buffer;
}

const char *type_text(const Type *t) {
    Text text = {0};
    type_print(&text, t);
    return keep_text(&text);
}

const char *dim_text(const Dim *d) {
    Text text = {0};
    dim_print(&text, d);
    return keep_text(&text);
}

const Dim *dim_broadcast(Graph *g, const Dim *a, const Dim *b) {
    (void)g;
    if (a == b || dim_is(b, 1)) return a;
    return dim_is(a, 1) ? b : NULL;
}

bool type_broadcast(Graph *g, const Type *a, const Type *b, Type *result) {
    const Type *longer = a->rank >= b->rank ? a : b, *shorter = longer == a ? b : a;
    int shift = longer->rank - shorter->rank;
    Type r = *longer;
    r.dtype = a->dtype;
    for (int i = 0; i < shorter->rank; i++) {
        r.dim[shift + i] = dim_broadcast(g, longer->dim[shift + i], shorter->dim[i]);
        if (!r.dim[shift + i]) return false;
    }
    *result = r;
    return true;
}

int64_t tensor_count(const Tensor *t) {
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++) n *= t->dim[i];
    return n;
}

uint64_t dtype_bytes(DType dtype, int64_t count) {
    const Format *f = format_of(dtype);
    if (dtype_is_rows(dtype)) return (uint64_t)count * sizeof(q8_block);
    if (f) return (uint64_t)(count / f->block) * (uint64_t)f->bytes;
    return (uint64_t)count * (uint64_t)dtype_bits(dtype) / 8 +
           ((uint64_t)count * (uint64_t)dtype_bits(dtype) % 8 != 0);
}
