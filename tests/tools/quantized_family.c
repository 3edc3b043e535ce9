// A folder of tests/families as a library quantizes it: usage: quantized_family gptq|awq|ct|fp8
// MODEL OUT [PREFIX] MODEL is a result of family_weights. OUT gets its matrices in groups of 32
// integers of 4 bits: as GPTQ with desc_act, each matrix in an order of its own, as ModelOpt's AWQ,
// each with factors of its inputs, or as compressed-tensors, also experts in one tensor; or as FP8
// with blocks of 32 x 32. OUT/floats is the same model with the dequantized values. PREFIX: prefix
// of the tensors, next to one of images; config.json then has an object "text_config".
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/checkpoint.h"
#include "ir/convert.h"
#include "kernels/convert.h"
#include "util/text.h"

enum { GROUP = 32, MIDDLE = 8 };

static Arena *arena;

typedef struct {
    Text header, data;
    const char *prefix;
} File;

// W [rows, columns]: column k is in group `place(k)` / GROUP.
typedef struct {
    const char *module;
    int64_t experts;  // or 0: rows of their matrices in one tensor, one matrix after the other
    int64_t rows, columns;
    int64_t step, first;  // of the order
    uint8_t *code;
    float *scale;  // [rows, groups]
} Matrix;

static void add(File *f, const char *name, const char *dtype, const char *shape, const void *data,
                size_t size) {
    text_add(&f->header, "%s\"%s%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
             f->header.length ? "," : "{", f->prefix, name, dtype, shape, f->data.length,
             f->data.length + size);
    text_append(&f->data, data, size);
}

static void add_part(File *f, const Matrix *m, const char *end, const char *dtype,
                     const int64_t dims[2], const void *data, size_t size) {
    char name[512], shape[64];
    snprintf(name, sizeof name, "%s%s", m->module, end);
    if (m->experts && dims[1])
        snprintf(shape, sizeof shape, "%lld,%lld,%lld", (long long)m->experts,
                 (long long)(dims[0] / m->experts), (long long)dims[1]);
    else
        snprintf(shape, sizeof shape, dims[1] ? "%lld,%lld" : "%lld", (long long)dims[0],
                 (long long)dims[1]);
    add(f, name, dtype, shape, data, size * (size_t)(dims[0] * (dims[1] ? dims[1] : 1)));
}

static void write_weights(File *f, const char *folder) {
    char path[4096];
    Text file = {0};
    text_add(&f->header, "}");
    while (f->header.length % 8) text_add(&f->header, " ");
    uint64_t length = f->header.length;
    text_append(&file, (char *)&length, sizeof length);
    text_append(&file, f->header.data, f->header.length);
    text_append(&file, f->data.data, f->data.length);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    write_file(path, file.data, file.length);
}

static int64_t place(const Matrix *m, int64_t k) { return (k * m->step + m->first) % m->columns; }
static int64_t groups(const Matrix *m) { return m->columns / GROUP; }
static float factor(int64_t k) { return 1 + (float)(k % 3) / 4; }

static Matrix quantized(const char *module, const Tensor *t, bool in_order) {
    Matrix m = {.module = module, .rows = t->dim[0], .columns = t->dim[t->rank - 1], .step = 1};
    if (t->rank == 3) {
        m.experts = t->dim[0];
        m.rows *= t->dim[1];
    }
    if (!in_order) {
        m.step = 7;
        m.first = (int64_t)strlen(module);
    }
    m.code = ARENA_ARRAY(arena, uint8_t, m.rows *m.columns);
    m.scale = ARENA_ARRAY(arena, float, m.rows *groups(&m));
    for (int64_t i = 0; i < m.rows * m.columns; i++) {
        float *scale = &m.scale[i / m.columns * groups(&m) + place(&m, i % m.columns) / GROUP];
        float size = fabsf((float)dtype_load(t->dtype, t->data, i)) / 7;
        *scale = fmaxf(*scale, (float)sf_from_f16(f16_from_float(size)));
    }
    for (int64_t i = 0; i < m.rows * m.columns; i++) {
        float scale = m.scale[i / m.columns * groups(&m) + place(&m, i % m.columns) / GROUP];
        double x = scale > 0 ? dtype_load(t->dtype, t->data, i) / (double)scale : 0;
        m.code[i] = (uint8_t)(MIDDLE + (int)fmax(-7, fmin(7, rint(x))));
    }
    return m;
}

static void add_floats(File *f, const Matrix *m, bool factors) {
    float *x = ARENA_ARRAY(arena, float, m->rows * m->columns);
    for (int64_t i = 0; i < m->rows * m->columns; i++) {
        int64_t k = i % m->columns;
        float scale = m->scale[i / m->columns * groups(m) + place(m, k) / GROUP];
        x[i] = scale * (float)(m->code[i] - MIDDLE) * (factors ? factor(k) : 1);
    }
    add_part(f, m, ".weight", "F32", (int64_t[]){m->rows, m->columns}, x, sizeof *x);
}

