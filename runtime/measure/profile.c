// --profile: where the time went, largest first; --profile=F.json: when each part was at which
// kernel; counters of the CPU.
#include "engine/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__) && __has_include(<linux/perf_event.h>)
#define HAS_COUNTERS 1
#include <linux/perf_event.h>
#include <sys/syscall.h>
#endif

#include "base/allocate.h"
#include "measure/profile.h"
#include "program/output.h"

static double milliseconds(const burin_account *a) { return (double)a->nanoseconds / 1e6; }

// The largest account that has not been printed, or NULL.
static burin_account *largest(burin_account *account, int n) {
    burin_account *best = NULL;
    for (int i = 0; i < n; i++)
        if (account[i].calls && (!best || account[i].nanoseconds > best->nanoseconds))
            best = &account[i];
    return best;
}

static void print_accounts(const burin_model *model, const burin_profile *profile) {
    burin_profile left = *profile;
    int n = 1 + (model->n_kernels < BURIN_MAX_KERNELS ? model->n_kernels : BURIN_MAX_KERNELS);
    double total = 0;
    for (int i = 0; i < n; i++) total += milliseconds(&left.account[i]);
    burin_note("time of thread 0 in each kernel, %.1f ms in all", total);
    for (burin_account *a; (a = largest(left.account, n)); a->calls = 0) {
        int kernel = (int)(a - left.account) + BURIN_WAITING;
        const char *name =
            kernel == BURIN_WAITING ? "(waiting for other threads)" : model->kernels[kernel].name;
        const char *place = kernel == BURIN_WAITING ? "" : model->kernels[kernel].location;
        burin_note("%5.1f %%  %9.2f ms  %8llu calls  %-40s %s", 100 * milliseconds(a) / total,
                   milliseconds(a), (unsigned long long)a->calls, name, place ? place : "");
    }
}

// ---- counters ----

#ifdef HAS_COUNTERS
static struct profile_counter {
    uint64_t what;
    const char *name;
    int file;
} profile_counters[] = {{PERF_COUNT_HW_CPU_CYCLES, "cycles", -1},
                        {PERF_COUNT_HW_INSTRUCTIONS, "instructions", -1},
                        {PERF_COUNT_HW_CACHE_MISSES, "cache misses", -1}};
enum { N_COUNTERS = sizeof profile_counters / sizeof *profile_counters };

