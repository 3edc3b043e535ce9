// Work stealing by slices, so that a slow core delays only its current slice. Ranges are those of
// THREAD_RANGE; each is cut into slices, which its thread claims in order, followed by remaining
// slices of other threads. A slice is half of the rest of the range: few cuts, and small ones at
// the end, where threads wait for each other.
//
//     FOR_EACH_SLICE(24, rows) matmul_f32_384x384(slices.range, rows, x, w, y);
//
// A thread leaves a call when all its slices are claimed, not finished: readers wait at a barrier
// first. The thread of a slice changes no bit.
#ifndef BURIN_SLICES_H
#define BURIN_SLICES_H
#include "kernels/range.h"
#include "program.h"
#include "threads.h"

// Small work stays as it is shared.
enum { BURIN_SLICES = 4 };
#ifndef BURIN_SLICE_UNITS
#define BURIN_SLICE_UNITS 8  // of the last slice of a share with slices at least; tests say 0
#endif

typedef struct burin_slices {
    burin_range range;
    int count;      // units in all
    int whole;      // units that belong together: cuts are between them
    int from;       // how many threads' shares it is done with, its own the first
    unsigned call;  // 0: one slice, its own
} burin_slices;

static inline burin_range burin_share_of(int threads, int thread, int count) {
    return (burin_range){(int)((int64_t)count * thread / threads),
                         (int)((int64_t)count * (thread + 1) / threads)};
}

#ifdef BURIN_BARE
static inline unsigned burin_next_call(const burin_step *s, int thread) {
    return (void)s, (void)thread, 0;
}
static inline int burin_claim_slice(const burin_step *s, int thread, unsigned call) {
    return (void)s, (void)thread, (void)call, -1;
}
#else
static inline unsigned burin_next_call(const burin_step *s, int thread) {
    return s->barrier->claims[thread].call += 1 << 8;
}

// The next slice of a thread's range in this call, or -1. The word holds a call and its number of
// claimed slices: for an earlier call none are claimed; at a later one all are, since threads leave
// no slice unclaimed.
static inline int burin_claim_slice(const burin_step *s, int thread, unsigned call) {
    atomic_uint *word = &s->barrier->claims[thread].claimed;
    unsigned old = atomic_load_explicit(word, memory_order_relaxed), next;
    do {
        int later = (int)((old & ~255u) - call);
        next = later < 0 ? call : old;
        if (later > 0 || (next & 255) == BURIN_SLICES) return -1;
    } while (!atomic_compare_exchange_weak_explicit(word, &old, next + 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    return (int)(next & 255);
}
#endif

// In slices of at least `least` units, or in whole shares
static inline burin_slices burin_open_slices(const burin_step *s, int thread, int count, int whole,
                                             int least) {
    bool slices = s->threads > 1 && (count / s->threads) >> (BURIN_SLICES - 1) >= least;
    return (burin_slices){
        .count = count, .whole = whole, .call = slices ? burin_next_call(s, thread) : 0};
}

// The first unit of slice i of a range; after the last slice its end
static inline int burin_slice_begin(const burin_slices *t, burin_range share, int i) {
    if (i == BURIN_SLICES) return share.last;
    int at = share.last - ((share.last - share.first) >> i);
    at -= at % t->whole;
    return at > share.first ? at : share.first;
}

static inline bool burin_next_slice(const burin_step *s, int thread, burin_slices *t) {
    if (!t->call) {
        t->range = burin_share_of(s->threads, thread, t->count);
        return t->from++ == 0;
    }
    for (; t->from < s->threads; t->from++) {
        int who = (thread + t->from) % s->threads, slice = burin_claim_slice(s, who, t->call);
        if (slice < 0) continue;
        burin_range share = burin_share_of(s->threads, who, t->count);
        t->range = (burin_range){burin_slice_begin(t, share, slice),
                                 burin_slice_begin(t, share, slice + 1)};
        return true;
    }
    return false;
}
#endif
