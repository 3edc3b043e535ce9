// FLAC by libFLAC: the average of all channels, in the words of sound/wav.h.
#include <FLAC/stream_decoder.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/escape.h"
#include "sound/recording.h"

static char flac_reason[160];

typedef struct flac_file {
    const unsigned char *file;
    size_t bytes, at;
    burin_sound *sound;
    int64_t capacity;  // of the samples
    const char *why;   // the first error; NULL: none
} flac_file;

static FLAC__StreamDecoderReadStatus read_flac(const FLAC__StreamDecoder *d, FLAC__byte buffer[],
                                               size_t *bytes, void *context) {
    flac_file *f = context;
    (void)d;
    if (*bytes > f->bytes - f->at) *bytes = f->bytes - f->at;
    memcpy(buffer, f->file + f->at, *bytes);
    f->at += *bytes;
    return *bytes ? FLAC__STREAM_DECODER_READ_STATUS_CONTINUE
                  : FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM;
}

// Room for n more samples: a frame of silence has a few bytes, so the length of a recording is
// bounded, not only the file's.
static bool grow_samples(flac_file *f, uint32_t n) {
    burin_sound *s = f->sound;
    if (s->n + n > (int64_t)s->rate * burin_most_seconds) {
        f->why = "it is longer than this program takes";
        return false;
    }
    if (s->n + n <= f->capacity) return true;
    f->capacity = 2 * f->capacity + n;
    float *more = burin_allocate((size_t)f->capacity, sizeof *more);
    if (s->n) memcpy(more, s->samples, (size_t)s->n * sizeof *more);
    free(s->samples);
    s->samples = more;
    return true;
}

static bool fits_first_frame(flac_file *f, const FLAC__FrameHeader *h) {
    burin_sound *s = f->sound;
    if (!s->rate) s->rate = (int32_t)h->sample_rate;
    if (h->sample_rate < BURIN_LEAST_RATE || h->sample_rate > BURIN_MOST_RATE)
        f->why = "its sample rate is not between 1000 and 384000";
    else if ((int32_t)h->sample_rate != s->rate)
        f->why = "its sample rate changes";
    return !f->why;
}

static FLAC__StreamDecoderWriteStatus take_flac(const FLAC__StreamDecoder *d,
                                                const FLAC__Frame *frame,
                                                const FLAC__int32 *const channels[],
                                                void *context) {
    flac_file *f = context;
    const FLAC__FrameHeader *h = &frame->header;
    (void)d;
    if (!fits_first_frame(f, h) || !grow_samples(f, h->blocksize))
        return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
    double scale = ldexp(1, (int)h->bits_per_sample - 1);
    for (uint32_t i = 0; i < h->blocksize; i++) {
        double sum = 0;
        for (uint32_t c = 0; c < h->channels; c++) sum += channels[c][i] / scale;
        f->sound->samples[f->sound->n++] = (float)(sum / h->channels);
    }
    return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE;
}

static void note_flac_error(const FLAC__StreamDecoder *d, FLAC__StreamDecoderErrorStatus status,
                            void *context) {
    flac_file *f = context;
    (void)d;
    if (f->why) return;
    burin_format(flac_reason, sizeof flac_reason, "libFLAC: %s",
                 FLAC__StreamDecoderErrorStatusString[status]);
    f->why = flac_reason;
}

// The number of samples in the header, if it is known, is that of the file.
static const char *decode_flac(FLAC__StreamDecoder *d, flac_file *f) {
    FLAC__stream_decoder_set_md5_checking(d, true);
    bool opened =
        FLAC__stream_decoder_init_stream(d, read_flac, NULL, NULL, NULL, NULL, take_flac, NULL,
                                         note_flac_error, f) == FLAC__STREAM_DECODER_INIT_STATUS_OK;
    if (!opened) return "libFLAC cannot be started";
    bool decoded = FLAC__stream_decoder_process_until_end_of_stream(d);
    uint64_t expected = FLAC__stream_decoder_get_total_samples(d);
    if (f->why) return f->why;
    if (!decoded || !f->sound->n || (expected && expected > (uint64_t)f->sound->n))
        return "it is cut";
    return FLAC__stream_decoder_finish(d) ? NULL : "its samples are damaged: their MD5 differs";
}

const char *burin_flac_read(burin_sound *sound, const unsigned char *file, size_t bytes) {
    flac_file f = {.file = file, .bytes = bytes, .sound = sound};
    FLAC__StreamDecoder *d = FLAC__stream_decoder_new();
    *sound = (burin_sound){0};
    if (!d) return "libFLAC: no memory";
    const char *why = decode_flac(d, &f);
    FLAC__stream_decoder_delete(d);
    if (!why) return NULL;
    free(sound->samples);
    *sound = (burin_sound){0};
    return why;
}
