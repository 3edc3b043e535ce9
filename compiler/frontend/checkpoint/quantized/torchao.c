// torchao (0.14 on, in safetensors), W [outputs, inputs]. The file's __metadata__ has an object of
// JSON for each tensor NAME: _type, the Python class, and _data, its attributes. Its parts are
// MODULE._weight_PART, or (before 0.15) NAME:PART.
//   Float8Tensor              qdata f8, scale f32, one for a block of block_size
//   Int8Tensor                qdata i8, scale, zero_point i8, one for a block of block_size
//   IntxUnpackedToInt8Tensor  qdata i8 of target_dtype's range, scale, zero_point i8 or floats, one for a block of block_size
//   Int4Tensor                qdata i8 [outputs, inputs / 2], two signed codes in a byte, the first in the low nibble; scale and
//                             zero_point [groups, outputs]: W = code * scale + zero_point
//   Int4TilePackedTo4dTensor  qdata i32 [outputs / 8, inputs / 128, 32, 4], in the order of a GPU's threads; scale_and_zero
//                             [groups, outputs, 2]: W = (code - 8) * scale + zero; padded, W's own size is shape
//   MXTensor, NVFP4Tensor     qdata f8, or u8 of e2m1 (fp4.c), scale f8_e8m0 or f8_e4m3, per_tensor_scale; scales may be swizzled
// act_pre_scale [inputs] multiplies the inputs.
#include <math.h>
#include <string.h>

#include "frontend/checkpoint/quantized/quantized.h"
#include "util/text.h"

typedef struct {
    Quantization *q;
    QuantizedMatrix *m;
    const char *prefix;  // of its parts, after the module's name
    const char *type;
    const json_t *data;  // attributes
} Subclass;

typedef struct {
    const Tensor *scale, *zero;
    int64_t stride;  // of scales and zero points
} Line;

void torchao_check(const Quantization *q) {
    if (!json_is_string(json_object_get(q->checkpoint->metadata, "tensor_names")))
        diag_fatal(
            q->loc,
            "the weights are quantized (torchao), but the safetensors file does not say what its "
            "tensors are"
            "\nhint: save the model again with torchao 0.15 or later and safe_serialization=True");
}

static const StoredTensor *part(const Subclass *s, const char *name, int dtypes, bool needed) {
    return quantized_part(
        s->q, s->m, arena_printf(s->q->checkpoint->arena, "%s%s", s->prefix, name), dtypes, needed);
}

// [rows, columns] of block_size; a list of two, or nothing: one for all
static void block_of(const Subclass *s, int64_t block[2]) {
    const json_t *size = json_object_get(s->data, "block_size");
    block[0] = 1, block[1] = json_is_integer(size) ? json_integer_value(size) : 0;
    for (size_t i = 0; i < 2 && json_array_size(size) == 2; i++)
        block[i] = json_integer_value(json_array_get(size, i));
}

static const char *type_in(const Subclass *s, const char *key) {
    const json_t *v = json_object_get(s->data, key);
    const char *name = json_string_value(json_is_object(v) ? json_object_get(v, "_data") : v);
    return name ? name : "";
}

static _Noreturn void refuse(const Subclass *s, const char *what) {
    file_fatal(s->m->codes->file,
               "tensor \"%s\" is torchao's %s, %s, which burin does not read"
               "\nhint: take the model's float weights; burin quantizes with --quant",
               s->m->name, s->type, what);
}

// --------------------------------------------------------------------------------- codes of a byte
static void set_grid(const Subclass *s, const StoredTensor *scales) {
    int64_t block[2];
    block_of(s, block);
    quantized_scales(s->m, scales, block[0], block[1]);
}

static bool all_within(const Tensor *t, int low, int high) {
    const int8_t *codes = t->data;
    int64_t n = tensor_count(t);
    for (int64_t i = 0; i < n; i++)
        if (codes[i] < low || codes[i] > high) return false;
    return true;
}

static float fraction_at(const QuantizedMatrix *m, int64_t row, int64_t column) {
    const Grid *g = &m->scale;
    int64_t at = row / g->row_block * g->row_stride + column / m->group;
    return (float)dtype_load(m->zeros->tensor.dtype, m->zeros->tensor.data, at);
}

