// The thread pool: workers that wait for a run, do their part with the default floating-point mode,
// and meet at a barrier; and how many threads a program starts by default.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "threads.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fiber.h"
#include "float_mode.h"

// ---- parts with stacks of their own ----

#ifdef BURIN_HAS_FIBERS
enum { STACK_BYTES = 2 << 20, GUARD_BYTES = 1 << 16 };

// Emitted code at a barrier: back to the thread that runs the part; the next thread that takes it
// returns from here.
static void leave_part(burin_barrier *b, int part) {
    burin_pool *pool = (burin_pool *)((char *)b - offsetof(burin_pool, barrier));
    burin_part_stack *s = &pool->stack[part];
    burin_fiber_switch(&s->place, s->worker->place);
}

// The first thing on a part's stack. When its work is done it lets one generation pass: that of the
// next run's start.
static void part_main(void *argument) {
    burin_part_stack *self = argument;
    for (;;) {
        burin_pool *pool = self->worker->pool;
        pool->work(pool->argument, self->index);
        atomic_fetch_add_explicit(&self->turn, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&pool->finished, 1, memory_order_relaxed);
        burin_fiber_switch(&self->place, self->worker->place);
    }
}

// Whoever moves the part's turn on to the next generation runs it in this one.
static bool take_part(burin_part_stack *s, unsigned generation) {
    return atomic_load_explicit(&s->turn, memory_order_relaxed) == generation &&
           atomic_compare_exchange_strong_explicit(&s->turn, &generation, generation + 1,
                                                   memory_order_relaxed, memory_order_relaxed);
}

static burin_part_stack *own_part(burin_worker *w, unsigned generation) {
    burin_pool *pool = w->pool;
    for (int p = w->index; p < pool->barrier.threads; p += pool->threads)
        if (take_part(&pool->stack[p], generation)) return &pool->stack[p];
    return NULL;
}

// A part of a thread that does not come. It gets some microseconds, the first time: looking at its
// parts slows it down.
static burin_part_stack *late_part(burin_worker *w, unsigned generation) {
    burin_pool *pool = w->pool;
    if (!w->alone &&
        burin_event_spin(&pool->barrier.generation, generation, pool->barrier.patience.spins / 4))
        return NULL;
    w->alone = false;
    for (int p = 0; p < pool->barrier.threads; p++)
        if (take_part(&pool->stack[p], generation)) return w->alone = true, &pool->stack[p];
    return NULL;
}

// A part has left its stack: at a barrier, or done. The last one of all begins the next generation.
static void arrive(burin_pool *pool, unsigned generation) {
    burin_barrier *b = &pool->barrier;
    if (atomic_fetch_add_explicit(&b->arrived, 1, memory_order_acq_rel) < b->threads - 1) return;
    atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
    if (atomic_load_explicit(&pool->finished, memory_order_relaxed) == b->threads) {
        atomic_store_explicit(&pool->finished, 0, memory_order_relaxed);
        atomic_store_explicit(&pool->over, generation + 1, memory_order_relaxed);
    }
    burin_event_advance(&b->generation);
}

// Runs parts until the run is over (the caller's thread) or the pool stops (its own threads).
static void run_parts(burin_worker *w) {
    burin_pool *pool = w->pool;
    burin_event *now = &pool->barrier.generation;
    for (;;) {
        unsigned generation = atomic_load_explicit(&now->value, memory_order_acquire);
        if (w->index == 0 && atomic_load_explicit(&pool->over, memory_order_relaxed) == generation)
            return;
        if (atomic_load_explicit(&pool->stopping, memory_order_relaxed)) return;
        burin_part_stack *s = own_part(w, generation);
        if (!s) s = late_part(w, generation);
        if (s) {
            s->worker = w;
            burin_fiber_switch(&w->place, s->place);
            arrive(pool, generation);
        } else {
            burin_event_await(now, generation, pool->barrier.patience);
        }
    }
}

