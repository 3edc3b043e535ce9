// Output sample i is at input position i * step / phases (a reduced fraction), so only `phases`
// different rows of filter weights exist. Sums are double and ascending.
#include "sound/resample.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "sound/elementary.h"

enum { ZERO_CROSSINGS = 32 };  // of the sinc on each side
static const double kaiser_beta = 10, resample_passband = 0.95;

typedef struct filter {
    int64_t phases, step;
    int64_t half;    // weights on each side
    double cutoff;   // of the input's Nyquist frequency
    float *weights;  // [phases][2 * half]
} filter;

static int64_t greatest_divisor(int64_t a, int64_t b) { return b ? greatest_divisor(b, a % b) : a; }

// Modified Bessel function of order 0.
static double bessel(double x) {
    double term = 1, sum = 1;
    for (int i = 1; i < 40; i++) {
        term *= x / (2 * i) * (x / (2 * i));
        sum += term;
    }
    return sum;
}

// Kaiser's window over -1 to 1
static double kaiser(double x) {
    double inside = 1 - x * x;
    return inside <= 0 ? 0 : bessel(kaiser_beta * sqrt(inside)) / bessel(kaiser_beta);
}

static double filter_at(const filter *f, double distance) {
    double x = distance * f->cutoff,
           sinc = x < 1e-9 && x > -1e-9 ? 1 : burin_sine_of_pi(x) / (BURIN_PI * x);
    return sinc * kaiser(x / ZERO_CROSSINGS);
}

// The weights of a phase sum to 1: a constant stays what it is.
static void fill_phase(const filter *f, int64_t phase, double *row) {
    double offset = (double)phase / (double)f->phases, sum = 0;
    for (int64_t k = 0; k < 2 * f->half; k++) {
        row[k] = filter_at(f, (double)(k - f->half + 1) - offset);
        sum += row[k];
    }
    for (int64_t k = 0; k < 2 * f->half; k++)
        f->weights[phase * 2 * f->half + k] = (float)(row[k] / sum);
}

static filter make_filter(int32_t from, int32_t to) {
    int64_t divisor = greatest_divisor(from, to);
    filter f = {.phases = to / divisor, .step = from / divisor};
    f.cutoff = resample_passband * (to < from ? (double)to / from : 1);
    f.half = (int64_t)(ZERO_CROSSINGS / f.cutoff) + 1;
    f.weights = burin_allocate((size_t)(f.phases * 2 * f.half), sizeof *f.weights);
    double *row = burin_allocate((size_t)(2 * f.half), sizeof *row);
    for (int64_t phase = 0; phase < f.phases; phase++) fill_phase(&f, phase, row);
    free(row);
    return f;
}

static float sample_at(const filter *f, const burin_sound *in, int64_t i) {
    int64_t at = i * f->step / f->phases, phase = i * f->step % f->phases, first = at - f->half + 1;
    int64_t begin = first < 0 ? -first : 0, end = 2 * f->half;
    const float *weight = f->weights + phase * 2 * f->half;
    double sum = 0;
    if (end > in->n - first) end = in->n - first;
    for (int64_t k = begin; k < end; k++) sum += (double)weight[k] * (double)in->samples[first + k];
    return (float)sum;
}

void burin_resample(burin_sound *sound, int32_t rate) {
    if (sound->rate == rate) return;
    filter f = make_filter(sound->rate, rate);
    int64_t n = (sound->n * f.phases + f.step - 1) / f.step;
    float *out = burin_allocate((size_t)n, sizeof *out);
    for (int64_t i = 0; i < n; i++) out[i] = sample_at(&f, sound, i);
    free(f.weights);
    free(sound->samples);
    *sound = (burin_sound){.samples = out, .n = n, .rate = rate};
}