static void set_integers(const Subclass *s) {
    QuantizedMatrix *m = s->m;
    if (m->codes->tensor.dtype != DT_i8) refuse(s, "whose qdata is not of int8");
    quantized_bytes(s->q, m);
    quantized_column_factors(s->q, m,
                             arena_printf(s->q->checkpoint->arena, "%sact_pre_scale", s->prefix));
    set_grid(s, part(s, "scale", SET_FLOATS, true));
    const StoredTensor *zeros = part(s, "zero_point", SET_FLOATS | 1 << DT_i8, false);
    bool floats = zeros && zeros->tensor.dtype != DT_i8;
    if (all_within(&m->codes->tensor, -8, 7) &&
        (!zeros || floats || all_within(&zeros->tensor, -8, 7)))
        m->bits = 4;
    if (zeros && !floats && all_within(&zeros->tensor, 0, 0)) return;
    quantized_byte_zeros(m, zeros);
    if (!floats) return;
    m->zero = NULL, m->end = END_FRACTION, m->end_at = fraction_at;
}

static void set_float8(const Subclass *s) {
    DType t = s->m->codes->tensor.dtype;
    if (t != DT_f8e4m3fn && t != DT_f8e5m2) refuse(s, "whose qdata is not of float8");
    quantized_bytes(s->q, s->m);
    set_grid(s, part(s, "scale", SET_SCALES, true));
}

// ----------------------------------------------------------------------- code * scale + zero point
static int64_t place(const QuantizedMatrix *m, int64_t row, int64_t column) {
    const Line *l = m->details;
    return (column / m->group * l->scale->dim[1] + row) * l->stride;
}

static float line_scale(const QuantizedMatrix *m, int64_t row, int64_t column) {
    const Line *l = m->details;
    return (float)dtype_load(l->scale->dtype, l->scale->data, place(m, row, column));
}

static float line_end(const QuantizedMatrix *m, int64_t row, int64_t column) {
    const Line *l = m->details;
    return (float)dtype_load(l->zero->dtype, l->zero->data,
                             place(m, row, column) + (l->zero == l->scale));
}

// Scales [groups, outputs] or, with zero points beside them (`zeros` is NULL), [groups, outputs,
// 2], some of both for padding
static void set_line(const Subclass *s, const StoredTensor *scales, const StoredTensor *zeros) {
    QuantizedMatrix *m = s->m;
    int64_t block[2];
    block_of(s, block);
    if (block[0] != 1 || block[1] < 1) refuse(s, "whose groups are not along its inputs");
    m->group = block[1], m->groups = ceil_div(m->columns, m->group);
    quantized_column_factors(s->q, m,
                             arena_printf(s->q->checkpoint->arena, "%sact_pre_scale", s->prefix));
    Line *l = ARENA_NEW(s->q->checkpoint->arena, Line);
    *l = (Line){&scales->tensor, zeros ? &zeros->tensor : &scales->tensor, zeros ? 1 : 2};
    m->details = l;
    m->bits = 4;
    m->end = END_LINE, m->scale_at = line_scale, m->end_at = line_end;
}

static void read_nibbles(const QuantizedMatrix *m, CodedRows *rows) {
    const uint8_t *bytes = (const uint8_t *)m->codes->tensor.data + rows->first * m->columns / 2;
    for (int64_t i = 0; i < rows->n * m->columns; i++) {
        int code = bytes[i / 2] >> i % 2 * 4 & 15;
        rows->code[i] = (int16_t)(code < 8 ? code : code - 16);
    }
}

static void set_int4(const Subclass *s) {
    QuantizedMatrix *m = s->m;
    quantized_want_shape(m->codes, 2, (int64_t[]){-1, -1});
    quantized_set_size(m, m->codes, m->codes->tensor.dim[0], m->codes->tensor.dim[1] * 2);
    m->read = read_nibbles;
    const StoredTensor *scales = part(s, "scale", SET_FLOATS, true),
                       *zeros = part(s, "zero_point", SET_FLOATS, true);
    set_line(s, scales, zeros);
    quantized_want_shape(scales, 2, (int64_t[]){m->groups, m->rows});
    quantized_want_shape(zeros, 2, (int64_t[]){m->groups, m->rows});
}

