// AutoRound: the layout of GPTQ or of AWQ, selected by packing_format.
#include <string.h>

#include "frontend/checkpoint/quantized/quantized.h"

static bool is_awq(const Quantization *q) {
    const char *format = quantized_string(q, "packing_format",
                                          quantized_string(q, "backend", "auto_round:auto_gptq"));
    bool gptq = !strcmp(format, "auto_round:auto_gptq") || !strcmp(format, "auto_gptq") ||
                !strcmp(format, "auto_round:gptq");
    bool awq = !strcmp(format, "auto_round:auto_awq") || !strcmp(format, "auto_awq") ||
               !strcmp(format, "auto_round:awq");
    if (!gptq && !awq)
        quantized_refuse(q, "packing_format", format,
                         "auto_round:auto_gptq or auto_round:auto_awq");
    return awq;
}

void auto_round_check(const Quantization *q) {
    const char *type = quantized_string(q, "data_type", "int");
    if (strcmp(type, "int")) quantized_refuse(q, "data_type", type, "int");
    is_awq(q) ? awq_check(q) : gptq_check(q);
}

QuantizedMatrix *auto_round_matrix(Quantization *q, StoredTensor *t) {
    return is_awq(q) ? awq_matrix(q, t) : gptq_matrix(q, t);
}
