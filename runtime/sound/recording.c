#include "sound/recording.h"

#include <string.h>

int32_t burin_most_seconds = 24 * 3600;

const char *burin_recording_read(burin_sound *sound, const unsigned char *file, size_t bytes) {
    if (bytes < 4 || memcmp(file, "fLaC", 4) != 0) return burin_wav_read(sound, file, bytes);
#ifdef BURIN_FLAC
    return burin_flac_read(sound, file, bytes);
#else
    *sound = (burin_sound){0};
    return "it is FLAC, and this program was built without libFLAC (libflac-dev)";
#endif
}
