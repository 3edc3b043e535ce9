// Runs cases of the ONNX backend tests in the reference interpreter: conformance FOLDER... A line a
// case, in their order:
//
//     test_add<tab>Add<tab>pass            or the reason in place of "pass"
//
// conformance --emit OUT FOLDER... compiles them to C instead: OUT/test_add.c, test_add_dispatch.c,
// test_add_plan.h, the weights and the tensors of the case (case_file.h), which run_cases.c reads.
//
// Each case is a process of its own with a time limit: one that crashes or hangs has failed. Inputs
// are given to the importer as well: it reads only those that its shapes depend on (as with --set).
#include "case_values.h"
#include "emit_case.h"
#include "frontend/onnx.h"
#include "ir/eval/eval.h"
#include "passes/pass.h"

enum { MAX_VALUES = 64 };

typedef struct Case {
    Arena *arena;
    const char *folder;
    const Tensor *inputs[MAX_VALUES];
    int n_inputs;
    OnnxFixed expected[MAX_VALUES];  // by the names of outputs
    int n_expected;
} Case;

static bool exists(const char *path) { return access(path, R_OK) == 0; }

static const char *value_path(const Case *c, const char *kind, int i) {
    return arena_printf(c->arena, "%s/test_data_set_0/%s_%d.pb", c->folder, kind, i);
}

// The values of one kind, those of sequences one by one, named x.0, x.1, ... ; returns how many
// tensors.
static int read_values(Case *c, const char *kind, BurinOnnx__ValueInfo *const *infos,
                       size_t n_infos, OnnxFixed *fixed, int *n_fixed) {
    const Tensor *list[MAX_VALUES];
    int n = 0;
    *n_fixed = 0;
    for (size_t i = 0; i < n_infos && exists(value_path(c, kind, (int)i)); i++) {
        const BurinOnnx__ValueType *type = infos[i]->type;
        bool tensor = !type || type->tensor_type ||
                      (type->optional_type && !type->optional_type->elem_type->sequence_type);
        int more = read_case_value(c->arena, value_path(c, kind, (int)i), type, list,
                                   MAX_VALUES - 1 - *n_fixed);
        if (!more || !tensor) fixed[(*n_fixed)++] = (OnnxFixed){infos[i]->name, NULL};
        for (int j = 0; j < more; j++, n++)
            fixed[(*n_fixed)++] = (OnnxFixed){
                tensor ? infos[i]->name : arena_printf(c->arena, "%s.%d", infos[i]->name, j),
                list[j]};
        if (*n_fixed + 2 > MAX_VALUES) diag_fatal(NO_LOC, "more than %d values", MAX_VALUES);
    }
    return n;
}

static Module *load_case(Case *c) {
    const char *path = arena_printf(c->arena, "%s/model.onnx", c->folder);
    const BurinOnnx__GraphBody *g = onnx_open(c->arena, path)->proto->graph;
    OnnxFixed fixed[MAX_VALUES];
    int n_fixed;
    read_values(c, "output", g->output, g->n_output, fixed, &n_fixed);
    for (int i = 0; i < n_fixed; i++)
        if (fixed[i].value) c->expected[c->n_expected++] = fixed[i];
    read_values(c, "input", g->input, g->n_input, fixed, &n_fixed);
    for (int i = 0; i < n_fixed; i++)
        if (fixed[i].value) c->inputs[c->n_inputs++] = fixed[i].value;
    OnnxOptions options = {.fixed = fixed, .n_fixed = n_fixed};
    return onnx_load(c->arena, path, &options);
}

// Random numbers are others than the suite's: only types and shapes are compared.
static bool draws(Graph *g) {
    EACH_NODE(n, g)
        if (n->op == OP_random) return true;
    return false;
}

static const char *shape_difference(Arena *arena, const Tensor *got, const Tensor *expected) {
    bool same = got->dtype == expected->dtype && got->rank == expected->rank;
    for (int i = 0; i < got->rank && same; i++) same = got->dim[i] == expected->dim[i];
    return same ? NULL : arena_printf(arena, "a random tensor of another type or shape");
}

