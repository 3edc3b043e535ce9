// Tensors of the ONNX backend tests: one serialized TensorProto a file, and the suite's comparison
// of two tensors.
#ifndef CASE_VALUES_H
#define CASE_VALUES_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case_file.h"
#include "frontend/onnx/file/model.h"
#include "ir/convert.h"

// The file's bytes, NULL when there is none.
static inline unsigned char *read_case_file(Arena *arena, const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    unsigned char *bytes = arena_alloc(arena, *size + 1);
    if (fread(bytes, 1, *size, f) != *size) diag_fatal(NO_LOC, "cannot read %s", path);
    fclose(f);
    return bytes;
}

static inline const Tensor *case_tensor(Arena *arena, const char *path, BurinOnnx__TensorData *p) {
    if (!p || !p->data_type) diag_fatal(NO_LOC, "%s is not a tensor", path);
    MappedFile *file = ARENA_NEW(arena, MappedFile);
    *file =
        (MappedFile){.source = {.name = path}, .data = p->raw_data.data, .size = p->raw_data.len};
    if (p->has_raw_data) {
        WirePlace place = {0, p->raw_data.len};
        p->raw_data.data = arena_alloc(arena, sizeof place);
        p->raw_data.len = sizeof place;
        memcpy(p->raw_data.data, &place, sizeof place);
    }
    OnnxModel *m = ARENA_NEW(arena, OnnxModel);
    *m = (OnnxModel){.arena = arena, .file = file};
    return onnx_tensor(m, p);
}

static inline const Tensor *read_case_tensor(Arena *arena, const char *path) {
    size_t size = 0;
    unsigned char *bytes = read_case_file(arena, path, &size);
    ProtobufCAllocator allocator = wire_allocator(arena);
    return case_tensor(arena, path, burin_onnx__tensor_data__unpack(&allocator, size, bytes));
}

// The tensors of a value of that type: one, those of a sequence, one or none for an optional value.
// Returns their number.
static inline int read_case_value(Arena *arena, const char *path, const BurinOnnx__ValueType *type,
                                  const Tensor **list, int most) {
    size_t size = 0;
    const BurinOnnx__SequenceData *sequence = NULL;
    unsigned char *bytes = read_case_file(arena, path, &size);
    ProtobufCAllocator allocator = wire_allocator(arena);
    if (type && type->sequence_type) {
        sequence = burin_onnx__sequence_data__unpack(&allocator, size, bytes);
    } else if (type && type->optional_type) {
        const BurinOnnx__OptionalData *optional =
            burin_onnx__optional_data__unpack(&allocator, size, bytes);
        if (!optional) diag_fatal(NO_LOC, "%s is not an optional value", path);
        sequence = optional->sequence_value;
        if (optional->tensor_value) {
            list[0] = case_tensor(arena, path, optional->tensor_value);
            return 1;
        }
        if (!sequence) return 0;
    } else {
        list[0] = read_case_tensor(arena, path);
        return 1;
    }
    if (!sequence) diag_fatal(NO_LOC, "%s is not a sequence", path);
    int n = 0;
    for (; n < most && n < (int)sequence->n_tensor_values; n++)
        list[n] = case_tensor(arena, path, sequence->tensor_values[n]);
    return n;
}

static inline void shape_text(char *out, size_t size, const Tensor *t) {
    int at = snprintf(out, size, "%s[", dtype_name(t->dtype));
    for (int i = 0; i < t->rank; i++)
        at += snprintf(out + at, size - (size_t)at, "%s%lld", i ? ", " : "", (long long)t->dim[i]);
    snprintf(out + at, size - (size_t)at, "]");
}

// The difference (types, shapes and strings exactly), or NULL.
static inline const char *tensor_difference(Arena *arena, const Tensor *got,
                                            const Tensor *expected) {
    char a[128], b[128];
    shape_text(a, sizeof a, got);
    shape_text(b, sizeof b, expected);
    if (strcmp(a, b)) return arena_printf(arena, "result is %s, not %s", a, b);
    for (int64_t i = 0, n = tensor_count(expected); i < n; i++) {
        if (expected->dtype == DT_string) {
            const char *const *x = got->data, *const *y = expected->data;
            if (strcmp(x[i], y[i]))
                return arena_printf(arena, "wrong string at %lld", (long long)i);
        } else {
            double x = dtype_load(got->dtype, got->data, i),
                   y = dtype_load(expected->dtype, expected->data, i);
            if (!is_close(x, y))
                return arena_printf(arena, "wrong value: %g, not %g, at %lld", x, y, (long long)i);
        }
    }
    return NULL;
}
#endif