// Where a warp's thread keeps it: of each two tiles of 16 inputs it has inputs 2 i, 2 i + 1, 2 i +
// 8, 2 i + 9 of both, i its number modulo 4, in nibbles 0, 4, 1, 5 and 2, 6, 3, 7
static void read_tiles(const QuantizedMatrix *m, CodedRows *rows) {
    static const int nibble[2][4] = {{0, 4, 1, 5}, {2, 6, 3, 7}};
    const Tensor *t = &m->codes->tensor;
    for (int64_t i = 0; i < rows->n * m->columns; i++) {
        int64_t row = rows->first + i / m->columns, k = i % m->columns, pair = k / 32, in = k % 16;
        int64_t thread = row % 8 * 4 + in % 8 / 2;
        int64_t word =
            ((row / 8 * t->dim[1] + pair / t->dim[3]) * 32 + thread) * t->dim[3] + pair % t->dim[3];
        int shift = 4 * nibble[k / 16 % 2][in / 8 * 2 + in % 2];
        rows->code[i] = (int16_t)((int)(((const uint32_t *)t->data)[word] >> shift & 15) - 8);
    }
}

static void set_tiles(const Subclass *s) {
    QuantizedMatrix *m = s->m;
    const Tensor *t = &m->codes->tensor;
    const json_t *shape = json_object_get(s->data, "shape");
    int64_t rows = json_integer_value(json_array_get(shape, 0)),
            columns = json_integer_value(json_array_get(shape, 1));
    if (t->dtype != DT_i32) refuse(s, "whose qdata is not of int32");
    quantized_want_shape(m->codes, 4, (int64_t[]){-1, -1, 32, -1});
    if (json_array_size(shape) == 2) quantized_set_size(m, m->codes, rows, columns);
    if (json_array_size(shape) != 2 || ceil_div(rows, 8) > t->dim[0] ||
        ceil_div(columns, 32) > t->dim[1] * t->dim[3])
        refuse(s, "whose shape is not that of its qdata");
    m->read = read_tiles;
    const StoredTensor *scales = part(s, "scale_and_zero", SET_FLOATS, true);
    quantized_want_shape(scales, 3, (int64_t[]){-1, -1, 2});
    set_line(s, scales, NULL);
    if (scales->tensor.dim[0] < m->groups || scales->tensor.dim[1] < rows)
        quantized_want_shape(scales, 3, (int64_t[]){m->groups, rows, 2});
}

// ------------------------------------------------------------------------------------ microscaling
// Scales in tiles of 128 x 4, in which rows r, r + 32, r + 64 and r + 96 are adjacent, as [rows,
// columns]
static const StoredTensor *straightened(const Subclass *s, const StoredTensor *t, int64_t rows,
                                        int64_t columns) {
    int64_t across = ceil_div(columns, 4), padded = ceil_div(rows, 128) * across * 512;
    if (json_is_false(json_object_get(s->data, "is_swizzled_scales")) ||
        !json_object_get(s->data, "is_swizzled_scales"))
        return t;
    if (tensor_count(&t->tensor) != padded)
        file_fatal(t->file,
                   "tensor \"%s\" has %lld scales in tiles, which are not those of %lld x %lld",
                   t->tensor.name, (long long)tensor_count(&t->tensor), (long long)rows,
                   (long long)columns);
    StoredTensor *straight = ARENA_NEW(s->q->checkpoint->arena, StoredTensor);
    uint8_t *out = arena_alloc(s->q->checkpoint->arena, (size_t)(rows * columns));
    for (int64_t i = 0; i < rows * columns; i++) {
        int64_t r = i / columns, c = i % columns;
        int64_t at = (r / 128 * across + c / 4) * 512 + r % 32 * 16 + r % 128 / 32 * 4 + c % 4;
        out[i] = ((const uint8_t *)t->tensor.data)[at];
    }
    *straight = *t;
    straight->tensor.data = out, straight->tensor.bytes = (uint64_t)(rows * columns);
    straight->tensor.rank = 2, straight->tensor.dim[0] = rows, straight->tensor.dim[1] = columns;
    return straight;
}