static void add_gptq(File *f, const Matrix *m) {
    uint32_t *words = ARENA_ARRAY(arena, uint32_t, m->rows * m->columns / 8);
    uint32_t *zeros = ARENA_ARRAY(arena, uint32_t, m->rows *groups(m) / 8);
    int32_t *order = ARENA_ARRAY(arena, int32_t, m->columns);
    uint16_t *scales = ARENA_ARRAY(arena, uint16_t, m->rows *groups(m));
    for (int64_t i = 0; i < m->rows * m->columns; i++) {
        int64_t row = i / m->columns, k = i % m->columns;
        words[k / 8 * m->rows + row] |= (uint32_t)m->code[i] << k % 8 * 4;
    }
    for (int64_t k = 0; k < m->columns; k++) order[k] = (int32_t)(place(m, k) / GROUP);
    for (int64_t i = 0; i < m->rows * groups(m) / 8; i++) zeros[i] = 0x11111111u * (MIDDLE - 1);
    for (int64_t g = 0; g < groups(m); g++)
        for (int64_t row = 0; row < m->rows; row++)
            scales[g * m->rows + row] = f16_from_float(m->scale[row * groups(m) + g]);
    add_part(f, m, ".qweight", "I32", (int64_t[]){m->columns / 8, m->rows}, words, sizeof *words);
    add_part(f, m, ".qzeros", "I32", (int64_t[]){groups(m), m->rows / 8}, zeros, sizeof *zeros);
    add_part(f, m, ".g_idx", "I32", (int64_t[]){m->columns, 0}, order, sizeof *order);
    add_part(f, m, ".scales", "F16", (int64_t[]){groups(m), m->rows}, scales, sizeof *scales);
}

static void add_awq(File *f, const Matrix *m) {
    uint8_t *pairs = ARENA_ARRAY(arena, uint8_t, m->rows / 2 * m->columns);
    float *factors = ARENA_ARRAY(arena, float, m->columns);
    for (int64_t i = 0; i < m->rows * m->columns; i++) {
        int64_t row = i / m->columns, k = i % m->columns;
        pairs[row / 2 * m->columns + k] |= (uint8_t)(((m->code[i] - MIDDLE) & 15) << row % 2 * 4);
    }
    for (int64_t k = 0; k < m->columns; k++) factors[k] = factor(k);
    add_part(f, m, ".weight", "U8", (int64_t[]){m->rows / 2, m->columns}, pairs, sizeof *pairs);
    add_part(f, m, ".weight_scale", "F32", (int64_t[]){m->rows, groups(m)}, m->scale,
             sizeof *m->scale);
    add_part(f, m, ".pre_quant_scale", "F32", (int64_t[]){m->columns, 0}, factors, sizeof *factors);
}

static void add_compressed(File *f, const Matrix *m) {
    uint32_t *words = ARENA_ARRAY(arena, uint32_t, m->rows * m->columns / 8);
    for (int64_t i = 0; i < m->rows * m->columns; i++)
        words[i / 8] |= (uint32_t)m->code[i] << i % 8 * 4;
    add_part(f, m, ".weight_packed", "I32", (int64_t[]){m->rows, m->columns / 8}, words,
             sizeof *words);
    add_part(f, m, ".weight_scale", "F32", (int64_t[]){m->rows, groups(m)}, m->scale,
             sizeof *m->scale);
    add_part(f, m, ".weight_shape", "I64", (int64_t[]){2, 0}, (int64_t[]){m->rows, m->columns},
             sizeof(int64_t));
}

typedef struct {
    const char *name, *settings;
    bool stacks, in_order, factors;
    void (*add)(File *, const Matrix *);
} Method;

static const Method methods[] = {
    {"gptq", "{'quant_method': 'gptq', 'bits': 4, 'group_size': 32, 'desc_act': true}", false,
     false, false, add_gptq},
    {"awq", "{'quant_method': 'modelopt', 'quant_algo': 'W4A16_AWQ'}", false, true, true, add_awq},
    {"ct",
     "{'quant_method': 'compressed-tensors', 'format': 'pack-quantized', 'config_groups': {'a': "
     "{'weights': {'num_bits': 4, "
     "'type': 'int', 'group_size': 32}}}}",
     true, true, false, add_compressed},
    {"fp8", "{'quant_method': 'fp8', 'weight_block_size': [32, 32]}", true, true, false, NULL},
};

