// Codes of a byte each, row by row: integers (compressed-tensors, bitsandbytes) and floats of 8
// bits (fp8, compressed-tensors).
#include "frontend/checkpoint/quantized/quantized.h"

static void read_integer_codes(const QuantizedMatrix *m, CodedRows *rows) {
    const int8_t *codes = (const int8_t *)m->codes->tensor.data + rows->first * m->columns;
    for (int64_t i = 0; i < rows->n * m->columns; i++) rows->code[i] = codes[i];
}

static void read_byte_codes(const QuantizedMatrix *m, CodedRows *rows) {
    const uint8_t *codes = (const uint8_t *)m->codes->tensor.data + rows->first * m->columns;
    for (int64_t i = 0; i < rows->n * m->columns; i++) rows->code[i] = codes[i];
}

static const float *float8_table(Arena *arena, DType type) {
    float *table = ARENA_ARRAY(arena, float, 256);
    for (int i = 0; i < 256; i++) table[i] = (float)dtype_load(type, &(uint8_t){(uint8_t)i}, 0);
    return table;
}

static int zero_byte(const QuantizedMatrix *m, int64_t row, int64_t group) {
    const Grid *g = &m->scale;
    return ((const int8_t *)m->zeros->tensor.data)[row / g->row_block * g->row_stride + group];
}

void quantized_byte_zeros(QuantizedMatrix *m, const StoredTensor *zeros) {
    const Tensor *scales = &m->scale.values->tensor;
    m->zeros = zeros;
    if (!zeros) return;
    quantized_want_shape(zeros, scales->rank, scales->dim);
    m->zero = zero_byte;
}

void quantized_bytes(Quantization *q, QuantizedMatrix *m) {
    const Tensor *t = &m->codes->tensor;
    quantized_want_shape(m->codes, 2, (int64_t[]){-1, -1});
    m->rows = t->dim[0];
    m->columns = t->dim[1];
    m->bits = 8;
    m->read = t->dtype == DT_i8 ? read_integer_codes : read_byte_codes;
    if (t->dtype != DT_i8) m->table = float8_table(q->checkpoint->arena, t->dtype);
}
