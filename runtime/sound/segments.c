// Two timestamps in a row end one segment and begin the next. What follows the last pair is
// unfinished: the next window begins there and hears it again, unless a single timestamp ends the
// window, after which nobody speaks.
#include "sound/segments.h"

typedef struct cutter {
    const burin_window *window;
    burin_segment *segments;
    int32_t n;
} cutter;

static bool is_time(const burin_window *w, int32_t i) { return w->tokens[i] >= w->timestamp_begin; }

static double seconds_of(const burin_window *w, int32_t i) {
    int64_t steps = w->tokens[i] - w->timestamp_begin;
    return (double)(w->from + steps * w->frames_per_timestamp) * w->frame_seconds;
}

static void add_segment(cutter *c, int32_t from, int32_t to) {
    const burin_window *w = c->window;
    c->segments[c->n++] = (burin_segment){.start = seconds_of(w, from),
                                          .end = seconds_of(w, to - 1),
                                          .tokens = w->tokens + from,
                                          .n = to - from};
}

// No pair at all: the window is one segment.
static int64_t add_whole_window(cutter *c) {
    const burin_window *w = c->window;
    double start = (double)w->from * w->frame_seconds,
           end = (double)(w->from + w->frames) * w->frame_seconds;
    int32_t last = w->n - 1;
    while (last >= 0 && !is_time(w, last)) last--;
    if (last >= 0 && w->tokens[last] != w->timestamp_begin) end = seconds_of(w, last);
    c->segments[c->n++] =
        (burin_segment){.start = start, .end = end, .tokens = w->tokens, .n = w->n};
    return w->frames;
}

int64_t burin_cut_segments(const burin_window *w, burin_segment *segments, int32_t *n_segments) {
    cutter c = {w, segments, 0};
    int32_t begin = 0;
    for (int32_t i = 0; i + 1 < w->n; i++) {
        if (!is_time(w, i) || !is_time(w, i + 1)) continue;
        add_segment(&c, begin, i + 1);
        begin = i + 1;
    }
    int64_t forward =
        begin ? (int64_t)(w->tokens[begin - 1] - w->timestamp_begin) * w->frames_per_timestamp : 0;
    if (!begin) {
        forward = add_whole_window(&c);
    } else if (is_time(w, w->n - 1) && !is_time(w, w->n - 2)) {
        add_segment(&c, begin, w->n);
        forward = w->frames;
    }
    *n_segments = c.n;
    return forward > 0 && forward < w->frames ? forward : w->frames;
}
