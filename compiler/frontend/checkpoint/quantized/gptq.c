// GPTQ (AutoGPTQ, GPTQModel, transformers). For W [outputs, inputs] of b bits, words of 32 bits
// filled from the lowest bit on:
//   qweight [inputs b / 32, outputs]   a stream of inputs down each column
//   qzeros  [groups, outputs b / 32]   a stream of outputs; checkpoint_format "gptq" has the zero point less 1,
//                                      "gptq_v2" itself
//   scales  [groups, outputs]          floats
//   g_idx   [inputs]                   each input's group; where desc_act is false it may be missing: input / group_size
#include <string.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

static bool is_v2(const Quantization *q) {
    const char *format =
        quantized_string(q, "checkpoint_format", quantized_string(q, "format", "gptq"));
    if (strcmp(format, "gptq") && strcmp(format, "gptq_v2"))
        quantized_refuse(q, "checkpoint_format", format, "gptq or gptq_v2");
    return !strcmp(format, "gptq_v2");
}

static int bits_of(const Quantization *q) {
    int64_t bits = quantized_int(q, "bits", 0);
    if (bits != 2 && bits != 3 && bits != 4 && bits != 8)
        quantized_refuse(q, "bits", arena_printf(q->checkpoint->arena, "%lld", (long long)bits),
                         "2, 3, 4 or 8");
    return (int)bits;
}

void gptq_check(const Quantization *q) {
    bits_of(q);
    is_v2(q);
    if (json_is_true(json_object_get(q->config, "is_marlin_format")))
        quantized_refuse(q, "is_marlin_format", "true", "false");
    const char *pack = quantized_string(q, "pack_dtype", "int32");
    if (strcmp(pack, "int32")) quantized_refuse(q, "pack_dtype", pack, "int32");
}

static void read_codes(const QuantizedMatrix *m, CodedRows *rows) {
    const uint32_t *words = m->codes->tensor.data;
    for (int64_t k = 0; k < m->columns; k++)
        for (int r = 0; r < rows->n; r++)
            rows->code[r * m->columns + k] =
                (int16_t)packed_field(words + rows->first + r, m->rows, k, m->bits);
}

// A zero point of 0 is stored as the highest code.
static int zero_less_one(const QuantizedMatrix *m, int64_t row, int64_t group) {
    const Tensor *t = &m->zeros->tensor;
    return (int)(packed_field((const uint32_t *)t->data + group * t->dim[1], 1, row, m->bits) + 1) &
           ((1 << m->bits) - 1);
}

static int zero_itself(const QuantizedMatrix *m, int64_t row, int64_t group) {
    const Tensor *t = &m->zeros->tensor;
    return (int)packed_field((const uint32_t *)t->data + group * t->dim[1], 1, row, m->bits);
}

// A symmetric matrix has its zero points in the middle: where all that are stored are that number
// itself, the file says "gptq" and is gptq_v2.
static bool contradicts(const Quantization *q, const QuantizedMatrix *m) {
    int middle = 1 << (m->bits - 1);
    if (!json_is_true(json_object_get(q->config, "sym"))) return false;
    for (int64_t g = 0; g < m->groups; g++)
        for (int64_t r = 0; r < m->rows; r++)
            if (zero_itself(m, r, g) != middle) return false;
    return true;
}

static bool has_zeros_themselves(Quantization *q, const QuantizedMatrix *m) {
    if (is_v2(q) || !contradicts(q, m)) return is_v2(q);
    if (!q->told_of_zeros)
        diag_warning(checkpoint_config_loc(q->checkpoint, "quantization_config"),
                     "the zero points of \"%s\" are those of checkpoint_format \"gptq_v2\", not of "
                     "\"gptq\": with \"sym\": true they "
                     "are in the middle, and are read so",
                     m->name);
    return q->told_of_zeros = true;
}

// GPTQModel and AutoRound give some modules other bits and groups than config.json's default;
// shapes decide.
static bool may_differ(const Quantization *q) {
    return json_object_size(json_object_get(q->config, "dynamic")) ||
           json_object_size(json_object_get(q->config, "extra_config"));
}

// Columns of a group: group_size, the default's or the module's if it fits, else an even division.
static int64_t group_of(const Quantization *q, const QuantizedMatrix *m, int64_t groups) {
    static const char *const rules[] = {"dynamic", "extra_config"};
    int64_t group = quantized_int(q, "group_size", -1);
    if (!may_differ(q) || groups == (group < 1 ? 1 : ceil_div(m->columns, group))) return group;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const json_t *rule;
        const char *pattern;
        json_object_foreach((json_t *)json_object_get(q->config, rules[i]), pattern, rule) {
            group = json_integer_value(json_object_get(rule, "group_size"));
            if (group > 0 && groups == ceil_div(m->columns, group)) return group;
        }
    }
    return groups < 1 ? -1 : ceil_div(m->columns, groups);
}

// Inputs: the length of g_idx, else the capacity of the words
static void set_size(const Quantization *q, QuantizedMatrix *m) {
    const Tensor *w = &m->codes->tensor;
    m->bits = bits_of(q);
    m->rows = w->dim[1];
    int64_t bits = m->zeros->tensor.rank == 2 ? m->zeros->tensor.dim[1] * 32 / m->rows : 0;
    if (may_differ(q) && (bits == 2 || bits == 3 || bits == 4 || bits == 8)) m->bits = (int)bits;
    m->columns = m->order ? m->order->tensor.dim[0] : w->dim[0] * 32 / m->bits;
    quantized_want_shape(m->codes, 2, (int64_t[]){ceil_div(m->columns * m->bits, 32), m->rows});
}

QuantizedMatrix *gptq_matrix(Quantization *q, StoredTensor *t) {
    if (!text_ends_with(t->tensor.name, ".qweight")) return NULL;
    QuantizedMatrix *m = quantized_matrix(q, t, ".qweight", ".weight");
    quantized_want_words(m);
    m->order = quantized_part(q, m, ".g_idx", SET_I32,
                              json_is_true(json_object_get(q->config, "desc_act")));
    if (m->order) quantized_want_shape(m->order, 1, (int64_t[]){-1});
    m->zeros = quantized_part(q, m, ".qzeros", SET_I32, true);
    set_size(q, m);
    const StoredTensor *scales = quantized_part(q, m, ".scales", SET_FLOATS, true);
    quantized_scales_by_group(m, scales,
                              group_of(q, m, scales->tensor.rank ? scales->tensor.dim[0] : 0));
    quantized_want_shape(m->zeros, 2, (int64_t[]){m->groups, ceil_div(m->rows * m->bits, 32)});
    quantized_order(q, m);
    m->transposed = quantized_is_conv1d(q, m->name);
    m->center = 1 << (m->bits - 1);
    m->read = read_codes, m->zero = has_zeros_themselves(q, m) ? zero_itself : zero_less_one;
    return m;
}
