// libFuzzer target: WAV files as a program reads them, and FLAC where libFLAC is installed; a
// recording is brought to another rate, and its features are finite.
#if __has_include(<FLAC/stream_decoder.h>)
#define BURIN_FLAC 1
#endif
#include "runtime/sound/recording.c"
#ifdef BURIN_FLAC
#include "runtime/codecs/flac.c"
#endif

#include <math.h>

#include "input.h"
#include "runtime/sound/log_mel.h"
#include "runtime/sound/resample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compute_features(const burin_sound *sound) {
    if (sound->n < 500) return;
    const burin_mel_size mel = {16000, 400, 160, 8};
    burin_log_mel features = burin_log_mel_compute(&mel, sound->samples, sound->n);
    for (int64_t i = 0; i < features.frames * mel.n_mels; i++)
        if (!(features.value[i] >= -10)) abort();
    burin_log_mel_close(&features);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    burin_sound sound;
    burin_most_seconds = 4;  // frames of silence are long and small
    if (burin_recording_read(&sound, data, size)) return 0;
    if (sound.n < 1) abort();
    for (int64_t i = 0; i < sound.n; i++)
        if (!isfinite(sound.samples[i])) abort();
    bool few_phases = 16000 % sound.rate == 0 || sound.rate % 8000 == 0;
    if (few_phases) burin_resample(&sound, 16000);
    compute_features(&sound);
    free(sound.samples);
    return 0;
}
