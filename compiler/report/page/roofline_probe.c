// A program of its own, compiled for this CPU by `burin report --run`: measures the limits of
// memory and arithmetic.
// usage: limits THREADS BYTES     prints bytes a second read from a block of this size, operations
// a second of fused
// multiply-adds and of int8 products; all with every thread at work.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/matmul.h"

enum { MOST_THREADS = 256, RUNS = 8, CHAINS = TILE_PANELS == 4 ? 16 : 5, DOTS = 8 };

typedef struct Work {
    double (*rate)(const struct Work *, double seconds);  // of one thread, working for so long
    const unsigned char *block;
    size_t bytes;
    double result;
} Work;

static volatile float sink;

// CPU time of this thread, without other processes.
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double read_rate(const Work *w, double seconds) {
    double start = now(), done = 0;
    vi a[4] = {vi_set1(0), vi_set1(0), vi_set1(0), vi_set1(0)};
    do {
        for (size_t i = 0; i + 1024 <= w->bytes; i += 1024)
            for (size_t j = 0; j < 16; j++) {
                PREFETCH_FAR(w->block + i + 64 * j + 4096);
                a[j % 4] = vi_xor(a[j % 4],
                                  vi_load((const int32_t *)(const void *)(w->block + i + 64 * j)));
            }
        done += (double)w->bytes;
    } while (now() - start < seconds);
    double rate = done / (now() - start);
    sink = vf_sum(vf_from_int(vi_xor(vi_xor(a[0], a[1]), vi_xor(a[2], a[3]))));
    return rate;
}

static double fma_rate(const Work *w, double seconds) {
    vf a[CHAINS], x = vf_set1(1.000001f), y = vf_set1(1e-9f);
    double start = now(), steps = 0;
    (void)w;
    UNROLL
    for (int i = 0; i < CHAINS; i++) a[i] = vf_set1((float)i);
    for (; now() - start < seconds; steps += 2000)
        for (int s = 0; s < 2000; s++) {
            UNROLL
            for (int i = 0; i < CHAINS; i++) a[i] = vf_fma(a[i], x, y);
        }
    double rate = steps * CHAINS * 32 / (now() - start);
    for (int i = 0; i < CHAINS; i++) sink = vf_sum(a[i]);
    return rate;
}

static double dot_rate(const Work *work, double seconds) {
    unsigned char bytes[80];
    vi a[DOTS];
    weights4 w[DOTS];
    for (int i = 0; i < 80; i++) bytes[i] = (unsigned char)(work->block[i] * i);
    fours x = load_k4((const int8_t *)bytes);
    for (int i = 0; i < DOTS; i++) a[i] = vi_set1(i), w[i] = weights4_load(bytes + i % 2);
    double start = now(), steps = 0;
    for (; now() - start < seconds; steps += 2000)
        for (int s = 0; s < 2000; s++) {
            UNROLL
            for (int i = 0; i < DOTS; i++) a[i] = vi_dot4(a[i], &w[i], &x, s % 8);
        }
    double rate = steps * DOTS * 128 / (now() - start);
    for (int i = 0; i < DOTS; i++) sink = vf_sum(vf_from_int(a[i]));
    return rate;
}

static void *work_once(void *argument) {
    Work *w = argument;
    w->result = w->rate(w, 0.04);
    return NULL;
}

// Rates of all threads at once. Other processes only slow them down: the best run of all threads,
// or of each thread for unshared resources.
static double best_of(Work *works, int threads, double (*rate)(const Work *, double), bool shared) {
    pthread_t thread[MOST_THREADS];
    double best = 0, own[MOST_THREADS] = {0}, sum_of_own = 0;
    for (int run = 0; run < RUNS; run++) {
        double sum = 0;
        for (int i = 0; i < threads; i++) works[i].rate = rate;
        for (int i = 1; i < threads; i++)
            if (pthread_create(&thread[i], NULL, work_once, &works[i])) exit(1);
        work_once(&works[0]);
        for (int i = 1; i < threads; i++) pthread_join(thread[i], NULL);
        for (int i = 0; i < threads; i++) {
            sum += works[i].result;
            if (works[i].result > own[i]) own[i] = works[i].result;
        }
        if (sum > best) best = sum;
    }
    for (int i = 0; i < threads; i++) sum_of_own += own[i];
    return shared ? best : sum_of_own;
}

int main(int argc, char **argv) {
    static Work works[MOST_THREADS];
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    size_t bytes = argc > 2 ? (size_t)strtoull(argv[2], NULL, 10) / 4096 * 4096 : 1 << 26;
    if (threads < 1 || threads > MOST_THREADS) return 2;
    size_t part = bytes / (size_t)threads / 4096 * 4096 + 4096;
    unsigned char *block = aligned_alloc(4096, part * (size_t)threads);
    if (!block) return 1;
    memset(block, 7, part * (size_t)threads);
    for (int i = 0; i < threads; i++)
        works[i].block = block + part * (size_t)i, works[i].bytes = part;
    printf("read %.6g\n", best_of(works, threads, read_rate, true));
    printf("fma %.6g\n", best_of(works, threads, fma_rate, false));
    printf("dot %.6g\n", best_of(works, threads, dot_rate, false));
    return 0;
}
