// Segments of a window, and where the next window begins.
#ifndef BURIN_SEGMENTS_H
#define BURIN_SEGMENTS_H
#include <stdbool.h>
#include <stdint.h>

typedef struct burin_segment {
    double start, end;      // seconds from the recording's start
    const int32_t *tokens;  // timestamps included
    int32_t n;
    const double *times;  // --word-timestamps: seconds when each token ends, and at -1 when the
                          // first begins; NULL: not known
    // Of its window: the first frame, and how sure the text is.
    int64_t seek;
    double temperature, compression;  // of sampling; how many times shorter the text is then
    double log_probability;           // mean of its tokens
    double no_speech;                 // probability, 0 to 1
} burin_segment;

typedef struct burin_window {
    const int32_t *tokens;  // generated ones
    int32_t n;
    int32_t timestamp_begin;  // a token; INT32_MAX: there are no timestamps
    int64_t from, frames;     // of the recording: the first, and how many it has of this window
    double frame_seconds;     // 0.01
    int32_t frames_per_timestamp;  // 2
} burin_window;

// Writes at most n + 1 segments. Returns frames to go forward, at least 1.
int64_t burin_cut_segments(const burin_window *, burin_segment *segments, int32_t *n_segments);
#endif
