// The thread pool and its barrier: no thread runs ahead, every run reaches every thread, the
// floating-point mode is the contract's.
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/fiber.h"
#include "engine/slices.h"
#include "engine/threads.h"
#include "unit.h"

enum { ROUNDS = 200, MOST = 7 };

typedef struct Shared {
    burin_pool *pool;
    int threads, counter[MOST];  // plain: only the barrier orders them
    int early;                   // times that a thread was late
    double result[MOST];
} Shared;

static burin_pool *start_with(burin_crew crew) {
    burin_pool *pool = aligned_alloc(64, burin_pool_bytes(crew.parts));
    CHECK(burin_pool_start(pool, crew));
    return pool;
}

static burin_pool *start(int parts) { return start_with(burin_crew_for(parts)); }

static void stop(burin_pool *pool) {
    burin_pool_stop(pool);
    free(pool);
}

static void count_rounds(void *argument, int thread) {
    Shared *s = argument;
    for (int round = 1; round <= ROUNDS; round++) {
        s->counter[thread]++;
        burin_barrier_wait(&s->pool->barrier, thread);
        for (int t = 0; t < s->threads; t++)
            if (s->counter[t] != round) __atomic_fetch_add(&s->early, 1, __ATOMIC_RELAXED);
        burin_barrier_wait(&s->pool->barrier, thread);
    }
}

static void barrier_holds_everyone(burin_crew crew) {
    Shared s = {.pool = start_with(crew), .threads = crew.parts};
    for (int run = 0; run < 10; run++) {
        memset(s.counter, 0, sizeof s.counter);
        burin_pool_run(s.pool, count_rounds, &s);
    }
    CHECK(s.early == 0);
    for (int t = 0; t < crew.parts; t++) CHECK(s.counter[t] == ROUNDS);
    stop(s.pool);
}

static void barrier_of_threads(void) {
    const int counts[] = {1, 2, 3, 7};
    for (int i = 0; i < 4; i++)
        barrier_holds_everyone((burin_crew){counts[i], counts[i], {.spins = 50, .yields = 5}});
}

static void barrier_that_sleeps_at_once(void) {
    for (int threads = 2; threads <= 3; threads++)
        barrier_holds_everyone((burin_crew){threads, threads, {0}});
}

static void barrier_as_programs_have_it(void) {
    for (int parts = 1; parts <= MOST; parts++) barrier_holds_everyone(burin_crew_for(parts));
}

#ifdef BURIN_HAS_FIBERS
static void parts_take_turns(void) {
    for (int parts = 2; parts <= MOST; parts++)
        for (int threads = 1; threads <= parts; threads++)
            barrier_holds_everyone((burin_crew){parts, threads, {.spins = 100}});
}

// Threads that give up at once take each other's parts all the time.
static void parts_change_threads(void) {
    for (int threads = 2; threads <= 4; threads++)
        barrier_holds_everyone((burin_crew){4, threads, {.spins = 0}});
}

// Sums that live in registers and on the stack across the switches.
static void keep_numbers(void *argument, int thread) {
    Shared *s = argument;
    double sum = 0, product = 1;
    char text[64];
    snprintf(text, sizeof text, "part %d", thread);
    for (int i = 1; i <= 50; i++) {
        sum += i * (thread + 1);
        product *= 1 + 1.0 / (i + thread);
        burin_barrier_wait(&s->pool->barrier, thread);
    }
    s->result[thread] = atoi(text + 5) == thread ? sum + product : -1;
}

static void parts_keep_their_numbers(void) {
    Shared apart = {.pool = start_with((burin_crew){MOST, MOST, {.spins = 10}})};
    Shared turns = {.pool = start_with((burin_crew){MOST, 2, {.spins = 100}})};
    burin_pool_run(apart.pool, keep_numbers, &apart);
    for (int run = 0; run < 3; run++) burin_pool_run(turns.pool, keep_numbers, &turns);
    CHECK(!memcmp(apart.result, turns.result, sizeof apart.result));
    for (int t = 0; t < MOST; t++) CHECK(apart.result[t] > 0);
    stop(apart.pool);
    stop(turns.pool);
}
#endif

static void mark(void *argument, int thread) { ((Shared *)argument)->counter[thread]++; }

static void wakes_sleeping_workers(void) {
    Shared s = {.pool = start(3), .threads = 3};
    for (int run = 0; run < 5; run++) {
        usleep(2000);  // long enough for them to sleep
        burin_pool_run(s.pool, mark, &s);
    }
    for (int t = 0; t < 3; t++) CHECK(s.counter[t] == 5);
    stop(s.pool);
}

static void pools_side_by_side(void) {
    Shared a = {.pool = start(2), .threads = 2}, b = {.pool = start(3), .threads = 3};
    for (int run = 0; run < 20; run++) {
        burin_pool_run(a.pool, mark, &a);
        burin_pool_run(b.pool, mark, &b);
    }
    CHECK(a.counter[1] == 20 && b.counter[2] == 20);
    stop(a.pool);
    stop(b.pool);
}

static void divide(void *argument, int thread) {
    volatile double one = 1, three = 3;
    ((Shared *)argument)->result[thread] = one / three;
}

static void rounds_to_nearest_whatever_the_host_does(void) {
    fesetround(FE_UPWARD);
    Shared s = {.pool = start(2), .threads = 2};
    burin_pool_run(s.pool, divide, &s);
    int mode = fegetround();
    fesetround(FE_TONEAREST);
    CHECK(mode == FE_UPWARD);  // given back
    CHECK(s.result[0] == 1.0 / 3 && s.result[1] == 1.0 / 3);
    stop(s.pool);
}

