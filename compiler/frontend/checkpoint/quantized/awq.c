// AWQ (AutoAWQ), eight values of 4 bits in a word.
//   gemm   qweight [inputs, outputs / 8], qzeros [groups, outputs / 8], scales [groups, outputs]; fields from the lowest on are
//          outputs 0, 2, 4, 6, 1, 3, 5, 7
//   gemv_fast   qweight i16 [outputs / 4, inputs], four values a word, in tiles of 4 outputs and 64 inputs (fast_code); scales and
//          scaled_zeros [8 n, outputs]: W = code * scale + scaled zero
//   gemv   qweight [outputs, inputs / 8], qzeros [outputs, n], scales [outputs, 8 n], 8 n the groups or some more; fields in turn
#include <string.h>
#include <strings.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

// GPTQModel calls it checkpoint_format.
static const char *version_of(const Quantization *q) {
    return quantized_string(
        q, "version",
        quantized_string(q, "checkpoint_format", quantized_string(q, "format", "gemm")));
}

static bool is_gemv(const Quantization *q) { return !strcasecmp(version_of(q), "gemv"); }

static bool is_fast(const Quantization *q) {
    return !strcasecmp(version_of(q), "gemv_fast") || !strcasecmp(version_of(q), "llm-awq");
}

void awq_check(const Quantization *q) {
    const char *version = version_of(q);
    int64_t bits = quantized_int(q, "bits", quantized_int(q, "w_bit", 4));
    if (bits != 4)
        quantized_refuse(q, "bits", arena_printf(q->checkpoint->arena, "%lld", (long long)bits),
                         "4");
    if (strcasecmp(version, "gemm") && strcasecmp(version, "exllama") &&
        strcasecmp(version, "ipex") && !is_gemv(q) && !is_fast(q))
        quantized_refuse(q, "version", version, "gemm, gemv or gemv_fast");
}

// Output o of line `line`
static int field(const Tensor *t, int64_t line, int64_t o) {
    static const int place[] = {0, 4, 1, 5, 2, 6, 3, 7};
    return ((const uint32_t *)t->data)[line * t->dim[1] + o / 8] >> 4 * place[o % 8] & 15;
}

static void read_codes(const QuantizedMatrix *m, CodedRows *rows) {
    for (int64_t k = 0; k < m->columns; k++)
        for (int r = 0; r < rows->n; r++)
            rows->code[r * m->columns + k] = (int16_t)field(&m->codes->tensor, k, rows->first + r);
}

static int zero_of(const QuantizedMatrix *m, int64_t row, int64_t group) {
    return field(&m->zeros->tensor, group, row);
}

static void read_codes_in_turn(const QuantizedMatrix *m, CodedRows *rows) {
    const uint32_t *words = (const uint32_t *)m->codes->tensor.data + rows->first * m->columns / 8;
    for (int64_t i = 0; i < rows->n * m->columns; i++)
        rows->code[i] = words[i / 8] >> 4 * (i % 8) & 15;
}

static int zero_in_turn(const QuantizedMatrix *m, int64_t row, int64_t group) {
    const Tensor *t = &m->zeros->tensor;
    return (int)packed_field((const uint32_t *)t->data + row * t->dim[1], 1, group, 4);
}

// A tile of 4 outputs and 64 inputs stores one output after the other, for each a run of 32 inputs
// as pairs of column 8 a + 2 b of all a, then of b + 1; of 8 such values the first of each pair
// come before the second.
static int fast_code(const Tensor *t, int64_t row, int64_t column) {
    int64_t a = column % 32 / 8, b = column % 8 / 2,
            within = column % 64 / 32 * 32 + b * 8 + column % 2 * 4 + a;
    int64_t at = row % 4 * 64 + within;
    return ((const uint16_t *)t->data)[row / 4 * t->dim[1] + column / 64 * 64 + at / 4] >>
               at % 4 * 4 &
           15;
}

