// Log-mel spectrogram as Whisper's feature extractor computes it (the formulas are in README.md).
#ifndef BURIN_LOG_MEL_H
#define BURIN_LOG_MEL_H
#include <stdint.h>

typedef struct burin_mel_size {
    int32_t sample_rate, n_fft, hop, n_mels;  // hop: samples from frame to frame
} burin_mel_size;

typedef struct burin_log_mel {
    float *value;  // [frames][n_mels] log10 of the mel energies, at least -10
    int64_t frames;
    int32_t n_mels;
    float largest;
} burin_log_mel;

// n / hop frames of n samples; n is larger than n_fft.
burin_log_mel burin_log_mel_compute(const burin_mel_size *, const float *samples, int64_t n);
void burin_log_mel_close(burin_log_mel *);

// Copies `count` normalized frames from `from` to `features`, [n_mels][count]. Frames after the
// last are 0.
void burin_log_mel_window(const burin_log_mel *, int64_t from, int64_t count, float *features);
#endif