void burin_counters_open(void) {
    for (int i = 0; i < N_COUNTERS; i++) {
        struct perf_event_attr attr = {
            .type = PERF_TYPE_HARDWARE, .size = sizeof attr, .config = profile_counters[i].what};
        attr.inherit = attr.exclude_kernel = attr.exclude_hv = 1;
        profile_counters[i].file =
            (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    }
}

static void print_counters(void) {
    for (int i = 0; i < N_COUNTERS; i++) {
        uint64_t count = 0;
        if (profile_counters[i].file < 0) continue;
        if (read(profile_counters[i].file, &count, sizeof count) == sizeof count)
            burin_note("%14llu %s of all threads", (unsigned long long)count,
                       profile_counters[i].name);
        close(profile_counters[i].file);
        profile_counters[i].file = -1;
    }
}
#else
void burin_counters_open(void) {}
static void print_counters(void) {}
#endif

// ---- the trace ----

enum { SPANS = 1 << 17 };  // of a thread: 3 MB

typedef struct trace_file {
    int file;
    bool written;
    size_t n;
    char text[1 << 14];
} trace_file;

static void trace_put(trace_file *t, const char *text, size_t n) {
    if (t->n + n > sizeof t->text) {
        t->written = t->written && burin_write_all(t->file, t->text, t->n);
        t->n = 0;
    }
    memcpy(t->text + t->n, text, n);
    t->n += n;
}

static void trace_text(trace_file *t, const char *text) { trace_put(t, text, strlen(text)); }

// Names are those of files and functions: characters that would end the string are left out.
static void trace_string(trace_file *t, const char *text) {
    trace_text(t, "\"");
    for (; text && *text; text++)
        if (*text != '"' && *text != '\\' && (unsigned char)*text >= ' ') trace_put(t, text, 1);
    trace_text(t, "\"");
}

static void trace_span(trace_file *t, const burin_model *model, const burin_lane_span *s,
                       int thread, uint64_t start) {
    char numbers[160];
    bool waiting = s->kernel == BURIN_WAITING || s->kernel >= model->n_kernels;
    trace_text(t, ",\n{\"name\":");
    trace_string(t, waiting ? "waiting" : model->kernels[s->kernel].name);
    snprintf(numbers, sizeof numbers,
             ",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f",
             waiting ? "wait" : "kernel", thread, (double)(s->begin - start) / 1e3,
             (double)(s->end - s->begin) / 1e3);
    trace_text(t, numbers);
    if (!waiting) {
        snprintf(numbers, sizeof numbers, ",\"args\":{\"kernel\":%d,\"source\":", s->kernel);
        trace_text(t, numbers);
        trace_string(t, model->kernels[s->kernel].location);
        trace_text(t, "}");
    }
    trace_text(t, "}");
}

static void trace_lanes(trace_file *t, const burin_model *model, const burin_lane *lanes,
                        int threads) {
    uint64_t start = UINT64_MAX;
    char name[160];
    for (int i = 0; i < threads; i++)
        if (lanes[i].n && lanes[i].span[0].begin < start) start = lanes[i].span[0].begin;
    trace_text(t,
               "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"name\":\"process_name\",\"ph\":"
               "\"M\",\"pid\":1,\"args\":{\"name\":");
    trace_string(t, model->name);
    trace_text(t, "}}");
    for (int i = 0; i < threads; i++) {
        snprintf(name, sizeof name,
                 ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"args\":{"
                 "\"name\":\"thread %d\"}}",
                 i, i);
        trace_text(t, name);
        for (size_t j = 0; j < lanes[i].n && j < lanes[i].room; j++)
            trace_span(t, model, &lanes[i].span[j], i, start);
    }
    trace_text(t, "\n]}\n");
}

static void write_trace(const burin_model *model, const burin_lane *lanes, int threads,
                        const char *path) {
    static trace_file t;
    size_t left_out = 0;
    t = (trace_file){
        .file =
            open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666),
        .written = true};
    if (t.file < 0) burin_stop(BURIN_USER_MISTAKE, "--profile=%s: %s", path, strerror(errno));
    trace_lanes(&t, model, lanes, threads);
    bool written = burin_write_all(t.file, t.text, t.n) && t.written;
    if (close(t.file) || !written)
        burin_stop(BURIN_USER_MISTAKE, "--profile=%s: %s", path, strerror(errno));
    for (int i = 0; i < threads; i++)
        left_out += lanes[i].n > lanes[i].room ? lanes[i].n - lanes[i].room : 0;
    if (left_out) burin_note("--profile=%s: %zu kernels at the end are left out", path, left_out);
}

// ---- both ----

void burin_profile_open(burin_profile *p, const char *file, int threads) {
    if (!*file) return;
    p->lanes = malloc((size_t)threads * sizeof *p->lanes);
    for (int i = 0; p->lanes && i < threads; i++) {
        p->lanes[i] = (burin_lane){.span = malloc(SPANS * sizeof *p->lanes[i].span)};
        if (p->lanes[i].span) p->lanes[i].room = SPANS;
    }
}

void burin_profile_close(burin_profile *p, const burin_model *model, const char *file,
                         int threads) {
    print_accounts(model, p);
    print_counters();
    if (!p->lanes) return;
    write_trace(model, p->lanes, threads, file);
    for (int i = 0; i < threads; i++) free(p->lanes[i].span);
    free(p->lanes);
}
