// A frame is n_fft samples around a multiple of `hop`, weighted by Hann's window; its discrete
// Fourier transform is computed by the prime factors of n_fft (400 = 2 2 2 2 5 5), its power goes
// through triangles that are equally wide on the mel scale. All sums are double and in a fixed
// order, and only the logarithm is a float.
#include "sound/log_mel.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "sound/elementary.h"

typedef struct complex_number {
    double re, im;
} complex_number;

typedef struct triangle {
    int32_t first, n;  // frequency bins
    double *weight;    // [n]
} triangle;

typedef struct transform {
    burin_mel_size size;
    int32_t bins;
    double *window;                                // [n_fft]
    complex_number *root, *in, *out, *part, *sum;  // [n_fft]; root: e^(-2 pi i k / n_fft)
    triangle *triangles;                           // [n_mels]
    double *power;                                 // [bins]
} transform;

// ------------------------------------------------------------------------------- Fourier transform
static int32_t smallest_factor(int32_t n) {
    for (int32_t p = 2; p * p <= n; p++)
        if (n % p == 0) return p;
    return n;
}

// Sum over r of part[r] e^(-2 pi i r q / p)
static complex_number combine(const transform *t, int32_t p, int32_t q) {
    int32_t n = t->size.n_fft;
    complex_number sum = t->part[0];
    for (int32_t r = 1; r < p; r++) {
        complex_number w = t->root[(int64_t)r * q % p * (n / p)], x = t->part[r];
        sum.re += x.re * w.re - x.im * w.im;
        sum.im += x.re * w.im + x.im * w.re;
    }
    return sum;
}

// n elements of t->in, `stride` apart, to `out`: p transforms of every p-th element, then their
// sums.
static void transform_part(const transform *t, int32_t n, int32_t stride, const complex_number *in,
                           complex_number *out) {
    if (n == 1) {
        *out = *in;
        return;
    }
    int32_t p = smallest_factor(n), m = n / p, turn = t->size.n_fft / n;
    for (int32_t r = 0; r < p; r++)
        transform_part(t, m, stride * p, in + (int64_t)r * stride, out + (int64_t)r * m);
    for (int32_t k = 0; k < m; k++) {
        for (int32_t r = 0; r < p; r++) {
            complex_number x = out[r * m + k], w = t->root[(int64_t)r * k * turn % t->size.n_fft];
            t->part[r] = (complex_number){x.re * w.re - x.im * w.im, x.re * w.im + x.im * w.re};
        }
        for (int32_t q = 0; q < p; q++) t->sum[q] = combine(t, p, q);
        for (int32_t q = 0; q < p; q++) out[q * m + k] = t->sum[q];
    }
}

// --------------------------------------------------------------------------------------- mel scale
// Slaney's scale: linear up to 1000 Hz, logarithmic from there on.
static double mel_of(double hertz) {
    return hertz < 1000 ? 3 * hertz / 200
                        : 15 + burin_natural_log(hertz / 1000) * (27 / burin_natural_log(6.4));
}

static double hertz_of(double mel) {
    return mel < 15 ? 200 * mel / 3
                    : 1000 * burin_exponential(burin_natural_log(6.4) / 27 * (mel - 15));
}

// The triangles' corners, [n_mels + 2], from 0 Hz to 8000 Hz.
static double *make_corners(int32_t n_mels) {
    double *corner = burin_allocate((size_t)n_mels + 2, sizeof *corner), top = mel_of(8000);
    for (int32_t i = 0; i < n_mels + 2; i++) corner[i] = hertz_of(top * i / (n_mels + 1));
    return corner;
}

// Rises from corner[0] to corner[1], falls to corner[2], and has area 1.
static double triangle_at(const double *corner, double hertz) {
    double up = (hertz - corner[0]) / (corner[1] - corner[0]),
           down = (corner[2] - hertz) / (corner[2] - corner[1]);
    double value = up < down ? up : down;
    return value <= 0 ? 0 : value * (2 / (corner[2] - corner[0]));
}

static void make_triangle(const transform *t, const double *corner, triangle *out) {
    double step = (double)(t->size.sample_rate / 2) / (t->bins - 1);
    out->weight = burin_allocate((size_t)t->bins, sizeof *out->weight);
    for (int32_t i = 0; i < t->bins; i++) {
        double weight = triangle_at(corner, step * i);
        if (weight <= 0) continue;
        if (!out->n) out->first = i;
        out->n = i - out->first + 1;
        out->weight[i - out->first] = weight;
    }
}

