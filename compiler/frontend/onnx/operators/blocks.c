// Quantized matrices of constants as blocks of the IR (ir/format.h): the file's codes, scales and zero points, whose values are
// those that the operator computes.
#include <math.h>
#include <string.h>

#include "frontend/onnx/operators/compose.h"
#include "ir/convert.h"
#include "ir/format.h"

static int64_t place(const OnnxGrid *g, int64_t row, int64_t column) { return row * g->row + column * g->column; }

static bool all_are(const Tensor *t, double value) {
    for (int64_t i = 0, n = tensor_count(t); i < n; i++)
        if (dtype_load(t->dtype, t->data, i) != value) return false;
    return true;
}

static bool all_finite(const Tensor *t) {
    for (int64_t i = 0, n = tensor_count(t); i < n; i++)
        if (!isfinite(dtype_load(t->dtype, t->data, i))) return false;
    return true;
}

// Taken from codes, so that what is left has a sign
static int center_of(DType codes) { return codes == DT_u8 ? 128 : codes == DT_u4 ? 8 : codes == DT_u2 ? 2 : 0; }

static format_minimum minimum_of(const OnnxCodes *m) {
    int center = center_of(m->code.of->dtype);
    if (!m->zero.of) return m->zero_value == center ? MINIMUM_NONE : MINIMUM_ZERO;
    if (dtype_is_float(m->zero.of->dtype)) return MINIMUM_FRACTION;
    return all_are(m->zero.of, center) ? MINIMUM_NONE : MINIMUM_ZERO;
}

static const Format *format_for(const OnnxCodes *m) {
    const Tensor *scale = m->scale.of, *zero = m->zero.of;
    DType codes = m->code.of->dtype;
    int bits = dtype_bits(codes);
    if (dtype_is_float(codes) || bits > 8 || scale->dtype == DT_f64 || !dtype_is_float(scale->dtype) || !all_finite(scale))
        return NULL;
    if (zero && (dtype_is_float(zero->dtype) ? !all_finite(zero) : dtype_bits(zero->dtype) > 8)) return NULL;
    CodedKind kind = {.bits = bits, .columns = m->columns, .group = m->group, .minimum = minimum_of(m)};
    kind.halves = floats_are_halves(scale->dtype, scale->data, tensor_count(scale));
    return format_of_codes(&kind, NULL);
}

static float element(const OnnxGrid *g, int64_t row, int64_t column) {
    return (float)dtype_load(g->of->dtype, g->of->data, place(g, row, column));
}

static void write_block(const OnnxCodes *m, const Format *f, int64_t row, int64_t first, uint8_t *out) {
    int16_t codes[FORMAT_BLOCK];
    int center = center_of(m->code.of->dtype);
    int64_t group = first / m->group;
    float zero = m->zero.of ? element(&m->zero, row, group) : (float)m->zero_value;
    bool fraction = f->minimum == MINIMUM_FRACTION;
    BlockEnds ends = {element(&m->scale, row, group), fraction ? zero : 0, (fraction ? 0 : (int)zero) - center};
    for (int i = 0; i < f->block; i++) codes[i] = (int16_t)((int)element(&m->code, row, first + i) - center);
    block_write(f, ends, codes, out);
}

Node *onnx_in_blocks(OnnxCall *c, const OnnxCodes *m) {
    const Format *f = format_for(m);
    if (!f) return NULL;
    Tensor *t = ARENA_NEW(c->graph->arena, Tensor);
    *t = (Tensor){
        .dtype = f->dtype, .rank = 2, .dim = {m->rows, m->columns}, .name = m->code.of->name, .source = m->code.of->source};
    t->bytes = dtype_bytes(f->dtype, m->rows * m->columns);
    uint8_t *out = arena_alloc(c->graph->arena, t->bytes);
    c->import->model->float_rows |= m->float_rows;
    t->data = out;
    for (int64_t row = 0; row < m->rows; row++)
        for (int64_t k = 0; k < m->columns; k += f->block, out += f->bytes) write_block(m, f, row, k, out);
    return onnx_cast(c, onnx_constant(c, t), DT_f32);
}
