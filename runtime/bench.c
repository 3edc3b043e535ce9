// --bench: tokens a second while reading and while writing at several positions, as medians, and what that is in bytes of
// weights.
#include <stdlib.h>
#include <string.h>

#include "encoder.h"
#include "net_values.h"
#include "output.h"
#include "run.h"

enum { MOST_RUNS = 50, LEAST_RUNS = 5, PREFILL_TOKENS = 128, WARM_UP = 2 };
static const uint64_t enough_nanoseconds = 1000000000;

static int by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// The median time to read n tokens at `position`: at least LEAST_RUNS runs, at most a second or MOST_RUNS.
static double median_seconds(burin_run *run, int32_t position, const int32_t *tokens, int32_t n) {
    uint64_t time[MOST_RUNS], total = 0;
    int runs = 0;
    for (int i = -WARM_UP; runs < MOST_RUNS && (runs < LEAST_RUNS || total < enough_nanoseconds); i++) {
        run->session->length[0] = position;  // whatever the cache holds there: the time is the same
        uint64_t start = burin_nanoseconds();
        burin_run_read(run, tokens, n);
        if (i < 0) continue;
        total += time[runs++] = burin_nanoseconds() - start;
    }
    qsort(time, (size_t)runs, sizeof *time, by_size);
    return (double)time[runs / 2] / 1e9;
}

// An encoder runs over a source of random values or tokens.
static void bench_encoder(burin_run *run) {
    uint64_t time[MOST_RUNS], total = 0;
    int runs = 0;
    burin_net_values values;
    burin_net_values_open(&values, run->model->encoder->net, run->command);
    for (int i = -WARM_UP; runs < MOST_RUNS && (runs < LEAST_RUNS || total < enough_nanoseconds); i++) {
        uint64_t start = burin_nanoseconds();
        burin_encode_source(run->session, 0, (const void *const *)values.input_data, values.symbols);
        if (i < 0) continue;
        total += time[runs++] = burin_nanoseconds() - start;
    }
    qsort(time, (size_t)runs, sizeof *time, by_size);
    burin_print("encode %d rows      %10.3f ms\n", run->session->memory[0], (double)time[runs / 2] / 1e6);
    burin_net_values_close(&values);
}

static void bench_prefill(burin_run *run, const int32_t *tokens) {
    int32_t n = run->context < PREFILL_TOKENS ? run->context : PREFILL_TOKENS;
    burin_print("prefill of %d tokens  %10.1f tokens/s\n", n, n / median_seconds(run, 0, tokens, n));
}

static void bench_decode(burin_run *run, const int32_t *tokens) {
    double weights = (double)run->model->step_weight_bytes;
    for (int32_t position = 0; position < run->context; position = position ? position * 4 : 128) {
        double rate = 1 / median_seconds(run, position, tokens, 1);
        burin_print("decode at %-10d  %10.1f tokens/s  %8.2f GB/s of weights\n", position, rate, rate * weights / 1e9);
    }
}

int burin_bench(burin_run *run) {
    int32_t tokens[PREFILL_TOKENS];
    burin_random random;
    burin_random_seed(&random, 1);
    for (int i = 0; i < PREFILL_TOKENS; i++)
        tokens[i] = (int32_t)(burin_random_next(&random) % (uint32_t)run->model->vocab_size);
    memset(run->session->step.state, 0, run->model->slot_bytes);  // real pages: reading untouched ones would be too fast
    burin_print("%s, cpu %s, %d threads, weights %.1f MB\n", run->model->name, run->session->variant->cpu,
                run->session->step.threads, (double)run->model->weight_bytes / 1e6);
    if (run->model->encoder) bench_encoder(run);
    bench_prefill(run, tokens);
    bench_decode(run, tokens);
    return 0;
}
