// FP8 (AutoFP8, vLLM, DeepSeek, FBGEMM): weight f8_e4m3 [outputs, inputs], times weight_scale (one,
// or one a row) or weight_scale_inv (one for a block of weight_block_size), a factor despite its
// name. Experts in one tensor: stacked.c. Activations stay floats.
#include <string.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

static void block_size(const Quantization *q, int64_t size[2]) {
    const json_t *block = json_object_get(q->config, "weight_block_size");
    size[0] = 1, size[1] = 0;
    if (!block || json_is_null(block)) return;
    for (size_t i = 0; i < 2; i++) size[i] = json_integer_value(json_array_get(block, i));
    if (json_array_size(block) != 2 || size[0] < 1 || size[1] < 1)
        quantized_refuse(q, "weight_block_size", "of another form", "two whole numbers above 0");
}

void fp8_check(const Quantization *q) {
    int64_t size[2];
    const char *format = quantized_string(q, "fmt", "e4m3");
    if (strcmp(format, "e4m3") && strcmp(format, "e5m2"))
        quantized_refuse(q, "fmt", format, "e4m3");
    block_size(q, size);
}

static bool is_float8(DType t) { return t == DT_f8e4m3fn || t == DT_f8e5m2; }

QuantizedMatrix *fp8_matrix(Quantization *q, StoredTensor *t) {
    int64_t size[2];
    block_size(q, size);
    QuantizedMatrix *stack = quantized_stack(q, t, size[1] ? "_scale_inv" : "_scale", size);
    if (stack) return stack;
    if (!text_ends_with(t->tensor.name, ".weight") || !is_float8(t->tensor.dtype)) return NULL;
    QuantizedMatrix *m = quantized_matrix(q, t, ".weight", ".weight");
    quantized_join(q, m);
    quantized_bytes(q, m);
    const StoredTensor *inverse = quantized_part(q, m, ".weight_scale_inv", SET_SCALES, false);
    quantized_scales(m, inverse ? inverse : quantized_part(q, m, ".weight_scale", SET_FLOATS, true),
                     size[0], size[1]);
    return m;
}
