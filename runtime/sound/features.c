// A frame is `width` samples times a window, in the middle of n_fft; the energies of its mel bands
// become logarithms, and all frames of a recording are normalized together. Sums are double and in
// a fixed order.
#include "sound/features.h"

#include <math.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "sound/elementary.h"
#include "sound/spectrum.h"

typedef struct frame_maker {
    const burin_features *settings;
    burin_spectrum spectrum;
    double *window, *frame;  // [width]
    double *energy;          // [n_mels]
} frame_maker;

// ------------------------------------------------------------------------------------------ counts
int64_t burin_features_count(const burin_features *f, int64_t n) {
    int64_t count = f->centred ? n / f->hop : n < f->width ? 0 : (n - f->width) / f->hop + 1;
    return f->frames && count > f->frames ? f->frames : count;
}

int64_t burin_features_samples(const burin_features *f, int64_t frames) {
    return f->centred ? frames * f->hop : (frames - 1) * f->hop + f->width;
}

// ------------------------------------------------------------------------------------------ frames
// Hann's window, or Povey's: its power 0.85.
static double window_at(const burin_features *f, int32_t i) {
    double hann = 0.5 - 0.5 * burin_cosine_of_turn(i, f->width - 1);
    if (f->window == BURIN_HANN) return hann;
    return hann > 0 ? burin_exponential(0.85 * burin_natural_log(hann)) : 0;
}

static frame_maker open_frame_maker(const burin_features *f, int32_t sample_rate) {
    const burin_mel_shape shape = {.sample_rate = sample_rate,
                                   .n_fft = f->n_fft,
                                   .n_mels = f->n_mels,
                                   .scale = f->scale,
                                   .least = f->least_hertz,
                                   .most = sample_rate / 2};
    frame_maker m = {.settings = f, .spectrum = burin_spectrum_open(&shape)};
    m.window = burin_allocate((size_t)f->width, sizeof *m.window);
    m.frame = burin_allocate((size_t)f->width, sizeof *m.frame);
    m.energy = burin_allocate((size_t)f->n_mels, sizeof *m.energy);
    for (int32_t i = 0; i < f->width; i++) m.window[i] = window_at(f, i);
    return m;
}

static void close_frame_maker(frame_maker *m) {
    burin_spectrum_close(&m->spectrum);
    free(m->window);
    free(m->frame);
    free(m->energy);
}

// Less the one before, of which there is none at the beginning.
static double emphasized(const burin_features *f, const float *samples, int64_t n, int64_t at) {
    if (at < 0 || at >= n) return 0;
    double before = at && !f->by_frame ? f->emphasis * (double)samples[at - 1] : 0;
    return ((double)samples[at] - before) * f->sample_scale;
}

static void centre_and_emphasize(const frame_maker *m) {
    const burin_features *f = m->settings;
    double sum = 0;
    for (int32_t i = 0; i < f->width; i++) sum += m->frame[i];
    for (int32_t i = 0; i < f->width; i++) m->frame[i] -= sum / f->width;
    for (int32_t i = f->width - 1; i > 0; i--) m->frame[i] -= f->emphasis * m->frame[i - 1];
    m->frame[0] *= 1 - f->emphasis;
}

static void compute_bands(frame_maker *m, const float *samples, int64_t n, int64_t frame,
                          float *bands) {
    const burin_features *f = m->settings;
    int32_t before = f->centred ? (f->n_fft - f->width) / 2 : 0;
    int64_t first = frame * f->hop - (f->centred ? f->n_fft / 2 - before : 0);
    for (int32_t i = 0; i < f->width; i++) m->frame[i] = emphasized(f, samples, n, first + i);
    if (f->by_frame) centre_and_emphasize(m);
    for (int32_t i = 0; i < f->n_fft; i++) {
        bool inside = i >= before && i < before + f->width;
        m->spectrum.in[i] =
            (burin_complex){inside ? m->frame[i - before] * m->window[i - before] : 0, 0};
    }
    burin_spectrum_mels(&m->spectrum, m->energy);
    for (int32_t i = 0; i < f->n_mels; i++) {
        double energy = (m->energy[i] > f->least ? m->energy[i] : f->least) + f->added;
        bands[i] = (float)burin_natural_log(energy);
    }
}

// ----------------------------------------------------------------------------------------- norming
static void normalize_fixed(const burin_features *f, float *out, int64_t frames) {
    for (int64_t i = 0; i < frames * f->n_mels; i++)
        out[i] = (float)(((double)out[i] - f->mean) / f->deviation);
}

static void normalize_band(const burin_features *f, float *out, int64_t frames, int32_t band) {
    double sum = 0, squares = 0, mean, deviation;
    for (int64_t i = 0; i < frames; i++) sum += (double)out[i * f->n_mels + band];
    mean = sum / (double)frames;
    for (int64_t i = 0; i < frames; i++) {
        double x = (double)out[i * f->n_mels + band] - mean;
        squares += x * x;
    }
    int64_t divisor = frames > 1 ? frames - f->divisor_less : 1;
    deviation = sqrt(squares / (double)divisor) + f->deviation_added;
    if (f->norm == BURIN_BANDS_SCALED) mean = 0;
    if (f->norm == BURIN_BANDS_CENTRED || !(deviation > 0)) deviation = 1;
    for (int64_t i = 0; i < frames; i++) {
        float *x = &out[i * f->n_mels + band];
        *x = (float)(((double)*x - mean) / deviation);
    }
}

void burin_features_compute(const burin_features *f, int32_t sample_rate, const float *samples,
                            int64_t n, float *out) {
    int64_t heard = burin_features_count(f, n), frames = f->frames ? f->frames : heard;
    frame_maker m = open_frame_maker(f, sample_rate);
    for (int64_t i = 0; i < heard; i++) compute_bands(&m, samples, n, i, out + i * f->n_mels);
    for (int64_t i = heard * f->n_mels; i < frames * f->n_mels; i++) out[i] = 0;
    if (f->norm == BURIN_BANDS_FIXED) normalize_fixed(f, out, frames);
    for (int32_t band = 0; band < f->n_mels && f->norm > BURIN_BANDS_FIXED; band++)
        normalize_band(f, out, heard, band);
    close_frame_maker(&m);
}