static void set_microscaling(const Subclass *s) {
    QuantizedMatrix *m = s->m;
    bool fp4 = m->codes->tensor.dtype == DT_u8, nvidia = !strcmp(s->type, "NVFP4Tensor");
    int64_t block[2];
    block_of(s, block);
    if (!fp4 && m->codes->tensor.dtype != DT_f8e4m3fn && m->codes->tensor.dtype != DT_f8e5m2)
        refuse(s, "whose qdata is not of float8 or of bytes");
    if (fp4 && !nvidia && strcmp(type_in(s, "elem_dtype"), "float4_e2m1fn_x2"))
        refuse(s, "whose elements are not e2m1");
    if (block[1] < 1) refuse(s, "without block_size");
    quantized_want_shape(m->codes, 2, (int64_t[]){-1, -1});
    int64_t rows = m->codes->tensor.dim[0], columns = m->codes->tensor.dim[1] * (fp4 ? 2 : 1);
    const StoredTensor *scales =
        part(s, "scale", nvidia ? 1 << DT_f8e4m3fn : 1 << DT_f8e8m0 | SET_U8, true);
    scales = straightened(s, quantized_exponents(s->q, scales), rows, ceil_div(columns, block[1]));
    if (!fp4) {
        quantized_bytes(s->q, m);
        quantized_scales(m, scales, 1, block[1]);
        return;
    }
    fp4_set(m, scales, block[1]);
    const char *whole = arena_printf(s->q->checkpoint->arena, "%sper_tensor_scale", s->prefix);
    fp4_whole_scale(s->q, m, whole, WHOLE_FACTOR_OR_NONE);
}

// ----------------------------------------------------------------------------------------- tensors
static void set_matrix(const Subclass *s) {
    static const struct {
        const char *type;
        void (*set)(const Subclass *);
    } types[] = {{"Float8Tensor", set_float8},
                 {"Int8Tensor", set_integers},
                 {"IntxUnpackedToInt8Tensor", set_integers},
                 {"Int4Tensor", set_int4},
                 {"MXTensor", set_microscaling},
                 {"NVFP4Tensor", set_microscaling},
                 {"Int4TilePackedTo4dTensor", set_tiles}};
    static const char *const of_activations[] = {"act_quant_scale", "act_quant_zero_point",
                                                 "act_per_tensor_scale"};
    size_t i = 0, n = sizeof types / sizeof *types;
    while (i < n && strcmp(types[i].type, s->type)) i++;
    if (i == n) refuse(s, "whose layout is its own");
    types[i].set(s);
    for (i = 0; i < 3; i++) part(s, of_activations[i], SET_ANY, false);
}

// The metadata of a tensor
static void describe(Subclass *s) {
    const Checkpoint *c = s->q->checkpoint;
    const char *name =
        arena_printf(c->arena, "%s%s", s->m->module_in_file, s->m->name + strlen(s->m->module));
    const char *text = json_string_value(json_object_get(c->metadata, name));
    if (!text)
        file_fatal(s->m->codes->file,
                   "the metadata do not say what \"%s\" is, of which \"%s\" is a part", name,
                   s->m->codes->tensor.name);
    const char *where =
        arena_printf(c->arena, "%s: %s", s->m->codes->file->source.name, s->m->name);
    const json_t *entry = quantized_object(s->q, where, text, strlen(text)),
                 *type = json_object_get(entry, "_type");
    s->type = json_is_string(type) ? json_string_value(type) : "tensor without a type";
    s->data = json_object_get(entry, "_data");
}

// NAME:_data is NAME.
static void rename_plain(const Quantization *q, StoredTensor *t, size_t length) {
    Checkpoint *c = q->checkpoint;
    map_put(&c->by_name, t->tensor.name, NULL);
    t->tensor.name = arena_strndup(c->arena, t->tensor.name, length);
    map_put(&c->by_name, t->tensor.name, t);
}

QuantizedMatrix *torchao_matrix(Quantization *q, StoredTensor *t) {
    Arena *arena = q->checkpoint->arena;
    const char *name = t->tensor.name, *colon = strrchr(name, ':');
    if (colon && !strcmp(colon, ":_data")) rename_plain(q, t, (size_t)(colon - name));
    if (!text_ends_with(name, ":qdata") && !text_ends_with(name, "_qdata")) return NULL;
    const char *dot = strrchr(name, '.');
    if (!dot || (!colon && dot[1] != '_')) return NULL;
    // ".weight:qdata" or "._weight_qdata": the name of the module's parameter, and its parts
    size_t length = strlen(dot) - strlen("qdata");
    const char *parameter = dot + (colon ? 1 : 2);
    const char *weight =
        arena_printf(arena, ".%.*s", (int)(dot + length - 1 - parameter), parameter);
    Subclass s = {.q = q,
                  .m = quantized_matrix(q, t, dot, weight),
                  .prefix = arena_strndup(arena, dot, length)};
    describe(&s);
    set_matrix(&s);
    return s.m;
}
