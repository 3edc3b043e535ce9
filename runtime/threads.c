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
#include <unistd.h>

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

static void run_part(burin_pool *pool, int thread) {
    float_mode saved = float_mode_get();
    float_mode_set(float_mode_default);
    pool->work(pool->argument, thread);
    float_mode_set(saved);
    burin_barrier_wait(&pool->barrier);
}

static void *worker_main(void *argument) {
    burin_worker *self = argument;
    burin_pool *pool = self->pool;
    for (unsigned seen = 0;; seen++) {
        burin_event_await(&pool->started, seen, pool->barrier.patience);
        if (pool->stopping) return NULL;
        run_part(pool, self->index);
    }
}

static bool start_worker(burin_pool *pool, int index, const pthread_attr_t *attributes) {
    burin_worker *w = &pool->worker[index];
    w->pool = pool;
    w->index = index;
    return pthread_create(&w->id, attributes, worker_main, w) == 0;
}

// CPUs that this process may run on; 0: unknown.
static int allowed_cpus(cpu_set_t *set) { return sched_getaffinity(0, sizeof *set, set) ? 0 : CPU_COUNT(set); }

// A spin of a few thousand pauses is some tens of microseconds: longer than any kernel's imbalance, shorter than a time slice.
// With more threads than CPUs the one that is waited for may not be running, so waiting threads make room at once.
BURIN_LINKAGE burin_patience burin_patience_for(int threads) {
    cpu_set_t set;
    int cpus = allowed_cpus(&set);
    if (cpus && threads > cpus) return (burin_patience){.spins = 0, .yields = 64};
    return (burin_patience){.spins = 4000, .yields = 0};
}

BURIN_LINKAGE size_t burin_pool_bytes(int threads) {
    return (sizeof(burin_pool) + (size_t)threads * sizeof(burin_worker) + 63) & ~(size_t)63;
}

BURIN_LINKAGE bool burin_pool_start(burin_pool *pool, int threads, burin_patience patience) {
    enum { STACK_BYTES = 4 << 20 };
    event_init(&pool->started);
    event_init(&pool->barrier.generation);
    atomic_init(&pool->barrier.arrived, 0);
    pool->barrier.threads = 1;
    pool->barrier.patience = patience;
    pool->stopping = false;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);  // signals are for the host's own threads
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int started = 1;
    while (started < threads && start_worker(pool, started, &attributes)) started++;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pool->barrier.threads = started;
    if (started < threads) burin_pool_stop(pool);
    return started == threads;
}

BURIN_LINKAGE void burin_pool_stop(burin_pool *pool) {
    pool->stopping = true;
    burin_event_advance(&pool->started);
    for (int t = 1; t < pool->barrier.threads; t++) pthread_join(pool->worker[t].id, NULL);
}

BURIN_LINKAGE void burin_pool_run(burin_pool *pool, void (*work)(void *, int), void *argument) {
    pool->work = work;
    pool->argument = argument;
    if (pool->barrier.threads > 1) burin_event_advance(&pool->started);
    run_part(pool, 0);
}

// ---- how many threads ----

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
