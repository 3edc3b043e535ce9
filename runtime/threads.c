// The thread pool: workers that wait for a run, do their part with the default floating-point mode, and meet at a barrier; and
// how many threads a program starts by default.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fiber.h"

// ---- floating-point mode: round to nearest even, subnormals kept, exceptions masked ----

#if defined(__x86_64__)
typedef uint32_t float_mode;
static float_mode float_mode_get(void) { return __builtin_ia32_stmxcsr(); }
static void float_mode_set(float_mode mode) { __builtin_ia32_ldmxcsr(mode); }
static const float_mode float_mode_default = 0x1f80;
#elif defined(__aarch64__)
typedef uint64_t float_mode;
static float_mode float_mode_get(void) {
    float_mode mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}
static void float_mode_set(float_mode mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
static const float_mode float_mode_default = 0;
#else
typedef int float_mode;
static float_mode float_mode_get(void) { return 0; }
static void float_mode_set(float_mode mode) { (void)mode; }
static const float_mode float_mode_default = 0;
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

// ---- parts that take turns on one thread ----

#ifdef BURIN_HAS_FIBERS
enum { FIBER_STACK_BYTES = 1 << 20, FIBER_GUARD_BYTES = 1 << 16 };

// The stack of the thread's k-th part.
static burin_part_stack *stack_of(burin_worker *w, int k) { return &w->pool->stack[w->index + k * w->pool->barrier.threads]; }

static void switch_to_next_part(burin_worker *w) {
    burin_part_stack *from = stack_of(w, w->running);
    w->running = (w->running + 1) % w->parts;
    burin_fiber_switch(&from->place, stack_of(w, w->running)->place);
}

// The last of a thread's parts to arrive meets the other threads, and goes on; each of the others goes on when its turn comes.
static bool take_turns(burin_barrier *b, int part) {
    burin_pool *pool = (burin_pool *)((char *)b - offsetof(burin_pool, barrier));
    burin_worker *w = &pool->worker[part % b->threads];
    if (++w->waiting == w->parts) {
        w->waiting = 0;
        return true;
    }
    switch_to_next_part(w);
    return false;
}

static void part_main(void *argument) {
    burin_part_stack *self = argument;
    burin_worker *w = self->worker;
    for (;;) {
        w->pool->work(w->pool->argument, self->part);
        if (++w->finished < w->parts) {
            switch_to_next_part(w);
        } else {
            w->finished = 0;
            burin_fiber_switch(&self->place, w->place);
        }
    }
}

static void run_parts(burin_worker *w) { burin_fiber_switch(&w->place, stack_of(w, w->running)->place); }

static bool make_stacks(burin_pool *pool, burin_crew crew) {
    size_t bytes = (size_t)crew.parts * FIBER_STACK_BYTES;
    void *stacks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) return false;
    pool->stacks = stacks;
    pool->barrier.take_turns = take_turns;
    for (int p = 0; p < crew.parts; p++) {
        burin_part_stack *s = &pool->stack[p];
        unsigned char *stack = pool->stacks + (size_t)p * FIBER_STACK_BYTES;
        mprotect(stack, FIBER_GUARD_BYTES, PROT_NONE);
        *s = (burin_part_stack){.worker = &pool->worker[p % crew.threads], .part = p};
        s->place = burin_fiber_new(stack, FIBER_STACK_BYTES, part_main, s);
        s->worker->parts++;
    }
    return true;
}

static void free_stacks(burin_pool *pool) {
    if (pool->stacks) munmap(pool->stacks, (size_t)pool->parts * FIBER_STACK_BYTES);
}
#else
static void run_parts(burin_worker *w) { (void)w; }
static bool make_stacks(burin_pool *pool, burin_crew crew) { return (void)pool, crew.parts == crew.threads; }
static void free_stacks(burin_pool *pool) { (void)pool; }
#endif

// ---- the threads ----

static void run_worker(burin_worker *w) {
    burin_pool *pool = w->pool;
    float_mode saved = float_mode_get();
    float_mode_set(float_mode_default);
    if (pool->stacks)
        run_parts(w);
    else
        pool->work(pool->argument, w->index);
    float_mode_set(saved);
    burin_barrier_meet(&pool->barrier);
}

static void *worker_main(void *argument) {
    burin_worker *self = argument;
    burin_pool *pool = self->pool;
    for (unsigned seen = 0;; seen++) {
        burin_event_await(&pool->started, seen, pool->barrier.patience);
        if (pool->stopping) return NULL;
        run_worker(self);
    }
}

static bool start_worker(burin_pool *pool, int index, const pthread_attr_t *attributes) {
    burin_worker *w = &pool->worker[index];
    return pthread_create(&w->id, attributes, worker_main, w) == 0;
}

