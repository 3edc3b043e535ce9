// HQQ (transformers' safetensors), W [outputs, inputs] as a table [lines, width] of its elements in
// turn, width and lines by the groups: with axis 1 a line is a group, with axis 0 a column is.
//   W_q          u8 [lines / n, width], n = 8 / bits codes in a byte, or i32 [ceil(lines / 10), width] of ten codes of 3 bits:
//                codes of lines l, l + lines / n, ..., the first in the highest bits; with view_as_float these bytes as floats
//   packing      the text "8bit_u8", "4bit_u8", "3bit_32", "2bit_u8", "1bit_u8"
//   scale, zero  one for a group: W = (code - zero) * scale, zero a fraction; or both in zero_scale [2, groups]
//   shape, axis  i64 [2]; i32
#include <math.h>
#include <string.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

typedef struct {
    int64_t lines, width;  // of the table
    int64_t packed;        // lines of W_q
    int bits, in_word;     // codes in a byte or word
    bool by_column;        // groups are columns
    const Tensor *scale, *zero;
    int64_t first_scale;  // its place in `scale`
} Table;

void hqq_check(const Quantization *q) { (void)q; }

static int64_t place(const QuantizedMatrix *m, int64_t row, int64_t column) {
    return row * m->columns + column;
}

static int64_t group_at(const QuantizedMatrix *m, int64_t row, int64_t column) {
    const Table *t = m->details;
    if (m->groups == 1) return 0;
    return t->by_column ? place(m, row, column) % t->width : place(m, row, column) / t->width;
}

static float zero_at(const QuantizedMatrix *m, int64_t row, int64_t column) {
    const Table *t = m->details;
    return (float)dtype_load(t->zero->dtype, t->zero->data, group_at(m, row, column));
}

static float scale_at(const QuantizedMatrix *m, int64_t row, int64_t column) {
    const Table *t = m->details;
    return (float)dtype_load(t->scale->dtype, t->scale->data,
                             t->first_scale + group_at(m, row, column));
}

static int whole_zero(const QuantizedMatrix *m, int64_t row, int64_t group) {
    const Table *t = m->details;
    return (int)dtype_load(t->zero->dtype, t->zero->data, row * (m->columns / m->group) + group);
}

static void read_codes(const QuantizedMatrix *m, CodedRows *rows) {
    const Table *t = m->details;
    const uint8_t *bytes = m->codes->tensor.data;
    const uint32_t *words = m->codes->tensor.data;
    for (int64_t i = 0; i < rows->n * m->columns; i++) {
        int64_t at = rows->first * m->columns + i, line = at / t->width;
        int64_t word = line % t->packed * t->width + at % t->width;
        int shift = (t->in_word - 1 - (int)(line / t->packed)) * t->bits;
        rows->code[i] =
            (int16_t)((t->bits == 3 ? words[word] : bytes[word]) >> shift & ((1u << t->bits) - 1));
    }
}

