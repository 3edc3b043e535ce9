// NVIDIA's ModelOpt, W [outputs, inputs].
//   FP8     weight f8_e4m3, weight_scale f32, one for all
//   NVFP4   weight u8, two codes of e2m1 in a byte; weight_scale f8_e4m3 [outputs, inputs / 16]; weight_scale_2 f32, one for all:
//           W = code * (weight_scale * weight_scale_2)
// Activations stay floats.
#include <string.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

void modelopt_check(const Quantization *q) {
    static const char *const known[] = {"FP8", "NVFP4", "MIXED_PRECISION"};
    const json_t *inner = json_object_get(q->config, "quantization");  // of hf_quant_config.json
    Quantization within = *q;
    if (json_is_object(inner)) within.config = inner;
    const char *algorithm = quantized_string(&within, "quant_algo", "FP8");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i], algorithm)) return;
    quantized_refuse(q, "quant_algo", algorithm, "FP8 or NVFP4");
}

QuantizedMatrix *modelopt_matrix(Quantization *q, StoredTensor *t) {
    if (!text_ends_with(t->tensor.name, ".weight")) return NULL;
    if (t->tensor.dtype != DT_u8) return fp8_matrix(q, t);
    QuantizedMatrix *m = quantized_matrix(q, t, ".weight", ".weight");
    fp4_matrix(q, m, ".weight_scale", 0);
    fp4_whole_scale(q, m, ".weight_scale_2", false);
    return m;
}
