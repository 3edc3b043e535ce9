// Floats of 6 bits (e2m3, e3m2), four in three bytes, a stream of bits, low first, and a scale
// 2^(byte - 127) for a group of columns: what compressed-tensors, torchao and Quark share.
#include <math.h>

#include "frontend/checkpoint/quantized/quantized.h"

static void read_codes(const QuantizedMatrix *m, CodedRows *rows) {
    const uint8_t *bytes =
        (const uint8_t *)m->codes->tensor.data + rows->first * m->columns * 3 / 4;
    for (int64_t i = 0; i < rows->n * m->columns; i++) {
        const uint8_t *three = bytes + i / 4 * 3;
        rows->code[i] = (int16_t)((three[0] | three[1] << 8 | three[2] << 16) >> i % 4 * 6 & 63);
    }
}

static const float *table_of(Arena *arena, int fraction_bits) {
    float *table = ARENA_ARRAY(arena, float, 64);
    const int bias = fraction_bits == 3 ? 1 : 3;
    for (int i = 0; i < 64; i++) {
        int exponent = i % 32 >> fraction_bits, fraction = i % (1 << fraction_bits);
        float size = ldexpf((float)(exponent ? fraction | 1 << fraction_bits : fraction),
                            (exponent ? exponent : 1) - bias - fraction_bits);
        table[i] = i < 32 ? size : -size;
    }
    return table;
}

void fp6_set(const Quantization *q, QuantizedMatrix *m, const StoredTensor *scales, int64_t group,
             int fraction_bits) {
    quantized_want_shape(m->codes, 2, (int64_t[]){-1, -1});
    const int64_t *dims = m->codes->tensor.dim;
    if (dims[1] % 3) quantized_want_shape(m->codes, 2, (int64_t[]){dims[0], dims[1] / 3 * 3});
    quantized_set_size(m, m->codes, dims[0], dims[1] / 3 * 4);
    m->bits = 6;
    m->table = table_of(q->checkpoint->arena, fraction_bits);
    m->powers = scales->tensor.dtype == DT_f8e8m0;
    m->read = read_codes;
    quantized_scales(m, scales, 1, group);
}
