// compressed-tensors (llm-compressor), W [outputs, inputs]:
//   pack-quantized    weight_packed i32 [outputs, words]: signed value + 2^(bits - 1), 32 / bits of them in a word, low first
//   int-quantized     weight i8; naive-quantized: i8 or f8
//   float-quantized   weight f8_e4m3
//   nvfp4-pack-quantized, mxfp4-pack-quantized   weight_packed u8 [outputs, inputs / 2] of e2m1 (fp4.c); of nvfp4 the scale is
//                     weight_scale f8_e4m3 / weight_global_scale
// weight_scale: one, one a row, [outputs, groups] or of blocks; weight_zero_point i8 [outputs, groups], or as the codes i32
// [words, groups]; weight_g_idx [inputs]: each input's group. Activations stay floats, whatever config_groups say of them.
#include <string.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

typedef struct {
    int64_t bits, group, block[2];
} Scheme;

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static const json_t *weights_of(const json_t *group) { return json_object_get(group, "weights"); }

static Scheme scheme_of(const json_t *weights) {
    Scheme s = {.bits = json_integer_value(json_object_get(weights, "num_bits")),
                .group = json_integer_value(json_object_get(weights, "group_size")),
                .block = {1, 0}};
    const json_t *block = json_object_get(weights, "block_structure");
    for (size_t i = 0; i < 2 && json_array_size(block) == 2; i++) s.block[i] = json_integer_value(json_array_get(block, i));
    return s;
}

// Are scales of this shape those of the scheme, for all that the matrix has?
static bool fits(const Scheme *s, const QuantizedMatrix *m, const Tensor *scales) {
    int64_t r = scales->rank > 0 ? scales->dim[0] : 1, c = scales->rank > 1 ? scales->dim[1] : 1;
    if (s->bits != m->bits && m->codes->tensor.dtype == DT_i32) return false;
    if (s->block[1] > 0)
        return s->block[0] > 0 && r == ceil_div(m->rows, s->block[0]) && c == ceil_div(m->columns, s->block[1]);
    return (r == 1 || r == m->rows) && c == (s->group > 0 ? ceil_div(m->columns, s->group) : 1);
}

// Of the first of config_groups whose scales have this shape, else of the first; that where `m` is NULL. Shapes tell them
// apart: targets are names of classes and patterns of names.
static Scheme scheme_for(const Quantization *q, const QuantizedMatrix *m, const Tensor *scales) {
    Scheme first = {.bits = 8, .block = {1, 0}};
    bool found = false;
    const json_t *group;
    const char *name;
    json_object_foreach((json_t *)json_object_get(q->config, "config_groups"), name, group) {
        if (!json_is_object(weights_of(group))) continue;
        Scheme s = scheme_of(weights_of(group));
        if (m && fits(&s, m, scales)) return s;
        if (!found) first = s, found = true;
    }
    return first;
}

static void check_format(const Quantization *q, const char *format) {
    static const char *const known[] = {"pack-quantized",  "int-quantized",        "float-quantized",
                                        "naive-quantized", "nvfp4-pack-quantized", "mxfp4-pack-quantized"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i], format)) return;
    quantized_refuse(
        q, "format", format,
        "pack-quantized, int-quantized, float-quantized, naive-quantized, nvfp4-pack-quantized or mxfp4-pack-quantized");
}

static void check_group(const Quantization *q, const json_t *group) {
    const json_t *w = weights_of(group);
    json_int_t bits = json_integer_value(json_object_get(w, "num_bits"));
    bool integers = !strcmp(text_of(w, "type"), "int");
    if (!json_is_object(w)) return;
    if (*text_of(group, "format")) check_format(q, text_of(group, "format"));
    if (bits < 2 || bits > 8 || (!integers && bits != 8 && bits != 4))
        quantized_refuse(q, "num_bits", arena_printf(q->checkpoint->arena, "%" JSON_INTEGER_FORMAT, bits),
                         "2 to 8 of integers, 4 or 8 of floats");
}

void compressed_check(const Quantization *q) {
    const char *format = quantized_string(q, "format", ""), *sparse;
    const json_t *sparsity = json_object_get(q->config, "sparsity_config"), *group;
    if (strcmp(format, "mixed-precision")) check_format(q, format);
    sparse = text_of(sparsity, "format");
    if (*sparse && strcmp(sparse, "dense")) quantized_refuse(q, "sparsity_config", sparse, "dense");
    if (json_object_size(json_object_get(q->config, "transform_config")))
        quantized_refuse(q, "transform_config", "that is not empty", "none");
    const char *name;
    json_object_foreach((json_t *)json_object_get(q->config, "config_groups"), name, group) check_group(q, group);
}