static bool make_stacks(burin_pool *pool) {
    size_t bytes = (size_t)pool->barrier.threads * STACK_BYTES;
    void *stacks = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) return false;
    pool->stacks = stacks;
    pool->barrier.leave = leave_part;
    for (int p = 0; p < pool->barrier.threads; p++) {
        burin_part_stack *s = &pool->stack[p];
        unsigned char *stack = pool->stacks + (size_t)p * STACK_BYTES;
        mprotect(stack, GUARD_BYTES, PROT_NONE);
        atomic_init(&s->turn, 1);  // the generation that the first run begins
        s->index = p;
        s->place = burin_fiber_new(stack, STACK_BYTES, part_main, s);
    }
    return true;
}

static void free_stacks(burin_pool *pool) {
    if (pool->stacks) munmap(pool->stacks, (size_t)pool->barrier.threads * STACK_BYTES);
}
#else
static void run_parts(burin_worker *w) { (void)w; }
static bool make_stacks(burin_pool *pool) { return pool->threads == pool->barrier.threads; }
static void free_stacks(burin_pool *pool) { (void)pool; }
#endif

// ---- the pool ----

static void event_init(burin_event *e) {
    atomic_init(&e->value, 0);
    atomic_init(&e->sleepers, 0);
#ifndef BURIN_FUTEX
    pthread_mutex_init(&e->mutex, NULL);
    pthread_cond_init(&e->changed, NULL);
#endif
}

static void run_own_part(burin_worker *w) {
    w->pool->work(w->pool->argument, w->index);
    if (w->pool->threads > 1) burin_barrier_meet(&w->pool->barrier);
}

static void *worker_main(void *argument) {
    burin_worker *self = argument;
    burin_pool *pool = self->pool;
    float_mode_begin();
    if (pool->stacks) {
        run_parts(self);
        return NULL;
    }
    for (unsigned seen = 0;; seen++) {
        burin_event_await(&pool->started, seen, pool->barrier.patience);
        if (atomic_load_explicit(&pool->stopping, memory_order_relaxed)) return NULL;
        run_own_part(self);
    }
}

static size_t aligned_size(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

BURIN_LINKAGE size_t burin_pool_bytes(int parts) {
    size_t n = (size_t)parts;
    return aligned_size(sizeof(burin_pool)) + n * (sizeof(burin_part_stack) + sizeof(burin_claim)) +
           aligned_size(n * sizeof(burin_worker));
}

static void pool_init(burin_pool *pool, burin_crew crew) {
    unsigned char *after = (unsigned char *)pool + aligned_size(sizeof *pool);
    *pool = (burin_pool){.threads = crew.threads, .stack = (burin_part_stack *)after};
    after += (size_t)crew.parts * sizeof(burin_part_stack);
    pool->barrier.claims = (burin_claim *)after;
    pool->worker = (burin_worker *)(after + (size_t)crew.parts * sizeof(burin_claim));
    for (int p = 0; p < crew.parts; p++) pool->barrier.claims[p] = (burin_claim){.call = 0};
    event_init(&pool->started);
    event_init(&pool->barrier.generation);
    pool->barrier.threads = crew.parts;
    pool->barrier.patience = crew.patience;
    for (int t = 0; t < crew.threads; t++)
        pool->worker[t] = (burin_worker){.pool = pool, .index = t};
}

static bool start_worker(burin_worker *w, const pthread_attr_t *attributes) {
    return pthread_create(&w->id, attributes, worker_main, w) == 0;
}

// Returns how many run, the caller included.
static int start_workers(burin_pool *pool) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);  // signals are for the host's own threads
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 4 << 20);
    int started = 1;
    while (started < pool->threads && start_worker(&pool->worker[started], &attributes)) started++;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

static void stop_workers(burin_pool *pool, int started) {
    atomic_store_explicit(&pool->stopping, true, memory_order_relaxed);
    burin_event_advance(pool->stacks ? &pool->barrier.generation : &pool->started);
    for (int t = 1; t < started; t++) pthread_join(pool->worker[t].id, NULL);
    free_stacks(pool);
}

BURIN_LINKAGE bool burin_pool_start(burin_pool *pool, burin_crew crew) {
    pool_init(pool, crew);
    if (crew.parts > 1 && !make_stacks(pool)) return false;
    int started = start_workers(pool);
    if (started < crew.threads) stop_workers(pool, started);
    return started == crew.threads;
}

