#include "voice/wav_write.h"

#include <math.h>
#include <string.h>

static void put_wav_number(unsigned char **at, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; i++) *(*at)++ = (unsigned char)(value >> 8 * i);
}

static void put_tag(unsigned char **at, const char *word) {
    memcpy(*at, word, 4);
    *at += 4;
}

void burin_wav_header(unsigned char header[BURIN_WAV_HEADER], int32_t rate, uint32_t bytes) {
    unsigned char *at = header;
    put_tag(&at, "RIFF");
    put_wav_number(&at, bytes == BURIN_ENDLESS_WAV ? 0xffffffffu : bytes + BURIN_WAV_HEADER - 8, 4);
    put_tag(&at, "WAVE");
    put_tag(&at, "fmt ");
    put_wav_number(&at, 16, 4);                             // bytes of this part
    put_wav_number(&at, 1, 2), put_wav_number(&at, 1, 2);   // PCM, one channel
    put_wav_number(&at, (uint32_t)rate, 4);                 // samples
    put_wav_number(&at, 2 * (uint32_t)rate, 4);             // bytes a second
    put_wav_number(&at, 2, 2), put_wav_number(&at, 16, 2);  // bytes and bits of a sample
    put_tag(&at, "data");
    put_wav_number(&at, bytes == BURIN_ENDLESS_WAV ? 0xffffffffu : bytes, 4);
}

void burin_wav_samples(const float *samples, size_t n, unsigned char *bytes) {
    for (size_t i = 0; i < n; i++) {
        float x = samples[i] * 32767;
        if (!(x == x)) x = 0;
        int32_t value = (int32_t)lrintf(x < -32768 ? -32768 : x > 32767 ? 32767 : x);
        put_wav_number(&bytes, (uint32_t)value, 2);
    }
}
