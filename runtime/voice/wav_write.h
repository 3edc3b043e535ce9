// WAV files of one channel of 16 bits.
#ifndef BURIN_WAV_WRITE_H
#define BURIN_WAV_WRITE_H
#include <stddef.h>
#include <stdint.h>

enum { BURIN_WAV_HEADER = 44 };
#define BURIN_MOST_WAV_BYTES (0xffffffffu - BURIN_WAV_HEADER)  // of samples
#define BURIN_ENDLESS_WAV    BURIN_MOST_WAV_BYTES  // of a stream whose length is not known yet

void burin_wav_header(unsigned char header[BURIN_WAV_HEADER], int32_t rate, uint32_t bytes);

// Writes samples from -1 to 1 as integers of 16 bits, little-endian. Larger ones are clipped, NaN
// is 0.
void burin_wav_samples(const float *samples, size_t n, unsigned char *bytes);
#endif
