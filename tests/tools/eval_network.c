// The interpreter's results for the inputs of run_network.c: eval_network FILE.ir
// [SYMBOL=VALUE...]. Prints the hash of all outputs.
#include <stdio.h>
#include <stdlib.h>

#include "engine/hash.h"
#include "ir/eval/eval.h"
#include "ir_text.h"
#include "net_fill.h"

enum { MAX_TENSORS = 16 };

typedef struct Values {
    char **arguments;
    int n;
} Values;

static int64_t value_of(const Dim *symbol, void *user) {
    const Values *v = user;
    size_t length = strlen(symbol->name);
    for (int i = 0; i < v->n; i++)
        if (!strncmp(v->arguments[i], symbol->name, length) && v->arguments[i][length] == '=')
            return atoi(v->arguments[i] + length + 1);
    return symbol->value;
}

static const Tensor *input_value(Arena *arena, const Node *n, int input, Values *values) {
    Tensor *t = ARENA_NEW(arena, Tensor);
    *t = (Tensor){.dtype = n->type.dtype, .rank = n->type.rank};
    for (int i = 0; i < t->rank; i++) t->dim[i] = dim_eval(n->type.dim[i], value_of, values);
    t->bytes = dtype_bytes(t->dtype, tensor_count(t));
    void *data = arena_alloc(arena, t->bytes + 1);
    fill_input(dtype_name(t->dtype), tensor_count(t), input, data);
    t->data = data;
    return t;
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    Arena *arena = arena_new();
    Graph *g = load_ir_text(arena, argv[1]);
    Values values = {argv + 2, argc - 2};
    EvalContext *c = eval_new(EVAL_F32);
    const Tensor *inputs[MAX_TENSORS], *outputs[MAX_TENSORS];
    for (int i = 0; i < g->n_inputs; i++) inputs[i] = input_value(arena, g->inputs[i], i, &values);
    eval_graph(c, g, inputs, outputs);
    uint64_t hash = burin_hash_start;
    for (int i = 0; i < g->n_outputs; i++)
        hash = burin_hash_bytes(hash, outputs[i]->data, outputs[i]->bytes);
    printf("%016llx\n", (unsigned long long)hash);
    eval_free(c);
    graph_free(g);
    arena_free(arena);
    return 0;
}
