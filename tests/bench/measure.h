// What runs a piece of work on one thread or two and times it: the lower quartile of RUNS
// repetitions.
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 9 };
static int threads = 1;

// One thread is measured by its processor time, so that other programs disturb less.
static double now(void) {
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double lower_quarter(double *t, int n) {
    qsort(t, (size_t)n, sizeof *t, by_value);
    return t[n / 4];
}

static atomic_int arrived, generation;
static void barrier(void) {
    if (threads == 1) return;
    int g = atomic_load(&generation);
    if (atomic_fetch_add(&arrived, 1) == threads - 1) {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&generation, 1);
    } else
        for (int spins = 0; atomic_load(&generation) == g; spins++)
            if (spins > 20000) sched_yield();
}

typedef struct Work {
    void (*part)(const struct Work *, int thread);  // one thread's share of one repetition
    int format, rows, repeat;
    bool cached;  // the weights fit into a cache
    double seconds[RUNS];
} Work;

typedef struct Runner {
    Work *work;
    int thread;
} Runner;

// The scheduler may leave both threads on one CPU for as long as a run takes.
static void stay_on(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (threads == 2) sched_setaffinity(0, sizeof set, &set);
}

static void *run_thread(void *argument) {
    const Runner *r = argument;
    stay_on(r->thread);
    r->work->part(r->work, r->thread);
    for (int i = 0; i < RUNS; i++) {
        barrier();
        double start = now();
        for (int j = 0; j < r->work->repeat; j++) r->work->part(r->work, r->thread);
        barrier();
        if (!r->thread) r->work->seconds[i] = (now() - start) / r->work->repeat;
    }
    return NULL;
}

// Seconds of one repetition; `seconds` are sorted afterwards
static double run(Work *w) {
    Runner runner[2] = {{w, 0}, {w, 1}};
    pthread_t second;
    if (threads == 2) pthread_create(&second, NULL, run_thread, &runner[1]);
    run_thread(&runner[0]);
    if (threads == 2) pthread_join(second, NULL);
    return lower_quarter(w->seconds, RUNS);
}
#endif
