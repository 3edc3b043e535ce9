// Descriptions against transformers: for every dsl/models/X.burin, the small checkpoint ../shared/data/families/X and the
// logits that PyTorch computed from it. The graphs run in the interpreter as they leave the DSL, before any pass.
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "frontend/dsl.h"
#include "ir/eval.h"
#include "unit.h"

#define FAMILIES "../shared/data/families"

// A little-endian .npy file of version 1 as a tensor: i64 or i32 to i32, f32 as it is.
static Tensor *read_npy(Arena *arena, const char *path) {
    size_t size;
    char *file = read_text_file(path, &size), *shape = strstr(file + 10, "'shape': (");
    size_t header = 10 + (unsigned char)file[8] + 256u * (unsigned char)file[9];
    bool wide = memmem(file, header, "<i8", 3) != NULL, is_float = memmem(file, header, "<f4", 3) != NULL;
    Tensor *t = ARENA_NEW(arena, Tensor);
    t->dtype = is_float ? DT_f32 : DT_i32;
    for (char *at = shape + 10; *at != ')'; at += strspn(at, ", ")) t->dim[t->rank++] = strtol(at, &at, 10);
    int64_t n = tensor_count(t);
    int32_t *data = ARENA_ARRAY(arena, int32_t, n);
    for (int64_t i = 0; i < n; i++) memcpy(&data[i], file + header + (size_t)i * (wide ? 8 : 4), 4);
    t->data = data, t->bytes = (uint64_t)n * 4;
    free(file);
    return t;
}

static Tensor *read_array(Arena *arena, const char *family, const char *name) {
    return read_npy(arena, arena_printf(arena, FAMILIES "/%s/%s.npy", family, name));
}

// The largest difference, in units of the largest magnitude.
static double relative_error(const Tensor *got, const Tensor *expected) {
    const float *a = got->data, *b = expected->data;
    double error = 0, largest = 0;
    if (got->dtype != DT_f32 || tensor_count(got) != tensor_count(expected)) return INFINITY;
    for (int64_t i = 0; i < tensor_count(expected); i++) {
        double difference = fabs((double)a[i] - b[i]);
        error = difference > error || isnan(difference) ? difference : error;
        largest = fabs(b[i]) > largest ? fabs(b[i]) : largest;
    }
    return error / largest;
}

// The value of an input: the array of its name, and where there is none, what the program puts there.
static const Tensor *input_value(Arena *arena, const char *family, const Node *input, const Tensor *tokens) {
    InputRole role = input_role(input);
    if (role != INPUT_MASK && role != INPUT_TYPES)
        return read_array(arena, family, strcmp(input->name, "tokens") ? input->name : "input_ids");
    Tensor *t = ARENA_NEW(arena, Tensor);
    *t = *tokens;
    int32_t *data = ARENA_ARRAY(arena, int32_t, tensor_count(t));
    for (int64_t i = 0; i < tensor_count(t); i++) data[i] = role == INPUT_MASK;
    t->data = data;
    return t;
}

// The largest error of the outputs of a graph whose expected values are there.
static double graph_error(Arena *arena, const Graph *g, const char *family) {
    enum { MOST = 8 };
    const Tensor *inputs[MOST], *outputs[MOST];
    double largest = 0;
    for (int i = 0; i < g->n_inputs; i++) inputs[i] = input_value(arena, family, g->inputs[i], i ? inputs[0] : NULL);
    EvalContext *eval = eval_new(EVAL_F32);
    eval_graph(eval, g, inputs, outputs);
    for (int i = 0; i < g->n_outputs; i++) {
        double error = relative_error(outputs[i], read_array(arena, family, g->output_names[i]));
        largest = error > largest || isnan(error) ? error : largest;
    }
    eval_free(eval);
    return largest;
}

// Rotary frequencies of these files were rounded to f16 with the weights (a model made in f16 holds them so); ours are exact,
// which shows where the random weights are sensitive.
static double tolerance(const char *family) { return strcmp(family, "qwen3") ? 2e-4 : 5e-4; }

static double family_error(Arena *arena, const char *description, const char *family) {
    Checkpoint *c = checkpoint_open(arena, arena_printf(arena, FAMILIES "/%s", family));
    Module *m = dsl_load(arena, description, &(DslOptions){.library = "dsl", .checkpoint = c});
    double largest = 0;
    for (int i = 0; i < m->n_graphs; i++) {
        double error = graph_error(arena, m->graphs[i], family);
        largest = error > largest || isnan(error) ? error : largest;
    }
    return largest;
}

static void check_family(const char *model, const char *family) {
    Arena *arena = arena_new();
    char description[64];
    snprintf(description, sizeof description, "dsl/models/%s.burin", model);
    volatile double error = INFINITY;
    if (!setjmp(*diag_guard())) error = family_error(arena, description, family);
    diag_unguard();
    if (!(error < tolerance(family))) printf("# %s is off by %g of the largest value\n", family, error);
    CHECK(error < tolerance(family));
    arena_free(arena);
}

static void decoders(void) {
    static const char *const names[] = {"llama", "mistral", "qwen2", "qwen3",    "gemma", "gemma2",
                                        "phi3",  "gpt2",    "bloom", "gpt_neox", "mpt",   "falcon"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) check_family(names[i], names[i]);
}

static void encoders(void) {
    static const char *const names[] = {"bert", "roberta", "distilbert", "vit", "clip"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) check_family(names[i], names[i]);
}

static void encoder_decoders(void) {
    check_family("bart", "bart");
    check_family("marian", "marian");
    check_family("t5", "t5");
    check_family("t5", "flan");
}

static void spectrograms(void) { check_family("whisper", "whisper"); }

static void scaled_rotary_positions(void) {
    check_family("llama", "llama3");
    check_family("llama", "yarn");
    check_family("llama", "linear");
}

SUITE(families) {
    if (access(FAMILIES "/llama", R_OK)) {
        printf("ok - families: decoders # SKIP " FAMILIES " is missing\n");
        return;
    }
    TEST(decoders);
    TEST(encoders);
    TEST(encoder_decoders);
    TEST(spectrograms);
    TEST(scaled_rotary_positions);
}
