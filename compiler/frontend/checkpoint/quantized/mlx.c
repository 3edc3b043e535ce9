// Apple's MLX, mode affine, W [outputs, inputs]: weight u32 [outputs, inputs bits / 32], a stream of bits, low first; scales
// and biases [outputs, groups]: W = code * scale + bias. The configuration has group_size and bits, of all and by module's
// name.
#include <string.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

static const json_t *settings_of(const Quantization *q, const char *module) {
    const json_t *own = module ? json_object_get(q->config, module) : NULL;
    return json_is_object(own) ? own : q->config;
}

static int64_t field(const Quantization *q, const char *module, const char *key) {
    Quantization within = *q;
    within.config = settings_of(q, module);
    return quantized_int(&within, key, quantized_int(q, key, 0));
}

static void check_mode(const Quantization *q, const char *module) {
    Quantization within = *q;
    within.config = settings_of(q, module);
    const char *mode = quantized_string(&within, "mode", quantized_string(q, "mode", "affine"));
    if (strcmp(mode, "affine")) quantized_refuse(q, "mode", mode, "affine");
}

void mlx_check(const Quantization *q) { check_mode(q, NULL); }

static void read_codes(const QuantizedMatrix *m, CodedRows *rows) {
    const Tensor *t = &m->codes->tensor;
    const uint32_t *words = (const uint32_t *)t->data + rows->first * t->dim[1];
    for (int r = 0; r < rows->n; r++, words += t->dim[1])
        for (int64_t k = 0; k < m->columns; k++) rows->code[r * m->columns + k] = (int16_t)packed_field(words, 1, k, m->bits);
}

QuantizedMatrix *mlx_matrix(Quantization *q, StoredTensor *t) {
    if (!text_ends_with(t->tensor.name, ".weight") || t->tensor.dtype != DT_u32) return NULL;
    QuantizedMatrix *m = quantized_matrix(q, t, ".weight", ".weight");
    const Tensor *words = &m->codes->tensor;
    int64_t bits = field(q, m->module, "bits"), group = field(q, m->module, "group_size");
    check_mode(q, m->module);
    if (bits < 2 || bits > 8)
        quantized_refuse(q, "bits", arena_printf(q->checkpoint->arena, "%lld", (long long)bits), "2 to 8");
    if (group < 1)
        quantized_refuse(q, "group_size", arena_printf(q->checkpoint->arena, "%lld", (long long)group), "32, 64 or 128");
    quantized_want_shape(m->codes, 2, (int64_t[]){-1, -1});
    quantized_set_size(m, m->codes, words->dim[0], words->dim[1] * 32 / bits);
    m->bits = (int)bits, m->group = group, m->groups = ceil_div(m->columns, group);
    const StoredTensor *scales = quantized_part(q, m, ".scales", SET_FLOATS, true);
    const StoredTensor *biases = quantized_part(q, m, ".biases", SET_FLOATS, true);
    quantized_want_shape(scales, 2, (int64_t[]){m->rows, m->groups});
    quantized_want_shape(biases, 2, (int64_t[]){m->rows, m->groups});
    quantized_line(q, m, scales, biases, false);
    m->read = read_codes;
    return m;
}
