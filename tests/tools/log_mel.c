// log_mel RECORDING FEATURES.npy: the first frames of a recording's features, as many as the file
// has, against the file; prints the largest difference.
#include "sound/log_mel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "program/input.h"
#include "program/npy.h"
#include "sound/resample.h"

enum { RATE = 16000, WINDOW = 480000 };

static float *read_padded(const char *path) {
    size_t bytes;
    burin_sound sound;
    void *file = burin_read_bytes(path, (size_t)1 << 30, &bytes);
    const char *why = burin_wav_read(&sound, file, bytes);
    if (why) {
        fprintf(stderr, "%s: %s\n", path, why);
        exit(1);
    }
    burin_resample(&sound, RATE);
    float *padded = calloc(WINDOW, sizeof *padded);
    for (int64_t i = 0; padded && i < sound.n && i < WINDOW; i++) padded[i] = sound.samples[i];
    free(sound.samples);
    free(file);
    return padded;
}

int main(int argc, char **argv) {
    burin_array expected;
    if (argc != 3 || burin_npy_read(&expected, argv[2]) || expected.rank != 2) return 2;
    int32_t n_mels = (int32_t)expected.dim[0], frames = (int32_t)expected.dim[1];
    float *samples = read_padded(argv[1]), *features = calloc(expected.count, sizeof *features);
    if (!samples || !features) return 2;
    burin_log_mel mel =
        burin_log_mel_compute(&(burin_mel_size){RATE, 400, 160, n_mels}, samples, WINDOW);
    burin_log_mel_window(&mel, 0, frames, features);
    double largest = 0;
    for (size_t i = 0; i < expected.count; i++) {
        double error =
            fabs((double)features[i] - burin_load_real(expected.element, expected.data, i));
        largest = error > largest ? error : largest;
    }
    printf("%.3g\n", largest);
    burin_log_mel_close(&mel);
    free(samples);
    free(features);
    free(expected.data);
    return 0;
}
