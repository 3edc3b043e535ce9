// The pieces of a slot's state, so that the runtime can save what a slot has read and no more. Caches lie as in
// runtime/attention.h.
#include <string.h>

#include "codegen/emit.h"

enum { POSITIONS = 16 };  // of a block

static void write_state(Text *t, const StateSlice *s) {
    const Node *n = s->node;
    bool cache = n->type.rank == 4 && n->type.dtype == DT_f32, key = !strcmp(attr_string(n, "kind", ""), "key");
    uint64_t parts = 1, part = s->bytes, block = s->bytes;
    if (cache) {
        uint64_t capacity = ((uint64_t)dim_upper(n->type.dim[2]) + POSITIONS - 1) / POSITIONS,
                 width = (uint64_t)dim_upper(n->type.dim[3]);
        if (!key) width = (width + POSITIONS - 1) / POSITIONS * POSITIONS;
        parts = (uint64_t)dim_upper(n->type.dim[1]), block = POSITIONS * width * sizeof(float), part = capacity * block;
    }
    text_add(t, "    {%llu, %llu, %s, %llu, %llu, %s},\n", (unsigned long long)s->offset, (unsigned long long)parts,
             !cache ? "BURIN_WHOLE"
             : key  ? "BURIN_BY_LANE"
                    : "BURIN_BY_POSITION",
             (unsigned long long)part, (unsigned long long)block, attr_int(n, "memory", 0) ? "true" : "false");
}

void write_states(Text *t, const Program *p) {
    text_add(t, "static const burin_state_part states[] = {\n");
    for (int i = 0; i < p->n_states; i++) write_state(t, p->states[i]);
    text_add(t, "%s};\n\n", p->n_states ? "" : "    {0},\n");
}
