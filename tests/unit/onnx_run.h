// Runs a model written as text (tests/tools/onnx_text.h) in the interpreter and prints its outputs.
#ifndef BURIN_TEST_ONNX_RUN_H
#define BURIN_TEST_ONNX_RUN_H
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>

#include "frontend/onnx.h"
#include "ir/eval/eval.h"
#include "tests/tools/onnx_text.h"
#include "unit.h"

static inline void print_value(Text *t, const Tensor *x) {
    text_add(t, "%s%s", t->length ? " " : "", dtype_name(x->dtype));
    for (int i = 0; i < x->rank; i++) text_add(t, "%s%lld", i ? "x" : "[", (long long)x->dim[i]);
    text_add(t, "%s", x->rank ? "]" : "");
    for (int64_t i = 0; i < tensor_count(x); i++) {
        if (x->dtype == DT_string)
            text_add(t, " %s", ((const char *const *)x->data)[i]);
        else
            text_add(t, " %g", dtype_load(x->dtype, x->data, i));
    }
}

// The outputs of a model of that opset; `flag`: the value of its one input, a bool, which the
// importer does not know. "" after an error.
static inline const char *onnx_run(int opset, const char *lines, int flag) {
    static char result[1024];
    char path[] = "/tmp/burin-onnx-XXXXXX";
    uint8_t truth = flag > 0;
    const Tensor input = {.dtype = DT_bool, .data = &truth, .bytes = 1}, *inputs[] = {&input},
                 *outputs[8];
    Text text = {0}, out = {0};
    text_add(&text, "ir 10\nopset %d\n%s", opset, lines);
    Text model = onnx_of_text(text.data);
    close(mkstemp(path));
    write_file(path, model.data, model.length);
    Arena *volatile arena = arena_new();
    EvalContext *volatile eval = eval_new(EVAL_F32);
    if (!setjmp(*diag_guard())) {
        const Graph *g = onnx_load(arena, path, &(OnnxOptions){0})->graphs[0];
        CHECK(graph_verify(g, "import"));
        eval_graph(eval, g, inputs, outputs);
        for (int i = 0; i < g->n_outputs; i++) print_value(&out, outputs[i]);
    }
    diag_unguard();
    snprintf(result, sizeof result, "%s", out.data ? out.data : "");
    unlink(path);
    eval_free(eval);
    arena_free(arena);
    text_free(&text);
    text_free(&model);
    text_free(&out);
    return result;
}
#endif
