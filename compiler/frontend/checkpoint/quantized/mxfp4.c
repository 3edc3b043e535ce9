// gpt-oss: *_blocks u8 [experts, outputs, groups, 16] and *_scales u8 [experts, outputs, groups]. A group has 32 inputs, two in
// a byte, the first in the low nibble; codes are e2m1, a scale is 2^(s - 127). The weight is [experts, inputs, outputs].
#include <math.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

void mxfp4_check(const Quantization *q) { (void)q; }

static void read_codes(const QuantizedMatrix *m, CodedRows *rows) {
    const uint8_t *bytes = (const uint8_t *)m->codes->tensor.data + rows->first * m->columns / 2;
    for (int64_t i = 0; i < rows->n * m->columns; i++) rows->code[i] = bytes[i / 2] >> i % 2 * 4 & 15;
}

static float scale_at(const QuantizedMatrix *m, int64_t row, int64_t column) {
    return ldexpf(1, ((const uint8_t *)m->scale.values->tensor.data)[row * m->groups + column / m->group] - 127);
}

QuantizedMatrix *mxfp4_matrix(Quantization *q, StoredTensor *t) {
    static const float e2m1[16] = {0, .5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -.5f, -1, -1.5f, -2, -3, -4, -6};
    if (!text_ends_with(t->tensor.name, "_blocks") || t->tensor.dtype != DT_u8) return NULL;
    QuantizedMatrix *m = quantized_matrix(q, t, "_blocks", "");
    quantized_want_shape(m->codes, 4, (int64_t[]){-1, -1, -1, 16});
    const int64_t *dims = m->codes->tensor.dim;
    const StoredTensor *scales = quantized_part(q, m, "_scales", SET_U8, true);
    quantized_want_shape(scales, 3, dims);
    for (int64_t i = 0; i < tensor_count(&scales->tensor); i++)
        if (((const uint8_t *)scales->tensor.data)[i] == 255)
            file_fatal(scales->file,
                       "tensor \"%s\" has a scale that is not a number, at %lld\nhint: a damaged file: take another",
                       scales->tensor.name, (long long)i);
    m->stack = dims[0], m->rows = dims[0] * dims[1], m->columns = dims[2] * 32;
    m->group = 32, m->groups = dims[2], m->bits = 4;
    m->scale.values = scales;
    m->table = e2m1, m->transposed = true;
    m->read = read_codes, m->scale_at = scale_at;
    return m;
}
