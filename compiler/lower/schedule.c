// Barriers. All threads run every kernel, each its range; a barrier goes before a kernel that
// touches memory that another thread may have written (or writes memory that another may still
// read) since the last barrier, and nowhere else.
//
//   matmul writes qkv by panels; rotary reads and writes q by heads        -> barrier, unless it is fused by tiles (tile_fusion.c)
//   rotary writes k by heads; cache_append reads k by the same heads       -> none
//   norm writes n (one row: every thread its own copy; more: by rows)      -> matmul reads it: none, or a barrier
//
// Barriers go before each loop iteration, before each branch condition and after the region:
// inside, the analysis starts anew.
//
// Steps of one row and of more rows are two schedules over the same kernels. Hazards are between
// memory ranges, not values: a buffer that reuses another's memory is a hazard too.
#include <string.h>

#include "lower/lowering.h"

typedef struct Access {
    const View *view;
    const Dim *count;  // elements of the view
    Share share;
    const RankShare *ranks;
    bool own_part, write, per_sequence;
    bool contiguous;
    bool alone;  // the kernel's work is one unit, so one thread does all of it: the same for all
                 // such kernels
} Access;

enum {
    MOST_ACCESSES = 4096
};  // without a barrier; after these one is placed in any case, which bounds the time

typedef struct Since {  // the last barrier
    Access *list;
    int n;
    bool one_row;
} Since;

static bool in_local(const View *v, bool one_row) {
    return v->base == BASE_BUFFER && v->buffer->per_thread && one_row;
}

bool share_memory(const View *a, const View *b, bool one_row) {
    if (a->base != b->base || in_local(a, one_row) || in_local(b, one_row)) return false;
    if (a->base == BASE_STATE) return a->state == b->state;
    if (a->base == BASE_OUTPUT) return a->output == b->output;
    if (a->base != BASE_BUFFER) return false;
    const Buffer *x = a->buffer, *y = b->buffer;
    if (x->fixed_size != y->fixed_size) return false;
    if (x->fixed_size) one_row = false;
    uint64_t at_x = one_row ? x->single_offset : x->arena_offset,
             at_y = one_row ? y->single_offset : y->arena_offset;
    return x == y || (at_x < at_y + y->row_bytes && at_y < at_x + x->row_bytes);
}

// Column slices of the same rows do not meet.
static bool apart(const View *a, const View *b) {
    int64_t x, y, width_a, width_b, stride;
    if (a->type.rank != 2 || b->type.rank != 2 || a->stride[0] != b->stride[0] ||
        !dim_is_const(a->stride[0], &stride))
        return false;
    if (!dim_is_const(a->offset, &x) || !dim_is_const(b->offset, &y)) return false;
    if (!dim_is_const(a->type.dim[1], &width_a) || !dim_is_const(b->type.dim[1], &width_b))
        return false;
    if (x + width_a > stride || y + width_b > stride) return false;
    return x + width_a <= y || y + width_b <= x;
}

static bool is_by_rows(ShareKind k) { return k == SHARE_ROWS || k == SHARE_OUTER; }

// Of a contiguous value a thread touches one stretch: its part of the rows, whatever the axes are
// called.
static bool same_stretch(const Access *a, const Access *b) {
    if (!is_by_rows(a->share.kind) || !is_by_rows(b->share.kind) || a->per_sequence ||
        a->ranks->units)
        return false;
    if (!a->contiguous || !b->contiguous) return false;
    return a->count == b->count;
}

// Returns true if each thread touches the same elements in both.
static bool same_owner(const Access *a, const Access *b) {
    if (a->per_sequence != b->per_sequence) return false;
    if (!a->own_part || !b->own_part || a->share.count != b->share.count) return false;
    if (memcmp(a->ranks, b->ranks, sizeof *a->ranks)) return false;
    if (same_stretch(a, b)) return true;
    if (a->share.kind != b->share.kind) return false;
    if (a->share.kind != SHARE_ROWS) return view_same_place(a->view, b->view);
    int64_t x, y, stride;
    if (a->view->stride[0] != b->view->stride[0] || !dim_is_const(a->view->stride[0], &stride))
        return false;
    return dim_is_const(a->view->offset, &x) && dim_is_const(b->view->offset, &y) && x < stride &&
           y < stride;
}

static bool conflict(const Access *a, const Access *b, bool one_row) {
    if ((!a->write && !b->write) || (a->alone && b->alone)) return false;
    if (!share_memory(a->view, b->view, one_row)) return false;
    if (a->view->base == BASE_BUFFER && a->view->buffer != b->view->buffer) return true;
    return !apart(a->view, b->view) && !same_owner(a, b);
}

static Access access_of(const Kernel *k, int operand, bool one_row) {
    bool write = operand >= k->n_in;
    const View *v = write ? &k->out[operand - k->n_in] : &k->in[operand];
    const bool shared = !k->dynamic && !k->fused_into && !(k->replicated_if_one_row && one_row);
    return (Access){.view = v,
                    .count = type_count(k->node->graph, &v->type),
                    .share = k->share,
                    .ranks = &k->ranks,
                    .own_part = v->own_part && shared,
                    .write = write,
                    .per_sequence = k->per_sequence && !one_row,
                    .contiguous = v->base == BASE_BUFFER && view_is_contiguous(k->node->graph, v),
                    .alone = shared && !k->per_sequence && !k->ranks.units &&
                             is_by_rows(k->share.kind) && dim_is(k->share.count, 1)};
}

