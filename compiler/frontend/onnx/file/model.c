// Opening ONNX files: versions, element types, tensors.
#include "frontend/onnx/file/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/files.h"

enum { OLDEST_IR = 3, NEWEST_IR = 14, LOCATION_EXTERNAL = 1 };

static const struct {
    int32_t number;
    DType dtype;
} DATA_TYPES[] = {
    {1, DT_f32},         {2, DT_u8},      {3, DT_i8},          {4, DT_u16},   {5, DT_i16},
    {6, DT_i32},         {7, DT_i64},     {8, DT_string},      {9, DT_bool},  {10, DT_f16},
    {11, DT_f64},        {12, DT_u32},    {13, DT_u64},        {16, DT_bf16}, {17, DT_f8e4m3fn},
    {18, DT_f8e4m3fnuz}, {19, DT_f8e5m2}, {20, DT_f8e5m2fnuz}, {21, DT_u4},   {22, DT_i4},
    {23, DT_f4e2m1},     {24, DT_f8e8m0}, {25, DT_u2},         {26, DT_i2},
};

bool onnx_dtype(int32_t data_type, DType *dtype) {
    for (size_t i = 0; i < sizeof DATA_TYPES / sizeof *DATA_TYPES; i++)
        if (DATA_TYPES[i].number == data_type) return *dtype = DATA_TYPES[i].dtype, true;
    return false;
}

OnnxModel *onnx_open(Arena *arena, const char *path) {
    OnnxModel *m = ARENA_NEW(arena, OnnxModel);
    m->arena = arena;
    m->file = map_file(arena, path);
    m->folder = path_folder(arena, path);
    m->proto = wire_unpack(arena, m->file);
    map_init(&m->external, arena);
    int64_t version = m->proto->ir_version;
    if (!m->proto->has_ir_version)
        file_fatal(m->file,
                   "the model has no ir_version\nhint: is this an ONNX model? Export it again with "
                   "a current exporter");
    if (version < OLDEST_IR || version > NEWEST_IR)
        file_fatal(m->file,
                   "ir_version %lld is not supported (%d to %d are)\nhint: is this an ONNX model? "
                   "Export it again with a"
                   " current exporter",
                   (long long)version, OLDEST_IR, NEWEST_IR);
    if (!m->proto->graph)
        file_fatal(m->file, "the model has no graph\nhint: fetch or export it again");
    return m;
}

const char *onnx_domain(const char *written) {
    return !written || !strcmp(written, "ai.onnx") ? "" : written;
}

int64_t onnx_opset(const OnnxModel *m, const char *domain) {
    for (size_t i = 0; i < m->proto->n_opset_import; i++) {
        const BurinOnnx__OperatorSet *o = m->proto->opset_import[i];
        if (!strcmp(onnx_domain(o->domain), onnx_domain(domain))) return o->version;
    }
    return 0;
}

static const char *tensor_name(const BurinOnnx__TensorData *p) {
    return p->name && *p->name ? p->name : "(constant)";
}

// ----------------------------------------------------------------------------------- external data
const char *onnx_external_value(const BurinOnnx__TensorData *p, const char *key) {
    for (size_t i = 0; i < p->n_external_data; i++)
        if (p->external_data[i]->key && !strcmp(p->external_data[i]->key, key))
            return p->external_data[i]->value;
    return NULL;
}

static uint64_t external_number(const OnnxModel *m, const BurinOnnx__TensorData *p, const char *key,
                                uint64_t absent) {
    const char *text = onnx_external_value(p, key);
    if (!text) return absent;
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (!*text || *end || *text == '-')
        file_fatal(m->file,
                   "tensor %s: external data has %s \"%s\"\nhint: expected a number of bytes",
                   tensor_name(p), key, text);
    return value;
}

