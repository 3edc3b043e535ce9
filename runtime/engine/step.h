// What emitted code needs around its kernels: a thread's part of the work, waiting, and what
// --profile and `burin check` see.
#ifndef BURIN_STEP_H
#define BURIN_STEP_H
#include "kernels/attention.h"
#include "kernels/range.h"
#include "kernels/vec.h"
#include "profile.h"
#include "program.h"
#include "ranks.h"
#include "slices.h"
#include "threads.h"
#include "tiles.h"

// A kernel is compiled apart from the step that calls it: all in one function takes compilers much
// longer, and a profiler sees its name.
#define KERNEL static __attribute__((noinline))

// A function without products of integers: CPUs that differ in these alone share it, by the name of
// the first such CPU, BURIN_FLOATS. The remaining ones see its text and call it (`gnu_inline` is
// never emitted).
#ifdef BURIN_FLOATS
#define FLOAT_KERNEL extern __inline__ __attribute__((gnu_inline, noinline))
#else
#define BURIN_FLOATS BURIN_CPU
#define FLOAT_KERNEL __attribute__((noinline))
#endif

// A step of many calls, of layers that differ: compiled for size, which halves the compiler's time
// and this text. A short one is not: it would cost a model that fits in the cache some per cent.
#ifdef __clang__
#define LONG_STEP __attribute__((minsize))
#else
#define LONG_STEP
#endif

static inline burin_range burin_thread_range(const burin_step *s, int thread, int count) {
    return burin_share_of(s->threads, thread, count);
}

// The range of row-wise work: all rows if the step has one row, for then every thread keeps its own
// copy of the result.
static inline burin_range burin_row_range(const burin_step *s, int thread, int count) {
    return s->rows == 1 ? (burin_range){0, count} : burin_thread_range(s, thread, count);
}

// ---- several texts ----

// A text of the step: its first row, and where its keys begin in caches that live for the step.
typedef struct burin_sequence {
    int index, rows;
    ptrdiff_t row, key;
} burin_sequence;

// The next text that has rows in the thread's part of all rows; at first index is -1. All threads
// share the only one.
static inline bool burin_next_sequence(const burin_step *s, int thread, burin_sequence *t) {
    if (s->n_sequences < 2) {
        t->rows = s->rows;
        return ++t->index == 0;
    }
    const burin_range own = burin_thread_range(s, thread, s->rows);
    do {
        t->row += t->rows, t->key += (t->rows + LANES - 1) / LANES * LANES;
        if (++t->index == s->n_sequences) return false;
        t->rows = s->sequence_rows[t->index];
    } while (t->row + t->rows <= own.first);
    return t->row < own.last;
}

// The thread's part of `count` units of a sequence, in proportion to its part of the sequence's
// rows.
static inline burin_range burin_sequence_range(const burin_step *s, int thread,
                                               const burin_sequence *t, int count) {
    if (s->n_sequences < 2) return burin_thread_range(s, thread, count);
    const burin_range own = burin_thread_range(s, thread, s->rows);
    int64_t first = own.first - t->row, last = own.last - t->row;
    if (first < 0) first = 0;
    if (last > t->rows) last = t->rows;
    return (burin_range){(int)(count * first / t->rows), (int)(count * last / t->rows)};
}

static inline burin_range burin_sequence_row_range(const burin_step *s, int thread,
                                                   const burin_sequence *t, int count) {
    return s->rows == 1 ? (burin_range){0, count} : burin_sequence_range(s, thread, t, count);
}

static inline void burin_step_barrier(const burin_step *s, int thread) {
    burin_barrier_wait(s->barrier, thread);
    burin_mark(s, thread, BURIN_WAITING);
}

// Memory that threads share, and of row-wise values, which are each thread's own when the step has
// one row. `place` is in bytes for each row of the step.
static inline void *burin_shared(const burin_step *s, size_t single_place, size_t place) {
    return s->arena + (s->rows == 1 ? single_place : place * (size_t)s->rows);
}

static inline void *burin_per_thread(const burin_step *s, unsigned char *local, size_t place) {
    return s->rows == 1 ? local : s->arena + place * (size_t)s->rows;
}

