// GGUF as a container: metadata, and descriptions of tensors. Every count, length and offset is
// checked against the file.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/checkpoint/gguf/gguf.h"

enum { MAX_NAME = 65535 };

static const struct {
    const char *name;
    uint64_t bytes;  // the least an element takes in the file
} types[GGUF_TYPES] = {{"u8", 1},  {"i8", 1},  {"u16", 2},  {"i16", 2},    {"u32", 4},
                       {"i32", 4}, {"f32", 4}, {"bool", 1}, {"string", 8}, {"array", 12},
                       {"u64", 8}, {"i64", 8}, {"f64", 8}};

const char *gguf_type_name(uint32_t type) {
    static const char *const names[] = {
        "F32",   "F16",        "Q4_0",       "Q4_1",       NULL,       NULL,       "Q5_0",
        "Q5_1",  "Q8_0",       "Q8_1",       "Q2_K",       "Q3_K",     "Q4_K",     "Q5_K",
        "Q6_K",  "Q8_K",       "IQ2_XXS",    "IQ2_XS",     "IQ3_XXS",  "IQ1_S",    "IQ4_NL",
        "IQ3_S", "IQ2_S",      "IQ4_XS",     "I8",         "I16",      "I32",      "I64",
        "F64",   "IQ1_M",      "BF16",       "Q4_0_4_4",   "Q4_0_4_8", "Q4_0_8_8", "TQ1_0",
        "TQ2_0", "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8", "MXFP4",    "NVFP4",    "Q1_0",
        "Q2_0"};
    return type < sizeof names / sizeof *names ? names[type] : NULL;
}

// ----------------------------------------------------------------------------------------- parsing
static GgufString read_string(Cursor *c) {
    uint64_t length = cursor_u64(c);
    return (GgufString){(const char *)cursor_bytes(c, length), length};
}

static const char *read_name(Cursor *c, Arena *arena, const char *what) {
    c->what = what;
    GgufString s = read_string(c);
    if (!s.length || s.length > MAX_NAME || memchr(s.bytes, 0, s.length))
        file_fatal(c->file,
                   "%s ending at byte %" PRIu64
                   " is no text of 1 to %d bytes\nhint: a damaged download?",
                   what, c->at, MAX_NAME);
    return arena_strndup(arena, s.bytes, s.length);
}

static GgufType read_type(Cursor *c, const char *key) {
    uint32_t type = cursor_u32(c);
    if (type >= GGUF_TYPES)
        file_fatal(c->file, "metadata \"%s\" has type %" PRIu32 ", which GGUF does not define", key,
                   type);
    return (GgufType)type;
}

static void skip_elements(Cursor *c, const GgufValue *v) {
    if (v->n > cursor_left(c) / types[v->type].bytes)
        file_fatal(c->file,
                   "metadata \"%s\" claims %" PRIu64 " elements, but only %" PRIu64
                   " bytes are left\nhint: a truncated download?",
                   v->key, v->n, cursor_left(c));
    if (v->type != GGUF_STRING)
        cursor_bytes(c, v->n * types[v->type].bytes);
    else
        for (uint64_t i = 0; i < v->n; i++) read_string(c);
}

static void read_value(Gguf *g, Cursor *c) {
    GgufValue *v = ARENA_NEW(g->arena, GgufValue);
    v->key = read_name(c, g->arena, "a metadata key");
    if (map_get(&g->values, v->key)) file_fatal(g->file, "metadata \"%s\" is there twice", v->key);
    c->what = arena_printf(g->arena, "metadata \"%s\"", v->key);
    v->type = read_type(c, v->key);
    v->n = 1;
    if (v->type == GGUF_ARRAY) {
        v->is_array = true;
        v->type = read_type(c, v->key);
        v->n = cursor_u64(c);
        if (v->type == GGUF_ARRAY)
            file_fatal(g->file, "metadata \"%s\" is an array of arrays, which burin does not read",
                       v->key);
    }
    v->data = c->file->data + c->at;
    skip_elements(c, v);
    map_put(&g->values, v->key, v);
}

