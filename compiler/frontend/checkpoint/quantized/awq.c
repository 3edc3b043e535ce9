// AWQ, AutoAWQ's GEMM layout: eight values of 4 bits in a word, whose fields from the lowest on are outputs 0, 2, 4, 6, 1, 3,
// 5, 7.
//   qweight [inputs, outputs / 8], qzeros [groups, outputs / 8], scales [groups, outputs]
#include <string.h>
#include <strings.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

void awq_check(const Quantization *q) {
    const char *version = quantized_string(q, "version", "gemm");
    int64_t bits = quantized_int(q, "bits", quantized_int(q, "w_bit", 4));
    if (bits != 4) quantized_refuse(q, "bits", arena_printf(q->checkpoint->arena, "%lld", (long long)bits), "4");
    if (strcasecmp(version, "gemm") && strcasecmp(version, "exllama") && strcasecmp(version, "ipex"))
        quantized_refuse(q, "version", version, "gemm");
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

QuantizedMatrix *awq_matrix(Quantization *q, StoredTensor *t) {
    if (!text_ends_with(t->tensor.name, ".qweight")) return NULL;
    QuantizedMatrix *m = quantized_matrix(q, t, ".qweight", ".weight");
    quantized_want_words(m);
    m->columns = m->codes->tensor.dim[0], m->rows = m->codes->tensor.dim[1] * 8, m->bits = 4;
    quantized_scales_by_group(m, quantized_part(q, m, ".scales", SET_FLOATS, true),
                              quantized_int(q, "group_size", quantized_int(q, "q_group_size", -1)));
    m->zeros = quantized_part(q, m, ".qzeros", SET_I32, true);
    quantized_want_shape(m->zeros, 2, (int64_t[]){m->groups, m->rows / 8});
    m->transposed = quantized_is_conv1d(q, m->name);
    m->center = 8;
    m->read = read_codes, m->zero = zero_of;
    return m;
}
