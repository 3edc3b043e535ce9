// pytorch_model.bin, as torch.save has written it since 2020: the tensors of a dict, without
// running its pickle. A tensor is a part of a storage: most are whole and in order, and stay in the
// mapped file; views are copied.
#include "frontend/checkpoint/pytorch.h"

#include <inttypes.h>
#include <string.h>

#include "ir/convert.h"

static const struct {
    const char *name;
    DType dtype;
} storages[] = {{"torch.FloatStorage", DT_f32},     {"torch.HalfStorage", DT_f16},
                {"torch.BFloat16Storage", DT_bf16}, {"torch.DoubleStorage", DT_f64},
                {"torch.LongStorage", DT_i64},      {"torch.IntStorage", DT_i32},
                {"torch.ShortStorage", DT_i16},     {"torch.CharStorage", DT_i8},
                {"torch.ByteStorage", DT_u8},       {"torch.BoolStorage", DT_bool}};

typedef struct Reading {
    Checkpoint *checkpoint;
    const Zip *zip;
    uint64_t copied;  // bytes of views; together they are no more than the file
} Reading;

static DType dtype_of(const Reading *r, const char *tensor, const PickleValue *storage) {
    const char *name = storage->items[0]->text;
    for (size_t i = 0; i < sizeof storages / sizeof *storages; i++)
        if (!strcmp(storages[i].name, name)) return storages[i].dtype;
    file_fatal(
        r->zip->file,
        "tensor \"%s\" has a %s, which burin does not read\nhint: take the model's .safetensors",
        tensor, name);
}

static int64_t natural(const Reading *r, const char *tensor, const PickleValue *v) {
    if (v->kind != PICKLE_INT || v->number < 0)
        file_fatal(
            r->zip->file,
            "tensor \"%s\": its sizes, strides and offset must be whole numbers, not negative",
            tensor);
    return v->number;
}

// Elements from the tensor's first to its last; *in_order: row by row without a gap. -1: more than
// 2^62.
static int64_t extent_of(const Tensor *t, const int64_t *stride, bool *in_order) {
    int64_t extent = 1, next = 1;
    *in_order = true;
    for (int i = t->rank - 1; i >= 0; i--) {
        int64_t reach;
        if (t->dim[i] > 1) *in_order &= stride[i] == next;
        if (__builtin_mul_overflow(t->dim[i] - 1, stride[i], &reach) ||
            __builtin_add_overflow(extent, reach, &extent))
            return -1;
        next *= t->dim[i];
    }
    return extent;
}

static void copy_view(const Tensor *t, const int64_t *stride, const unsigned char *from,
                      unsigned char *to, uint64_t size) {
    int64_t index[MAX_RANK] = {0}, n = tensor_count(t), place = 0;
    for (int64_t k = 0; k < n; k++) {
        memcpy(to + (uint64_t)k * size, from + (uint64_t)place * size, size);
        for (int i = t->rank - 1; i >= 0; i--) {
            place += stride[i];
            if (++index[i] < t->dim[i]) break;
            place -= index[i] * stride[i], index[i] = 0;
        }
    }
}

static const void *data_of(Reading *r, const Tensor *t, const PickleValue *value) {
    const PickleValue *storage = value->items[0];
    const char *key = arena_printf(r->checkpoint->arena, "data/%s", storage->text);
    const ZipEntry *e = zip_find(r->zip, key);
    int64_t stride[MAX_RANK], offset = natural(r, t->name, value->items[1]);
    uint64_t size = (uint64_t)dtype_bits(t->dtype) / 8;
    bool in_order;
    for (int i = 0; i < t->rank; i++) stride[i] = natural(r, t->name, value->items[3]->items[i]);
    int64_t extent = extent_of(t, stride, &in_order);
    if (!e)
        file_fatal(r->zip->file, "the numbers of tensor \"%s\" are missing: there is no entry %s",
                   t->name, key);
    if (extent < 0 || (uint64_t)offset > e->size / size ||
        (uint64_t)extent > e->size / size - (uint64_t)offset)
        file_fatal(r->zip->file,
                   "tensor \"%s\" ends beyond its storage %s\nhint: download it again", t->name,
                   key);
    const unsigned char *from = e->data + (uint64_t)offset * size;
    if (in_order) return from;
    if (t->bytes > r->zip->file->size - r->copied)
        file_fatal(r->zip->file,
                   "its tensors repeat elements of their storages and are larger than the "
                   "file\nhint: take the model's .safetensors");
    r->copied += t->bytes;
    unsigned char *copy = arena_alloc(r->checkpoint->arena, t->bytes);
    copy_view(t, stride, from, copy, size);
    return copy;
}

