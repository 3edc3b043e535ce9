// Tile fusion: kernels that run on each finished tile of a producer, without waiting for the rest
// (runtime/engine/tiles.h):
//
//   %qkv = matmul_packed(%x, %w)                                        threads divide panels; a tile is a head
//   %q = rotary_embedding(slice(%qkv)), %k = rotary_embedding(...)      fused: heads 0 to 8, 9 to 11
//   cache_append(%kc, %k), cache_append(%vc, slice(%qkv))               fused: heads 9 to 11, 12 to 14
//   %a = attention(%q, %kc, %vc)                                        barrier; a tile is a head
//   %a8 = quantize_rows(%a)                                             fused
//   %o = matmul_packed(%a8, %w2)                                        barrier
//
// A tile is some columns of all rows: all tiles have one width and begin at a multiple of it.
// Rotary embeddings and caches need heads of whole panels, quantization needs whole blocks of 32. A
// fused kernel directly follows its producer, reads only the tile's part of the result, and writes
// nothing that the other fused kernels touch. Not fused, so separate kernels after a barrier: heads
// that share a panel, values wider than keys, integer rows with one zero point, several sequences
// in one step, ranks, kernels in loops and branches of a graph, and everything under `burin check`,
// which records every result.
//
// Decided before buffers are placed: all memory of one fused group is live at the same time.
#include "kernels/quantize.h"
#include "lower/lowering.h"

enum {
    MAX_TILES = 1024,
    MOST_BLOCKS = 4
};  // BURIN_MAX_TILES of runtime/engine/threads.h; of a product's tile

static bool makes_tiles(const Program *p, const Kernel *k) {
    bool alone = !k->per_sequence && !p->over_ranks && !p->compared && !p->n_regions;
    return alone && (k->family == FAMILY_MATMUL || k->family == FAMILY_ATTENTION);
}

static bool takes_heads(const Kernel *k) {
    return k->family == FAMILY_ROTARY || k->family == FAMILY_APPEND;
}
static bool takes_blocks(const Kernel *k) {
    return k->family == FAMILY_QUANTIZE && k->out[0].type.dtype == DT_q8_rows;
}

static bool columns_of(const View *v, int64_t *columns) {
    return v->base == BASE_BUFFER && v->type.rank == 2 && dim_is_const(v->type.dim[1], columns);
}

// Where an operand begins in the columns of a maker's result; -1: it is not some columns of the
// same rows
static int64_t first_column(const View *y, const View *x) {
    int64_t from, begin, step;
    if (x->base != BASE_BUFFER || y->base != BASE_BUFFER || x->buffer != y->buffer) return -1;
    if (x->type.rank != 2 || y->type.rank != 2 || x->type.dim[0] != y->type.dim[0] ||
        x->stride[0] != y->stride[0])
        return -1;
    if (!dim_is_const(x->stride[1], &step) || step != 1) return -1;
    return dim_is_const(x->offset, &from) && dim_is_const(y->offset, &begin) ? from - begin : -1;
}

// The tile width that `k` needs as the first consumer; 0: none fits. Attention has its own, a head.
static int64_t tile_width(const Kernel *maker, const Kernel *k) {
    int64_t columns, all, heads;
    if (!columns_of(&k->in[0], &columns) || !columns_of(&maker->out[0], &all)) return 0;
    if (maker->family == FAMILY_ATTENTION) return all / kernel_int(maker, "num_heads", 1);
    if (takes_heads(k))
        return dim_is_const(k->share.count, &heads) && heads && columns % heads == 0
                   ? columns / heads
                   : 0;
    for (int blocks = MOST_BLOCKS; blocks; blocks /= 2)
        if (all % (QUANT_BLOCK * blocks) == 0) return QUANT_BLOCK * blocks;
    return 0;
}

static bool is_whole_tiles(const Kernel *maker, Kernel *k, int64_t width) {
    int64_t columns, all, heads, unit = takes_blocks(k) ? QUANT_BLOCK : LANES,
                                 first = first_column(&maker->out[0], &k->in[0]);
    if (!columns_of(&k->in[0], &columns) || !columns_of(&maker->out[0], &all) || width <= 0 ||
        width % unit)
        return false;
    if (all % width || first < 0 || first % width || columns % width || first + columns > all)
        return false;
    if (takes_heads(k) && (!dim_is_const(k->share.count, &heads) || columns != heads * width))
        return false;
    k->first_tile = (int)(first / width), k->n_tiles = (int)(columns / width);
    return true;
}

