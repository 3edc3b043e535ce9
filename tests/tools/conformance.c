// Runs cases of the ONNX backend tests in the reference interpreter: conformance FOLDER... A line a case, in their order:
//
//     test_add<tab>Add<tab>pass            or the reason in place of "pass"
//
// conformance --emit OUT FOLDER... compiles them to C instead: OUT/test_add.c, test_add_dispatch.c, test_add_plan.h, the
// weights and the tensors of the case (case_file.h), which run_cases.c reads.
//
// Each case is a process of its own with a time limit: one that crashes or hangs has failed. Inputs are given to the importer
// as well: it reads only those that its shapes depend on (as with --set).
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case_file.h"
#include "case_values.h"
#include "codegen/codegen.h"
#include "frontend/onnx.h"
#include "ir/eval.h"

enum { MAX_VALUES = 64, SECONDS = 20, MAX_OUTPUT = 4096 };

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

// The values of one kind, those of sequences one by one, named x.0, x.1, ... ; returns how many tensors.
static int read_values(Case *c, const char *kind, BurinOnnx__ValueInfo *const *infos, size_t n_infos, OnnxFixed *fixed,
                       int *n_fixed) {
    const Tensor *list[MAX_VALUES];
    int n = 0;
    *n_fixed = 0;
    for (size_t i = 0; i < n_infos && exists(value_path(c, kind, (int)i)); i++) {
        const BurinOnnx__ValueType *type = infos[i]->type;
        bool tensor = !type || type->tensor_type || (type->optional_type && !type->optional_type->elem_type->sequence_type);
        int more = read_case_value(c->arena, value_path(c, kind, (int)i), type, list, MAX_VALUES - 1 - *n_fixed);
        if (!more || !tensor) fixed[(*n_fixed)++] = (OnnxFixed){infos[i]->name, NULL};
        for (int j = 0; j < more; j++, n++)
            fixed[(*n_fixed)++] =
                (OnnxFixed){tensor ? infos[i]->name : arena_printf(c->arena, "%s.%d", infos[i]->name, j), list[j]};
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
    EACH_NODE(n, g) if (n->op == OP_random) return true;
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
    if (g->n_outputs > MAX_VALUES || g->n_inputs != c.n_inputs) diag_fatal(NO_LOC, "%d inputs for %d", c.n_inputs, g->n_inputs);
    eval_graph(eval, g, c.inputs, outputs);
    for (int i = 0; i < g->n_outputs; i++) {
        const Tensor *expected = expected_named(&c, g->output_names[i]);
        const char *difference = !expected  ? "a result that is not expected"
                                 : draws(g) ? shape_difference(c.arena, outputs[i], expected)
                                            : tensor_difference(c.arena, outputs[i], expected);
        if (difference) diag_fatal(NO_LOC, "%s", difference);
    }
    if (!c.n_expected || c.n_expected != g->n_outputs) diag_fatal(NO_LOC, "%d results, not %d", g->n_outputs, c.n_expected);
    eval_free(eval);
    arena_free(c.arena);
    printf("pass");
    exit(0);
}

// -------------------------------------------------------------------------------------------------------------------- emitting
static const char *emit_folder;

static void write_text(const Case *c, const char *name, const char *suffix, Text *t) {
    FILE *f = fopen(arena_printf(c->arena, "%s/%s%s", emit_folder, name, suffix), "wb");
    if (!f || fwrite(t->data, 1, t->length, f) != t->length || fclose(f)) diag_fatal(NO_LOC, "cannot write %s%s", name, suffix);
    text_free(t);
}

static void write_model(const Case *c, const Program *p) {
    Text t = {0};
    const Target *cpu = target_find("x86-64-v3");
    emit_program(p, &t), write_text(c, p->module->name, ".c", &t);
    emit_header(p, &t), write_text(c, p->module->name, "_plan.h", &t);
    emit_dispatch(p,
                  &(DispatchOptions){.cpus = &cpu,
                                     .n_cpus = 1,
                                     .identity = "0",
                                     .info = "",
                                     .weights_symbol = arena_printf(c->arena, "%s_weights", p->module->name),
                                     .descriptor = arena_printf(c->arena, "%s_descriptor", p->module->name)},
                  &t);
    write_text(c, p->module->name, "_dispatch.c", &t);
}

static void sink(void *text, const void *bytes, size_t n) { text_append(text, bytes, n); }

static void put_tensor(Text *t, const Tensor *x) {
    CaseTensor head = {.rank = x->rank, .bytes = x->bytes};
    snprintf(head.type, sizeof head.type, "%s", dtype_name(x->dtype));
    memcpy(head.dim, x->dim, sizeof head.dim);
    text_append(t, (const char *)&head, sizeof head);
    text_append(t, x->data, x->bytes);
    while (t->length % CASE_ALIGN) text_append(t, "", 1);
}

static void write_values(Case *c, Graph *g, const char *name) {
    Text t = {0};
    CaseHeader head = {.n_inputs = c->n_inputs, .n_outputs = g->n_outputs, .draws = draws(g)};
    text_append(&t, (const char *)&head, sizeof head);
    for (int i = 0; i < c->n_inputs; i++) put_tensor(&t, c->inputs[i]);
    for (int i = 0; i < g->n_outputs; i++) put_tensor(&t, expected_named(c, g->output_names[i]));
    write_text(c, name, ".values", &t);
}

static void emit_case(const char *folder) {
    Case c = {.arena = arena_new(), .folder = folder};
    Module *m = load_case(&c);
    m->name = strrchr(folder, '/') + 1;
    PassContext passes = {.arena = c.arena, .module = m, .stop_after = -1, .context = 64, .max_rows = 64};
    write_values(&c, m->graphs[0], m->name);
    passes_run(m, &passes);
    LowerOptions options = {0};
    const Program *p = lower_module(c.arena, m, &options);
    Text weights = {0};
    write_model(&c, p);
    weights_write(p, sink, &weights);
    while (weights.length < 64) text_append(&weights, "", 1);
    write_text(&c, m->name, ".weights", &weights);
    arena_free(c.arena);
    printf("pass");
    exit(0);
}

// ------------------------------------------------------------------------------------------------------------------- reporting
// The operator that a case is about: its only one, the last one, or of a function's body the function.
static const char *operator_of(Arena *arena, const char *folder) {
    const char *expanded = strstr(folder, "_expanded");
    const char *whole = expanded ? arena_strndup(arena, folder, (size_t)(expanded - folder)) : folder;
    const char *path = arena_printf(arena, "%s/model.onnx", whole);
    if (!exists(path)) path = arena_printf(arena, "%s/model.onnx", folder);
    size_t size = 0;
    unsigned char *bytes = read_case_file(arena, path, &size);
    ProtobufCAllocator allocator = wire_allocator(arena);
    BurinOnnx__ModelFile *m = bytes ? burin_onnx__model_file__unpack(&allocator, size, bytes) : NULL;
    const char *name = m && m->graph && m->graph->n_node ? m->graph->node[m->graph->n_node - 1]->op_type : "?";
    return arena_strdup(arena, name);
}

// "error: x: y\nhint: ..." to "x: y"; one line.
static void print_reason(char *text, int status) {
    char *start = strstr(text, "error: ");
    start = start ? start + 7 : text;
    start[strcspn(start, "\n")] = 0;
    for (char *p = start; *p; p++)
        if (*p == '\t' || *p == '|') *p = ' ';
    if (WIFSIGNALED(status))
        printf("ends by signal %d\n", WTERMSIG(status));
    else
        printf("%s\n", *start ? start : "ends without a result");
}

static void report_case(const char *folder) {
    Arena *arena = arena_new();
    const char *slash = strrchr(folder, '/');
    int ends[2], status = 0;
    char text[MAX_OUTPUT];
    size_t length = 0;
    printf("%s\t%s\t", slash ? slash + 1 : folder, operator_of(arena, folder));
    fflush(stdout);
    if (pipe(ends)) diag_fatal(NO_LOC, "no pipe");
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1), dup2(ends[1], 2), close(ends[0]);
        alarm(SECONDS);
        emit_folder ? emit_case(folder) : run_case(folder);
    }
    close(ends[1]);
    char more[MAX_OUTPUT];  // a message begins with what counts
    for (ssize_t n; (n = read(ends[0], more, sizeof more)) > 0;) {
        size_t room = sizeof text - 1 - length, kept = (size_t)n < room ? (size_t)n : room;
        memcpy(text + length, more, kept), length += kept;
    }
    text[length] = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    if (status == 0 && !strcmp(text, "pass"))
        printf("pass\n");
    else
        print_reason(text, status);
    arena_free(arena);
}

int main(int argc, char **argv) {
    bool emits = argc > 2 && !strcmp(argv[1], "--emit");
    if (emits) emit_folder = argv[2];
    for (int i = emits ? 3 : 1; i < argc; i++) report_case(argv[i]);
    return 0;
}