#if defined(__x86_64__)
static void halve_tiny(void *argument, int thread) {
    volatile float tiny = 0x1p-126f, half = 0.5f;
    ((Shared *)argument)->result[thread] = tiny * half;
}

static void keeps_subnormals(void) {
    unsigned saved = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(saved | 0x8040);  // flush to zero, denormals are zero
    Shared s = {.pool = start(2), .threads = 2};
    burin_pool_run(s.pool, halve_tiny, &s);
    CHECK(__builtin_ia32_stmxcsr() == (saved | 0x8040));
    __builtin_ia32_ldmxcsr(saved);
    CHECK(s.result[0] == 0x1p-127 && s.result[1] == 0x1p-127);
    stop(s.pool);
}
#endif

static void default_is_sane(void) {
    int threads = burin_default_threads();
    CHECK(threads >= 1 && threads <= sysconf(_SC_NPROCESSORS_CONF));
}

// ---- slices of work ----

enum { CALLS = 50, UNITS = 1000, WHOLE = 7 };

typedef struct Takers {
    burin_step step;
    // plain: no other thread has the unit, and a barrier precedes its readers
    int done[CALLS][UNITS];
    int own, small[MOST];  // units of the slow part's share that it did itself; pieces of work that
                           // is not cut
    atomic_int others_passed;  // the first call, all of whose pieces are taken
} Takers;

static void take_calls(void *argument, int thread) {
    Takers *t = argument;
    for (int call = 0; call < CALLS; call++) {
        for (burin_slices slices =
                 burin_open_slices(&t->step, thread, UNITS, WHOLE, BURIN_SLICE_UNITS);
             burin_next_slice(&t->step, thread, &slices);)
            for (int i = slices.range.first; i < slices.range.last; i++) t->done[call][i]++;
        for (burin_slices slices = burin_open_slices(&t->step, thread, MOST, 1, BURIN_SLICE_UNITS);
             burin_next_slice(&t->step, thread, &slices);)
            t->small[thread]++;
        if (call % 3 == 2) burin_barrier_wait(t->step.barrier, thread);
    }
}

static void takes_each_unit_once(void) {
    for (int threads = 1; threads <= MOST; threads++) {
        burin_pool *pool = start_with((burin_crew){threads, threads, {.spins = 50, .yields = 5}});
        Takers *t = calloc(1, sizeof *t);
        t->step = (burin_step){.threads = threads, .barrier = &pool->barrier};
        for (int run = 0; run < 5; run++) burin_pool_run(pool, take_calls, t);
        int wrong = 0;
        for (int call = 0; call < CALLS; call++)
            for (int i = 0; i < UNITS; i++) wrong += t->done[call][i] != 5;
        for (int i = 0; i < threads; i++) wrong += t->small[i] != 5 * CALLS;
        CHECK(wrong == 0);
        free(t);
        stop(pool);
    }
}

// The last part begins a call after the others have left it.
static void come_late(void *argument, int thread) {
    Takers *t = argument;
    while (thread == 1 && !atomic_load(&t->others_passed)) sched_yield();
    for (burin_slices slices = burin_open_slices(&t->step, thread, UNITS, WHOLE, BURIN_SLICE_UNITS);
         burin_next_slice(&t->step, thread, &slices);)
        for (int i = slices.range.first; i < slices.range.last; i++) {
            t->done[0][i]++;
            t->own += thread;
        }
    if (thread == 0) atomic_store(&t->others_passed, 1);
}

static void takes_the_work_of_who_is_late(void) {
    burin_pool *pool = start_with((burin_crew){2, 2, {.spins = 50, .yields = 5}});
    Takers *t = calloc(1, sizeof *t);
    int wrong = 0;
    t->step = (burin_step){.threads = 2, .barrier = &pool->barrier};
    burin_pool_run(pool, come_late, t);
    for (int i = 0; i < UNITS; i++) wrong += t->done[0][i] != 1;
    CHECK(wrong == 0);
    CHECK(t->own == 0);
    free(t);
    stop(pool);
}

// Half of the rest at a time, cut between groups of units
static void slices_of_a_share(void) {
    const burin_slices t = {.whole = 44}, alone = {.whole = 1}, none = {.whole = 500};
    const burin_range share = {330, 660};
    static const int cuts[] = {330, 484, 572, 616, 660}, small[] = {330, 495, 578, 619, 660},
                     one[] = {330, 330, 500, 500, 660};
    for (int i = 0; i <= BURIN_SLICES; i++)
        CHECK(burin_slice_begin(&t, share, i) == cuts[i] &&
              burin_slice_begin(&alone, share, i) == small[i] &&
              burin_slice_begin(&none, share, i) == one[i]);
}

static void default_follows_affinity(void) {
    cpu_set_t old, one;
    if (sched_getaffinity(0, sizeof old, &old)) return;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &old)) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    CHECK(burin_default_threads() == 1);
    sched_setaffinity(0, sizeof old, &old);
}

SUITE(pool) {
    TEST(barrier_of_threads);
    TEST(barrier_that_sleeps_at_once);
    TEST(barrier_as_programs_have_it);
#ifdef BURIN_HAS_FIBERS
    TEST(parts_take_turns);
    TEST(parts_change_threads);
    TEST(parts_keep_their_numbers);
#endif
    TEST(takes_each_unit_once);
    TEST(takes_the_work_of_who_is_late);
    TEST(slices_of_a_share);
    TEST(wakes_sleeping_workers);
    TEST(pools_side_by_side);
    TEST(rounds_to_nearest_whatever_the_host_does);
#if defined(__x86_64__)
    TEST(keeps_subnormals);
#endif
    TEST(default_is_sane);
    TEST(default_follows_affinity);
}