static void read_fast(const QuantizedMatrix *m, CodedRows *rows) {
    for (int64_t i = 0; i < rows->n * m->columns; i++)
        rows->code[i] =
            (int16_t)fast_code(&m->codes->tensor, rows->first + i / m->columns, i % m->columns);
}

// `group`: as config.json says
static QuantizedMatrix *fast_matrix(Quantization *q, QuantizedMatrix *m, int64_t group) {
    const StoredTensor *t = m->codes;
    if (t->tensor.dtype != DT_i16)
        file_fatal(t->file,
                   "tensor \"%s\" is %s, expected words of 16 bits\nhint: is version right in "
                   "config.json?",
                   t->tensor.name, dtype_name(t->tensor.dtype));
    quantized_want_shape(t, 2, (int64_t[]){-1, -1});
    if (t->tensor.dim[1] % 64)
        quantized_want_shape(t, 2, (int64_t[]){-1, (t->tensor.dim[1] / 64 + 1) * 64});
    quantized_set_size(m, t, t->tensor.dim[0] * 4, t->tensor.dim[1]);
    const StoredTensor *scales = quantized_part(q, m, ".scales", SET_FLOATS, true);
    m->zeros = quantized_part(q, m, ".scaled_zeros", SET_FLOATS, true);
    m->group = group < 1 ? m->columns : group, m->groups = ceil_div(m->columns, m->group);
    int64_t lines = scales->tensor.rank == 2 && scales->tensor.dim[0] >= m->groups
                        ? scales->tensor.dim[0]
                        : m->groups;
    quantized_want_shape(scales, 2, (int64_t[]){lines, m->rows});
    quantized_want_shape(m->zeros, 2, (int64_t[]){lines, m->rows});
    m->bits = 4, m->transposed = quantized_is_conv1d(q, m->name);
    quantized_line(q, m, scales, m->zeros, true);
    m->read = read_fast;
    return m;
}

static void set_gemm(QuantizedMatrix *m, const StoredTensor *scales, int64_t group) {
    m->columns = m->codes->tensor.dim[0], m->rows = m->codes->tensor.dim[1] * 8;
    quantized_scales_by_group(m, scales, group);
    quantized_want_shape(m->zeros, 2, (int64_t[]){m->groups, m->rows / 8});
    m->read = read_codes, m->zero = zero_of;
}

static void set_gemv(QuantizedMatrix *m, const StoredTensor *scales, int64_t group) {
    m->rows = m->codes->tensor.dim[0], m->columns = m->codes->tensor.dim[1] * 8;
    m->group = group < 1 ? m->columns : group, m->groups = ceil_div(m->columns, m->group);
    int64_t words = scales->tensor.rank == 2 && scales->tensor.dim[1] >= m->groups
                        ? ceil_div(scales->tensor.dim[1], 8)
                        : ceil_div(m->groups, 8);
    quantized_want_shape(scales, 2, (int64_t[]){m->rows, words * 8});
    quantized_want_shape(m->zeros, 2, (int64_t[]){m->rows, words});
    quantized_check_scales(scales);
    m->scale = (Grid){scales, 1, words * 8, 1};
    m->read = read_codes_in_turn, m->zero = zero_in_turn;
}

QuantizedMatrix *awq_matrix(Quantization *q, StoredTensor *t) {
    if (!text_ends_with(t->tensor.name, ".qweight")) return NULL;
    QuantizedMatrix *m = quantized_matrix(q, t, ".qweight", ".weight");
    int64_t group = quantized_int(q, "group_size", quantized_int(q, "q_group_size", -1));
    if (is_fast(q)) return fast_matrix(q, m, group);
    quantized_want_words(m);
    const StoredTensor *scales = quantized_part(q, m, ".scales", SET_FLOATS, true);
    m->zeros = quantized_part(q, m, ".qzeros", SET_I32, true);
    m->bits = 4, m->center = 8;
    m->transposed = quantized_is_conv1d(q, m->name);
    (is_gemv(q) ? set_gemv : set_gemm)(m, scales, group);
    return m;
}