#ifdef BURIN_MPI
// ---- a program for several ranks ----

static inline burin_range burin_range_within(const burin_step *s, int thread, burin_range all) {
    burin_range range = burin_thread_range(s, thread, all.last - all.first);
    return (burin_range){all.first + range.first, all.first + range.last};
}

static inline burin_range burin_own_units(const burin_step *s, int units) {
    const burin_ranks *r = s->ranks;
    if (!r) return (burin_range){0, units};
    return (burin_range){burin_rank_begin(r, r->rank, units),
                         burin_rank_begin(r, r->rank + 1, units)};
}

// The thread's part of the rank's range of `count` panels or heads, in units of work: `each` for
// one of them.
static inline burin_range burin_own_range(const burin_step *s, int thread, int count, int each) {
    burin_range own = burin_own_units(s, count);
    return burin_range_within(s, thread, (burin_range){own.first * each, own.last * each});
}

// Of `heads` those that the rank's of `shared` heads go with: KV heads with their queries. The
// outer ones may be other ranks', too.
static inline burin_range burin_own_heads(const burin_step *s, int heads, int shared) {
    burin_range own = burin_own_units(s, shared);
    int64_t first = (int64_t)own.first * heads / shared,
            last = ((int64_t)own.last * heads + shared - 1) / shared;
    return own.first < own.last ? (burin_range){(int)first, (int)last} : (burin_range){0, 0};
}

static inline burin_range burin_heads_of(const burin_step *s, int thread, int heads, int shared) {
    return burin_range_within(s, thread, burin_own_heads(s, heads, shared));
}

// Columns of a product from `first` on, `width` for each of `heads`
typedef struct burin_head_columns {
    int first, width, heads, shared, rows;
} burin_head_columns;

// The panels that hold the rank's heads
static inline burin_range burin_panels_of_heads(const burin_step *s, int thread,
                                                const burin_head_columns *c) {
    burin_range own = burin_own_heads(s, c->heads, c->shared);
    if (c->rows <= 0 || own.first == own.last) return (burin_range){0, 0};
    int first = c->first + own.first * c->width, last = c->first + own.last * c->width;
    return burin_range_within(s, thread, (burin_range){first / LANES, (last + LANES - 1) / LANES});
}

// `count` units of `each` panels
static inline burin_range burin_panels_of(const burin_step *s, int thread, int count, int each,
                                          int rows) {
    return burin_own_range(s, thread, rows > 0 ? count : 0, each);
}

// The range of attention: ranks divide heads, or groups of heads with one KV head.
static inline burin_range burin_tiles_of(const burin_step *s, int thread, int heads, int shared,
                                         int rows) {
    return burin_own_range(s, thread, shared, attention_units(heads / shared, rows));
}

// The rank's own of `count` units of weights, `bytes` each (count 0: all of one), as far as it is
// worth fetching.
static inline burin_bytes burin_own_bytes(const burin_step *s, const void *weights, int count,
                                          size_t bytes) {
    burin_range own = count ? burin_own_units(s, count) : (burin_range){0, 1};
    size_t n = (size_t)(own.last - own.first) * bytes;
    if (s->rows != 1) n = 0;
    return (burin_bytes){(const unsigned char *)weights + (size_t)own.first * bytes,
                         n < BURIN_FETCHED ? n : BURIN_FETCHED};
}

static inline void burin_gather(const burin_step *s, int thread, const burin_columns *c) {
    burin_barrier_wait(s->barrier, thread);
    if (s->ranks && s->ranks->count > 1 && c->rows > 0) {
        s->ranks->exchange(c, s, thread);
        burin_barrier_wait(s->barrier, thread);
    }
    burin_mark(s, thread, BURIN_WAITING);
}

// Segments are shared within the KV heads of a rank's queries; one that all heads share is not the
// rank's own.
static inline burin_range burin_segments_of(const burin_step *s, int thread,
                                            const attention_args *a, int units) {
    burin_range own = burin_own_heads(s, a->keys.heads, a->heads);
    int each = units / a->keys.heads;
    return burin_range_within(s, thread, (burin_range){own.first * each, own.last * each});
}

