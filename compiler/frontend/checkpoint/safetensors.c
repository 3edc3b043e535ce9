// safetensors: 8 bytes of header length, a JSON header {"name": {"dtype", "shape", "data_offsets":
// [begin, end]}}, the data. Every byte of the data belongs to exactly one tensor, so a file whose
// size differs from the header's sum is damaged.
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "frontend/checkpoint/reader.h"

enum { MAX_HEADER = 100 << 20 };  // the format's own limit

static const struct {
    const char *name;
    DType dtype;
} dtypes[] = {
    {"F64", DT_f64},   {"F32", DT_f32},          {"F16", DT_f16},        {"BF16", DT_bf16},
    {"I64", DT_i64},   {"I32", DT_i32},          {"I16", DT_i16},        {"I8", DT_i8},
    {"U64", DT_u64},   {"U32", DT_u32},          {"U16", DT_u16},        {"U8", DT_u8},
    {"BOOL", DT_bool}, {"F8_E4M3", DT_f8e4m3fn}, {"F8_E5M2", DT_f8e5m2}, {"F8_E8M0", DT_f8e8m0}};

typedef struct {
    Checkpoint *checkpoint;
    const MappedFile *file;
    const unsigned char *data;
    uint64_t bytes, covered;  // of the data; claimed by tensors so far
} Reading;

static DType dtype_of(const Reading *r, const char *tensor, const json_t *entry) {
    const char *name = json_string_value(json_object_get(entry, "dtype"));
    if (!name) file_fatal(r->file, "tensor \"%s\" has no dtype", tensor);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (!strcmp(dtypes[i].name, name)) return dtypes[i].dtype;
    file_fatal(r->file,
               "tensor \"%s\" has dtype \"%s\", which burin does not read\nhint: F32, F16 or BF16 "
               "are usual",
               tensor, name);
}

static uint64_t natural(const Reading *r, const char *tensor, const char *what,
                        const json_t *value) {
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        file_fatal(r->file, "tensor \"%s\": %s must hold whole numbers, not negative", tensor,
                   what);
    return (uint64_t)json_integer_value(value);
}

static void read_shape(const Reading *r, Tensor *t, const json_t *shape) {
    uint64_t dims[MAX_RANK];
    size_t rank = json_array_size(shape);
    if (!json_is_array(shape)) file_fatal(r->file, "tensor \"%s\" has no shape", t->name);
    if (rank > MAX_RANK)
        file_fatal(r->file, "tensor \"%s\" has %zu dimensions, at most %d are read", t->name, rank,
                   MAX_RANK);
    for (size_t i = 0; i < rank; i++)
        dims[i] = natural(r, t->name, "shape", json_array_get(shape, i));
    tensor_set_shape(r->file, t, (int)rank, dims);
}

static void read_offsets(Reading *r, Tensor *t, const json_t *offsets) {
    if (json_array_size(offsets) != 2)
        file_fatal(r->file, "tensor \"%s\": data_offsets must be [begin, end]", t->name);
    uint64_t begin = natural(r, t->name, "data_offsets", json_array_get(offsets, 0));
    uint64_t end = natural(r, t->name, "data_offsets", json_array_get(offsets, 1));
    if (end < begin)
        file_fatal(r->file, "tensor \"%s\": data_offsets end before they begin", t->name);
    if (end - begin != t->bytes)
        file_fatal(r->file,
                   "tensor \"%s\": its shape takes %" PRIu64
                   " bytes, its data_offsets give %" PRIu64,
                   t->name, t->bytes, end - begin);
    if (end > r->bytes)
        file_fatal(r->file,
                   "tensor \"%s\" ends at byte %" PRIu64
                   " of the data, but the file has only %" PRIu64
                   "\nhint: a truncated download? Compare the size with the publisher's",
                   t->name, end, r->bytes);
    t->data = r->data + begin;
    r->covered += t->bytes;
}

// A tensor of nothing, of no bytes: the registers [1, 0, 384] of a model that has none.
static bool is_empty(const json_t *entry) {
    const json_t *offsets = json_object_get(entry, "data_offsets"), *dimension;
    size_t i;
    if (!json_equal(json_array_get(offsets, 0), json_array_get(offsets, 1))) return false;
    json_array_foreach(json_object_get(entry, "shape"), i, dimension) {
        if (json_is_integer(dimension) && !json_integer_value(dimension)) return true;
    }
    return false;
}

static void read_tensor(Reading *r, const char *name, const json_t *entry) {
    if (!json_is_object(entry)) file_fatal(r->file, "the header's entry \"%s\" is no object", name);
    if (is_empty(entry)) return;
    Tensor t = {.name = arena_strdup(r->checkpoint->arena, name)};
    t.dtype = dtype_of(r, name, entry);
    read_shape(r, &t, json_object_get(entry, "shape"));
    read_offsets(r, &t, json_object_get(entry, "data_offsets"));
    checkpoint_add(r->checkpoint, r->file, &t);
}

