// --bench: tokens a second while reading and while writing at several positions, as medians, with
// the bytes of weights a second and the time of matrix products (which do not depend on the
// position; attention does).
#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>

#include "bench/roofline.h"
#include "engine/encoder.h"
#include "engine/profile.h"
#include "program/network_values.h"
#include "program/output.h"
#include "program/timing.h"
#include "sampler/sampler.h"
#include "text/modes.h"
#include "text/run.h"

enum { USUAL_PREFILL = 128, WARM_UP = 2, MOST_POSITIONS = 32 };
static const uint64_t second = 1000000000;

// Time in the kernels of matrix products, as thread 0 sees it.
static uint64_t matmul_nanoseconds(const burin_model *model, const burin_profile *profile) {
    uint64_t sum = 0;
    for (int i = 0; i < model->n_kernels && i < BURIN_MAX_KERNELS; i++)
        if (!strncmp(model->kernels[i].name, "matmul", strlen("matmul")))
            sum += profile->account[1 + i].nanoseconds;
    return sum;
}

// The median time to read n tokens at `position`, or with a profile that of their matrix products:
// in a second of runs.
static double median_seconds(burin_run *run, int32_t position, const int32_t *tokens, int32_t n,
                             const burin_profile *profile) {
    burin_timing t = {.enough = second, .most = 50};
    for (int i = -WARM_UP; burin_timing_goes_on(&t); i++) {
        run->session->length[0] = position;  // whatever the cache holds there: the time is the same
        uint64_t start = burin_nanoseconds(),
                 matmul = profile ? matmul_nanoseconds(run->model, profile) : 0;
        burin_run_read(run, tokens, n);
        if (i < 0) continue;
        uint64_t all = burin_nanoseconds() - start;
        burin_timing_add(&t, all, profile ? matmul_nanoseconds(run->model, profile) - matmul : all);
    }
    return burin_median(&t);
}

// An encoder runs over a source of random values or tokens.
void burin_bench_encoder(burin_run *run) {
    burin_timing t = {.enough = second, .most = 50};
    burin_network_values values;
    burin_network_values_open(&values, run->model->encoder->net, run->command);
    for (int i = -WARM_UP; burin_timing_goes_on(&t); i++) {
        uint64_t start = burin_nanoseconds();
        burin_encode_source(run->session, 0, (const void *const *)values.input_data,
                            values.symbols);
        uint64_t all = burin_nanoseconds() - start;
        if (i >= 0) burin_timing_add(&t, all, all);
    }
    burin_print("encode %d rows      %10.3f ms\n", run->session->source_length[0],
                burin_median(&t) * 1e3);
    burin_network_values_close(&values);
}

// As many as --prefill, or the usual, as the context holds.
static int32_t prefill_tokens(const burin_run *run) {
    int64_t wanted = run->command->prefill ? run->command->prefill : USUAL_PREFILL;
    return wanted < run->context ? (int32_t)wanted : run->context;
}

static void bench_prefill(burin_run *run, const int32_t *tokens, int32_t n) {
    burin_print("prefill of %d tokens  %10.1f tokens/s\n", n,
                n / median_seconds(run, 0, tokens, n, NULL));
}

// The positions of --positions, or some that show how the time grows.
static int positions_of(const burin_run *run, int32_t position[MOST_POSITIONS]) {
    const char *list = run->command->positions;
    int n = 0;
    if (!list) {
        static const int32_t usual[] = {0, 16, 120, 512, 2048, 8192, 32768, 131072};
        while (n < (int)(sizeof usual / sizeof *usual) && usual[n] < run->context) {
            position[n] = usual[n];
            n++;
        }
        return n;
    }
    for (const char *c = list;; c++) {
        char *end;
        long at = strtol(c, &end, 10);
        if (end == c || (*end && *end != ',') || n == MOST_POSITIONS)
            burin_stop(BURIN_BAD_COMMAND_LINE,
                       "--positions %.60s: expected at most %d numbers with commas between them",
                       list, MOST_POSITIONS);
        if (at < 0 || at >= run->context)
            burin_stop(BURIN_USER_MISTAKE, "--positions: %ld is outside the context, 0 to %d", at,
                       run->context - 1);
        position[n++] = (int32_t)at;
        if (!*end) return n;
        c = end;
    }
}

// The marks of a profile cost a little: the matrix products are timed in runs of their own.
static void bench_decode(burin_run *run, const int32_t *tokens, int32_t position) {
    static burin_profile own;
    double weights = (double)run->model->step_weight_bytes,
           seconds = median_seconds(run, position, tokens, 1, NULL);
    burin_profile *given = run->session->step.profile, *profile = given ? given : &own;
    run->session->step.profile = profile;
    double matmul = median_seconds(run, position, tokens, 1, profile);
    run->session->step.profile = given;
    burin_print(
        "decode at %-10d  %10.1f tokens/s  %8.2f GB/s of weights  %10.4f ms  matmul %10.4f ms\n",
        position, 1 / seconds, weights / seconds / 1e9, seconds * 1e3, matmul * 1e3);
}

int burin_bench(burin_run *run) {
    int32_t position[MOST_POSITIONS], n = prefill_tokens(run),
                                      *tokens = burin_allocate((size_t)n, sizeof *tokens);
    int n_positions = positions_of(run, position);
    burin_random random;
    burin_random_seed(&random, 1);
    for (int i = 0; i < n; i++)
        tokens[i] = (int32_t)(burin_random_next(&random) % (uint32_t)run->model->vocab_size);
    memset(run->session->step.state, 0,
           run->model->slot_bytes);  // real pages: reading untouched ones would be too fast
    burin_print("%s, cpu %s, %d threads, weights %.1f MB\n", run->model->name,
                run->session->variant->cpu, run->session->step.threads,
                (double)run->model->weight_bytes / 1e6);
    if (run->model->encoder) run->model->modes->bench_encoder(run);
    bench_prefill(run, tokens, n);
    for (int i = 0; i < n_positions; i++) bench_decode(run, tokens, position[i]);
    if (run->command->roofline) burin_show_roofline(run, tokens, n);
    free(tokens);
    return 0;
}