static inline bool burin_shares_segments(const burin_step *s, const attention_args *a) {
    return !s->ranks || s->ranks->count == 1 || a->keys.heads > 1;
}
#else
static inline burin_range burin_segments_of(const burin_step *s, int thread,
                                            const attention_args *a, int units) {
    (void)a;
    return burin_thread_range(s, thread, units);
}

static inline bool burin_shares_segments(const burin_step *s, const attention_args *a) {
    return (void)s, (void)a, true;
}
#endif

// Before the attention itself, which may write over its queries.
__attribute__((noinline, cold, unused)) static void burin_show_attention(const burin_step *s,
                                                                         int thread,
                                                                         const attention_args *a) {
    burin_barrier_wait(s->barrier, thread);
    for (int i = 0; thread == 0 && i < a->rows * a->heads; i++) {
        int row = i / a->heads, from, to;
        attention_range(a, row, &from, &to);
        burin_query query = {row, s->position ? s->position[row] : row, i % a->heads, a->heads, to};
        float *shares = s->trace->query(s->trace->context, &query);
        if (shares) attention_shares(a, row, query.head, to, shares);
    }
    burin_barrier_wait(s->barrier, thread);
}

// Attention is taken as products are; one of its units is as much as eight of theirs. Few rows stay
// in shares: heads of one KV head share tiles there, and threads wait within one row. So do steps
// whose queries are shown.
static inline burin_slices burin_attention_slices(const burin_step *s, int thread, int heads,
                                                  int rows) {
    const int units = attention_units(heads, rows);
    if (rows <= ATTENTION_ROWS || s->trace) return (burin_slices){.count = units};
    return burin_open_slices(s, thread, units, 1, BURIN_SLICE_UNITS / 8);
}

// A product of this many result panels. Groups of panels stay whole if possible, so that the thread
// of the next rows already has the weights.
static inline burin_slices burin_matmul_slices(const burin_step *s, int thread, int panels,
                                               int rows) {
    return burin_open_slices(s, thread, matmul_units(panels, rows), GROUP * row_blocks(rows),
                             BURIN_SLICE_UNITS);
}

// Attention of a thread's heads (and rows); of one row that sees many keys, first of its segments
// of all heads.
INLINE void burin_attention(const burin_step *s, int thread, attention_args a, burin_range units,
                            float *parts) {
#ifndef BURIN_BARE
    if (__builtin_expect(s->trace != NULL, 0) && s->trace->query) {
        attention_args seen = a;  // a copy: an `a` that others have seen is not known when compiled
        burin_show_attention(s, thread, &seen);
    }
#endif
    int split = parts && burin_shares_segments(s, &a) ? attention_split_units(&a, s->threads) : 0;
    burin_range share = split ? burin_segments_of(s, thread, &a, split) : units;
    if (split)
        burin_barrier_wait(s->barrier, thread),
            a.parts = parts;  // the heads of other threads are read
    attention(a, share.first, share.last);
    if (!split) return;
    burin_barrier_wait(s->barrier, thread);
    attention_fold(&a, units.first, units.last);
}

// e^x in place, for the sampler.
static inline void burin_exp_values(float *values, size_t n) {
    for (size_t i = 0; i < n; i += LANES) {
        int count = n - i < LANES ? (int)(n - i) : LANES;
        vf_store_n(values + i, vf_exp(vf_load_n(values + i, count)), count);
    }
}

// A kernel's result, for `burin check`: recorded by one thread when all have finished.
typedef struct burin_result {
    const char *value;
    int layer;  // -1 outside of the layers
    const float *data;
    int rows, columns, row_stride;
} burin_result;

static inline void burin_record(const burin_step *s, int thread, const burin_result *r) {
    if (!s->trace->record) return;
    burin_barrier_wait(s->barrier, thread);
    if (thread == 0)
        s->trace->record(s->trace->context, r->value, r->layer, r->data, r->rows, r->columns,
                         r->row_stride);
    burin_barrier_wait(s->barrier, thread);
}

#define BURIN_RECORD(s, thread, ...)             \
    if (__builtin_expect((s)->trace != NULL, 0)) \
    burin_record(s, thread, &(burin_result){__VA_ARGS__})
#endif
