// BitNet (transformers): values -1, 0, 1 times one scale for the matrix [outputs, inputs].
//   weight         u8 [outputs / 4, inputs]: a byte holds outputs r, r + n, r + 2n, r + 3n of n rows of bytes, low first, 1 added
//   weight_scale   one: W = code / weight_scale (linear_class "bitlinear"), or times it ("autobitlinear")
// quantization_mode "online" has float weights: W = round(w / s) s, clipped to one code, s the mean
// magnitude.
#include <math.h>
#include <string.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

static bool is_online(const Quantization *q) {
    return !strcmp(quantized_string(q, "quantization_mode", "offline"), "online");
}
static bool multiplies(const Quantization *q) {
    return !strcmp(quantized_string(q, "linear_class", "bitlinear"), "autobitlinear");
}

void bitnet_check(const Quantization *q) {
    const char *mode = quantized_string(q, "quantization_mode", "offline"),
               *class = quantized_string(q, "linear_class", "bitlinear");
    if (strcmp(class, "bitlinear") && !multiplies(q))
        quantized_refuse(q, "linear_class", class, "bitlinear or autobitlinear");
    if (strcmp(mode, "offline") && !is_online(q))
        quantized_refuse(q, "quantization_mode", mode, "offline or online");
    if (json_is_true(json_object_get(q->config, "use_rms_norm")))
        quantized_refuse(q, "use_rms_norm", "true", "false");
}

static void read_codes(const QuantizedMatrix *m, CodedRows *rows) {
    const uint8_t *bytes = m->codes->tensor.data;
    int64_t height = m->codes->tensor.dim[0];
    for (int r = 0; r < rows->n; r++) {
        int64_t row = rows->first + r;
        const uint8_t *line = bytes + row % height * m->columns;
        for (int64_t k = 0; k < m->columns; k++)
            rows->code[r * m->columns + k] = (int16_t)((line[k] >> 2 * (row / height) & 3) - 1);
    }
}

static void round_codes(const QuantizedMatrix *m, CodedRows *rows) {
    const Tensor *t = &m->codes->tensor;
    float by = 1 / *(const float *)m->scale.values->tensor.data;
    for (int64_t i = 0; i < rows->n * m->columns; i++) {
        float code = rintf((float)dtype_load(t->dtype, t->data, rows->first * m->columns + i) * by);
        rows->code[i] = (int16_t)(code > 1 ? 1 : code < -1 ? -1 : code);
    }
}

// One scale that the file does not have in this form
static void set_scale(Quantization *q, QuantizedMatrix *m, float scale) {
    StoredTensor *t = ARENA_NEW(q->checkpoint->arena, StoredTensor);
    float *value = ARENA_NEW(q->checkpoint->arena, float);
    *value = scale;
    *t = (StoredTensor){.tensor = {.dtype = DT_f32,
                                   .rank = 1,
                                   .dim = {1},
                                   .name = m->codes->tensor.name,
                                   .data = value,
                                   .bytes = sizeof scale},
                        .file = m->codes->file};
    quantized_scales(m, t, 1, 0);
}

static float mean_magnitude(const StoredTensor *stored) {
    const Tensor *t = &stored->tensor;
    double sum = 0;
    int64_t n = tensor_count(t);
    for (int64_t i = 0; i < n; i++) sum += fabs(dtype_load(t->dtype, t->data, i));
    float mean = (float)(sum / (double)n);
    if (!isfinite(mean))
        file_fatal(stored->file, "tensor \"%s\" has values that are no finite numbers", t->name);
    return mean > 1e-5f ? mean : 1e-5f;
}

static bool is_converted(const Quantization *q, const char *name) {
    const json_t *kept = json_object_get(q->config, "modules_to_not_convert"), *module;
    size_t i;
    json_array_foreach(kept, i, module) {
        if (json_is_string(module) && strstr(name, json_string_value(module))) return false;
    }
    return !strstr(name, "lm_head") && !strstr(name, "embed");
}

QuantizedMatrix *bitnet_matrix(Quantization *q, StoredTensor *t) {
    const Tensor *w = &t->tensor;
    bool online =
        is_online(q) && w->rank == 2 && dtype_is_float(w->dtype) && is_converted(q, w->name);
    if (!text_ends_with(w->name, ".weight") || (!online && w->dtype != DT_u8)) return NULL;
    QuantizedMatrix *m = quantized_matrix(q, t, ".weight", ".weight");
    quantized_want_shape(m->codes, 2, (int64_t[]){-1, -1});
    quantized_set_size(m, m->codes, m->codes->tensor.dim[0] * (online ? 1 : 4),
                       m->codes->tensor.dim[1]);
    m->bits = 2;
    m->center = 1;  // codes from -1 to 2
    m->read = online ? round_codes : read_codes;
    if (online) {
        set_scale(q, m, mean_magnitude(m->codes));
        return m;
    }
    const StoredTensor *scale = quantized_part(q, m, ".weight_scale", SET_FLOATS, true);
    if (tensor_count(&scale->tensor) != 1) quantized_want_shape(scale, 1, (int64_t[]){1});
    float value = (float)dtype_load(scale->tensor.dtype, scale->tensor.data, 0);
    quantized_check_scales(scale);
    set_scale(q, m, multiplies(q) ? value : 1 / value);
    return m;
}