// No part of the path leads above where it begins: a/../b does not.
bool onnx_path_stays_inside(const char *path) {
    if (!*path || *path == '/') return false;
    int depth = 0;
    for (const char *part = path; *part; part += strspn(part, "/")) {
        size_t n = strcspn(part, "/");
        if (n == 2 && !strncmp(part, "..", n))
            depth--;
        else if (n != 1 || *part != '.')
            depth++;
        if (depth < 0) return false;
        part += n;
    }
    return true;
}

// Links must not lead out of the model's folder after links to it are resolved (a cache of
// downloads consists of links).
static bool link_stays_inside(const OnnxModel *m, const char *path) {
    char *target = realpath(path, NULL), *folder = realpath(m->folder, NULL),
         *model = realpath(m->file->source.name, NULL);
    bool inside = !target;
    if (model) *strrchr(model, '/') = 0;
    const char *allowed[2] = {folder, model};
    for (int i = 0; i < 2 && target && !inside; i++) {
        size_t n = allowed[i] ? strlen(allowed[i]) : 0;
        inside = allowed[i] && !strncmp(target, allowed[i], n) && target[n] == '/';
    }
    free(target), free(folder), free(model);
    return inside;
}

static const MappedFile *external_file(OnnxModel *m, const BurinOnnx__TensorData *p) {
    const char *location = onnx_external_value(p, "location");
    if (!location)
        file_fatal(m->file,
                   "tensor %s: its external data has no location\nhint: the file is damaged",
                   tensor_name(p));
    const char *path = arena_printf(m->arena, "%s/%s", m->folder, location);
    if (!onnx_path_stays_inside(location) || !link_stays_inside(m, path))
        file_fatal(m->file,
                   "tensor %s: external data \"%s\" is outside the model's folder\nhint: only "
                   "files beside the model are read",
                   tensor_name(p), location);
    MappedFile *file = map_get(&m->external, location);
    if (file) return file;
    uint64_t size;
    int fd = open_regular(path, &size);
    if (fd < 0 && (errno == EISDIR || errno == ENODEV || errno == ENXIO))
        file_fatal(m->file,
                   "tensor %s: its external data %s is not a regular file\nhint: fetch the file "
                   "that the model names",
                   tensor_name(p), location);
    if (fd < 0)
        file_fatal(
            m->file,
            "tensor %s: its external data %s cannot be read\nhint: fetch it beside the model",
            tensor_name(p), location);
    close(fd);
    file = (MappedFile *)map_file(m->arena, path);
    map_put(&m->external, location, file);
    return file;
}

static void set_external(OnnxModel *m, const BurinOnnx__TensorData *p, Tensor *t) {
    const MappedFile *file = external_file(m, p);
    uint64_t offset = external_number(m, p, "offset", 0),
             left = offset <= file->size ? file->size - offset : 0;
    uint64_t length = external_number(m, p, "length", t->bytes < left ? t->bytes : left);
    if (offset > file->size || length > left)
        file_fatal(m->file,
                   "tensor %s: its external data is bytes %llu to %llu of %s, which has "
                   "%llu\nhint: the file is cut off, or"
                   " belongs to another model",
                   tensor_name(p), (unsigned long long)offset,
                   (unsigned long long)(offset + length), file->source.name,
                   (unsigned long long)file->size);
    if (length != t->bytes)
        file_fatal(m->file,
                   "tensor %s: %llu bytes of external data, its shape needs %llu\nhint: the file "
                   "belongs to another model",
                   tensor_name(p), (unsigned long long)length, (unsigned long long)t->bytes);
    t->data = file->data + offset;
    t->source = &file->source;
}

// ------------------------------------------------------------------------------------ typed fields
// One typed field's values, narrowed to the element type.
typedef struct TypedField {
    size_t n;
    const void *values;
    size_t width;  // bytes of a value as unpacked
} TypedField;

