// NVIDIA's ModelOpt, W [outputs, inputs]; quant_algo, for all layers or (MIXED_PRECISION) for each,
// is one of
//   FP8...       weight f8_e4m3; weight_scale f32, one, one a row, or one for a block of 128 x 128, also as [down, 1, across, 1]
//   MXFP8        weight f8_e4m3; weight_scale u8 [outputs, inputs / 32], 2^(byte - 127)
//   W8A16, W8A8_SQ_PER_CHANNEL   weight i8; weight_scale [outputs]
//   ...NVFP4...  weight u8, two codes of e2m1 in a byte; weight_scale f8_e4m3 [outputs, inputs / 16]; weight_scale_2 f32, one for
//                all: W = code * (weight_scale * weight_scale_2)
//   ...MXFP4...  weight u8, two codes of e2m1 in a byte; weight_scale u8 [outputs, inputs / 32], 2^(byte - 127)
//   W4A16_AWQ, W4A8_AWQ   weight u8 [outputs / 2, inputs], two signed codes in a byte, that of the even row in the low nibble;
//                weight_scale [outputs, groups]; weight_scale_2 is of FP8 products, which take it from weight_scale
// Activations stay floats. pre_quant_scale [inputs] (AWQ, SmoothQuant) multiplies the inputs.
// Experts in one tensor: stacked.c. SVDQuant's (NVFP4_SVD) low ranks are not read.
#include <string.h>
#include <strings.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

static void check_algorithm(const Quantization *q, const json_t *object, const char *otherwise) {
    static const char *const known[] = {"FP8",
                                        "FP8_PER_CHANNEL_PER_TOKEN",
                                        "FP8_PB_WO",
                                        "FP8_PB_REAL",
                                        "W8A16",
                                        "NVFP4",
                                        "W4A16_NVFP4",
                                        "W4A8_NVFP4_FP8",
                                        "MXFP8",
                                        "MXFP4",
                                        "W4A8_MXFP4_FP8",
                                        "NVFP4_AWQ",
                                        "W4A16_AWQ",
                                        "W4A8_AWQ",
                                        "W8A8_SQ_PER_CHANNEL"};
    Quantization within = *q;
    within.config = object;
    const char *algorithm = quantized_string(&within, "quant_algo", otherwise);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcasecmp(known[i], algorithm)) return;
    quantized_refuse(
        q, "quant_algo", algorithm,
        "FP8, MXFP8, W8A16, W8A8_SQ_PER_CHANNEL, W4A16_AWQ, W4A8_AWQ, NVFP4, NVFP4_AWQ or MXFP4");
}

void modelopt_check(const Quantization *q) {
    const json_t *inner = json_object_get(q->config, "quantization"),
                 *layer;  // of hf_quant_config.json
    const json_t *all = json_is_object(inner) ? inner : q->config;
    const char *algorithm = json_string_value(json_object_get(all, "quant_algo")), *name;
    if (!algorithm || strcmp(algorithm, "MIXED_PRECISION")) {
        check_algorithm(q, all, "FP8");
        return;
    }
    json_object_foreach((json_t *)json_object_get(all, "quantized_layers"), name, layer)
        check_algorithm(q, layer, "missing");
}

// Removes dimensions of 1 between other dimensions
static const StoredTensor *squeezed(const Quantization *q, const StoredTensor *t) {
    StoredTensor *flat = ARENA_NEW(q->checkpoint->arena, StoredTensor);
    *flat = *t;
    if (t->tensor.rank != 4 || t->tensor.dim[1] != 1 || t->tensor.dim[3] != 1) return t;
    flat->tensor.rank = 2, flat->tensor.dim[1] = t->tensor.dim[2];
    return flat;
}

static QuantizedMatrix *bytes(Quantization *q, StoredTensor *t) {
    DType type = t->tensor.dtype;
    if (type != DT_i8 && type != DT_f8e4m3fn && type != DT_f8e5m2) return NULL;
    QuantizedMatrix *m = quantized_matrix(q, t, ".weight", ".weight");
    quantized_bytes(q, m);
    const StoredTensor *scales = quantized_part(q, m, ".weight_scale", SET_SCALES | SET_U8, true);
    scales = squeezed(q, quantized_exponents(q, scales));
    quantized_scales(m, scales, 128, scales->tensor.dtype == DT_f8e8m0 ? 32 : 128);
    return m;
}

static void read_nibbles_down(const QuantizedMatrix *m, CodedRows *rows) {
    for (int64_t i = 0; i < rows->n * m->columns; i++) {
        int64_t row = rows->first + i / m->columns, k = i % m->columns;
        int code =
            ((const uint8_t *)m->codes->tensor.data)[row / 2 * m->columns + k] >> row % 2 * 4 & 15;
        rows->code[i] = (int16_t)(code < 8 ? code : code - 16);
    }
}

// Integers of 4 bits: a byte holds those of two rows
static void set_integers(Quantization *q, QuantizedMatrix *m, const StoredTensor *scales) {
    const Tensor *t = &m->codes->tensor;
    quantized_want_shape(m->codes, 2, (int64_t[]){-1, -1});
    quantized_set_size(m, m->codes, t->dim[0] * 2, t->dim[1]);
    quantized_part(q, m, ".weight_scale_2", SET_FLOATS, false);
    quantized_want_shape(scales, 2, (int64_t[]){m->rows, -1});
    m->bits = 4, m->read = read_nibbles_down;
    int64_t groups = scales->tensor.dim[1];
    if (m->columns % groups)
        file_fatal(scales->file,
                   "tensor \"%s\" has %lld scales a row, which are not groups of equal size of "
                   "%lld inputs",
                   scales->tensor.name, (long long)groups, (long long)m->columns);
    quantized_scales(m, scales, 1, m->columns / groups);
}

QuantizedMatrix *modelopt_matrix(Quantization *q, StoredTensor *t) {
    QuantizedMatrix *stack = quantized_stack(q, t, "_weight_scale", (int64_t[]){1, 0});
    if (stack) return stack;
    if (!text_ends_with(t->tensor.name, ".weight")) return NULL;
    QuantizedMatrix *m = bytes(q, t);
    if (!m && t->tensor.dtype != DT_u8) return NULL;
    if (!m) {
        m = quantized_matrix(q, t, ".weight", ".weight");
        const StoredTensor *scales =
            quantized_part(q, m, ".weight_scale", SET_SCALES | SET_U8, true);
        DType type = scales->tensor.dtype;
        if (type == DT_f32 || type == DT_f16 || type == DT_bf16) {
            set_integers(q, m, scales);
        } else {
            fp4_set(m, quantized_exponents(q, scales), 0);
            fp4_whole_scale(q, m, ".weight_scale_2", WHOLE_FACTOR);
        }
    }
    quantized_column_factors(q, m, ".pre_quant_scale");
    return m;
}
