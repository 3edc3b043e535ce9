// Opens a checkpoint: recognises its format, lets the format's reader list its tensors, reads the
// JSON files of its folder. Tensors are slices of the mapped files. Only rows in interleaved rotary
// order, and data that is not aligned to its type, are copied, and only on request: a file of 5 GB
// costs no memory here.
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/checkpoint/gguf/gguf.h"
#include "frontend/checkpoint/lora.h"
#include "frontend/checkpoint/reader.h"
#include "ir/convert.h"
#include "ir/format.h"
#include "util/files.h"
#include "util/mapping.h"
#include "util/text.h"

// ----------------------------------------------------------------------------------------- tensors
StoredTensor *checkpoint_add(Checkpoint *c, const MappedFile *file, const Tensor *tensor) {
    const StoredTensor *before = map_get(&c->by_name, tensor->name);
    if (before && before->file == file)
        file_fatal(file, "tensor \"%s\" is listed twice", tensor->name);
    if (before)
        file_fatal(file, "tensor \"%s\" is also in %s", tensor->name, before->file->source.name);
    StoredTensor *stored = ARENA_NEW(c->arena, StoredTensor);
    *stored = (StoredTensor){.tensor = *tensor, .file = file};
    stored->tensor.source = &file->source;
    if ((c->n_tensors & (c->n_tensors - 1)) == 0) {  // full at every power of two
        const Tensor **grown =
            ARENA_ARRAY(c->arena, const Tensor *, c->n_tensors ? 2 * c->n_tensors : 1);
        if (c->n_tensors) memcpy(grown, c->tensors, (size_t)c->n_tensors * sizeof *grown);
        c->tensors = grown;
    }
    c->tensors[c->n_tensors++] = &stored->tensor;
    map_put(&c->by_name, stored->tensor.name, stored);
    return stored;
}

void checkpoint_rename(Checkpoint *c, StoredTensor *t, const char *name) {
    map_put(&c->by_name, t->tensor.name, NULL);
    if (!t->name_in_file) t->name_in_file = t->tensor.name;
    t->tensor.name = name;
    map_put(&c->by_name, name, t);
}

void checkpoint_list_again(Checkpoint *c) {
    int n = 0;
    for (int i = 0; i < c->n_tensors; i++) {
        const StoredTensor *t =
            (const StoredTensor *)c->tensors[i];  // the tensor is its first member
        if (!t->hidden) c->tensors[n++] = c->tensors[i];
    }
    c->n_tensors = n;
}

void tensor_set_shape(const MappedFile *file, Tensor *t, int rank, const uint64_t *dims) {
    const Format *f = format_of(t->dtype);
    uint64_t bits = f ? 1 : (uint64_t)dtype_bits(t->dtype);
    if (f && (!rank || dims[rank - 1] % (uint64_t)f->block))
        file_fatal(file,
                   "tensor \"%s\" has rows of %" PRIu64
                   " values, expected whole blocks of %d: its type is %s",
                   t->name, rank ? dims[rank - 1] : 0, f->block, f->name);
    for (int i = 0; i < rank; i++) {
        if (!dims[i]) file_fatal(file, "tensor \"%s\" has a dimension of 0", t->name);
        if (dims[i] > INT64_MAX || __builtin_mul_overflow(bits, dims[i], &bits) || bits > INT64_MAX)
            file_fatal(file, "tensor \"%s\" has too many elements for any file", t->name);
        t->dim[i] = (int64_t)dims[i];
    }
    t->rank = rank;
    t->bytes = f ? dtype_bytes(t->dtype, (int64_t)bits) : (bits + 7) / 8;
}

static int by_place(const void *a, const void *b) {
    const Tensor *x = *(const Tensor *const *)a, *y = *(const Tensor *const *)b;
    return x->data < y->data ? -1 : x->data > y->data;
}

void checkpoint_check_overlaps(const Checkpoint *c, int first) {
    int n = c->n_tensors - first;
    const Tensor **sorted = ARENA_ARRAY(c->arena, const Tensor *, n + 1);
    if (n) memcpy(sorted, c->tensors + first, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_place);
    for (int i = 0; i + 1 < n; i++) {
        const Tensor *a = sorted[i], *b = sorted[i + 1];
        if (a->source == b->source && (const char *)a->data + a->bytes > (const char *)b->data)
            diag_fatal(loc_file(a->source), "tensors \"%s\" and \"%s\" overlap", a->name, b->name);
    }
}