static TypedField typed_field(const BurinOnnx__TensorData *p, DType dtype) {
    switch (dtype) {
        case DT_f32:
            return (TypedField){p->n_float_data, p->float_data, 4};
        case DT_f64:
            return (TypedField){p->n_double_data, p->double_data, 8};
        case DT_i64:
            return (TypedField){p->n_int64_data, p->int64_data, 8};
        case DT_u32:
        case DT_u64:
            return (TypedField){p->n_uint64_data, p->uint64_data, 8};
        default:
            return (TypedField){p->n_int32_data, p->int32_data, 4};
    }
}

// Little-endian: the low bytes of each value. Four-bit elements are packed in pairs as they are in
// memory.
static void set_typed(OnnxModel *m, const BurinOnnx__TensorData *p, Tensor *t, uint64_t count) {
    TypedField field = typed_field(p, t->dtype);
    size_t width = (size_t)(dtype_bits(t->dtype) < 8 ? 8 : dtype_bits(t->dtype)) / 8;
    uint64_t expected = dtype_bits(t->dtype) < 8 ? t->bytes : count;
    if (field.n != expected)
        file_fatal(m->file,
                   "tensor %s: %zu values, its shape needs %llu\nhint: the file is damaged",
                   tensor_name(p), field.n, (unsigned long long)expected);
    if (width == field.width) {
        t->data = field.values;
        return;
    }
    unsigned char *data = arena_alloc(m->arena, t->bytes ? t->bytes : 1);
    for (size_t i = 0; i < field.n; i++)
        memcpy(data + i * width, (const unsigned char *)field.values + i * field.width, width);
    t->data = data;
}

static void set_strings(OnnxModel *m, const BurinOnnx__TensorData *p, Tensor *t, uint64_t count) {
    if (p->n_string_data != count)
        file_fatal(m->file,
                   "tensor %s: %zu strings, its shape needs %llu\nhint: the file is damaged",
                   tensor_name(p), p->n_string_data, (unsigned long long)count);
    const char **strings = ARENA_ARRAY(m->arena, const char *, count);
    for (size_t i = 0; i < p->n_string_data; i++)
        strings[i] =
            arena_strndup(m->arena, (const char *)p->string_data[i].data, p->string_data[i].len);
    t->data = strings;
}

static void set_raw(const OnnxModel *m, const BurinOnnx__TensorData *p, Tensor *t) {
    WirePlace place;
    memcpy(&place, p->raw_data.data, sizeof place);
    if (place.length != t->bytes)
        file_fatal(m->file,
                   "tensor %s: %llu bytes of data, its shape needs %llu\nhint: the file is "
                   "damaged, or its exporter is wrong",
                   tensor_name(p), (unsigned long long)place.length, (unsigned long long)t->bytes);
    t->data = m->file->data + place.offset;
    t->source = &m->file->source;
}

// Dimensions and bytes; returns the number of elements.
static uint64_t set_shape(const OnnxModel *m, const BurinOnnx__TensorData *p, Tensor *t) {
    uint64_t count = 1, bits;
    if (p->n_dims > MAX_RANK)
        file_fatal(
            m->file,
            "tensor %s has %zu dimensions, at most %d are supported\nhint: the file is damaged",
            tensor_name(p), p->n_dims, MAX_RANK);
    t->rank = (int)p->n_dims;
    for (int i = 0; i < t->rank; i++) {
        t->dim[i] = p->dims[i];
        if (t->dim[i] < 0 || __builtin_mul_overflow(count, (uint64_t)t->dim[i], &count))
            file_fatal(m->file, "tensor %s: dimension %d is %lld\nhint: the file is damaged",
                       tensor_name(p), i, (long long)t->dim[i]);
    }
    if (__builtin_mul_overflow(count, (uint64_t)dtype_bits(t->dtype), &bits) ||
        bits > UINT64_MAX - 7)
        file_fatal(m->file, "tensor %s: its shape has too many elements\nhint: the file is damaged",
                   tensor_name(p));
    t->bytes = (bits + 7) / 8;
    return count;
}

