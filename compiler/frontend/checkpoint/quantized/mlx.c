// Apple's MLX, W [outputs, inputs]: weight u32 [outputs, inputs bits / 32], a stream of bits, low
// first. The configuration has mode, group_size and bits, for all modules and by module name; byte
// scales determine the mode.
//   affine   scales and biases [outputs, groups]: W = code * scale + bias
//   mxfp4    e2m1; scales u8 [outputs, inputs / 32], 2^(byte - 127)
//   mxfp8    f8_e4m3; scales as in mxfp4
//   nvfp4    e2m1; scales u8 [outputs, inputs / 16], f8_e4m3, times global_scale / 2688 if present
// Experts have been taken apart (checkpoint_split_experts); the configuration uses their stacked
// names.
#include <string.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

// The name of stacked experts: "mlp.switch_mlp.up_proj" for "mlp.experts.3.up_proj"
static const json_t *settings_of_stack(const Quantization *q, const char *module) {
    static const char *const stacks[] = {"switch_mlp", "experts"};
    const char *at = strstr(module, ".experts."),
               *rest = at ? strchr(at + strlen(".experts."), '.') : NULL;
    const json_t *own = NULL;
    for (size_t i = 0; rest && !own && i < sizeof stacks / sizeof *stacks; i++)
        own = json_object_get(q->config, arena_printf(q->checkpoint->arena, "%.*s.%s%s",
                                                      (int)(at - module), module, stacks[i], rest));
    return own;
}

// Of one module alone, or of all
static Quantization settings_of(const Quantization *q, const char *module) {
    Quantization within = *q;
    const json_t *own = json_object_get(q->config, module);
    if (!own) own = settings_of_stack(q, module);
    if (json_is_object(own)) within.config = own;
    return within;
}

static void check_mode(const Quantization *q) {
    static const char *const modes[] = {"affine", "mxfp4", "mxfp8", "nvfp4"};
    const char *mode = quantized_string(q, "mode", "affine");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(modes[i], mode)) return;
    quantized_refuse(q, "mode", mode, "affine, mxfp4, mxfp8 or nvfp4");
}

void mlx_check(const Quantization *q) {
    const json_t *own;
    const char *name;
    check_mode(q);
    json_object_foreach((json_t *)q->config, name, own) {
        Quantization within = *q;
        within.config = own;
        if (json_is_object(own)) check_mode(&within);
    }
}

static void read_codes(const QuantizedMatrix *m, CodedRows *rows) {
    const Tensor *t = &m->codes->tensor;
    const uint32_t *words = (const uint32_t *)t->data + rows->first * t->dim[1];
    for (int r = 0; r < rows->n; r++, words += t->dim[1])
        for (int64_t k = 0; k < m->columns; k++)
            rows->code[r * m->columns + k] = (int16_t)packed_field(words, 1, k, m->bits);
}

static void set_affine(Quantization *q, QuantizedMatrix *m, const StoredTensor *scales) {
    const Quantization own = settings_of(q, m->module_in_file);
    int64_t bits = quantized_int(&own, "bits", quantized_int(q, "bits", 0));
    int64_t group = quantized_int(&own, "group_size", quantized_int(q, "group_size", 0));
    if (bits < 1 || bits > 8)
        quantized_refuse(q, "bits", arena_printf(q->checkpoint->arena, "%lld", (long long)bits),
                         "1 to 8");
    if (group < 1)
        quantized_refuse(q, "group_size",
                         arena_printf(q->checkpoint->arena, "%lld", (long long)group),
                         "32, 64 or 128");
    quantized_set_size(m, m->codes, m->codes->tensor.dim[0], m->codes->tensor.dim[1] * 32 / bits);
    m->bits = (int)bits, m->group = group, m->groups = ceil_div(m->columns, group);
    const StoredTensor *biases = quantized_part(q, m, ".biases", SET_FLOATS, true);
    quantized_want_shape(scales, 2, (int64_t[]){m->rows, m->groups});
    quantized_want_shape(biases, 2, (int64_t[]){m->rows, m->groups});
    quantized_line(q, m, scales, biases, false);
    m->read = read_codes;
}

// The same bytes as elements of another type
static const StoredTensor *seen_as(const Quantization *q, const StoredTensor *t, DType type) {
    StoredTensor *seen = ARENA_NEW(q->checkpoint->arena, StoredTensor);
    *seen = *t;
    seen->tensor.dtype = type;
    seen->tensor.dim[t->tensor.rank - 1] *= dtype_bits(t->tensor.dtype) / dtype_bits(type);
    return seen;
}

// Of each scale nvfp4 has 2 words, mxfp4 4, mxfp8 8.
static void set_floats(Quantization *q, QuantizedMatrix *m, const StoredTensor *scales) {
    int64_t words = m->codes->tensor.dim[1],
            groups = scales->tensor.rank == 2 ? scales->tensor.dim[1] : words / 4;
    bool eight = words == groups * 8, nvidia = words == groups * 2;
    if (!eight && !nvidia)
        quantized_want_shape(scales, 2, (int64_t[]){m->codes->tensor.dim[0], ceil_div(words, 4)});
    m->codes = seen_as(q, m->codes, eight ? DT_f8e4m3fn : DT_u8);
    scales = seen_as(q, scales, nvidia ? DT_f8e4m3fn : DT_f8e8m0);
    if (eight) {
        quantized_bytes(q, m);
        quantized_want_shape(scales, 2, (int64_t[]){m->rows, groups});
        quantized_scales(m, scales, 1, 32);
        return;
    }
    fp4_set(m, scales, nvidia ? 16 : 32);
    if (nvidia) fp4_whole_scale(q, m, ".global_scale", WHOLE_MOST);
}

QuantizedMatrix *mlx_matrix(Quantization *q, StoredTensor *t) {
    if (!text_ends_with(t->tensor.name, ".weight") || t->tensor.dtype != DT_u32) return NULL;
    QuantizedMatrix *m = quantized_matrix(q, t, ".weight", ".weight");
    quantized_want_shape(m->codes, 2, (int64_t[]){-1, -1});
    const StoredTensor *scales = quantized_part(q, m, ".scales", SET_FLOATS | SET_U8, true);
    (scales->tensor.dtype == DT_u8 ? set_floats : set_affine)(q, m, scales);
    return m;
}