// ------------------------------------------------------------------------------- parts of a module
// Further tensors of a module: settings of its class, and of its quantization
static void hide_settings(Quantization *q, QuantizedMatrix *m) {
    static const char *const names[] = {
        ".nbits",        ".group_size",         ".unpack_view_dtype",   ".compute_dtype",
        ".offload_meta", ".encoded_state_dict", ".stores_quant_config", ".channel_wise",
        ".optimize",     ".round_zero",         ".view_as_float"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        quantized_part(q, m, names[i], SET_ANY, false);
}

static int64_t whole(Quantization *q, QuantizedMatrix *m, const char *end, int64_t otherwise) {
    const StoredTensor *t = quantized_part(q, m, end, 1 << DT_i32 | SET_U8, false);
    if (!t) return otherwise;
    if (tensor_count(&t->tensor) != 1) quantized_want_shape(t, 1, (int64_t[]){1});
    return (int64_t)dtype_load(t->tensor.dtype, t->tensor.data, 0);
}

static int bits_of(Quantization *q, QuantizedMatrix *m) {
    static const char *const packings[] = {
        [1] = "1bit_u8", [2] = "2bit_u8", [3] = "3bit_32", [4] = "4bit_u8", [8] = "8bit_u8"};
    const StoredTensor *t = quantized_part(q, m, ".packing", SET_U8, true);
    for (int i = 0; i < (int)(sizeof packings / sizeof *packings); i++)
        if (packings[i] && t->tensor.bytes == 7 && !memcmp(packings[i], t->tensor.data, 7))
            return i;
    file_fatal(t->file, "tensor \"%s\" names a packing that burin does not know: expected %-s",
               t->tensor.name, "8bit_u8, 4bit_u8, 3bit_32, 2bit_u8 or 1bit_u8");
}

static void set_size(Quantization *q, QuantizedMatrix *m) {
    const StoredTensor *shape = quantized_part(q, m, ".shape", 1 << DT_i64, true);
    quantized_want_shape(shape, 1, (int64_t[]){2});
    const int64_t *dims = shape->tensor.data;
    quantized_set_size(m, shape, dims[0], dims[1]);
}

static const StoredTensor *groups_of(const QuantizedMatrix *m, const StoredTensor *t,
                                     int64_t groups) {
    if (tensor_count(&t->tensor) != groups)
        file_fatal(t->file, "tensor \"%s\" has %lld elements, but the groups of \"%s\" take %lld",
                   t->tensor.name, (long long)tensor_count(&t->tensor), m->module,
                   (long long)groups);
    return t;
}

static void set_groups(Quantization *q, QuantizedMatrix *m, Table *t) {
    const StoredTensor *both = quantized_part(q, m, ".zero_scale", SET_FLOATS, false);
    const StoredTensor *scale = both ? both : quantized_part(q, m, ".scale", SET_FLOATS, true);
    quantized_check_scales(scale);
    int64_t groups = tensor_count(&scale->tensor) / (both ? 2 : 1), axis = whole(q, m, ".axis", 1);
    if (axis != 0 && axis != 1)
        file_fatal(m->codes->file, "the groups of \"%s\" lie along axis %lld, expected 0 or 1",
                   m->module, (long long)axis);
    t->by_column = axis == 0;
    groups_of(m, scale,
              groups == 1 ? both ? 2 : 1 : (t->by_column ? t->width : t->lines) * (both ? 2 : 1));
    t->scale = &scale->tensor;
    t->zero = both ? t->scale
                   : &groups_of(m, quantized_part(q, m, ".zero", SET_FLOATS, true), groups)->tensor;
    t->first_scale = both ? groups : 0;
    m->groups = groups;
    if (!both) m->scale = (Grid){scale, 1, m->columns / t->width, 1};
}

// Rows of W_q, and the width of the table
static void set_table(Quantization *q, QuantizedMatrix *m, Table *t) {
    const Tensor *w = &m->codes->tensor;
    int64_t size = t->bits == 3 ? 4 : 1, n = m->rows * m->columns;
    quantized_want_shape(m->codes, 2, (int64_t[]){-1, -1});
    if (whole(q, m, ".quant_zero", 0) || whole(q, m, ".quant_scale", 0))
        file_fatal(
            m->codes->file,
            "the scales or zero points of \"%s\" are quantized, too, which burin does not read"
            "\nhint: quantize the model again with a recent version of hqq, which keeps them as "
            "floats",
            m->module);
    t->in_word = t->bits == 3 ? 10 : 8 / t->bits;
    t->packed = w->dim[0];
    t->width = (int64_t)w->bytes / t->packed / size;
    t->lines = t->width ? n / t->width : 0;
    bool words = w->dtype == (t->bits == 3 ? DT_i32 : DT_u8) || whole(q, m, ".view_as_float", 0);
    if (!words || (uint64_t)(t->packed * t->width * size) != w->bytes || t->lines * t->width != n ||
        ceil_div(t->lines, t->in_word) != t->packed)
        file_fatal(m->codes->file,
                   "tensor \"%s\" has %llu bytes, which do not hold %lld x %lld codes of %d bits",
                   m->codes->tensor.name, (unsigned long long)w->bytes, (long long)m->rows,
                   (long long)m->columns, t->bits);
}

// Rounded zero points are integers: blocks can hold them if groups run along inputs.
static bool zeros_are_whole(const QuantizedMatrix *m, const Table *t) {
    bool same = m->scale.values && !t->by_column && m->groups > 1 && m->columns % t->width == 0;
    for (int64_t i = 0; same && i < m->groups; i++) {
        double zero = dtype_load(t->zero->dtype, t->zero->data, i);
        same = zero == floor(zero) && fabs(zero - (1 << (m->bits - 1))) < 127;
    }
    return same;
}

QuantizedMatrix *hqq_matrix(Quantization *q, StoredTensor *stored) {
    if (!text_ends_with(stored->tensor.name, ".W_q")) return NULL;
    QuantizedMatrix *m = quantized_matrix(q, stored, ".W_q", ".weight");
    Table *t = ARENA_NEW(q->checkpoint->arena, Table);
    m->bits = t->bits = bits_of(q, m);
    m->center = 1 << (m->bits - 1);
    set_size(q, m);
    set_table(q, m, t);
    set_groups(q, m, t);
    hide_settings(q, m);
    m->details = t;
    m->read = read_codes;
    if (zeros_are_whole(m, t)) {
        m->group = t->width, m->groups = m->columns / t->width;
        m->zero = whole_zero;
        return m;
    }
    m->end = END_FRACTION, m->end_at = zero_at, m->scale_at = scale_at;
    bool along_rows = !t->by_column && m->columns % t->width == 0;
    m->group = m->groups == 1 ? m->columns : along_rows ? t->width : 0;
    return m;
}
