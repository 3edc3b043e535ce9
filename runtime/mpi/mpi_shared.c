// Exchanging between ranks of one machine: through shared memory, without messages. Each rank has a
// board there: a counter of its posts, and two buffers. It posts its columns in one of them, waits
// until all have posted theirs, and copies them. A rank that posts again has copied the earlier
// posts: so the buffer before the last is free.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdatomic.h>
#include <string.h>

#include "engine/threads.h"
#include "mpi_world.h"

#ifdef BURIN_FUTEX
#include <limits.h>
#include <linux/futex.h>
#endif

enum { PLACE_BYTES = 1 << 18, FEW_BYTES = 1 << 14 };  // of a place; few are copied by one thread
enum {
    SPINS = 4000,
    YIELDS = 64,
    NAP = 10000000
};  // nanoseconds: who sleeps looks now and then whether it is late

typedef struct board {
    _Alignas(64) atomic_uint posted;
    atomic_uint sleepers;
    _Alignas(64) unsigned char place[2][PLACE_BYTES];
} board;

static struct {
    board *of[MOST_RANKS];
    unsigned posts;
    int cpus;  // for each rank; 0: they share them
} shared;

// ---- waiting ----

static void sleep_on(board *b, unsigned old) {
    atomic_fetch_add(&b->sleepers, 1);
#ifdef BURIN_FUTEX
    struct timespec nap = {.tv_nsec = NAP};
    if (atomic_load(&b->posted) == old)
        syscall(SYS_futex, &b->posted, FUTEX_WAIT, old, &nap, NULL, 0);
#else
    if (atomic_load(&b->posted) == old) nanosleep(&(struct timespec){.tv_nsec = NAP / 100}, NULL);
#endif
    atomic_fetch_sub(&b->sleepers, 1);
}

static void post(board *b, unsigned posts) {
    atomic_store(&b->posted, posts);
#ifdef BURIN_FUTEX
    if (atomic_load(&b->sleepers))
        syscall(SYS_futex, &b->posted, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
#endif
}

static bool has_posted(board *b, unsigned posts, int looks) {
    for (int i = 0; i < looks; i++) {
        if ((int)(atomic_load_explicit(&b->posted, memory_order_acquire) - posts) >= 0) return true;
        burin_pause();
    }
    return false;
}

// If ranks have CPUs of their own the other ranks arrive soon; else they may need this one.
static void await_rank(int rank, unsigned posts, int threads, burin_bytes *next) {
    board *b = shared.of[rank];
    while (next->n && !has_posted(b, posts, 1)) burin_fetch(next);
    if (has_posted(b, posts, threads <= shared.cpus ? SPINS : 1)) return;
    for (int i = 0; i < YIELDS; i++) {
        if (has_posted(b, posts, 1)) return;
        sched_yield();
    }
    double until = burin_seconds() + burin_rank_patience();
    while (!has_posted(b, posts, 1)) {
        if (burin_seconds() > until) burin_rank_is_late(rank);
        sleep_on(b, posts - 1);
    }
}

// ---- exchanging ----

// Rows, and of each rank's columns `most` from `from` on, that fit a place.
typedef struct piece {
    int row, rows, from, most;
} piece;

// Of a rank's columns, or of its board's place for them
typedef struct block {
    unsigned char *at;
    size_t stride, width;  // bytes
} block;

static block columns_of(const burin_columns *c, int rank, const piece *p, int row) {
    int at = burin_columns_before(c, rank) + p->from,
        width = burin_min(burin_columns_before(c, rank + 1) - at, p->most);
    size_t stride = (size_t)c->stride * c->size;
    return (block){c->y + (size_t)(p->row + row) * stride + (size_t)at * c->size, stride,
                   (size_t)burin_max(0, width) * c->size};
}

static block place_of(int rank, unsigned posts, size_t width, int row) {
    return (block){shared.of[rank]->place[posts % 2] + (size_t)row * width, width, width};
}

static void copy_rows(const block *to, const block *from, int rows) {
    for (int r = 0; r < rows; r++)
        memcpy(to->at + (size_t)r * to->stride, from->at + (size_t)r * from->stride, to->width);
}

static void exchange_piece(const burin_columns *c, const piece *p, const burin_step *s, int thread,
                           bool alone) {
    const burin_ranks *r = &burin_all_ranks.ranks;
    const unsigned posts = shared.posts;
    int first = alone ? 0 : p->rows * thread / s->threads,
        end = alone ? p->rows : p->rows * (thread + 1) / s->threads;
    block columns = columns_of(c, r->rank, p, first),
          place = place_of(r->rank, posts, columns.width, first);
    copy_rows(&place, &columns, end - first);
    if (!alone) burin_barrier_wait(s->barrier, thread);
    if (thread == 0) {
        post(shared.of[r->rank], ++shared.posts);
        burin_bytes next = c->next;
        for (int i = 1; i < r->count; i++)
            await_rank((r->rank + i) % r->count, posts + 1, s->threads, &next);
    }
    if (!alone) burin_barrier_wait(s->barrier, thread);
    for (int i = 1; i < r->count; i++) {
        int other = (r->rank + i) % r->count;
        columns = columns_of(c, other, p, first),
        place = place_of(other, posts, columns.width, first);
        copy_rows(&columns, &place, end - first);
    }
}

void burin_exchange_memory(const burin_columns *c, const burin_step *s, int thread) {
    int widest = 1, most = (int)(PLACE_BYTES / c->size);
    for (int i = 0; i < burin_all_ranks.ranks.count; i++)
        widest = burin_max(widest, burin_columns_before(c, i + 1) - burin_columns_before(c, i));
    bool alone = s->threads == 1 || (size_t)widest * c->size * (size_t)c->rows <= FEW_BYTES;
    int rows = burin_max(1, most / widest);
    if (alone && thread) return;
    for (piece p = {.most = most}; p.row < c->rows; p.row += rows) {
        p.rows = burin_min(rows, c->rows - p.row);
        for (p.from = 0; p.from < widest; p.from += most) exchange_piece(c, &p, s, thread, alone);
    }
}

// ---- starting ----

void burin_shared_begin(void) { shared.cpus = burin_default_threads() / burin_all_ranks.beside; }

// By all ranks of a machine, which are all there are. False: the system has no memory to share.
bool burin_shared_open(MPI_Comm machine) {
    MPI_Info apart;
    MPI_Win window;
    board *own;
    MPI_Info_create(&apart);
    MPI_Info_set(apart, "alloc_shared_noncontig", "true");  // each rank's pages are near it
    MPI_Comm_set_errhandler(machine, MPI_ERRORS_RETURN);
    int made =
            MPI_Win_allocate_shared(sizeof *own, 1, apart, machine, &own, &window) == MPI_SUCCESS,
        all = 0;
    MPI_Info_free(&apart);
    MPI_Allreduce(&made, &all, 1, MPI_INT, MPI_MIN, machine);
    for (int i = 0; all && i < burin_all_ranks.ranks.count; i++) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(window, i, &bytes, &unit, &shared.of[i]);
    }
    if (!all) return false;
    atomic_init(&own->posted, 0), atomic_init(&own->sleepers, 0);
    return true;
}
