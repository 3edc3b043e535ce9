#include "sound/recording_file.h"

#include <stdlib.h>
#include <string.h>

#include "program/input.h"
#include "program/output.h"
#include "sound/resample.h"

static const size_t most_file_bytes = (size_t)4 << 30;

burin_sound burin_recording_load(const char *path, int32_t rate) {
    size_t bytes;
    burin_sound sound;
    const char *name = strcmp(path, "-") ? path : "standard input";
    unsigned char *file = burin_read_bytes(path, most_file_bytes, &bytes);
    const char *why = burin_recording_read(&sound, file, bytes);
    free(file);
    if (why)
        burin_stop(BURIN_USER_MISTAKE,
                   "%s: %s: expected " BURIN_SOUND_FORMATS "\nhint: ffmpeg -i %s -f wav - | %s -",
                   name, why, strcmp(path, "-") ? path : "FILE", burin_program_name);
    burin_resample(&sound, rate);
    return sound;
}
