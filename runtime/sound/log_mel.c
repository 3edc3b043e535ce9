// A frame is n_fft samples around a multiple of `hop`, weighted by Hann's window. Sums are double,
// and only the logarithm is a float.
#include "sound/log_mel.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "sound/elementary.h"
#include "sound/spectrum.h"

typedef struct whisper_frames {
    burin_mel_size size;
    burin_spectrum spectrum;
    double *window, *energy;  // [n_fft], [n_mels]
} whisper_frames;

static whisper_frames open_frames(const burin_mel_size *size) {
    const burin_mel_shape shape = {.sample_rate = size->sample_rate,
                                   .n_fft = size->n_fft,
                                   .n_mels = size->n_mels,
                                   .scale = BURIN_MEL_SLANEY,
                                   .most = 8000};
    whisper_frames f = {.size = *size, .spectrum = burin_spectrum_open(&shape)};
    f.window = burin_allocate((size_t)size->n_fft, sizeof *f.window);
    f.energy = burin_allocate((size_t)size->n_mels, sizeof *f.energy);
    for (int32_t k = 0; k < size->n_fft; k++)
        f.window[k] = 0.5 - 0.5 * burin_cosine_of_turn(k, size->n_fft);
    return f;
}

static void close_frames(whisper_frames *f) {
    burin_spectrum_close(&f->spectrum);
    free(f->window);
    free(f->energy);
}

// Both ends are mirrored. Returns false for silence.
static bool load_frame(const whisper_frames *f, const float *samples, int64_t n, int64_t frame) {
    int32_t n_fft = f->size.n_fft;
    int64_t first = frame * f->size.hop - n_fft / 2;
    bool any = false;
    for (int32_t i = 0; i < n_fft; i++) {
        int64_t at = first + i < 0 ? -(first + i) : first + i;
        if (at >= n) at = 2 * (n - 1) - at;
        f->spectrum.in[i] = (burin_complex){(double)samples[at] * f->window[i], 0};
        any |= samples[at] != 0;
    }
    return any;
}

static float log10_of_energy(double energy) {
    return energy > 1e-10 ? (float)(burin_natural_log(energy) * 0x1.bcb7b1526e50ep-2) : -10.0f;
}

static void compute_frame(const whisper_frames *f, float *mels) {
    burin_spectrum_mels(&f->spectrum, f->energy);
    for (int32_t m = 0; m < f->size.n_mels; m++) mels[m] = log10_of_energy(f->energy[m]);
}

burin_log_mel burin_log_mel_compute(const burin_mel_size *size, const float *samples, int64_t n) {
    whisper_frames f = open_frames(size);
    burin_log_mel out = {.frames = n / size->hop, .n_mels = size->n_mels, .largest = -10};
    out.value = burin_allocate((size_t)out.frames * (size_t)size->n_mels, sizeof *out.value);
    for (int64_t frame = 0; frame < out.frames; frame++) {
        float *mels = out.value + frame * size->n_mels;
        if (load_frame(&f, samples, n, frame)) {
            compute_frame(&f, mels);
        } else {
            for (int32_t m = 0; m < size->n_mels; m++) mels[m] = -10;
        }
        for (int32_t m = 0; m < size->n_mels; m++)
            out.largest = mels[m] > out.largest ? mels[m] : out.largest;
    }
    close_frames(&f);
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
