// What goes on with a product's result head by head (rotary embeddings, rows into a cache) waits for no other head: whoever
// computes the last of a head's panels goes on with it, while its rows are near.
//
//     for (TAKEN(matmul_units(60, rows))) {
//         matmul_q8_0_576x960(taken.part, rows, x, w, y);
//         for (COMPLETE(60, 4, 0, rows)) rotary_64(HEAD(0), rows, y, c_table, s_table, s->position, y);
//     }
//
// Heads that one piece has all of need no account; the others have a count of what is done of them: panels times blocks of
// rows.
#ifndef BURIN_HEADS_H
#define BURIN_HEADS_H
#include "kernels/matmul.h"
#include "taken.h"

typedef struct burin_heads {
    int head;                       // complete now
    int panels, each, first, rows;  // literals but the last: of the product, of a head; where its heads' counts begin
    burin_part part;                // of the product's units, that has just been computed
    int at, end, last;              // panels: the next, where the blocks of these end, where the part can have no more
    int groups, blocks;             // of panels: still to come; how many blocks of these panels' rows the part has
} burin_heads;

// Of one block of rows a part is panels, of more it goes through groups of panels as matmul_many does.
static inline burin_heads burin_heads_within(burin_part part, int panels, int each, int first, int rows) {
    burin_heads h = {.panels = panels, .each = each, .first = first, .rows = rows, .part = part};
    if (row_blocks(rows) > 1)
        h.last = h.panels, h.groups = groups_of(h.panels);
    else
        h.at = part.first, h.end = h.last = part.last, h.blocks = 1;
    return h;
}

static inline bool burin_next_group(burin_heads *h) {
    if (!h->groups) return false;
    const int all = row_blocks(h->rows), width = (h->panels - h->at + h->groups - 1) / h->groups, start = h->at * all;
    h->blocks = blocks_before(h->part.last, start, width, all) - blocks_before(h->part.first, start, width, all);
    h->end = h->at + width, h->groups--;
    return true;
}

// Are these the last of a head's units? What other threads wrote of it is visible then.
static inline bool burin_completes(const burin_step *s, int head, int units, int whole) {
    if (units == 0 || units == whole) return units != 0;
#ifdef BURIN_BARE
    return (void)s, (void)head, false;
#else
    atomic_int *done = &s->barrier->heads[head];
    if (atomic_fetch_add_explicit(done, units, memory_order_acq_rel) + units < whole) return false;
    atomic_store_explicit(done, 0, memory_order_relaxed);  // for the next layer, behind a barrier
    return true;
#endif
}

static inline bool burin_next_head(const burin_step *s, burin_heads *h) {
    const int whole = h->each * row_blocks(h->rows);
    int units = 0;
    while (h->at < h->end || burin_next_group(h)) {
        const int end = (h->at / h->each + 1) * h->each, to = burin_min(h->end, end);
        h->head = h->at / h->each;
        units += (to - h->at) * h->blocks;
        h->at = to;
        if (to < end && to < h->last) continue;
        if (burin_completes(s, h->first + h->head, units, whole)) return true;
        units = 0;
    }
    return false;
}

// Is it one of `count` heads from `first` on?
static inline bool burin_head_among(const burin_heads *h, int first, int count) {
    return h->head >= first && h->head < first + count;
}

static inline burin_part burin_head_from(const burin_heads *h, int first) {
    return (burin_part){h->head - first, h->head - first + 1};
}
#endif