const Tensor *onnx_tensor(OnnxModel *m, const BurinOnnx__TensorData *p) {
    Tensor *t = ARENA_NEW(m->arena, Tensor);
    t->name = p->name;
    if (!onnx_dtype(p->data_type, &t->dtype))
        file_fatal(m->file,
                   "tensor %s: element type %d is not supported\nhint: complex numbers and unknown "
                   "types are not read",
                   tensor_name(p), p->data_type);
    if (p->segment)
        file_fatal(m->file,
                   "tensor %s is stored in segments, which no exporter writes any more\nhint: "
                   "export the model again",
                   tensor_name(p));
    uint64_t count = set_shape(m, p, t);
    if (t->dtype == DT_string && (p->data_location == LOCATION_EXTERNAL || p->has_raw_data))
        file_fatal(m->file,
                   "tensor %s: strings stand in string_data, not in raw or external data\nhint: "
                   "the file is damaged",
                   tensor_name(p));
    if (p->data_location == LOCATION_EXTERNAL)
        set_external(m, p, t);
    else if (t->dtype == DT_string)
        set_strings(m, p, t, count);
    else if (p->has_raw_data)
        set_raw(m, p, t);
    else
        set_typed(m, p, t, count);
    return t;
}

// ------------------------------------------------------------------------------------------ sparse
// Where value i goes: a linear index, or one index an axis. Checked against the shape.
static uint64_t sparse_place(const OnnxModel *m, const Tensor *indices, const Tensor *dense,
                             int64_t i, int64_t count) {
    int axes = indices->rank == 2 ? dense->rank : 1;
    uint64_t place = 0;
    for (int axis = 0; axis < axes; axis++) {
        int64_t index, extent = indices->rank == 2 ? dense->dim[axis] : count;
        memcpy(&index, (const char *)indices->data + 8 * (i * axes + axis), sizeof index);
        if (index < 0 || index >= extent)
            file_fatal(m->file, "sparse tensor %s: index %lld of %lld\nhint: the file is damaged",
                       dense->name ? dense->name : "(constant)", (long long)index,
                       (long long)extent);
        place = place * (uint64_t)extent + (uint64_t)index;
    }
    return place;
}

const Tensor *onnx_dense(OnnxModel *m, const BurinOnnx__SparseTensorData *p) {
    enum { MOST_BYTES = 1 << 30 };
    if (!p->values || !p->indices)
        file_fatal(m->file, "a sparse tensor lacks values or indices\nhint: the file is damaged");
    const Tensor *values = onnx_tensor(m, p->values), *indices = onnx_tensor(m, p->indices);
    Tensor *t = ARENA_NEW(m->arena, Tensor);
    BurinOnnx__TensorData shape = *p->values;
    shape.n_dims = p->n_dims, shape.dims = p->dims;
    *t = (Tensor){.dtype = values->dtype, .name = p->values->name};
    int64_t count = (int64_t)set_shape(m, &shape, t), n = tensor_count(values);
    bool fits = indices->dtype == DT_i64 && values->rank == 1 && indices->rank >= 1 &&
                indices->rank <= 2 && indices->dim[0] == n &&
                (indices->rank == 1 || indices->dim[1] == t->rank);
    if (!fits || dtype_bits(t->dtype) < 8 || t->dtype == DT_string)
        file_fatal(m->file,
                   "sparse tensor %s: expected values [n] and indices i64 [n] or [n, rank]\nhint: "
                   "the file is damaged",
                   tensor_name(p->values));
    if (t->bytes > MOST_BYTES)
        file_fatal(m->file,
                   "sparse tensor %s: more than 1 GB when written out\nhint: the file is damaged",
                   tensor_name(p->values));
    size_t width = (size_t)dtype_bits(t->dtype) / 8;
    char *data = arena_alloc(m->arena, t->bytes + 1);
    for (int64_t i = 0; i < n; i++)
        memcpy(data + sparse_place(m, indices, t, i, count) * width,
               (const char *)values->data + (size_t)i * width, width);
    t->data = data;
    return t;
}
