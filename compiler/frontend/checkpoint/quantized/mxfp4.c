// gpt-oss: *_blocks u8 [experts, outputs, groups, 16] and *_scales u8 [experts, outputs, groups]. A
// group has 32 inputs, two in a byte, the first in the low nibble; codes are e2m1, a scale is 2^(s
// - 127). The weight is [experts, inputs, outputs].
#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

void mxfp4_check(const Quantization *q) { (void)q; }

QuantizedMatrix *mxfp4_matrix(Quantization *q, StoredTensor *t) {
    if (!text_ends_with(t->tensor.name, "_blocks") || t->tensor.dtype != DT_u8) return NULL;
    QuantizedMatrix *m = quantized_matrix(q, t, "_blocks", "");
    quantized_want_shape(m->codes, 4, (int64_t[]){-1, -1, -1, 16});
    const int64_t *dims = m->codes->tensor.dim;
    const StoredTensor *scales =
        quantized_exponents(q, quantized_part(q, m, "_scales", SET_U8 | 1 << DT_f8e8m0, true));
    quantized_want_shape(scales, 3, dims);
    quantized_check_scales(scales);
    m->stack = dims[0];
    m->rows = dims[0] * dims[1];
    m->columns = dims[2] * 32;
    m->group = 32;
    m->groups = dims[2];
    m->scale = (Grid){scales, 1, m->groups, 1};
    m->powers = m->transposed = true;
    fp4_codes(m);
    return m;
}