static const json_t *read_header(Reading *r) {
    Cursor c = {r->file, 0, "the header's length"};
    uint64_t length = cursor_u64(&c);
    if (length > MAX_HEADER)
        file_fatal(r->file,
                   "the header claims %" PRIu64
                   " bytes, a safetensors header has at most %d\nhint: is this safetensors?",
                   length, MAX_HEADER);
    c.what = "the header";
    const char *text = (const char *)cursor_bytes(&c, length);
    r->data = r->file->data + c.at;
    r->bytes = cursor_left(&c);
    const json_t *header = json_read(r->checkpoint->arena, &r->file->source, text, length);
    if (!json_is_object(header)) file_fatal(r->file, "the header is no JSON object");
    return header;
}

// All files of one model have the same metadata, or each has that of its own tensors.
static void add_metadata(Checkpoint *c, const json_t *more) {
    if (!json_is_object(more)) return;
    json_t *all = json_own(c->arena, json_object());
    if (c->metadata) json_object_update(all, (json_t *)c->metadata);
    json_object_update(all, (json_t *)more);
    c->metadata = all;
}

void safetensors_read(Checkpoint *c, const MappedFile *file) {
    Reading r = {.checkpoint = c, .file = file};
    const json_t *header = read_header(&r), *entry;
    const char *name;
    int first = c->n_tensors;
    c->kind = CHECKPOINT_SAFETENSORS;
    json_object_foreach((json_t *)header, name, entry) if (strcmp(name, "__metadata__"))
        read_tensor(&r, name, entry);
    add_metadata(c, json_object_get(header, "__metadata__"));
    checkpoint_check_overlaps(c, first);
    if (r.covered != r.bytes)
        file_fatal(file,
                   "the header describes %" PRIu64 " bytes of tensors, the file has %" PRIu64
                   "\nhint: download it again",
                   r.covered, r.bytes);
}

// ----------------------------------------------------------------------------------------- sharded
static const char *shard_path(const Checkpoint *c, const Source *file, const char *tensor,
                              const json_t *value) {
    const char *name = json_string_value(value);
    if (!name || !*name || strchr(name, '/'))
        diag_fatal(loc_file(file), "weight_map gives \"%s\" no file name in the same folder",
                   tensor);
    return arena_printf(c->arena, "%s/%s", c->folder, name);
}

static void check_index(const Checkpoint *c, const Source *file, const json_t *map) {
    const json_t *value;
    const char *tensor;
    json_object_foreach((json_t *)map, tensor, value) {
        const StoredTensor *t = map_get(&c->by_name, tensor);
        const char *path = shard_path(c, file, tensor, value);
        if (!t || strcmp(t->file->source.name, path))
            diag_fatal(loc_file(file), "the index says that \"%s\" is in %s, but it is not%s%s",
                       tensor, json_string_value(value), t ? ": it is in " : "",
                       t ? t->file->source.name : "");
    }
}

// All shards of a model whose index is missing: `first` is the first of `count`.
void safetensors_read_shards(Checkpoint *c, const char *first, int count) {
    size_t n = strlen(first) - strlen("00001-of-00001.safetensors");
    for (int i = 1; i <= count; i++) {
        const char *shard =
            arena_printf(c->arena, "%.*s%05d-of-%05d.safetensors", (int)n, first, i, count);
        if (access(shard, F_OK))
            diag_fatal(NO_LOC, "%s is missing\nhint: download every file of the model", shard);
        safetensors_read(c, map_file(c->arena, shard));
    }
}

void safetensors_read_index(Checkpoint *c, const char *path) {
    const MappedFile *file = map_file(c->arena, path);
    const Source *index = &file->source;
    Source *text = ARENA_NEW(c->arena, Source);
    *text = (Source){index->name, (const char *)file->data, file->size};
    const json_t *map = json_object_get(json_read(c->arena, text, text->text, text->size),
                                        "weight_map"),
                 *value;
    if (!json_is_object(map))
        diag_fatal(loc_file(index),
                   "this JSON file has no \"weight_map\"\nhint: give the model's folder, or its "
                   ".safetensors file");
    Map shards;
    const char *tensor;
    map_init(&shards, c->arena);
    json_object_foreach((json_t *)map, tensor, value) {
        const char *shard = shard_path(c, index, tensor, value);
        if (map_get(&shards, shard)) continue;
        map_put(&shards, shard, (void *)shard);
        if (access(shard, F_OK))
            diag_fatal(loc_file(index), "%s is missing\nhint: download every file of the model",
                       shard);
        const MappedFile *f = map_file(c->arena, shard);
        if (f->size > 4 && !memcmp(f->data, "PK\003\004", 4))
            pytorch_read(c, f);
        else
            safetensors_read(c, f);
    }
    check_index(c, index, map);
}
