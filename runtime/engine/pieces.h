// What goes on with pieces of a kernel's result (rotary embeddings, rows into a cache, rows to int8) waits for no other piece:
// whoever computes the last of a piece's units goes on with it, while its rows are near. A piece is some columns of all rows,
// of attention a head.
//
//     for (TAKEN(60, rows)) {
//         matmul_q8_0_576x960(taken.part, rows, x, w, y);
//         for (COMPLETE(60, 4, 0, rows)) rotary_64(PIECE(0, 1), rows, y, c_table, s_table, s->position, y);
//     }
//     for (ATTENDING(9, rows)) {
//         attention_9x3x64(taken.part, s, thread, rows, slot, position, y, keys, values, a);
//         for (ATTENDED(15, rows)) quantize_rows_576(EVERY(rows), PIECE(0, 2), a, q);
//     }
//
// Pieces that one part has all of need no account; the others have a count of what is done of them: units of their maker.
#ifndef BURIN_PIECES_H
#define BURIN_PIECES_H
#include "kernels/attention.h"
#include "kernels/matmul.h"
#include "taken.h"

typedef struct burin_pieces {
    int piece;               // complete now
    int each, whole;         // of a piece: panels, or units that follow each other; its units in all
    int first;               // where the counts of these pieces begin
    burin_part part;         // of the maker's units, that has just been computed
    int at, end, last;       // panels: the next, where the block of these ends, where the part can have no more
    int groups, blocks;      // of panels: still to come; how many blocks of these panels' rows the part has
    int panels, row_blocks;  // of a product of more than one block of rows
} burin_pieces;

// Units follow each other, `each` for a piece.
static inline burin_pieces burin_pieces_in_line(burin_part part, int each, int first) {
    return (burin_pieces){
        .each = each, .whole = each, .first = first, .at = part.first, .end = part.last, .last = part.last, .blocks = 1};
}

// Of one block of rows a part is panels, of more it goes through groups of panels as matmul_many does.
static inline burin_pieces burin_completed(burin_part part, int panels, int each, int first, int rows) {
    const int blocks = row_blocks(rows);
    if (blocks == 1) return burin_pieces_in_line(part, each, first);
    return (burin_pieces){.each = each,
                          .whole = each * blocks,
                          .first = first,
                          .part = part,
                          .last = panels,
                          .groups = groups_of(panels),
                          .panels = panels,
                          .row_blocks = blocks};
}

static inline burin_pieces burin_attended(burin_part part, int first, int rows) {
    return burin_pieces_in_line(part, attention_units(1, rows), first);
}

static inline bool burin_next_group(burin_pieces *h) {
    if (!h->groups) return false;
    const int all = h->row_blocks, width = (h->panels - h->at + h->groups - 1) / h->groups, start = h->at * all;
    h->blocks = blocks_before(h->part.last, start, width, all) - blocks_before(h->part.first, start, width, all);
    h->end = h->at + width, h->groups--;
    return true;
}

// Are these the last of a piece's units? What other threads wrote of it is visible then.
static inline bool burin_completes(const burin_step *s, int piece, int units, int whole) {
    if (units == 0 || units == whole) return units != 0;
#ifdef BURIN_BARE
    return (void)s, (void)piece, false;
#else
    atomic_int *done = &s->barrier->done[piece];
    if (atomic_fetch_add_explicit(done, units, memory_order_acq_rel) + units < whole) return false;
    atomic_store_explicit(done, 0, memory_order_relaxed);  // for the next layer, behind a barrier
    return true;
#endif
}

static inline bool burin_next_piece(const burin_step *s, burin_pieces *h) {
    int units = 0;
    while (h->at < h->end || burin_next_group(h)) {
        const int end = (h->at / h->each + 1) * h->each, to = burin_min(h->end, end);
        h->piece = h->at / h->each;
        units += (to - h->at) * h->blocks;
        h->at = to;
        if (to < end && to < h->last) continue;
        if (burin_completes(s, h->first + h->piece, units, h->whole)) return true;
        units = 0;
    }
    return false;
}

// Is it one of `count` pieces from `first` on?
static inline bool burin_piece_among(const burin_pieces *h, int first, int count) {
    return h->piece >= first && h->piece < first + count;
}

// What a kernel has to do of it, which begins with piece `first` and makes `each` units of one
static inline burin_part burin_piece_from(const burin_pieces *h, int first, int each) {
    return (burin_part){(h->piece - first) * each, (h->piece - first + 1) * each};
}
#endif