static bool needs_barrier_alone(const Since *since, const Kernel *k) {
    for (int i = 0; i < k->n_in + k->n_out; i++) {
        Access a = access_of(k, i, since->one_row);
        if (in_local(a.view, since->one_row)) continue;
        if (since->n > MOST_ACCESSES) return true;
        for (int j = 0; j < since->n; j++)
            if (conflict(&since->list[j], &a, since->one_row)) return true;
    }
    return false;
}

// A producer waits for the operands of its fused consumers.
static bool needs_barrier(const Program *p, const Since *since, int kernel) {
    if (p->kernels[kernel]->fused_into) return false;
    for (int i = kernel; i <= kernel + p->kernels[kernel]->n_fused; i++)
        if (needs_barrier_alone(since, p->kernels[i])) return true;
    return false;
}

// Returns true if one of the latest accesses conflicts with all that this one conflicts with: long
// chains of kernels use the same few buffers again and again.
static bool is_remembered(const Since *since, const Access *a) {
    enum { LATEST = 32 };
    for (int i = since->n - 1; i >= 0 && i >= since->n - LATEST; i--) {
        const Access *b = &since->list[i];
        bool same_kind = a->write == b->write && a->own_part == b->own_part &&
                         a->per_sequence == b->per_sequence && a->contiguous == b->contiguous &&
                         a->alone == b->alone;
        bool same_share = a->share.kind == b->share.kind && a->share.count == b->share.count &&
                          b->ranks && !memcmp(a->ranks, b->ranks, sizeof *a->ranks);
        if (same_kind && same_share && a->view->base == BASE_BUFFER &&
            view_same_place(a->view, b->view))
            return true;
    }
    return false;
}

static void remember(Since *since, const Kernel *k) {
    for (int i = 0; i < k->n_in + k->n_out; i++) {
        Access a = access_of(k, i, since->one_row);
        if (!in_local(a.view, since->one_row) && !is_remembered(since, &a))
            since->list[since->n++] = a;
    }
}

// A loop's kernels wait in every iteration or in none.
int representative(const Program *p, int kernel) {
    const Loop *loop = &p->loop;
    int end = loop->first + loop->period * loop->iterations - loop->missing;
    return loop->iterations && kernel >= loop->first && kernel < end
               ? loop->first + (kernel - loop->first) % loop->period
               : kernel;
}

static bool *flag(Kernel *k, bool one_row) {
    return one_row ? &k->barrier_decode : &k->barrier_prefill;
}

// Reading a condition is an access that later writes must wait for: another thread may not have
// read it yet.
static void ask(Since *since, const View *v) {
    if (v->base == BASE_BUFFER || v->base == BASE_OUTPUT)
        since->list[since->n++] = (Access){.view = v};
}

// Thread 0 reads them again after the loop, to tell whether it would go on.
static bool reads_condition(const Region *r, int kernel) {
    return kernel == r->first || (kernel == r->middle && kernel < r->end) ||
           (r->is_loop && kernel == r->end);
}

static void cross_regions(const Program *p, int kernel, Since *since) {
    for (int i = 0; i < p->n_regions; i++) {
        const Region *r = &p->regions[i];
        if (kernel == r->first || kernel == r->middle || kernel == r->end) since->n = 0;
    }
    for (int i = 0; i < p->n_regions; i++) {
        const Region *r = &p->regions[i];
        if (reads_condition(r, kernel)) ask(since, &r->most), ask(since, &r->condition);
    }
}

static void place_for(Program *p, bool one_row) {
    int n_operands = 2 * p->n_regions + p->n_kernels;
    for (int i = 0; i < p->n_kernels; i++) n_operands += p->kernels[i]->n_in + p->kernels[i]->n_out;
    Since since = {.list = ARENA_ARRAY(p->arena, Access, n_operands + 1), .one_row = one_row};
    for (int i = 0; i < p->n_kernels; i++) {
        Kernel *k = p->kernels[i];
        cross_regions(p, i, &since);
        if (needs_barrier(p, &since, i)) {
            *flag(p->kernels[representative(p, i)], one_row) = true;
            since.n = 0;
        }
        remember(&since, k);
        if (k->ranks.gathered) since.n = 0;  // barriers before and after it
        if (k->defines) since.n = 0, ask(&since, &k->out[k->n_out - 1]);
    }
    for (int i = 0; i < p->n_kernels; i++)
        *flag(p->kernels[i], one_row) = *flag(p->kernels[representative(p, i)], one_row);
}

// Products and attention are large enough. Those that go text by text are called by some threads
// only; ranks have shares.
static bool is_dynamic(const Program *p, const Kernel *k) {
    return (k->family == FAMILY_MATMUL || k->family == FAMILY_ATTENTION) && !k->per_sequence &&
           !p->over_ranks;
}

void place_barriers(Program *p) {
    for (int i = 0; i < p->n_kernels; i++) p->kernels[i]->dynamic = is_dynamic(p, p->kernels[i]);
    place_for(p, true);
    place_for(p, false);
    p->plan.barriers_decode = p->plan.barriers_prefill = 0;
    for (int i = 0; i < p->n_kernels; i++) {
        p->plan.barriers_decode += p->kernels[i]->barrier_decode;
        p->plan.barriers_prefill += p->kernels[i]->barrier_prefill;
    }
}