static void read_tensor(Gguf *g, Cursor *c, GgufTensor *t) {
    t->name = read_name(c, g->arena, "a tensor's name");
    c->what = arena_printf(g->arena, "the description of tensor \"%s\"", t->name);
    uint32_t rank = cursor_u32(c);
    if (rank < 1 || rank > 8)
        file_fatal(g->file, "tensor \"%s\" has %" PRIu32 " dimensions, expected 1 to 8", t->name,
                   rank);
    t->rank = (int)rank;
    t->part = g;
    for (uint32_t i = 0; i < rank; i++) t->dims[i] = cursor_u64(c);
    t->type = cursor_u32(c);
    t->offset = cursor_u64(c);
}

void gguf_index(Gguf *g, const GgufTensor *t) {
    if (map_get(&g->by_name, t->name))
        file_fatal(t->part->file, "tensor \"%s\" is listed twice", t->name);
    map_put(&g->by_name, t->name, (void *)t);
}

static uint64_t count_of(Cursor *c, const char *what, uint64_t least_bytes) {
    c->what = "the header";
    uint64_t n = cursor_u64(c);
    if (n > cursor_left(c) / least_bytes)
        file_fatal(c->file,
                   "the header claims %" PRIu64 " %s, but only %" PRIu64
                   " bytes are left\nhint: a truncated download?",
                   n, what, cursor_left(c));
    return n;
}

static uint64_t data_start(const Gguf *g, const Cursor *c) {
    int64_t alignment = 32;
    gguf_int(g, "general.alignment", &alignment);
    if (alignment < 1 || alignment & (alignment - 1) || alignment > 1 << 20)
        file_fatal(g->file, "general.alignment is %" PRId64 ", expected a power of 2, at most 1 MB",
                   alignment);
    return (c->at + (uint64_t)alignment - 1) / (uint64_t)alignment * (uint64_t)alignment;
}

// Whoever reads only the metadata learns of a truncated file, too.
static void check_start(const Gguf *g, const GgufTensor *t) {
    if (g->data < g->file->size && t->offset < g->file->size - g->data) return;
    file_fatal(g->file,
               "tensor \"%s\" starts at %" PRIu64
               " of the data, past the file's end at byte %" PRIu64
               "\nhint: a truncated download? Compare the size with the publisher's",
               t->name, t->offset, g->file->size);
}

Gguf *gguf_parse(Arena *arena, const MappedFile *file) {
    Gguf *g = ARENA_NEW(arena, Gguf);
    Cursor c = {file, 4, "the header"};  // after "GGUF"
    g->arena = arena;
    g->file = file;
    map_init(&g->values, arena);
    map_init(&g->by_name, arena);
    uint32_t version = cursor_u32(&c);
    if (version && !(version & 0xffffff))
        file_fatal(file,
                   "the numbers of this GGUF file are big-endian, burin reads little-endian ones"
                   "\nhint: take the model's other file, or convert it (gguf-convert-endian of the "
                   "gguf package)");
    if (version != 2 && version != 3)
        file_fatal(file,
                   "GGUF version %" PRIu32
                   " is not supported, only 2 and 3 (little-endian)"
                   "\nhint: convert the model anew with a converter of today",
                   version);
    uint64_t n_tensors = count_of(&c, "tensors", 24), n_values = count_of(&c, "metadata", 13);
    for (uint64_t i = 0; i < n_values; i++) read_value(g, &c);
    g->tensors = ARENA_ARRAY(arena, GgufTensor, n_tensors ? n_tensors : 1);
    for (; g->n_tensors < n_tensors; g->n_tensors++) {
        read_tensor(g, &c, &g->tensors[g->n_tensors]);
        gguf_index(g, &g->tensors[g->n_tensors]);
    }
    g->data = data_start(g, &c);
    for (uint64_t i = 0; i < n_tensors; i++) check_start(g, &g->tensors[i]);
    return g;
}

// ------------------------------------------------------------------------------------------ values
const GgufValue *gguf_find(const Gguf *g, const char *key) { return map_get(&g->values, key); }

_Noreturn static void wrong_type(const Gguf *g, const GgufValue *v, const char *expected) {
    file_fatal(g->file, "metadata \"%s\" is %s%s, expected %s", v->key,
               v->is_array ? "an array of " : "", types[v->type].name, expected);
}

