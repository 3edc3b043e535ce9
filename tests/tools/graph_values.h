// Graphs made by tests, as compiled cases: inputs are filled with numbers, the interpreter computes
// the expected results.
#ifndef GRAPH_VALUES_H
#define GRAPH_VALUES_H
#include <math.h>

#include "emit_case.h"
#include "ir/eval/eval.h"
#include "ir_text.h"
#include "passes/pass.h"

enum { MOST_TENSORS = 512 };

static int64_t value_of_symbol(const Dim *symbol, void *size) {
    int64_t value = *(const int64_t *)size;
    return value > dim_upper(symbol)   ? dim_upper(symbol)
           : value < dim_lower(symbol) ? dim_lower(symbol)
                                       : value;
}

// Floats of [-2, 2), integers of 0 and 1 (which are indices too), truth.
static Tensor *random_tensor(Arena *arena, const Type *type, int64_t size, uint64_t *state) {
    Tensor *t = ARENA_NEW(arena, Tensor);
    int64_t count = 1;
    *t = (Tensor){.dtype = type->dtype, .rank = type->rank};
    for (int i = 0; i < t->rank; i++)
        count *= t->dim[i] = dim_eval(type->dim[i], value_of_symbol, &size);
    t->bytes = dtype_bytes(t->dtype, count);
    void *data = arena_alloc(arena, t->bytes + 8);
    for (int64_t i = 0; i < count; i++) {
        uint32_t r = next_random(state);
        dtype_store(t->dtype, data, i,
                    dtype_is_float(t->dtype) ? (r % 4001 - 2000.0) / 1000 : r % 2);
    }
    t->data = data;
    return t;
}

static bool is_near(const Tensor *a, const Tensor *b) {
    double largest = 1;
    int64_t count = tensor_count(a);
    if (a->dtype != b->dtype || count != tensor_count(b)) return false;
    for (int64_t i = 0; i < count; i++) {
        double x = fabs(dtype_load(a->dtype, a->data, i));
        if (isfinite(x) && x > largest) largest = x;
    }
    double allowed = largest * (a->dtype == DT_f16 ? 4e-3 : a->dtype == DT_bf16 ? 3e-2 : 1e-5);
    for (int64_t i = 0; i < count; i++) {
        double x = dtype_load(a->dtype, a->data, i), y = dtype_load(b->dtype, b->data, i);
        if (!(x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= allowed)) return false;
    }
    return true;
}

static void interpret(Arena *arena, const Graph *g, int64_t size, const Tensor *const *in,
                      const Tensor **out) {
    EvalContext *eval = eval_new(EVAL_F32);
    for (int i = 0; i < g->n_inputs; i++)
        for (int j = 0; j < g->inputs[i]->type.rank; j++)
            if (g->inputs[i]->type.dim[j]->kind == DIM_SYMBOL)
                eval_set_symbol(eval, g->inputs[i]->type.dim[j]->name, in[i]->dim[j]);
    (void)size;
    eval_graph(eval, g, in, out);
    for (int i = 0; i < g->n_outputs; i++) {
        Tensor *copy = ARENA_NEW(arena, Tensor);
        *copy = *out[i];
        void *data = arena_alloc(arena, copy->bytes + 1);
        memcpy(data, out[i]->data, copy->bytes);
        copy->data = data, out[i] = copy;
    }
    eval_free(eval);
}

// Through all passes, or lowered as it is. The passes must keep its values, up to rounding, and the
// program must have the bits of the last graph.
static void emit_graph(CasePlace at, Graph *g, int64_t size, uint64_t seed, bool passes) {
    const Tensor *in[MOST_TENSORS], *before[MOST_TENSORS], *after[MOST_TENSORS];
    if (g->n_inputs > MOST_TENSORS || g->n_outputs > MOST_TENSORS)
        diag_fatal(NO_LOC, "too many tensors");
    for (int i = 0; i < g->n_inputs; i++)
        in[i] = random_tensor(at.arena, &g->inputs[i]->type, size, &seed);
    interpret(at.arena, g, size, in, before);
    Module *m = ARENA_NEW(at.arena, Module);
    *m = (Module){.arena = at.arena,
                  .name = at.name,
                  .graphs = &g,
                  .n_graphs = 1,
                  .description = "",
                  .bos = -1,
                  .context = 64};
    PassContext c = {
        .arena = at.arena, .module = m, .stop_after = -1, .context = 64, .max_rows = 64};
    if (passes && !passes_run(m, &c)) diag_fatal(NO_LOC, "the passes stop");
    interpret(at.arena, g, size, in, after);
    for (int i = 0; i < g->n_outputs; i++)
        if (!is_near(before[i], after[i])) diag_fatal(NO_LOC, "the passes change output %d", i);
    LowerOptions options = {.guarded = getenv("GUARDED") != NULL};
    case_write_values(at,
                      (CaseHeader){.n_inputs = g->n_inputs, .n_outputs = g->n_outputs, .exact = 1},
                      in, after);
    case_write_program(at, lower_module(at.arena, m, &options));
}
#endif