BURIN_LINKAGE size_t burin_pool_bytes(int parts) {
    size_t bytes = sizeof(burin_pool) + (size_t)parts * (sizeof(burin_worker) + sizeof(burin_part_stack));
    return (bytes + 63) & ~(size_t)63;
}

static void pool_init(burin_pool *pool, burin_crew crew) {
    *pool = (burin_pool){.parts = crew.parts, .stack = (burin_part_stack *)&pool->worker[crew.parts]};
    event_init(&pool->started);
    event_init(&pool->barrier.generation);
    atomic_init(&pool->barrier.arrived, 0);
    pool->barrier.threads = crew.threads;
    pool->barrier.patience = crew.patience;
    for (int t = 0; t < crew.threads; t++) pool->worker[t] = (burin_worker){.pool = pool, .index = t};
}

// Returns how many run, the caller included.
static int start_workers(burin_pool *pool) {
    enum { STACK_BYTES = 4 << 20 };
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);  // signals are for the host's own threads
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int started = 1;
    while (started < pool->barrier.threads && start_worker(pool, started, &attributes)) started++;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

static void stop_workers(burin_pool *pool, int started) {
    pool->stopping = true;
    burin_event_advance(&pool->started);
    for (int t = 1; t < started; t++) pthread_join(pool->worker[t].id, NULL);
    free_stacks(pool);
}

BURIN_LINKAGE bool burin_pool_start(burin_pool *pool, burin_crew crew) {
    pool_init(pool, crew);
    if (crew.parts != crew.threads && !make_stacks(pool, crew)) return false;
    int started = start_workers(pool);
    if (started < crew.threads) stop_workers(pool, started);
    return started == crew.threads;
}

BURIN_LINKAGE void burin_pool_stop(burin_pool *pool) { stop_workers(pool, pool->barrier.threads); }

BURIN_LINKAGE void burin_pool_run(burin_pool *pool, void (*work)(void *, int), void *argument) {
    pool->work = work;
    pool->argument = argument;
    if (pool->barrier.threads > 1) burin_event_advance(&pool->started);
    run_worker(&pool->worker[0]);
}

// ---- how many threads ----

// CPUs that this process may run on; 0: unknown.
static int allowed_cpus(cpu_set_t *set) { return sched_getaffinity(0, sizeof *set, set) ? 0 : CPU_COUNT(set); }

static bool read_small_file(const char *path, char *text, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t n = read(file, text, size - 1);
    close(file);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

// The number of distinct physical cores among the allowed CPUs: a core is named by the first of its hardware threads.
static int allowed_cores(const cpu_set_t *allowed) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        char path[96], text[256];
        if (!CPU_ISSET(cpu, allowed)) continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        long first = read_small_file(path, text, sizeof text) ? strtol(text, NULL, 10) : cpu;
        CPU_SET(first >= 0 && first < CPU_SETSIZE ? (int)first : cpu, &cores);
    }
    return CPU_COUNT(&cores);
}

// Whole CPUs in one control group's quota ("200000 100000": two; "max 100000": no limit), at least one; `otherwise` without a
// limit.
static int quota_of(const char *directory, int otherwise) {
    char path[512], text[64];
    long long quota, period;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", directory);
    if (!read_small_file(path, text, sizeof text)) return otherwise;
    if (sscanf(text, "%lld %lld", &quota, &period) != 2 || quota <= 0 || period <= 0) return otherwise;
    long long cpus = quota / period;
    return cpus < 1 ? 1 : cpus < otherwise ? (int)cpus : otherwise;
}

// The smallest quota of this process's control group and those around it.
static int quota_cpus(int otherwise) {
    char text[4096], *group;
    int cpus = quota_of("", otherwise);
    if (!read_small_file("/proc/self/cgroup", text, sizeof text) || !(group = strstr(text, "0::/"))) return cpus;
    group += strlen("0::");
    group[strcspn(group, "\n")] = 0;
    for (char *slash; group[1] && (slash = strrchr(group, '/')); *slash = 0) cpus = quota_of(group, cpus);
    return cpus;
}

BURIN_LINKAGE int burin_default_threads(void) {
    cpu_set_t allowed;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int cores = allowed_cpus(&allowed) ? allowed_cores(&allowed) : online > 0 ? (int)online : 1;
    return quota_cpus(cores < BURIN_MAX_THREADS ? cores : BURIN_MAX_THREADS);
}

// A spin of a few thousand pauses is some tens of microseconds: longer than any kernel's imbalance, shorter than a time slice.
// Where parts cannot take turns and there are more of them than CPUs, the one that is waited for may not be running: make room
// at once.
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
