// --bench --roofline: the kernels of a step against the limits of this machine: the rate at which
// all threads read the weights' bytes, and the rate of f32 multiply-adds. A kernel's minimum time
// is the longer of the two.
#include "bench/roofline.h"

#include <string.h>
#include <time.h>

#include "program/output.h"
#include "program/timing.h"
#include "text/run.h"
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define IN_REGISTERS \
    _Pragma("GCC unroll 12")  // else clang leaves the array in memory, and measures that

enum { FMA_CHAINS = 12, FMA_STEPS = 1000, LIMIT_RUNS = 8, MOST_LIMIT_THREADS = 1024 };
static const double limit_seconds = 0.02, limit_bytes = 1 << 28;

// ---- limits of the machine ----

// Each computes FMA_STEPS times FMA_CHAINS vectors, and returns the operations of that.
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static double fma_avx2(volatile float *sink) {
    __m256 a[FMA_CHAINS], x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(1e-3f);
    for (int i = 0; i < FMA_CHAINS; i++) a[i] = _mm256_set1_ps((float)(i + 2));
    for (int s = 0; s < FMA_STEPS; s++) {
        IN_REGISTERS
        for (int i = 0; i < FMA_CHAINS; i++) a[i] = _mm256_fmadd_ps(a[i], x, y);
    }
    for (int i = 0; i < FMA_CHAINS; i++) *sink = _mm256_cvtss_f32(a[i]);
    return 2.0 * 8 * FMA_CHAINS * FMA_STEPS;
}

__attribute__((target("avx512f"))) static double fma_avx512(volatile float *sink) {
    __m512 a[FMA_CHAINS], x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(1e-3f);
    for (int i = 0; i < FMA_CHAINS; i++) a[i] = _mm512_set1_ps((float)(i + 2));
    for (int s = 0; s < FMA_STEPS; s++) {
        IN_REGISTERS
        for (int i = 0; i < FMA_CHAINS; i++) a[i] = _mm512_fmadd_ps(a[i], x, y);
    }
    for (int i = 0; i < FMA_CHAINS; i++) *sink = _mm512_cvtss_f32(a[i]);
    return 2.0 * 16 * FMA_CHAINS * FMA_STEPS;
}
#elif defined(__aarch64__)
static double fma_neon(volatile float *sink) {
    float32x4_t a[FMA_CHAINS], x = vdupq_n_f32(0.999f), y = vdupq_n_f32(1e-3f);
    for (int i = 0; i < FMA_CHAINS; i++) a[i] = vdupq_n_f32((float)(i + 2));
    for (int s = 0; s < FMA_STEPS; s++) {
        IN_REGISTERS
        for (int i = 0; i < FMA_CHAINS; i++) a[i] = vfmaq_f32(y, a[i], x);
    }
    for (int i = 0; i < FMA_CHAINS; i++) *sink = vgetq_lane_f32(a[i], 0);
    return 2.0 * 4 * FMA_CHAINS * FMA_STEPS;
}
#endif

typedef double fma_function(volatile float *);

// With the vectors of the code that runs; NULL: it has none with fused multiply-adds.
static fma_function *fma_of(const char *cpu) {
#if defined(__x86_64__)
    if (!strncmp(cpu, "x86-64-v4", 9)) return fma_avx512;
    if (!strncmp(cpu, "x86-64-v3", 9)) return fma_avx2;
#elif defined(__aarch64__)
    if (!strncmp(cpu, "armv8", 5)) return fma_neon;
#endif
    (void)cpu;
    return NULL;
}

typedef struct limit_job {
    const unsigned char *block;
    size_t bytes;  // of all threads
    int threads;
    fma_function *fma;  // NULL: they read
    double rate[MOST_LIMIT_THREADS];
} limit_job;

// CPU time of this thread, without other processes.
static double thread_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef uint64_t read_vector __attribute__((vector_size(32), aligned(1), may_alias));

static double read_block(const unsigned char *block, size_t bytes, volatile float *sink) {
    read_vector a = {0}, b = {0};
    size_t i = 0;
    for (; i + 64 <= bytes; i += 64) {
        __builtin_prefetch(block + i + 4096);
        a ^= *(const read_vector *)(block + i);
        b ^= *(const read_vector *)(block + i + 32);
    }
    a ^= b;
    *sink = (float)(a[0] ^ a[1] ^ a[2] ^ a[3]);
    return (double)i;
}

static void work_at_limit(void *argument, int thread) {
    limit_job *job = argument;
    volatile float sink;
    size_t part = job->bytes / (size_t)job->threads / 64 * 64;
    double start = thread_seconds(), done = 0, now;
    do {
        done += job->fma ? job->fma(&sink)
                         : read_block(job->block + (size_t)thread * part, part, &sink);
        now = thread_seconds();
    } while (now - start < limit_seconds);
    job->rate[thread] = done / (now - start);
}

