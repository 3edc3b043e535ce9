// compressed-tensors (llm-compressor), W [outputs, inputs]:
//   pack-quantized    weight_packed i32 [outputs, words]: signed value + 2^(bits - 1), 32 / bits of them in a word, low first; in
//                     recent versions a stream of bits, across words: the same but for 3, 5, 6 and 7 bits
//   int-quantized     weight i8; naive-quantized: i8 or f8
//   float-quantized, mxfp8-quantized   weight f8_e4m3
//   nvfp4-pack-quantized, mxfp4-pack-quantized   weight_packed u8 [outputs, inputs / 2] of e2m1 (fp4.c); of nvfp4 the scale is
//                     weight_scale f8_e4m3 / weight_global_scale
//   mxfp6-pack-quantized   weight_packed u8 [outputs, inputs * 3 / 4] of e2m3 (fp6.c)
// Granite's experts are one tensor, whose dimensions and those of its scales begin with how many
// they are. weight_scale: one, one a row, [outputs, groups] or of blocks; weight_zero_point i8
// [outputs, groups], or as the codes i32 [words, groups]; weight_g_idx [inputs]: each input's
// group. Activations stay floats, whatever config_groups say of them.
#include <stdio.h>
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
    for (size_t i = 0; i < 2 && json_array_size(block) == 2; i++)
        s.block[i] = json_integer_value(json_array_get(block, i));
    long long rows, columns;
    if (json_is_string(block) &&
        sscanf(json_string_value(block), "%9lldx%9lld", &rows, &columns) == 2)
        s.block[0] = rows, s.block[1] = columns;
    return s;
}

// Are scales of this shape those of the scheme, for all that the matrix has?
static bool fits(const Scheme *s, const QuantizedMatrix *m, const Tensor *scales) {
    int64_t r = scales->rank > 0 ? scales->dim[0] : 1, c = scales->rank > 1 ? scales->dim[1] : 1;
    if (s->bits != m->bits && m->codes->tensor.dtype == DT_i32) return false;
    if (s->block[1] > 0)
        return s->block[0] > 0 && r == ceil_div(m->rows, s->block[0]) &&
               c == ceil_div(m->columns, s->block[1]);
    return (r == 1 || r == m->rows) && c == (s->group > 0 ? ceil_div(m->columns, s->group) : 1);
}

// Of the first of config_groups whose scales have this shape, else of the first; that where `m` is
// NULL. Shapes tell them apart: targets are names of classes and patterns of names.
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
    static const char *const known[] = {
        "pack-quantized",  "int-quantized",        "float-quantized",      "naive-quantized",
        "mxfp8-quantized", "nvfp4-pack-quantized", "mxfp4-pack-quantized", "mxfp6-pack-quantized"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i], format)) return;
    quantized_refuse(q, "format", format,
                     "pack-quantized, int-quantized, float-quantized, naive-quantized, "
                     "mxfp8-quantized, nvfp4-pack-quantized, "
                     "mxfp4-pack-quantized or mxfp6-pack-quantized");
}

static void check_group(const Quantization *q, const json_t *group) {
    const json_t *w = weights_of(group);
    json_int_t bits = json_integer_value(json_object_get(w, "num_bits"));
    bool integers = !strcmp(text_of(w, "type"), "int");
    if (!json_is_object(w)) return;
    if (*text_of(group, "format")) check_format(q, text_of(group, "format"));
    if (bits < 2 || bits > 8 || (!integers && bits != 8 && bits != 6 && bits != 4))
        quantized_refuse(q, "num_bits",
                         arena_printf(q->checkpoint->arena, "%" JSON_INTEGER_FORMAT, bits),
                         "2 to 8 of integers, 4, 6 or 8 of floats");
}

// Transforms of weights are in the weights already; others the model computes.
static void check_transform(const Quantization *q, const json_t *group) {
    const json_t *apply = json_object_get(group, "apply");
    size_t n = json_is_array(apply) ? json_array_size(apply) : 1;
    for (size_t i = 0; i < n; i++) {
        const char *location =
            text_of(json_is_array(apply) ? json_array_get(apply, i) : apply, "location");
        if (strcmp(location, "weight_input") && strcmp(location, "weight_output"))
            quantized_refuse(
                q, "transform_config",
                arena_printf(q->checkpoint->arena, "at %s", *location ? location : "no location"),
                "transforms of weights alone");
    }
}

void compressed_check(const Quantization *q) {
    const char *format = quantized_string(q, "format", ""), *sparse;
    const json_t *sparsity = json_object_get(q->config, "sparsity_config"), *group;
    if (strcmp(format, "mixed-precision")) check_format(q, format);
    sparse = text_of(sparsity, "format");
    if (*sparse && strcmp(sparse, "dense")) quantized_refuse(q, "sparsity_config", sparse, "dense");
    const char *name;
    json_object_foreach(
        (json_t *)json_object_get(json_object_get(q->config, "transform_config"), "config_groups"),
        name, group) check_transform(q, group);
    json_object_foreach((json_t *)json_object_get(q->config, "config_groups"), name, group)
        check_group(q, group);
}