// Row (h, pair, half) of the file is row (h, half, pair) of Hugging Face's order.
static void copy_halves(const StoredTensor *stored, unsigned char *to) {
    const Tensor *t = &stored->tensor;
    uint64_t rows = (uint64_t)t->dim[0], row_bytes = t->bytes / rows,
             heads = (uint64_t)stored->rotary_heads;
    uint64_t half = rows / heads / 2;
    const unsigned char *from = t->data;
    for (uint64_t h = 0; h < heads; h++)
        for (uint64_t pair = 0; pair < half; pair++)
            for (uint64_t side = 0; side < 2; side++, from += row_bytes)
                memcpy(to + ((h * 2 + side) * half + pair) * row_bytes, from, row_bytes);
}

// The file separates queries, keys and values; Hugging Face interleaves them by group.
static void copy_groups(const StoredTensor *stored, unsigned char *to) {
    uint64_t heads = (uint64_t)stored->query_heads, groups = (uint64_t)stored->groups,
             head_bytes = stored->tensor.bytes / (heads + 2 * groups), queries = heads / groups;
    const unsigned char *from = stored->tensor.data;
    for (uint64_t g = 0; g < groups; g++, to += (queries + 2) * head_bytes) {
        memcpy(to, from + g * queries * head_bytes, queries * head_bytes);
        memcpy(to + queries * head_bytes, from + (heads + g) * head_bytes, head_bytes);
        memcpy(to + (queries + 1) * head_bytes, from + (heads + groups + g) * head_bytes,
               head_bytes);
    }
}

static void copy_transposed(const StoredTensor *stored, unsigned char *to) {
    uint64_t rows = (uint64_t)stored->tensor.dim[0], columns = (uint64_t)stored->tensor.dim[1],
             size = stored->tensor.bytes / rows / columns;
    const unsigned char *from = stored->tensor.data;
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t k = 0; k < columns; k++, to += size)
            memcpy(to, from + (k * rows + i) * size, size);
}

// With 1 subtracted, in f32 whatever the file's type: of narrower ones the difference need not be
// one.
static void present_minus_one(Arena *arena, Tensor *t) {
    const Format *f = format_of(t->dtype);
    int64_t n = tensor_count(t);
    void *aligned = arena_alloc(arena, t->bytes);
    float *values = ARENA_ARRAY(arena, float, n);
    memcpy(aligned, t->data, t->bytes);
    if (f)
        format_read(f, aligned, 0, 1, n, values);
    else
        convert_elements(DT_f32, values, t->dtype, aligned, n);
    for (int64_t i = 0; i < n; i++) values[i] -= 1;
    t->dtype = DT_f32, t->data = values, t->bytes = dtype_bytes(DT_f32, n);
}

static void copy_changed(const StoredTensor *stored, unsigned char *to) {
    if (stored->rotary_heads)
        copy_halves(stored, to);
    else if (stored->quantized)
        quantized_values(stored->quantized, stored->tensor.dtype, to);
    else if (stored->groups)
        copy_groups(stored, to);
    else if (stored->transposed)
        copy_transposed(stored, to);
    else
        memcpy(to, stored->tensor.data, stored->tensor.bytes);
}

static bool is_aligned(const Tensor *t) {
    return dtype_is_block(t->dtype) ||
           (uintptr_t)t->data % (unsigned)(dtype_bits(t->dtype) / 8) == 0;
}

void tensor_check_blocks(const MappedFile *file, const Tensor *t, const char *name) {
    const Format *f = format_of(t->dtype);
    int64_t wrong = f ? block_not_finite(f, t->data, tensor_count(t) / f->block) : -1;
    if (wrong >= 0)
        file_fatal(file,
                   "tensor \"%s\" has a scale that is infinite or not a number, in block %" PRId64
                   " of %s"
                   "\nhint: a damaged file: download it again, or take another",
                   name, wrong, f->name);
}

static void check_blocks(const StoredTensor *stored) {
    const Tensor *t = &stored->tensor;
    if (!stored->quantized)
        tensor_check_blocks(stored->file, t, stored->name_in_file ? stored->name_in_file : t->name);
}

const char *checkpoint_class(const Checkpoint *c) {
    return json_string_value(json_array_get(json_object_get(c->config, "architectures"), 0));
}