static const Tensor *expected_named(const Case *c, const char *name) {
    for (int i = 0; i < c->n_expected; i++)
        if (!strcmp(c->expected[i].name, name)) return c->expected[i].value;
    return NULL;
}

// Prints the reason, or "pass".
static void run_case(const char *folder) {
    Case c = {.arena = arena_new(), .folder = folder};
    Graph *g = load_case(&c)->graphs[0];
    const Tensor *outputs[MAX_VALUES];
    EvalContext *eval = eval_new(EVAL_F32);
    if (g->n_outputs > MAX_VALUES || g->n_inputs != c.n_inputs)
        diag_fatal(NO_LOC, "%d inputs for %d", c.n_inputs, g->n_inputs);
    eval_graph(eval, g, c.inputs, outputs);
    for (int i = 0; i < g->n_outputs; i++) {
        const Tensor *expected = expected_named(&c, g->output_names[i]);
        const char *difference = !expected  ? "a result that is not expected"
                                 : draws(g) ? shape_difference(c.arena, outputs[i], expected)
                                            : tensor_difference(c.arena, outputs[i], expected);
        if (difference) diag_fatal(NO_LOC, "%s", difference);
    }
    if (!c.n_expected || c.n_expected != g->n_outputs)
        diag_fatal(NO_LOC, "%d results, not %d", g->n_outputs, c.n_expected);
    eval_free(eval);
    arena_free(c.arena);
    printf("pass");
    exit(0);
}

// ---------------------------------------------------------------------------------------- emitting
static const char *emit_folder;

static void write_values(Case *c, Graph *g, CasePlace at) {
    const Tensor *expected[MAX_VALUES];
    for (int i = 0; i < g->n_outputs; i++) expected[i] = expected_named(c, g->output_names[i]);
    case_write_values(
        at, (CaseHeader){.n_inputs = c->n_inputs, .n_outputs = g->n_outputs, .draws = draws(g)},
        c->inputs, expected);
}

static void emit_case(const char *folder) {
    Case c = {.arena = arena_new(), .folder = folder};
    Module *m = load_case(&c);
    m->name = strrchr(folder, '/') + 1;
    CasePlace at = {c.arena, emit_folder, m->name};
    PassContext passes = {
        .arena = c.arena, .module = m, .stop_after = -1, .context = 64, .max_rows = 64};
    write_values(&c, m->graphs[0], at);
    passes_run(m, &passes);
    LowerOptions options = {.guarded = getenv("GUARDED") != NULL};
    case_write_program(at, lower_module(c.arena, m, &options));
    arena_free(c.arena);
    printf("pass");
    exit(0);
}

// --------------------------------------------------------------------------------------- reporting
// The operator that a case is about: its only one, the last one, or of a function's body the
// function.
static const char *operator_of(Arena *arena, const char *folder) {
    const char *expanded = strstr(folder, "_expanded");
    const char *whole =
        expanded ? arena_strndup(arena, folder, (size_t)(expanded - folder)) : folder;
    const char *path = arena_printf(arena, "%s/model.onnx", whole);
    if (!exists(path)) path = arena_printf(arena, "%s/model.onnx", folder);
    size_t size = 0;
    unsigned char *bytes = read_case_file(arena, path, &size);
    ProtobufCAllocator allocator = wire_allocator(arena);
    BurinOnnx__ModelFile *m =
        bytes ? burin_onnx__model_file__unpack(&allocator, size, bytes) : NULL;
    const char *name =
        m && m->graph && m->graph->n_node ? m->graph->node[m->graph->n_node - 1]->op_type : "?";
    return arena_strdup(arena, name);
}

static void run_or_emit(const void *folder) { emit_folder ? emit_case(folder) : run_case(folder); }

static void report_case(const char *folder) {
    Arena *arena = arena_new();
    const char *slash = strrchr(folder, '/');
    printf("%s\t%s\t", slash ? slash + 1 : folder, operator_of(arena, folder));
    case_report(run_or_emit, folder);
    arena_free(arena);
}

int main(int argc, char **argv) {
    bool emits = argc > 2 && !strcmp(argv[1], "--emit");
    if (emits) emit_folder = argv[2];
    for (int i = emits ? 3 : 1; i < argc; i++) report_case(argv[i]);
    return 0;
}
