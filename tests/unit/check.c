// `burin check`: a node that is wrong is named, and only that node.
#include "ir/check.h"

#include "graphs.h"
#include "ir/eval.h"

static const char MODEL[] =
    "graph g(%x: f32[R, 3]) -> (%z) where R <= 8 {\n"
    "  %w = constant {value=[1, 2, 3, 4, 5, 6]} : f32[2, 3]\n"
    "  %p = pack(%w) {format=\"f32\"}\n"
    "  %h = matmul_packed(%x, %p) {columns=2, epilogue=silu($0)}\n"
    "  %s = slice(%h) {axis=1, start=1, extent=1}\n"
    "  %y = exp(%s) @model.burin:3:4 \"layer\"\n"
    "  %z = mul(%y, %h)\n"
    "}\n";

typedef struct {
    Graph *g;
    Tensor x;
    float data[6];
} Sample;

static void start(Sample *s) {
    s->g = parse_text(MODEL);
    for (int i = 0; i < 6; i++) s->data[i] = (float)i / 7 - 0.4f;
    s->x = (Tensor){.dtype = DT_f32, .rank = 2, .dim = {2, 3}, .data = s->data, .bytes = 24};
}

// Records what the interpreter gives for h, y and z; adds `error` to one element of y, and lets z follow from it.
static bool run_check(Sample *s, float error, Text *report) {
    Arena *arena = arena_new();
    EvalContext *c = eval_new(EVAL_F32);
    Check *check = check_new(arena, s->g);
    const Tensor *inputs[1] = {&s->x}, *out;
    eval_graph(c, s->g, inputs, &out);
    float values[3][4], *y = values[1], *z = values[2];
    static const char *const names[3] = {"h", "y", "z"};
    for (int i = 0; i < 3; i++) {
        const Tensor *t = eval_traced(c, map_get(&s->g->names, names[i]));
        memcpy(values[i], t->data, t->bytes);
    }
    y[1] += error;
    for (int i = 0; i < 2; i++) z[2 + i] = y[1] * values[0][2 + i];
    for (int step = 0; step < 2; step++) {
        for (int i = 0; i < 3; i++) {
            int columns = i == 1 ? 1 : 2;
            check_record(check, map_get(&s->g->names, names[i]), 0, values[i], 2, columns, columns);
        }
        check_step(check, inputs);
    }
    bool good = check_report(check, report);
    check_free(check);
    eval_free(c);
    arena_free(arena);
    return good;
}

static void right_programs_pass(void) {
    Sample s;
    start(&s);
    Text report = {0};
    CHECK(run_check(&s, 0, &report));
    CHECK(strstr(report.data, "matmul_packed") && strstr(report.data, "exp") && !strstr(report.data, "slice"));
    CHECK(!strstr(report.data, "outside"));
    text_free(&report);
    graph_free(s.g);
}

static void the_wrong_node_is_named(void) {
    Sample s;
    start(&s);
    Text report = {0};
    CHECK(!run_check(&s, 1e-4f, &report));
    CHECK(strstr(report.data, "%y is outside: exp, element [1, 0]") != NULL);
    CHECK(strstr(report.data, "2 of its 4 elements are outside") != NULL);
    CHECK(strstr(report.data, "@model.burin:3:4 \"layer\"") != NULL);
    CHECK(!strstr(report.data, "%z is outside"));
    text_free(&report);
    graph_free(s.g);
}

SUITE(check) {
    TEST(right_programs_pass);
    TEST(the_wrong_node_is_named);
}