const Tensor *checkpoint_find(const Checkpoint *c, const char *name) {
    StoredTensor *stored = map_get(&c->by_name, name);
    if (!stored || stored->hidden) return NULL;
    if (!stored->presented && stored->factor) gguf_nvfp4_present(c->arena, stored);
    if (!stored->presented) check_blocks(stored);
    if (!stored->presented && stored->minus_one) present_minus_one(c->arena, &stored->tensor);
    bool changed =
        stored->quantized || stored->rotary_heads || stored->groups || stored->transposed;
    if (!stored->presented && (changed || !is_aligned(&stored->tensor))) {
        unsigned char *copy = arena_alloc(c->arena, stored->tensor.bytes);
        copy_changed(stored, copy);
        if (!stored->quantized) mapping_forget(stored->tensor.data, stored->tensor.bytes);
        stored->tensor.data = copy;
    }
    stored->presented = true;
    if (stored->merges) lora_present(c, stored);
    return &stored->tensor;
}

const Tensor *checkpoint_with_axes(const Checkpoint *c, const Tensor *t, int rank) {
    int more = t ? rank - t->rank : 0;
    if (more <= 0 || c->kind != CHECKPOINT_GGUF) return t;
    Tensor *stored = &((StoredTensor *)map_get(&c->by_name, t->name))->tensor;
    memmove(stored->dim + more, stored->dim, (size_t)stored->rank * sizeof *stored->dim);
    for (int i = 0; i < more; i++) stored->dim[i] = 1;
    stored->rank = rank;
    return stored;
}

// ----------------------------------------------------------------------------------- configuration
static bool exists(const char *path) { return access(path, F_OK) == 0; }

const json_t *checkpoint_object(const Checkpoint *c, const char *file, const Source **source) {
    const char *path = arena_printf(c->arena, "%s/%s", c->folder, file);
    if (!exists(path)) return NULL;
    *source = read_source(c->arena, path);
    const json_t *value = json_read(c->arena, *source, (*source)->text, (*source)->size);
    if (!json_is_object(value)) diag_fatal(loc_file(*source), "%s holds no JSON object", file);
    return value;
}

static void read_configuration(Checkpoint *c) {
    c->generation = checkpoint_object(c, "generation_config.json", &c->generation_source);
    c->config = config_as_now(c->arena, checkpoint_object(c, "config.json", &c->config_source));
    const json_t *type = json_object_get(c->config, "model_type");
    if (type && !json_is_string(type))
        diag_fatal(checkpoint_config_loc(c, "model_type"), "model_type must be a string");
    c->architecture = json_string_value(type);
}

// The text is known to be valid JSON here.
static size_t skip_string(const char *text, size_t at) {
    for (at++; text[at] != '"'; at++)
        if (text[at] == '\\') at++;
    return at + 1;
}

static Loc value_loc(const Source *s, const char *key) {
    if (!s || !s->text) return s ? loc_file(s) : NO_LOC;
    size_t length = strlen(key), depth = 0;
    for (size_t i = 0; i < s->size; i++) {
        depth += s->text[i] == '{' || s->text[i] == '[';
        depth -= s->text[i] == '}' || s->text[i] == ']';
        if (s->text[i] != '"') continue;
        size_t begin = i, value = skip_string(s->text, i);
        i = value - 1;
        value += strspn(s->text + value, " \t\r\n");
        if (depth != 1 || value >= s->size || s->text[value] != ':') continue;
        value += 1 + strspn(s->text + value + 1, " \t\r\n");
        if (i - begin - 1 == length && !memcmp(s->text + begin + 1, key, length))
            return (Loc){.source = s,
                         .offset = (uint32_t)value,
                         .length = (uint32_t)strcspn(s->text + value, ",}\r\n")};
    }
    return loc_file(s);
}

Loc checkpoint_config_loc(const Checkpoint *c, const char *key) {
    return value_loc(c->config_source, key);
}

const char *checkpoint_field(const Checkpoint *c, const char *field) {
    size_t n = strcspn(field, "[");
    const char *key = map_get(&c->keys, arena_strndup(c->arena, field, n));
    return key ? arena_printf(c->arena, "%s%s", key, field + n) : field;
}

const char *checkpoint_config_file(const Checkpoint *c) {
    if (!c->config_source) return "config.json";
    const char *slash = strrchr(c->config_source->name, '/');
    return slash ? slash + 1 : c->config_source->name;
}

typedef struct {
    const json_t *value;  // NULL when absent
    const char *key;
    const Source *source;
} Special;

static Special special(const Checkpoint *c, const char *key) {
    const json_t *value = json_object_get(c->generation, key);
    if (value && !json_is_null(value)) return (Special){value, key, c->generation_source};
    value = json_object_get(c->config, key);
    if (!value)  // of the decoder after an encoder of another family
        value = json_object_get(json_object_get(c->config, "decoder"), key);
    return (Special){json_is_null(value) ? NULL : value, key, c->config_source};
}

