// The threads of a program: a pool made once, and the barrier of emitted code.
//
// A run has parts, `-t N` parts. Each has a stack of its own; between two barriers any thread may
// run it: a thread first runs its own parts, then those that no thread has begun. So a thread that
// the system delays holds up only its current part, a sleeping thread is not waited for, and 7
// parts on 2 CPUs take as long as 2. The thread of a part does not change a bit. If stacks cannot
// be switched (sanitizers, other CPUs) every part has a thread of its own.
//
// A thread without work spins for a bounded time, then sleeps until the word it watches changes (a
// futex, or a condition variable without futexes): an idle pool burns nothing. Nothing here
// allocates or takes a lock in a step.
#ifndef BURIN_THREADS_H
#define BURIN_THREADS_H
#include "program.h"
#ifdef BURIN_BARE
#include "bare.h"
#else
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#if defined(__linux__) && !defined(BURIN_NO_FUTEX)
#define BURIN_FUTEX 1
#include <sys/syscall.h>
enum {
    BURIN_FUTEX_WAIT = 128,
    BURIN_FUTEX_WAKE = 129
};  // of one process: linux/futex.h, which not every C library comes with
static inline void burin_futex_wait(atomic_uint *word, unsigned old) {
    syscall(SYS_futex, word, BURIN_FUTEX_WAIT, old, NULL, NULL, 0);
}
static inline void burin_futex_wake(atomic_uint *word) {
    syscall(SYS_futex, word, BURIN_FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}
#elif defined(_WIN32)
#define BURIN_FUTEX 1
// As <windows.h> declares them, which has names of its own for much else.
__declspec(dllimport) int __stdcall WaitOnAddress(volatile void *, void *old, size_t bytes,
                                                  unsigned long milliseconds);
__declspec(dllimport) void __stdcall WakeByAddressAll(void *);
static inline void burin_futex_wait(atomic_uint *word, unsigned old) {
    WaitOnAddress(word, &old, sizeof old, UINT32_MAX);  // INFINITE
}
static inline void burin_futex_wake(atomic_uint *word) { WakeByAddressAll(word); }
#endif

// How long to spin and how often to yield before sleeping.
typedef struct burin_patience {
    int spins, yields;
} burin_patience;

// A word that some threads change and others wait on.
typedef struct burin_event {
    _Alignas(64) atomic_uint value;
    atomic_uint sleepers;
#ifndef BURIN_FUTEX
    pthread_mutex_t mutex;
    pthread_cond_t changed;
#endif
} burin_event;

// Of a thread's share of work that threads take as they come to it (slices.h)
typedef struct burin_claim {
    _Alignas(64) atomic_uint
        claimed;  // a call, times 256, and how many slices of the share have been taken in it
    _Alignas(64) unsigned call;  // the thread's own: at which call it is, times 256
} burin_claim;

enum { BURIN_MAX_TILES = 1024 };  // a program's results with fused consumers (tiles.h)

typedef struct burin_barrier {
    burin_event generation;  // changes when every part has arrived
    _Alignas(64) atomic_int arrived;
    _Alignas(64) int threads;  // parts of a run
    burin_patience patience;
    burin_claim *claims;                            // [threads]
    _Alignas(64) atomic_int done[BURIN_MAX_TILES];  // of each piece, how many of its units
    void (*leave)(
        struct burin_barrier *,
        int part);  // gives the thread to another part; NULL: parts have threads of their own
} burin_barrier;

static inline void burin_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

static inline void burin_event_sleep(burin_event *e, unsigned old) {
    atomic_fetch_add(&e->sleepers, 1);
#ifdef BURIN_FUTEX
    while (atomic_load(&e->value) == old) burin_futex_wait(&e->value, old);
#else
    pthread_mutex_lock(&e->mutex);
    while (atomic_load(&e->value) == old) pthread_cond_wait(&e->changed, &e->mutex);
    pthread_mutex_unlock(&e->mutex);
#endif
    atomic_fetch_sub(&e->sleepers, 1);
}

static inline void burin_event_wake(burin_event *e) {
#ifdef BURIN_FUTEX
    burin_futex_wake(&e->value);
#else
    pthread_mutex_lock(&e->mutex);
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->mutex);
#endif
}

