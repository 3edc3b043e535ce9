// How long something takes: the median of as many runs as fit in a while.
#ifndef BURIN_TIMING_H
#define BURIN_TIMING_H
#include <stdlib.h>

#include "engine/profile.h"

enum { BURIN_LEAST_RUNS = 5, BURIN_MOST_RUNS = 1000 };

typedef struct burin_timing {
    uint64_t enough, total;  // nanoseconds
    int most, runs;          // at most BURIN_MOST_RUNS
    uint64_t time[BURIN_MOST_RUNS];
} burin_timing;

static inline bool burin_timing_goes_on(const burin_timing *t) {
    return t->runs < t->most && (t->runs < BURIN_LEAST_RUNS || t->total < t->enough);
}

// A run took `all`; what counts of it is `time`.
static inline void burin_timing_add(burin_timing *t, uint64_t all, uint64_t time) {
    t->total += all;
    t->time[t->runs++] = time;
}

static inline int burin_by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// In seconds; sorts the times.
static inline double burin_median(burin_timing *t) {
    qsort(t->time, (size_t)t->runs, sizeof *t->time, burin_by_size);
    return (double)t->time[t->runs / 2] / 1e9;
}
#endif
