// Metadata with one value for each layer.
#include <inttypes.h>

#include "frontend/checkpoint/gguf/gguf.h"

bool gguf_number_of_layers(const Gguf *g, const char *key, int64_t *number) {
    uint64_t n;
    const int32_t *of = gguf_ints(g, key, &n);
    *number = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (*number && of[i] && of[i] != *number) return false;
        *number = of[i] ? of[i] : *number;
    }
    return true;
}

json_t *gguf_kinds_of_layers(const Gguf *g, const char *architecture, const GgufValue *v,
                             bool full_first) {
    int64_t layers = (int64_t)v->n, every = 0;
    json_t *kinds = json_array();
    if (!v->is_array) {
        gguf_int(g, v->key, &every);
        if (every < 0)
            file_fatal(g->file, "metadata \"%s\" is %" PRId64 ", expected a number of layers",
                       v->key, every);
        gguf_int(g, arena_printf(g->arena, "%s.block_count", architecture), &layers);
    }
    if (!v->is_array && (uint64_t)layers > g->n_tensors)
        layers = (int64_t)g->n_tensors;  // each has one at least
    for (int64_t i = 0; i < layers; i++) {
        bool near =
            v->is_array ? v->data[i] : every <= 0 || i % every != (full_first ? 0 : every - 1);
        json_array_append_new(kinds, json_string(near ? "sliding_attention" : "full_attention"));
    }
    return kinds;
}
