// The interpreter's results for the tokens of run_emitted.c: eval_ir FILE.ir [CHUNK [TOKENS]].
// Prints the hash of all logits.
#include <stdio.h>
#include <stdlib.h>

#include "engine/hash.h"
#include "ir/eval/eval.h"
#include "ir_text.h"

enum { MAX_TOKENS = 64 };

static int64_t vocabulary(const Graph *g) {
    const Type *type = &g->outputs[0]->type;
    return dim_upper(type->dim[type->rank - 1]);
}

static Tensor row_values(DType dtype, int n, const void *data) {
    return (Tensor){
        .dtype = dtype, .rank = 1, .dim = {n}, .data = data, .bytes = dtype_bytes(dtype, n)};
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    Arena *arena = arena_new();
    Graph *g = load_ir_text(arena, argv[1]);
    int chunk = argc > 2 ? atoi(argv[2]) : 16, tokens = argc > 3 ? atoi(argv[3]) : 40;
    EvalContext *c = eval_new(EVAL_F32);
    eval_set_symbol(c, "S", 1);
    uint64_t hash = burin_hash_start;
    for (int at = 0; at < tokens; at += chunk) {
        int n = tokens - at < chunk ? tokens - at : chunk;
        int32_t token[MAX_TOKENS], slot[MAX_TOKENS] = {0}, position[MAX_TOKENS];
        uint8_t logit_rows[MAX_TOKENS];
        for (int i = 0; i < n; i++) {
            token[i] = (int32_t)(((at + i) * 37 + 11) % vocabulary(g));
            position[i] = at + i;
            logit_rows[i] = (at + i) % 3 != 1;
        }
        Tensor rows[4] = {row_values(DT_i32, n, token), row_values(DT_i32, n, slot),
                          row_values(DT_i32, n, position), row_values(DT_bool, n, logit_rows)};
        const Tensor *logits[1];
        eval_graph(c, g, (const Tensor *[]){&rows[0], &rows[1], &rows[2], &rows[3]}, logits);
        hash = burin_hash_bytes(hash, logits[0]->data, logits[0]->bytes);
    }
    printf("%016llx\n", (unsigned long long)hash);
    eval_free(c);
    graph_free(g);
    arena_free(arena);
    return 0;
}
