// A graph in IR text, for tests of the code generator. Constants that the text names by hash get
// numbers of their own: a fixed sequence that starts from the hash.
#ifndef IR_TEXT_H
#define IR_TEXT_H
#include "ir.h"
#include "ir/convert.h"

static inline uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

// Numbers near zero; norm weights (one axis) near one.
static inline void fill_constant(Arena *arena, Node *n) {
    Tensor *t = ARENA_NEW(arena, Tensor);
    int64_t count = 1;
    const Attr *name = attr_find(n, "name");
    *t = (Tensor){.dtype = n->type.dtype, .rank = n->type.rank, .name = name ? name->s : NULL};
    for (int i = 0; i < t->rank; i++) {
        dim_is_const(n->type.dim[i], &t->dim[i]);
        count *= t->dim[i];
    }
    t->bytes = dtype_bytes(t->dtype, count);
    void *data = arena_alloc(arena, t->bytes);
    uint64_t state = n->hash * 977;
    for (int64_t i = 0; i < count; i++) {
        double v = (next_random(&state) % 2001 - 1000.0) / 4000;
        dtype_store(t->dtype, data, i, t->rank == 1 ? 1 + v : v);
    }
    t->data = data;
    n->value = t;
}

static inline void fill_constants(Arena *arena, Graph *g) {
    for (Node *n = g->first; n; n = n->next) {
        if (n->op == OP_constant && !n->value) fill_constant(arena, n);
        for (const Attr *a = n->attrs; a; a = a->next)
            if (a->kind == ATTR_GRAPH) fill_constants(arena, a->graph);
    }
}

static inline Graph *load_ir_text(Arena *arena, const char *path) {
    Graph *g = graph_parse(read_source(arena, path), NULL);
    if (!g) diag_stop();
    fill_constants(arena, g);
    return g;
}
#endif
