// NVIDIA's ModelOpt, W [outputs, inputs]; quant_algo, of all or (MIXED_PRECISION) of each layer, says which of
//   FP8...       weight f8_e4m3; weight_scale f32, one, one a row, or one for a block of 128 x 128, also as [down, 1, across, 1]
//   MXFP8        weight f8_e4m3; weight_scale u8 [outputs, inputs / 32], 2^(byte - 127)
//   W8A16        weight i8; weight_scale [outputs]
//   ...NVFP4...  weight u8, two codes of e2m1 in a byte; weight_scale f8_e4m3 [outputs, inputs / 16]; weight_scale_2 f32, one for
//                all: W = code * (weight_scale * weight_scale_2)
//   ...MXFP4...  weight u8 likewise; weight_scale u8 [outputs, inputs / 32], 2^(byte - 127)
// Activations stay floats. What has pre_quant_scale (AWQ, SVDQuant, SmoothQuant) is not read.
#include <string.h>
#include <strings.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

static void check_algorithm(const Quantization *q, const json_t *object, const char *otherwise) {
    static const char *const known[] = {"FP8",           "FP8_PER_CHANNEL_PER_TOKEN",
                                        "FP8_PB_WO",     "FP8_PB_REAL",
                                        "W8A16",         "NVFP4",
                                        "W4A16_NVFP4",   "W4A8_NVFP4_FP8",
                                        "MXFP8",         "MXFP4",
                                        "W4A8_MXFP4_FP8"};
    Quantization within = *q;
    within.config = object;
    const char *algorithm = quantized_string(&within, "quant_algo", otherwise);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcasecmp(known[i], algorithm)) return;
    quantized_refuse(q, "quant_algo", algorithm, "FP8, MXFP8, W8A16, NVFP4 or MXFP4");
}

void modelopt_check(const Quantization *q) {
    const json_t *inner = json_object_get(q->config, "quantization"), *layer;  // of hf_quant_config.json
    const json_t *all = json_is_object(inner) ? inner : q->config;
    const char *algorithm = json_string_value(json_object_get(all, "quant_algo")), *name;
    if (!algorithm || strcmp(algorithm, "MIXED_PRECISION")) {
        check_algorithm(q, all, "FP8");
        return;
    }
    json_object_foreach((json_t *)json_object_get(all, "quantized_layers"), name, layer) check_algorithm(q, layer, "missing");
}

// Without dimensions of 1 between the others
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

QuantizedMatrix *modelopt_matrix(Quantization *q, StoredTensor *t) {
    if (!text_ends_with(t->tensor.name, ".weight")) return NULL;
    if (t->tensor.dtype != DT_u8) return bytes(q, t);
    QuantizedMatrix *m = quantized_matrix(q, t, ".weight", ".weight");
    fp4_matrix(q, m, ".weight_scale", 0);
    fp4_whole_scale(q, m, ".weight_scale_2", WHOLE_FACTOR);
    return m;
}
