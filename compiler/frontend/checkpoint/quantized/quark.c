// AMD's Quark, W [outputs, inputs]. layer_quant_config (patterns of names) or global_quant_config
// has for each module's weight:
//   dtype fp8_e4m3, fp8_e5m2   weight f8 [outputs, inputs]
//   int8, uint8                weight i8, u8, [outputs, inputs], or [inputs, outputs] with qscheme per_group
//   int4, uint4                weight i32 of eight codes, low first: per_group [inputs, outputs / 8], else [outputs, inputs / 8];
//                              with pack_method "reorder" they are codes 0, 2, 4, 6, 1, 3, 5, 7
//   fp4                        weight u8 of e2m1 (fp4.c)
//   fp6_e2m3, fp6_e3m2         weight u8 [outputs, inputs * 3 / 4] (fp6.c)
// weight_scale: one, [outputs], of blocks, or of groups: of integers [groups, outputs] (before 1.0
// [outputs, groups]), else [outputs, groups]; with scale_format e8m0 u8. weight_zero_point as the
// scales, int8 or packed like the codes. Activations stay floats.
#include <fnmatch.h>
#include <string.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

typedef struct {
    const char *dtype, *qscheme;
    int64_t group, block[2];
    bool by_group, exponents, zero_is_float;
} Spec;

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

// quant settings of a module, as Quark finds them: by its name, else of all
static const json_t *settings_of(const Quantization *q, const char *module) {
    const json_t *layers = json_object_get(q->config, "layer_quant_config"), *layer;
    const char *pattern;
    json_object_foreach((json_t *)layers, pattern,
                        layer) if (!fnmatch(pattern, module, 0)) return layer;
    layers = json_object_get(q->config, "layer_type_quant_config");
    json_object_foreach((json_t *)layers, pattern,
                        layer) if (strstr(pattern, "Linear")) return layer;
    return json_object_get(q->config, "global_quant_config");
}

// Scales along another axis would have shapes that may fit by chance.
static void check_scheme(const Quantization *q, const json_t *weight) {
    const char *scheme = text_of(weight, "qscheme"), *format = text_of(weight, "scale_format");
    const json_t *axis = json_object_get(weight, "ch_axis");
    json_int_t at = json_integer_value(axis);
    if (!strcmp(format, "e5m3")) quantized_refuse(q, "scale_format", format, "e8m0 or floats");
    if (strcmp(scheme, "per_tensor") && strcmp(scheme, "per_channel") &&
        strcmp(scheme, "per_group") && strcmp(scheme, "per_block"))
        quantized_refuse(q, "qscheme", *scheme ? scheme : "missing",
                         "per_tensor, per_channel, per_group or per_block");
    if (json_is_integer(axis) && ((!strcmp(scheme, "per_channel") && at != 0) ||
                                  (!strcmp(scheme, "per_group") && at != 1 && at != -1)))
        quantized_refuse(q, "ch_axis",
                         arena_printf(q->checkpoint->arena, "%d of %s", (int)at, scheme),
                         "0 of per_channel, 1 or -1 of per_group");
}

static Spec spec_of(const Quantization *q, const char *module) {
    const json_t *weight = json_object_get(settings_of(q, module), "weight");
    if (json_is_array(weight) && json_array_size(weight) == 1) weight = json_array_get(weight, 0);
    if (!json_is_object(weight))
        quantized_refuse(q, "weight",
                         arena_printf(q->checkpoint->arena, "of \"%s\" in %s", module,
                                      json_is_array(weight) ? "several steps" : "no settings"),
                         "one dtype and qscheme");
    check_scheme(q, weight);
    Spec s = {.dtype = text_of(weight, "dtype"), .qscheme = text_of(weight, "qscheme")};
    s.group = json_integer_value(json_object_get(weight, "group_size"));
    s.by_group = !strcmp(s.qscheme, "per_group");
    const json_t *block = json_object_get(weight, "block_size");
    s.block[0] = 1;
    for (size_t i = 0; i < 2 && json_array_size(block) == 2; i++)
        s.block[i] = json_integer_value(json_array_get(block, i));
    s.exponents = !strcmp(text_of(weight, "scale_format"), "e8m0");
    s.zero_is_float = !strcmp(text_of(weight, "zero_point_type"), "float32");
    return s;
}

// R1 and R2 are in the weights, R3 cancels where the cache is not quantized; R4, and an R1 that is
// not, the model computes.
static void check_rotations(const Quantization *q) {
    const json_t *algorithms = json_object_get(q->config, "algo_config");
    for (size_t i = 0; i < json_array_size(algorithms); i++) {
        const json_t *a = json_array_get(algorithms, i);
        const char *name = text_of(a, "name");
        if (!strcmp(name, "quarot") ||
            (!strcmp(name, "rotation") && !json_is_false(json_object_get(a, "r4"))))
            quantized_refuse(q, "algo_config", "with rotation R4", "rotations R1 and R2 alone");
        if (json_is_true(json_object_get(a, "online_r1_rotation")))
            quantized_refuse(q, "algo_config", "with online_r1_rotation",
                             "rotations that are in the weights");
    }
}

