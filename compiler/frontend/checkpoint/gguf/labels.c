// A classifier's labels as config.json's id2label: their names, or numbers for the rows of its last
// matrix.
#include <inttypes.h>

#include "frontend/checkpoint/gguf/gguf.h"

json_t *gguf_labels(const Gguf *g, const char *architecture) {
    const GgufTensor *head = gguf_tensor(g, "cls.output.weight");
    if (!head) head = gguf_tensor(g, "cls.weight");
    uint64_t named, n = head && head->rank == 2 ? head->dims[1] : head ? 1 : 0;
    const GgufString *names = gguf_strings(
        g, arena_printf(g->arena, "%s.classifier.output_labels", architecture), &named);
    if (!n || n > INT16_MAX) return NULL;
    json_t *labels = json_object();
    for (uint64_t i = 0; i < n; i++) {
        json_t *name = i < named ? json_stringn(names[i].bytes, names[i].length) : NULL;
        json_object_set_new(labels, arena_printf(g->arena, "%" PRIu64, i),
                            name ? name : json_sprintf("LABEL_%" PRIu64, i));
    }
    return labels;
}
