// A step whose work is shared by ranks (processes, of several machines) as well as by threads. A
// rank computes some panels of each product and some KV heads, from values that every rank has
// whole; then the columns of all ranks are exchanged. runtime/mpi fills this in; without it
// burin_step.ranks is NULL.
#ifndef BURIN_RANKS_H
#define BURIN_RANKS_H
#include "program.h"

struct burin_session;

// Rows of a result, of which a rank has computed the columns of its units: `width` each, the last
// may be cut. A column is `size` bytes: a float, or a block of int8.
typedef struct burin_bytes {
    const unsigned char *at;
    size_t n;
} burin_bytes;

typedef struct burin_columns {
    unsigned char *y;
    size_t size;
    int rows, stride, columns, units, width;
    // weights that the rank reads after the gather; a one-row step prefetches them while it waits
    burin_bytes next;
} burin_columns;

enum {
    BURIN_FETCHED = 1 << 18,
    BURIN_FETCH = 1 << 11
};  // bytes: at most, which stay in a cache, and between two looks

// Prefetches some more of them.
static inline void burin_fetch(burin_bytes *b) {
    for (size_t i = 0; i < BURIN_FETCH && i < b->n; i += 64) __builtin_prefetch(b->at + i, 0, 2);
    size_t n = b->n < BURIN_FETCH ? b->n : BURIN_FETCH;
    b->at += n, b->n -= n;
}

// Orders of the first rank to all others before it does the same.
typedef enum burin_rank_order {
    BURIN_ORDER_STEP,
    BURIN_ORDER_NETWORK,
    BURIN_ORDER_ENCODE,
    BURIN_ORDER_COPY
} burin_rank_order;

typedef struct burin_ranks {
    int rank, count;
    const int64_t *shares;  // [count + 1]: the sum of the shares before a rank, and of all
    void (*exchange)(const burin_columns *, const burin_step *,
                     int thread);  // by all threads of the step
    // NULL on ranks that follow. A step as it is about to run; of ENCODE slots[0], of COPY slots[0]
    // from slots[1]
    void (*lead)(struct burin_session *, burin_rank_order, const burin_step *,
                 const int32_t slots[2]);
} burin_ranks;

// The first of `units` that is the rank's: ranks share them by their shares, also where the
// division leaves a rest.
static inline int burin_rank_begin(const burin_ranks *r, int rank, int units) {
    return (int)(units * r->shares[rank] / r->shares[r->count]);
}

static inline void burin_rank_broadcast(struct burin_session *session, burin_rank_order order,
                                        const burin_step *step, const int32_t slots[2]) {
    if (step->ranks && step->ranks->lead) step->ranks->lead(session, order, step, slots);
}

// Options about ranks.
typedef struct burin_rank_options {
    const char *shares;  // "3,1"; NULL: equal ones
    int64_t patience;    // seconds that a rank waits for another; 0: the default
    int32_t threads;     // 0: each rank's own default
    const char *over;    // "mpi": each rank has the whole model, and they share items; NULL: they
                         // share each step
    const char *resume;  // a file that keeps what items gave; NULL: none does
    uint64_t command;    // a sum over the options that decide what items give
    bool messages;       // between ranks of one machine, too
    bool numa;
    bool verbose;
} burin_rank_options;

struct burin_work;

#ifdef BURIN_MPI
struct burin_options;
// Called first by main: ranks other than the first serve it from here on, and end with it; or
// return when it shares items.
void burin_ranks_start(const burin_model *);
// Opens a session like this one on all ranks. Every mistake ends the program on all ranks.
void burin_ranks_open(struct burin_session *, const struct burin_options *,
                      const burin_rank_options *);
int burin_ranks_threads(void);       // by default: those of this machine, over its ranks
bool burin_ranks_several(void);      // does this run have more than one?
void burin_ranks_pin(bool verbose);  // --numa: this rank runs beside one of its machine's memories,
                                     // before threads start
// --over: all ranks continue like the first, each with the whole model.
void burin_ranks_begin_items(int64_t patience);
bool burin_ranks_share_items(void);
int64_t burin_ranks_run_items(const struct burin_work *);  // program/work_items.h
void burin_ranks_give(const void *, size_t bytes);
#else
struct burin_options;
static inline void burin_ranks_start(const burin_model *m) { (void)m; }
static inline void burin_ranks_open(struct burin_session *s, const struct burin_options *o,
                                    const burin_rank_options *r) {
    (void)s, (void)o, (void)r;
}
static inline bool burin_ranks_several(void) { return false; }
static inline void burin_ranks_pin(bool verbose) { (void)verbose; }
static inline void burin_ranks_begin_items(int64_t patience) { (void)patience; }
static inline bool burin_ranks_share_items(void) { return false; }
static inline int64_t burin_ranks_run_items(const struct burin_work *w) { return (void)w, 0; }
static inline void burin_ranks_give(const void *given, size_t bytes) { (void)given, (void)bytes; }
#endif
#endif
