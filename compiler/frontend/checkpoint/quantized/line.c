// Codes from 0 on whose values are lines: code * scale + zero, the zero a float. Where scales and
// zeros are halves, blocks of q4_1 and q5_1 have the same values: the product is exact, the sum is
// rounded once. Else ends stay f32 (l4_32 and its kin).
#include <string.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "ir/format.h"
#include "kernels/convert.h"

typedef struct {
    const Tensor *scale, *zero;
    int64_t row_stride, group_stride;
} FloatLine;

static int64_t place(const QuantizedMatrix *m, int64_t row, int64_t column) {
    const FloatLine *l = m->details;
    return row * l->row_stride + column / m->group * l->group_stride;
}

static float end_at(const QuantizedMatrix *m, int64_t row, int64_t column) {
    const FloatLine *l = m->details;
    return (float)dtype_load(l->zero->dtype, l->zero->data, place(m, row, column));
}

static bool are_halves(const Tensor *t) {
    return floats_are_halves(t->dtype, t->data, tensor_count(t));
}

// Format q4_1's or q5_1's blocks: d, m, the fifth bits, nibbles of columns i and i + 16
static void write_blocks(const QuantizedMatrix *m, const CodedRows *rows, int r, uint8_t *out) {
    const FloatLine *l = m->details;
    const int16_t *code = rows->code + r * m->columns;
    for (int64_t k = 0; k < m->columns; k += 32, code += 32) {
        int64_t at = place(m, rows->first + r, k);
        uint16_t ends[] = {f16_from_float((float)dtype_load(l->scale->dtype, l->scale->data, at)),
                           f16_from_float((float)dtype_load(l->zero->dtype, l->zero->data, at))};
        uint32_t high = 0;
        for (int i = 0; i < 32; i++) high |= (uint32_t)(code[i] >> 4 & 1) << i;
        memcpy(out, ends, sizeof ends);
        out += sizeof ends;
        if (m->own == DT_q5_1) {
            memcpy(out, &high, sizeof high);
            out += sizeof high;
        }
        for (int i = 0; i < 16; i++) *out++ = (uint8_t)((code[i] & 15) | (code[i + 16] & 15) << 4);
    }
}

void quantized_line(const Quantization *q, QuantizedMatrix *m, const StoredTensor *scale,
                    const StoredTensor *zero, bool by_group) {
    FloatLine *l = ARENA_NEW(q->checkpoint->arena, FloatLine);
    *l = (FloatLine){&scale->tensor, &zero->tensor, by_group ? 1 : m->groups,
                     by_group ? m->rows : 1};
    quantized_check_scales(scale);
    m->details = l;
    m->end = END_LINE;
    m->end_at = end_at;
    m->center = 1 << (m->bits - 1);
    m->scale = (Grid){scale, 1, l->row_stride, l->group_stride};
    if (m->bits > 5 || m->group % 32 || m->columns % 32 || !are_halves(l->scale) ||
        !are_halves(l->zero))
        return;
    m->own = m->bits == 5 ? DT_q5_1 : DT_q4_1;
    m->blocks = write_blocks;
}