static void read_packed(const QuantizedMatrix *m, CodedRows *rows) {
    const Tensor *t = &m->codes->tensor;
    int together = 32 / m->bits, half = 1 << (m->bits - 1);
    for (int r = 0; r < rows->n; r++) {
        const uint32_t *words = (const uint32_t *)t->data + (rows->first + r) * t->dim[1];
        for (int64_t k = 0; k < m->columns; k++)
            rows->code[r * m->columns + k] =
                (int16_t)((int)packed_field(words + k / together, 1, k % together, m->bits) - half);
    }
}

static int zero_packed(const QuantizedMatrix *m, int64_t row, int64_t group) {
    const uint32_t *words = m->zeros->tensor.data;
    int together = 32 / m->bits;
    return (int)packed_field(words + row / together * m->groups + group, 1, row % together, m->bits) - (1 << (m->bits - 1));
}

// Outputs and inputs are in weight_shape.
static void set_packed_size(Quantization *q, QuantizedMatrix *m) {
    const StoredTensor *shape = quantized_part(q, m, ".weight_shape", SET_I32 | 1 << DT_i64, true);
    quantized_want_words(m);
    quantized_want_shape(shape, 1, (int64_t[]){2});
    const Tensor *t = &shape->tensor;
    quantized_set_size(m, shape, (int64_t)dtype_load(t->dtype, t->data, 0), (int64_t)dtype_load(t->dtype, t->data, 1));
    m->bits = (int)scheme_for(q, NULL, NULL).bits;
    // Groups of config_groups may differ in bits; the words say which these are.
    int64_t words = m->codes->tensor.dim[1];
    for (int bits = 8; bits >= 2 && ceil_div(m->columns, 32 / m->bits) != words; bits--) m->bits = bits;
    quantized_want_shape(m->codes, 2, (int64_t[]){m->rows, ceil_div(m->columns, 32 / m->bits)});
    m->read = read_packed;
}

// Do all of config_groups say that zero points are not 0?
static bool all_asymmetric(const Quantization *q) {
    const json_t *group;
    const char *name;
    bool some = false;
    json_object_foreach((json_t *)json_object_get(q->config, "config_groups"), name, group) {
        if (!json_is_object(weights_of(group))) continue;
        if (!json_is_false(json_object_get(weights_of(group), "symmetric"))) return false;
        some = true;
    }
    return some;
}

static void set_zeros(Quantization *q, QuantizedMatrix *m) {
    m->zeros = quantized_part(q, m, ".weight_zero_point", SET_I32 | 1 << DT_i8, all_asymmetric(q));
    if (!m->zeros) return;
    if (m->zeros->tensor.dtype == DT_i8) {
        quantized_byte_zeros(m, m->zeros);
    } else {
        quantized_want_shape(m->zeros, 2, (int64_t[]){ceil_div(m->rows, 32 / m->bits), m->groups});
        m->zero = zero_packed;
    }
}

static void set_order(Quantization *q, QuantizedMatrix *m) {
    m->order = quantized_part(q, m, ".weight_g_idx", SET_I32, false);
    if (!m->order) return;
    quantized_want_shape(m->order, 1, (int64_t[]){m->columns});
    if (((const int32_t *)m->order->tensor.data)[0] >= 0) quantized_order(q, m);  // -1: not filled in
}

static bool is_codes(const Tensor *t) {
    return text_ends_with(t->name, ".weight") && (t->dtype == DT_i8 || t->dtype == DT_f8e4m3fn || t->dtype == DT_f8e5m2);
}

static bool has_fp4(const Quantization *q) {
    const json_t *group;
    const char *name;
    json_object_foreach((json_t *)json_object_get(q->config, "config_groups"), name, group) {
        const json_t *w = weights_of(group);
        if (!strcmp(text_of(w, "type"), "float") && json_integer_value(json_object_get(w, "num_bits")) == 4) return true;
    }
    return false;
}

static void set_scales(Quantization *q, QuantizedMatrix *m) {
    const StoredTensor *scales = quantized_part(q, m, ".weight_scale", SET_SCALES | SET_U8, true);
    scales = quantized_exponents(q, scales);
    Scheme s = scheme_for(q, m, &scales->tensor);
    quantized_scales(m, scales, s.block[0], s.block[1] ? s.block[1] : s.group);
}

QuantizedMatrix *compressed_matrix(Quantization *q, StoredTensor *t) {
    bool packed = text_ends_with(t->tensor.name, ".weight_packed");
    if (!packed && !is_codes(&t->tensor)) return NULL;
    QuantizedMatrix *m = quantized_matrix(q, t, packed ? ".weight_packed" : ".weight", ".weight");
    if (packed && m->codes->tensor.dtype == DT_u8 && has_fp4(q)) {
        fp4_matrix(q, m, ".weight_scale", 0);
        fp4_whole_scale(q, m, ".weight_global_scale", true);
        return m;
    }
    if (packed)
        set_packed_size(q, m);
    else
        quantized_bytes(q, m);
    set_scales(q, m);
    set_zeros(q, m);
    set_order(q, m);
    return m;
}