// Of a matrix, or of experts [experts, inputs, outputs]
static void add_fp8(File files[2], const Tensor *t, const char *shape) {
    int64_t columns = t->dim[t->rank - 1], n = tensor_count(t), rows = n / columns,
            across = columns / GROUP, down = (rows + GROUP - 1) / GROUP;
    float *value = ARENA_ARRAY(arena, float, n), *scale = ARENA_ARRAY(arena, float, down *across);
    uint8_t *code = ARENA_ARRAY(arena, uint8_t, n);
    for (int64_t i = 0; i < down * across; i++) scale[i] = (float)(1 + i % 3) / 256;
    for (int64_t i = 0; i < n; i++) {
        float s = scale[i / columns / GROUP * across + i % columns / GROUP];
        dtype_store(DT_f8e4m3fn, code, i, dtype_load(t->dtype, t->data, i) / (double)s);
        value[i] = s * (float)dtype_load(DT_f8e4m3fn, code, i);
    }
    Matrix m = {.module = t->name, .experts = t->rank == 3 ? t->dim[0] : 0};
    add(&files[0], t->name, "F8_E4M3", shape, code, (size_t)n);
    add_part(&files[0], &m, "_scale_inv", "F32", (int64_t[]){down, across}, scale, sizeof *scale);
    add(&files[1], t->name, "F32", shape, value, (size_t)n * sizeof *value);
}

// Tensors that libraries leave unquantized, and those that do not fit
static bool is_matrix(const Tensor *t, bool stacks) {
    static const char *const others[] = {"*embed*", "*wte*",    "*lm_head*", "*norm*",
                                         "*conv*",  "*.gate.*", "*router*"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!fnmatch(others[i], t->name, 0)) return false;
    bool fits = t->rank == 2 || (stacks && t->rank == 3);
    return fits && (text_ends_with(t->name, ".weight") || t->rank == 3) &&
           t->dim[t->rank - 2] % 8 == 0 && t->dim[t->rank - 1] % GROUP == 0;
}

static void add_tensor(File files[2], const Tensor *t, const Method *method) {
    Text shape = {0};
    text_add(&shape, "%s", "");
    for (int i = 0; i < t->rank; i++) text_add(&shape, i ? ",%lld" : "%lld", (long long)t->dim[i]);
    if (!is_matrix(t, method->stacks)) {
        for (int i = 0; i < 2; i++) add(&files[i], t->name, "F16", shape.data, t->data, t->bytes);
    } else if (!method->add) {
        add_fp8(files, t, shape.data);
    } else {
        const char *module = arena_strndup(arena, t->name, strlen(t->name) - strlen(".weight"));
        Matrix m = quantized(module, t, method->in_order);
        method->add(&files[0], &m);
        add_floats(&files[1], &m, method->factors);
    }
    text_free(&shape);
}

static void write_config(const char *model, const char *out, const char *settings, bool within) {
    char path[4096];
    size_t size;
    snprintf(path, sizeof path, "%s/config.json", model);
    char *text = read_text_file(path, &size);
    Text config = {0};
    if (within)
        text_add(&config, "{\"model_type\": \"llava\", \"vision_config\": {}, \"text_config\": %s",
                 text);
    else
        text_append(&config, text, (size_t)(strrchr(text, '}') - text));
    text_add(&config, "%s%s}", *settings ? "," : "", settings);
    snprintf(path, sizeof path, "%s/config.json", out);
    write_file(path, config.data, config.length);
    text_free(&config);
    free(text);
}

int main(int argc, char **argv) {
    const Method *method = methods;
    char floats[4096], settings[512];
    if (argc < 4) {
        fprintf(stderr, "usage: quantized_family gptq|awq|ct|fp8 MODEL OUT [PREFIX]\n");
        return 2;
    }
    while (strcmp(method->name, argv[1])) method++;
    snprintf(settings, sizeof settings, "\"quantization_config\": %s", method->settings);
    for (char *c = settings; *c; c++)
        if (*c == '\'') *c = '"';
    bool within = argc > 4;
    arena = arena_new();
    Checkpoint *c = checkpoint_open(arena, argv[2], NULL);
    File files[2] = {{.prefix = within ? argv[4] : ""}, {.prefix = ""}};
    for (int i = 0; i < c->n_tensors; i++)
        add_tensor(files, checkpoint_find(c, c->tensors[i]->name), method);
    files[0].prefix = "";
    if (within) add(&files[0], "vision_tower.patch.bias", "F32", "1", &(float){0}, sizeof(float));
    snprintf(floats, sizeof floats, "%s/floats", argv[3]);
    mkdir(argv[3], 0777);
    mkdir(floats, 0777);
    write_weights(&files[0], argv[3]);
    write_weights(&files[1], floats);
    write_config(argv[2], argv[3], settings, within);
    write_config(argv[2], floats, "", false);
    arena_free(arena);
    return 0;
}
