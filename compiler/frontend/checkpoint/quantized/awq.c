// AWQ (AutoAWQ), eight values of 4 bits in a word.
//   gemm   qweight [inputs, outputs / 8], qzeros [groups, outputs / 8], scales [groups, outputs]; fields from the lowest on are
//          outputs 0, 2, 4, 6, 1, 3, 5, 7
//   gemv   qweight [outputs, inputs / 8], qzeros [outputs, n], scales [outputs, 8 n], 8 n the groups or some more; fields in turn
#include <string.h>
#include <strings.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

static bool is_gemv(const Quantization *q) { return !strcasecmp(quantized_string(q, "version", "gemm"), "gemv"); }

void awq_check(const Quantization *q) {
    const char *version = quantized_string(q, "version", "gemm");
    int64_t bits = quantized_int(q, "bits", quantized_int(q, "w_bit", 4));
    if (bits != 4) quantized_refuse(q, "bits", arena_printf(q->checkpoint->arena, "%lld", (long long)bits), "4");
    if (strcasecmp(version, "gemm") && strcasecmp(version, "exllama") && strcasecmp(version, "ipex") && !is_gemv(q))
        quantized_refuse(q, "version", version, "gemm or gemv");
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

static int zero_of(const QuantizedMatrix *m, int64_t row, int64_t group) { return field(&m->zeros->tensor, group, row); }

static void read_codes_in_turn(const QuantizedMatrix *m, CodedRows *rows) {
    const uint32_t *words = (const uint32_t *)m->codes->tensor.data + rows->first * m->columns / 8;
    for (int64_t i = 0; i < rows->n * m->columns; i++) rows->code[i] = words[i / 8] >> 4 * (i % 8) & 15;
}

static int zero_in_turn(const QuantizedMatrix *m, int64_t row, int64_t group) {
    const Tensor *t = &m->zeros->tensor;
    return (int)packed_field((const uint32_t *)t->data + row * t->dim[1], 1, group, 4);
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
    int64_t words = scales->tensor.rank == 2 && scales->tensor.dim[1] >= m->groups ? ceil_div(scales->tensor.dim[1], 8)
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
    quantized_want_words(m);
    const StoredTensor *scales = quantized_part(q, m, ".scales", SET_FLOATS, true);
    m->zeros = quantized_part(q, m, ".qzeros", SET_I32, true);
    m->bits = 4, m->center = 8;
    m->transposed = quantized_is_conv1d(q, m->name);
    (is_gemv(q) ? set_gemv : set_gemm)(m, scales, quantized_int(q, "group_size", quantized_int(q, "q_group_size", -1)));
    return m;
}