// A token that the vocabulary does not have (a default of transformers', in a small model) never
// comes up: -1.
static int32_t token_id(const Checkpoint *c, Special s, const json_t *value) {
    json_int_t id = json_integer_value(value);
    const json_t *size = json_object_get(c->config, "vocab_size");
    json_int_t limit = json_is_integer(size) && json_integer_value(size) < INT32_MAX
                           ? json_integer_value(size)
                           : INT32_MAX;
    if (!json_is_integer(value) || id < 0)
        diag_fatal(value_loc(s.source, s.key),
                   "%s must be a token id, or a list of them: whole numbers from 0 to "
                   "%" JSON_INTEGER_FORMAT,
                   s.key, limit - 1);
    if (id < limit) return (int32_t)id;
    diag_warning(value_loc(s.source, s.key),
                 "%s %" JSON_INTEGER_FORMAT " is beyond the vocabulary of %" JSON_INTEGER_FORMAT
                 ": it is ignored",
                 s.key, id, limit);
    return -1;
}

SpecialTokens checkpoint_special_tokens(const Checkpoint *c) {
    SpecialTokens ids = {.bos = -1};
    Special bos = special(c, "bos_token_id"), eos = special(c, "eos_token_id");
    bool list = json_is_array(eos.value);
    size_t n = list ? json_array_size(eos.value) : eos.value != NULL;
    if (bos.value) ids.bos = token_id(c, bos, bos.value);
    if (n > BURIN_MOST_EOS)
        diag_fatal(value_loc(eos.source, eos.key),
                   "eos_token_id lists %zu ids, at most %d are supported", n, BURIN_MOST_EOS);
    for (size_t i = 0; i < n; i++) {
        int32_t id = token_id(c, eos, list ? json_array_get(eos.value, i) : eos.value);
        if (id >= 0) ids.eos[ids.n_eos++] = id;
    }
    return ids;
}

// ----------------------------------------------------------------------------------------- opening
static bool is_safetensors(const MappedFile *f) {
    return text_ends_with(f->source.name, ".safetensors") ||
           (f->size > 8 && f->data[8] == '{' && !f->data[6] && !f->data[7]);
}

static bool starts_with(const MappedFile *f, const char *magic) {
    size_t n = strlen(magic);
    return f->size >= n && !memcmp(f->data, magic, n);
}

_Noreturn static void refuse_unknown(const MappedFile *f) {
    if (starts_with(f, "\200\002"))
        file_fatal(f,
                   "this is a pickle without an archive, as PyTorch wrote it before version 1.6, "
                   "which burin does not read"
                   "\nhint: take the model's .safetensors, or convert it with "
                   "safetensors.torch.save_file");
    file_fatal(f,
               "this is no checkpoint that burin knows: it starts with neither a safetensors "
               "header, nor \"GGUF\", nor a "
               "llama2.c header\nhint: give a Hugging Face folder, a .safetensors, .gguf or "
               "llama2.c .bin file");
}

static void read_file(Checkpoint *c, const char *path) {
    const MappedFile *f = map_file(c->arena, path);
    if (starts_with(f, "GGUF")) {
        gguf_read(c, f);
    } else if (llama2c_recognise(f)) {
        llama2c_read(c, f);
    } else if (file_is_json(f)) {
        read_configuration(c);
        safetensors_read_index(c, path);
    } else if (starts_with(f, "PK\003\004")) {
        read_configuration(c);
        pytorch_read(c, f);
    } else if (is_safetensors(f)) {
        read_configuration(c);
        safetensors_read(c, f);
    } else {
        refuse_unknown(f);
    }
}

static bool is_table(const Tensor *t, const Tensor *head) {
    static const char *const ends[] = {"embed_tokens.weight", "wte.weight", "shared.weight",
                                       "embeddings.weight", "embed_in.weight"};
    bool named = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        named |= text_ends_with(t->name, ends[i]);
    return named && t->dtype == head->dtype && t->rank == 2 &&
           !memcmp(t->dim, head->dim, 2 * sizeof *t->dim);
}

// T5 and uMT5 scale their states where config.json ties the head, also before a head of its own.
static void keep_output_scale(const Checkpoint *c, json_t *config) {
    static const char *const families[] = {"t5", "umt5"};
    bool scales = false;
    for (size_t i = 0; c->architecture && i < sizeof families / sizeof *families; i++)
        scales |= !strcmp(families[i], c->architecture);
    if (scales && !json_is_false(json_object_get(config, "tie_word_embeddings")) &&
        !json_object_get(config, "scale_decoder_outputs"))
        json_object_set_new(config, "scale_decoder_outputs", json_true());
}