static bool int_element(const GgufValue *v, uint64_t i, int64_t *to) {
    const unsigned char *p = v->data + i * types[v->type].bytes;
    uint64_t raw = 0;
    memcpy(&raw, p, types[v->type].bytes);
    switch (v->type) {
        case GGUF_U8:
        case GGUF_U16:
        case GGUF_U32:
            *to = (int64_t)raw;
            return true;
        case GGUF_I8:
            *to = (int8_t)raw;
            return true;
        case GGUF_I16:
            *to = (int16_t)raw;
            return true;
        case GGUF_I32:
            *to = (int32_t)raw;
            return true;
        case GGUF_I64:
        case GGUF_U64:
            *to = (int64_t)raw;
            return v->type == GGUF_I64 || raw <= INT64_MAX;
        default:
            return false;
    }
}

const GgufTensor *gguf_tensor(const Gguf *g, const char *name) {
    return map_get(&g->by_name, name);
}

bool gguf_int(const Gguf *g, const char *key, int64_t *to) {
    const GgufValue *v = gguf_find(g, key);
    if (!v) return false;
    if (v->is_array || !int_element(v, 0, to)) wrong_type(g, v, "an integer");
    return true;
}

static double shortest(float x) {
    char text[32];
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)x);
        if (strtof(text, NULL) == x) break;
    }
    return strtod(text, NULL);
}

bool gguf_float(const Gguf *g, const char *key, double *to) {
    const GgufValue *v = gguf_find(g, key);
    float narrow;
    if (!v) return false;
    if (v->is_array || (v->type != GGUF_F32 && v->type != GGUF_F64)) wrong_type(g, v, "a float");
    if (v->type == GGUF_F64)
        memcpy(to, v->data, sizeof *to);
    else {
        memcpy(&narrow, v->data, sizeof narrow);
        *to = shortest(narrow);
    }
    if (!(*to - *to == 0)) file_fatal(g->file, "metadata \"%s\" is not a finite number", key);
    return true;
}

bool gguf_bool(const Gguf *g, const char *key, bool *to) {
    const GgufValue *v = gguf_find(g, key);
    if (!v) return false;
    if (v->is_array || v->type != GGUF_BOOL) wrong_type(g, v, "a bool");
    *to = *v->data != 0;
    return true;
}

bool gguf_string(const Gguf *g, const char *key, const char **to) {
    const GgufValue *v = gguf_find(g, key);
    if (!v) return false;
    if (v->is_array || v->type != GGUF_STRING) wrong_type(g, v, "a string");
    Cursor c = {g->file, (uint64_t)(v->data - g->file->data), key};
    *to = read_name(&c, g->arena, key);
    return true;
}

const GgufString *gguf_strings(const Gguf *g, const char *key, uint64_t *n) {
    const GgufValue *v = gguf_find(g, key);
    *n = v ? v->n : 0;
    if (!v) return NULL;
    if (!v->is_array || v->type != GGUF_STRING) wrong_type(g, v, "an array of strings");
    GgufString *all = ARENA_ARRAY(g->arena, GgufString, v->n + 1);
    Cursor c = {g->file, (uint64_t)(v->data - g->file->data), key};
    for (uint64_t i = 0; i < v->n; i++) all[i] = read_string(&c);
    return all;
}

const float *gguf_floats(const Gguf *g, const char *key, uint64_t *n) {
    const GgufValue *v = gguf_find(g, key);
    *n = v ? v->n : 0;
    if (!v) return NULL;
    if (!v->is_array || v->type != GGUF_F32) wrong_type(g, v, "an array of f32");
    float *all = ARENA_ARRAY(g->arena, float, v->n + 1);
    memcpy(all, v->data, v->n * sizeof *all);
    return all;
}

const int32_t *gguf_ints(const Gguf *g, const char *key, uint64_t *n) {
    const GgufValue *v = gguf_find(g, key);
    *n = v ? v->n : 0;
    if (!v) return NULL;
    if (!v->is_array) wrong_type(g, v, "an array of integers");
    int32_t *all = ARENA_ARRAY(g->arena, int32_t, v->n + 1);
    for (uint64_t i = 0; i < v->n; i++) {
        int64_t x;
        if (!int_element(v, i, &x)) wrong_type(g, v, "an array of integers");
        if (x < INT32_MIN || x > INT32_MAX)
            file_fatal(g->file, "metadata \"%s\" has a number of more than 32 bits, %" PRId64, key,
                       x);
        all[i] = (int32_t)x;
    }
    return all;
}