// ------------------------------------------------------------------------------------------ frames
static transform make_transform(const burin_mel_size *size) {
    size_t n = (size_t)size->n_fft;
    transform t = {.size = *size, .bins = size->n_fft / 2 + 1};
    t.window = burin_allocate(n, sizeof *t.window);
    t.root = burin_allocate(5 * n, sizeof *t.root);
    t.in = t.root + n;
    t.out = t.in + n;
    t.part = t.out + n;
    t.sum = t.part + n;
    t.power = burin_allocate((size_t)t.bins, sizeof *t.power);
    t.triangles = burin_allocate((size_t)size->n_mels, sizeof *t.triangles);
    for (int32_t k = 0; k < size->n_fft; k++) {
        double cosine = burin_cosine_of_turn(k, size->n_fft);
        t.root[k] = (complex_number){cosine, -burin_sine_of_turn(k, size->n_fft)};
        t.window[k] = 0.5 - 0.5 * cosine;
    }
    double *corner = make_corners(size->n_mels);
    for (int32_t m = 0; m < size->n_mels; m++) make_triangle(&t, corner + m, &t.triangles[m]);
    free(corner);
    return t;
}

static void free_transform(transform *t) {
    for (int32_t m = 0; m < t->size.n_mels; m++) free(t->triangles[m].weight);
    free(t->triangles);
    free(t->window);
    free(t->root);
    free(t->power);
}

// Both ends are mirrored. Returns false for silence.
static bool load_frame(const transform *t, const float *samples, int64_t n, int64_t frame) {
    int32_t n_fft = t->size.n_fft;
    int64_t first = frame * t->size.hop - n_fft / 2;
    bool any = false;
    for (int32_t i = 0; i < n_fft; i++) {
        int64_t at = first + i < 0 ? -(first + i) : first + i;
        if (at >= n) at = 2 * (n - 1) - at;
        t->in[i] = (complex_number){(double)samples[at] * t->window[i], 0};
        any |= samples[at] != 0;
    }
    return any;
}

static float log10_of_energy(double energy) {
    return energy > 1e-10 ? (float)(burin_natural_log(energy) * 0x1.bcb7b1526e50ep-2) : -10.0f;
}

static void compute_frame(const transform *t, float *mels) {
    transform_part(t, t->size.n_fft, 1, t->in, t->out);
    for (int32_t i = 0; i < t->bins; i++)
        t->power[i] = t->out[i].re * t->out[i].re + t->out[i].im * t->out[i].im;
    for (int32_t m = 0; m < t->size.n_mels; m++) {
        const triangle *f = &t->triangles[m];
        double sum = 0;
        for (int32_t i = 0; i < f->n; i++) sum += f->weight[i] * t->power[f->first + i];
        mels[m] = log10_of_energy(sum);
    }
}

burin_log_mel burin_log_mel_compute(const burin_mel_size *size, const float *samples, int64_t n) {
    transform t = make_transform(size);
    burin_log_mel out = {.frames = n / size->hop, .n_mels = size->n_mels, .largest = -10};
    out.value = burin_allocate((size_t)out.frames * (size_t)size->n_mels, sizeof *out.value);
    for (int64_t frame = 0; frame < out.frames; frame++) {
        float *mels = out.value + frame * size->n_mels;
        if (load_frame(&t, samples, n, frame)) {
            compute_frame(&t, mels);
        } else {
            for (int32_t m = 0; m < size->n_mels; m++) mels[m] = -10;
        }
        for (int32_t m = 0; m < size->n_mels; m++)
            out.largest = mels[m] > out.largest ? mels[m] : out.largest;
    }
    free_transform(&t);
    return out;
}

void burin_log_mel_close(burin_log_mel *log_mel) {
    free(log_mel->value);
    log_mel->value = NULL;
}

void burin_log_mel_window(const burin_log_mel *log_mel, int64_t from, int64_t count,
                          float *features) {
    float least = log_mel->largest - 8;
    for (int32_t m = 0; m < log_mel->n_mels; m++)
        for (int64_t i = 0; i < count; i++) {
            float value =
                from + i < log_mel->frames ? log_mel->value[(from + i) * log_mel->n_mels + m] : 0;
            float normal = ((value > least ? value : least) + 4) / 4;
            features[m * count + i] = from + i < log_mel->frames ? normal : 0;
        }
}
