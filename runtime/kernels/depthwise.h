// Depthwise convolutions: each channel has taps of its own. Lanes are channels, which are adjacent
// in x; each result is one chain of fma over ascending taps, whose sum the epilogue of matmul.h
// stores.
#ifndef BURIN_DEPTHWISE_H
#define BURIN_DEPTHWISE_H
#include "matmul.h"

enum { DEPTHWISE_TAPS = 256 };  // at most
// Accumulators of a tile: pixels x vectors of channels
#if defined(__AVX512F__)
enum { DEPTHWISE_PIXELS = 8, DEPTHWISE_VECTORS = 2 };
#elif defined(__AVX2__) || defined(__aarch64__)
enum { DEPTHWISE_PIXELS = 6, DEPTHWISE_VECTORS = 1 };
#else
enum { DEPTHWISE_PIXELS = 1, DEPTHWISE_VECTORS = 1 };
#endif

typedef struct depthwise_args {
    int channels, taps;             // literals
    const matmul_windows *windows;  // of one channel: `adjacent` is unused
    const float *x, *w;             // w: [taps][channels]
    burin_range pixels;             // rows of the result: the range of this thread
} depthwise_args;

// A position along the rows of windows
typedef struct window_walk {
    int at[4];
    ptrdiff_t offset;
} window_walk;

INLINE window_walk walk_from(const matmul_windows *w, int row) {
    window_walk walk = {.offset = axes_offset(w->rows, w->row_steps, row)};
    for (int i = 0; i < 4 && w->rows[i]; i++) {
        walk.at[i] = row % w->rows[i];
        row /= w->rows[i];
    }
    return walk;
}

INLINE void walk_next(const matmul_windows *w, window_walk *walk) {
    for (int i = 0; i < 4 && w->rows[i]; i++) {
        walk->offset += w->row_steps[i];
        if (++walk->at[i] < w->rows[i]) return;
        walk->offset -= w->rows[i] * w->row_steps[i];
        walk->at[i] = 0;
    }
}

// The addresses of a tile
typedef struct depthwise_tile {
    const float *x[8], *w;
    const ptrdiff_t *tap;  // offsets of the taps in x
    int taps, channels;    // channels: between taps of w
    int lanes;             // channels of the last vector, 16 or fewer
} depthwise_tile;

INLINE void depthwise_sums(int R, int P, bool whole, const depthwise_tile *t, vf *sums) {
    vf sum[8][2];
    UNROLL
    for (int i = 0; i < R; i++) {
        UNROLL
        for (int p = 0; p < P; p++) sum[i][p] = vf_zero();
    }
    NO_UNROLL
    for (int k = 0; k < t->taps; k++) {
        const float *w = t->w + (ptrdiff_t)k * t->channels;
        const ptrdiff_t tap = t->tap[k];
        UNROLL
        for (int p = 0; p < P; p++) {
            const vf by = whole ? vf_load(w + p * LANES) : vf_load_n(w, t->lanes);
            UNROLL
            for (int i = 0; i < R; i++) {
                const float *x = t->x[i] + tap + p * LANES;
                sum[i][p] = vf_fma(whole ? vf_load(x) : vf_load_n(x, t->lanes), by, sum[i][p]);
            }
        }
    }
    UNROLL
    for (int i = 0; i < R; i++) {
        UNROLL
        for (int p = 0; p < P; p++) sums[i * P + p] = sum[i][p];
    }
}

// Tiles are functions that all depthwise convolutions of a file share.
CORE_FUNCTION depthwise_many(const depthwise_tile *t, vf *sums) {
    depthwise_sums(DEPTHWISE_PIXELS, DEPTHWISE_VECTORS, true, t, sums);
}
CORE_FUNCTION depthwise_narrow(const depthwise_tile *t, vf *sums) {
    depthwise_sums(DEPTHWISE_PIXELS, 1, true, t, sums);
}
CORE_FUNCTION depthwise_last(const depthwise_tile *t, vf *sums) {
    depthwise_sums(DEPTHWISE_PIXELS, 1, false, t, sums);
}

// All pixels by P vectors of channels from `channel`. Tiles beyond the last pixel repeat it.
INLINE void depthwise_channels(int P, const depthwise_args *a, depthwise_tile t, int channel,
                               matmul_epilogue store, const void *context) {
    window_walk walk = walk_from(a->windows, a->pixels.first);
    vf sums[8 * 2];
    t.w = a->w + channel;
    for (int row = a->pixels.first; row < a->pixels.last; row += DEPTHWISE_PIXELS) {
        const int left = a->pixels.last - row;
        const int n = left < DEPTHWISE_PIXELS ? left : DEPTHWISE_PIXELS;
        for (int i = 0; i < DEPTHWISE_PIXELS; i++) {
            t.x[i] = a->x + walk.offset + channel;
            if (i + 1 < n || (i + 1 == n && left > n)) walk_next(a->windows, &walk);
        }
        if (t.lanes < LANES)
            depthwise_last(&t, sums);
        else if (P > 1)
            depthwise_many(&t, sums);
        else
            depthwise_narrow(&t, sums);
        NO_UNROLL
        for (int i = 0; i < n; i++) {
            NO_UNROLL
            for (int p = 0; p < P; p++)
                store(context, sums[i * P + p], row + i, channel + p * LANES);
        }
    }
}

// Channels outside, so that the rows of x that windows share stay near.
INLINE void depthwise_f32(depthwise_args a, matmul_epilogue store, const void *context) {
    ptrdiff_t tap[DEPTHWISE_TAPS];
    depthwise_tile t = {.tap = tap, .taps = a.taps, .channels = a.channels, .lanes = LANES};
    int channel = 0;
    if (a.pixels.first >= a.pixels.last) return;
    for (int k = 0; k < a.taps; k++) tap[k] = axes_offset(a.windows->taps, a.windows->tap_steps, k);
    for (; channel + DEPTHWISE_VECTORS * LANES <= a.channels; channel += DEPTHWISE_VECTORS * LANES)
        depthwise_channels(DEPTHWISE_VECTORS, &a, t, channel, store, context);
    for (; channel < a.channels; channel += LANES) {
        if (a.channels - channel < LANES) t.lanes = a.channels - channel;
        depthwise_channels(1, &a, t, channel, store, context);
    }
}
#endif
