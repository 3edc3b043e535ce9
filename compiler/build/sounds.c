#include "build/sounds.h"

#include <stdio.h>
#include <string.h>

#include "build/optional_library.h"
#include "toolchain/cache.h"
#include "util/text.h"

static const OptionalLibrary libflac = {
    .option = "--with=sounds",
    .header = "FLAC/stream_decoder.h",
    .archive = "libFLAC.a",
    .probe =
        "#include <FLAC/stream_decoder.h>\nint main(void) { return "
        "!FLAC__stream_decoder_new(); }\n",
    .lists = {"-lFLAC -logg -lm", "-lFLAC -lm"},
    .package = "libflac-dev",
    .name = "libFLAC",
    .without = "leave it out: the program takes WAV files",
};

bool sounds_are_asked_for(const Options *o) { return o->with && !strcmp(o->with, "sounds"); }

void sounds_check(const Build *b, const char *output) {
    if (sounds_are_asked_for(b->options)) optional_library_check(b, &libflac, output);
}

void sounds_choose(Build *b) {
    if (b->module->speech || b->hears) b->tools.flac = optional_library_words(b, &libflac);
}

const char *sounds_formats(const Build *b) { return b->tools.flac ? "FLAC (libFLAC), WAV" : "WAV"; }

uint64_t sounds_key(const Build *b, uint64_t hash) {
    hash = sounds_are_asked_for(b->options) ? hash + 1 : hash;
    return hash_text(optional_library_path(b, &libflac), hash);
}
