// Tile fusion: consumers of a kernel's result (rotary embeddings, rows into a cache, rows to int8)
// wait for no other tile: the thread that finishes a tile's last unit runs them, while its rows are
// in the cache. A tile is some columns of all rows, in attention a head.
//
//     FOR_EACH_SLICE(60, rows) {
//         matmul_q8_0_576x960(slices.range, rows, x, w, y);
//         FOR_EACH_FINISHED_TILE(60, 4, 0, rows) rotary_64(TILE_RANGE(0, 1), rows, y, c_table, s_table, s->position, y);
//     }
//     FOR_EACH_ATTENTION_SLICE(9, rows) {
//         attention_9x3x64(slices.range, s, thread, rows, slot, position, y, keys, values, a);
//         FOR_EACH_FINISHED_HEAD(15, rows) quantize_rows_576(ALL(rows), TILE_RANGE(0, 2), a, q);
//     }
//
// Tiles of a single part need no account; all others count their finished units of the producer.
#ifndef BURIN_TILES_H
#define BURIN_TILES_H
#include "kernels/attention.h"
#include "kernels/matmul.h"
#include "slices.h"

typedef struct burin_tiles {
    int tile;           // complete now
    int each, whole;    // of a tile: panels, or units that follow each other; its units in all
    int first;          // where the counts of these tiles begin
    burin_range range;  // of the maker's units, that has just been computed
    int at, end,
        last;  // panels: the next, where the block of these ends, where the part can have no more
    int groups,
        blocks;  // of panels: still to come; how many blocks of these panels' rows the part has
    int panels, row_blocks;  // of a product of more than one block of rows
} burin_tiles;

// Units follow each other, `each` for a tile.
static inline burin_tiles burin_tiles_in_order(burin_range range, int each, int first) {
    return (burin_tiles){.each = each,
                         .whole = each,
                         .first = first,
                         .at = range.first,
                         .end = range.last,
                         .last = range.last,
                         .blocks = 1};
}

// Of one block of rows a part is panels, of more it goes through groups of panels as matmul_many
// does.
static inline burin_tiles burin_finished_tiles(burin_range range, int panels, int each, int first,
                                               int rows) {
    const int blocks = row_blocks(rows);
    if (blocks == 1) return burin_tiles_in_order(range, each, first);
    return (burin_tiles){.each = each,
                         .whole = each * blocks,
                         .first = first,
                         .range = range,
                         .last = panels,
                         .groups = groups_of(panels),
                         .panels = panels,
                         .row_blocks = blocks};
}

static inline burin_tiles burin_finished_heads(burin_range range, int first, int rows) {
    return burin_tiles_in_order(range, attention_units(1, rows), first);
}

static inline bool burin_next_group(burin_tiles *h) {
    if (!h->groups) return false;
    const int all = h->row_blocks, width = (h->panels - h->at + h->groups - 1) / h->groups,
              start = h->at * all;
    h->blocks = blocks_before(h->range.last, start, width, all) -
                blocks_before(h->range.first, start, width, all);
    h->end = h->at + width, h->groups--;
    return true;
}

// Returns true for the last of a tile's units. The other threads' writes to it are visible then.
static inline bool burin_finishes_tile(const burin_step *s, int tile, int units, int whole) {
    if (units == 0 || units == whole) return units != 0;
#ifdef BURIN_BARE
    return (void)s, (void)tile, false;
#else
    atomic_int *done = &s->barrier->done[tile];
    if (atomic_fetch_add_explicit(done, units, memory_order_acq_rel) + units < whole) return false;
    atomic_store_explicit(done, 0, memory_order_relaxed);  // for the next layer, after a barrier
    return true;
#endif
}

static inline bool burin_next_tile(const burin_step *s, burin_tiles *h) {
    int units = 0;
    while (h->at < h->end || burin_next_group(h)) {
        const int end = (h->at / h->each + 1) * h->each, to = burin_min(h->end, end);
        h->tile = h->at / h->each;
        units += (to - h->at) * h->blocks;
        h->at = to;
        if (to < end && to < h->last) continue;
        if (burin_finishes_tile(s, h->first + h->tile, units, h->whole)) return true;
        units = 0;
    }
    return false;
}

// Returns true for one of `count` tiles from `first` on.
static inline bool burin_tile_in(const burin_tiles *h, int first, int count) {
    return h->tile >= first && h->tile < first + count;
}

// The consumer's range in the finished tiles; it begins with tile `first` and has `each` units for
// a tile
static inline burin_range burin_tile_range(const burin_tiles *h, int first, int each) {
    return (burin_range){(h->tile - first) * each, (h->tile - first + 1) * each};
}
#endif
