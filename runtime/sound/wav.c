// RIFF chunks: "fmt " describes the samples, "data" has them; all other chunks are skipped. Sizes
// of a file that somebody writes into a pipe are unknown to its writer: a size of 0 or near 2^31 or
// 2^32 means all that follows.
#include "sound/wav.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/escape.h"

enum { PCM = 1, FLOAT_SAMPLES = 3, A_LAW = 6, MU_LAW = 7, EXTENSIBLE = 0xfffe };

typedef struct wav {
    const unsigned char *data;  // the samples
    size_t bytes;
    uint32_t format, channels, rate, frame_bytes, bits;
    bool has_format, streamed;  // streamed: the writer did not know the size
} wav;

static char wav_reason[160];

static uint32_t load_little_endian(const unsigned char *p, int bytes) {
    uint32_t value = 0;
    for (int i = bytes - 1; i >= 0; i--) value = value << 8 | p[i];
    return value;
}

// ----------------------------------------------------------------------------------------- samples
static float load_integer(const unsigned char *p, int bytes) {
    int32_t value = (int32_t)(load_little_endian(p, bytes) << (32 - 8 * bytes));
    return (float)value * 0x1p-31f;
}

static float load_wav_float(const unsigned char *p, int bytes) {
    float single;
    double wide;
    if (bytes == 4) {
        uint32_t bits = load_little_endian(p, 4);
        memcpy(&single, &bits, 4);
        return single;
    }
    uint64_t bits = load_little_endian(p, 4) | (uint64_t)load_little_endian(p + 4, 4) << 32;
    memcpy(&wide, &bits, 8);
    return (float)wide;
}

// G.711: a sign, an exponent of 3 bits, a mantissa of 4.
static float load_a_law(unsigned char byte) {
    int code = byte ^ 0x55, exponent = code >> 4 & 7, value = (code & 15) << 4 | 8;
    if (exponent) value = (value + 0x100) << (exponent - 1);
    return (float)(code & 0x80 ? value : -value) * 0x1p-15f;
}

static float load_mu_law(unsigned char byte) {
    int code = ~byte & 0xff, value = (((code & 15) << 3) + 0x84) << (code >> 4 & 7);
    return (float)(code & 0x80 ? 0x84 - value : value - 0x84) * 0x1p-15f;
}

static float load_sample(const wav *w, const unsigned char *p) {
    int bytes = (int)w->bits / 8;
    if (w->format == FLOAT_SAMPLES) return load_wav_float(p, bytes);
    if (w->format == A_LAW) return load_a_law(*p);
    if (w->format == MU_LAW) return load_mu_law(*p);
    return bytes == 1 ? (float)(*p - 128) * 0x1p-7f : load_integer(p, bytes);
}

// ------------------------------------------------------------------------------------------ chunks
static const char *read_wav_format(wav *w, const unsigned char *p, size_t bytes) {
    if (bytes < 16) return "its \"fmt \" chunk is shorter than 16 bytes";
    w->format = load_little_endian(p, 2);
    w->channels = load_little_endian(p + 2, 2);
    w->rate = load_little_endian(p + 4, 4);
    w->frame_bytes = load_little_endian(p + 12, 2);
    w->bits = load_little_endian(p + 14, 2);
    if (w->format == EXTENSIBLE && bytes < 40)
        return "its extensible \"fmt \" chunk is shorter than 40 bytes";
    if (w->format == EXTENSIBLE) w->format = load_little_endian(p + 24, 2);
    w->has_format = true;
    return NULL;
}

static bool has_known_width(const wav *w) {
    if (w->format == PCM) return w->bits == 8 || w->bits == 16 || w->bits == 24 || w->bits == 32;
    if (w->format == FLOAT_SAMPLES) return w->bits == 32 || w->bits == 64;
    return w->bits == 8;
}

static const char *check_wav_format(const wav *w) {
    bool known =
        w->format == PCM || w->format == FLOAT_SAMPLES || w->format == A_LAW || w->format == MU_LAW;
    if (!known) {
        burin_format(
            wav_reason, sizeof wav_reason,
            "its samples have format %u: expected PCM (1), floats (3), A-law (6) or mu-law (7)",
            w->format);
    } else if (!has_known_width(w)) {
        burin_format(wav_reason, sizeof wav_reason, "its samples have %u bits: expected %s",
                     w->bits,
                     w->format == PCM             ? "8, 16, 24 or 32"
                     : w->format == FLOAT_SAMPLES ? "32 or 64"
                                                  : "8");
    } else if (!w->channels || w->channels > BURIN_MOST_CHANNELS) {
        burin_format(wav_reason, sizeof wav_reason, "it has %u channels: expected 1 to %d",
                     w->channels, BURIN_MOST_CHANNELS);
    } else if (w->rate < BURIN_LEAST_RATE || w->rate > BURIN_MOST_RATE) {
        burin_format(wav_reason, sizeof wav_reason,
                     "it has %u samples per second: expected %d to %d", w->rate, BURIN_LEAST_RATE,
                     BURIN_MOST_RATE);
    } else if (w->frame_bytes != w->channels * w->bits / 8) {
        burin_format(wav_reason, sizeof wav_reason,
                     "its header has %u bytes per frame, %u channels of %u bits need %u",
                     w->frame_bytes, w->channels, w->bits, w->channels * w->bits / 8);
    } else {
        return NULL;
    }
    return wav_reason;
}