// Unties a head that is stored beside the table of words that it would share, and differs, whatever
// config.json sets: since version 5 transformers uses it so.
static void keep_own_head(Checkpoint *c) {
    const StoredTensor *head = map_get(&c->by_name, "lm_head.weight");
    json_t *config = (json_t *)(uintptr_t)c->config, *text = json_object_get(config, "text_config");
    bool tied = json_is_true(json_object_get(config, "tie_word_embeddings")),
         tied_text = json_is_true(json_object_get(text, "tie_word_embeddings"));
    if (!head || head->hidden || head->tensor.rank != 2 || !json_is_object(config)) return;
    for (int i = 0; i < c->n_tensors; i++) {
        const Tensor *t = c->tensors[i];
        if (!is_table(t, &head->tensor)) continue;
        if (!memcmp(t->data, head->tensor.data, t->bytes)) return;
        if (tied || tied_text)
            diag_warning(checkpoint_config_loc(c, tied ? "tie_word_embeddings" : "text_config"),
                         "\"lm_head.weight\" differs from the embedding that it is tied to: it is "
                         "used, as transformers 5 does");
        keep_output_scale(c, config);
        json_object_set_new(config, "tie_word_embeddings", json_false());
        if (tied_text) json_object_set_new(text, "tie_word_embeddings", json_false());
        return;
    }
}

static void read_folder(Checkpoint *c) {
    int shards = 0;
    const char *file = folder_weights(c->arena, c->folder),
               *first = file ? NULL : folder_first_shard(c->arena, c->folder, &shards);
    if (file) {
        read_file(c, file);
    } else if (first) {
        read_configuration(c);
        safetensors_read_shards(c, first, shards);
    } else {
        folder_refuse(c->arena, c->folder);
    }
}

// Returns true if tokenizer_config.json has "tokenizer_file": null. Then the vocabulary counts, a
// tokenizer.json is stale.
static bool has_stale_tokenizer(const char *folder) {
    json_t *config = json_beside(folder, "tokenizer_config.json");
    bool stale = json_is_null(json_object_get(config, "tokenizer_file"));
    json_decref(config);
    return stale;
}

const char *tokenizer_in(Arena *arena, const char *folder) {
    static const char *const names[][2] = {{"tokenizer.json"},
                                           {"vocab.json", "merges.txt"},
                                           {"encoder.json", "vocab.bpe"},
                                           {"source.spm"},
                                           {"tokenizer.model"},
                                           {"spiece.model"},
                                           {"spm.model"},
                                           {"sentencepiece.bpe.model"},
                                           {"sentencepiece.model"},
                                           {"tekken.json"},
                                           {"tiktoken.model"},
                                           {"qwen.tiktoken"},
                                           {"tokenizer.bin"},
                                           {"vocab.txt"}};
    for (size_t i = has_stale_tokenizer(folder); i < sizeof names / sizeof *names; i++) {
        const char *file = arena_printf(arena, "%s/%s", folder, names[i][0]), *with = names[i][1];
        if (exists(file) && (!with || exists(arena_printf(arena, "%s/%s", folder, with))))
            return file;
    }
    const char *file = arena_printf(arena, "%s/%s", folder, names[0][0]);
    return exists(file) ? file : folder_only_file(arena, folder, ".gguf");
}

// Every tensor of the files, under its own name.
static Checkpoint *open_files(Arena *arena, const char *path, const char *library) {
    Checkpoint *c = ARENA_NEW(arena, Checkpoint);
    struct stat about;
    c->arena = arena;
    c->path = arena_strdup(arena, path), c->library = library;
    map_init(&c->by_name, arena);
    map_init(&c->keys, arena);
    bool folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    c->folder = folder ? c->path : path_folder(arena, c->path);
    if (folder)
        read_folder(c);
    else
        read_file(c, path);
    return c;
}

Checkpoint *checkpoint_open(Arena *arena, const char *path, const char *library) {
    Checkpoint *c = open_files(arena, path, library);
    if (c->kind == CHECKPOINT_SAFETENSORS) {
        checkpoint_split_experts(c);
        checkpoint_take_text(c);
        checkpoint_take_newer_names(c);
        keep_own_head(c);
    }
    if (c->kind == CHECKPOINT_SAFETENSORS) c->tokenizer = tokenizer_in(arena, c->folder);
    if (!c->n_tensors) diag_fatal(NO_LOC, "%s holds no tensors", path);
    return c;
}

Checkpoint *checkpoint_open_rest(Arena *arena, const char *path, const char *library) {
    Checkpoint *c = open_files(arena, path, library);
    checkpoint_take_rest(c);
    return c;
}
