// Descriptions against transformers: usage: [LORA=DIR,DIR=0.5] family FOLDER...
// For each folder with config.json, weights, inputs and expected outputs as .npy: finds the
// description as `burin build` does, runs its graphs in the interpreter as they leave the DSL,
// before any pass, and prints `ok - family NAME` with the largest error in units of the largest
// magnitude, or `not ok`.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/dsl.h"
#include "ir/eval/eval.h"
#include "util/text.h"

// A little-endian .npy file of version 1 as a tensor: i64 or i32 to i32, f32 as it is.
static Tensor *read_npy(Arena *arena, const char *path) {
    size_t size;
    char *file = read_text_file(path, &size), *shape = strstr(file + 10, "'shape': (");
    size_t header = 10 + (unsigned char)file[8] + 256u * (unsigned char)file[9];
    bool wide = memmem(file, header, "<i8", 3) != NULL,
         is_float = memmem(file, header, "<f4", 3) != NULL;
    Tensor *t = ARENA_NEW(arena, Tensor);
    t->dtype = is_float ? DT_f32 : DT_i32;
    for (char *at = shape + 10; *at != ')'; at += strspn(at, ", "))
        t->dim[t->rank++] = strtol(at, &at, 10);
    if (!is_float && t->rank == 2 && t->dim[0] == 1)
        t->rank = 1, t->dim[0] = t->dim[1];  // a batch of one
    int64_t n = tensor_count(t);
    int32_t *data = ARENA_ARRAY(arena, int32_t, n);
    for (int64_t i = 0; i < n; i++) memcpy(&data[i], file + header + (size_t)i * (wide ? 8 : 4), 4);
    t->data = data, t->bytes = (uint64_t)n * 4;
    free(file);
    return t;
}

static Tensor *read_array(Arena *arena, const char *folder, const char *name) {
    return read_npy(arena, arena_printf(arena, "%s/%s.npy", folder, name));
}

static bool has_array(Arena *arena, const char *folder, const char *name) {
    return !access(arena_printf(arena, "%s/%s.npy", folder, name), F_OK);
}

// Placeholder of a token that is never written
#define NEVER -1e30

// The largest difference, in units of the largest magnitude.
static double relative_error(const Tensor *got, const Tensor *expected) {
    const float *a = got->data, *b = expected->data;
    double error = 0, largest = 0;
    if (got->dtype != DT_f32 || tensor_count(got) != tensor_count(expected)) return INFINITY;
    for (int64_t i = 0; i < tensor_count(expected); i++) {
        if (b[i] < NEVER && a[i] < NEVER) continue;
        double difference = fabs((double)a[i] - b[i]);
        error = difference > error || isnan(difference) ? difference : error;
        largest = fabs(b[i]) > largest ? fabs(b[i]) : largest;
    }
    return error / largest;
}

// The value of an input: the array of its name, otherwise the program's default.
static const Tensor *input_value(Arena *arena, const char *folder, const Node *input,
                                 const Tensor *tokens) {
    InputRole role = input_role(input);
    if (role != INPUT_MASK && role != INPUT_TYPES)
        return read_array(arena, folder, strcmp(input->name, "tokens") ? input->name : "input_ids");
    Tensor *t = ARENA_NEW(arena, Tensor);
    *t = *tokens;
    int32_t *data = ARENA_ARRAY(arena, int32_t, tensor_count(t));
    for (int64_t i = 0; i < tensor_count(t); i++) data[i] = role == INPUT_MASK;
    t->data = data;
    return t;
}

// The largest error of the outputs of a graph whose expected values are there; counts these.
static double graph_error(Arena *arena, const Graph *g, const char *folder, int *compared) {
    enum { MOST = 8 };
    const Tensor *inputs[MOST], *outputs[MOST];
    double largest = 0;
    for (int i = 0; i < g->n_inputs; i++)
        inputs[i] = input_value(arena, folder, g->inputs[i], i ? inputs[0] : NULL);
    EvalContext *eval = eval_new(EVAL_F32);
    eval_graph(eval, g, inputs, outputs);
    for (int i = 0; i < g->n_outputs; i++) {
        if (!has_array(arena, folder, g->output_names[i])) continue;
        ++*compared;
        double error = relative_error(outputs[i], read_array(arena, folder, g->output_names[i]));
        largest = error > largest || isnan(error) ? error : largest;
    }
    eval_free(eval);
    return largest;
}

// What rounding to f32 explains, in units of the largest reference value.
#define TOLERANCE 1e-5

static double folder_error(Arena *arena, const char *folder, const char *volatile *description) {
    Checkpoint *c = checkpoint_open(arena, folder, "dsl");
    if (getenv("LORA")) checkpoint_add_loras(c, getenv("LORA"));
    *description = dsl_find_description(arena, "dsl", c);
    Module *m = dsl_load(arena, *description, &(DslOptions){.library = "dsl", .checkpoint = c});
    double largest = 0;
    int compared = 0;
    for (int i = 0; i < m->n_graphs; i++) {
        double error = graph_error(arena, m->graphs[i], folder, &compared);
        largest = error > largest || isnan(error) ? error : largest;
    }
    return compared ? largest : INFINITY;
}

static bool check_folder(const char *folder) {
    const char *slash = strrchr(folder, '/'), *name = slash ? slash + 1 : folder;
    Arena *arena = arena_new();
    volatile double error = INFINITY;
    const char *volatile description = "no description";
    if (!setjmp(*diag_guard())) error = folder_error(arena, folder, &description);
    diag_unguard();
    bool ok = error < TOLERANCE;
    printf("%s - family %s\n# %s: off by %.1g\n", ok ? "ok" : "not ok", name, description, error);
    fflush(stdout);
    arena_free(arena);
    return ok;
}

int main(int argc, char **argv) {
    int bad = 0;
    for (int i = 1; i < argc; i++) bad += !check_folder(argv[i]);
    return bad > 0;
}