// Sequentially consistent on both sides: either the waker sees the sleeper, or the sleeper sees the
// new value.
static inline void burin_event_advance(burin_event *e) {
    atomic_fetch_add(&e->value, 1);
    if (__builtin_expect(atomic_load(&e->sleepers) != 0, 0)) burin_event_wake(e);
}

// False: unchanged after this many reads.
static inline bool burin_event_spin(burin_event *e, unsigned old, int spins) {
    for (int i = 0; i < spins; i++) {
        if (atomic_load_explicit(&e->value, memory_order_acquire) != old) return true;
        burin_pause();
    }
    return false;
}

static inline void burin_event_await(burin_event *e, unsigned old, burin_patience patience) {
    if (burin_event_spin(e, old, patience.spins)) return;
    for (int i = 0; i < patience.yields; i++) {
        if (atomic_load_explicit(&e->value, memory_order_acquire) != old) return;
        sched_yield();
    }
    burin_event_sleep(e, old);
}

// All parts have threads of their own: the last one wakes all others.
static inline void burin_barrier_meet(burin_barrier *b) {
    unsigned generation = atomic_load_explicit(&b->generation.value, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&b->arrived, 1, memory_order_acq_rel) == b->threads - 1) {
        atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
        burin_event_advance(&b->generation);
    } else {
        burin_event_await(&b->generation, generation, b->patience);
    }
}

// Returns after all parts of the run have called it; earlier writes of all parts are then visible
// to all.
static inline void burin_barrier_wait(burin_barrier *b, int part) {
    if (b->threads == 1) return;
    if (b->leave)
        b->leave(b, part);
    else
        burin_barrier_meet(b);
}

typedef struct burin_crew {
    int parts, threads;
    burin_patience patience;
} burin_crew;

typedef struct burin_part_stack {
    _Alignas(64) atomic_uint turn;  // the generation in which it resumes
    int index;
    struct burin_worker *worker;  // that runs it, or did last
    void *place;                  // where its stack was left
} burin_part_stack;

typedef struct burin_worker {
    struct burin_pool *pool;
    pthread_t id;
    int index;
    bool alone;   // it had to take a part of another, who may still be away
    void *place;  // where the thread's own stack was left
} burin_worker;

typedef struct burin_pool {
    burin_barrier barrier;
    burin_event
        started;  // value: the number of runs so far; only for parts with threads of their own
    void (*work)(void *argument, int part);  // of the current run
    void *argument;
    atomic_bool stopping;
    atomic_int finished;  // parts that have done their work
    atomic_uint over;     // the generation at the end of the last run
    int threads;
    unsigned char *stacks;    // mapped; NULL: parts have threads of their own
    burin_part_stack *stack;  // [parts]
    burin_worker *worker;     // [threads]; 0 is the caller of burin_pool_run
} burin_pool;

enum { BURIN_MAX_THREADS = 1024 };

BURIN_LINKAGE int burin_default_threads(
    void);  // physical cores that this process may use, at most its share of CPU time
BURIN_LINKAGE burin_crew burin_crew_for(int parts);  // on the CPUs that this process may use
BURIN_LINKAGE size_t burin_pool_bytes(int parts);
BURIN_LINKAGE bool burin_pool_start(
    burin_pool *, burin_crew);  // 64-byte aligned; false: threads or stacks were refused
BURIN_LINKAGE void burin_pool_stop(burin_pool *);

// work(argument, p) for every part p, with the default floating-point mode (hosts turn
// flush-to-zero on); returns when all are done.
BURIN_LINKAGE void burin_pool_run(burin_pool *, void (*work)(void *, int), void *argument);

static inline int burin_process(void) { return getpid(); }
#endif
#endif
