// Experts in one tensor NAME [experts, inputs, outputs] (LLaMA 4, Qwen3-VL), as the weight is: W of
// an expert is the transpose of its part.
//   fp8          NAME f8_e4m3; NAME_scale_inv f32, one for a block of weight_block_size [experts, down, across]
//   fbgemm_fp8   NAME f8_e4m3; NAME_scale f32 [experts, 1, outputs] or [experts, outputs, 1]
//   modelopt     NAME f8_e4m3; NAME_weight_scale f32: one, [experts] or [experts, outputs]
//                NAME u8 [experts, inputs / 2, outputs], two codes of e2m1 in a byte; NAME_weight_scale f8_e4m3 [experts,
//                inputs / 16, outputs], NAME_weight_scale_2 f32
#include <string.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

static int64_t height_of(const QuantizedMatrix *m) { return m->rows / m->stack; }

// Of a row and a column, where there are n columns for each element
static int64_t place(const QuantizedMatrix *m, int64_t row, int64_t column, int64_t n) {
    int64_t height = height_of(m);
    return (row / height * (m->columns / n) + column / n) * height + row % height;
}

static void read_bytes(const QuantizedMatrix *m, CodedRows *rows) {
    const uint8_t *codes = m->codes->tensor.data;
    for (int64_t k = 0; k < m->columns; k++)
        for (int r = 0; r < rows->n; r++)
            rows->code[r * m->columns + k] = codes[place(m, rows->first + r, k, 1)];
}

static void read_nibbles(const QuantizedMatrix *m, CodedRows *rows) {
    const uint8_t *codes = m->codes->tensor.data;
    for (int64_t k = 0; k < m->columns; k++)
        for (int r = 0; r < rows->n; r++)
            rows->code[r * m->columns + k] =
                codes[place(m, rows->first + r, k, 2)] >> k % 2 * 4 & 15;
}

// One scale, or one for each expert or each output
static void set_scales(QuantizedMatrix *m, const StoredTensor *scales) {
    int64_t n = tensor_count(&scales->tensor);
    if (n != 1 && n != m->stack && n != m->rows)
        quantized_want_shape(scales, 3, (int64_t[]){m->stack, 1, height_of(m)});
    quantized_check_scales(scales);
    m->group = m->columns, m->groups = 1;
    m->scale = (Grid){scales, m->rows / n, 1, 1};
}

// Scales of groups and blocks of rows, [experts, groups, blocks], as [experts blocks, groups]
static const StoredTensor *turned(const Quantization *q, const QuantizedMatrix *m,
                                  const StoredTensor *t, const int64_t block[2]) {
    int64_t down = ceil_div(height_of(m), block[0]), groups = ceil_div(m->columns, block[1]),
            n = m->stack * down * groups;
    quantized_want_shape(t, 3, (int64_t[]){m->stack, groups, down});
    StoredTensor *rows = ARENA_NEW(q->checkpoint->arena, StoredTensor);
    uint8_t *out = arena_alloc(q->checkpoint->arena, t->tensor.bytes);
    size_t size = (size_t)dtype_bits(t->tensor.dtype) / 8;
    for (int64_t i = 0; i < n; i++) {
        int64_t from = (i / groups / down * groups + i % groups) * down + i / groups % down;
        memcpy(out + (size_t)i * size, (const uint8_t *)t->tensor.data + (size_t)from * size, size);
    }
    *rows = *t;
    rows->tensor.data = out;
    rows->tensor.rank = 2, rows->tensor.dim[0] = m->stack * down, rows->tensor.dim[1] = groups;
    return rows;
}

// The number of `columns` in a byte: rows and columns, one matrix after the other
static void set_sizes(const Quantization *q, QuantizedMatrix *m, int columns) {
    const Tensor *t = &m->codes->tensor;
    StoredTensor *flat = ARENA_NEW(q->checkpoint->arena, StoredTensor);
    *flat = *m->codes;
    flat->tensor.rank = 2, flat->tensor.dim[0] = t->dim[0] * t->dim[2],
    flat->tensor.dim[1] = t->dim[1];
    m->stack = t->dim[0], m->transposed = true;
    quantized_set_size(m, flat, flat->tensor.dim[0], t->dim[1] * columns);
    m->codes = flat;
}

QuantizedMatrix *quantized_stack(Quantization *q, StoredTensor *t, const char *scale_end,
                                 const int64_t block[2]) {
    const Tensor *codes = &t->tensor;
    bool eight = codes->dtype == DT_f8e4m3fn;
    if (codes->rank != 3 || (!eight && codes->dtype != DT_u8) ||
        !strstr(codes->name, ".experts.") || !text_ends_with(codes->name, "_proj"))
        return NULL;
    QuantizedMatrix *m = quantized_matrix(q, t, "", "");
    const StoredTensor *scales =
        quantized_part(q, m, scale_end, eight ? SET_FLOATS : 1 << DT_f8e4m3fn, true);
    set_sizes(q, m, eight ? 1 : 2);
    if (eight) {
        quantized_bytes(q, m);
        if (block[1])
            quantized_scales(m, turned(q, m, scales, block), block[0], block[1]);
        else
            set_scales(m, scales);
        m->read = read_bytes;
    } else {
        fp4_set(m, turned(q, m, scales, (int64_t[]){1, 16}), 16);
        fp4_whole_scale(q, m, arena_printf(q->checkpoint->arena, "%s_2", scale_end), WHOLE_FACTOR);
        m->read = read_nibbles;
    }
    return m;
}