// A second, of all threads at once; the best of some runs.
static double limit_of(const burin_session *s, limit_job *job) {
    double best = 0;
    for (int run = 0; run < LIMIT_RUNS; run++) {
        double sum = 0;
        burin_pool_run(s->pool, work_at_limit, job);
        for (int i = 0; i < job->threads; i++) sum += job->rate[i];
        if (sum > best) best = sum;
    }
    return best;
}

// ---- the kernels against them ----

typedef struct roofline {
    burin_run *run;
    double read, fma;  // a second; 0: not known
    int rows, steps;
} roofline;

static double operations_of(const roofline *r, const burin_kernel *k) {
    return k->operations + k->row_operations * r->rows;
}

static double least_seconds(const roofline *r, const burin_kernel *k) {
    double reading = k->weight_bytes / r->read;
    double computing = r->fma > 0 && !k->integers ? operations_of(r, k) / r->fma : 0;
    return reading > computing ? reading : computing;
}

static void print_kernel(const roofline *r, const burin_account *a, const burin_kernel *k,
                         double all) {
    double operations = operations_of(r, k), seconds = (double)a->nanoseconds / 1e9,
           each = seconds / (double)a->calls;
    burin_print("%6.1f %%  %8.3f ms  %8.2f us", 100 * seconds / all, 1e3 * seconds / r->steps,
                1e6 * each);
    burin_print(k->weight_bytes > 0 ? "  %7.2f GB/s" : "        -     ",
                k->weight_bytes / each / 1e9);
    burin_print(operations > 0 ? "  %7.2f GFLOP/s" : "        -        ", operations / each / 1e9);
    burin_print(least_seconds(r, k) > 0 ? "  %5.1f %%" : "      -  ",
                100 * least_seconds(r, k) / each);
    burin_print("  %-36s %s\n", k->name, k->location ? k->location : "");
}

static void print_kernels(const roofline *r, burin_profile *p) {
    const burin_model *model = r->run->model;
    int n = burin_min(model->n_kernels, BURIN_MAX_KERNELS);
    double all = 0;
    for (int i = 0; i <= n; i++) all += (double)p->account[i].nanoseconds / 1e9;
    burin_print("%d %s, %.3f ms a step (thread 0), %.1f %% of it waiting\n", r->rows,
                r->rows == 1 ? "row" : "rows", 1e3 * all / r->steps,
                100 * (double)p->account[0].nanoseconds / 1e9 / all);
    burin_print("   share      a step       a call      weights       computed  of its limit\n");
    for (;;) {
        int most = 0;
        for (int i = 1; i <= n; i++)
            if (p->account[i].calls &&
                (!most || p->account[i].nanoseconds > p->account[most].nanoseconds))
                most = i;
        if (!most) return;
        print_kernel(r, &p->account[most], &model->kernels[most - 1], all);
        p->account[most].calls = 0;
    }
}

static void show_step(roofline *r, const int32_t *tokens, int32_t position) {
    static burin_profile profile;
    burin_step *step = &r->run->session->step;
    burin_profile *given = step->profile;
    burin_timing t = {.enough = 500000000, .most = 200};
    for (bool first = true; first || burin_timing_goes_on(&t); first = false) {
        if (first) memset(&profile, 0, sizeof profile);
        step->profile = first ? given : &profile;
        r->run->session->length[0] = position;
        uint64_t start = burin_nanoseconds();
        burin_run_read(r->run, tokens, r->rows);
        if (!first) burin_timing_add(&t, burin_nanoseconds() - start, 1);
    }
    step->profile = given;
    r->steps = t.runs;
    print_kernels(r, &profile);
}

void burin_show_roofline(burin_run *run, const int32_t *tokens, int32_t n) {
    static limit_job job;
    const burin_session *s = run->session;
    roofline r = {.run = run, .rows = 1};
    double bytes = (double)run->model->weight_bytes;
    job = (limit_job){.block = run->model->weights(), .threads = s->step.threads};
    job.bytes = (size_t)(bytes < limit_bytes ? bytes : limit_bytes);
    r.read = limit_of(s, &job);
    job.fma = fma_of(s->variant->cpu);
    if (job.fma) r.fma = limit_of(s, &job);
    burin_print("this machine: %.1f GB/s read, of %.1f MB", r.read / 1e9, (double)job.bytes / 1e6);
    burin_print(r.fma > 0 ? "; %.1f GFLOP/s of f32 multiply-adds\n"
                          : "; multiply-adds are not measured on this CPU\n",
                r.fma / 1e9);
    show_step(&r, tokens, run->context / 4);
    r.rows = n < run->chunk ? n : run->chunk;
    if (r.rows > 1) show_step(&r, tokens, 0);
}