static void read_stream(const QuantizedMatrix *m, CodedRows *rows) {
    const Tensor *t = &m->codes->tensor;
    const uint32_t *words = (const uint32_t *)t->data + rows->first * t->dim[1];
    for (int r = 0; r < rows->n; r++, words += t->dim[1])
        for (int64_t k = 0; k < m->columns; k++)
            rows->code[r * m->columns + k] =
                (int16_t)((int)packed_field(words, 1, k, m->bits) - (1 << (m->bits - 1)));
}

static int zero_in_stream(const QuantizedMatrix *m, int64_t row, int64_t group) {
    const uint32_t *words = m->zeros->tensor.data;
    return (int)packed_field(words + group, m->groups, row, m->bits) - (1 << (m->bits - 1));
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
    return (int)packed_field(words + row / together * m->groups + group, 1, row % together,
                             m->bits) -
           (1 << (m->bits - 1));
}

// The layouts that fit this many words in a row
enum { ALIGNED = 1, STREAM = 2 };
static int words_of(const QuantizedMatrix *m, int bits) {
    int64_t words = m->codes->tensor.dim[1];
    return (m->codes->tensor.dim[0] == m->rows) *
           (ALIGNED * (words == ceil_div(m->columns, 32 / bits)) +
            STREAM * (words == ceil_div(m->columns * bits, 32)));
}

// Outputs and inputs are in weight_shape.
static void set_packed_size(Quantization *q, QuantizedMatrix *m) {
    const StoredTensor *shape = quantized_part(q, m, ".weight_shape", SET_I32 | 1 << DT_i64, true);
    quantized_want_words(m);
    const Tensor *t = &shape->tensor;
    bool of_experts = m->stack && t->rank == 1 && t->dim[0] == 3;
    if (!of_experts) quantized_want_shape(shape, 1, (int64_t[]){2});
    quantized_set_size(
        m, shape, of_experts ? m->codes->tensor.dim[0] : (int64_t)dtype_load(t->dtype, t->data, 0),
        (int64_t)dtype_load(t->dtype, t->data, 1 + of_experts));
    m->bits = (int)scheme_for(q, NULL, NULL).bits;
    // Groups of config_groups may differ in bits; the words say which these are.
    for (int bits = 8; bits >= 2 && !words_of(m, m->bits); bits--) m->bits = bits;
    if (!words_of(m, m->bits)) {
        m->bits = (int)scheme_for(q, NULL, NULL).bits;
        quantized_want_shape(m->codes, 2, (int64_t[]){m->rows, ceil_div(m->columns * m->bits, 32)});
    }
    bool aligned = words_of(m, m->bits) & ALIGNED, stream = words_of(m, m->bits) & STREAM;
    if (aligned && stream && m->columns > 32 / m->bits && 32 % m->bits)
        file_fatal(m->codes->file,
                   "tensor \"%s\" is too small to tell in which of two orders its %d bits are",
                   m->codes->tensor.name, m->bits);
    m->read = stream ? read_stream : read_packed;
}

// Returns true if all of config_groups have nonzero zero points.
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
    } else if (m->read == read_stream) {
        quantized_want_shape(m->zeros, 2, (int64_t[]){ceil_div(m->rows * m->bits, 32), m->groups});
        m->zero = zero_in_stream;
    } else {
        quantized_want_shape(m->zeros, 2, (int64_t[]){ceil_div(m->rows, 32 / m->bits), m->groups});
        m->zero = zero_packed;
    }
}

static void set_order(Quantization *q, QuantizedMatrix *m) {
    m->order = quantized_part(q, m, ".weight_g_idx", SET_I32, false);
    if (!m->order) return;
    quantized_want_shape(m->order, 1, (int64_t[]){m->columns});
    if (((const int32_t *)m->order->tensor.data)[0] >= 0)
        quantized_order(q, m);  // -1: not filled in
}

static bool is_codes(const Tensor *t) {
    return text_ends_with(t->name, ".weight") &&
           (t->dtype == DT_i8 || t->dtype == DT_f8e4m3fn || t->dtype == DT_f8e5m2);
}

static bool has_floats(const Quantization *q, int bits) {
    const json_t *group;
    const char *name;
    json_object_foreach((json_t *)json_object_get(q->config, "config_groups"), name, group) {
        const json_t *w = weights_of(group);
        if (!strcmp(text_of(w, "type"), "float") &&
            json_integer_value(json_object_get(w, "num_bits")) == bits)
            return true;
    }
    return false;
}

// Floats of 4 or 6 bits: if config_groups have both, the scales decide.
static void set_small_floats(Quantization *q, QuantizedMatrix *m) {
    const StoredTensor *scales =
        quantized_exponents(q, quantized_part(q, m, ".weight_scale", SET_SCALES | SET_U8, true));
    const Tensor *t = &m->codes->tensor, *s = &scales->tensor;
    bool six = has_floats(q, 6) && t->rank == 2 && s->rank == 2 && t->dim[1] == s->dim[1] * 24;
    if (six || !has_floats(q, 4)) {
        fp6_set(q, m, scales, 32, 3);
        return;
    }
    fp4_set(m, scales, 0);
    fp4_whole_scale(q, m, ".weight_global_scale", WHOLE_DIVISOR);
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
    quantized_join(q, m);
    if (packed && m->codes->tensor.dtype == DT_u8 && (has_floats(q, 4) || has_floats(q, 6))) {
        set_small_floats(q, m);
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