static bool is_unknown_size(uint32_t size) { return !size || size >= 0x7fff0000u; }

// `rest`: bytes of the file after the chunk's header
static const char *take_wav_data(wav *w, const unsigned char *p, uint32_t size, size_t rest) {
    if (!w->has_format) return "its \"data\" chunk comes before any \"fmt \" chunk";
    w->streamed = size > rest && is_unknown_size(size);
    if (!size && rest >= 8 && memcmp(p, "LIST", 4) != 0) w->streamed = true;
    if (size > rest && !w->streamed) {
        burin_format(wav_reason, sizeof wav_reason,
                     "it is cut: its header has %u bytes of samples, the file has %zu", size, rest);
        return wav_reason;
    }
    w->data = p;
    w->bytes = w->streamed ? rest : size;
    return NULL;
}

static const char *read_chunks(wav *w, const unsigned char *file, size_t bytes) {
    for (size_t at = 12; !w->data;) {
        if (bytes - at < 8) return "it has no \"data\" chunk";
        uint32_t size = load_little_endian(file + at + 4, 4);
        const unsigned char *content = file + at + 8;
        size_t rest = bytes - at - 8;
        const char *why = NULL;
        if (!memcmp(file + at, "data", 4)) {
            why = take_wav_data(w, content, size, rest);
        } else if (size > rest) {
            burin_format(wav_reason, sizeof wav_reason,
                         "a chunk at byte %zu has %u bytes, the file has %zu more", at, size, rest);
            why = wav_reason;
        } else if (!memcmp(file + at, "fmt ", 4)) {
            why = read_wav_format(w, content, size);
        }
        if (why) return why;
        at += 8 + (size_t)size + (size & 1);
        if (at > bytes) at = bytes;
    }
    return NULL;
}

// ------------------------------------------------------------------------------------------ a file
static const char *other_format(const unsigned char *file, size_t bytes) {
    static const struct {
        const char *magic, *name;
    } known[] = {{"fLaC", "it is FLAC"}, {"OggS", "it is Ogg"},
                 {"ID3", "it is MP3"},   {"\xff\xfb", "it is MP3"},
                 {"RF64", "it is RF64"}, {"RIFX", "it is big-endian RIFX"},
                 {"FORM", "it is AIFF"}, {".snd", "it is Sun audio"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].magic);
        if (bytes >= n && !memcmp(file, known[i].magic, n)) return known[i].name;
    }
    if (bytes >= 8 && !memcmp(file + 4, "ftyp", 4)) return "it is MP4";
    return bytes ? "it does not begin as a WAV file does" : "it is empty";
}

static const char *average_channels(const wav *w, burin_sound *sound) {
    size_t sample_bytes = w->bits / 8;
    for (int64_t i = 0; i < sound->n; i++) {
        double sum = 0;
        const unsigned char *frame = w->data + (size_t)i * w->frame_bytes;
        for (uint32_t c = 0; c < w->channels; c++)
            sum += (double)load_sample(w, frame + c * sample_bytes);
        float sample = (float)(sum / w->channels);
        if (!isfinite(sample)) {
            burin_format(wav_reason, sizeof wav_reason, "sample %lld is no finite number",
                         (long long)i);
            return wav_reason;
        }
        sound->samples[i] = sample;
    }
    return NULL;
}

static const char *check_wav_data(const wav *w) {
    if (w->bytes < w->frame_bytes) return "it has no samples";
    if (w->streamed || w->bytes % w->frame_bytes == 0) return NULL;
    burin_format(wav_reason, sizeof wav_reason,
                 "its samples have %zu bytes, not a multiple of the %u of a frame", w->bytes,
                 w->frame_bytes);
    return wav_reason;
}

const char *burin_wav_read(burin_sound *sound, const unsigned char *file, size_t bytes) {
    wav w = {0};
    *sound = (burin_sound){0};
    if (bytes < 12 || memcmp(file, "RIFF", 4) != 0 || memcmp(file + 8, "WAVE", 4) != 0)
        return other_format(file, bytes);
    const char *why = read_chunks(&w, file, bytes);
    if (!why) why = check_wav_format(&w);
    if (!why) why = check_wav_data(&w);
    if (why) return why;
    sound->rate = (int32_t)w.rate;
    sound->n = (int64_t)(w.bytes / w.frame_bytes);
    sound->samples = burin_allocate((size_t)sound->n, sizeof *sound->samples);
    why = average_channels(&w, sound);
    if (!why) return NULL;
    free(sound->samples);
    *sound = (burin_sound){0};
    return why;
}