void quark_check(const Quantization *q) {
    const char *format = text_of(json_object_get(q->config, "export"), "weight_format");
    if (*format && strcmp(format, "real_quantized"))
        quantized_refuse(q, "weight_format", format, "real_quantized");
    check_rotations(q);
}

static bool is_reordered(const Quantization *q) {
    const char *method = text_of(json_object_get(q->config, "export"), "pack_method");
    return !*method || !strcmp(method, "reorder");
}

// --------------------------------------------------------------------------------- words of 4 bits
typedef struct {
    bool reordered, is_signed, by_group;
} Nibbles;

static int nibble(const QuantizedMatrix *m, const Tensor *t, int64_t line, int64_t at) {
    static const int place[] = {0, 4, 1, 5, 2, 6, 3, 7};
    const Nibbles *n = m->details;
    int64_t width = t->dim[t->rank - 1];
    int shift = 4 * (n->reordered ? place[at % 8] : (int)(at % 8));
    int code = ((const uint32_t *)t->data)[line * width + at / 8] >> shift & 15;
    return n->is_signed && code > 7 ? code - 16 : code;
}

static void read_words(const QuantizedMatrix *m, CodedRows *rows) {
    const Nibbles *n = m->details;
    for (int64_t i = 0; i < rows->n * m->columns; i++) {
        int64_t row = rows->first + i / m->columns, k = i % m->columns;
        rows->code[i] = (int16_t)(n->by_group ? nibble(m, &m->codes->tensor, k, row)
                                              : nibble(m, &m->codes->tensor, row, k));
    }
}

static int zero_in_words(const QuantizedMatrix *m, int64_t row, int64_t group) {
    const Tensor *t = &m->zeros->tensor;
    const Nibbles *n = m->details;
    if (t->rank) return nibble(m, t, n->by_group ? group : 0, row);
    int zero = *(const int32_t *)t->data & 15;
    return n->is_signed && zero > 7 ? zero - 16 : zero;
}

// --------------------------------------------------------------------------------- codes of 8 bits
static int byte_at(const Tensor *t, int64_t at) {
    return t->dtype == DT_i8 ? ((const int8_t *)t->data)[at] : ((const uint8_t *)t->data)[at];
}

static void read_columns(const QuantizedMatrix *m, CodedRows *rows) {
    for (int64_t k = 0; k < m->columns; k++)
        for (int r = 0; r < rows->n; r++)
            rows->code[r * m->columns + k] =
                (int16_t)byte_at(&m->codes->tensor, k * m->rows + rows->first + r);
}

static void read_rows(const QuantizedMatrix *m, CodedRows *rows) {
    for (int64_t i = 0; i < rows->n * m->columns; i++)
        rows->code[i] = (int16_t)byte_at(&m->codes->tensor, rows->first * m->columns + i);
}

static int zero_in_bytes(const QuantizedMatrix *m, int64_t row, int64_t group) {
    const Tensor *t = &m->zeros->tensor;
    return byte_at(t, t->rank == 2 ? group * m->rows + row : t->rank ? row : 0);
}

// ----------------------------------------------------------------------------------- parts of both
// Of integers by groups they are [groups, outputs], before version 1.0 [outputs, groups].
static void set_scales(Quantization *q, QuantizedMatrix *m, const Spec *s) {
    const StoredTensor *scales = quantized_part(q, m, ".weight_scale", SET_FLOATS, true);
    int64_t groups = s->group > 0 ? ceil_div(m->columns, s->group) : 1;
    bool older = scales->tensor.rank == 2 && scales->tensor.dim[0] == m->rows && groups != m->rows;
    if (s->by_group && !older)
        quantized_scales_by_group(m, scales, s->group);
    else
        quantized_scales(m, scales, s->block[0], s->by_group ? s->group : s->block[1]);
}

static void set_zeros(Quantization *q, QuantizedMatrix *m, const Spec *s, int together) {
    int types = together == 8 ? SET_I32 : SET_U8 | 1 << DT_i8;
    if (s->zero_is_float) quantized_refuse(q, "zero_point_type", "float32", "int32");
    m->zeros = quantized_part(q, m, ".weight_zero_point", types, false);
    if (!m->zeros) return;
    int64_t across = ceil_div(m->rows, together);
    if (m->zeros->tensor.rank)
        quantized_want_shape(m->zeros, s->by_group ? 2 : 1,
                             s->by_group ? (int64_t[]){m->groups, across} : &across);
    bool any = false;
    for (uint64_t i = 0; i < m->zeros->tensor.bytes; i++)
        any |= ((const uint8_t *)m->zeros->tensor.data)[i] != 0;
    if (any) m->zero = together == 8 ? zero_in_words : zero_in_bytes;
}

