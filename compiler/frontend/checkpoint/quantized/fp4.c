// Floats of 4 bits (e2m1), two in a byte, the first in the low nibble: what mxfp4,
// compressed-tensors and modelopt share.
//   mxfp4   a scale for 32 columns, 2^(byte - 127)
//   nvfp4   a scale for 16 columns, f8_e4m3, beside a float for the whole matrix
#include <math.h>
#include <string.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "ir/format.h"

typedef struct {
    float value;
    bool divides;
} WholeScale;

static const float e2m1[16] = {0, .5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -.5f, -1, -1.5f, -2, -3, -4, -6};

static void read_codes(const QuantizedMatrix *m, CodedRows *rows) {
    const uint8_t *bytes = (const uint8_t *)m->codes->tensor.data + rows->first * m->columns / 2;
    for (int64_t i = 0; i < rows->n * m->columns; i++)
        rows->code[i] = bytes[i / 2] >> i % 2 * 4 & 15;
}

static float scale_at(const QuantizedMatrix *m, int64_t row, int64_t column) {
    const WholeScale *whole = m->details;
    const Tensor *t = &m->scale.values->tensor;
    float scale = (float)dtype_load(t->dtype, t->data, row * m->groups + column / m->group);
    return whole->divides ? scale / whole->value : scale * whole->value;
}

// Format nvfp4's blocks: d, so that codes are twice e2m1; scales of four groups; codes as they are
static void write_blocks(const QuantizedMatrix *m, const CodedRows *rows, int r, uint8_t *out) {
    const WholeScale *whole = m->details;
    const uint8_t *scales =
        (const uint8_t *)m->scale.values->tensor.data + (rows->first + r) * m->groups;
    const int16_t *code = rows->code + r * m->columns;
    const float d = m->own == DT_nvfp4_d ? whole->value * 2
                    : whole->divides     ? 0.5f / whole->value
                                         : whole->value * 0.5f;
    for (int64_t k = 0; k < m->columns; k += 64, out += 40) {
        memcpy(out, &d, sizeof d);
        memcpy(out + 4, scales + k / 16, 4);
        for (int i = 0; i < 32; i++)
            out[8 + i] = (uint8_t)(code[k + 2 * i] | code[k + 2 * i + 1] << 4);
    }
}

// Returns true if u / whole equals u times its inverse for all floats u of 8 bits.
static bool divides_as_inverse(float whole) {
    bool same = true;
    for (int u = 8; u < 16; u++) same &= (float)u / whole == (float)u * (1 / whole);
    return same;
}

static void set_own_format(QuantizedMatrix *m, const WholeScale *whole) {
    float size = fabsf(whole->value);  // beyond these bounds a product could round as subnormals do
    if (m->group != 16 || m->columns % 64 || m->scale.values->tensor.dtype != DT_f8e4m3fn ||
        !(size > 0x1p-90f && size < 0x1p90f))
        return;
    m->own = whole->divides && !divides_as_inverse(whole->value) ? DT_nvfp4_d : DT_nvfp4;
    m->blocks = write_blocks;
}

const StoredTensor *quantized_exponents(const Quantization *q, const StoredTensor *t) {
    StoredTensor *exponents = ARENA_NEW(q->checkpoint->arena, StoredTensor);
    *exponents = *t;
    if (t->tensor.dtype == DT_u8) exponents->tensor.dtype = DT_f8e8m0;
    return exponents;
}

void fp4_codes(QuantizedMatrix *m) {
    m->table = e2m1, m->bits = 4;
    m->read = read_codes;
}

void fp4_set(QuantizedMatrix *m, const StoredTensor *scales, int64_t group) {
    quantized_want_shape(m->codes, 2, (int64_t[]){-1, -1});
    const int64_t *dims = m->codes->tensor.dim;
    quantized_set_size(m, m->codes, dims[0], dims[1] * 2);
    fp4_codes(m);
    m->powers = scales->tensor.dtype == DT_f8e8m0;
    int64_t columns = group > 0 ? group : m->powers ? 32 : 16;
    quantized_want_shape(scales, 2, (int64_t[]){m->rows, ceil_div(m->columns, columns)});
    quantized_scales(m, scales, 1, columns);
}

void fp4_matrix(Quantization *q, QuantizedMatrix *m, const char *end, int64_t group) {
    fp4_set(m, quantized_exponents(q, quantized_part(q, m, end, SET_SCALES | SET_U8, true)), group);
}

void fp4_whole_scale(Quantization *q, QuantizedMatrix *m, const char *end, WholeKind kind) {
    if (m->powers) return;
    const StoredTensor *t =
        quantized_part(q, m, end, SET_FLOATS, kind != WHOLE_FACTOR_OR_NONE && kind != WHOLE_MOST);
    WholeScale *whole = ARENA_NEW(q->checkpoint->arena, WholeScale);
    *whole = (WholeScale){1, kind == WHOLE_DIVISOR};
    if (t) {
        if (tensor_count(&t->tensor) != 1) quantized_want_shape(t, 1, (int64_t[]){1});
        quantized_check_scales(t);
        whole->value = (float)dtype_load(t->tensor.dtype, t->tensor.data, 0);
    }
    if (whole->divides && whole->value == 0)
        file_fatal(t->file,
                   "tensor \"%s\" has a scale of 0, which others are divided by\nhint: a damaged "
                   "file: take another",
                   t->tensor.name);
    if (t && kind == WHOLE_MOST) whole->value /= 6 * 448;
    m->details = whole, m->scale_at = scale_at;
    set_own_format(m, whole);
}