static const View *operand(const Kernel *k, int i) {
    return i < k->n_in ? &k->in[i] : &k->out[i - k->n_in];
}

static bool is_same_memory(const View *v, const View *w) {
    if (v->base != w->base) return false;
    if (v->base == BASE_BUFFER) return v->buffer == w->buffer;
    return (v->base == BASE_STATE && v->state == w->state) ||
           (v->base == BASE_OUTPUT && v->output == w->output);
}

// Returns true if two kernels of a group may run at once, apart from the tiles themselves.
static bool meet(const Kernel *maker, const Kernel *a, const Kernel *b) {
    for (int i = 0; i < a->n_in + a->n_out; i++)
        for (int j = 0; j < b->n_in + b->n_out; j++) {
            const View *v = operand(a, i), *w = operand(b, j);
            bool written = i >= a->n_in || j >= b->n_in;
            if (written && is_same_memory(v, w) && !is_same_memory(v, &maker->out[0])) return true;
        }
    return false;
}

// Returns true if only its first operand and its in-place result are in the producer's result.
static bool stays_in_its_tiles(const Kernel *maker, const Kernel *k) {
    for (int i = 1; i < k->n_in + k->n_out; i++) {
        const View *v = operand(k, i);
        if (is_same_memory(v, &maker->out[0]) && (i < k->n_in || !view_same_place(v, &k->in[0])))
            return false;
    }
    return true;
}

static bool can_fuse(const Program *p, int maker, int at, int64_t *width) {
    const Kernel *first = p->kernels[maker];
    Kernel *k = p->kernels[at];
    if ((!takes_heads(k) && !takes_blocks(k)) || k->per_sequence) return false;
    if (at == maker + 1) *width = tile_width(first, k);
    if (!is_whole_tiles(first, k, *width) || !stays_in_its_tiles(first, k)) return false;
    for (int i = maker; i < at; i++)
        if (meet(first, p->kernels[i], k)) return false;
    return true;
}

// The end of the kernels that run in the same iteration, including the last one, which may stop
// early: consumers of a kernel before that point are before it too
static int end_of_iteration(const Program *p, int kernel) {
    const Loop *l = &p->loop;
    int in_last = l->period - l->missing,
        behind = l->first + l->period * (l->iterations - 1) + in_last;
    if (!l->iterations || kernel >= behind) return p->n_kernels;
    if (kernel < l->first) return l->first;
    int of = representative(p, kernel) - l->first;
    return kernel - of + (of < in_last ? in_last : l->period);
}

static int count_fused(const Program *p, int maker, int64_t *width) {
    int n = 0, end = end_of_iteration(p, maker);
    while (maker + 1 + n < end && can_fuse(p, maker, maker + 1 + n, width)) n++;
    return n;
}

// Memory that all threads share: a row computed by tiles is not per-thread, even in a one-row step.
static void fuse_into(Kernel *k, const Kernel *like, const Kernel *maker) {
    k->fused_into = maker, k->replicated_if_one_row = false, k->first_tile = like->first_tile,
    k->n_tiles = like->n_tiles;
    if (k->out[0].base == BASE_BUFFER && k->family == FAMILY_QUANTIZE)
        k->out[0].buffer->per_thread = false;
}

// Those of a loop's first iteration are those of all: buffers and strides are the same in each.
void fuse_consumers(Program *p) {
    int tiles = 0;
    for (int i = 0; i < p->n_kernels; i++) {
        Kernel *k = p->kernels[i];
        const Kernel *like = p->kernels[representative(p, i)];
        int64_t width = 0;
        if (like != k) {
            k->n_fused = like->n_fused, k->tiles = like->tiles;
        } else if (makes_tiles(p, k) && (k->n_fused = count_fused(p, i, &width))) {
            int of_result = (int)(dim_upper(k->out[0].type.dim[1]) / width);
            k->tiles = (Tiles){(int)width, of_result, tiles};
            if (tiles + of_result > MAX_TILES) k->n_fused = 0;
            if (k->n_fused) tiles += of_result;
        }
        for (int j = 1; j <= k->n_fused; j++)
            fuse_into(p->kernels[i + j], p->kernels[representative(p, i + j)], k);
    }
}
