// The parts of a slot's state, so that the runtime can save exactly the rows that a slot has read.
// Caches have the layout of runtime/kernels/kv_cache.h.
#include <string.h>

#include "codegen/emit.h"

enum { POSITIONS = 16 };  // of a block

typedef struct {
    uint64_t offset, parts, part, block,
        lane;  // bytes; lane: of one position, in blocks that have them side by side
    const char *layout;
    uint64_t window;
} Piece;

static void write_piece(Text *t, const StateSlice *s, Piece p) {
    text_add(t, "    {%llu, %llu, %s, %llu, %llu, %llu, %s, %llu},\n", (unsigned long long)p.offset,
             (unsigned long long)p.parts, p.layout, (unsigned long long)p.lane,
             (unsigned long long)p.part, (unsigned long long)p.block,
             attr_int(s->node, "memory", 0) ? "true" : "false", (unsigned long long)p.window);
}

static void write_cache_pieces(Text *t, const StateSlice *s) {
    CacheShape c = cache_shape(s->node);
    uint64_t row = c.width * c.element, scales = c.scales * sizeof(uint16_t);
    if (c.last) {
        write_piece(t, s, (Piece){s->offset, c.heads, row, row, 0, "BURIN_WHOLE", c.window});
        return;
    }
    write_piece(
        t, s,
        (Piece){s->offset, c.heads, row * c.capacity, row * POSITIONS, c.keys ? c.element : 0,
                c.keys ? "BURIN_BY_LANE" : "BURIN_BY_POSITION", c.window});
    if (scales)
        write_piece(t, s,
                    (Piece){s->offset + c.heads * c.capacity * row, c.heads, scales * c.capacity,
                            scales * POSITIONS, sizeof(uint16_t), "BURIN_BY_LANE", c.window});
}

void write_states(Text *t, const Program *p) {
    text_add(t, "static const burin_state_part states[] = {\n");
    for (int i = 0; i < p->n_states; i++) {
        const StateSlice *s = p->states[i];
        if (s->node->type.rank == 4)
            write_cache_pieces(t, s);
        else
            write_piece(t, s, (Piece){s->offset, 1, s->bytes, s->bytes, 0, "BURIN_WHOLE", 0});
    }
    text_add(t, "%s};\n\n", p->n_states ? "" : "    {0},\n");
}
