// The Fourier transform is computed by the prime factors of n_fft (400 = 2 2 2 2 5 5). Its power
// goes through triangles that are equally wide on a mel scale. All sums are double and in a fixed
// order.
#include "sound/spectrum.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "sound/elementary.h"

struct burin_triangle {
    int32_t first, n;  // frequency bins
    double *weight;    // [n]
};

// ------------------------------------------------------------------------------- Fourier transform
static int32_t smallest_factor(int32_t n) {
    for (int32_t p = 2; p * p <= n; p++)
        if (n % p == 0) return p;
    return n;
}

// Sum over r of part[r] e^(-2 pi i r q / p)
static burin_complex combine(const burin_spectrum *t, int32_t p, int32_t q) {
    int32_t n = t->n_fft;
    burin_complex sum = t->part[0];
    for (int32_t r = 1; r < p; r++) {
        burin_complex w = t->root[(int64_t)r * q % p * (n / p)], x = t->part[r];
        sum.re += x.re * w.re - x.im * w.im;
        sum.im += x.re * w.im + x.im * w.re;
    }
    return sum;
}

// n elements of t->in, `stride` apart, to `out`: p transforms of every p-th element, then their
// sums.
static void transform_part(const burin_spectrum *t, int32_t n, int32_t stride,
                           const burin_complex *in, burin_complex *out) {
    if (n == 1) {
        *out = *in;
        return;
    }
    int32_t p = smallest_factor(n), m = n / p, turn = t->n_fft / n;
    for (int32_t r = 0; r < p; r++)
        transform_part(t, m, stride * p, in + (int64_t)r * stride, out + (int64_t)r * m);
    for (int32_t k = 0; k < m; k++) {
        for (int32_t r = 0; r < p; r++) {
            burin_complex x = out[r * m + k], w = t->root[(int64_t)r * k * turn % t->n_fft];
            t->part[r] = (burin_complex){x.re * w.re - x.im * w.im, x.re * w.im + x.im * w.re};
        }
        for (int32_t q = 0; q < p; q++) t->sum[q] = combine(t, p, q);
        for (int32_t q = 0; q < p; q++) out[q * m + k] = t->sum[q];
    }
}

// --------------------------------------------------------------------------------------- mel scales
// Slaney's scale: linear up to 1000 Hz, logarithmic from there on. Kaldi's: logarithmic.
static double mel_of(int32_t scale, double hertz) {
    if (scale == BURIN_MEL_KALDI) return 1127 * burin_natural_log(1 + hertz / 700);
    return hertz < 1000 ? 3 * hertz / 200
                        : 15 + burin_natural_log(hertz / 1000) * (27 / burin_natural_log(6.4));
}

static double hertz_of(double mel) {
    return mel < 15 ? 200 * mel / 3
                    : 1000 * burin_exponential(burin_natural_log(6.4) / 27 * (mel - 15));
}

// The triangles' corners, [n_mels + 2]: Slaney's triangles are straight over Hertz, Kaldi's over
// mels.
static double *make_corners(const burin_mel_shape *shape) {
    int32_t n = shape->n_mels + 1;
    double *corner = burin_allocate((size_t)n + 1, sizeof *corner),
           least = mel_of(shape->scale, shape->least), most = mel_of(shape->scale, shape->most);
    for (int32_t i = 0; i <= n; i++) {
        double mel = least > 0 ? least + (most - least) * i / n : most * i / n;
        corner[i] = shape->scale == BURIN_MEL_KALDI ? mel : hertz_of(mel);
    }
    return corner;
}

// Rises from corner[0] to corner[1], falls to corner[2]. Slaney's have area 1, Kaldi's height 1.
static double triangle_at(int32_t scale, const double *corner, double at) {
    double up = (at - corner[0]) / (corner[1] - corner[0]),
           down = (corner[2] - at) / (corner[2] - corner[1]);
    double value = up < down ? up : down;
    if (value <= 0) return 0;
    return scale == BURIN_MEL_KALDI ? value : value * (2 / (corner[2] - corner[0]));
}

static void make_triangle(const burin_spectrum *t, const burin_mel_shape *shape,
                          const double *corner, burin_triangle *out) {
    double step = (double)(shape->sample_rate / 2) / (t->bins - 1);
    out->weight = burin_allocate((size_t)t->bins, sizeof *out->weight);
    for (int32_t i = 0; i < t->bins; i++) {
        double hertz = step * i,
               at = shape->scale == BURIN_MEL_KALDI ? mel_of(shape->scale, hertz) : hertz,
               weight = triangle_at(shape->scale, corner, at);
        if (weight <= 0) continue;
        if (!out->n) out->first = i;
        out->n = i - out->first + 1;
        out->weight[i - out->first] = weight;
    }
}

// ----------------------------------------------------------------------------------------- frames
burin_spectrum burin_spectrum_open(const burin_mel_shape *shape) {
    size_t n = (size_t)shape->n_fft;
    burin_spectrum t = {
        .n_fft = shape->n_fft, .n_mels = shape->n_mels, .bins = shape->n_fft / 2 + 1};
    t.root = burin_allocate(5 * n, sizeof *t.root);
    t.in = t.root + n;
    t.out = t.in + n;
    t.part = t.out + n;
    t.sum = t.part + n;
    t.power = burin_allocate((size_t)t.bins, sizeof *t.power);
    t.triangles = burin_allocate((size_t)shape->n_mels, sizeof *t.triangles);
    for (int32_t k = 0; k < shape->n_fft; k++)
        t.root[k] = (burin_complex){burin_cosine_of_turn(k, shape->n_fft),
                                    -burin_sine_of_turn(k, shape->n_fft)};
    double *corner = make_corners(shape);
    for (int32_t m = 0; m < shape->n_mels; m++)
        make_triangle(&t, shape, corner + m, &t.triangles[m]);
    free(corner);
    return t;
}

void burin_spectrum_close(burin_spectrum *t) {
    for (int32_t m = 0; m < t->n_mels; m++) free(t->triangles[m].weight);
    free(t->triangles);
    free(t->root);
    free(t->power);
}

void burin_spectrum_mels(const burin_spectrum *t, double *mels) {
    transform_part(t, t->n_fft, 1, t->in, t->out);
    for (int32_t i = 0; i < t->bins; i++)
        t->power[i] = t->out[i].re * t->out[i].re + t->out[i].im * t->out[i].im;
    for (int32_t m = 0; m < t->n_mels; m++) {
        const burin_triangle *f = &t->triangles[m];
        double sum = 0;
        for (int32_t i = 0; i < f->n; i++) sum += f->weight[i] * t->power[f->first + i];
        mels[m] = sum;
    }
}
