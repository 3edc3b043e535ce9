// WAV files: samples of any usual format, channels averaged into one.
#ifndef BURIN_WAV_H
#define BURIN_WAV_H
#include <stddef.h>
#include <stdint.h>

typedef struct burin_sound {
    float *samples;  // [n], the average of all channels; the caller frees it
    int64_t n;
    int32_t rate;  // samples per second
} burin_sound;

enum { BURIN_LEAST_RATE = 1000, BURIN_MOST_RATE = 384000, BURIN_MOST_CHANNELS = 256 };

// Reads a whole file from memory. Returns NULL, or why it cannot be read (until the next call);
// then nothing is allocated.
const char *burin_wav_read(burin_sound *, const unsigned char *file, size_t bytes);
#endif
