// Recordings in the formats that this program reads: WAV, and FLAC where libFLAC is linked.
#ifndef BURIN_RECORDING_H
#define BURIN_RECORDING_H
#include "sound/wav.h"

extern int32_t burin_most_seconds;  // of a recording: a day; a server takes less

#ifdef BURIN_FLAC
#define BURIN_SOUND_FORMATS "a WAV or FLAC recording"
// codecs/flac.c; as burin_wav_read
const char *burin_flac_read(burin_sound *, const unsigned char *file, size_t bytes);
#else
#define BURIN_SOUND_FORMATS "a WAV recording"
#endif

// As burin_wav_read, by the first bytes of the file.
const char *burin_recording_read(burin_sound *, const unsigned char *file, size_t bytes);
#endif
