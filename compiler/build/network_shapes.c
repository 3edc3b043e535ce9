#include "build/network_shapes.h"

static struct {
    const Program *program;
    const NetDescription *description;
    burin_network net;
} network;

typedef struct Sizes {
    const Program *program;
    const int64_t *symbols;
} Sizes;

int64_t network_symbol(const Program *p, const Dim *symbol, const int64_t *symbols) {
    for (int i = 0; i < p->n_symbols; i++)
        if (p->symbols[i] == symbol) return symbols[i];
    for (int i = 0; i < p->n_data_dependent; i++)
        if (p->data_dependent[i] == symbol) return symbols[p->n_symbols + i];
    return symbol->lower;
}

static int64_t value_of(const Dim *symbol, void *user) {
    const Sizes *s = user;
    return network_symbol(s->program, symbol, s->symbols);
}

static int64_t dimension(int k, const int64_t *symbols) {
    return dim_eval(network.description->dims[k], value_of, &(Sizes){network.program, symbols});
}

const burin_network *network_of(const Program *p) {
    network.program = p;
    network.description = describe_net(p);
    network.net = network.description->net;
    network.net.dimension = dimension;
    return &network.net;
}

const Tensor **network_inputs(Arena *arena, const Program *p, const void *const *data,
                              const int64_t *symbols) {
    const Graph *g = p->graph;
    const Tensor **inputs = ARENA_ARRAY(arena, const Tensor *, g->n_inputs + 1);
    for (int i = 0; i < g->n_inputs; i++) {
        const Type *type = &g->inputs[i]->type;
        Tensor *t = ARENA_NEW(arena, Tensor);
        *t = (Tensor){.dtype = type->dtype, .rank = type->rank, .data = data[i]};
        for (int j = 0; j < type->rank; j++)
            t->dim[j] = dim_eval(type->dim[j], value_of, &(Sizes){p, symbols});
        t->bytes = dtype_bytes(t->dtype, tensor_count(t));
        inputs[i] = t;
    }
    return inputs;
}
