// The energies of mel bands of a frame of samples.
#ifndef BURIN_SPECTRUM_H
#define BURIN_SPECTRUM_H
#include <stdint.h>

#include "engine/listener.h"

typedef struct burin_mel_shape {
    int32_t sample_rate, n_fft, n_mels;
    int32_t scale;       // a burin_mel_scale
    double least, most;  // Hertz, of the lowest and the highest corner
} burin_mel_shape;

typedef struct burin_complex {
    double re, im;
} burin_complex;

typedef struct burin_triangle burin_triangle;

typedef struct burin_spectrum {
    int32_t n_fft, n_mels, bins;
    burin_complex *root, *in, *out, *part, *sum;  // [n_fft]; root: e^(-2 pi i k / n_fft)
    burin_triangle *triangles;                    // [n_mels]
    double *power;                                // [bins]
} burin_spectrum;

burin_spectrum burin_spectrum_open(const burin_mel_shape *);
void burin_spectrum_close(burin_spectrum *);
// Energies [n_mels] of the frame in `in`, which has its window.
void burin_spectrum_mels(const burin_spectrum *, double *mels);
#endif