BURIN_LINKAGE void burin_pool_stop(burin_pool *pool) { stop_workers(pool, pool->threads); }

BURIN_LINKAGE void burin_pool_run(burin_pool *pool, void (*work)(void *, int), void *argument) {
    float_mode saved = float_mode_begin();
    pool->work = work;
    pool->argument = argument;
    if (pool->stacks) {
        burin_event_advance(&pool->barrier.generation);
        run_parts(&pool->worker[0]);
    } else {
        if (pool->threads > 1) burin_event_advance(&pool->started);
        run_own_part(&pool->worker[0]);
    }
    float_mode_restore(saved);
}

// ---- how many threads ----

// CPUs that this process may run on; 0: unknown.
static int allowed_cpus(cpu_set_t *set) {
    return sched_getaffinity(0, sizeof *set, set) ? 0 : CPU_COUNT(set);
}

#ifdef _WIN32
static bool read_small_file(const char *path, char *text,
                            size_t size) {  // Linux has those that are asked for
    (void)path, (void)text, (void)size;
    return false;
}
#else
static bool read_small_file(const char *path, char *text, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t n = read(file, text, size - 1);
    close(file);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}
#endif

// The number of distinct physical cores among the allowed CPUs: a core is named by the first of its
// hardware threads.
static int allowed_cores(const cpu_set_t *allowed) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        char path[96], text[256];
        if (!CPU_ISSET(cpu, allowed)) continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                 cpu);
        long first = read_small_file(path, text, sizeof text) ? strtol(text, NULL, 10) : cpu;
        CPU_SET(first >= 0 && first < CPU_SETSIZE ? (int)first : cpu, &cores);
    }
    return CPU_COUNT(&cores);
}

// Whole CPUs in one control group's quota ("200000 100000": two; "max 100000": no limit), at least
// one; `otherwise` without a limit.
static int quota_of(const char *directory, int otherwise) {
    char path[512], text[64];
    char *rest, *end;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", directory);
    if (!read_small_file(path, text, sizeof text)) return otherwise;
    long long quota = strtoll(text, &rest, 10), period = strtoll(rest, &end, 10);
    if (end == rest || quota <= 0 || period <= 0) return otherwise;
    long long cpus = quota / period;
    return cpus < 1 ? 1 : cpus < otherwise ? (int)cpus : otherwise;
}

// The smallest quota of this process's control group and those around it.
static int quota_cpus(int otherwise) {
    char text[4096], *group;
    int cpus = quota_of("", otherwise);
    if (!read_small_file("/proc/self/cgroup", text, sizeof text) || !(group = strstr(text, "0::/")))
        return cpus;
    group += strlen("0::");
    group[strcspn(group, "\n")] = 0;
    for (char *slash; group[1] && (slash = strrchr(group, '/')); *slash = 0)
        cpus = quota_of(group, cpus);
    return cpus;
}

BURIN_LINKAGE int burin_default_threads(void) {
    cpu_set_t allowed;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int cores = allowed_cpus(&allowed) ? allowed_cores(&allowed) : online > 0 ? (int)online : 1;
    return quota_cpus(cores < BURIN_MAX_THREADS ? cores : BURIN_MAX_THREADS);
}

// A spin of a few thousand pauses is some tens of microseconds: longer than any kernel's imbalance,
// shorter than a time slice. If every part needs a thread and there are more parts than CPUs, the
// missing thread may not be running: yield.
BURIN_LINKAGE burin_crew burin_crew_for(int parts) {
    cpu_set_t set;
    int cpus = allowed_cpus(&set);
    burin_crew crew = {.parts = parts, .threads = parts, .patience = {.spins = 4000}};
    if (cpus) cpus = quota_cpus(cpus);
    if (!cpus || parts <= cpus) return crew;
#ifdef BURIN_HAS_FIBERS
    crew.threads = cpus;
#else
    crew.patience = (burin_patience){.yields = 64};
#endif
    return crew;
}