static bool is_empty(const PickleValue *sizes) {
    for (int i = 0; i < sizes->n_items; i++)
        if (sizes->items[i]->kind == PICKLE_INT && !sizes->items[i]->number) return true;
    return false;
}

static void read_tensor(Reading *r, const char *name, const PickleValue *value) {
    const PickleValue *sizes = value->items[2];
    Tensor t = {.name = arena_strdup(r->checkpoint->arena, name),
                .dtype = dtype_of(r, name, value->items[0])};
    uint64_t dims[MAX_RANK];
    if (sizes->n_items > MAX_RANK || sizes->n_items != value->items[3]->n_items)
        file_fatal(r->zip->file,
                   "tensor \"%s\" has %d dimensions, at most %d are read, each with a stride", name,
                   sizes->n_items, MAX_RANK);
    if (is_empty(sizes)) return;
    for (int i = 0; i < sizes->n_items; i++) dims[i] = (uint64_t)natural(r, name, sizes->items[i]);
    tensor_set_shape(r->zip->file, &t, sizes->n_items, dims);
    t.data = data_of(r, &t, value);
    checkpoint_add(r->checkpoint, r->zip->file, &t);
}

// The dict of tensors: the whole, or what a trainer has beside other things.
static const PickleValue *dict_of(const PickleValue *whole) {
    static const char *const inner[] = {"state_dict", "model"};
    for (int i = 0; i + 1 < whole->n_items; i += 2)
        for (size_t k = 0; k < sizeof inner / sizeof *inner; k++)
            if (whole->items[i]->kind == PICKLE_TEXT && !strcmp(whole->items[i]->text, inner[k]) &&
                whole->items[i + 1]->kind == PICKLE_DICT)
                return whole->items[i + 1];
    return whole;
}

static void check_order(const Zip *z) {
    const ZipEntry *order = zip_find(z, "byteorder");
    if (order && (order->size != 6 || memcmp(order->data, "little", 6)))
        file_fatal(z->file,
                   "its numbers are big-endian, which burin does not read\nhint: take the model's "
                   ".safetensors");
}

void pytorch_read(Checkpoint *c, const MappedFile *file) {
    Reading r = {c, zip_open(c->arena, file), 0};
    const ZipEntry *pickle = zip_find(r.zip, "data.pkl");
    if (!pickle)
        file_fatal(file,
                   "this ZIP archive is no checkpoint of PyTorch: it has no data.pkl\nhint: give a "
                   "Hugging Face folder");
    check_order(r.zip);
    const PickleValue *dict = pickle_read(c->arena, file, pickle->data, pickle->size);
    if (dict->kind != PICKLE_DICT)
        file_fatal(file, "it holds no dict of tensors\nhint: take the model's .safetensors");
    dict = dict_of(dict);
    for (int i = 0; i + 1 < dict->n_items; i += 2) {
        const PickleValue *key = dict->items[i], *value = dict->items[i + 1];
        if (key->kind != PICKLE_TEXT) file_fatal(file, "an item of its dict has no name");
        if (value->kind != PICKLE_TENSOR)
            file_fatal(file,
                       "\"%s\" is no tensor\nhint: a checkpoint of a training? save the model's "
                       "state_dict() alone",
                       key->text);
        read_tensor(&r, key->text, value);
    }
}
