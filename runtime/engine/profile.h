// Time for each kernel, seen by thread 0. The emitted code marks the end of every kernel and, after
// a barrier, the end of waiting:
//
//     matmul_bf16_192x320(...);              burin_mark(step, thread, 3);
//     burin_barrier_wait(step->barrier, thread);  burin_mark(step, thread, BURIN_WAITING);
//
// The time since the previous mark is added to the kernel's account. Off (the usual case), a mark
// is one test of a pointer.
// --profile=trace.json also keeps when each part of the work was at which kernel, for Perfetto and
// Chrome.
#ifndef BURIN_PROFILE_H
#define BURIN_PROFILE_H
#include "kernels/fault.h"
#include "program.h"
#ifndef BURIN_BARE
#include <time.h>
#endif

enum { BURIN_WAITING = -1, BURIN_MAX_KERNELS = 8192 };

typedef struct burin_account {
    uint64_t nanoseconds, calls;
} burin_account;

typedef struct burin_lane_span {
    uint64_t begin, end;
    int kernel;
} burin_lane_span;

// What one thread's part of the work was at, in order; full, the rest is left out.
typedef struct burin_lane {
    uint64_t last;
    size_t n, room;
    burin_lane_span *span;
    char apart[96];  // padding to the next thread's account
} burin_lane;

typedef struct burin_profile {
    burin_lane *lanes;                             // [threads]; NULL: no trace
    uint64_t last;                                 // time of the last mark; 0: no step is open
    burin_account account[BURIN_MAX_KERNELS + 1];  // [0]: waiting at barriers, [1 + k]: kernel k
} burin_profile;

#ifdef BURIN_BARE
static inline uint64_t burin_nanoseconds(void) { return 0; }
#else
static inline uint64_t burin_nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
#endif

static inline void burin_profile_add(burin_profile *p, int kernel, bool ends, uint64_t now) {
    if (kernel >= BURIN_WAITING && kernel < BURIN_MAX_KERNELS) {
        p->account[kernel + 1].nanoseconds += now - p->last;
        p->account[kernel + 1].calls += ends;
    }
    p->last = now;
}

static inline void burin_lane_add(burin_lane *lane, int kernel, uint64_t now) {
    uint64_t begin = lane->last;
    lane->last = now;
    if (lane->n < lane->room) lane->span[lane->n] = (burin_lane_span){begin, now, kernel};
    lane->n++;
}

#if FAULT_DELAY
// Every third time for up to 200 microseconds, and no more than a second in all
static inline void burin_delay(int thread) {
    static _Atomic uint64_t left = 1000000000;
    uint64_t noise =
        (burin_nanoseconds() / 64 + (uint64_t)thread) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    struct timespec time = {0, (long)(noise % 200000)};
    if (noise / 200000 % 3 || left < 200000) return;
    left -= (uint64_t)time.tv_nsec;
    nanosleep(&time, NULL);
}
#endif

// A thread begins with its part of a step; thread 0 where its account does.
static inline void burin_profile_begin(const burin_step *step, int thread) {
    burin_profile *p = step->profile;
    if (p && p->lanes) p->lanes[thread].last = thread ? burin_nanoseconds() : p->last;
}

// One reading of the clock for the account and the trace, so that their sums are equal.
static inline void burin_profile_mark(burin_profile *p, int thread, int kernel, bool ends) {
    uint64_t now = burin_nanoseconds();
    if (thread == 0) burin_profile_add(p, kernel, ends, now);
    if (p->lanes) burin_lane_add(&p->lanes[thread], kernel, now);
}

static inline void burin_mark(const burin_step *step, int thread, int kernel) {
#if FAULT_DELAY
    burin_delay(thread);
#endif
    if (__builtin_expect(step->profile != NULL, 0))
        burin_profile_mark(step->profile, thread, kernel, true);
}

// A part of a kernel, which takes turns with others
static inline void burin_lap(const burin_step *step, int thread, int kernel) {
    if (__builtin_expect(step->profile != NULL, 0))
        burin_profile_mark(step->profile, thread, kernel, false);
}
#endif