static void set_words(Quantization *q, QuantizedMatrix *m, const Spec *s) {
    const int64_t *dims = m->codes->tensor.dim;
    Nibbles *n = ARENA_NEW(q->checkpoint->arena, Nibbles);
    *n = (Nibbles){is_reordered(q), *s->dtype == 'i', s->by_group};
    quantized_want_words(m);
    quantized_set_size(m, m->codes, s->by_group ? dims[1] * 8 : dims[0],
                       s->by_group ? dims[0] : dims[1] * 8);
    m->details = n;
    m->bits = 4, m->center = n->is_signed ? 0 : 8;
    m->read = read_words;
    set_scales(q, m, s);
    set_zeros(q, m, s, 8);
}

static void set_bytes(Quantization *q, QuantizedMatrix *m, const Spec *s) {
    const int64_t *dims = m->codes->tensor.dim;
    bool is_signed = *s->dtype == 'i';
    if (m->codes->tensor.dtype != (is_signed ? DT_i8 : DT_u8))
        quantized_refuse(q, "dtype", s->dtype, "that of the tensor");
    quantized_want_shape(m->codes, 2, (int64_t[]){-1, -1});
    quantized_set_size(m, m->codes, dims[s->by_group], dims[!s->by_group]);
    m->bits = 8, m->center = is_signed ? 0 : 128;
    m->read = s->by_group ? read_columns : read_rows;
    set_scales(q, m, s);
    set_zeros(q, m, s, 1);
}

// ------------------------------------------------------------------------------------------ floats
static void set_float8(Quantization *q, QuantizedMatrix *m, const Spec *s) {
    DType type = m->codes->tensor.dtype;
    if (type != DT_f8e4m3fn && type != DT_f8e5m2)
        quantized_refuse(q, "dtype", s->dtype, "that of the tensor");
    quantized_bytes(q, m);
    const StoredTensor *scales = quantized_part(q, m, ".weight_scale", SET_SCALES | SET_U8, true);
    quantized_scales(m, quantized_exponents(q, scales), s->block[0],
                     s->block[1] ? s->block[1] : s->group);
}

static void set_float6(Quantization *q, QuantizedMatrix *m, const Spec *s) {
    fp6_set(
        q, m,
        quantized_exponents(q, quantized_part(q, m, ".weight_scale", SET_SCALES | SET_U8, true)),
        s->group, text_ends_with(s->dtype, "m3") ? 3 : 2);
}

static void set_float4(Quantization *q, QuantizedMatrix *m, const Spec *s) {
    fp4_matrix(q, m, ".weight_scale", s->group);
}

QuantizedMatrix *quark_matrix(Quantization *q, StoredTensor *t) {
    static const struct {
        const char *dtype;
        int types;
        void (*set)(Quantization *, QuantizedMatrix *, const Spec *);
    } dtypes[] = {{"int4", SET_I32, set_words},
                  {"uint4", SET_I32, set_words},
                  {"int8", 1 << DT_i8, set_bytes},
                  {"uint8", SET_U8, set_bytes},
                  {"fp8_e4m3", 1 << DT_f8e4m3fn, set_float8},
                  {"fp8_e5m2", 1 << DT_f8e5m2, set_float8},
                  {"fp4", SET_U8, set_float4},
                  {"fp6_e2m3", SET_U8, set_float6},
                  {"fp6_e3m2", SET_U8, set_float6}};
    const int codes = SET_I32 | SET_U8 | 1 << DT_i8 | 1 << DT_f8e4m3fn | 1 << DT_f8e5m2;
    if (!text_ends_with(t->tensor.name, ".weight") || t->tensor.dtype >= 31 ||
        !(codes >> t->tensor.dtype & 1))
        return NULL;
    QuantizedMatrix *m = quantized_matrix(q, t, ".weight", ".weight");
    Spec s = spec_of(q, m->module_in_file);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (strcmp(dtypes[i].dtype, s.dtype)) continue;
        if (!(dtypes[i].types >> t->tensor.dtype & 1))
            file_fatal(t->file,
                       "tensor \"%s\" is %s, but quantization_config says that it is of %s",
                       t->tensor.name, dtype_name(t->tensor.dtype), s.dtype);
        dtypes[i].set(q, m, &s);
        return m;
    }
    quantized_refuse(q, "dtype", *s.dtype ? s.dtype : "missing",
                     "int4, uint4, int8, uint8, fp8_e4m3, fp8_e5m2, fp6_e2m3, fp6_e3m2 or fp4");
}
