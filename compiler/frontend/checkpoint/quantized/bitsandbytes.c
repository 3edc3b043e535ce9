// bitsandbytes, W [outputs, inputs].
//   4 bits   weight of any type, bytes: W row by row, two codes a byte, the FIRST in the high nibble; weight.quant_map
//            f32 [16]: what they stand for; weight.quant_state.bitsandbytes__nf4 or __fp4: JSON with blocksize and shape;
//            weight.absmax f32, one for a block of values, or u8: nested_quant_map[absmax] * nested_absmax[its block] +
//            nested_offset
//   8 bits   weight i8, SCB f32 [outputs], each row's largest magnitude: W = code * SCB * (1 / 127)
#include <string.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

typedef struct {
    int64_t block, nested_block;
    float offset;
    const StoredTensor *absmax, *nested_map, *nested_absmax;
} FourBits;

void bitsandbytes_check(const Quantization *q) { (void)q; }

// ---- 8 bits ----
static QuantizedMatrix *eight_bits(Quantization *q, StoredTensor *t) {
    QuantizedMatrix *m = quantized_matrix(q, t, ".weight", ".weight");
    quantized_bytes(q, m);
    const StoredTensor *format = quantized_part(q, m, ".weight_format", SET_ANY, false);
    if (format && dtype_load(format->tensor.dtype, format->tensor.data, 0) != 0)
        file_fatal(format->file,
                   "tensor \"%s\" says that weights are tiled for a GPU\nhint: save the model with "
                   "row-major weights",
                   format->tensor.name);
    quantized_scales(m, quantized_part(q, m, ".SCB", SET_FLOATS, true), 1, 0);
    m->transposed = quantized_is_conv1d(q, m->name);
    m->factor = 7.874015718698502e-3f;
    return m;
}

// ---- 4 bits ----
static void read_codes(const QuantizedMatrix *m, CodedRows *rows) {
    const uint8_t *bytes = m->codes->tensor.data;
    int64_t first = rows->first * m->columns;
    for (int64_t i = 0; i < rows->n * m->columns; i++)
        rows->code[i] = bytes[(first + i) / 2] >> (first + i + 1) % 2 * 4 & 15;
}

static float scale_at(const QuantizedMatrix *m, int64_t row, int64_t column) {
    const FourBits *f = m->details;
    int64_t block = (row * m->columns + column) / f->block;
    if (!f->nested_map) return ((const float *)f->absmax->tensor.data)[block];
    float scale =
        ((const float *)
             f->nested_map->tensor.data)[((const uint8_t *)f->absmax->tensor.data)[block]];
    scale *= ((const float *)f->nested_absmax->tensor.data)[block / f->nested_block];
    return scale + f->offset;
}

static int64_t positive(const QuantizedMatrix *m, const json_t *state, const char *key) {
    const json_t *v = json_object_get(state, key);
    if (!json_is_integer(v) || json_integer_value(v) < 1)
        file_fatal(m->codes->file, "the quant_state of \"%s\" has no %s above 0",
                   m->codes->tensor.name, key);
    return json_integer_value(v);
}

static const json_t *state_of(Quantization *q, QuantizedMatrix *m) {
    const StoredTensor *t =
        quantized_part(q, m, ".weight.quant_state.bitsandbytes__nf4", SET_U8, false);
    if (!t) t = quantized_part(q, m, ".weight.quant_state.bitsandbytes__fp4", SET_U8, true);
    const json_t *state = quantized_object(
        q, arena_printf(q->checkpoint->arena, "%s: %s", t->file->source.name, t->tensor.name),
        t->tensor.data, t->tensor.bytes);
    if (!json_is_object(state))
        file_fatal(t->file, "tensor \"%s\" holds no JSON object", t->tensor.name);
    return state;
}

static const StoredTensor *floats_of(Quantization *q, QuantizedMatrix *m, const char *end,
                                     int64_t n) {
    const StoredTensor *t = quantized_part(q, m, end, 1 << DT_f32, true);
    quantized_want_shape(t, 1, &n);
    return t;
}

static void set_scales(Quantization *q, QuantizedMatrix *m, const json_t *state) {
    FourBits *f = ARENA_NEW(q->checkpoint->arena, FourBits);
    f->block = positive(m, state, "blocksize");
    f->absmax = quantized_part(q, m, ".weight.absmax", 1 << DT_f32 | SET_U8, true);
    int64_t blocks = ceil_div(m->rows * m->columns, f->block);
    quantized_want_shape(f->absmax, 1, &blocks);
    if (f->absmax->tensor.dtype == DT_u8) {
        f->nested_block = positive(m, state, "nested_blocksize");
        const json_t *offset = json_object_get(state, "nested_offset");
        if (!json_is_number(offset))
            file_fatal(m->codes->file, "the quant_state of \"%s\" has no nested_offset",
                       m->codes->tensor.name);
        f->offset = (float)json_number_value(offset);
        f->nested_map = floats_of(q, m, ".weight.nested_quant_map", 256);
        f->nested_absmax =
            floats_of(q, m, ".weight.nested_absmax", ceil_div(blocks, f->nested_block));
        quantized_check_scales(f->nested_absmax);
    } else {
        quantized_check_scales(f->absmax);
    }
    m->details = f;
    m->group = m->columns % f->block ? 0 : f->block;
    m->scale_at = scale_at;
}

static QuantizedMatrix *four_bits(Quantization *q, StoredTensor *t) {
    QuantizedMatrix *m = quantized_matrix(q, t, ".weight", ".weight");
    const json_t *state = state_of(q, m), *shape = json_object_get(state, "shape");
    quantized_set_size(m, m->codes, json_integer_value(json_array_get(shape, 0)),
                       json_integer_value(json_array_get(shape, 1)));
    if (json_array_size(shape) != 2 ||
        (uint64_t)ceil_div(m->rows * m->columns, 2) != m->codes->tensor.bytes)
        file_fatal(
            m->codes->file,
            "tensor \"%s\" has %llu bytes, which is not what the shape in its quant_state takes",
            m->codes->tensor.name, (unsigned long long)m->codes->tensor.bytes);
    m->bits = 4;
    m->transposed = quantized_is_conv1d(q, m->name);
    m->table = floats_of(q, m, ".weight.quant_map", 16)->tensor.data;
    set_scales(q, m, state);
    m->read = read_codes;
    return m;
}

QuantizedMatrix *bitsandbytes_matrix(Quantization *q, StoredTensor *t) {
    if (!text_ends_with(t->tensor.name, ".weight")) return NULL;
    if (t->tensor.dtype == DT_i8) return eight_bits(q, t);
    const char *absmax = arena_printf(q->checkpoint->arena, "%s.absmax", t->tensor.name);
    return t->tensor.dtype == DT_u8 || map_get(&q->checkpoint->by_name, absmax) ? four_bits(q, t)
                                                                                : NULL;
}
