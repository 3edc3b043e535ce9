// Runs cases of the ONNX backend tests in the reference interpreter: conformance FOLDER... A line a case, in their order:
//
//     test_add<tab>Add<tab>pass            or the reason in place of "pass"
//
// Each case is a process of its own with a time limit: one that crashes or hangs has failed. Inputs are given to the importer
// as well: it reads only those that its shapes depend on (as with --set).
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case_values.h"
#include "frontend/onnx.h"
#include "ir/eval.h"

enum { MAX_VALUES = 64, SECONDS = 20, MAX_OUTPUT = 4096 };

typedef struct Case {
    Arena *arena;
    const char *folder;
    const Tensor *inputs[MAX_VALUES];
    int n_inputs;
} Case;

static bool exists(const char *path) { return access(path, R_OK) == 0; }

static const char *value_path(const Case *c, const char *kind, int i) {
    return arena_printf(c->arena, "%s/test_data_set_0/%s_%d.pb", c->folder, kind, i);
}

static const Module *load_case(Case *c) {
    const char *path = arena_printf(c->arena, "%s/model.onnx", c->folder);
    const BurinOnnx__GraphBody *g = onnx_open(c->arena, path)->proto->graph;
    OnnxFixed fixed[MAX_VALUES];
    for (; c->n_inputs < MAX_VALUES && exists(value_path(c, "input", c->n_inputs)); c->n_inputs++) {
        c->inputs[c->n_inputs] = read_case_tensor(c->arena, value_path(c, "input", c->n_inputs));
        fixed[c->n_inputs] = (OnnxFixed){g->input[c->n_inputs]->name, c->inputs[c->n_inputs]};
    }
    OnnxOptions options = {.fixed = fixed, .n_fixed = c->n_inputs};
    return onnx_load(c->arena, path, &options);
}

// Prints the reason, or "pass".
static void run_case(const char *folder) {
    Case c = {.arena = arena_new(), .folder = folder};
    const Graph *g = load_case(&c)->graphs[0];
    const Tensor *outputs[MAX_VALUES];
    if (g->n_outputs > MAX_VALUES || g->n_inputs != c.n_inputs) diag_fatal(NO_LOC, "%d inputs for %d", c.n_inputs, g->n_inputs);
    eval_graph(eval_new(EVAL_F32), g, c.inputs, outputs);
    int compared = 0;
    for (int i = 0; i < g->n_outputs; i++) {
        if (!exists(value_path(&c, "output", i))) continue;
        const char *difference = tensor_difference(c.arena, outputs[i], read_case_tensor(c.arena, value_path(&c, "output", i)));
        if (difference) diag_fatal(NO_LOC, "%s", difference);
        compared++;
    }
    if (!compared) diag_fatal(NO_LOC, "nothing to compare with");
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
    BurinOnnx__ModelFile *m = bytes ? burin_onnx__model_file__unpack(NULL, size, bytes) : NULL;
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
        run_case(folder);
    }
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], text + length, sizeof text - 1 - length)) > 0;) length += (size_t)n;
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
    for (int i = 1; i < argc; i++) report_case(argv[i]);
    return 0;
}
